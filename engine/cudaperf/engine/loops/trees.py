"""Small analyses of statement trees: names used and set, arrays read and written, chains of loops."""

from __future__ import annotations

from collections.abc import Sequence

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.model import assigned, declared


def defines(node: ir.Stmt) -> frozenset[str]:
    """Scalars (and pointers) that a statement sets at host level."""
    if isinstance(node, ir.Decl):
        return frozenset({node.name}) if node.init is not None else frozenset()
    if isinstance(node, ir.PointerDecl):
        return frozenset({node.name})
    return assigned(node) - declared(node)


def sets_scalar(node: ir.Node) -> str | None:
    """The scalar that one node sets."""
    if isinstance(node, ir.Assign):
        return node.target.id if isinstance(node.target, ir.Name) else None
    return node.var if isinstance(node, ir.For) and not node.declared else None


def used_names(statements: Sequence[ir.Stmt]) -> frozenset[str]:
    """Scalar names mentioned anywhere in the statements."""
    found: set[str] = set()
    for statement in statements:
        for n in ir.walk(statement):
            if isinstance(n, ir.Name):
                found.add(n.id)
            elif isinstance(n, ir.Load | ir.Address) and not n.indices:
                found.add(n.array)
            elif isinstance(n, ir.For):
                found.add(n.var)
    return frozenset(found)


def array_sets(statements: Sequence[ir.Stmt]) -> tuple[frozenset[str], frozenset[str]]:
    """(arrays read, arrays written) by statements, arrays declared inside left out."""
    own = frozenset(n.name for s in statements for n in ir.walk(s) if isinstance(n, ir.Decl))
    reads: set[str] = set()
    writes: set[str] = set()
    for statement in statements:
        for n in ir.walk(statement):
            if isinstance(n, ir.Assign) and isinstance(n.target, ir.Load):
                writes.add(n.target.array)
                if n.op is not None:
                    reads.add(n.target.array)
                reads |= {x.array for x in ir.walk(n.target) if isinstance(x, ir.Load) and x is not n.target}
                reads |= {x.array for x in ir.walk(n.value) if isinstance(x, ir.Load)}
            elif isinstance(n, ir.Address):
                reads.add(n.array)
                if not n.const:
                    writes.add(n.array)
            elif isinstance(n, ir.Decl | ir.If | ir.While | ir.For | ir.Return | ir.Evaluate | ir.Assign):
                tops = [c for c in ir.children(n) if not isinstance(c, ir.Block | ir.Assign | ir.For | ir.While | ir.If)]
                reads |= {x.array for c in tops for x in ir.walk(c) if isinstance(x, ir.Load)}
            elif isinstance(n, ir.PointerDecl):
                reads.add(n.array)
    return frozenset(reads - own), frozenset(writes - own)


def chain_of(node: ir.For) -> list[tuple[ir.For, tuple[ir.Stmt, ...]]]:
    """Loops nested one directly in another, each with the cheap statements that precede the next one."""
    chain: list[tuple[ir.For, tuple[ir.Stmt, ...]]] = []
    current: ir.For | None = node
    while current is not None:
        body = flat(current.body.statements)
        head, last = body[:-1], body[-1] if body else None
        if isinstance(last, ir.For) and all(repeatable(s, current.body) for s in head):
            chain.append((current, tuple(head)))
            current = last
        else:
            chain.append((current, ()))
            current = None
    return chain


def flat(statements: Sequence[ir.Stmt]) -> list[ir.Stmt]:
    """Statements with plain nested blocks opened."""
    if len(statements) == 1 and isinstance(statements[0], ir.Block):
        return flat(statements[0].statements)
    return list(statements)


def repeatable(node: ir.Stmt, body: ir.Block) -> bool:
    """A definition that every inner iteration may evaluate again with the same result."""
    if isinstance(node, ir.PointerDecl):
        return True
    if not isinstance(node, ir.Decl) or node.dims or node.init is None or isinstance(node.init, tuple):
        return False
    names = {n.id for n in ir.walk(node.init) if isinstance(n, ir.Name)} | {node.name}
    arrays = {n.array for n in ir.walk(node.init) if isinstance(n, ir.Load | ir.Address)}
    changed = assigned(body) | {
        n.target.array for n in ir.walk(body) if isinstance(n, ir.Assign) and isinstance(n.target, ir.Load)
    }
    calls = any(isinstance(n, ir.Address) and not n.const for n in ir.walk(body))
    return not names & changed and not arrays & changed and not (arrays and calls)


def outer_loop_vars(node: ir.For) -> frozenset[str]:
    """Variables of loops inside that are declared outside them."""
    return frozenset(n.var for n in ir.walk(node.body) if isinstance(n, ir.For) and not n.declared) - declared(node.body)
