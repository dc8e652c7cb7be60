"""What neighbouring threads touch: strides of accesses along a loop."""

from __future__ import annotations

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.model import Access
from cudaperf.engine.loops.nest import BandLoop, LoopNest
from cudaperf.engine.loops.poly import ONE, Poly


def stride(nest: LoopNest, access: Access, loop: BandLoop) -> Poly | None:
    """How far the flat element moves when the loop's iterator grows by one; None where it is not known.

    For an index in several dimensions only the last may move for the result to be a number; else a one is returned as the
    coefficient of an outer dimension: a polynomial that is not constant.
    """
    layout = nest.layouts.get(access.array)
    index = layout.of(access) if layout is not None else None
    if index is None:
        return None
    atom = loop.facts.var.atom
    if any(nest.space.is_opaque(a) for p in index for a in p.atoms):
        return None
    outer = [p for p in index[:-1] if atom in p.atoms]
    if outer:
        return Poly.atom("row")
    return index[-1].coefficient(atom) if index else Poly()


def moves(nest: LoopNest, node: ir.Load, atom: str) -> Poly | None:
    """How far a reference moves when an iterator grows by one: None not at all, `row` (not constant) in an outer dimension."""
    access = next((a for a in nest.accesses if a.node is node), None)
    layout = nest.layouts.get(node.array)
    index = layout.of(access) if layout is not None and access is not None else None
    if index is None:
        return Poly.atom("unknown")
    if any(atom in p.atoms for p in index[:-1]):
        return Poly.atom("row")
    moved = index[-1].coefficient(atom) if index else Poly()
    return moved if moved.terms else None


def starts_inside(nest: LoopNest, loop: BandLoop) -> bool:
    """Whether what the loop writes begins a few elements into a row: threads counted from the row's start, of which the first
    few have nothing to do, make each warp's accesses begin where a 32 byte sector does."""
    if not loop.tight or loop.step != 1 or loop.low not in _FEW:
        return False
    atom = loop.facts.var.atom
    for access in nest.accesses:
        layout = nest.layouts.get(access.array)
        index = layout.of(access) if access.write and layout is not None else None
        if index and stride(nest, access, loop) == ONE and not (index[-1] - Poly.atom(atom)).value:
            return True
    return False


_FEW = frozenset(map(str, range(1, 32)))


def contiguity(nest: LoopNest, loop: BandLoop) -> int:
    """Accesses with unit stride along the loop minus those with any other non-zero stride; writes count twice."""
    score = 0
    for access in nest.accesses:
        moved = stride(nest, access, loop)
        if moved is None:
            continue
        weight = 2 if access.write else 1
        if moved in (ONE, -ONE):
            score += weight
        elif moved.terms:
            score -= weight
    return score
