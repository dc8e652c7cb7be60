"""CPU baselines: the user's own function timed on one configuration, by one thread and by all cores.

"-O3, 1 thread" is `-O3 -march=native`; "OpenMP, N threads" is the same with pragmas put before loops that the analysis found
legal. Seconds are the median of several calls after a warm-up, each on restored inputs.
Not promised: exclusive use of the machine; and a pragma that the compiler rejects at its place gives no baseline, not an error.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cudaperf.engine.evidence import Baseline, ConfigurationSpec
from cudaperf.engine.reason import Reason
from cudaperf.engine.task import Task
from cudaperf.engine.verify import process
from cudaperf.engine.verify.data import write_inputs
from cudaperf.engine.verify.original import c_compiler, compile_program, program_constants
from cudaperf.engine.verify.values import inputs

Pragma = tuple[int, str]
"""A line of the user's file and the directive to put before it."""

_FAST: Final = ("-O3", "-march=native")
_SECONDS: Final = 1.0
_MOST_CALLS: Final = 100


@dataclass(frozen=True, slots=True)
class _Variant:
    name: str
    options: tuple[str, ...]
    source: str


def baselines(
    task: Task, spec: ConfigurationSpec, omp_pragmas: tuple[Pragma, ...], directory: Path, deadline: float
) -> tuple[Baseline, ...]:
    """Those that could be built and finished in time; none without a C compiler."""
    compiler = c_compiler()
    if compiler is None:
        return ()
    directory.mkdir(parents=True, exist_ok=True)
    source = directory / "timing.in"
    found = []
    for at, variant in enumerate(_variants(task, omp_pragmas)):
        program = directory / f"baseline_{at}"
        built = compile_program(task, variant.source, program, variant.options, deadline, compiler)
        if built.status != 0 or not (source.exists() or _write_inputs(task, spec, program, source, deadline)):
            continue
        seconds = median_seconds(program, source, deadline)
        if seconds is not None:
            command = " ".join((compiler, *variant.options))
            found.append(Baseline(name=variant.name, seconds=seconds, sizes=spec.sizes, processor=processor(), command=command))
    return tuple(found)


def _write_inputs(task: Task, spec: ConfigurationSpec, program: Path, source: Path, deadline: float) -> bool:
    fixed = program_constants(task, program, source.with_name("constants.bin"), deadline)
    if isinstance(fixed, Reason):
        return False
    write_inputs(task, source, inputs(task, spec, fixed))
    return True


def _variants(task: Task, omp_pragmas: tuple[Pragma, ...]) -> Iterator[_Variant]:
    yield _Variant("-O3, 1 thread", _FAST, task.original.preprocessed)
    if omp_pragmas:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        annotated = with_pragmas(task.original.preprocessed, task.original.path, omp_pragmas)
        if annotated is not None:
            yield _Variant(f"OpenMP, {cores} threads", (*_FAST, "-fopenmp"), annotated)


def with_pragmas(preprocessed: str, path: str, pragmas: tuple[Pragma, ...]) -> str | None:
    """The preprocessed file with each directive before its line of the user's file; None where a line is not found."""
    wanted = dict(pragmas)
    lines, file, number = [], "", 0
    for line in preprocessed.splitlines():
        marker = re.match(r'#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"', line)
        if marker:
            number, file = int(marker[1]), marker[2].replace("\\\\", "/").rsplit("/", 1)[-1]
            lines.append(line)
            continue
        if file == path and number in wanted and line.strip():
            lines += [wanted.pop(number), f'# {number} "{path}"']
        lines.append(line)
        number += 1
    return None if wanted else "\n".join(lines) + "\n"


def median_seconds(program: Path, source: Path, deadline: float) -> float | None:
    """Seconds a call, from as many calls as fit in about a second; None if it failed or ran out of time."""
    first = _time(program, source, 1, deadline)
    if first is None:
        return None
    count = max(3, min(_MOST_CALLS, int(_SECONDS / max(first[0], 1e-7))))
    more = _time(program, source, count, deadline)
    return statistics.median(more if more is not None else first)


def _time(program: Path, source: Path, count: int, deadline: float) -> list[float] | None:
    done = process.run([program, source, "--time", str(count)], deadline - time.monotonic())
    if done.status != 0:
        return None
    return [float(value) for value in json.loads(done.stdout)["seconds"]]


def processor() -> str:
    """The CPU's name as the system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "unknown"
    found = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    return found[1].strip() if found else "unknown"
