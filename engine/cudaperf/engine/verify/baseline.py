"""CPU baselines: the user's own function timed on one configuration, by one thread and by all cores.

"-O3, 1 thread" is `-O3 -march=native`; "OpenMP, N threads" is the same with pragmas put before loops that the analysis found
legal. Seconds are the least of a few short runs' medians, of several calls each after a warm-up, on restored inputs. OpenMP's
threads wait for one another by spinning in one half of the runs and asleep in the other: spinning is quicker on an idle
machine, and on a busy one waits for who has no core.
Not promised: exclusive use of the machine; and a pragma that the compiler rejects at its place gives no baseline, not an error.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import time
from collections.abc import Iterator, Sequence
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
_WAITING: Final = ("", "OMP_WAIT_POLICY=passive") * 2
_MOST_CALLS: Final = 100


@dataclass(frozen=True, slots=True)
class _Variant:
    name: str
    options: tuple[str, ...]
    source: str
    environments: tuple[str, ...] = ("",) * 3
    """NAME=VALUE of each short run, or nothing."""


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
        best = _best(program, source, variant.environments, deadline)
        if best is not None:
            seconds, environment = best
            command = " ".join((compiler, *variant.options, *([f"# run with {environment}"] if environment else [])))
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
            yield _Variant(f"OpenMP, {cores} threads", (*_FAST, "-fopenmp"), annotated, _WAITING)


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


def _best(program: Path, source: Path, environments: Sequence[str], deadline: float) -> tuple[float, str] | None:
    """Seconds a call in the best run, and its environment; about a second in all. None where it failed or ran out of time."""
    first = _time(program, source, 1, deadline, environments[0])
    if first is None:
        return None
    count = max(1, min(_MOST_CALLS, int(_SECONDS / len(environments) / max(first[0], 1e-7))))
    found = [(statistics.median(first), environments[0])]
    for environment in environments:
        more = _time(program, source, count, deadline, environment)
        found += [(statistics.median(more), environment)] if more is not None else []
    return min(found[1:] or found)


def _time(program: Path, source: Path, count: int, deadline: float, environment: str) -> list[float] | None:
    name, _, value = environment.partition("=")
    given = {name: value} if name else {}
    done = process.run([program, source, "--time", str(count)], deadline - time.monotonic(), given)
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
