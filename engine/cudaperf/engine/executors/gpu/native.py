"""Build the emitted files with nvcc and run them: the last gate, on what the user gets, and end-to-end times through it.

The harness is `verify.harness`'s; its exit statuses mean what it says they mean. A signal in host code is a memory hazard.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cudaperf.engine.executors.fallback import fell_back, note_fallback
from cudaperf.engine.executors.protocol import Job
from cudaperf.engine.toolchain import nvcc
from cudaperf.engine.toolchain.find import find_nvcc
from cudaperf.engine.verdict import CompileFailed, Hazard, Infrastructure, Rejected, TimedOut, Verdict
from cudaperf.engine.verify.data import FELL_BACK_STATUS, INPUT_CHANGED_STATUS

END_TO_END_CALLS: Final = 10
_SHOWN: Final = 2000


@dataclass(frozen=True, slots=True)
class NativeProgram:
    """The emitted function in its harness, built for the device."""

    path: Path

    def run(self, source: Path, target: Path, configuration: int, deadline: float) -> Verdict | None:
        """Write the output file of one configuration (what was said on stderr beside it), or say what went wrong."""
        done = _execute([str(self.path), str(source), str(target)], deadline)
        if isinstance(done, TimedOut):
            return TimedOut(seconds=done.seconds, configuration=configuration)
        if done.stderr:
            target.with_suffix(".log").write_text(done.stderr, encoding="utf-8")
        note_fallback(done.stderr, target)
        return _judge(done, configuration)

    def run_all(self, pairs: Sequence[tuple[Path, Path]], deadline: float) -> bool:
        """All (input, output) pairs in one process, which saves starting CUDA for each. False where anything was not as it
        should be: `run` then tells what, and on which configuration."""
        done = _execute([str(self.path), *(str(path) for pair in pairs for path in pair)], deadline)
        return not isinstance(done, TimedOut) and done.returncode == 0 and not done.stderr

    def seconds(self, source: Path, deadline: float) -> float | None:
        """The median call through the emitted host function, copies included; None where it fell back or failed."""
        done = _execute([str(self.path), str(source), "--time", str(END_TO_END_CALLS)], deadline)
        if isinstance(done, TimedOut) or done.returncode != 0 or fell_back(done.stderr):
            return None
        seconds: list[float] = json.loads(done.stdout)["seconds"]
        return statistics.median(seconds)


def _execute(command: list[str], deadline: float) -> subprocess.CompletedProcess[str] | TimedOut:
    started = time.monotonic()
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=max(deadline - started, 0.1), check=False
        )
    except subprocess.TimeoutExpired:
        return TimedOut(seconds=time.monotonic() - started)


def _judge(done: subprocess.CompletedProcess[str], configuration: int) -> Verdict | None:
    said = done.stderr.strip()[-_SHOWN:]
    if done.returncode in (0, FELL_BACK_STATUS):
        return None
    if done.returncode == INPUT_CHANGED_STATUS:
        return Rejected(row=11, detail="the emitted function changed an input array")
    if done.returncode < 0:
        message = f"the emitted program ended by signal {-done.returncode} {said}".strip()
        return Hazard(hazard="memory", configuration=configuration, message=message)
    return Infrastructure(message=f"the harness ended with status {done.returncode}: {said}")


def build(job: Job, directory: Path, capability: int, deadline: float) -> NativeProgram | Verdict | None:
    """The program; `CompileFailed` when nvcc refuses the files, None where there is no nvcc. Built once a directory."""
    tool = find_nvcc()
    if tool is None:
        return None
    folder = directory / f"native-{job.candidate.digest}"
    program = folder / "harness"
    if program.is_file():
        return NativeProgram(program)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {job.files.cu_name: job.files.cu, job.files.header_name: job.files.header, "cp_harness.cpp": job.harness}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    options = ("-O3", f"-arch=sm_{capability}", "-lineinfo", *job.candidate.compile_options)
    sources = [folder / job.files.cu_name, folder / "cp_harness.cpp"]
    built = nvcc.build(tool.path, sources, program, options, timeout=max(deadline - time.monotonic(), 1.0))
    return NativeProgram(program) if built.path else CompileFailed(log=built.log.strip())
