"""What an expression computes in: int, float or double; and whether a double is meant or slipped in by a literal.

C's conversions over the declared types of one function. `UNKNOWN` wherever a name or a type is not understood.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from cudaperf.engine.analysis.launches import template_names
from cudaperf.engine.analysis.variables import variables
from cudaperf.engine.cuda import ir, macros
from cudaperf.engine.cuda.model import FileModel, Function


class Kind(Enum):
    """`SLIPPED` is double because of literals or of a function's promotion alone; `DOUBLE` because something says so."""

    INT = auto()
    FLOAT = auto()
    SLIPPED = auto()
    DOUBLE = auto()
    UNKNOWN = auto()


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


OVERLOADED: Final = _names(
    """sqrt rsqrt cbrt exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
    erf erfc floor ceil round trunc rint nearbyint fabs"""
)
"""In CUDA C++ these have a float overload: `sqrt(x)` of a float is computed in float."""
SEVERAL: Final = frozenset(("pow", "max", "min"))
"""Overloaded for two floats; a double or, for pow, an int promotes to double."""
_PAIRS: Final = frozenset(("fmax", "fmin", "fmod", "hypot", "atan2", "copysign"))
"""Overloaded for two floats; a float beside a double is not accepted by every host compiler's headers."""
SUFFIXED: Final = frozenset(f"{name}f" for name in OVERLOADED) | _names(
    """powf fmaxf fminf fmodf hypotf atan2f fmaf copysignf fdividef __fdividef saturatef __saturatef __expf __logf __log2f
    __log10f __sinf __cosf __tanf __powf __fmaf_rn __fadd_rn __fmul_rn __frcp_rn __fsqrt_rn"""
)
_CONSTANTS: Final = _names(
    """M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_E M_LN2 M_LN10 M_LOG2E M_LOG10E M_SQRT2 M_SQRT1_2 M_2_SQRTPI"""
)
_COMPARISONS: Final = frozenset(("<", ">", "<=", ">=", "==", "!=", "&&", "||"))
_ORDER: Final = (Kind.UNKNOWN, Kind.DOUBLE, Kind.SLIPPED, Kind.FLOAT)


class Kinds:
    """Those of one function's expressions."""

    def __init__(self, model: FileModel, function: Function) -> None:
        self._model, self._variables = model, variables(function, model)
        self._types = {name for name in template_names(function) if name is not None and name not in function.templates}
        self._values = set(function.templates)

    def kind(self, expr: ir.Expr) -> Kind:
        match expr:
            case ir.Number(kind=kind):
                return Kind.INT if kind == "int" else Kind.FLOAT if kind == "float" else Kind.SLIPPED
            case ir.Builtin():
                return Kind.INT
            case ir.Unary(op="!"):
                return Kind.INT
            case ir.Unary(operand=inner):
                return self.kind(inner)
            case ir.Binary(op=op, left=left, right=right):
                joined = _joined(self.kind(left), self.kind(right))
                return Kind.INT if op in _COMPARISONS and joined is not Kind.UNKNOWN else joined
            case ir.Conditional(then=then, orelse=orelse):
                return _joined(self.kind(then), self.kind(orelse))
            case ir.Assign(target=target):
                return self.kind(target)
            case ir.Cast(type=kind_):
                return self._of(kind_)
            case ir.Call():
                return self._call(expr)
            case ir.Name() if self.constant(expr) is not None or self.mathematical(expr):
                return Kind.SLIPPED
            case ir.Name() | ir.Index() | ir.Member():
                found = self.type(expr)
                return self._of(found) if found is not None else Kind.INT if self._compile_time(expr) else Kind.UNKNOWN
            case _:
                return Kind.UNKNOWN

    def constant(self, expr: ir.Expr) -> ir.Number | None:
        """The double literal that a macro stands for."""
        if not isinstance(expr, ir.Name):
            return None
        found = macros.expression(self._model, expr.id)
        value = found[1] if found is not None and found[0].parameters is None else None
        return value if isinstance(value, ir.Number) and value.kind == "double" else None

    def mathematical(self, expr: ir.Expr) -> bool:
        """Whether a name is one of <cmath>'s constants, which are double."""
        return isinstance(expr, ir.Name) and expr.id in _CONSTANTS and expr.id not in self._model.macros

    def type(self, expr: ir.Expr) -> ir.CType | None:
        """The declared type of a place in memory, once every index is applied."""
        found = self._place(expr)
        return found[0] if found is not None and found[1] == 0 and found[0].pointers == 0 else None

    def _place(self, expr: ir.Expr) -> tuple[ir.CType, int] | None:
        """(type, dimensions that are still to be indexed)."""
        match expr:
            case ir.Name(id=name):
                if name in self._model.macros:
                    return None
                variable = self._variables.resolve(name, expr.start)
                if variable is not None:
                    return variable.type, len(variable.declared.dims) if variable.declared is not None else 0
                declared = self._model.variables.get(name)
                return (declared.type, len(declared.dims)) if declared is not None else None
            case ir.Index(base=base):
                found = self._place(base)
                if found is None or (found[1] == 0 and found[0].pointers == 0):
                    return None
                kind, dims = found
                return (kind, dims - 1) if dims else (ir.CType(kind.name, kind.size, kind.pointers - 1, kind.const), 0)
            case ir.Member(base=base, field=field):
                found = self._place(base)
                struct = self._model.types.struct(found[0].name) if found is not None and found[1] == 0 else None
                member = struct.fields.get(field) if struct is not None else None
                return (member[1], len(member[2])) if member is not None else None
            case _:
                return None

    def _of(self, kind: ir.CType) -> Kind:
        if kind.pointers or kind.name in self._types:
            return Kind.UNKNOWN
        if kind.name == "float":
            return Kind.FLOAT
        if kind.name == "double":
            return Kind.DOUBLE
        return Kind.INT if kind.integer and kind.name != "auto" else Kind.UNKNOWN

    def _call(self, call: ir.Call) -> Kind:
        functions = self._model.by_name.get(call.name, ())
        if call.receiver is not None or call.name in self._model.macros:
            return Kind.UNKNOWN
        if functions:
            one = functions[0] if len(functions) == 1 and not functions[0].templates else None
            return self._of(returned(one, self._model)) if one is not None else Kind.UNKNOWN
        if call.name in SUFFIXED:
            return Kind.FLOAT
        if call.name == "__ldg" and len(call.args) == 1 and isinstance(call.args[0], ir.AddressOf):
            return self.kind(call.args[0].target)
        given = [self.kind(a) for a in call.args]
        if call.name in _PAIRS and given in ([Kind.FLOAT] * 2, [Kind.DOUBLE] * 2):
            return given[0]
        if call.name in OVERLOADED and len(given) == 1:
            return given[0] if given[0] is not Kind.INT else Kind.DOUBLE
        if call.name in SEVERAL and len(given) == 2:
            joined = _joined(*given)
            promotes = call.name == "pow" and joined is Kind.FLOAT and Kind.INT in given
            return Kind.SLIPPED if promotes else joined
        return Kind.UNKNOWN

    def _compile_time(self, expr: ir.Expr) -> bool:
        name = expr.id if isinstance(expr, ir.Name) else None
        return name is not None and (name in self._values or name in self._model.constants or name == "warpSize")


def returned(function: Function, model: FileModel) -> ir.CType:
    """What a function returns."""
    node, declarator = function.node.child_by_field_name("type"), function.node.child_by_field_name("declarator")
    text = node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""
    pointers = 1 if declarator is not None and declarator.type != "function_declarator" else 0
    return model.types.named(text, pointers)


def _joined(left: Kind, right: Kind) -> Kind:
    return next((kind for kind in _ORDER if kind in (left, right)), Kind.INT)
