"""Counters beside a loop's variable in closed form: `for (i = 0; i < n; i++) { p[j] = q[i]; j += 2; }`.

`j_start = j;` goes before the loop, `j = j_start + 2 * i;` to the start of its body and `j = j_start + 2 * n;` behind it, so
that each iteration computes the counter's value instead of waiting for the one before. Inner loops come first: what they add is
known to the loops around them. The user's own updates stay where they are. A scalar counts where all changes of it in the body
are unconditional steps by amounts that the loop leaves alone; every other one keeps its statements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.conversions import strip_implicit
from cudaperf.engine.loops.model import assigned, declared

Net = dict[str, ir.Expr | None]
"""What a statement adds to each scalar that it changes, None where that is not a known amount."""


def with_closed_counters(function: ir.Function) -> ir.Function:
    """The function with the counters of its loops in closed form; the same object where there are none."""
    declarations = [n for n in ir.walk(function.body) if isinstance(n, ir.Decl)]
    types = {n.name: n.type for n in declarations if not n.dims}
    types |= {v.name: v.type for v in function.parameters if not v.is_array}
    counted = {n: t for n, t in types.items() if isinstance(t, ir.Scalar) and t.kind == "int" and t.bits >= 32}
    taken = {n.name for n in declarations} | {v.name for v in function.parameters + function.globals}
    body, _ = _Counters(counted, taken).block(function.body)
    return function if body is function.body else replace(function, body=body, span=None, near=function.place)


@dataclass(slots=True)
class _Counters:
    """`types` of the scalars that may count; `taken` names."""

    types: dict[str, ir.Scalar]
    taken: set[str]

    def block(self, block: ir.Block) -> tuple[ir.Block, Net]:
        """The block rewritten, and what it adds to the scalars in all."""
        found: list[ir.Stmt] = []
        net: Net = {}
        for statement in block.statements:
            new, gained = self.statement(statement)
            found += new
            for name, amount in gained.items():
                known = net.get(name, ir.IntConst(value=0))
                net[name] = None if amount is None or known is None else _add(known, amount)
        own = {s.name for s in block.statements if isinstance(s, ir.Decl)}
        net = {n: a for n, a in net.items() if n not in own}
        if len(found) == len(block.statements) and all(a is b for a, b in zip(found, block.statements, strict=True)):
            return block, net
        return replace(block, statements=tuple(found), span=None, near=block.place), net

    def statement(self, node: ir.Stmt) -> tuple[list[ir.Stmt], Net]:
        if isinstance(node, ir.For):
            return self.loop(node)
        if isinstance(node, ir.Block):
            block, net = self.block(node)
            return [block], net
        if isinstance(node, ir.Assign) and isinstance(node.target, ir.Name):
            return [node], {node.target.id: _step(node, node.target.id)}
        unknown: Net = dict.fromkeys(assigned(node) - declared(node))
        if isinstance(node, ir.While):
            body, _ = self.block(node.body)
            return [_with(node, body)], unknown
        if isinstance(node, ir.If):
            then, _ = self.block(node.then)
            other = self.block(node.other)[0] if node.other is not None else None
            if then is not node.then or other is not node.other:
                node = replace(node, then=then, other=other, span=None, near=node.place)
        return [node], unknown

    def loop(self, node: ir.For) -> tuple[list[ir.Stmt], Net]:
        """The loop, with its counters' start before it and their end behind it."""
        body, net = self.block(node.body)
        changed = assigned(node.body) | {node.var}
        unknown: Net = dict.fromkeys(
            changed - declared(node) if not node.declared else assigned(node.body) - declared(node.body)
        )
        step = strip_implicit(node.step)
        counts = isinstance(step, ir.IntConst) and step.value and not _leaves(node)
        varies = changed | declared(node.body)
        if not counts or not all(_fixed(e, varies) for e in (node.lower, node.bound)):
            return [_with(node, body)], unknown
        assert isinstance(step, ir.IntConst)
        closed = {n: a for n, a in net.items() if n in self.types and a is not None and _fixed(a, varies)}
        before, inside, after = list[ir.Stmt](), list[ir.Stmt](), list[ir.Stmt]()
        for name, amount in closed.items():
            kind, start = self.types[name], self.start(name)
            before.append(ir.Decl(name=start, type=kind, init=ir.Name(id=name, type=kind), near=node.place))
            inside.append(_set(name, start, kind, _product(amount, _number(node, step.value, kind), kind), node))
            closed[name] = _product(amount, _cast(_trips(node, step.value), kind), kind)
            after.append(_set(name, start, kind, closed[name], node))
        if not closed:
            return [_with(node, body)], unknown
        body = replace(body, statements=(*inside, *body.statements), span=None, near=body.place)
        return [*before, _with(node, body), *after], {**unknown, **closed}

    def start(self, name: str) -> str:
        found, number = f"{name}_start", 1
        while found in self.taken:
            number += 1
            found = f"{name}_start{number}"
        self.taken.add(found)
        return found


def _with(node: ir.For | ir.While, body: ir.Block) -> ir.For | ir.While:
    return node if body is node.body else replace(node, body=body, span=None, near=node.place)


def _set(name: str, start: str, kind: ir.Scalar, gain: ir.Expr, node: ir.For) -> ir.Assign:
    value = _binary("+", ir.Name(id=start, type=kind), gain, kind)
    return ir.Assign(target=ir.Name(id=name, type=kind), op=None, value=value, near=node.place)


def _step(node: ir.Assign, name: str) -> ir.Expr | None:
    """The amount that `j += e`, `j -= e`, `j = j + e` adds."""
    op, value = node.op, node.value
    bare = strip_implicit(value)
    if op is None and isinstance(bare, ir.Binary) and bare.op in ("+", "-"):
        left = strip_implicit(bare.left)
        if isinstance(left, ir.Name) and left.id == name:
            op, value = bare.op, bare.right
    if op not in ("+", "-") or not _is_integer(value):
        return None
    return value if op == "+" else _negated(value)


def _is_integer(node: ir.Expr) -> bool:
    return isinstance(node.type, ir.Scalar) and node.type.kind == "int"


def _leaves(node: ir.For) -> bool:
    """Whether an iteration may end early, or the loop."""

    def search(below: ir.Node, own: bool) -> Iterator[bool]:
        for child in ir.children(below):
            yield isinstance(child, ir.Return) or (own and isinstance(child, ir.Break | ir.Continue))
            yield from search(child, own and not isinstance(child, ir.For | ir.While))

    return any(search(node.body, True))


def _fixed(node: ir.Expr, changed: frozenset[str] | set[str]) -> bool:
    """Whether an expression has one value in all iterations, and no memory is read for it."""
    below = list(ir.walk(node))
    return not any(isinstance(n, ir.Load | ir.Address | ir.Call) for n in below) and not any(
        isinstance(n, ir.Name) and n.id in changed for n in below
    )


# --- amounts --------------------------------------------------------------------------------------------------------------


def _number(node: ir.For, step: int, kind: ir.Scalar) -> ir.Expr:
    """How many iterations came before this one."""
    here, first = _cast(ir.Name(id=node.var, type=node.type), kind), _cast(node.lower, kind)
    gone = _subtract(here, first, kind) if step > 0 else _subtract(first, here, kind)
    return gone if abs(step) == 1 else _binary("/", gone, ir.IntConst(value=abs(step), type=kind), kind)


def _trips(node: ir.For, step: int) -> ir.Expr:
    """How many iterations there are."""
    low, high = _cast(node.lower, ir.LONG), _cast(node.bound, ir.LONG)
    if step < 0:
        low, high = high, low
    span = _subtract(high, low, ir.LONG)
    if node.relation == "!=":
        return span if abs(step) == 1 else _binary("/", span, ir.IntConst(value=abs(step), type=ir.LONG), ir.LONG)
    extra = abs(step) - (node.relation in ("<", ">"))
    if extra:
        span = _add(span, ir.IntConst(value=extra, type=ir.LONG), ir.LONG)
    if abs(step) != 1:
        span = _binary("/", span, ir.IntConst(value=abs(step), type=ir.LONG), ir.LONG)
    some = ir.Binary(op=">" if node.relation in ("<", ">") else ">=", left=high, right=low)
    return ir.Select(condition=some, then=span, other=ir.IntConst(value=0, type=ir.LONG), type=ir.LONG)


def _value(node: ir.Expr) -> int | None:
    bare = strip_implicit(node)
    return bare.value if isinstance(bare, ir.IntConst) else None


def _negated(node: ir.Expr) -> ir.Expr:
    kind = node.type if isinstance(node.type, ir.Scalar) else ir.INT
    known = _value(node)
    if known is not None:
        return ir.IntConst(value=-known, type=kind if kind.signed else ir.LONG)
    return ir.Unary(op="-", operand=node, type=kind)


def _binary(op: str, left: ir.Expr, right: ir.Expr, kind: ir.Scalar) -> ir.Expr:
    return ir.Binary(op=op, left=left, right=right, type=kind)


def _cast(node: ir.Expr, kind: ir.Scalar) -> ir.Expr:
    known = _value(node)
    if known is not None:
        return ir.IntConst(value=known, type=kind)
    return node if node.type == kind else ir.Cast(type=kind, operand=node)


def _add(left: ir.Expr, right: ir.Expr, kind: ir.Scalar | None = None) -> ir.Expr:
    a, b = _value(left), _value(right)
    kind = kind or (ir.LONG if left.type != right.type else left.type if isinstance(left.type, ir.Scalar) else ir.LONG)
    if a is not None and b is not None:
        return ir.IntConst(value=a + b, type=kind)
    if a == 0 or b == 0:
        return right if a == 0 else left
    return _binary("+", _cast(left, kind), _cast(right, kind), kind)


def _subtract(left: ir.Expr, right: ir.Expr, kind: ir.Scalar) -> ir.Expr:
    a, b = _value(left), _value(right)
    if a is not None and b is not None:
        return ir.IntConst(value=a - b, type=kind)
    return left if b == 0 else _binary("-", left, right, kind)


def _product(amount: ir.Expr, times: ir.Expr, kind: ir.Scalar) -> ir.Expr:
    a, b = _value(amount), _value(times)
    if a is not None and b is not None:
        return ir.IntConst(value=a * b, type=kind)
    if a == 1:
        return times
    return _binary("*", _cast(amount, kind), times, kind)
