"""Start a GPU worker, ask it, and end it when it does not answer in time; one worker, one conversation."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import Any, Final

from cudaperf.engine.executors.gpu import framing
from cudaperf.engine.executors.gpu.framing import Message

WORKER: Final = ("-m", "cudaperf.engine.executors.gpu.worker")
_START_SECONDS: Final = 120.0
_TAIL: Final = 2000


class WorkerTimedOut(Exception):
    """The deadline passed; the worker was killed."""


class WorkerLost(Exception):
    """The worker ended without an answer; the message has its status and the end of its standard error."""


class WorkerMissing(Exception):
    """The worker can't work: no package, driver or device; the message says what would help."""


class WorkerClient:
    """A running worker. `facts` is what it said of its device. `prefix` stands before the command (`ssh HOST`, ...)."""

    def __init__(self, prefix: Sequence[str] = (), python: str = sys.executable) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the worker)
        self._process = subprocess.Popen(
            [*prefix, python, *WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
        )
        hello = self._read(time.monotonic() + _START_SECONDS)
        if hello.kind == "missing":
            self.close()
            raise WorkerMissing(hello.fields["message"])
        if hello.kind != "hello" or hello.fields.get("version") != framing.VERSION:
            self.close()
            raise WorkerMissing(f"the worker speaks another version ({hello.fields.get('version')!r}, not {framing.VERSION})")
        self.facts: dict[str, Any] = hello.fields["facts"]

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(
        self, deadline: float, kind: str, fields: dict[str, Any] | None = None, attachments: Sequence[bytes] = ()
    ) -> Message:
        """The reply; raises `WorkerTimedOut` at `deadline` (of `time.monotonic`) and `WorkerLost`."""
        assert self._process.stdin is not None
        with _Watchdog(self._process, deadline) as watchdog:
            try:
                framing.write(self._process.stdin, kind, fields, attachments)  # type: ignore[arg-type]
                return self._receive()
            except (OSError, framing.Closed, framing.FramingError) as error:
                raise self._explain(watchdog, error) from error

    def _read(self, deadline: float) -> Message:
        with _Watchdog(self._process, deadline) as watchdog:
            try:
                return self._receive()
            except (OSError, framing.Closed, framing.FramingError) as error:
                raise self._explain(watchdog, error) from error

    def _receive(self) -> Message:
        assert self._process.stdout is not None
        return framing.read(self._process.stdout)  # type: ignore[arg-type]

    def _explain(self, watchdog: _Watchdog, error: Exception) -> Exception:
        self._process.kill()
        status = self._process.wait()
        if watchdog.fired:
            return WorkerTimedOut()
        return WorkerLost(f"the GPU worker ended with status {status} ({error}): {self._error_tail()}".strip())

    def _error_tail(self) -> str:
        self._errors.seek(0)
        return self._errors.read()[-_TAIL:].decode(errors="replace").strip()

    def close(self) -> None:
        """End the worker: ask, then kill."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()


class _Watchdog:
    """Kills the process when the deadline passes inside the `with` block."""

    def __init__(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        self.fired = False
        self._process = process
        self._timer = threading.Timer(max(deadline - time.monotonic(), 0.01), self._fire)
        self._timer.daemon = True

    def _fire(self) -> None:
        self.fired = True
        self._process.kill()

    def __enter__(self) -> _Watchdog:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
