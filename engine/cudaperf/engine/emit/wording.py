"""Size expressions and lists in words, for comments and messages that people read."""

from __future__ import annotations

import ast
import re

from cudaperf.engine.size import parse


class _Reading(ast.NodeTransformer):
    """at(a, i) as a[i], top(a, n) in words, and `x if c else 0` as x."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "at":
            return ast.Subscript(value=node.args[0], slice=node.args[1], ctx=ast.Load())
        if name == "top":
            of, count = ast.unparse(node.args[0]), ast.unparse(node.args[1])
            return ast.Name(id=f"1 + the largest of {of}[0 .. {count} - 1]", ctx=ast.Load())
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return node.body if isinstance(node.orelse, ast.Constant) and node.orelse.value == 0 else node


def words(text: str) -> str:
    """A size expression as it reads best; extents that are 0 in a special case are given for the others."""
    return ast.unparse(_Reading().visit(ast.parse(ast.unparse(parse(text)), mode="eval").body)).replace("//", "/")


def extent_words(extents: tuple[str, ...]) -> str:
    """`n x m elements`."""
    sizes = [words(text) for text in extents]
    if len(sizes) > 1:
        sizes = [size if re.fullmatch(r"\w+", size) else f"({size})" for size in sizes]
    text = " x ".join(sizes)
    counted = f"{text} element{'' if text == '1' else 's'}"
    return text if text.startswith("1 + the") else counted


def listed(parts: list[str]) -> str:
    """`a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
