"""What a loop's condition says of its variable: `i < bound`, also where the variable stands in a sum (`i + w <= n`).

The bound of such a sum is made, not written: its nodes have no text of their own, and it is computed so that it can't wrap
around where the sum in the user's condition doesn't.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Literal, cast

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.conversions import strip_implicit
from cudaperf.engine.sources.c.references import as_type, unplaced
from cudaperf.engine.sources.c.scope import read_names

Relation = Literal["<", "<=", ">", ">=", "!="]
MIRRORED: dict[str, Relation] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


def tested(condition: ir.Expr, name: str) -> tuple[Relation, ir.Expr] | None:
    """(relation, bound) of `i < bound`, `bound > i` and of sums with the variable once on one side; None for others."""
    condition = strip_implicit(condition)
    if not isinstance(condition, ir.Binary) or condition.op not in MIRRORED:
        return None
    plain = cast(Relation, condition.op)
    sides = ((condition.left, condition.right, plain), (condition.right, condition.left, MIRRORED[plain]))
    for side, bound, relation in sides:
        if not _is_integer(side) or not _is_integer(bound) or name in read_names(bound):
            continue
        variable = strip_implicit(side)
        if isinstance(variable, ir.Name):
            return (relation, bound) if variable.id == name else None
        return _isolated(side, relation, bound, name)
    return None


def least(conditions: Sequence[ir.Expr], name: str) -> tuple[Relation, ir.Expr] | None:
    """(relation, bound) of `i < a && i < b`: the smaller of the two (the larger, counting down). Only where computing a bound
    that C's && would have skipped does nothing: for sums of variables and numbers of one type."""
    found = [tested(condition, name) for condition in conditions]
    if len(found) < 2 or any(f is None or f[0] == "!=" or not _is_plain(f[1]) for f in found):
        return None
    (relation, bound), *others = (f for f in found if f is not None)
    for other, next_bound in others:
        if other != relation or next_bound.type != bound.type:
            return None
        near = bound.place
        first, second = (unplaced(b, near) for b in (bound, next_bound))
        order = "<" if relation in ("<", "<=") else ">"
        test = ir.Binary(op=order, left=first, right=second, near=near)
        bound = ir.Select(condition=test, then=first, other=second, type=bound.type or ir.INT, near=near)
    return relation, bound


def _is_plain(node: ir.Expr) -> bool:
    match strip_implicit(node):
        case ir.Name() | ir.IntConst():
            return True
        case ir.Binary(op="+" | "-", left=left, right=right):
            return _is_plain(left) and _is_plain(right)
    return False


def _is_integer(node: ir.Expr) -> bool:
    return isinstance(node.type, ir.Scalar) and node.type.kind == "int"


def _isolated(side: ir.Expr, relation: Relation, bound: ir.Expr, name: str) -> tuple[Relation, ir.Expr] | None:
    """The relation of the variable alone, of `side relation bound`."""
    found = _terms(side, name)
    kind = strip_implicit(side).type
    if found is None or not isinstance(kind, ir.Scalar):
        return None
    sign, terms = found
    rest = [(s, unplaced(e, side.place)) for s, e in terms]
    bound = unplaced(bound, side.place)
    if all(isinstance(n.type, ir.Scalar) and n.type.signed for n in (side, bound, *(e for _, e in rest))):
        if sign < 0:
            return MIRRORED[relation], _sum([*rest, (-1, bound)], ir.LONG)
        return relation, _sum([(1, bound), *((-s, e) for s, e in rest)], ir.LONG)
    if sign < 0 or relation not in ("<", "<=") or any(s < 0 for s, _ in rest):
        return None  # such a difference of unsigned numbers wraps around
    return _unsigned(relation, bound, rest)


def _terms(node: ir.Expr, name: str) -> tuple[int, list[tuple[int, ir.Expr]]] | None:
    """The variable's sign in a sum that holds it once, and the other terms with theirs."""
    node = strip_implicit(node)
    if isinstance(node, ir.Name) and node.id == name:
        return 1, []
    if not isinstance(node, ir.Binary) or node.op not in ("+", "-") or not _is_integer(node):
        return None
    second = 1 if node.op == "+" else -1
    for part, other, own, others in ((node.left, node.right, 1, second), (node.right, node.left, second, 1)):
        inside = _terms(part, name) if name not in read_names(other) else None
        if inside is not None:
            return own * inside[0], [*((own * s, e) for s, e in inside[1]), (others, other)]
    return None


def _sum(terms: Sequence[tuple[int, ir.Expr]], kind: ir.Scalar) -> ir.Expr:
    """The signed terms added up, in a type that holds the sum."""
    ordered = sorted(terms, key=lambda t: -t[0])
    zero: ir.Expr = ir.IntConst(value=0, type=kind)
    start = [] if ordered[0][0] > 0 else [(1, zero)]
    (_, first), *others = [(s, _typed(e, kind)) for s, e in (*start, *ordered)]
    return reduce(lambda left, t: ir.Binary(op="+" if t[0] > 0 else "-", left=left, right=t[1], type=kind), others, first)


def _typed(node: ir.Expr, kind: ir.Scalar) -> ir.Expr:
    constant = strip_implicit(node)
    return ir.IntConst(value=constant.value, type=kind) if isinstance(constant, ir.IntConst) else as_type(node, kind)


def _unsigned(relation: Relation, bound: ir.Expr, rest: Sequence[tuple[int, ir.Expr]]) -> tuple[Relation, ir.Expr]:
    """`i + rest < bound` of unsigned numbers: `i < (bound > rest ? bound - rest : 0)`."""
    kind = next(n.type for n in (bound, *(e for _, e in rest)) if isinstance(n.type, ir.Scalar) and not n.type.signed)
    if kind.bits < 64:
        return relation, _sum([(1, bound), *((-s, e) for s, e in rest)], ir.LONG)
    taken = _sum(rest, kind)
    last = [(1, cast(ir.Expr, ir.IntConst(value=1, type=kind)))] if relation == "<=" else []
    enough = ir.Binary(op=">" if relation == "<" else ">=", left=as_type(bound, kind), right=taken)
    left = _sum([(1, bound), (-1, taken), *last], kind)
    return "<", ir.Select(condition=enough, then=left, other=ir.IntConst(value=0, type=kind), type=kind)
