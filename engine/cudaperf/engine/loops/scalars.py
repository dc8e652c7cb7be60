"""Scalars in a loop: private to an iteration, reduced over iterations, or carried from one to the next.

`exposed` is a small definite-assignment analysis over the statement trees; `updates` recognises reductions
(+ - * & | ^ && || min max, with the index of an extreme as companion).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.conversions import preserves, strip_implicit

Operator = Literal["+", "*", "&", "|", "^", "&&", "||", "min", "max"]


@dataclass(frozen=True, slots=True)
class Reduction:
    """`target op= ...` over the iterations of a loop.

    `target` is a scalar or an array element; `updates` are the statements that do it. For an extreme with its position,
    `companions` are the scalars that hold it, `strict` whether the comparison was strict (the first of equals wins).
    With `keyed` the position alone is kept (`if (x[i] > x[best]) best = i;`): `target` is the position, `keyed` the two
    elements compared, the new one first.
    """

    target: ir.Name | ir.Load
    op: Operator
    updates: tuple[ir.Stmt, ...]
    companions: tuple[str, ...] = ()
    strict: bool = True
    keyed: tuple[ir.Load, ir.Load] | None = None

    @property
    def name(self) -> str:
        return self.target.id if isinstance(self.target, ir.Name) else self.target.array


# --- definite assignment -----------------------------------------------------------------------------------------------


def exposed(statements: Sequence[ir.Stmt], name: str) -> ir.Node | None:
    """The first read of a scalar (by program order) that may see a value from before these statements, else None."""
    return _flow(statements, name, False)[0]


def always_assigned(statements: Sequence[ir.Stmt], name: str) -> bool:
    return _flow(statements, name, False)[1]


def reads(node: ir.Node | None, name: str) -> ir.Node | None:
    """The first mention of a scalar in an expression."""
    if node is None:
        return None
    return next((n for n in ir.walk(node) if isinstance(n, ir.Name) and n.id == name), None) or next(
        (n for n in ir.walk(node) if isinstance(n, ir.Load | ir.Address) and n.array == name), None
    )


def _flow(statements: Iterable[ir.Stmt], name: str, done: bool) -> tuple[ir.Node | None, bool]:
    for statement in statements:
        found, done = _step(statement, name, done)
        if found is not None:
            return found, done
    return None, done


def _step(node: ir.Stmt, name: str, done: bool) -> tuple[ir.Node | None, bool]:
    if done:
        return None, True
    match node:
        case ir.Assign():
            return _assign(node, name)
        case ir.Block():
            return _flow(node.statements, name, done)
        case ir.If():
            found = reads(node.condition, name)
            if found is not None:
                return found, False
            then = _flow(node.then.statements, name, False)
            other = _flow(node.other.statements, name, False) if node.other else (None, False)
            return then[0] or other[0], (then[1] or _stops(node.then)) and (
                other[1] or (node.other is not None and _stops(node.other))
            )
        case ir.For():
            found = reads(node.lower, name) or (None if node.var == name else reads(node.bound, name) or reads(node.step, name))
            if found is not None or node.var == name:
                return found, node.var == name
            return _flow(node.body.statements, name, False)[0], False
        case ir.While():
            found, done = _flow(node.init, name, False)
            if found is not None or done:
                return found, done
            if not node.post_test and (found := reads(node.condition, name)) is not None:
                return found, False
            found, done = _flow((*node.body.statements, *node.advance), name, False)
            if found is None and node.post_test and not done:
                found = reads(node.condition, name)
            return found, done and node.post_test
        case ir.Decl():
            parts = node.init if isinstance(node.init, tuple) else (node.init,)
            found = next((f for p in (*parts, *node.dims) if (f := reads(p, name)) is not None), None)
            return found, node.name == name
        case _:
            return next((f for c in ir.children(node) if (f := reads(c, name)) is not None), None), False


def _stops(block: ir.Block) -> bool:
    return bool(block.statements) and isinstance(block.statements[-1], ir.Continue | ir.Break | ir.Return)


def _assign(node: ir.Assign, name: str) -> tuple[ir.Node | None, bool]:
    found = reads(node.value, name)
    if isinstance(node.target, ir.Load):
        inner = (*node.target.indices, *(p for p in node.target.path if not isinstance(p, str)))
        found = found or next((f for i in inner if (f := reads(i, name)) is not None), None)
        return found, False
    if node.target.id == name and node.op is not None:
        return found or node.target, False
    return found, node.target.id == name and found is None


# --- reductions --------------------------------------------------------------------------------------------------------


def scalar_reduction(body: Sequence[ir.Stmt], name: str) -> Reduction | None:
    """The reduction that a scalar undergoes in a loop's body, if every mention of it is part of one."""
    position = _position_reduction(body, name)
    if position is not None:
        return position
    found: list[tuple[ir.Stmt, Operator, tuple[str, ...], bool]] = []
    if not _collect(body, name, found) or not found:
        return None
    ops = {op for _, op, _, _ in found}
    companions = {c for _, _, cs, _ in found for c in cs}
    if len(ops) != 1 or (companions and len(found) != 1):
        return None
    target = _target(found[0][0], name)
    if target is None or any(_mentioned_elsewhere(body, c, found[0][0]) for c in companions):
        return None
    return Reduction(target, found[0][1], tuple(s for s, _, _, _ in found), tuple(sorted(companions)), found[0][3])


def _mentioned_elsewhere(body: Sequence[ir.Stmt], name: str, update: ir.Stmt) -> bool:
    """Whether statements other than the update read or set the scalar."""
    inside = {id(n) for n in ir.walk(update)}
    return any(
        isinstance(n, ir.Name) and n.id == name and id(n) not in inside for statement in body for n in ir.walk(statement)
    )


def _position_reduction(body: Sequence[ir.Stmt], name: str) -> Reduction | None:
    """`if (x[i] > x[best]) best = i;` as the only mention of the position."""
    mentions = [s for s in body if _mentions(s, name)]
    if len(mentions) != 1 or not isinstance(mentions[0], ir.If):
        return None
    node = mentions[0]
    condition = strip_implicit(node.condition)
    then = node.then.statements
    if node.other is not None or len(then) != 1 or not isinstance(condition, ir.Binary):
        return None
    store = then[0]
    if not isinstance(store, ir.Assign) or not isinstance(store.target, ir.Name) or store.target.id != name or store.op:
        return None
    if condition.op not in ("<", "<=", ">", ">=") or reads(store.value, name) is not None:
        return None
    left, right = strip_implicit(condition.left), strip_implicit(condition.right)
    if not isinstance(left, ir.Load) or not isinstance(right, ir.Load) or left.array != right.array:
        return None
    for new, old, greater in ((left, right, condition.op[0] == ">"), (right, left, condition.op[0] == "<")):
        if (
            len(old.indices) != 1
            or len(new.indices) != 1
            or strip_implicit(old.indices[0]) != store.target
            or old.path != new.path
        ):
            continue
        if strip_implicit(new.indices[0]) == strip_implicit(store.value):
            op: Operator = "max" if greater else "min"
            return Reduction(store.target, op, (node,), strict=len(condition.op) == 1, keyed=(new, old))
    return None


def _target(statement: ir.Stmt, name: str) -> ir.Name | None:
    return next((n for n in ir.walk(statement) if isinstance(n, ir.Name) and n.id == name), None)


def _collect(body: Sequence[ir.Stmt], name: str, found: list[tuple[ir.Stmt, Operator, tuple[str, ...], bool]]) -> bool:
    for node in body:
        if not _mentions(node, name):
            continue
        update = update_of(node)
        if update is not None and isinstance(update.target, ir.Name) and update.target.id == name:
            found.append((node, update.op, update.companions, update.strict))
            continue
        if not _collect_inside(node, name, found):
            return False
    return True


def _collect_inside(node: ir.Stmt, name: str, found: list[tuple[ir.Stmt, Operator, tuple[str, ...], bool]]) -> bool:
    match node:
        case ir.Block():
            return _collect(node.statements, name, found)
        case ir.If() if not reads(node.condition, name):
            other = node.other.statements if node.other else ()
            return _collect(node.then.statements, name, found) and _collect(other, name, found)
        case ir.For() if not any(reads(e, name) for e in (node.lower, node.bound, node.step)):
            return _collect(node.body.statements, name, found)
        case ir.While() if not reads(node.condition, name):
            return _collect((*node.init, *node.body.statements, *node.advance), name, found)
        case _:
            return False


def _mentions(node: ir.Node, name: str) -> bool:
    return reads(node, name) is not None


def update_of(node: ir.Stmt) -> Reduction | None:
    """The reduction that one statement performs on its target, if its shape is one."""
    if isinstance(node, ir.Assign):
        return _assignment_update(node)
    if isinstance(node, ir.If) and node.other is None:
        return _extreme_update(node)
    return None


_COMPOUND: dict[str, Operator] = {"+": "+", "-": "+", "*": "*", "&": "&", "|": "|", "^": "^"}


def _assignment_update(node: ir.Assign) -> Reduction | None:
    target = node.target
    if not combines(node):
        return None
    if node.op is not None:
        op = _COMPOUND.get(node.op)
        return Reduction(target, op, (node,)) if op and not _uses(node.value, target) else None
    value = strip_implicit(node.value)
    match value:
        case ir.Binary(op="+" | "*" | "&" | "|" | "^" | "&&" | "||" as symbol, left=left, right=right):
            op = symbol
            if _same(left, target) and not _uses(right, target):
                return Reduction(target, op, (node,))
            if _same(right, target) and not _uses(left, target):
                return Reduction(target, op, (node,))
            return _chain(node, value, target)
        case ir.Binary(op="-", left=left, right=right) if _same(left, target) and not _uses(right, target):
            return Reduction(target, "+", (node,))
        case ir.Binary(op="-"):
            return _chain(node, value, target)
        case ir.Call(name=called, args=(a, b)) if called in _EXTREMES:
            other = b if _same(a, target) else a if _same(b, target) else None
            if other is None or _uses(other, target) or not keeps(target.type, other, False):
                return None
            return Reduction(target, _EXTREMES[called], (node,))
        case ir.Select(condition=condition, then=then, other=other):
            extreme = _comparison(condition, target)
            if extreme is None:
                return None
            op, value_side, strict = extreme
            if not keeps(target.type, value_side, False):
                return None
            if _equal(strip_implicit(then), strip_implicit(value_side)) and _same(other, target):
                return Reduction(target, op, (node,), strict=strict)
            if _same(then, target) and _equal(strip_implicit(other), strip_implicit(value_side)):
                return Reduction(target, _OPPOSITE[op], (node,), strict=not strict)
    return None


def combines(node: ir.Assign) -> bool:
    """Whether the order of such updates may change at all: not where each rounds or truncates to the target's type
    (`int s; s += x[i]` of a float x) or collapses it to 0 and 1 (`_Bool b; b += c`)."""
    kind = node.target.type
    other = strip_implicit(node.value).type
    if not isinstance(kind, ir.Scalar) or not isinstance(other, ir.Scalar):
        return False
    if kind.name == "_Bool":
        return node.op not in ("+", "-", "^") and not (
            node.op is None and getattr(strip_implicit(node.value), "op", None) in ("+", "-")
        )
    return kind.kind == "float" or other.kind == "int"


def keeps(target: ir.Type, value: ir.Expr, positioned: bool) -> bool:
    """Whether storing a value as the extreme so far keeps its order: always when its type fits the target's; rounding to a
    float keeps it too, unless a position is kept with it."""
    kind, other = target, strip_implicit(value).type
    if not isinstance(kind, ir.Scalar) or not isinstance(other, ir.Scalar):
        return False
    return preserves(other, kind) or (kind.kind == "float" and not positioned)


_EXTREMES: dict[str, Operator] = dict.fromkeys(("fmin", "fminf", "min"), "min") | dict.fromkeys(("fmax", "fmaxf", "max"), "max")  # type: ignore[assignment]
_OPPOSITE: dict[Operator, Operator] = {"min": "max", "max": "min"}


def _chain(node: ir.Assign, value: ir.Expr, target: ir.Name | ir.Load) -> Reduction | None:
    """`s = s + a + b`: the target is the left end of a chain of additions and subtractions."""
    current = value
    while isinstance(current, ir.Binary) and current.op in ("+", "-"):
        if _uses(current.right, target):
            return None
        current = strip_implicit(current.left)
    return Reduction(target, "+", (node,)) if _same(current, target) and current is not value else None


def _extreme_update(node: ir.If) -> Reduction | None:
    """`if (e > best) { best = e; index = i; }`."""
    assigns = [s for s in node.then.statements if isinstance(s, ir.Assign) and s.op is None]
    if len(assigns) != len(node.then.statements) or not assigns:
        return None
    for chosen in assigns:
        extreme = _comparison(node.condition, chosen.target)
        if extreme is None or not _equal(strip_implicit(chosen.value), strip_implicit(extreme[1])):
            continue
        others = [a for a in assigns if a is not chosen]
        if any(not isinstance(a.target, ir.Name) or _uses(a.value, chosen.target) for a in others):
            return None
        names = tuple(a.target.id for a in others if isinstance(a.target, ir.Name))
        if not keeps(chosen.target.type, extreme[1], bool(names)):
            return None
        return Reduction(chosen.target, extreme[0], (node,), names, extreme[2])
    return None


def _comparison(condition: ir.Expr, target: ir.Name | ir.Load) -> tuple[Operator, ir.Expr, bool] | None:
    """(which extreme `if (condition) target = value` keeps, the value, strict)."""
    condition = strip_implicit(condition)
    if not isinstance(condition, ir.Binary) or condition.op not in ("<", "<=", ">", ">="):
        return None
    strict = len(condition.op) == 1
    if _same(condition.right, target) and not _uses(condition.left, target):
        return ("max" if condition.op[0] == ">" else "min"), condition.left, strict
    if _same(condition.left, target) and not _uses(condition.right, target):
        return ("min" if condition.op[0] == ">" else "max"), condition.right, strict
    return None


def _same(node: ir.Expr, target: ir.Name | ir.Load) -> bool:
    return strip_implicit(node) == target


def _equal(a: ir.Expr, b: ir.Expr) -> bool:
    return a == b


def _uses(node: ir.Expr, target: ir.Name | ir.Load) -> bool:
    name = target.id if isinstance(target, ir.Name) else target.array
    return reads(node, name) is not None
