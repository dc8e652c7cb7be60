"""Wavefronts: two nested sequential loops whose iterations on one (skewed) diagonal are independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cudaperf.engine.loops.conflicts import pair
from cudaperf.engine.loops.layout import Layout
from cudaperf.engine.loops.model import Access, LoopVar
from cudaperf.engine.loops.poly import ONE, And, Compare, Or, Poly
from cudaperf.engine.loops.sets import Space

FACTORS = ((1, 1), (2, 1), (1, 2), (1, -1), (3, 1), (1, 3))


@dataclass(frozen=True, slots=True)
class Skew:
    """The diagonal of an iteration (i, j) is `outer * i + inner * j`; diagonals run one after another."""

    outer: int
    inner: int


def skew(
    accesses: Sequence[Access],
    outer: LoopVar,
    inner: LoopVar,
    fixed: frozenset[str],
    layouts: dict[str, Layout],
    space: Space,
) -> Skew | None:
    """The smallest factors under which every dependence leads to a later diagonal, None if none does."""
    for a, b in FACTORS:
        if all(_later(x, y, outer, inner, a, b, fixed, layouts, space) for x, y in _pairs(accesses)):
            return Skew(a, b)
    return None


def _pairs(accesses: Sequence[Access]) -> list[tuple[Access, Access]]:
    return [(x, y) for x in accesses for y in accesses if x.array == y.array and (x.write or y.write)]


def _later(
    x: Access,
    y: Access,
    outer: LoopVar,
    inner: LoopVar,
    a: int,
    b: int,
    fixed: frozenset[str],
    layouts: dict[str, Layout],
    space: Space,
) -> bool:
    """No instance of `y` that follows one of `x` in program order and touches its element lies on the same or an earlier
    diagonal (unless it is the same iteration)."""
    condition, variables = pair(x, y, fixed, layouts, space)
    i1, i2 = (Poly.atom(outer.atom + s) for s in ("'1", "'2"))
    j1, j2 = (Poly.atom(inner.atom + s) for s in ("'1", "'2"))
    up = 1 if (outer.step or 1) > 0 else -1
    right = 1 if (inner.step or 1) > 0 else -1
    follows = Or(
        (
            Compare((i2 - i1).scale(up) - ONE, ">="),
            And((Compare(i2 - i1, "="), Compare((j2 - j1).scale(right) - ONE, ">="))),
        )
    )
    earlier = Compare((i1 - i2).scale(a * up) + (j1 - j2).scale(b * right), ">=")
    return space.empty(variables, And((condition, follows, earlier)))
