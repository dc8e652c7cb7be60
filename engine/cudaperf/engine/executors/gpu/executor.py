"""`GpuExecutor`: run candidates on this machine's GPU, and time them there.

`run` interprets the plan in a worker process with every guard on, the small configurations twice with other bytes in unwritten
memory (a deterministic candidate whose reruns differ has a race, or reads what nothing wrote). Where nvcc is here, the emitted
files are then built and run on every configuration: those outputs are returned, because they are what the user gets; when the
candidate is deterministic they must equal the interpreted plan's bit for bit, so both paths are judged. Both are then compiled
by nvcc. Without nvcc the plan's outputs are returned and the checks lack "emitted". Reads outside a buffer that do not fault,
and races that happen not to show, are not found here: the emulated executor's sanitizers find those.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.executors.gpu import native
from cudaperf.engine.executors.gpu.client import WorkerClient, WorkerLost, WorkerMissing, WorkerTimedOut
from cudaperf.engine.executors.gpu.compare import first_difference
from cudaperf.engine.executors.gpu.framing import Message
from cudaperf.engine.executors.gpu.lease import device_lease
from cudaperf.engine.executors.gpu.memory import OTHER_POISON, POISON
from cudaperf.engine.executors.gpu.statistics import summarize
from cudaperf.engine.executors.protocol import Job, Outputs
from cudaperf.engine.toolchain import compile as toolchain
from cudaperf.engine.toolchain.devices import Architecture, default_architecture
from cudaperf.engine.toolchain.nvrtc import NvrtcError
from cudaperf.engine.verdict import VERDICT, CompileFailed, Hazard, Infrastructure, KernelResources, TimedOut, Timing, Verdict

CHECKS: Final = ("memory", "inputs", "poison", "rerun")
TIMING_SECONDS: Final = 2.0
RUN_SECONDS: Final = 15.0
"""What one run of one configuration may take, besides moving its data: a hang ends here, long before the whole deadline."""
SLOWEST_BYTES_A_SECOND: Final = 50e6
__all__ = ["GpuExecutor", "Measurement", "WorkerMissing"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A `Timing` with how it was taken: "replay", "graph" or "live", buffer sets in rotation, clocks before and after."""

    timing: Timing
    mode: str
    sets: int
    clocks: dict[str, Any]


class GpuExecutor:
    """One worker, restarted after a fault or a timeout. Constructing it starts the worker; raises `WorkerMissing` with what is
    missing (a driver, a package to drive it, a compiler). The worker ends with `close`, or with this process. With `emitted`
    false, the build of the emitted files is left out of `run` and `time` (for all but the candidate that is chosen)."""

    name: Literal["emulated", "gpu"] = "gpu"

    def __init__(self, prefix: Sequence[str] = ()) -> None:
        if toolchain.device_compiler() is None:
            raise WorkerMissing(toolchain.no_compiler())
        self._prefix = tuple(prefix)
        self.emitted = True
        self._worker: WorkerClient | None = None
        self.facts = self._connected().facts

    @property
    def device(self) -> str | None:
        return str(self.facts["name"])

    @property
    def architecture(self) -> Architecture:
        return default_architecture(int(self.facts["capability"]))

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _connected(self) -> WorkerClient:
        if self._worker is None or not self._worker.alive:
            self.close()
            self._worker = WorkerClient(self._prefix)
        return self._worker

    def run(self, job: Job, directory: Path, deadline: float) -> Outputs | Verdict:
        """Output files `gpu-N.out` (emitted program) or `plan-N.out` in `directory`, or what ended the candidate."""
        directory.mkdir(parents=True, exist_ok=True)
        try:
            planned = self._run_plan(job, directory, deadline)
            if not isinstance(planned, list):
                return planned
            if not self.emitted:
                return Outputs(tuple(planned), CHECKS)
            return self._run_emitted(job, directory, planned, deadline)
        except _Ended as ended:
            return ended.verdict

    def _run_plan(self, job: Job, directory: Path, deadline: float) -> list[Path] | Verdict:
        self._load(job.candidate, job.task.model_dump(mode="json"), deadline)
        paths = []
        for index, source in enumerate(job.inputs):
            content = source.read_bytes()
            output = self._output(content, index, deadline)
            twice = index in job.race_inputs and job.candidate.deterministic
            if twice and (verdict := self._rerun(content, output, index, deadline)):
                return verdict
            path = directory / f"plan-{index}.out"
            path.write_bytes(output)
            paths.append(path)
        return paths

    def _output(self, content: bytes, index: int, deadline: float, poison: int = POISON) -> bytes:
        limit = min(deadline, time.monotonic() + RUN_SECONDS + len(content) / SLOWEST_BYTES_A_SECOND)
        (output,) = self._ask(limit, index, "run", {"poison": poison}, (content,)).attachments
        return output

    def _rerun(self, content: bytes, output: bytes, index: int, deadline: float) -> Verdict | None:
        """Again, with other bytes in memory that nothing has written: a deterministic candidate's output stays the same."""
        if self._output(content, index, deadline, OTHER_POISON) == output:
            return None
        if self._output(content, index, deadline) == output:
            message = "the output depends on memory that nothing has written"
            return Hazard(hazard="initialization", configuration=index, message=message)
        return Hazard(hazard="race", configuration=index, message="two runs on the same input differ")

    def _load(self, candidate: Candidate, task: dict[str, Any], deadline: float) -> None:
        code = toolchain.device_text(candidate)
        # the plan is compared bit by bit with the emitted program, which nvcc builds; alone it takes the fastest compiler
        nvcc = toolchain.nvcc_compiler() if self.emitted else None
        compiler = nvcc or toolchain.device_compiler()
        try:
            cubin = toolchain.compile_cubin(code, self.architecture, candidate.compile_options, compiler)
        except (toolchain.NoCompiler, NvrtcError) as error:
            raise _Ended(Infrastructure(message=str(error))) from error
        if isinstance(cubin, CompileFailed):
            raise _Ended(cubin)
        fields = {"task": task, "plan": candidate.plan.model_dump(mode="json")}
        self._ask(deadline, None, "load", fields, (cubin.code,))

    def _ask(
        self, deadline: float, configuration: int | None, kind: str, fields: dict[str, Any], parts: Sequence[bytes]
    ) -> Message:
        """The reply; raises `_Ended` with a verdict when it is one, or when there is none."""
        started = time.monotonic()
        try:
            reply = self._connected().ask(deadline, kind, fields, parts)
        except WorkerTimedOut as error:
            raise _Ended(TimedOut(seconds=time.monotonic() - started, configuration=configuration)) from error
        except (WorkerLost, WorkerMissing) as error:
            raise _Ended(Infrastructure(message=str(error))) from error
        if reply.kind != "verdict":
            return reply
        verdict = VERDICT.validate_python(reply.fields["verdict"])
        if isinstance(verdict, Hazard | TimedOut):
            verdict = verdict.model_copy(update={"configuration": configuration})
        if isinstance(verdict, Hazard | Infrastructure):
            self.close()  # the worker ends itself after these
        raise _Ended(verdict)

    def _run_emitted(self, job: Job, directory: Path, planned: list[Path], deadline: float) -> Outputs | Verdict:
        program = native.build(job, directory, self.architecture.capability, deadline)
        if program is None:
            return Outputs(tuple(planned), CHECKS)
        if not isinstance(program, native.NativeProgram):
            return program
        paths = [directory / f"gpu-{index}.out" for index in range(len(job.inputs))]
        pairs = list(zip(job.inputs, paths, strict=True))
        together = program.run_all(pairs, _limit(deadline, *job.inputs))
        for index, ((source, path), plan_output) in enumerate(zip(pairs, planned, strict=True)):
            if not together and (verdict := program.run(source, path, index, _limit(deadline, source))):
                return verdict
            if job.candidate.deterministic and (verdict := first_difference(job.task, path, plan_output, index)):
                return verdict
        return Outputs(tuple(paths), (*CHECKS, "emitted"))

    def time(self, job: Job, directory: Path, configuration: int, deadline: float) -> Timing | Hazard | None:
        """Kernel and end-to-end seconds; a hazard where the candidate faults or its timed runs differ; None where it could
        not be timed (no memory for this size, no time left)."""
        measured = self.measure(job, directory, configuration, deadline)
        if isinstance(measured, Measurement):
            return measured.timing
        return measured if isinstance(measured, Hazard) else None

    def measure(
        self, job: Job, directory: Path, configuration: int, deadline: float, seconds: float = TIMING_SECONDS
    ) -> Measurement | Verdict:
        """As `time`, with how it was measured, or the verdict that stands in the way."""
        directory.mkdir(parents=True, exist_ok=True)
        with device_lease(deadline):
            try:
                return self._measure(job, directory, configuration, deadline, seconds)
            except _Ended as ended:
                return ended.verdict

    def _measure(self, job: Job, directory: Path, index: int, deadline: float, seconds: float) -> Measurement | Verdict:
        self._load(job.candidate, job.task.model_dump(mode="json"), deadline)
        fields = {"seconds": seconds, "seed": int(job.candidate.digest, 16) % 2**31}
        timed = self._ask(deadline, index, "time", fields, (job.inputs[index].read_bytes(),)).fields
        if job.candidate.deterministic and not timed["same_outputs"]:
            return Hazard(hazard="race", configuration=index, message="a timed run's outputs differ from an untimed run's")
        program = native.build(job, directory, self.architecture.capability, deadline) if self.emitted else None
        end_to_end = program.seconds(job.inputs[index], deadline) if isinstance(program, native.NativeProgram) else None
        summary = summarize(timed["samples"])
        timing = Timing(
            device=str(self.facts["name"]),
            median=summary.median,
            low=summary.low,
            high=summary.high,
            samples=tuple(timed["samples"]),
            end_to_end=end_to_end,
        )
        return Measurement(timing, timed["mode"], timed["sets"], {"before": timed["before"], "after": timed["after"]})

    def ceiling(self, deadline: float, n: int = 2048) -> dict[str, Any] | Verdict:
        """What the device reaches (`ceiling.Ceiling` as a dict): for the fraction of the hardware limit."""
        with device_lease(deadline):
            try:
                fields: dict[str, Any] = self._ask(deadline, None, "ceiling", {"n": n}, ()).fields
                return fields
            except _Ended as ended:
                return ended.verdict

    def resources(self, candidate: Candidate) -> tuple[KernelResources, ...]:
        return toolchain.resources(candidate, self.architecture)


def _limit(deadline: float, *sources: Path) -> float:
    """When a program that reads these input files is stopped."""
    return min(deadline, time.monotonic() + RUN_SECONDS + sum(s.stat().st_size for s in sources) / SLOWEST_BYTES_A_SECOND)


class _Ended(Exception):
    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.kind)
        self.verdict = verdict
