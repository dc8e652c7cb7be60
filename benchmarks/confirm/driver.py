"""One program for each file of kernels: it launches the kernels named on its command line as their run lines say."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .cases import FOLDER, Argument, Case

HARNESS = Path(__file__).with_name("harness.cuh")


@dataclass(frozen=True, slots=True)
class Program:
    """A built driver, or what the compiler said."""

    file: str
    path: Path
    cases: tuple[Case, ...]
    error: str = ""


def program_text(file: str, cases: list[Case], folder: Path = FOLDER) -> str:
    """The driver's C++ for one file."""
    entries = ",\n".join(f'    {{"{c.kernel}", run_{c.kernel}}}' for c in cases)
    functions = "\n\n".join(_function(c) for c in cases)
    return (
        f'#include "{HARNESS}"\n#include "{folder / file}"\n\n{functions}\n\n'
        f"static const confirm::Entry entries[] = {{\n{entries}\n}};\n\n"
        "int main(int argc, char **argv)\n{\n    return confirm::run(entries, argc, argv);\n}\n"
    )


def _function(case: Case) -> str:
    numbers = [a for a in case.run.arguments if a.number is not None]
    arrays = [a for a in case.run.arguments if a.number is None]
    lines = [f"    const {'double' if '.' in str(a.number) else 'long long'} {a.name} = {a.number};" for a in numbers]
    lines += [f"    {_array(a, seed)}" for seed, a in enumerate(arrays, 1)]
    lines += [f"    (void){a.name};" for a in numbers]
    good = " && ".join(f"{_holder(a)}.good" for a in arrays)
    values = ", ".join(a.name if a.number is not None else f"{_holder(a)}.data" for a in case.run.arguments)
    block, grid = (", ".join(map(str, shape)) for shape in (case.run.block, case.run.grid))
    launch = f"::{case.run.instance}<<<dim3({grid}), dim3({block}), {case.run.shared}>>>({values});"
    body = "\n".join([*lines, f"    if (!({good}))", "        return false;", f"    {launch}"])
    return f'static bool run_{case.kernel}()\n{{\n{body}\n    return confirm::finished("{case.kernel}");\n}}'


def _holder(argument: Argument) -> str:
    return f"{argument.name}_array"


def _array(argument: Argument, seed: int) -> str:
    value = argument.value or "0"
    return f'confirm::Array<{argument.type}> {_holder(argument)}({argument.count}, "{argument.contents}", {value}, {seed});'


def build(cases: list[Case], folder: Path, nvcc: str, jobs: int) -> list[Program]:
    """The drivers of all files, `jobs` compilers at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {file: [c for c in cases if c.file == file] for file in sorted({c.file for c in cases})}
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda item: _built(item[0], item[1], folder, nvcc), files.items()))


def _built(file: str, cases: list[Case], folder: Path, nvcc: str) -> Program:
    source, path = folder / f"{Path(file).stem}_main.cu", folder / Path(file).stem
    source.write_text(program_text(file, cases), encoding="utf-8")
    command = [nvcc, "-arch=sm_90", "-std=c++17", "-O2", "-lineinfo", "-o", str(path), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Program(file, path, tuple(cases), done.stderr if done.returncode else "")
