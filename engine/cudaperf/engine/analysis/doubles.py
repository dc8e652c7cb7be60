"""CP401: double arithmetic that a literal or pow's promotion brings into float code.

Told where an expression whose variables are all float (or integer) is computed in double and its value goes back into float,
or is compared. Not told where the compiler computes it in float all the same: one operation on floats and a literal that float
holds exactly (`x * 2.0`), rounded to float at once, has the same value in both; nvcc makes float code of it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from cudaperf.engine.analysis.finding import Edit, Finding, Fix, JsonScalar, Related, Severity
from cudaperf.engine.analysis.kinds import SEVERAL, SUFFIXED, Kind, Kinds, returned
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.analysis.wording import plural
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function
from cudaperf.engine.toolchain.devices import nearest

_ARITHMETIC: Final = frozenset("+-*/")
_COMPARED: Final = frozenset(("<", ">", "<=", ">=", "==", "!="))
_FLOAT_ATOMICS: Final = frozenset(("atomicAdd", "atomicExch"))


@dataclass(slots=True)
class _Tally:
    """What an expression does in double."""

    operations: int = 0
    floats: int = 0
    literals: list[ir.Number] = field(default_factory=list)
    names: list[ir.Name] = field(default_factory=list)
    powers: list[ir.Call] = field(default_factory=list)


def findings(model: FileModel, function: Function, settings: Settings) -> list[Finding]:
    found: list[Finding] = []
    if model.broken(function):
        return found  # types are not to be trusted
    kinds = Kinds(model, function)
    for value, to_float in _sinks(model, function, kinds):
        tally = _Tally()
        _count(value, to_float, kinds, tally)
        if tally.operations and tally.floats and not _means_double(tally, kinds):
            found.append(_told(model, settings, value, tally))
    return found


# --- where doubles go ------------------------------------------------------------------------------------------------------


def _sinks(model: FileModel, function: Function, kinds: Kinds) -> Iterator[tuple[ir.Expr, bool]]:
    """(an expression that slipped into double, whether its value is rounded to float at once)."""
    returns_float = returned(function, model).name == "float" and not returned(function, model).pointers
    for node in function.nodes:
        match node:
            case ir.Declare(type=kind, dims=[], init=init) if init is not None and kind.name == "float" and not kind.pointers:
                yield from _if_slipped(init, kinds)
            case ir.Assign(target=target, op=op, value=value) if kinds.kind(target) is Kind.FLOAT:
                if op is None:
                    yield from _if_slipped(value, kinds)
                elif op in _ARITHMETIC and kinds.kind(value) is Kind.SLIPPED:
                    yield ir.Binary(node.start, node.end, op, target, value), True
            case ir.Return(value=value) if value is not None and returns_float:
                yield from _if_slipped(value, kinds)
            case ir.Binary(op=op, left=left, right=right) if op in _COMPARED:
                both = {kinds.kind(left), kinds.kind(right)}
                if Kind.SLIPPED in both and both <= {Kind.SLIPPED, Kind.FLOAT, Kind.INT}:
                    yield node, True
            case ir.Call(name=name, args=args):
                for argument in _float_arguments(model, name, args, kinds):
                    yield from _if_slipped(argument, kinds)


def _if_slipped(value: ir.Expr, kinds: Kinds) -> Iterator[tuple[ir.Expr, bool]]:
    if kinds.kind(value) is Kind.SLIPPED:
        yield value, True


def _float_arguments(model: FileModel, name: str, args: list[ir.Expr], kinds: Kinds) -> list[ir.Expr]:
    functions = model.by_name.get(name, [])
    if len(functions) == 1 and not functions[0].templates:
        given = zip(functions[0].parameters, args, strict=False)
        return [a for p, a in given if p.type.name == "float" and not p.type.pointers]
    if name in SUFFIXED and not functions:
        return args
    if name in _FLOAT_ATOMICS and len(args) == 2:
        place = args[0].target if isinstance(args[0], ir.AddressOf) else ir.Index(args[0].start, args[0].end, args[0], args[1])
        return [args[1]] if kinds.kind(place) is Kind.FLOAT else []
    return []


# --- what is computed in double --------------------------------------------------------------------------------------------


def _count(expr: ir.Expr, to_float: bool, kinds: Kinds, tally: _Tally) -> None:
    """Count the double operations of an expression; `to_float` where its value is rounded to float at once."""
    kind = kinds.kind(expr)
    match expr:
        case ir.Number(kind="double"):
            tally.literals.append(expr)
        case ir.Name() if kind is Kind.SLIPPED:
            tally.names.append(expr)
        case ir.Binary(op=op, left=left, right=right) if kind is Kind.SLIPPED or op in _COMPARED:
            narrowed = to_float and op in _ARITHMETIC | _COMPARED and _exact(left, kinds) and _exact(right, kinds)
            tally.operations += not narrowed and _value(expr, kinds) is None
            for side in (left, right):
                _count(side, narrowed, kinds, tally)
        case ir.Unary(operand=operand) if kind is Kind.SLIPPED:
            _count(operand, to_float, kinds, tally)
        case ir.Conditional(then=then, orelse=orelse) if kind is Kind.SLIPPED:
            _count(then, to_float, kinds, tally)
            _count(orelse, to_float, kinds, tally)
        case ir.Call(name=name, args=args) if kind is Kind.SLIPPED:
            tally.operations += 1
            if name in SEVERAL and name == "pow":
                tally.powers.append(expr)
            for argument in args:
                _count(argument, False, kinds, tally)
        case _:
            tally.floats += kind is Kind.FLOAT and not isinstance(expr, ir.Number)


def _exact(expr: ir.Expr, kinds: Kinds) -> bool:
    """Whether an operand has a float's value: a float, or a literal that float holds exactly."""
    value = _value(expr, kinds)
    if value is not None:
        return _as_float(value) == value
    if isinstance(expr, ir.Conditional):
        return _exact(expr.then, kinds) and _exact(expr.orelse, kinds)
    return kinds.kind(expr) is Kind.FLOAT


def _value(expr: ir.Expr, kinds: Kinds) -> float | None:
    """Of an expression of literals."""
    match expr:
        case ir.Number(value=value):
            return float(value)
        case ir.Name() if (constant := kinds.constant(expr)) is not None:
            return float(constant.value)
        case ir.Name() if kinds.mathematical(expr):
            return math.pi  # each of them is irrational
        case ir.Unary(op="-", operand=operand):
            inner = _value(operand, kinds)
            return -inner if inner is not None else None
        case ir.Binary(op=op, left=left, right=right) if op in _ARITHMETIC:
            a, b = _value(left, kinds), _value(right, kinds)
            if a is None or b is None or (op == "/" and b == 0):
                return None
            return a + b if op == "+" else a - b if op == "-" else a * b if op == "*" else a / b
        case _:
            return None


def _as_float(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.inf


def _means_double(tally: _Tally, kinds: Kinds) -> bool:
    """A literal that float can't hold says that double is meant."""
    values = [float(n.value) for n in tally.literals] + [v for n in tally.names if (v := _value(n, kinds)) is not None]
    return any(math.isinf(_as_float(v)) or (v != 0 and abs(v) < 1.2e-38) for v in values)


# --- the finding -----------------------------------------------------------------------------------------------------------


def _told(model: FileModel, settings: Settings, value: ir.Expr, tally: _Tally) -> Finding:
    architecture = nearest(settings.architecture)
    ratio = architecture.fp32_per_clock // architecture.fp64_per_clock
    because = _because(model, tally)
    message = (
        f"{because}: {plural(tally.operations, 'operation')} on float values {'is' if tally.operations == 1 else 'are'} "
        f"computed in double, at 1/{ratio} of float's rate on sm_{architecture.capability}"
    )
    related = tuple(Related(n.start, n.end, "another double") for n in _doubles(tally)[1:])
    data: dict[str, JsonScalar] = {
        "operations": tally.operations,
        "literals": len(tally.literals) + len(tally.names),
        "rate": f"1/{ratio}",
        "architecture": architecture.capability,
    }
    return Finding("CP401", Severity.WARNING, value.start, value.end, message, related, data, _fix(model, tally))


def _doubles(tally: _Tally) -> list[ir.Number | ir.Name]:
    return sorted((*tally.literals, *tally.names), key=lambda n: n.start)


def _because(model: FileModel, tally: _Tally) -> str:
    doubles = _doubles(tally)
    if doubles:
        return f"{model.source.text(doubles[0].start, doubles[0].end)} is a double"
    return "pow of a float and an integer is double"


def _fix(model: FileModel, tally: _Tally) -> Fix | None:
    """Suffixes, and powf. Not safe: float rounds where double did not."""
    if tally.names or not (tally.literals or tally.powers):
        return None
    spelled = {n: model.source.text(n.start, n.end) for n in tally.literals}
    if any(not text[-1:].isdigit() and text[-1:] != "." for text in spelled.values()):
        return None
    edits = [Edit(n.end, n.end, "f") for n in tally.literals]
    for call in tally.powers:
        node = model.tree.root_node.descendant_for_byte_range(call.start, call.end)
        callee = node.child_by_field_name("function") if node is not None else None
        if callee is None:
            return None
        edits.append(Edit(callee.start_byte, callee.end_byte, "powf"))
    title = "Use powf" if tally.powers else f"Add the suffix f to {plural(len(edits), 'literal')}"
    return Fix(title, tuple(sorted(edits, key=lambda e: e.start)))
