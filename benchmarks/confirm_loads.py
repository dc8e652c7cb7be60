"""Confirms what `tests/data/kernels` expects of repeated loads (CP104) and neighbouring accesses (CP103) by compiled code.

Run: python3 benchmarks/confirm_loads.py [--nvcc nvcc] [--jobs N]. Needs nvcc, no GPU. Files are compiled to PTX as they are and
with every pointer parameter `__restrict__`, loops not unrolled. A line of CP104 agrees where the second has fewer accesses of
global memory inside loops (it was aliasing that repeated them), a line without where it has as many. A line of CP103 agrees
where all its accesses of global memory are scalar: the compiler has not joined them.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.confirm.cases import FOLDER, Case, Decision, load
else:
    from confirm.cases import FOLDER, Case, Decision, load

CODES = ("CP103", "CP104")
_SIGNATURE = re.compile(r"__global__ void \w+\([^{]*?\)\s*(?://[^\n]*\s*)?\{")
_POINTER = re.compile(r"\*\s*(?!__restrict__)(\w+)\s*(?=[,)])")
_LOOP = re.compile(r"^([ \t]*)(for|while)( \()", re.MULTILINE)
_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
_ENTRY = re.compile(r"\.entry\s+_Z(\d+)(\w+)")
_BRANCH = re.compile(r"\bbra(?:\.uni)?\s+(\$\w+)")
_GLOBAL = re.compile(r"\b(?:ld|st)(?:\.\w+)*?\.global(?:\.\w+)*")


@dataclass(frozen=True, slots=True)
class Access:
    """An instruction on global memory, by the line of the source that it is from."""

    kernel: str
    line: int
    wide: bool
    repeated: bool


def restricted(text: str) -> str:
    """The text with each pointer parameter of a kernel `__restrict__`."""
    return _SIGNATURE.sub(lambda m: _POINTER.sub(r"*__restrict__ \1", m[0]), text)


def rolled(text: str) -> str:
    """The text with no loop unrolled but those that ask for it."""
    lines = _LOOP.sub(r'\1_Pragma("unroll 1") \2\3', text).split("\n")
    asked = (number for number, line in enumerate(lines) if line.startswith("#pragma unroll"))
    for number in asked:
        lines[number + 1] = lines[number + 1].replace('_Pragma("unroll 1") ', "")
    return "\n".join(lines)


def compiled(nvcc: str, text: str) -> str:
    """PTX with the lines of the source."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "kernels.cu", Path(folder) / "kernels.ptx"
        source.write_text(text, encoding="utf-8")
        command = [nvcc, "-arch=sm_90", "-std=c++17", "-lineinfo", "-ptx", "-o", str(target), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        return target.read_text(encoding="utf-8")


def accesses(ptx: str) -> list[Access]:
    """The accesses of every kernel; `repeated` are those between a label and a branch back to it."""
    found: list[Access] = []
    for part in ptx.split(".visible ")[1:]:
        entry = _ENTRY.match(part)
        if entry is None:
            continue
        lines = part.split("\n")
        labels = {line[:-1].strip(): n for n, line in enumerate(lines) if line.startswith("$") and line.endswith(":")}
        branches = ((n, labels.get(m[1], n)) for n, line in enumerate(lines) if (m := _BRANCH.search(line)))
        loops = [(start, end) for end, start in branches if start < end]
        place = 0
        for n, line in enumerate(lines):
            loc = _LOC.match(line)
            place = int(loc[1]) if loc else place
            if operation := _GLOBAL.search(line):
                inside = any(start < n < end for start, end in loops)
                wide = bool(re.search(r"\.v[24]\b", operation[0]))
                found.append(Access(entry[2][: int(entry[1])], place, wide, inside))
    return found


def confirmed(case: Case, decision: Decision, plain: list[Access], free: list[Access]) -> bool | None:
    """Whether the code agrees; None where it can't tell."""
    here, there = ([a for a in found if (a.kernel, a.line) == (case.kernel, decision.line)] for found in (plain, free))
    if decision.code == "CP103":
        return None if not decision.expected or not here else not any(a.wide for a in here)
    repeated = [sum(a.repeated for a in found) for found in (here, there)]
    return repeated[0] > repeated[1] if decision.expected else repeated[0] == repeated[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    cases = [case for case in load() if set(CODES) & set(case.decides)]
    files = sorted({case.file for case in cases})

    def both(file: str) -> tuple[list[Access], list[Access]]:
        text = rolled((FOLDER / file).read_text(encoding="utf-8"))
        return accesses(compiled(arguments.nvcc, text)), accesses(compiled(arguments.nvcc, restricted(text)))

    with ThreadPoolExecutor(arguments.jobs) as pool:
        code = dict(zip(files, pool.map(both, files), strict=True))
    counts: Counter[tuple[str, bool, bool | None]] = Counter()
    for case in cases:
        for decision in (d for d in case.decisions if d.code in CODES):
            agrees = confirmed(case, decision, *code[case.file])
            counts[decision.code, decision.expected, agrees] += 1
            if agrees is False:
                kind = "expected" if decision.expected else "none expected"
                print(f"{case.file}:{decision.line}: {decision.code} {case.kernel}: {kind}, and the code says otherwise")
    print("| rule | | code agrees | contradicts | can't tell |\n| --- | --- | --- | --- | --- |")
    for rule in CODES:
        for expected, name in ((True, "expected"), (False, "none expected")):
            row = (counts[rule, expected, answer] for answer in (True, False, None))
            print(f"| {rule} | {name} | {' | '.join(map(str, row))} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
