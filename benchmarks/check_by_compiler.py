"""What `cudaperf check` says of local arrays (CP204) and repeated loads (CP104) against compiled code, marked or not.

Run: python benchmarks/check_by_compiler.py [--folder tests/data/kernels_unseen] [--nvcc nvcc]. Needs nvcc, no GPU. A kernel has
a stack frame or not, and CP204 or not; a line in a loop has fewer accesses where all pointers are `__restrict__` or not, and
CP104 or not. Prints each disagreement, then how often they agree.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks import confirm_loads, confirm_local_arrays
    from benchmarks.check_accuracy import Found, findings
    from benchmarks.confirm.cases import FOLDER, Case, load
else:
    import confirm_loads
    import confirm_local_arrays
    from check_accuracy import Found, findings
    from confirm.cases import FOLDER, Case, load

Answer = tuple[str, str, bool, bool]
"""The rule, a place, whether the compiler's code has it, whether the rule says so."""


def frames(cases: list[Case], found: list[Found], nvcc: str, folder: Path) -> Iterator[Answer]:
    sizes = confirm_local_arrays.compiled(nvcc, cases[0].file, cases, folder)
    for case in cases:
        said = any(f.code == "CP204" and case.owns(f.line, f.code) for f in found)
        yield "CP204", f"{case.file}:{case.line}: {case.kernel}", sizes[case.kernel] > 0, said


def loads(cases: list[Case], found: list[Found], nvcc: str, folder: Path) -> Iterator[Answer]:
    text = confirm_loads.rolled((folder / cases[0].file).read_text(encoding="utf-8"))
    plain, free = (confirm_loads.accesses(confirm_loads.compiled(nvcc, t)) for t in (text, confirm_loads.restricted(text)))
    said = {f.line for f in found if f.code == "CP104"}
    for case in cases:
        for line in range(case.line, case.last + 1):
            here, there = (sum(a.repeated and (a.kernel, a.line) == (case.kernel, line) for a in s) for s in (plain, free))
            if here:
                yield "CP104", f"{case.file}:{line}: {case.kernel}", here > there, line in said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="the kernels")
    parser.add_argument("--nvcc", default="nvcc")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    every, counts = load(folder), Counter[tuple[str, bool, bool]]()
    for file in sorted({c.file for c in every}):
        cases, found = [c for c in every if c.file == file], findings(folder / file)
        for answers in (frames, loads):
            for rule, place, has, said in answers(cases, found, arguments.nvcc, folder):
                counts[rule, has, said] += 1
                if has != said:
                    print(f"{place}: {rule} {'said' if said else 'not said'}, the code {'has it' if has else 'has it not'}")
    print("| rule | in the code, said | not said | not in the code, said | not said |\n| --- | --- | --- | --- | --- |")
    for rule in ("CP104", "CP204"):
        print(f"| {rule} | {' | '.join(str(counts[rule, has, said]) for has in (True, False) for said in (True, False))} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
