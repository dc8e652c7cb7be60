"""Size expressions as short as they can easily be said, with the same value wherever the facts hold.

Sums are collected, `min` and `max` flattened, and arguments dropped that another one always exceeds. With `extent=True` a value
below 0 counts as 0 (no elements), so that `max(0, n)` is n and a largest-of-many over guarded bounds collapses.
Not promised: a shortest form; anything about where overflow would occur on the way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from cudaperf.engine.emit.linear import Linear, fact, linear, rebuilt
from cudaperf.engine.size import parse


@lru_cache(maxsize=2048)
def simplified(text: str, facts: tuple[str, ...] = (), *, extent: bool = False) -> str:
    """The simplified text; `facts` are size expressions that hold (each a comparison, or `and` of comparisons)."""
    known = tuple(form for one in facts for form in _facts(parse(one)))
    node = _simple(parse(text), known)
    if extent:
        node = _clamped(node, known)
    return ast.unparse(ast.fix_missing_locations(node))


def _clamped(node: ast.expr, known: Sequence[Linear]) -> ast.expr:
    """A number of elements: below 0 is as good as 0."""
    return _largest(_alternatives(node, known), known)


def _conjuncts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [part for value in node.values for part in _conjuncts(value)]
    return [node]


def _facts(node: ast.expr) -> list[Linear]:
    return [form for form in map(fact, _conjuncts(node)) if form is not None]


def _simple(node: ast.expr, known: tuple[Linear, ...]) -> ast.expr:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            rebuilt_node = ast.BinOp(left=_simple(left, known), op=op, right=_simple(right, known))
            return _collected(rebuilt_node) if isinstance(op, ast.Add | ast.Sub | ast.Mult) else rebuilt_node
        case ast.UnaryOp(op=op, operand=inner):
            return ast.UnaryOp(op=op, operand=_simple(inner, known))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _choice(_simple(test, known), _simple(body, known), _simple(orelse, known), known)
        case ast.Call(func=ast.Name(id=("min" | "max") as name), args=args):
            return _extreme(name, [_simple(arg, known) for arg in args])
        case ast.Call(func=ast.Name(id="top") as func, args=[array, count]):
            return ast.Call(func=func, args=[array, _clamped(_simple(count, known), known)], keywords=[])
        case ast.Call(func=func, args=args):
            return ast.Call(func=func, args=[_simple(arg, known) for arg in args], keywords=[])
        case ast.Compare(left=left, ops=ops, comparators=[right]):
            return ast.Compare(left=_simple(left, known), ops=ops, comparators=[_simple(right, known)])
        case ast.BoolOp(op=op, values=values):
            return ast.BoolOp(op=op, values=[_simple(value, known) for value in values])
        case _:
            return node


def _collected(node: ast.expr) -> ast.expr:
    return rebuilt(linear(node), [ast.unparse(part) for part in ast.walk(node) if isinstance(part, ast.expr)])


def _choice(test: ast.expr, body: ast.expr, orelse: ast.expr, known: Sequence[Linear]) -> ast.expr:
    conditions = _conditions(test, known)
    if conditions is None:
        return ast.IfExp(test=test, body=body, orelse=orelse)
    return body if not conditions else ast.IfExp(test=_all(conditions), body=body, orelse=orelse)


def _conditions(test: ast.expr, known: Sequence[Linear]) -> list[ast.expr] | None:
    """The conjuncts that the facts do not imply; None where the test is no conjunction of inequalities."""
    parts = _conjuncts(test)
    forms = [fact(part) for part in parts]
    if any(form is None for form in forms):
        return None
    return [part for part, form in zip(parts, forms, strict=True) if form is not None and not form.implied_by(known)]


def _all(parts: list[ast.expr]) -> ast.expr:
    return parts[0] if len(parts) == 1 else ast.BoolOp(op=ast.And(), values=parts)


def _extreme(name: str, args: list[ast.expr]) -> ast.expr:
    """min or max of flattened arguments without those that differ from another one by a constant the wrong way."""
    flat: list[ast.expr] = []
    for arg in args:
        inner = arg.args if isinstance(arg, ast.Call) and isinstance(arg.func, ast.Name) and arg.func.id == name else [arg]
        flat.extend(inner)
    kept: list[ast.expr] = []
    for position, arg in enumerate(flat):
        others = kept + flat[position + 1 :]
        if not any(_exceeds(name, linear(other), linear(arg)) for other in others):
            kept.append(arg)
    return kept[0] if len(kept) == 1 else ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=kept, keywords=[])


def _exceeds(name: str, other: Linear, arg: Linear) -> bool:
    return (other - arg if name == "max" else arg - other).is_nonnegative


# --- the largest of guarded bounds -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Guarded:
    """A bound that counts where all conditions hold, and 0 elsewhere."""

    body: ast.expr
    conditions: tuple[ast.expr, ...]

    @property
    def facts(self) -> list[Linear]:
        return [form for form in map(fact, self.conditions) if form is not None]


def _alternatives(node: ast.expr, known: Sequence[Linear]) -> list[Guarded]:
    """What `node`, clamped at 0, is the largest of."""
    match node:
        case ast.Call(func=ast.Name(id="max"), args=args):
            return [part for arg in args for part in _alternatives(arg, known)]
        case ast.IfExp(test=test, body=body, orelse=ast.Constant(value=0)):
            conditions = _conditions(test, known)
            if conditions is not None:
                inner = _alternatives(body, known)
                return [Guarded(part.body, tuple(_merged((*conditions, *part.conditions)))) for part in inner]
    return [] if linear(node) == Linear((), 0) else [Guarded(node, ())]


def _merged(conditions: Iterable[ast.expr]) -> list[ast.expr]:
    return list({ast.unparse(condition): condition for condition in conditions}.values())


def _largest(parts: list[Guarded], known: Sequence[Linear]) -> ast.expr:
    kept: list[Guarded] = []
    for position, part in enumerate(parts):
        if not any(_covers(other, part, known) for other in [*kept, *parts[position + 1 :]]):
            kept.append(part)
    nodes = [_guarded(part) for part in kept] or [ast.Constant(value=0)]
    return nodes[0] if len(nodes) == 1 else ast.Call(func=ast.Name(id="max", ctx=ast.Load()), args=nodes, keywords=[])


def _covers(other: Guarded, part: Guarded, known: Sequence[Linear]) -> bool:
    """Whether `other` is at least `part` wherever `part` counts."""
    facts = [*known, *part.facts]
    holds = all(form.implied_by(facts) for form in other.facts)
    return holds and (linear(other.body) - linear(part.body)).implied_by(facts)


def _guarded(part: Guarded) -> ast.expr:
    needed = [c for c, form in zip(part.conditions, part.facts, strict=True) if not _redundant(part, form)]
    return part.body if not needed else ast.IfExp(test=_all(needed), body=part.body, orelse=ast.Constant(value=0))


def _redundant(part: Guarded, condition: Linear) -> bool:
    """Where the condition fails, the body is below 1 anyway: `n if n > 0 else 0` is n."""
    return _below_one(part.body, condition)


def _below_one(body: ast.expr, condition: Linear) -> bool:
    """Whether `body` is at most 0 wherever `condition >= 0` fails; top(a, k) is where k is."""
    one = Linear((), 1)
    if (condition - (linear(body) - one)).is_nonnegative:
        return True
    form = linear(body)
    if len(form.terms) != 1 or form.terms[0][1] != 1 or form.constant > 0:
        return False
    match parse(form.terms[0][0]):
        case ast.Call(func=ast.Name(id="top"), args=[_, count]):
            parts = _alternatives(count, ())
            return all(condition in part.facts or _below_one(part.body, condition) for part in parts)
    return False
