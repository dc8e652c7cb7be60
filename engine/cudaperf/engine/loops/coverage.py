"""Whether a function certainly writes every element of an array (then the host need not copy it in)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import islpy as isl

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.layout import Layout
from cudaperf.engine.loops.model import Access, Statement
from cudaperf.engine.loops.poly import ONE, And, Compare, Poly
from cudaperf.engine.loops.sets import Space


def fully_written(accesses: Sequence[Access], shape: Layout, space: Space, rows: Poly | None) -> bool:
    """Every element of `rows` x the layout's extents is written by statements that certainly run.

    `rows` is the first extent as a polynomial (None: not one, then the answer is no).
    """
    if rows is None or any(not a.write for a in accesses):
        return False
    written: Any = None
    for access in accesses:
        index = shape.of(access)
        if not access.write or index is None or not _certain(access.statement) or access.path:
            continue
        dims = tuple(f"d{k}" for k in range(len(index)))
        point = And(tuple(Compare(p - Poly.atom(d), "=") for p, d in zip(index, dims, strict=True)))
        points = space.set(dims, And((access.statement.domain, point)), [v.atom for v in access.statement.loops])
        written = points if written is None else written.union(points)
    if written is None:
        return False
    lengths = (rows, *shape.extents)
    if len(lengths) != written.dim(isl.dim_type.set):
        return False
    dims = tuple(f"d{k}" for k in range(len(lengths)))
    box = And(
        tuple(
            part
            for d, n in zip(dims, lengths, strict=True)
            for part in (Compare(Poly.atom(d), ">="), Compare(n - Poly.atom(d) - ONE, ">="))
        )
    )
    with space.budget():
        return bool(space.set(dims, box).is_subset(written))


def _certain(statement: Statement) -> bool:
    """The statement runs for its whole domain: exact loops, no guard, no early end."""
    if not all(loop.exact and isinstance(loop.node, ir.For) for loop in statement.loops):
        return False
    if any(isinstance(n, ir.Break | ir.Return | ir.Continue) for loop in statement.loops for n in ir.walk(loop.node)):
        return False
    return not statement.guards
