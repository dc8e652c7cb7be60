"""What stops emulation on this machine, for `cudaperf doctor`: a compiler, the sanitizers' libraries, their start."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from cudaperf.engine.executors.emulated.build import NO_COMPILER, Compiler, Program, Sanitizer, find_compiler
from cudaperf.engine.executors.emulated.process import Limits, Setting, run
from cudaperf.engine.executors.emulated.reports import sanitizer_fix

_FLAGS: dict[Sanitizer, str] = {"address": "-fsanitize=address,undefined", "thread": "-fsanitize=thread"}


def probe() -> list[str]:
    """Problems in words, each with its fix; empty when emulation works here. Takes a few tenths of a second."""
    compiler = find_compiler()
    if compiler is None:
        return [NO_COMPILER]
    with tempfile.TemporaryDirectory(prefix="cudaperf-probe-") as name:
        folder = Path(name)
        (folder / "empty.cpp").write_text("int main() { return 0; }\n")
        builds = [(s, _start(compiler, s, folder)) for s in _FLAGS]
        return [problem for s, build in builds if (problem := _try(s, build, folder))]


def _start(compiler: Compiler, sanitizer: Sanitizer, folder: Path) -> subprocess.Popen[str]:
    command = [compiler.path, _FLAGS[sanitizer], str(folder / "empty.cpp"), "-o", str(folder / sanitizer)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def _try(sanitizer: Sanitizer, build: subprocess.Popen[str], folder: Path) -> str | None:
    log = build.communicate()[1]
    if build.returncode:
        return f"the compiler can't link the {sanitizer} sanitizer (install its runtime library): {log.strip()[:300]}"
    finished = run(Program(folder / sanitizer, sanitizer), [], folder / f"{sanitizer}.run", Limits(seconds=20.0), Setting())
    if finished.sanitizer_failed_to_start:
        return f"the {sanitizer} sanitizer does not start: {sanitizer_fix()}"
    if finished.status != 0:
        return (
            f"a program with the {sanitizer} sanitizer fails here (status {finished.status}): {finished.stderr.strip()[:300]}"
        )
    return None
