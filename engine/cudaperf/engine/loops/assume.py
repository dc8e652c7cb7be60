"""The user's `// cudaperf: assume ...` comments (docs/assume.md): conditions on arguments, and extents of arrays.

`n >= 2`, `lda >= n && n % 32 == 0` (the grammar of `size`, with C's `&&`, `||`, `/`), and `extent(x) == n * m`. Values of
arrays can't be assumed: inputs are not made to have them.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import zip_longest

from cudaperf.engine import size
from cudaperf.engine.loops import ir
from cudaperf.engine.loops.places import reason_at, restored
from cudaperf.engine.loops.poly import And as Both
from cudaperf.engine.loops.poly import Condition, Or, Poly, compare
from cudaperf.engine.reason import ReasonCode, Refusal


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


FORM = "an assumption compares integer arguments (n >= 2 && lda >= n) or is extent(ARRAY) == n * m; see docs/assume.md"


def read(unit: ir.Unit) -> Assumptions:
    """What the comments of a unit assume; refuses one that can't be read, at its own place."""
    found = [_checked(unit, text, at) for text, at in zip_longest(unit.assumptions, unit.assumed_at)]
    return Assumptions(
        tuple(text for one in found for text in one.texts),
        tuple(condition for one in found for condition in one.conditions),
        tuple(extent for one in found for extent in one.extents),
    )


def _checked(unit: ir.Unit, text: str, at: ir.Span | None) -> Assumptions:
    try:
        found = parse((text,))
        problem = _problem(unit.function, found)
    except size.SizeError as error:
        problem = str(error).split(": '", 1)[0]
    if problem is None:
        return found
    message = f"the assumption {text!r} can't be read: {problem}; {FORM}" if text else f"an assumption is missing; {FORM}"
    reason = reason_at(unit.text, at or unit.function.place, ReasonCode.UNSUPPORTED, message)
    raise Refusal(restored(reason, unit.text, unit.renamed))


def _problem(function: ir.Function, found: Assumptions) -> str | None:
    """What an assumption speaks of that is no integer argument or array, or can't be assumed."""
    variables = {v.name: v for v in (*function.parameters, *function.globals)}
    for text in (*found.texts, *(extent for _, extent in found.extents)):
        if size.arrays(text):
            return "the values of arrays can't be assumed"
        for name in sorted(size.names(text)):
            variable = variables.get(name)
            if variable is None or variable.is_array or not isinstance(variable.type, ir.Scalar) or variable.type.kind != "int":
                return f"{name} is no integer that {function.name} is given"
    for name, extent in found.extents:
        if name not in variables or not variables[name].is_array:
            return f"{name} is no array that {function.name} is given"
        if isinstance(size.parse(extent), ast.Compare | ast.BoolOp):
            return "an extent stands by itself: put a comma between assumptions"
    if any(not isinstance(size.parse(text), ast.Compare | ast.BoolOp) for text in found.texts):
        return "it compares nothing"
    return None


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
