"""Comparisons of unsigned integers whose value as a polynomial may lie below 0: `unsigned j = i - k; if (j < n)`.

In C such a value has wrapped around, to the upper half of its type, and compares above every size. That is right as long as no
size reaches the upper half itself, which `unwrapped` lets the emitted function check for types of 32 bits (sizes of 64 bits lie
far below it). Not promised: values that wrap around more than once, or that are widened into a signed variable first.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.poly import ZERO, And, Atoms, Compare, Condition, Or, Poly, compare, condition_atoms, negate

OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Side:
    """One operand. `wraps` says that below 0 it stands for a value in the upper half of its type."""

    poly: Poly
    wraps: bool

    @property
    def usual(self) -> tuple[Condition, ...]:
        return (Compare(self.poly, ">="),) if self.wraps else ()

    @property
    def huge(self) -> Condition:
        return negate(Compare(self.poly, ">="))


def compared(node: ir.Binary, left: Poly, right: Poly, atoms: Atoms, natural: Set[str]) -> tuple[Condition, Condition]:
    """(holds where the comparison is true, holds where it is false); `natural` are atoms that are never negative."""
    if not wraps(node, left, right, atoms, natural):
        return compare(left, node.op, right), compare(left, OPPOSITE[node.op], right)
    if ZERO not in (left, right):  # wherever it has wrapped around to, it is not 0
        atoms.wrapped += [left, right]
    a, b = (_residue(_side(n, p, atoms, natural), n.type) for n, p in ((node.left, left), (node.right, right)))
    found = {"<": _below(a, b), ">": _below(b, a), ">=": _below(a, b), "<=": _below(b, a)}.get(node.op, _equal(a, b))
    return (found, negate(found)) if node.op in ("<", ">", "==") else (negate(found), found)


def _side(node: ir.Expr, poly: Poly, atoms: Atoms, natural: Set[str]) -> Side:
    """Widening conversions keep what an unsigned value has wrapped around to."""
    while isinstance(node, ir.Cast) and _bits(node.operand) < node.type.bits and node.type.signed:
        node = node.operand
    unsigned = isinstance(node.type, ir.Scalar) and not node.type.signed and node.type.bits >= 32
    return Side(poly, unsigned and not _never_below(poly, atoms, natural))


def _never_below(poly: Poly, atoms: Atoms, natural: Set[str]) -> bool:
    """Whether a value is never negative: sums, products and quotients of what never is."""
    return all(c >= 0 for _, c in poly.terms) and all(_natural(a, atoms, natural) for a in poly.atoms)


def _natural(atom: str, atoms: Atoms, natural: Set[str]) -> bool:
    if atom in atoms.definitions:
        return _never_below(atoms.definitions[atom], atoms, natural)
    if atom in atoms.derived:
        made = atoms.derived[atom]
        return all(_never_below(part, atoms, natural) for part in (made.poly, made.other, made.by) if part is not None)
    return atom in natural or atom in atoms.unsigned


def _bits(node: ir.Expr) -> int:
    return node.type.bits if isinstance(node.type, ir.Scalar) and node.type.kind == "int" else 64


def _residue(side: Side, kind: ir.Type | None) -> Side:
    """A constant of the upper half (`UINT_MAX`) as the number below 0 that wraps around to it."""
    if side.poly.is_constant and isinstance(kind, ir.Scalar) and not kind.signed and side.poly.value >= 1 << (kind.bits - 1):
        return Side(side.poly - Poly.constant(1 << kind.bits), True)
    return side


def _below(a: Side, b: Side) -> Condition:
    cases: list[Condition] = [And((*a.usual, *b.usual, compare(a.poly, "<", b.poly)))]
    if b.wraps:
        cases.append(And((*a.usual, b.huge)))
    if a.wraps and b.wraps:
        cases.append(And((a.huge, b.huge, compare(a.poly, "<", b.poly))))
    return Or(tuple(cases)) if len(cases) > 1 else cases[0]


def _equal(a: Side, b: Side) -> Condition:
    same = Compare(a.poly - b.poly, "=")
    return same if a.wraps and b.wraps else And((*a.usual, *b.usual, same))


def wraps(node: ir.Binary, left: Poly, right: Poly, atoms: Atoms, natural: Set[str]) -> bool:
    """Whether a comparison is one of these."""
    return any(_side(n, p, atoms, natural).wraps for n, p in ((node.left, left), (node.right, right)))


def unwrapped(function: ir.Function, atoms: Atoms, bounds: Iterable[Condition]) -> tuple[str, ...]:
    """What the host checks: that the arguments behind such comparisons, and behind the `bounds` of loops, are so small that no
    value wraps around into the lower half of its type."""
    if not atoms.wrapped:
        return ()
    known = {a for poly in atoms.wrapped for a in poly.atoms} | {a for bound in bounds for a in condition_atoms(bound)}
    for name in (*known, *atoms.closure(known)):
        known |= condition_atoms(atoms.conditions.get(name, And()))
        known |= atoms.definitions[name].atoms if name in atoms.definitions else frozenset()
        made = atoms.derived.get(name)
        known |= frozenset().union(*(p.atoms for p in (made.poly, made.other, made.by) if p)) if made else frozenset()
    subtracted = max(sum(-c for m, c in poly.terms if m and c < 0) for poly in atoms.wrapped)
    largest = ((1 << 31) - 1) // max(1, subtracted)
    sizes = (p for p in function.parameters if p.name in known & atoms.unsigned and isinstance(p.type, ir.Scalar))
    return tuple(f"{p.name} <= {largest}" for p in sizes if isinstance(p.type, ir.Scalar) and p.type.bits == 32)
