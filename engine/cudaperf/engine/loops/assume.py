"""The user's `// cudaperf: assume ...` comments: conditions on arguments, and extents of arrays.

`n >= 2`, `lda >= n && n % 32 == 0` (the grammar of `size`, with C's `&&`, `||`, `/`), and `extent(x) == n * m`.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from cudaperf.engine import size
from cudaperf.engine.loops.poly import And as Both
from cudaperf.engine.loops.poly import Condition, Or, Poly, compare


@dataclass(frozen=True, slots=True)
class Assumptions:
    """`texts` are size expressions that hold; `conditions` the affine ones for the analysis; `extents` by array."""

    texts: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    extents: tuple[tuple[str, str], ...] = ()


_EXTENT = re.compile(r"^\s*extent\(\s*([A-Za-z_]\w*)\s*\)\s*==\s*(.+)$")


def parse(comments: tuple[str, ...]) -> Assumptions:
    """Read the comments' texts; raises `size.SizeError` naming the one that is not an assumption."""
    texts: list[str] = []
    conditions: list[Condition] = []
    extents: list[tuple[str, str]] = []
    for comment in comments:
        found = _EXTENT.match(comment)
        text = _python(found[2] if found else comment)
        tree = size.parse(text)
        if found:
            extents.append((found[1], text))
            continue
        texts.append(text)
        condition = _condition(tree)
        if condition is not None:
            conditions.append(condition)
    return Assumptions(tuple(texts), tuple(conditions), tuple(extents))


def poly_of(text: str) -> Poly | None:
    """A size expression as a polynomial, None where it is none."""
    return _poly(size.parse(text))


def _python(text: str) -> str:
    text = text.replace("&&", " and ").replace("||", " or ")
    return re.sub(r"(?<![/])/(?![/])", "//", text).strip()


def _condition(node: ast.expr) -> Condition | None:
    match node:
        case ast.BoolOp(op=op, values=values):
            parts = [_condition(v) for v in values]
            if any(p is None for p in parts):
                return None
            known = tuple(p for p in parts if p is not None)
            return Both(known) if isinstance(op, ast.And) else Or(known)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            a, b = _poly(left), _poly(right)
            symbol = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}[type(op)]
            return None if a is None or b is None else compare(a, symbol, b)
        case _:
            return None


def _poly(node: ast.expr) -> Poly | None:
    match node:
        case ast.Constant(value=int() as value):
            return Poly.constant(value)
        case ast.Name(id=name):
            return Poly.atom(name)
        case ast.UnaryOp(operand=operand):
            inner = _poly(operand)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _poly(left), _poly(right)
            if a is None or b is None:
                return None
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
    return None
