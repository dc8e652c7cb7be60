"""Recurrences that a parallel scan computes: prefix sums and products, running extremes, linear recurrences.

Recognised bodies: `s = s op e; out[i] = f(s);` (or the store first), `out[i] = out[i-1] op e;` and the linear forms
`s = a*s + b`, `out[i] = a*out[i-1] + b`, where nothing but the running value is carried from one iteration to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.conflicts import conflicts
from cudaperf.engine.loops.conversions import strip_implicit
from cudaperf.engine.loops.layout import Layout
from cudaperf.engine.loops.model import Access, Model
from cudaperf.engine.loops.scalars import combines, reads, update_of
from cudaperf.engine.loops.sets import Space

ScanOp = Literal["+", "*", "min", "max", "linear"]


@dataclass(frozen=True, slots=True)
class ScanPattern:
    """x(i) = x(i-1) op element(i), or factor(i) * x(i-1) + element(i).

    `carried` is the running value: a scalar, or the array element written. `store` is the assignment that keeps it (for a
    scalar), None for an array that is itself the result; `exclusive` when the store comes before the update.
    """

    carried: ir.Name | ir.Load
    previous: ir.Load | None
    op: ScanOp
    element: ir.Expr
    negative: bool
    factor: ir.Expr | None
    store: ir.Assign | None
    exclusive: bool


def scan_pattern(
    node: ir.For,
    model: Model,
    space: Space,
    layouts: dict[str, Layout],
    accesses: Sequence[Access],
    fixed: frozenset[str],
) -> ScanPattern | None:
    """The pattern of a loop whose only dependence is the running value."""
    body = node.body.statements
    if len(body) == 1 and isinstance(body[0], ir.Block):
        body = body[0].statements
    var = model.loops[id(node)]
    if var.step != 1:
        return None
    if len(body) == 2:
        pattern = _scalar(body)
    elif len(body) == 1:
        pattern = _array(body[0])
    else:
        return None
    if pattern is None:
        return None
    carried = pattern.carried
    for conflict in conflicts(accesses, var, fixed, layouts, space):
        own = isinstance(carried, ir.Load) and conflict.first.node == carried and conflict.second.node == pattern.previous
        if not own or conflict.distance != 1 or not conflict.certain:
            return None
    return pattern


def _scalar(body: Sequence[ir.Stmt]) -> ScanPattern | None:
    for update, store, exclusive in ((body[0], body[1], False), (body[1], body[0], True)):
        if not isinstance(update, ir.Assign) or not isinstance(store, ir.Assign):
            continue
        if not isinstance(update.target, ir.Name) or not isinstance(store.target, ir.Load) or store.op is not None:
            continue
        name = update.target.id
        if not combines(update) or (exclusive and _touches(update.value, store.target.array)):
            continue
        if reads(store.value, name) is None or any(reads(i, name) is not None for i in store.target.indices):
            continue
        found = _step(update, update.target)
        if found is not None:
            return ScanPattern(update.target, None, *found, store, exclusive)
    return None


def _touches(node: ir.Expr, array: str) -> bool:
    return any(isinstance(n, ir.Load | ir.Address) and n.array == array for n in ir.walk(node))


def _array(statement: ir.Stmt) -> ScanPattern | None:
    if not isinstance(statement, ir.Assign) or not isinstance(statement.target, ir.Load):
        return None
    target = statement.target
    if not combines(statement):
        return None
    loads = [n for n in ir.walk(statement.value) if isinstance(n, ir.Load) and n.array == target.array and n != target]
    if len(set(loads)) != 1:
        return None
    if statement.op is not None:
        # out[i] += out[i-1]: the old out[i] is the element
        if statement.op != "+" or strip_implicit(statement.value) is not loads[0]:
            return None
        return ScanPattern(target, loads[0], "+", target, False, None, None, False)
    found = _step(ir.Assign(target=target, op=None, value=statement.value), loads[0])
    return None if found is None else ScanPattern(target, loads[0], *found, None, False)


def _step(update: ir.Assign, running: ir.Name | ir.Load) -> tuple[ScanOp, ir.Expr, bool, ir.Expr | None] | None:
    """(op, element, negative, factor) of `... = running op element`."""
    value = update.value if update.op is None else ir.Binary(op=update.op, left=running, right=update.value)
    return _extreme(update, running) or _linear(strip_implicit(value), running)


def _extreme(update: ir.Assign, running: ir.Name | ir.Load) -> tuple[ScanOp, ir.Expr, bool, None] | None:
    found = update_of(ir.Assign(target=running, op=update.op, value=update.value))
    if found is None or found.op not in ("min", "max"):
        return None
    value = strip_implicit(update.value)
    if isinstance(value, ir.Call):
        element = value.args[1] if strip_implicit(value.args[0]) == running else value.args[0]
    elif isinstance(value, ir.Select):
        element = value.other if strip_implicit(value.then) == running else value.then
    else:
        return None
    return found.op, element, False, None


def _linear(value: ir.Expr, running: ir.Name | ir.Load) -> tuple[ScanOp, ir.Expr, bool, ir.Expr | None] | None:
    match value:
        case ir.Binary(op="+" | "-" | "*" as op, left=left, right=right):
            pass
        case _:
            return None
    if op == "*":
        other = right if strip_implicit(left) == running else left if strip_implicit(right) == running else None
        return None if other is None or _mentions(other, running) else ("*", other, False, None)
    for side, other, flipped in ((left, right, False), (right, left, True)):
        if _mentions(other, running):
            continue
        bare = strip_implicit(side)
        if bare == running:
            return None if flipped and op == "-" else ("+", other, op == "-", None)
        if isinstance(bare, ir.Binary) and bare.op == "*" and not (flipped and op == "-"):
            factor = (
                bare.right
                if strip_implicit(bare.left) == running
                else bare.left
                if strip_implicit(bare.right) == running
                else None
            )
            if factor is not None and not _mentions(factor, running):
                return "linear", other, op == "-", factor
    return None


def _mentions(node: ir.Expr, running: ir.Name | ir.Load) -> bool:
    return any(n == running for n in ir.walk(node))
