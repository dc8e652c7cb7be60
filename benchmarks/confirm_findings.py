"""Confirms the expected findings of `tests/data/kernels` by what a GPU's tools measure.

Run on a machine with a GPU, nvcc, ncu and compute-sanitizer: python3 benchmarks/confirm_findings.py --out FOLDER [--jobs 12].
Elsewhere `--dry-run` builds the drivers and prints what would run. Writes `FOLDER/confirmed.json`, an object for each decision,
and prints a table last. Kernels are small: nothing here measures speed. What the tools can't see is counted as "reasoning".
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.confirm import driver, judge, profile, sanitize
    from benchmarks.confirm.cases import FOLDER, Case, load
else:
    from confirm import driver, judge, profile, sanitize
    from confirm.cases import FOLDER, Case, load

TOOLS = ("memcheck", "racecheck", "synccheck")
RISKY = ("CP301", "CP303", "CP306")
"""Kernels with these run alone, so that one that hangs or aborts takes no other with it."""
HANG_SECONDS = 15.0
NCU_SECONDS = 90.0
SANITIZER_SECONDS = 120.0
RISKY_SECONDS = 30.0


def risky(case: Case) -> bool:
    return any(case.of(code, "expect", "also") for code in RISKY)


def groups(program: driver.Program) -> list[tuple[str, ...]]:
    """The kernels of a driver as they are checked: the safe ones together, each other alone."""
    safe = tuple(c.kernel for c in program.cases if not risky(c))
    return [*([safe] if safe else []), *((c.kernel,) for c in program.cases if risky(c))]


def hanging(programs: list[driver.Program], jobs: int) -> set[str]:
    """The risky kernels that do not end."""
    suspects = [(p, c.kernel) for p in programs for c in p.cases if risky(c)]
    with ThreadPoolExecutor(jobs) as pool:
        ended = pool.map(lambda s: sanitize.runs(s[0].path, (s[1],), HANG_SECONDS), suspects)
    return {kernel for (_, kernel), end in zip(suspects, ended, strict=True) if not end}


def checks(programs: list[driver.Program], sanitizer: str, hung: set[str], jobs: int) -> list[sanitize.Checked]:
    """Every tool over every group; of kernels that hang only synccheck is asked."""
    work = [(t, p, g) for p in programs for g in groups(p) for t in TOOLS if t == "synccheck" or not set(g) & hung]

    def one(item: tuple[str, driver.Program, tuple[str, ...]]) -> sanitize.Checked:
        tool, program, kernels = item
        seconds = RISKY_SECONDS if len(kernels) == 1 else SANITIZER_SECONDS
        return sanitize.check(sanitizer, tool, program.path, program.file, kernels, seconds)

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, work))


def counters(programs: list[driver.Program], ncu: str, folder: Path, hung: set[str], jobs: int) -> list[profile.Access]:
    """One run of ncu a file; a failure is printed and leaves the file's lines unseen."""

    def one(program: driver.Program) -> list[profile.Access]:
        kernels = [c.kernel for c in program.cases if c.kernel not in hung]
        report = folder / program.path.name
        trouble = profile.collect(ncu, program.path, kernels, report, NCU_SECONDS)
        if trouble:
            print(f"{program.file}: {trouble}", flush=True)
            return []
        return profile.accesses(ncu, report)

    with ThreadPoolExecutor(jobs) as pool:
        return [access for found in pool.map(one, programs) for access in found]


def trouble(found: Iterable[sanitize.Checked]) -> list[str]:
    """What memcheck has against the kernels, and the runs that failed."""
    lines = [f"{c.file}: {r.text} {list(r.places)}" for c in found if c.tool == "memcheck" for r in c.reports]
    return lines + [f"{c.file}: {c.tool}: {' '.join(c.kernels)}: {c.trouble}" for c in found if c.trouble]


def measure(programs: list[driver.Program], arguments: argparse.Namespace, cases: list[Case]) -> int:
    start = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - start:5.0f} s] {text}", flush=True)

    hung = hanging(programs, arguments.jobs)
    say(f"hanging: {', '.join(sorted(hung)) or 'none'}")
    found = counters(programs, arguments.ncu, arguments.out, hung, arguments.ncu_jobs)
    say(f"{len(found)} accesses counted")
    checked = checks(programs, arguments.sanitizer, hung, arguments.jobs)
    say(f"{len(checked)} runs of the sanitizer")
    lines = profile.worst(found)
    answers = judge.answers(cases, judge.measured(lines, checked, cases, hung))
    rows = [answer.row() for answer in answers]
    (arguments.out / "confirmed.json").write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")
    (arguments.out / "trouble.txt").write_text("\n".join(trouble(checked)) + "\n", encoding="utf-8")
    bad = trouble(checked)
    print(*bad[:20], f"memcheck and tools: {len(bad)} messages (trouble.txt)", judge.table(answers), sep="\n")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for drivers, reports and confirmed.json")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="the kernels")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 2))
    parser.add_argument("--ncu-jobs", type=int, default=1, help="runs of ncu side by side")
    parser.add_argument("--only", default="", help="files whose name holds this")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--sanitizer", default="compute-sanitizer")
    parser.add_argument("--dry-run", action="store_true", help="build, and print what would run")
    arguments = parser.parse_args()
    cases = [case for case in load(arguments.folder) if arguments.only in case.file]
    arguments.out.mkdir(parents=True, exist_ok=True)
    programs = driver.build(arguments.folder.resolve(), cases, arguments.out / "drivers", arguments.nvcc, arguments.jobs)
    failed = [p for p in programs if p.error]
    for program in failed:
        print(f"{program.file}: does not build\n{program.error}")
    programs = [p for p in programs if not p.error]
    print(f"{len(cases)} kernels in {len(programs)} drivers", flush=True)
    if arguments.dry_run:
        for program in programs:
            print(f"{program.file}: one run of ncu; each of {', '.join(TOOLS)} over {len(groups(program))} groups")
        return 1 if failed else 0
    return measure(programs, arguments, cases)


if __name__ == "__main__":
    raise SystemExit(main())
