"""Which `repeat` nodes may be recorded once as a CUDA graph and replayed.

A pass may be recorded when nothing in it depends on the loop variable or comes back to the host. Pointer swaps are allowed at
the top of the body: after `period` passes every pointer is in place again, so that many passes make one graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cudaperf.engine.emit.expressions import constant
from cudaperf.engine.plan import Copy, Fill, IntArg, Launch, LibraryCall, PointerArg, Repeat, RepeatWhile, Step, Swap, When
from cudaperf.engine.size import names

_NESTED_PASSES: Final = 32
_LONGEST_PERIOD: Final = 6


def period(node: Repeat) -> int | None:
    """How many passes make one graph; None where passes can't be recorded."""
    if not all(_recordable(step, node.var, top=True) for step in node.body):
        return None
    passes = _order([step for step in node.body if isinstance(step, Swap)])
    return passes if passes <= _LONGEST_PERIOD else None


def _recordable(step: Step, var: str, *, top: bool) -> bool:
    if any(var in names(text) for text in expressions_of(step)):
        return False
    match step:
        case RepeatWhile() | LibraryCall():
            return False
        case Swap():
            return top
        case Repeat():
            return _short(step) and all(_recordable(inner, var, top=False) for inner in step.body)
        case When():
            return all(_recordable(inner, var, top=False) for inner in step.body)
        case _:
            return True


def _short(node: Repeat) -> bool:
    begin, end = constant(node.begin), constant(node.end)
    return begin is not None and end is not None and abs(end - begin) <= _NESTED_PASSES * abs(node.step)


def _order(swaps: list[Swap]) -> int:
    """After how many rounds of these swaps every name refers to what it did."""
    start = {name: name for swap in swaps for name in (swap.first, swap.second)}
    current, rounds = dict(start), 0
    while rounds == 0 or current != start:
        for swap in swaps:
            current[swap.first], current[swap.second] = current[swap.second], current[swap.first]
        rounds += 1
    return rounds


def expressions_of(step: Step) -> Iterator[str]:
    """The size expressions of one node, without those of its body."""
    match step:
        case Launch():
            yield from (*step.grid, *step.block, step.shared)
            for argument in step.args:
                if isinstance(argument, PointerArg):
                    yield argument.offset
                elif isinstance(argument, IntArg):
                    yield argument.value
        case Repeat():
            yield from (step.begin, step.end)
        case RepeatWhile():
            yield step.limit
        case When():
            yield step.condition
        case Fill():
            yield from (step.count, step.offset)
        case Copy():
            yield from (step.count, step.target_offset, step.source_offset)
        case _:
            return


def swaps(steps: tuple[Step, ...]) -> frozenset[str]:
    """Every buffer that some swap names."""
    found: set[str] = set()
    for step in steps:
        if isinstance(step, Swap):
            found |= {step.first, step.second}
        elif isinstance(step, Repeat | RepeatWhile | When):
            found |= swaps(step.body)
    return frozenset(found)
