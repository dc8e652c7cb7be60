"""Elements that a whole loop accumulates into become scalars: `for (...) *sum += x[i];` is a reduction like any other.

`sum_total = *sum;` goes before the loop, `*sum = sum_total;` behind it, both under the loop's own first test, so that nothing
is touched where the loop does not run. Only for elements at a place that the loop leaves alone, in arrays that it does not use
otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.model import assigned, declared
from cudaperf.engine.loops.scalars import update_of


def with_promoted_elements(function: ir.Function) -> ir.Function:
    """The function with such elements promoted in the loops directly in its body; the same object where there are none."""
    taken = {n.name for n in ir.walk(function.body) if isinstance(n, ir.Decl)}
    taken |= {v.name for v in function.parameters + function.globals}
    found: list[ir.Stmt] = []
    for statement in function.body.statements:
        found += _promoted(statement, taken) if isinstance(statement, ir.For) else [statement]
    if len(found) == len(function.body.statements):
        return function
    body = replace(function.body, statements=tuple(found), span=None, near=function.body.place)
    return replace(function, body=body, span=None, near=function.place)


def _promoted(loop: ir.For, taken: set[str]) -> list[ir.Stmt]:
    targets = _targets(loop)
    if not targets:
        return [loop]
    declarations: list[ir.Stmt] = []
    before: list[ir.Stmt] = []
    after: list[ir.Stmt] = []
    names: dict[ir.Load, ir.Name] = {}
    for target in targets:
        name = f"{target.array}_total"
        while name in taken:
            name += "_"
        taken.add(name)
        scalar = names[target] = ir.Name(id=name, type=target.type)
        declarations.append(ir.Decl(name=name, type=target.type, near=loop.place))
        before.append(ir.Assign(target=scalar, op=None, value=target, near=loop.place))
        after.append(ir.Assign(target=target, op=None, value=scalar, near=loop.place))
    new = _replaced(loop, names)
    assert isinstance(new, ir.For)
    relation = loop.relation
    runs = ir.Binary(op=relation, left=loop.lower, right=loop.bound, near=loop.place)
    inside = ir.Block(statements=(*before, new, *after), near=loop.place)
    return [*declarations, ir.If(condition=runs, then=inside, near=loop.place)]


def _targets(loop: ir.For) -> list[ir.Load]:
    """Elements that every reference of the loop to their array updates."""
    changed = assigned(loop) | declared(loop)
    updates: dict[str, list[ir.Assign]] = {}
    for node in ir.walk(loop.body):
        if isinstance(node, ir.Assign) and isinstance(node.target, ir.Load):
            updates.setdefault(node.target.array, []).append(node)
    found: list[ir.Load] = []
    for array, statements in updates.items():
        target = statements[0].target
        assert isinstance(target, ir.Load)
        if array not in changed and _still(target, changed) and _only_updates(loop, array, target, statements):
            found.append(target)
    return found


def _still(target: ir.Load, changed: frozenset[str]) -> bool:
    """The element's place depends on nothing that the loop changes, and on no memory."""
    parts = [*target.indices, *(p for p in target.path if not isinstance(p, str))]
    inside = [n for p in parts for n in ir.walk(p)]
    plain = isinstance(target.type, ir.Scalar) and not any(isinstance(n, ir.Load | ir.Call | ir.Address) for n in inside)
    return plain and not any(isinstance(n, ir.Name) and n.id in changed for n in inside)


def _only_updates(loop: ir.For, array: str, target: ir.Load, statements: Sequence[ir.Assign]) -> bool:
    """Every mention of the array is that element, updated with one operator."""
    ops = {u.op if (u := update_of(s)) is not None else None for s in statements}
    mentions = [n for n in ir.walk(loop) if isinstance(n, ir.Load | ir.Address) and n.array == array]
    own = [n for s in statements for n in ir.walk(s) if isinstance(n, ir.Load) and n.array == array]
    return len(ops) == 1 and None not in ops and all(m == target for m in mentions) and len(mentions) == len(own)


def _replaced(node: ir.Node, names: dict[ir.Load, ir.Name]) -> ir.Node:
    """The tree with the elements replaced; what contains one loses its text."""
    if isinstance(node, ir.Load) and node in names:
        return names[node]
    changes: dict[str, object] = {}
    for f in fields(node):
        value = getattr(node, f.name)
        if isinstance(value, ir.Node):
            new: object = _replaced(value, names)
        elif isinstance(value, tuple):
            items = tuple(_replaced(v, names) if isinstance(v, ir.Node) else v for v in value)
            new = value if all(a is b for a, b in zip(items, value, strict=True)) else items
        else:
            continue
        if new is not value:
            changes[f.name] = new
    return replace(node, **changes, span=None, near=node.place) if changes else node
