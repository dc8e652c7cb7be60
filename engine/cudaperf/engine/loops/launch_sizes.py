"""Why the host can't know how often a loop runs before a launch, in the words of its bounds."""

from __future__ import annotations

from collections.abc import Iterator

from cudaperf.engine.loops import ir

REST = "pass it as an argument of its own"


def unknown_count(unit: ir.Unit, loop: ir.For) -> str:
    """The message for a loop whose bounds read data."""
    for what, bound in (("end", loop.bound), ("start", loop.lower), ("step", loop.step)):
        for load in _loads(unit, bound, frozenset()):
            said = _told(unit, load)
            if said is not None:
                return f"the {what} of the loop over {loop.var}, {said}; {REST}"
    return f"how often the loop over {loop.var} runs depends on data, so the host can't size a launch"


def _loads(unit: ir.Unit, bound: ir.Expr, seen: frozenset[str]) -> Iterator[ir.Load]:
    """What a bound reads from memory, also through locals that are set once."""
    for node in ir.walk(bound):
        if isinstance(node, ir.Load):
            yield node
        elif isinstance(node, ir.Name) and node.id not in seen:
            values = list(_values(unit.function.body, node.id))
            if len(values) == 1:
                yield from _loads(unit, values[0], seen | {node.id})


def _values(body: ir.Block, name: str) -> Iterator[ir.Expr]:
    for node in ir.walk(body):
        match node:
            case ir.Decl(name=found, init=value) if found == name and not isinstance(value, tuple) and value is not None:
                yield value
            case ir.Assign(target=ir.Name(id=found), value=value) if found == name:
                yield value


def _told(unit: ir.Unit, load: ir.Load) -> str | None:
    """What one read is of, where it is the same for all iterations; None for elements that loops choose."""
    if not all(isinstance(index, ir.IntConst) for index in load.indices) or load.span is None:
        return None
    text = unit.text[load.span.start : load.span.end].decode(errors="replace")
    if any(isinstance(step, str) for step in load.path):
        return f"{text}, is a member of a structure"
    return f"{text}, is read from memory"
