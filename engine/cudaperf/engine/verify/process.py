"""Runs a program of ours in a child process group with a time limit and a cap on its output.

Not promised: a memory limit (a sanitizer's shadow memory is larger than any sensible one).
"""

from __future__ import annotations

import os
import platform
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final

_OUTPUT_LIMIT: Final = 1 << 20
_SLICE: Final = 0.2
_SHADOW_FAILS: Final = ("Shadow memory range interleaves", "FATAL: ThreadSanitizer: unexpected memory mapping")


@dataclass(frozen=True, slots=True)
class Completed:
    """`status` is the exit status, negative for a signal; None when the time limit ended it. `seconds` is wall time."""

    status: int | None
    stdout: str
    stderr: str
    seconds: float

    @property
    def timed_out(self) -> bool:
        return self.status is None


def run(command: Sequence[str | Path], limit: float, environment: Mapping[str, str] | None = None) -> Completed:
    """Run to the end or for `limit` seconds. A sanitizer that can't place its shadow is run again without randomisation."""
    done = _run(command, limit, environment)
    setarch = shutil.which("setarch")
    if setarch and any(words in done.stderr for words in _SHADOW_FAILS):
        return _run([setarch, platform.machine(), "-R", *command], limit, environment)
    return done


def _run(command: Sequence[str | Path], limit: float, environment: Mapping[str, str] | None) -> Completed:
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        try:
            status = child.wait() if ended_within(child, limit) else None
        finally:
            _end(child)
        texts = [_head(file) for file in (out, err)]
    return Completed(status, texts[0], texts[1], time.monotonic() - begin)


def ended_within(child: subprocess.Popen[bytes], limit: float, stop: Event | None = None) -> bool:
    """Wait for the end at most `limit` seconds, or until `stop` is set. `Popen.wait` with a limit looks up to 50 ms too late,
    which is longer than most of our programs run."""
    until = time.monotonic() + max(0.0, limit)
    try:
        handle = os.pidfd_open(child.pid)
    except (AttributeError, OSError):
        return _polled(child, until, stop)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        while not poll.poll(1000 * min(_SLICE, max(0.0, until - time.monotonic()))):
            if time.monotonic() >= until or (stop is not None and stop.is_set()):
                return False
        return True
    finally:
        os.close(handle)


def _polled(child: subprocess.Popen[bytes], until: float, stop: Event | None) -> bool:
    while time.monotonic() < until and not (stop is not None and stop.is_set()):
        try:
            child.wait(min(_SLICE, max(0.0, until - time.monotonic())))
            return True
        except subprocess.TimeoutExpired:
            continue
    return child.poll() is not None


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the child's own process group."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _head(file: object) -> str:
    file.seek(0)  # type: ignore[attr-defined]
    return str(file.read(_OUTPUT_LIMIT).decode(errors="replace"))  # type: ignore[attr-defined]
