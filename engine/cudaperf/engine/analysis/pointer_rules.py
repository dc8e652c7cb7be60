"""CP104 and CP105: what a kernel's stores through one pointer may do to the loads through another."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from cudaperf.engine.analysis.finding import RULES, Edit, Finding, Fix
from cudaperf.engine.analysis.runs import Runs
from cudaperf.engine.analysis.simt.trace import Access
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.parameters import Parameter


def repeated(runs: Runs) -> list[Finding]:
    """A load in a loop that reads the same place every round, while the loop writes there or where it may alias."""
    run, found = runs.first, list[Finding]()
    if run is None:
        return found
    places: dict[tuple[int, int, str], list[Access]] = defaultdict(list)
    written, writing = defaultdict[str, set[tuple[int, int]]](set), set[int]()
    for access in run.trace.accesses:
        if access.space == "global" and access.writes:
            written[access.array].add((access.start, access.end))
            writing |= set[int]() if _restricted(runs, access.array) else {start for start, _ in access.iteration}
        elif access.space == "global":
            places[access.start, access.end, access.array].append(access)
    for (start, end, array), accesses in places.items():
        own = all(a.compound for a in accesses)
        if written.get(array, set()) != ({(start, end)} if own else set()) or _restricted(runs, array) or volatile(runs, array):
            continue
        loops = {a.iteration[-1][0] for a in accesses if a.iteration}
        if len(loops) != 1 or not loops <= writing or not _in_one_place(accesses):
            continue
        place = "one place in memory is read and written in every round of the loop: a register can hold the sum"
        alias = "it is loaded from one place in every round of the loop: what the loop writes may alias it"
        message = f"{array}: {place if own else alias}"
        found.append(Finding("CP104", RULES["CP104"].severity, start, end, message, data={"array": array}))
    return found


def _in_one_place(accesses: list[Access]) -> bool:
    """Whether a loop's rounds, each time the loop is run, all read the same bytes."""
    if any(a.offset is None or a.from_data or not a.iteration or not isinstance(a.base, int) or a.base for a in accesses):
        return False  # an address that depends on data may be another one each round
    passes: dict[tuple[tuple[int, int], ...], list[Access]] = defaultdict(list)
    for access in accesses:
        passes[access.iteration[:-1]].append(access)
    same = all(np.array_equal(np.asarray(a.offset), np.asarray(first.offset)) for first, *rest in passes.values() for a in rest)
    return same and any(len({a.iteration[-1] for a in one}) > 1 for one in passes.values())


def unrestricted(runs: Runs) -> list[Finding]:
    """Pointers that the kernel only reads, while it writes through others."""
    run = runs.first
    if run is None or not run.trace.complete:
        return []
    touched = [a for a in run.trace.accesses if a.space == "global"]
    written = {a.array for a in touched if a.kind != "read"}
    read = {a.array for a in touched if a.kind == "read"}
    escaped = {name for node in runs.kernel.nodes for name in _escaping(node)}
    found = []
    for parameter in runs.kernel.parameters:
        kind, name = parameter.type, parameter.name
        if kind.pointers != 1 or name not in read or name in written or not written or name in escaped:
            continue
        if (kind.const and kind.restrict) or volatile(runs, name):
            continue
        missing = " and ".join(word for word, has in (("const", kind.const), ("__restrict__", kind.restrict)) if not has)
        message = f"pointer {name} is only read: with {missing} the compiler may keep its values and use read-only loads"
        severity, data, fix = RULES["CP105"].severity, {"array": name}, _declared(runs, parameter)
        found.append(Finding("CP105", severity, parameter.start, parameter.end, message, data=data, fix=fix))
    return found


def _declared(runs: Runs, parameter: Parameter) -> Fix | None:
    """The parameter with const and __restrict__."""
    head, star, tail = runs.model.source.text(parameter.start, parameter.end).rpartition("*")
    head = head if parameter.type.const else f"const {head.lstrip()}"
    tail = tail if parameter.type.restrict else f" __restrict__ {tail.strip()}"
    edit = Edit(parameter.start, parameter.end, f"{head}{star}{tail}")
    return Fix(f"Declare {parameter.name} const __restrict__", (edit,)) if star else None


def _escaping(node: ir.Expr | ir.Stmt) -> Iterator[str]:
    """Pointers that a call is given or that are copied: something else may write through them."""
    match node:
        case ir.Call():
            given = node.args
        case ir.Declare(init=value) | ir.Assign(value=value) if value is not None:
            given = [value]
        case _:
            return
    for part in given:
        yield from _as_pointers(part)


def _as_pointers(expr: ir.Expr | ir.Stmt) -> Iterator[str]:
    """The names in an expression but those whose elements alone it takes, or that it compares."""
    match expr:
        case ir.Name():
            yield expr.id
        case ir.Index(base=ir.Name()):
            yield from _as_pointers(expr.index)
        case ir.AddressOf(target=ir.Index(base=base, index=index)):
            yield from (*_as_pointers(base), *_as_pointers(index))
        case ir.AddressOf():
            yield from (n.id for n in ir.walk(expr.target) if isinstance(n, ir.Name))
        case ir.Binary() if expr.op in ("==", "!="):
            sides = (s for s in (expr.left, expr.right) if not isinstance(s, ir.Name))
            yield from (name for side in sides for name in _as_pointers(side))
        case _:
            yield from (name for child in ir.children(expr) for name in _as_pointers(child))


def volatile(runs: Runs, array: str) -> bool:
    """Whether each read of a parameter is meant."""
    declared = (runs.model.source.text(p.start, p.end) for p in runs.kernel.parameters if p.name == array)
    return any(re.search(r"\bvolatile\b", text) for text in declared)


def _restricted(runs: Runs, array: str) -> bool:
    return any(p.name == array and p.type.restrict for p in runs.kernel.parameters)
