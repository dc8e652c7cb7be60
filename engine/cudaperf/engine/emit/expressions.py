"""Size expressions as C++ text: what a person would have written, evaluated in 64 bits.

Casts, parentheses and the `cp_*` functions of `support` appear only where the ranges of the names need them. Names of 64-bit
type are taken to lie within +-2**60 (`LARGEST`), which the emitted functions check; where an intermediate value could still
leave 64 bits, saturating functions are printed, and a saturated size is refused by what consumes it (grid limits, allocation).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cudaperf.engine.emit.intervals import INT64, LARGEST, Interval, interval
from cudaperf.engine.emit.simplify import simplified
from cudaperf.engine.size import READS, SizeError, parse
from cudaperf.engine.task import ElementType, ScalarType

_SYMBOLS: Final = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/", ast.Mod: "%"}
_SATURATING: Final = {ast.Add: "cp_add", ast.Sub: "cp_sub", ast.Mult: "cp_mul"}
_COMPARE: Final = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_NEGATED: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}

_SELECT, _OR, _AND, _RELATION, _SUM, _PRODUCT, _UNARY, _ATOM = range(8)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name of size expressions in C++: its text, its range, and its type's width and sign."""

    text: str
    range: Interval
    bits: int = 64
    signed: bool = True

    @property
    def wide(self) -> bool:
        return self.bits == 64 and self.signed


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean at one place: scalars, and (on the host) arrays as (pointer, bytes) texts for at(...) and top(...).

    `facts` are size expressions that have been checked before.
    """

    symbols: Mapping[str, Symbol]
    arrays: Mapping[str, tuple[str, str]]
    facts: tuple[str, ...] = ()

    def ranges(self) -> dict[str, Interval]:
        return {name: symbol.range for name, symbol in self.symbols.items()}

    def with_symbol(self, name: str, symbol: Symbol) -> Scope:
        return Scope({**self.symbols, name: symbol}, self.arrays, self.facts)


def symbol(text: str, element: ElementType) -> Symbol | None:
    """The symbol of a scalar parameter; None where it is no integer."""
    if not isinstance(element, ScalarType) or element.number != "int":
        return None
    if element.name in ("_Bool", "bool"):
        return Symbol(text, Interval(0, 1), 8, signed=False)
    low = -(2 ** (element.bits - 1)) if element.signed else 0
    high = 2 ** (element.bits - element.signed) - 1
    return Symbol(text, Interval(max(low, -LARGEST), min(high, LARGEST)), element.bits, element.signed)


def _tree(text: str, scope: Scope) -> ast.expr:
    return parse(simplified(text, scope.facts))


def bounds(text: str, scope: Scope) -> Interval:
    """Between which values the expression lies."""
    return interval(_tree(text, scope), scope.ranges())


def constant(text: str) -> int | None:
    """The value where the expression has no names."""
    found = interval(parse(text), {}) if not any(isinstance(n, ast.Name) for n in _operands(parse(text))) else None
    return found.low if found and found.low == found.high else None


def _operands(tree: ast.expr) -> list[ast.expr]:
    """Nodes that are values (the names of called functions are not)."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return [node for node in ast.walk(tree) if isinstance(node, ast.expr) and id(node) not in called]


def value(text: str, scope: Scope) -> str:
    """C++ text of any integer type that holds the value: for arguments of functions that take `long long`."""
    return _Printer(scope).narrow(_tree(text, scope))[0]


def extent(text: str, scope: Scope) -> str:
    """The same for a number of elements, where values below 0 are as good as 0."""
    return _Printer(scope).narrow(parse(simplified(text, scope.facts, extent=True)))[0]


def operand(text: str, scope: Scope) -> str:
    """C++ text of type `long long` that may follow a cast or stand in a product."""
    printed, level = _Printer(scope).wide(_tree(text, scope))
    return printed if level >= _UNARY else f"({printed})"


def term(text: str, scope: Scope) -> str:
    """C++ text that may follow a `+`."""
    printed, level = _Printer(scope).narrow(_tree(text, scope))
    return printed if level >= _PRODUCT else f"({printed})"


def bytes_of(count: str, element: str, scope: Scope) -> str:
    """C++ text for the size of `count` elements of `element` ("sizeof(double)") bytes, 0 where it is negative."""
    number = constant(count)
    if number is None or not 0 <= number < 2**31:
        return f"cp_bytes({extent(count, scope)}, {element})"
    return element if number == 1 else f"{number} * {element}"


def comparable(text: str, scope: Scope) -> str:
    """C++ text that compares with a `long long` as in mathematics."""
    return _Printer(scope).compared(_tree(text, scope))


def condition(text: str, scope: Scope) -> str:
    """C++ text that is true where the expression is not zero."""
    return _Printer(scope).narrow(_tree(text, scope))[0]


def negation(text: str, scope: Scope) -> str:
    """C++ text that is true where the expression is zero."""
    tree = _tree(text, scope)
    if isinstance(tree, ast.Compare):
        return _Printer(scope).relation(tree, negated=True)[0]
    printed, level = _Printer(scope).narrow(tree)
    return f"!{printed}" if level == _ATOM else f"!({printed})"


_Text = tuple[str, int]


class _Printer:
    """Prints (text, binding strength); `wide` results have type `long long`, `narrow` ones any integer type."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.ranges = scope.ranges()

    def narrow(self, node: ast.expr) -> _Text:
        match node:
            case ast.Constant(value=int() as number):
                return (str(number) if number < 2**31 else f"{number}LL"), _ATOM
            case ast.Name(id=name):
                return self.symbol(name).text, _ATOM
            case ast.UnaryOp(operand=ast.Constant(value=int() as number)) if number < 2**31:
                return f"-{number}", _UNARY
            case ast.IfExp(test=test, body=body, orelse=orelse) if self._plain(body) and self._plain(orelse):
                chosen = [self._paren(self.narrow(part), _OR) for part in (test, body, orelse)]
                return f"{chosen[0]} ? {chosen[1]} : {chosen[2]}", _SELECT
            case ast.Compare():
                return self.relation(node)
            case ast.BoolOp(op=op, values=values):
                level = _AND if isinstance(op, ast.And) else _OR
                symbol_text = " && " if level == _AND else " || "
                return symbol_text.join(self._paren(self.narrow(v), _RELATION) for v in values), level
            case _:
                return self.wide(node)

    def wide(self, node: ast.expr) -> _Text:
        match node:
            case ast.Constant(value=int() as number):
                return f"{number}LL", _ATOM
            case ast.Name(id=name):
                found = self.symbol(name)
                return (found.text, _ATOM) if found.wide else (f"(long long){found.text}", _UNARY)
            case ast.UnaryOp(operand=inner) if not interval(node, self.ranges).within(INT64):
                return f"cp_sub(0, {self.narrow(inner)[0]})", _ATOM
            case ast.UnaryOp(operand=inner):
                return f"-{self._paren(self.wide(inner), _ATOM)}", _UNARY
            case ast.BinOp():
                return self.binary(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                parts = (self.narrow(test), self.wide(body), self.wide(orelse))
                chosen = [self._paren(part, _OR) for part in parts]
                return f"{chosen[0]} ? {chosen[1]} : {chosen[2]}", _SELECT
            case ast.Call(func=ast.Name(id=name), args=args):
                return self.call(name, args), _ATOM
            case _:
                return f"(long long)({self.narrow(node)[0]})", _UNARY

    def binary(self, node: ast.BinOp) -> _Text:
        kind = type(node.op)
        if kind in (ast.FloorDiv, ast.Mod):
            return self.division(node)
        if not interval(node, self.ranges).within(INT64):
            return f"{_SATURATING[kind]}({self.narrow(node.left)[0]}, {self.narrow(node.right)[0]})", _ATOM
        level = _PRODUCT if kind is ast.Mult else _SUM
        return f"{self._paren(self.wide(node.left), level)} {_SYMBOLS[kind]} {self._right(node.right, level)}", level

    def division(self, node: ast.BinOp) -> _Text:
        left, right = interval(node.left, self.ranges), interval(node.right, self.ranges)
        if left.low >= 0 and right.low > 0:
            text = (
                f"{self._paren(self.wide(node.left), _PRODUCT)} {_SYMBOLS[type(node.op)]} {self._right(node.right, _PRODUCT)}"
            )
            return text, _PRODUCT
        function = "cp_floordiv" if isinstance(node.op, ast.FloorDiv) else "cp_floormod"
        return f"{function}({self.narrow(node.left)[0]}, {self.narrow(node.right)[0]})", _ATOM

    def _right(self, node: ast.expr, level: int) -> str:
        """The second operand: C's own conversion does where the first is `long long` already."""
        plain = isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and self._converts(node.id))
        return self._paren(self.narrow(node) if plain else self.wide(node), level + 1)

    def compared(self, node: ast.expr) -> str:
        """An operand of a comparison with a `long long`."""
        return self._right(node, _RELATION)

    def _converts(self, name: str) -> bool:
        found = self.symbol(name)
        return found.signed or found.bits < 64

    def relation(self, node: ast.Compare, *, negated: bool = False) -> _Text:
        left, right = node.left, node.comparators[0]
        symbol_text = _COMPARE[type(node.ops[0])]
        symbol_text = _NEGATED[symbol_text] if negated else symbol_text
        if self._plain(left) and self._plain(right):
            return f"{self.narrow(left)[0]} {symbol_text} {self.narrow(right)[0]}", _RELATION
        return f"{self._paren(self.wide(left), _SUM)} {symbol_text} {self.compared(right)}", _RELATION

    def _plain(self, node: ast.expr) -> bool:
        """Compares in C as in mathematics."""
        return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and self.symbol(node.id).signed)

    def call(self, name: str, args: list[ast.expr]) -> str:
        if name in READS:
            return self._element(name, args)
        printed = [self.narrow(arg)[0] for arg in args]
        if name in ("min", "max"):
            result = printed[0]
            for part in printed[1:]:
                result = f"cp_{name}({result}, {part})"
            return result if len(printed) > 1 else f"({result})"
        return f"cp_{name}({', '.join(printed)})"

    def _element(self, name: str, args: list[ast.expr]) -> str:
        array = args[0].id if isinstance(args[0], ast.Name) else ""
        if array not in self.scope.arrays:
            raise SizeError(f"the data of {array!r} can't be read here")
        pointer, bytes_text = self.scope.arrays[array]
        function = "cp_element" if name == "at" else f"cp_{name}"
        return f"{function}({pointer}, {bytes_text}, {self.narrow(args[1])[0]})"

    def symbol(self, name: str) -> Symbol:
        if name not in self.scope.symbols:
            raise SizeError(f"unknown name {name!r}")
        return self.scope.symbols[name]

    @staticmethod
    def _paren(text: _Text, level: int) -> str:
        return text[0] if text[1] >= level else f"({text[0]})"
