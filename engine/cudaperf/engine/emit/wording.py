"""Size expressions and lists in words, for comments and messages that people read."""

from __future__ import annotations

import ast
import copy
import re

from cudaperf.engine.emit.simplify import simplified
from cudaperf.engine.size import parse


class _Reading(ast.NodeTransformer):
    """at(a, i) as a[i], top(a, n) in words, and `x if c else 0` as x."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "bottom":
            return ast.Name(id=_largest(node).replace("the largest", "the smallest", 1), ctx=ast.Load())
        if name == "top":
            return ast.Name(id=f"1 + {_largest(node)}", ctx=ast.Load())
        self.generic_visit(node)
        if name == "at":
            return ast.Subscript(value=node.args[0], slice=node.args[1], ctx=ast.Load())
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        match node:
            case ast.BinOp(
                left=ast.Call(func=ast.Name(id="top")) as call, op=ast.Sub(), right=ast.Constant(value=int() as less)
            ):
                more = f" - {less - 1}" if less > 1 else ""
                return ast.Name(id=f"{_largest(call)}{more}", ctx=ast.Load())
        self.generic_visit(node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return node.body if isinstance(node.orelse, ast.Constant) and node.orelse.value == 0 else node


def _largest(top: ast.Call) -> str:
    """The largest element that top(array, count) looks at."""
    last = simplified(f"{ast.unparse(_unguarded(top.args[1]))} - 1")
    return f"the largest of {ast.unparse(top.args[0])}[0 .. {words(last)}]"


def _unguarded(node: ast.expr) -> ast.expr:
    """The expression without what it is 0 for."""
    match node:
        case ast.IfExp(body=body, orelse=ast.Constant(value=0)):
            return _unguarded(body)
        case _:
            return node


def words(text: str) -> str:
    """A size expression as it reads best; extents that are 0 in a special case are given for the others."""
    return ast.unparse(_Reading().visit(copy.deepcopy(parse(text)))).replace("//", "/")


def extent_words(extents: tuple[str, ...], facts: tuple[str, ...] = ()) -> str:
    """`n x m elements`, given that the facts hold."""
    sizes = [words(simplified(text, facts, extent=True)) for text in extents]
    if len(sizes) > 1:
        sizes = [size if re.fullmatch(r"\w+", size) else f"({size})" for size in sizes]
    text = " x ".join(sizes)
    counted = f"{text} element{'' if text == '1' else 's'}"
    return text if "the largest of" in text else counted


def listed(parts: list[str]) -> str:
    """`a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
