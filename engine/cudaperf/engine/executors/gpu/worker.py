"""The process that owns the CUDA context: `python -m cudaperf.engine.executors.gpu.worker [BACKEND]`, spoken to over stdio.

Requests (see `framing`): "load" (task, plan; attachment: cubin), "run" (poison; attachment: input file), "time" (seconds, seed;
attachment: input file), "ceiling", "stop". Replies: "hello" once at the start or "missing" with a message; then "loaded",
"outputs", "timed", "ceiling", or "verdict". After a memory fault the context is lost: it answers and ends. It never sees the
reference, and writes no file but its own temporary ones.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from cudaperf.engine.executors.gpu import framing
from cudaperf.engine.executors.gpu.backend import Backend, BackendMissing, DeviceError, open_backend
from cudaperf.engine.executors.gpu.framing import Message
from cudaperf.engine.executors.gpu.interpret import PlanStopped, verdict_of
from cudaperf.engine.executors.gpu.loaded import Loaded, load
from cudaperf.engine.executors.gpu.memory import POISON
from cudaperf.engine.plan import LaunchPlan
from cudaperf.engine.task import Task
from cudaperf.engine.verdict import VERDICT, Hazard, Infrastructure, Verdict
from cudaperf.engine.verify import data


class Worker:
    """Answers requests on one backend until "stop", the end of the stream, or a lost context."""

    def __init__(self, backend: Backend, requests: BinaryIO, replies: BinaryIO) -> None:
        self._backend = backend
        self._requests = requests
        self._replies = replies
        self._loaded: Loaded | None = None

    def serve(self) -> None:
        framing.write(self._replies, "hello", {"version": framing.VERSION, "facts": asdict(self._backend.facts)})
        while self._answer(self._next()):
            pass

    def _next(self) -> Message:
        try:
            return framing.read(self._requests)
        except framing.Closed:
            return Message("stop")

    def _answer(self, message: Message) -> bool:
        """Reply; whether to go on."""
        handlers: dict[str, Callable[[Message], Verdict | None]] = {
            "load": self._load, "run": self._run, "time": self._time, "ceiling": self._ceiling,
        }  # fmt: skip
        if message.kind == "stop":
            return False
        handler = handlers.get(message.kind)
        if handler is None:
            return self._end(Infrastructure(message=f"unknown request {message.kind!r}"))
        try:
            return self._end(handler(message))
        except PlanStopped as stopped:
            return self._end(stopped.verdict)
        except DeviceError as error:
            return self._end(verdict_of(error, message.kind))

    def _end(self, verdict: Verdict | None) -> bool:
        if verdict is None:
            return True
        framing.write(self._replies, "verdict", {"verdict": VERDICT.dump_python(verdict, mode="json")})
        return not isinstance(verdict, Hazard | Infrastructure)

    def _load(self, message: Message) -> Verdict | None:
        task = Task.model_validate(message.fields["task"])
        plan = LaunchPlan.model_validate(message.fields["plan"])
        loaded = load(task, plan, self._backend, message.attachments[0])
        if not isinstance(loaded, Loaded):
            return loaded
        self._loaded = loaded
        framing.write(self._replies, "loaded")
        return None

    def _inputs(self, loaded: Loaded, message: Message) -> dict[str, data.Value]:
        with tempfile.TemporaryDirectory(prefix="cudaperf-worker-") as folder:
            path = Path(folder) / "input"
            path.write_bytes(message.attachments[0])
            return data.read_inputs(loaded.task, path)

    def _run(self, message: Message) -> Verdict | None:
        if self._loaded is None:
            return Infrastructure(message="run before load")
        result = self._loaded.run(self._inputs(self._loaded, message), int(message.fields.get("poison", POISON)))
        if result is None:
            framing.write(self._replies, "outputs", {}, (data.FALLBACK,))
            return None
        if not isinstance(result, dict):
            return result
        with tempfile.TemporaryDirectory(prefix="cudaperf-worker-") as folder:
            path = Path(folder) / "output"
            data.write_outputs(self._loaded.task, path, result)
            framing.write(self._replies, "outputs", {}, (path.read_bytes(),))
        return None

    def _time(self, message: Message) -> Verdict | None:
        from cudaperf.engine.executors.gpu.timing import measure

        if self._loaded is None:
            return Infrastructure(message="time before load")
        inputs = self._inputs(self._loaded, message)
        measured = measure(self._loaded, inputs, float(message.fields["seconds"]), int(message.fields["seed"]))
        framing.write(self._replies, "timed", asdict(measured))
        return None

    def _ceiling(self, message: Message) -> Verdict | None:
        from cudaperf.engine.executors.gpu.ceiling import measure_ceiling

        ceiling = measure_ceiling(self._backend, n=int(message.fields.get("n", 2048)))
        framing.write(self._replies, "ceiling", asdict(ceiling))
        return None


def main(arguments: Sequence[str]) -> int:
    """Speak on what was standard output; anything else printed in this process (a kernel's printf) goes to standard error."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        backend = open_backend(*arguments[:1])
    except (BackendMissing, DeviceError) as error:
        framing.write(replies, "missing", {"version": framing.VERSION, "message": str(error)})
        return 1
    Worker(backend, sys.stdin.buffer, replies).serve()
    return 0


if __name__ == "__main__":
    sys.stdout.flush()
    status = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(status)  # a lost context must not be torn down by the interpreter's exit handlers
