"""A kernel with a changed body: the tree that the changed text would lower to, but with all offsets as they were.

Only the nodes on the way to the change are new ones, so that what is known of the others stays known.
"""

from __future__ import annotations

from dataclasses import replace

from cudaperf.engine.analysis.simt import facts
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import Function


def with_block(kernel: Function, old: ir.Block, body: list[ir.Stmt]) -> Function:
    """The kernel with other statements in one of its blocks."""
    other = replace(kernel)
    facts.same_uses(kernel, other)
    other.__dict__["body"] = _block(kernel.body, old, ir.Block(old.start, old.end, body))
    return other


def block_at(kernel: Function, start: int) -> ir.Block | None:
    """The block whose brace stands at an offset."""
    return next((n for n in kernel.nodes if isinstance(n, ir.Block) and n.start == start), None)


def block_with(kernel: Function, statement: ir.Stmt) -> ir.Block:
    """The block right around a statement."""
    return next(n for n in kernel.nodes if isinstance(n, ir.Block) and any(s is statement for s in n.body))


def called(name: str, at: int) -> ir.Stmt:
    """The statement `name();`. Nothing else is as long as nothing."""
    return ir.Evaluate(at, at, ir.Call(at, at, name, []))


def _block(node: ir.Block, old: ir.Block, new: ir.Block) -> ir.Block:
    if node is old:
        return new
    return ir.Block(node.start, node.end, [_statement(s, old, new) for s in node.body])


def _statement(node: ir.Stmt, old: ir.Block, new: ir.Block) -> ir.Stmt:
    if not node.start <= old.start <= old.end <= node.end:
        return node
    match node:
        case ir.Block():
            return _block(node, old, new)
        case ir.If():
            orelse = _block(node.orelse, old, new) if node.orelse is not None else None
            return ir.If(node.start, node.end, node.condition, _block(node.then, old, new), orelse)
        case ir.Loop():
            body = _block(node.body, old, new)
            return ir.Loop(node.start, node.end, node.kind, node.init, node.condition, node.step, body)
        case ir.Switch():
            cases = [(value, _block(block, old, new)) for value, block in node.cases]
            return ir.Switch(node.start, node.end, node.value, cases)
    return node
