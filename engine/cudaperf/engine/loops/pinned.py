"""References that are before the start of their array with all but trivial arguments: `out[i] += a[i - k]` with an unsigned k
is right with k = 0 alone.

A result whose inputs are only those would say little, so the reference is the reason to refuse.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.model import Access, Model
from cudaperf.engine.loops.poly import ONE, And, Compare, Poly
from cudaperf.engine.loops.sets import Space


@dataclass(frozen=True, slots=True)
class Pinned:
    """The reference, and the argument that must be 0; None where the reference is outside whatever the arguments are."""

    access: Access
    name: str | None


def pinned(model: Model, space: Space, given: Collection[str] = ()) -> Pinned | None:
    """The first such reference; arrays whose extents are `given` begin where the user says."""
    for access in model.accesses():
        if access.array in given or not isinstance(access.node, ir.Load):
            continue
        for poly in access.subscripts or ():
            name = _needed(access, poly, space)
            if name is not None:
                return Pinned(access, name or None)
    return None


def _needed(access: Access, poly: Poly, space: Space) -> str | None:
    """The argument that must be 0 for the subscript not to be negative; "" where that does not help, None where none must."""
    local = frozenset(v.atom for v in access.statement.loops)
    if any(space.is_opaque(a) for a in poly.atoms) or not space.affine(poly, local) or all(c >= 0 for _, c in poly.terms):
        return None
    for name in ("", *sorted(poly.atoms & space.atoms.unsigned)):
        chosen = And((access.domain, Compare(Poly.atom(name) - ONE, ">=") if name else And()))
        with space.budget():
            runs = space.set((), chosen, local).params()
            before = space.set((), And((chosen, Compare(-poly - ONE, ">="))), local).params()
            if not runs.is_empty() and runs.is_subset(before):
                return name
    return None
