"""The reference of a task: a C++ program over tracked numbers, printed from the front end's trees.

    reference INPUT OUTPUT       prints {"ambiguous": N} and writes, for every output, the columns described below

`reference_source` gives the text that `Task.reference` carries; `program_source` puts `cpp/tracked.hpp` before it. The output
file holds, for each entry of `data.outputs` in order: an int64 count of leaves (elements times scalars an element), then four
arrays of that many 8-byte values: hi and lo (the value one precision up, in two doubles), bound (absolute; -1 where equality is
asked), own (what the original computes: a double, or an int64).
Not promised: every construct; an empty text means that outputs are compared with the original's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cudaperf.engine.loops import ir
from cudaperf.engine.task import Task
from cudaperf.engine.verify.data import FormatError, outputs
from cudaperf.engine.verify.reference_printer import ReferencePrinter, Unprintable, type_name

TOLERANCE_K: Final = 4.0
"""The k of |out - ref| <= k * (m + sqrt(r)); docs/decisions/001-tolerance.md."""

OPTIONS: Final = ("-O1", "-ffp-contract=off", "-w", "-std=c++17")


@dataclass(frozen=True, slots=True)
class Columns:
    """One output, a leaf an entry: the value is hi + lo; `bound` is -1 where equality is asked; `own` as 8 raw bytes."""

    hi: NDArray[np.float64]
    lo: NDArray[np.float64]
    bound: NDArray[np.float64]
    own: NDArray[np.int64]


def reference_source(unit: ir.Unit, task: Task) -> str:
    """The reference's C++ text; empty where a construct has no counterpart over tracked numbers."""
    try:
        return "\n".join(_source(unit, task)) + "\n"
    except Unprintable:
        return ""


def program_source(task: Task) -> str:
    """The whole program: the tracked numbers, then the task's reference."""
    header = (Path(__file__).parent / "cpp" / "tracked.hpp").read_text(encoding="utf-8")
    return f"#define CP_K {TOLERANCE_K}\n#include <cmath>\n#include <memory>\n{header}\n{task.reference}"


def read_columns(task: Task, path: Path) -> dict[str, Columns]:
    """The reference's output file; raises `FormatError`."""
    raw, at, found = path.read_bytes(), 0, {}
    for name, _, _ in outputs(task):
        if at + 8 > len(raw):
            raise FormatError(f"{path.name}: ends before {name}")
        count = int.from_bytes(raw[at : at + 8], "little")
        if at + 8 + 32 * count > len(raw):
            raise FormatError(f"{path.name}: ends inside {name}")
        parts = [np.frombuffer(raw, "<f8", count, at + 8 + 8 * count * part) for part in range(4)]
        found[name] = Columns(parts[0], parts[1], parts[2], parts[3].view(np.int64))
        at += 8 + 32 * count
    return found


# --- printing ------------------------------------------------------------------------------------------------------------


def _source(unit: ir.Unit, task: Task) -> Iterator[str]:
    function = unit.function
    for struct in _structs(unit):
        yield from _struct(struct)
    given = {p.name for p in task.globals}
    for variable in function.globals:
        yield _global(unit, variable, variable.name in given)
    for helper in unit.helpers:
        yield from _function(unit, helper)
    yield from _function(unit, function)
    yield from _main(function, task)


def _structs(unit: ir.Unit) -> list[ir.Struct]:
    """Every struct type in sight, inner ones first."""
    found: dict[str, ir.Struct] = {}

    def add(kind: ir.Type | None) -> None:
        if isinstance(kind, ir.Struct):
            for member in kind.fields:
                add(member.type)
            found.setdefault(kind.name, kind)

    for function in (*unit.helpers, unit.function):
        add(function.returns)
        for variable in (*function.parameters, *function.globals):
            add(variable.type)
        for node in ir.walk(function.body):
            add(getattr(node, "type", None))
    return list(found.values())


def _struct(struct: ir.Struct) -> Iterator[str]:
    name = type_name(struct)
    yield f"struct {name} {{"
    for member in struct.fields:
        yield f"    {type_name(member.type)} m_{member.name}{''.join(f'[{d}]' for d in member.dims)}{{}};"
    yield "};"
    yield f"static void cp_load({name} &x, const unsigned char *from) {{"
    for member in struct.fields:
        for place, offset in _elements(member):
            yield f"    cp_load(x.m_{member.name}{place}, from + {offset});"
    yield "}"
    yield f"static void cp_emit(const {name} &x, cp_columns &to) {{"
    for member in struct.fields:
        for place, _ in _elements(member):
            yield f"    cp_emit(x.m_{member.name}{place}, to);"
    yield "}"


def _size(kind: ir.Type) -> int:
    return kind.size if isinstance(kind, ir.Struct) else kind.bits // 8


def _elements(member: ir.Field) -> Iterator[tuple[str, int]]:
    for at, index in enumerate(np.ndindex(*member.dims)):
        yield "".join(f"[{i}]" for i in index), member.offset + at * _size(member.type)


def _global(unit: ir.Unit, variable: ir.Variable, given: bool) -> str:
    kind = type_name(variable.type)
    if given:
        return f"static {kind} {'*' if variable.is_array else ''}v_{variable.name};"
    if variable.is_array or variable.value is None:
        raise Unprintable(f"the value of {variable.name}")
    if not isinstance(variable.type, ir.Scalar):
        raise Unprintable(variable.name)
    value = float(variable.value).hex() if variable.type.kind == "float" else str(variable.value)
    return f"static const {kind} v_{variable.name} = {kind}({value});"


def _function(unit: ir.Unit, function: ir.Function) -> Iterator[str]:
    printer = ReferencePrinter(unit, function)
    result = "void" if function.returns is None else type_name(function.returns)
    parameters = ", ".join(f"{type_name(v.type)} {'*' if v.is_array else ''}v_{v.name}" for v in function.parameters)
    yield f"static {result} h_{function.name}({parameters}) {{"
    yield from printer.block(function.body, 1)
    yield "}"


def _main(function: ir.Function, task: Task) -> Iterator[str]:
    yield "int main(int argc, char **argv) {"
    yield "    if (argc != 3) return 2;"
    yield "    cp_file in(argv[1]);"
    for p in task.parameters + task.globals:
        yield from (f"    {line}" for line in _read(function.variable(p.name), p.is_global))
    call = f"h_{function.name}({', '.join(f'a_{p.name}' for p in task.parameters)});"
    yield f"    {'auto result = ' if task.returns is not None else ''}{call}"
    yield '    FILE *out = fopen(argv[2], "wb");'
    yield "    if (!out) return 2;"
    arrays = {p.name for p in task.arrays}
    for name, _, is_array in outputs(task):
        each = f"for (long long i = 0; i < n_{name}; i++) cp_emit(a_{name}[i], to);" if is_array else ""
        value = "result" if name not in arrays and not is_array and name == "return" else f"v_{name}"
        yield f"    {{ cp_columns to; {each or f'cp_emit({value}, to);'} to.write(out); }}"
    yield '    printf("{\\"ambiguous\\": %ld}\\n", cp_ambiguous);'
    yield "    return fclose(out) != 0;"
    yield "}"


def _read(variable: ir.Variable, is_global: bool) -> list[str]:
    name, kind, size = variable.name, type_name(variable.type), _size(variable.type)
    if variable.is_array:
        lines = [
            f"long long n_{name} = in.integer();",
            f"{kind} *a_{name} = new {kind}[n_{name} + 1]();",
            f"{{ const unsigned char *raw = in.take(n_{name} * {size});"
            f" for (long long i = 0; i < n_{name}; i++) cp_load(a_{name}[i], raw + i * {size}); }}",
        ]
    elif isinstance(variable.type, ir.Struct):
        lines = [f"{kind} a_{name}; cp_load(a_{name}, in.take({size}));"]
    elif variable.type.kind == "float":
        lines = [f"{kind} a_{name}({'float' if variable.type.bits == 32 else 'double'}(in.real()));"]
    else:
        lines = [f"{kind} a_{name} = ({kind})in.integer();"]
    return [*lines, f"v_{name} = a_{name};"] if is_global else lines
