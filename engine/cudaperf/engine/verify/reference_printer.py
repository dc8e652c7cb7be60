"""Prints a function's trees over tracked numbers: `cp_f32`/`cp_f64` of `cpp/tracked.hpp` in place of float and double.

Every name of the user's gets a prefix (v_ variables, m_ members, h_ functions, S_ structs), so none can clash with C++'s.
Arrays are flat, indexed through their declared dimensions. `s += x` and `s = s + x` continue a sum (`cp_accumulate`); every
other assignment closes the expression. A conditional assignment that hangs on rounding takes both outcomes into its bound
(`cp_assign_if`, `cp_select`).
Not promised: `frexp`, `modf`, `long double`, initialisers of structs inside structs; they raise `Unprintable`.
"""

from __future__ import annotations

import itertools
from typing import Final

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.conversions import strip_implicit
from cudaperf.engine.loops.printer import Printer

_UNARY_NAMES: Final = (
    "sqrt cbrt exp exp2 expm1 exp10 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
    "tgamma lgamma j0 j1 y0 y1 fabs floor ceil trunc round rint nearbyint lround llround lrint llrint logb ilogb"
)
_UNARY: Final = frozenset(_UNARY_NAMES.split())
_BINARY: Final = frozenset(("pow", "atan2", "hypot", "fmin", "fmax", "fdim", "copysign", "fmod", "remainder", "nextafter"))
_SCALING: Final = frozenset(("ldexp", "scalbn", "scalbln"))
_CLASSES: Final = frozenset(("isnan", "isinf", "isfinite", "signbit"))
_INTEGER: Final = frozenset(("abs", "labs", "llabs"))


class Unprintable(Exception):
    """The tree has no counterpart over tracked numbers; the message says what."""


def math_function(name: str) -> tuple[str, str] | None:
    """A math.h name as (name without suffix, number type it computes in); None for other functions."""
    base = name.removeprefix("__builtin_")
    known = _UNARY | _BINARY | _SCALING | {"fma"}
    if base in known:
        return base, "cp_f64"
    if base.endswith("f") and base[:-1] in known:
        return base[:-1], "cp_f32"
    return None


def is_float(kind: ir.Type | None) -> bool:
    return isinstance(kind, ir.Scalar) and kind.kind == "float"


def type_name(kind: ir.Type) -> str:
    """How the reference spells a type."""
    if isinstance(kind, ir.Struct):
        return "S_" + "".join(c if c.isalnum() else "_" for c in kind.name)
    if kind.kind == "float":
        if kind.bits not in (32, 64):
            raise Unprintable(kind.name)
        return f"cp_f{kind.bits}"
    return "bool" if kind.name == "_Bool" else kind.name


class ReferencePrinter(Printer):
    """Prints one function; `shapes` are the declared dimensions of every array in scope, by name."""

    def __init__(self, unit: ir.Unit, function: ir.Function) -> None:
        super().__init__()
        self.helpers = {helper.name: helper for helper in unit.helpers}
        self.returns = function.returns
        self.shapes: dict[str, tuple[ir.Expr | None, ...]] = {
            v.name: v.dims for v in (*unit.function.globals, *function.globals, *function.parameters) if v.is_array
        }
        self.shapes |= {n.name: n.dims for n in ir.walk(function.body) if isinstance(n, ir.Decl) and n.dims}

    # --- names and loads -----------------------------------------------------------------------------------------------

    def type_name(self, kind: ir.Type) -> str:
        return type_name(kind)

    def const(self, node: ir.IntConst | ir.FloatConst) -> str:
        text = super().const(node)
        return f"cp_to<{type_name(node.type)}>({text})" if isinstance(node, ir.FloatConst) else text

    def name(self, node: ir.Name) -> str:
        return f"v_{node.id}"

    def load(self, node: ir.Load) -> str:
        base = f"v_{node.array}"
        return base + (f"[{self.flat(node.array, node.indices)}]" if node.indices else "") + self.path(node.path)

    def path(self, path: tuple[str | ir.Expr, ...]) -> str:
        return "".join(f".m_{step}" if isinstance(step, str) else self.subscripts((step,)) for step in path)

    def address(self, node: ir.Address) -> str:
        return f"(v_{node.array} + {self.flat(node.array, node.indices)})" if node.indices else f"v_{node.array}"

    def flat(self, array: str, indices: tuple[ir.Expr, ...]) -> str:
        """The element's position, in 64 bits, missing trailing indices being 0."""
        dims = self.shapes.get(array, (None,))
        text = f"(long)({self.expr(indices[0])})"
        for at, dim in enumerate(dims[1:], start=1):
            if dim is None:
                raise Unprintable(f"the inner dimension of {array}")
            text = f"({text}) * (long)({self.expr(dim)})"
            text += f" + (long)({self.expr(indices[at])})" if at < len(indices) else ""
        return text

    # --- expressions ---------------------------------------------------------------------------------------------------

    def converted(self, kind: ir.Type | str, node: ir.Expr) -> str:
        if isinstance(kind, ir.Struct):
            return self.expr(node)
        return f"cp_to<{kind if isinstance(kind, str) else type_name(kind)}>({self.expr(node)})"

    def cast(self, node: ir.Cast) -> str:
        return self.converted(node.type, node.operand)

    def select(self, node: ir.Select) -> str:
        if not is_float(node.type):
            return super().select(node)
        parts = (self.expr(node.condition), self.converted(node.type, node.then), self.converted(node.type, node.other))
        return f"cp_select({', '.join(f'[&] {{ return {part}; }}' for part in parts)})"

    def call(self, node: ir.Call) -> str:
        if node.name in self.helpers:
            return self._helper_call(node, self.helpers[node.name])
        name = node.name.removeprefix("__builtin_")
        if name in _CLASSES:
            return f"cp_{name}({self.converted(node.args[0].type or ir.DOUBLE, node.args[0])})"
        if name in _INTEGER:
            return f"::{name}({self.expr(node.args[0])})"
        found = math_function(node.name)
        if found is None:
            raise Unprintable(f"{node.name}()")
        base, kind = found
        first = 1 if base in _SCALING else len(node.args)
        args = [self.converted(kind, a) for a in node.args[:first]] + [self.expr(a) for a in node.args[first:]]
        return f"cp_{base}({', '.join(args)})"

    def _helper_call(self, node: ir.Call, helper: ir.Function) -> str:
        args = [
            self.expr(arg) if parameter.is_array else self.stored(parameter.type, arg)
            for arg, parameter in zip(node.args, helper.parameters, strict=True)
        ]
        return f"h_{node.name}({', '.join(args)})"

    # --- statements ----------------------------------------------------------------------------------------------------

    def for_header(self, node: ir.For) -> str:
        declared = f"{type_name(node.type)} " if node.declared else ""
        condition = self.binary(ir.Binary(op=node.relation, left=ir.Name(id=node.var, type=node.type), right=node.bound))
        step = f"v_{node.var} += {self.expr(node.step)}"
        return f"for ({declared}v_{node.var} = {self.converted(node.type, node.lower)}; {condition}; {step})"

    def if_statement(self, node: ir.If) -> list[str]:
        then, other = _only_assign(node.then), _only_assign(node.other)
        if then is None or (node.other is not None and (other is None or other.target != then.target)):
            return super().if_statement(node)
        condition, target = f"[&] {{ return {self.expr(node.condition)}; }}", self.expr(then.target)
        value = f"[&] {{ return {self.assigned(then)}; }}"
        if other is None:
            kind = type_name(then.target.type)
            return [f"cp_assign_if({condition}, [&]() -> {kind} & {{ return {target}; }}, {value});"]
        return [f"cp_put({target}, cp_select({condition}, {value}, [&] {{ return {self.assigned(other)}; }}));"]

    def simple(self, node: ir.Stmt) -> str:
        match node:
            case ir.PointerDecl():
                return f"auto *v_{node.name} = v_{node.array} + (long)({self.expr(node.offset)})"
            case ir.PointerSwap(first=a, second=b):
                return f"std::swap(v_{a}, v_{b});"
            case ir.Return(value=value) if value is not None and self.returns is not None:
                return f"return {self.converted(self.returns, value)}"
            case _:
                return super().simple(node)

    def assign(self, node: ir.Assign) -> str:
        if isinstance(node.target.type, ir.Struct):
            return f"{self.expr(node.target)} = {self.expr(node.value)}"
        added = continued(node)
        if added is None:
            return f"cp_put({self.expr(node.target)}, {self.assigned(node)})"
        sign, value = added
        kind = value.type if value.type is not None and is_float(value.type) else node.target.type
        return f"cp_accumulate({self.expr(node.target)}, {sign}{self.converted(kind, value)})"

    def assigned(self, node: ir.Assign) -> str:
        """The new value of the target."""
        if node.op is None:
            return self.stored(node.target.type, node.value)
        return f"cp_to<{type_name(node.target.type)}>({self.expr(node.target)} {node.op} ({self.expr(node.value)}))"

    def stored(self, kind: ir.Type, node: ir.Expr) -> str:
        """A value for a variable; a copy of one keeps its identity."""
        inner = strip_implicit(node)
        return self.expr(inner) if isinstance(inner, ir.Name | ir.Load) and inner.type == kind else self.converted(kind, node)

    def declaration(self, node: ir.Decl) -> str:
        kind = type_name(node.type)
        if node.dims:
            return self._array_declaration(node, kind)
        if node.init is None:
            return f"{kind} v_{node.name}{{}}"
        if isinstance(node.init, tuple):
            return self._struct_declaration(node, kind, node.init)
        return f"{kind} v_{node.name} = {self.stored(node.type, node.init)}"

    def _struct_declaration(self, node: ir.Decl, kind: str, items: tuple[ir.Expr, ...]) -> str:
        if not isinstance(node.type, ir.Struct) or any(isinstance(item.type, ir.Struct) for item in items):
            raise Unprintable(f"the initialiser of {node.name}")
        puts = [f"cp_put(made{place}, {self.expr(item)});" for place, item in zip(members(node.type), items, strict=False)]
        return f"{kind} v_{node.name} = [&] {{ {kind} made{{}}; {' '.join(puts)} return made; }}()"

    def _array_declaration(self, node: ir.Decl, kind: str) -> str:
        count = " * ".join(f"(long)({self.expr(dim)})" for dim in node.dims)
        if not all(isinstance(dim, ir.IntConst) for dim in node.dims):
            return (
                f"std::unique_ptr<{kind}[]> o_{node.name}(new {kind}[{count}]()); {kind} *v_{node.name} = o_{node.name}.get()"
            )
        items = node.init if isinstance(node.init, tuple) else ()
        return f"{kind} v_{node.name}[{count}] = {{{', '.join(self.converted(node.type, item) for item in items)}}}"


def members(struct: ir.Struct) -> list[str]:
    """The path of every scalar of a struct, in order."""
    found: list[str] = []
    for member in struct.fields:
        inner = members(member.type) if isinstance(member.type, ir.Struct) else [""]
        places = itertools.product(*(range(d) for d in member.dims))
        found += [f".m_{member.name}{''.join(f'[{i}]' for i in place)}{path}" for place in places for path in inner]
    return found


def continued(node: ir.Assign) -> tuple[str, ir.Expr] | None:
    """What an assignment to a float adds to it (sign, value): `s += x`, `s = s + x`, `s = x + s`; None for any other."""
    if not is_float(node.target.type):
        return None
    value = strip_implicit(node.value)
    if node.op in ("+", "-"):
        added: tuple[str, ir.Expr] | None = ("" if node.op == "+" else "-", node.value)
    elif node.op is None and isinstance(value, ir.Binary) and value.op in ("+", "-"):
        left, right = strip_implicit(value.left), strip_implicit(value.right)
        if left == node.target:
            added = ("" if value.op == "+" else "-", value.right)
        else:
            added = ("", value.left) if right == node.target and value.op == "+" else None
    else:
        added = None
    return added if added is not None and node.target not in ir.walk(added[1]) else None


def _only_assign(block: ir.Block | None) -> ir.Assign | None:
    """The assignment to a float that is all of a block and continues no sum."""
    while block is not None and len(block.statements) == 1 and isinstance(block.statements[0], ir.Block):
        block = block.statements[0]
    only = block.statements[0] if block is not None and len(block.statements) == 1 else None
    if not isinstance(only, ir.Assign) or not is_float(only.target.type) or continued(only) is not None:
        return None
    return only
