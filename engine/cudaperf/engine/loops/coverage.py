"""Whether a function certainly writes every element of an array (then the host need not copy it in)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import islpy as isl

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.layout import Layout
from cudaperf.engine.loops.model import Access, Statement
from cudaperf.engine.loops.poly import ONE, TRUE, And, Compare, Condition, Poly, condition_atoms
from cudaperf.engine.loops.sets import Space


def fully_written(accesses: Sequence[Access], shape: Layout, space: Space, rows: Any) -> bool:
    """Every element of `rows` x the layout's extents is written by statements that certainly run.

    `rows` is isl's set of the first index below the first extent (None: not known, then the answer is no).
    """
    if rows is None or any(not a.write for a in accesses):
        return False
    written: Any = None
    for access in accesses:
        index = shape.of(access)
        if not access.write or index is None or not _certain(access.statement, space) or access.path:
            continue
        dims = tuple(f"d{k}" for k in range(len(index)))
        local = frozenset(v.atom for v in access.statement.loops)
        if not all(space.affine(p, local | p.atoms & space.atoms.conditions.keys()) and _exact(p.atoms, space) for p in index):
            continue
        point = And(tuple(Compare(p - Poly.atom(d), "=") for p, d in zip(index, dims, strict=True)))
        points = space.set(dims, And((access.domain, point)), local)
        written = points if written is None else written.union(points)
    if written is None or 1 + len(shape.extents) != written.dim(isl.dim_type.set):
        return False
    with space.budget():
        return bool(_box(shape, space, rows).is_subset(written))


def _box(shape: Layout, space: Space, rows: Any) -> Any:
    """All elements, for the parameters for which the array has rows at all."""
    dims = tuple(f"d{k}" for k in range(1 + len(shape.extents)))
    inside = [Compare(Poly.atom(d), ">=") for d in dims]
    inside += [Compare(n - Poly.atom(d) - ONE, ">=") for d, n in zip(dims[1:], shape.extents, strict=True)]
    return space.set(dims, And(tuple(inside))).intersect(rows.insert_dims(isl.dim_type.set, 1, len(shape.extents)))


def _exact(atoms: Iterable[str], space: Space) -> bool:
    """Whether every opaque atom has one value in an instance: quotients do, loaded values have any."""
    return space.atoms.closure(atoms) <= space.atoms.quotients


def _certain(statement: Statement, space: Space) -> bool:
    """The statement runs for its whole domain: exact loops, tests that are followed, no early end."""
    loops = frozenset(v.atom for v in statement.loops)
    if not all(loop.exact and isinstance(loop.node, ir.For) for loop in statement.loops):
        return False
    if any(isinstance(n, ir.Break | ir.Return | ir.Continue) for loop in statement.loops for n in ir.walk(loop.node)):
        return False
    if not all(_followed(guard) and _exact(condition_atoms(guard), space) for guard in statement.guards):
        return False
    conditions = (*statement.guards, *(loop.condition for loop in statement.loops))
    return all(space.affine_condition(condition, loops) for condition in conditions)


def _followed(condition: Condition) -> bool:
    """Whether no part of a test is taken to hold for want of knowledge (`x > 0.5f`)."""
    return isinstance(condition, Compare) or (condition != TRUE and all(map(_followed, condition.parts)))
