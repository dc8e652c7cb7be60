"""Loop distribution: `for i { for j A; for k for j B }` as two nests, where each then has more parallel loops.

A loop whose iterations are independent may be split around the statements of its body as long as no scalar passes between
them. The split is kept only if some nest gains parallel loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.model import assigned, declared
from cudaperf.engine.loops.nest import LoopNest, Program, nests
from cudaperf.engine.loops.scalars import reads


def distributed(program: Program) -> ir.Function | None:
    """The function with every promising loop split, None where there is none."""
    replacements = {id(n.root): _split(n) for n in nests(program.steps) if _splittable(n)}
    if not replacements:
        return None
    function = program.unit.function
    body = _rebuilt(function.body, replacements)
    assert isinstance(body, ir.Block)
    return replace(function, body=body)


def gained(before: Program, after: Program) -> bool:
    """Whether some nest has more parallel loops than any had before."""
    widest = max((len(n.threads) for n in nests(before.steps)), default=0)
    return any(len(n.threads) > widest for n in nests(after.steps))


def _splittable(nest: LoopNest) -> bool:
    if not all(loop.parallel for loop in nest.band) or any(loop.before for loop in nest.band) or len(nest.body) < 2:
        return False
    if not any(isinstance(s, ir.For) for s in nest.body):
        return False
    if any(isinstance(s, ir.Decl | ir.PointerDecl | ir.Continue) for s in nest.body):
        return False
    for statement in nest.body:
        for name in assigned(statement) - declared(statement):
            if sum(reads(s, name) is not None or name in assigned(s) for s in nest.body) > 1 and not _own_loop(name, nest.body):
                return False
    return not any(isinstance(n, ir.Continue) and not _in_loop(n, nest.body) for s in nest.body for n in ir.walk(s))


def _own_loop(name: str, body: Sequence[ir.Stmt]) -> bool:
    """The name is only the variable of loops, each of which sets it first."""
    return all(not isinstance(n, ir.Assign) or n.target != ir.Name(id=name) for s in body for n in ir.walk(s)) and all(
        reads(s, name) is None or isinstance(s, ir.For) for s in body
    )


def _in_loop(node: ir.Node, body: Sequence[ir.Stmt]) -> bool:
    return any(n is node for s in body for loop in ir.walk(s) if isinstance(loop, ir.For | ir.While) for n in ir.walk(loop))


def _split(nest: LoopNest) -> list[ir.Stmt]:
    """One copy of the band around each statement of the body."""
    return [_wrapped(nest, statement) for statement in nest.body]


def _wrapped(nest: LoopNest, statement: ir.Stmt) -> ir.For:
    inner: ir.Stmt = statement
    for loop in reversed(nest.band):
        inner = replace(loop.node, body=ir.Block(statements=(inner,)), span=None, near=loop.node.place)
    assert isinstance(inner, ir.For)
    return inner


def _rebuilt(node: ir.Node, replacements: dict[int, list[ir.Stmt]]) -> ir.Node:
    """The tree with replaced statements; nodes above a change lose their span (their text no longer says what they do)."""
    changes: dict[str, object] = {}
    for f in fields(node):
        value = getattr(node, f.name)
        if isinstance(value, ir.Node):
            new = _rebuilt(value, replacements)
            if new is not value:
                changes[f.name] = new
        elif isinstance(value, tuple) and any(isinstance(v, ir.Node) for v in value):
            items: list[object] = []
            for item in value:
                if id(item) in replacements:
                    items.extend(replacements[id(item)])
                else:
                    items.append(_rebuilt(item, replacements) if isinstance(item, ir.Node) else item)
            if len(items) != len(value) or any(a is not b for a, b in zip(items, value, strict=True)):
                changes[f.name] = tuple(items)
    if not changes:
        return node
    return replace(node, **changes, span=None, near=node.place)
