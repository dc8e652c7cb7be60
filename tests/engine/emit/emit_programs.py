"""Builds a case's emitted files with the emulated CUDA runtime around a `main` that compares with the user's own C.

Arrays are filled by index, the emitted host function and the user's C run on equal copies, and the program prints one line a
call: "same" or the name of the first array that differs. Its exit status is 0 when all calls are the same.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from emit_cases import Case

from cudaperf.engine.emit.cuda import emit
from cudaperf.engine.emit.spelling import definition, structs, type_name
from cudaperf.engine.executors.emulated import build
from cudaperf.engine.executors.emulated.translate import translate
from cudaperf.engine.task import ArrayParameter

FLAGS = (
    "-std=c++17",
    "-O1",
    "-g1",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-w",
)


@dataclass(frozen=True)
class Ran:
    """How a program ended; `refused` names the calls that were made to fail, `leaked` whether device memory was left."""

    status: int
    out: str
    err: str
    refused: tuple[str, ...]
    leaked: bool


@dataclass(frozen=True)
class Call:
    """Arguments of one call: C texts of scalars, lengths of arrays, fills as C expressions of `i` (default: i % 7)."""

    scalars: dict[str, str]
    lengths: dict[str, int]
    fills: dict[str, str]


def call(scalars: dict[str, str], lengths: dict[str, int], **fills: str) -> Call:
    return Call(scalars, lengths, fills)


def comparing_main(case: Case, *calls: Call) -> str:
    """A `main` that makes each call through the emitted function and through the user's C, on equal arrays."""
    task = case.task
    name, kinds = task.original.function, [_c_type(p) for p in task.parameters]
    result = type_name(task.returns) if task.returns else "void"
    lines = ["#include <cstdio>", "#include <cstring>", "#include <vector>", '#include "case.h"']
    lines += [definition(s) for s in structs(p.type for p in task.parameters) if s.name.startswith("struct ")]
    if task.original.static:
        lines += [f"namespace user {{ {case.c} }}", "using namespace user;"]
    else:
        lines += [f'extern "C" {result} {name}({", ".join(kinds)});']
    for p in task.globals:
        kind = _c_type(p)
        lines.append(f'extern "C" {kind.replace("*", "") + p.name + "[]" if "[" in p.declaration else kind + " " + p.name};')
    lines += ["int main() {", "  int bad = 0;", *(line for c in calls for line in _one_call(case, c)), "  return bad;", "}"]
    return "\n".join(lines)


def _c_type(p: object) -> str:
    assert hasattr(p, "type")
    return type_name(p.type) + (" *" if isinstance(p, ArrayParameter) else "")


def _one_call(case: Case, made: Call) -> list[str]:
    task = case.task
    lines = ["  {"]
    for p in task.arrays:
        kind, count, fill = type_name(p.type), made.lengths[p.name], made.fills.get(p.name, "i % 7")
        lines.append(f"    std::vector<{kind}> {p.name}_gpu({count});")
        lines.append(f"    for (int i = 0; i < {count}; i++) memset(&{p.name}_gpu[i], 0, sizeof({kind}));")
        target = f"{p.name}_gpu[i]" + (".x" if kind in ("struct body", "point_t") else "")
        lines.append(f"    for (int i = 0; i < {count}; i++) {target} = {fill};")
        if p.is_global and "[" in p.declaration:
            lines.append(f"    memcpy({p.name}, {p.name}_gpu.data(), {count} * sizeof({kind}));")
        elif p.is_global:
            lines.append(f"    {p.name} = {p.name}_gpu.data();")
        lines.append(f"    auto {p.name}_cpu = {p.name}_gpu;")
    lines += [f"    {p.name} = {made.scalars[p.name]};" for p in task.globals if not isinstance(p, ArrayParameter)]
    for side, function in (("gpu", f"{task.original.function}_cuda"), ("cpu", task.original.function)):
        plain = side == "gpu" or not task.original.static
        arguments = [
            _pointer(p, side, plain) if isinstance(p, ArrayParameter) else made.scalars[p.name] for p in task.parameters
        ]
        head = f"auto result_{side} = " if task.returns else ""
        lines.append(f"    {head}{function}({', '.join(arguments)});")
    for p in task.arrays:
        gpu, cpu = f"{p.name}_gpu", f"{p.name}_cpu"
        equal = f"{gpu}.empty() || !memcmp({gpu}.data(), {cpu}.data(), {gpu}.size() * sizeof {gpu}[0])"
        lines.append(f'    if (!({equal})) {{ bad = 1; puts("{p.name}"); }}')
    if task.returns:
        lines.append('    if (result_gpu != result_cpu) { bad = 1; puts("result"); }')
    return [*lines, "  }"]


def _pointer(p: ArrayParameter, side: str, plain: bool) -> str:
    """An array argument; a copy of the user's C in the same program keeps its parameters' types."""
    inner = "".join(f"[{extent}]" for extent in p.extents[1:])
    return f"{'' if plain or not inner else f'({type_name(p.type)} (*){inner})'}{p.name}_{side}.data()"


def build_program(case: Case, main: str, folder: Path) -> Path:
    """The emitted .cu translated, the user's C (renamed nothing), and `main` in one executable."""
    compiler = build.find_compiler()
    assert compiler is not None
    runtime = build.prepare(compiler).runtime
    files = emit(case.task, case.candidate, "case", fallback=case.fallback)
    (folder / "case.cu.cpp").write_text(translate(files.cu, files.cu_name))
    (folder / files.header_name).write_text(files.header)
    (folder / "user.c").write_text(case.c)
    (folder / "main.cpp").write_text(main)
    include = [f"-I{folder}", f"-I{build.INCLUDE}"]
    user = [compiler.path.replace("g++", "gcc"), "-std=c99", "-g1", "-O1", "-fsanitize=address", "-w", "-c", "user.c"]
    subprocess.run(user, cwd=folder, check=True)
    command = [compiler.path, *FLAGS, *include, "case.cu.cpp", "main.cpp", "user.o", str(runtime), "-o", "program"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "program"


def run_program(program: Path, *arguments: str, fail_at: int = 0) -> Ran:
    """Run it with the k-th CUDA call failing (0: none)."""
    log = program.with_suffix(".log")
    log.unlink(missing_ok=True)
    environment = os.environ | {"CUDAPERF_LOG": str(log), "CUDAPERF_EMULATED_FAIL_AT": str(fail_at)}
    environment |= {"ASAN_OPTIONS": "detect_stack_use_after_return=0:detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
    command = [str(program), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    lines = [line.split("\t") for line in log.read_text().splitlines()] if log.exists() else []
    refused = tuple(line[1] for line in lines if line[0] == "refused")
    return Ran(done.returncode, done.stdout, done.stderr, refused, any(line[0] == "leak" for line in lines))
