"""Run a test program in a child process of its own group, with limits; what it left behind as data.

The program sets its own CPU-time, core and file limits from the environment (see runtime/settings.cpp); wall time is watched
from here and ends the whole group. Memory is bounded by the sanitizer's resident-set limit and the emulated device's size.
"""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from cudaperf.engine.executors.emulated.build import Program
from cudaperf.engine.verify.process import ended_within

ASAN_STATUS = 86
TSAN_STATUS = 66
_STARTUP_FAILURES = (
    "Shadow memory range interleaves",
    "unexpected memory mapping",
    "ReserveShadowMemoryRange failed",
    "failed to intercept",
    "sanitizer failed to allocate",
)


@dataclass(frozen=True)
class Limits:
    """Bounds of one run: wall seconds, resident bytes of the process, bytes of emulated device memory, bytes of one file."""

    seconds: float = 30.0
    resident: int = 6 << 30
    device: int = 4 << 30
    file: int = 8 << 30

    @classmethod
    def for_machine(cls, seconds: float = 30.0, workers: int = 2) -> Limits:
        """Bounds with which `workers` runs fit into this machine's memory."""
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        share = memory // (workers + 1)
        return cls(seconds=seconds, resident=min(cls.resident, share), device=min(cls.device, share * 2 // 3))


@dataclass(frozen=True, slots=True)
class Setting:
    """How the emulated device behaves in a run."""

    poison: int = 0xFF
    order: str = "ascending"
    shared_optin: int = 232448
    architecture: int = 90


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that ended. `status` is negative for a signal; `events` are the runtime's log lines, split at tabs."""

    status: int
    timed_out: bool
    seconds: float
    stderr: str
    events: tuple[tuple[str, ...], ...] = field(default=())

    @property
    def sanitizer_failed_to_start(self) -> bool:
        return self.status != 0 and any(text in self.stderr for text in _STARTUP_FAILURES)


def environment(log: Path, limits: Limits, setting: Setting) -> dict[str, str]:
    """The child's environment: this process's, without sanitizer settings and preloads, with ours."""
    inherited = {
        k: v for k, v in os.environ.items() if not k.endswith("SAN_OPTIONS") and k not in ("LD_PRELOAD", "CUDAPERF_LOG")
    }
    resident = max(64, limits.resident >> 20)
    common = f"exitcode={ASAN_STATUS}:hard_rss_limit_mb={resident}:handle_abort=1:handle_sigfpe=1:handle_sigill=1"
    return inherited | {
        "ASAN_OPTIONS": f"{common}:detect_leaks=0:detect_odr_violation=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": f"{common}:print_stacktrace=1",
        "TSAN_OPTIONS": f"{common}:exitcode={TSAN_STATUS}:halt_on_error=1:atexit_sleep_ms=0:report_signal_unsafe=0",
        "CUDAPERF_LOG": str(log),
        "CUDAPERF_POISON": str(setting.poison),
        "CUDAPERF_ORDER": setting.order,
        "CUDAPERF_DEVICE_BYTES": str(limits.device),
        "CUDAPERF_SHARED_OPTIN": str(setting.shared_optin),
        "CUDAPERF_ARCHITECTURE": str(setting.architecture),
        "CUDAPERF_CPU_SECONDS": str(int(limits.seconds) + 5),
        "CUDAPERF_FILE_BYTES": str(limits.file),
    }


def run(
    program: Program, arguments: list[str], base: Path, limits: Limits, setting: Setting, stop: Event | None = None
) -> Finished:
    """Run the program, to its end or until `stop` is set (which looks like a time limit). Its streams and log go to files
    beginning with `base`. Retries without address randomisation."""
    finished = _run_once([str(program.path), *arguments], base, limits, setting, stop)
    fixed = _without_randomisation()
    if finished.sanitizer_failed_to_start and fixed:
        finished = _run_once([*fixed, str(program.path), *arguments], base, limits, setting, stop)
    return finished


def _without_randomisation() -> list[str]:
    path = shutil.which("setarch")
    return [path, platform.machine(), "-R"] if path else []


def _run_once(command: list[str], base: Path, limits: Limits, setting: Setting, stop: Event | None) -> Finished:
    log, output, errors = (base.with_name(base.name + suffix) for suffix in (".log", ".stdout", ".stderr"))
    log.unlink(missing_ok=True)
    began = time.monotonic()
    with output.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=environment(log, limits, setting),
            cwd=base.parent,
            start_new_session=True,
        )
        timed_out = _wait(process, limits.seconds, stop)
    seconds = time.monotonic() - began
    events = log.read_text(errors="replace").splitlines() if log.exists() else []
    text = _tail(errors)
    cpu = process.returncode == -signal.SIGXCPU
    return Finished(process.returncode, timed_out or cpu, seconds, text, tuple(tuple(line.split("\t")) for line in events))


def _wait(process: subprocess.Popen[bytes], seconds: float, stop: Event | None) -> bool:
    """Wait; past the limit, end the process's group. True if it had to be ended."""
    ended = ended_within(process, max(0.05, seconds), stop)
    if not ended:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return not ended


def _tail(path: Path, limit: int = 1 << 20) -> str:
    with path.open("rb") as stream:
        return stream.read(limit).decode(errors="replace")
