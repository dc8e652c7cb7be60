"""Room above a loop's variable: the threads of a kernel count in the variable's own type, also those past the loop's end.

Where both ends of a loop are arguments (`for (i = a; i < n; i++)`), they may lie near the type's last value however few
iterations there are; spare threads would wrap around it and pass the test. Such arguments are the original's business. Not
promised: loops that start at a number, which come near only with some two billion iterations; variables of 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.convert import Environment, to_poly
from cudaperf.engine.loops.model import LoopVar, Model
from cudaperf.engine.loops.poly import And, Compare, Poly, condition_atoms, rename_condition
from cudaperf.engine.loops.sets import Space

SPARE = 1 << 25
"""Iterations that a grid of fixed width takes at a time at most (65535 blocks of 64 threads of 8 iterations, on one axis)."""


def crowded(model: Model, space: Space) -> Iterator[Any]:
    """isl's sets of the arguments for which a thread past the end of a loop could leave the loop's type."""
    for loop in model.loops.values():
        node = loop.node
        if isinstance(node, ir.For) and node.type.bits == 32 and loop.step and _between_arguments(model, loop, node):
            yield _leaving(space, model, loop, node, loop.step)


def _between_arguments(model: Model, loop: LoopVar, node: ir.For) -> bool:
    env = Environment(model.atoms, dict(model.values.get(id(node), {})))
    ends = [to_poly(end, env).atoms for end in (node.lower, node.bound)]
    varying = {v.atom for v in model.loops.values()} | model.atoms.conditions.keys()
    return all(end and not end & varying for end in ends)


def _leaving(space: Space, model: Model, loop: LoopVar, node: ir.For, step: int) -> Any:
    """Where the last value, as many iterations as there are behind it, and what is spare, are beyond the type's end."""
    first, last = (Poly.atom(f"{loop.atom}.{which}") for which in ("first", "last"))
    both = [rename_condition(loop.condition, {loop.atom: f"{loop.atom}.{which}"}) for which in ("first", "last")]
    spare = Poly.constant(SPARE * abs(step))
    if step > 0 or not node.type.signed:
        beyond = last.scale(2) - first + spare - Poly.constant((1 << (32 - node.type.signed)) - 1)
    else:
        beyond = last - first.scale(2) + spare - Poly.constant(1 << 31)
    names = tuple(next(iter(p.atoms)) for p in (first, last))
    condition = And((*both, Compare(beyond - Poly.constant(1), ">=")))
    hidden = [a for a in condition_atoms(condition) if space.is_opaque(a)]
    return space.set((), condition, (*names, *hidden)).params()
