"""Confirms what `tests/data/kernels` expects of arrays in local memory (CP204) by the stack frames that ptxas reports.

Run: python3 benchmarks/confirm_local_arrays.py [--nvcc nvcc] [--jobs N]. Needs nvcc, no GPU. A kernel that is marked for CP204
agrees if its frame has the bytes of the arrays that are expected there, to the next multiple of 8: those and no others are in
local memory. A frame of another size is printed, and contradicts every decision of its kernel.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.confirm.cases import FOLDER, Case, load
    from benchmarks.confirm.driver import program_text
else:
    from confirm.cases import FOLDER, Case, load
    from confirm.driver import program_text

ROUNDED = 8
SIZES = {"char": 1, "short": 2, "int": 4, "unsigned": 4, "float": 4, "float2": 8, "float3": 12, "double": 8, "float4": 16}
_FRAME = re.compile(r"Function properties for _Z(\d+)(\w+)\s+(\d+) bytes stack frame")


def frames(report: str) -> dict[str, int]:
    """The stack frame of each kernel, by its plain name."""
    return {name[: int(length)]: int(size) for length, name, size in _FRAME.findall(report)}


def size_of(case: Case, array: str) -> int:
    """The bytes of a local array whose declaration gives its lengths as numbers."""
    declared = re.search(rf"^\s*(?:\w+\s+)*?(\w+)\s+{array}((?:\[\d+\])+)\s*[=;]", "\n".join(case.lines), re.MULTILINE)
    if declared is None or declared[1] not in SIZES:
        raise SystemExit(f"{case.file}: {case.kernel}: no declaration of {array} with known size")
    size = SIZES[declared[1]]
    for length in re.findall(r"\d+", declared[2]):
        size *= int(length)
    return size


def compiled(nvcc: str, file: str, cases: list[Case], folder: Path = FOLDER) -> dict[str, int]:
    """The stack frames of a file's kernels."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / file
        source.write_text(program_text(folder.resolve() / file, cases), encoding="utf-8")
        command = [nvcc, "-arch=sm_90", "-std=c++17", "-O2", "-cubin", "-Xptxas", "-v", "-o", os.devnull, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{file} does not build:\n{done.stderr}")
    return frames(done.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    cases = [case for case in load() if "CP204" in case.decides]
    files = {file: [c for c in cases if c.file == file] for file in sorted({c.file for c in cases})}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda item: compiled(arguments.nvcc, *item), files.items())
    measured = dict(zip(files, results, strict=True))
    counts: Counter[tuple[bool, bool]] = Counter()
    for case in cases:
        frame = measured[case.file][case.kernel]
        decisions = [d for d in case.decisions if d.code == "CP204"]
        bytes_expected = sum(size_of(case, d.array) for d in decisions if d.expected and d.array)
        agrees = bytes_expected <= frame < bytes_expected + ROUNDED and (frame == 0 or bytes_expected > 0)
        counts.update((d.expected, agrees) for d in decisions)
        if not agrees:
            print(f"{case.file}:{case.line}: {case.kernel}: a frame of {frame} bytes, the marks say {bytes_expected}")
    print("| CP204 | frames agree | contradict |\n| --- | --- | --- |")
    for expected, name in ((True, "expected"), (False, "none expected")):
        print(f"| {name} | {counts[expected, True]} | {counts[expected, False]} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
