"""Size expressions: the int64 arithmetic of launch plans and array extents, as text.

Grammar (a subset of Python's): integer literals, names, + - * // %, unary -, min(a, b, ...), max(a, b, ...),
ceildiv(a, b), comparisons and `and`/`or` (value 0 or 1), `a if c else b`; and, in extents and requirements only,
`at(array, index)` (an element of an integer input array), `top(array, count)` (1 + the largest of its first `count` elements,
at least 0) and `bottom(array, count)` (the smallest, at most 0).
`//` and `%` floor, as in Python; `tdiv(a, b)` truncates, as in C. Every intermediate value must fit int64.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

INT64_MAX: Final = 2**63 - 1

Reader = Callable[[str, str, int], int]
"""(function "at", "top" or "bottom", array name, argument) -> value, for extents that depend on the data."""


class SizeError(ValueError):
    """Not a size expression, an unknown name, a division by zero or an overflow; the message says which."""


_BINARY: Final = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
_COMPARE: Final = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
READS: Final = ("at", "top", "bottom")
"""Functions of the data of an array, its name first."""
_CALLS: Final = {"min": None, "max": None, "ceildiv": 2, "tdiv": 2, "at": 2, "top": 2, "bottom": 2}


@lru_cache(maxsize=4096)
def parse(text: str) -> ast.expr:
    """The checked syntax tree; raises `SizeError`."""
    try:
        tree = ast.parse(_WORD.sub(_plain, text.strip()), mode="eval").body
    except SyntaxError as error:
        raise SizeError(f"not a size expression: {text!r}") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = node.id.removesuffix(_MARK)
    _check(tree, text)
    return tree


_MARK: Final = "__c"
_OPERATORS: Final = frozenset({"and", "or", "if", "else", "not"})
_WORD: Final = re.compile(r"[A-Za-z_]\w*")


def _plain(word: re.Match[str]) -> str:
    """C's names may be Python's keywords (`in`, `from`, `lambda`): marked for the parser, unmarked in the tree."""
    return word[0] + _MARK if keyword.iskeyword(word[0]) and word[0] not in _OPERATORS else word[0]


def _check(node: ast.expr, text: str) -> None:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool) and value <= INT64_MAX:
            return
        case ast.Name():
            return
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            _check(left, text)
            _check(right, text)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            _check(left, text)
            _check(right, text)
        case ast.BoolOp(values=values):
            for value_node in values:
                _check(value_node, text)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            for part in (test, body, orelse):
                _check(part, text)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _CALLS:
            arity = _CALLS[name]
            if (arity is not None and len(args) != arity) or not args:
                raise SizeError(f"{name} takes {arity or 'one or more'} arguments: {text!r}")
            if name in READS and not isinstance(args[0], ast.Name):
                raise SizeError(f"{name} takes an array's name first: {text!r}")
            for arg in args:
                _check(arg, text)
        case _:
            raise SizeError(f"{ast.unparse(node)!r} is not allowed in a size expression: {text!r}")


def names(text: str) -> frozenset[str]:
    """The scalar names an expression reads (arrays of at/top excluded)."""
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Call):
            skip = 1 if isinstance(node.func, ast.Name) and node.func.id in READS else 0
            for arg in node.args[skip:]:
                visit(arg)
        else:
            for child in ast.iter_child_nodes(node):
                visit(child)

    visit(parse(text))
    return frozenset(found)


def arrays(text: str) -> frozenset[str]:
    """The arrays whose data an extent reads through at/top."""
    return frozenset(
        node.args[0].id
        for node in ast.walk(parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in READS
        and isinstance(node.args[0], ast.Name)
    )


def evaluate(text: str, values: Mapping[str, int], reader: Reader | None = None) -> int:
    """The value for the given names; raises `SizeError` on unknown names, division by zero, int64 overflow."""
    return _evaluate(parse(text), values, reader, text)


def _evaluate(node: ast.expr, values: Mapping[str, int], reader: Reader | None, text: str) -> int:
    def sub(child: ast.expr) -> int:
        return _evaluate(child, values, reader, text)

    match node:
        case ast.Constant(value=int() as value):
            result = value
        case ast.Name(id=name):
            if name not in values:
                raise SizeError(f"unknown name {name!r} in {text!r}")
            result = int(values[name])
        case ast.UnaryOp(operand=operand):
            result = -sub(operand)
        case ast.BinOp(left=left, op=op, right=right):
            result = _binary(_BINARY[type(op)], sub(left), sub(right), text)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            result = int(_compare(_COMPARE[type(op)], sub(left), sub(right)))
        case ast.BoolOp(op=ast.And(), values=parts):
            result = int(all(sub(part) for part in parts))
        case ast.BoolOp(values=parts):
            result = int(any(sub(part) for part in parts))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            result = sub(body) if sub(test) else sub(orelse)
        case ast.Call(func=ast.Name(id=("at" | "top" | "bottom") as name), args=[ast.Name(id=array), index]):
            if reader is None:
                raise SizeError(f"{name}({array}, ...) needs the data: {text!r}")
            result = reader(name, array, sub(index))
        case ast.Call(func=ast.Name(id=name), args=args):
            result = _call(name, [sub(arg) for arg in args], text)
        case _:
            raise SizeError(f"not a size expression: {text!r}")
    if not -INT64_MAX - 1 <= result <= INT64_MAX:
        raise SizeError(f"{text!r} overflows 64 bits")
    return result


def _binary(op: str, left: int, right: int, text: str) -> int:
    if op in ("//", "%") and right == 0:
        raise SizeError(f"division by zero in {text!r}")
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "//":
            return left // right
        case _:
            return left % right


def _compare(op: str, left: int, right: int) -> bool:
    match op:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "==":
            return left == right
        case _:
            return left != right


def _call(name: str, args: list[int], text: str) -> int:
    if name == "min":
        return min(args)
    if name == "max":
        return max(args)
    if args[1] == 0:
        raise SizeError(f"division by zero in {text!r}")
    if name == "ceildiv":
        return -(-args[0] // args[1])
    quotient = abs(args[0]) // abs(args[1])
    return quotient if (args[0] < 0) == (args[1] < 0) else -quotient
