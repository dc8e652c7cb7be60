"""The value of an expression in C's arithmetic, given the values of names; None where anything in it is not known.

Macros are taken as the preprocessor does: where their text, or an argument put into it, would bind otherwise than its value
(`#define N 4 + 4` in `N * 2`), the value is not known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from cudaperf.engine.cuda import ir, macros
from cudaperf.engine.cuda.model import FileModel, Function, Macro

Values = Mapping[str, int | None]
"""Names to values; None hides a constant of that name without giving a value."""
Value = int | float | None

_DEEPEST: Final = 40
_TEXT_BEGINS: Final = len("auto cp_x = (")
_OPERATORS: Final = (ir.Binary, ir.Conditional, ir.Comma, ir.Assign)
_FUNCTIONS: Final[dict[str, Callable[..., int | float]]] = {
    "min": min, "max": max, "abs": abs, "ceil": math.ceil, "ceilf": math.ceil, "floor": math.floor, "floorf": math.floor,
}  # fmt: skip


@dataclass(slots=True)
class Fuel:
    """What one question may cost: macros and variables that refer to themselves or to each other run dry."""

    steps: int = 4000
    depth: int = 0

    def enter(self) -> bool:
        self.steps -= 1
        self.depth += 1
        return self.steps > 0 and self.depth < _DEEPEST


def evaluate(expr: ir.Expr, model: FileModel, values: Values, fuel: Fuel | None = None) -> Value:
    """An int for an integer expression, a float for a floating one."""
    fuel = fuel if fuel is not None else Fuel()
    found = _found(expr, model, values, fuel) if fuel.enter() else None
    fuel.depth -= 1
    return found if found is None or abs(found) < 2**63 else None


def _found(expr: ir.Expr, model: FileModel, values: Values, fuel: Fuel) -> Value:
    match expr:
        case ir.Number(value=value):
            return value
        case ir.Name(id=name):
            return _name(name, model, values, fuel)
        case ir.Member(base=ir.Name(id=name), field=field):
            return values.get(f"{name}.{field}")
        case ir.Unary(op=op, operand=operand):
            return _unary(op, _operand(operand, model, values, fuel))
        case ir.Binary(op=op, left=left, right=right):
            return _binary(op, _operand(left, model, values, fuel), _operand(right, model, values, fuel))
        case ir.Conditional(condition=condition, then=then, orelse=orelse):
            chosen = _operand(condition, model, values, fuel)
            return evaluate(then if chosen else orelse, model, values, fuel) if chosen is not None else None
        case ir.Cast(type=kind, value=inner):
            return _cast(kind, _operand(inner, model, values, fuel))
        case ir.Call():
            return _call(expr, model, values, fuel)
        case _:
            return None


def _name(name: str, model: FileModel, values: Values, fuel: Fuel) -> Value:
    if name in model.macros:
        found = macros.expression(model, name)
        return evaluate(found[1], model, values, fuel) if found is not None and found[0].parameters is None else None
    if name in values:
        return values[name]
    if (constant := model.constants.get(name)) is not None:
        value = evaluate(constant, model, {}, fuel)
        declared = model.variables.get(name)
        return int(value) if value is not None and declared is not None and declared.type.integer else value
    return 32 if name == "warpSize" else None


def _operand(expr: ir.Expr, model: FileModel, values: Values, fuel: Fuel) -> Value:
    """Inside an operator, a macro counts only where its text binds as one."""
    name = expr.id if isinstance(expr, ir.Name) else expr.name if isinstance(expr, ir.Call) else None
    found = macros.expression(model, name) if name is not None else None
    if found is not None and isinstance(found[1], _OPERATORS) and found[1].start == _TEXT_BEGINS:
        return None
    return evaluate(expr, model, values, fuel)


def _unary(op: str, value: Value) -> Value:
    if value is None or (op == "~" and isinstance(value, float)):
        return None
    match op:
        case "-":
            return -value
        case "+":
            return value
        case "!":
            return int(not value)
        case "~":
            return ~int(value)
        case _:
            return None


def _cast(kind: ir.CType, value: Value) -> Value:
    if value is None:
        return None
    if kind.integer:
        return int(bool(value)) if kind.name == "bool" else int(value)
    return float(value) if kind.floating else None


def _binary(op: str, left: Value, right: Value) -> Value:
    if op in ("&&", "||"):
        decided = [v for v in (left, right) if v is not None and bool(v) == (op == "||")]
        return int(op == "||") if decided else None if left is None or right is None else int(op == "&&")
    if left is None or right is None:
        return None
    if op in ("/", "%"):
        return _quotient(op, left, right)
    if op in ("<<", ">>", "&", "|", "^"):
        return _bits(op, left, right)
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "<" | ">" | "<=" | ">=" | "==" | "!=":
            order = {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}
            return int(order.get(op, (left == right) == (op == "==")))
        case _:
            return None


def _quotient(op: str, left: int | float, right: int | float) -> Value:
    """Integers round towards zero."""
    if right == 0:
        return None
    if isinstance(left, float) or isinstance(right, float):
        return left / right if op == "/" else None
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if op == "/" else left - quotient * right


def _bits(op: str, left: int | float, right: int | float) -> Value:
    if isinstance(left, float) or isinstance(right, float) or (op in ("<<", ">>") and not 0 <= right < 63):
        return None
    match op:
        case "<<":
            return left << right
        case ">>":
            return left >> right
        case "&":
            return left & right
        case "|":
            return left | right
        case _:
            return left ^ right


def _call(call: ir.Call, model: FileModel, values: Values, fuel: Fuel) -> Value:
    if call.receiver is not None:
        return None
    if call.name in model.macros:
        found = macros.expression(model, call.name)
        return _expanded(call, *found, model, values, fuel) if found is not None else None
    functions = model.by_name.get(call.name, ())
    if functions:
        return _function(functions[0], call, model, values, fuel) if len(functions) == 1 else None
    given = [evaluate(a, model, values, fuel) for a in call.args]
    known = [v for v in given if v is not None]
    if not given or len(known) < len(given) or (call.name in ("min", "max")) != (len(given) == 2):
        return None
    made = _FUNCTIONS.get(call.name)
    return made(*known) if made is not None else None


def _expanded(call: ir.Call, macro: Macro, body: ir.Expr, model: FileModel, values: Values, fuel: Fuel) -> Value:
    if macro.parameters is None or len(macro.parameters) != len(call.args):
        return None
    given = dict(zip(macro.parameters, call.args, strict=True))
    for node in ir.walk(body):
        if isinstance(node, ir.Name) and isinstance(given.get(node.id), _OPERATORS) and not _guarded(node, macro.text):
            return None
    known: dict[str, int | None] = {}
    for name, argument in given.items():
        value = evaluate(argument, model, values, fuel)
        known[name] = value if isinstance(value, int) else None
    return evaluate(body, model, Over(known, values), fuel)


def _guarded(node: ir.Name, text: str) -> bool:
    """Whether a parameter stands alone between parentheses or commas."""
    before, after = text[: node.start - _TEXT_BEGINS].rstrip(), text[node.end - _TEXT_BEGINS :].lstrip()
    return before[-1:] in ("(", ",") and after[:1] in (")", ",")


def _function(function: Function, call: ir.Call, model: FileModel, values: Values, fuel: Fuel) -> Value:
    """A function that only returns an expression."""
    if len(function.parameters) != len(call.args):
        return None
    match function.body.body:
        case [ir.Return(value=result)] if result is not None:
            pass
        case _:
            return None
    known: dict[str, int | None] = dict.fromkeys(function.templates)
    for parameter, argument in zip(function.parameters, call.args, strict=True):
        value = evaluate(argument, model, values, fuel)
        known[parameter.name] = value if isinstance(value, int) and parameter.type.integer else None
    return evaluate(result, model, known, fuel)


class Over(Mapping[str, int | None]):
    """Names of the first mapping, then those of the second."""

    def __init__(self, first: Values, second: Values) -> None:
        self._first, self._second = first, second

    def __getitem__(self, name: str) -> int | None:
        return self._first[name] if name in self._first else self._second[name]

    def __contains__(self, name: object) -> bool:
        return name in self._first or name in self._second

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._first), **dict.fromkeys(self._second)})

    def __len__(self) -> int:
        return len(list(iter(self)))
