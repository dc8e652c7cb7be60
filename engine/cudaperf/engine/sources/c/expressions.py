"""Lower C expressions to `loops.ir`: values here, memory references in `references`.

Side effects inside an expression (`a[k++] = x`) move to statements before or after it; where the order would change
(inside `&&`, `?:`, a loop's condition) they are refused.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NoReturn, TypedDict

from cudaperf.engine.loops import ir
from cudaperf.engine.reason import ReasonCode
from cudaperf.engine.sources.c.c_types import TypeRefused, is_array, is_pointer, lower_type
from cudaperf.engine.sources.c.enumerations import spelled
from cudaperf.engine.sources.c.parse import evaluate, library
from cudaperf.engine.sources.c.scope import BIT_BUILTINS, CLASSIFIERS, HEAP, PURE, Binding, UnitContext
from cudaperf.engine.sources.c.syntax import Syntax

BINARY = {3: "*", 4: "/", 5: "%", 6: "+", 7: "-", 8: "<<", 9: ">>", 11: "<", 12: ">", 13: "<=", 14: ">=", 15: "==", 16: "!="}
BINARY |= {17: "&", 18: "^", 19: "|", 20: "&&", 21: "||"}
ASSIGN, COMMA = 22, 33
COMPOUND = {24: "/", 23: "*", 25: "%", 26: "+", 27: "-", 28: "<<", 29: ">>", 30: "&", 31: "^", 32: "|"}
UNARY: dict[int, Any] = {7: "+", 8: "-", 9: "~", 10: "!"}
INCREMENTS = {1: "+", 2: "-", 3: "+", 4: "-"}
POSTFIX = (1, 2)
ADDRESS_OF, DEREFERENCE, EXTENSION = 5, 6, 13
INFINITIES = {"__builtin_inff": "INFINITY", "__builtin_inf": "INFINITY", "__builtin_huge_val": "HUGE_VAL"}
INFINITIES |= {"__builtin_huge_valf": "HUGE_VALF", "__builtin_nanf": "NAN", "__builtin_nan": "NAN"}


class Placed(TypedDict):
    span: ir.Span | None
    near: ir.Span | None


def at(syntax: Syntax) -> Placed:
    return {"span": syntax.span, "near": syntax.near}


def strip_text(node: Syntax) -> None:
    """A node and all around it lose their text, which no longer says what the tree does."""
    up: Syntax | None = node
    while up is not None and up.kind != "FUNCTION_DECL":
        if up.kind != "PARM_DECL" and up.span is not None:
            up.span, up.near = None, up.span
        up = up.parent


def inner(syntax: Syntax) -> Syntax:
    """The expression below parentheses and implicit conversions."""
    while syntax.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR") and len(syntax.children) == 1:
        syntax = syntax.children[0]
    return syntax


def opcode(syntax: Syntax) -> int:
    """libclang's number of a unary or binary operator; 0 for anything else."""
    if syntax.kind == "UNARY_OPERATOR":
        return int(library().clang_getCursorUnaryOperatorKind(syntax.cursor))
    if syntax.kind in ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR"):
        return int(library().clang_getCursorBinaryOperatorKind(syntax.cursor))
    return 0


def is_effect(syntax: Syntax) -> bool:
    """Whether the operator itself changes a variable (or, a comma, orders two expressions)."""
    code = opcode(syntax)
    if syntax.kind == "UNARY_OPERATOR":
        return code in INCREMENTS
    return code in (ASSIGN, COMMA) or code in COMPOUND


class Expressions:
    """State of one function's lowering, and its expressions."""

    def __init__(self, context: UnitContext) -> None:
        self.context = context
        self.bindings: dict[int, Binding] = {}
        self.before: list[ir.Stmt] = []
        self.after: list[ir.Stmt] = []
        self.may_hoist = False
        self.globals: dict[str, ir.Variable] = {}

    # --- provided by the other parts -----------------------------------------------------------------------------------

    def reference(self, syntax: Syntax) -> ir.Expr:
        raise NotImplementedError

    def address(self, syntax: Syntax) -> ir.Expr:
        raise NotImplementedError

    def compare_pointers(self, syntax: Syntax) -> ir.Expr:
        raise NotImplementedError

    def assignment(self, syntax: Syntax) -> ir.Assign:
        raise NotImplementedError

    # -------------------------------------------------------------------------------------------------------------------

    def refuse(self, syntax: Syntax | None, message: str, code: ReasonCode = ReasonCode.UNSUPPORTED) -> NoReturn:
        """Stop at a place; where a parameter is used whose type is outside the subset, that is the reason."""
        for node in syntax.walk() if syntax is not None and code == ReasonCode.UNSUPPORTED else ():
            named = node.cursor.referenced if node.kind == "DECL_REF_EXPR" else None
            bound = self.bindings.get(named.hash) if named is not None else None
            if bound is not None and bound.refused is not None:
                self.context.refuse(syntax, f"{bound.name}: {bound.refused.message}", bound.refused.code)
        self.context.refuse(syntax, message, code)

    def type(self, syntax: Syntax) -> ir.Type:
        try:
            return lower_type(syntax.cursor.type)
        except TypeRefused as refused:
            self.refuse(syntax, refused.message, refused.code)

    def scalar(self, syntax: Syntax) -> ir.Scalar:
        kind = self.type(syntax)
        if not isinstance(kind, ir.Scalar):
            self.refuse(syntax, f"{kind.name} is not a number here")
        return kind

    def lower(self, syntax: Syntax) -> ir.Expr:
        """The value of an expression."""
        match syntax.kind:
            case "PAREN_EXPR":
                return self.spanned(self.lower(syntax.children[0]), syntax)
            case "UNEXPOSED_EXPR":
                return self.conversion(syntax)
            case "INTEGER_LITERAL" | "CHARACTER_LITERAL" | "CXX_UNARY_EXPR":
                return self.constant(syntax)
            case "FLOATING_LITERAL":
                return self.floating(syntax)
            case "DECL_REF_EXPR" | "ARRAY_SUBSCRIPT_EXPR" | "MEMBER_REF_EXPR":
                return self.reference(syntax)
            case "UNARY_OPERATOR":
                return self.unary(syntax)
            case "BINARY_OPERATOR" | "COMPOUND_ASSIGNMENT_OPERATOR":
                return self.binary(syntax)
            case "CONDITIONAL_OPERATOR":
                return self.conditional(syntax)
            case "CSTYLE_CAST_EXPR":
                return self.cast(syntax)
            case "CALL_EXPR":
                return self.call(syntax)
        return self.refuse(syntax, f"{self.described(syntax)} is not supported")

    @staticmethod
    def described(syntax: Syntax) -> str:
        known = {
            "STRING_LITERAL": "a string",
            "INIT_LIST_EXPR": "an initialiser list here",
            "StmtExpr": "a statement expression",
        }
        known |= {"COMPOUND_LITERAL_EXPR": "a compound literal", "GNU_ADDR_LABEL_EXPR": "the address of a label"}
        return known.get(syntax.kind, "this expression")

    @staticmethod
    def spanned(node: ir.Expr, syntax: Syntax) -> ir.Expr:
        """The node with the text of the syntax around it, if it has none itself."""
        return replace(node, span=syntax.span) if node.span is None and syntax.span is not None else node

    def conversion(self, syntax: Syntax) -> ir.Expr:
        if len(syntax.children) != 1:
            value = evaluate(syntax.cursor)
            if isinstance(value, int):
                return ir.IntConst(value=value, type=self.scalar(syntax), **at(syntax))
            self.refuse(syntax, "this expression is not supported")
        if is_pointer(syntax.cursor.type):
            self.refuse(syntax, "a pointer is used as a value: compare, store and return elements instead")
        value_of = self.lower(syntax.children[0])
        kind = self.type(syntax)
        if value_of.type == kind or not isinstance(kind, ir.Scalar):
            return self.spanned(value_of, syntax)
        return ir.Cast(type=kind, operand=value_of, implicit=True, span=value_of.span or syntax.span, near=syntax.near)

    def constant(self, syntax: Syntax) -> ir.IntConst:
        value = evaluate(syntax.cursor)
        if not isinstance(value, int):
            self.refuse(syntax, "the size of a variable-length object is not a constant")
        return ir.IntConst(value=value, type=self.scalar(syntax), **at(syntax))

    def floating(self, syntax: Syntax) -> ir.FloatConst:
        kind = self.scalar(syntax)
        value = evaluate(syntax.cursor)
        assert isinstance(value, float)
        text = syntax.source.text[syntax.start : syntax.end].decode(errors="replace")
        if syntax.in_macro or not (text[:1].isdigit() or text[:1] == "."):
            text = repr(value) + ("f" if kind.bits == 32 else "")
        return ir.FloatConst(value=value, spelling=text, type=kind, **at(syntax))

    # --- operators -----------------------------------------------------------------------------------------------------

    def unary(self, syntax: Syntax) -> ir.Expr:
        code, operand = opcode(syntax), syntax.children[0]
        if code in INCREMENTS:
            return self.hoisted(syntax, after=code in POSTFIX)
        if code == DEREFERENCE:
            return self.reference(syntax)
        if code == EXTENSION:
            return self.spanned(self.lower(operand), syntax)
        if code not in UNARY:
            self.refuse(syntax, "an address is used as a value" if code == ADDRESS_OF else "complex numbers are not supported")
        return ir.Unary(op=UNARY[code], operand=self.lower(operand), type=self.scalar(syntax), **at(syntax))

    def hoisted(self, syntax: Syntax, after: bool) -> ir.Expr:
        """The variable of `x++`, `++x` or `x = ...` inside an expression; the change itself becomes a statement."""
        if not self.may_hoist:
            self.refuse(syntax, "a side effect inside a condition: write it as a statement of its own")
        change = self.assignment(syntax)
        (self.after if after else self.before).append(replace(change, span=None, near=syntax.place))
        return replace(change.target, span=None, near=syntax.place)

    def binary(self, syntax: Syntax) -> ir.Expr:
        code = opcode(syntax)
        if code == ASSIGN or code in COMPOUND:
            return self.hoisted(syntax, after=False)
        left, right = syntax.children
        if code == COMMA:
            return self.comma(syntax)
        if is_pointer(left.cursor.type) or is_pointer(right.cursor.type):
            return self.compare_pointers(syntax)
        if code not in BINARY:
            self.refuse(syntax, "this operator is not supported")
        is_logical = BINARY[code] in ("&&", "||")
        first = self.sequenced(left) if is_logical else self.lower(left)
        second = self.guarded(right) if is_logical else self.lower(right)
        return ir.Binary(op=BINARY[code], left=first, right=second, type=self.scalar(syntax), **at(syntax))

    def comma(self, syntax: Syntax) -> ir.Expr:
        if not self.may_hoist:
            self.refuse(syntax, "a comma expression inside a condition is not supported")
        left, right = syntax.children
        later = len(self.after)
        self.lower(left)
        self.before += self.after[later:]
        del self.after[later:]
        return replace(self.lower(right), span=None)

    def sequenced(self, syntax: Syntax) -> ir.Expr:
        """A value whose side effects end before the next operand: `x++` in it can't wait for the statement's end."""
        later = len(self.after)
        value = self.lower(syntax)
        if len(self.after) > later:
            self.refuse(syntax, "a side effect inside a condition: write it as a statement of its own")
        return value

    def guarded(self, syntax: Syntax) -> ir.Expr:
        """A value that is not always computed: side effects can't be moved out of it."""
        allowed, self.may_hoist = self.may_hoist, False
        value = self.lower(syntax)
        self.may_hoist = allowed
        return value

    def conditional(self, syntax: Syntax) -> ir.Expr:
        if syntax.near is not None or syntax.span is not None:
            classified = self.classifier(syntax)
            if classified is not None:
                return classified
        condition, then, other = syntax.children
        return ir.Select(
            condition=self.sequenced(condition),
            then=self.guarded(then),
            other=self.guarded(other),
            type=self.type(syntax),
            **at(syntax),
        )

    def classifier(self, syntax: Syntax) -> ir.Expr | None:
        """`isinf(x)` and friends: glibc writes them as a choice by size around a builtin."""
        use = syntax.source.use_at(syntax.start) if syntax.in_macro else -1
        if use < 0 or syntax.source.uses[use].name not in ("isnan", "isinf", "isfinite", "signbit"):
            return None
        calls = [s for s in syntax.walk() if s.kind == "CALL_EXPR" and s.spelling in CLASSIFIERS]
        return self.spanned(self.call(calls[-1]), syntax) if calls else None

    def cast(self, syntax: Syntax) -> ir.Expr:
        operand = syntax.children[-1]
        if is_pointer(syntax.cursor.type) or is_pointer(operand.cursor.type):
            self.refuse(syntax, "a pointer cast that reinterprets memory")
        value, kind = self.lower(operand), self.scalar(syntax)
        name = spelled(syntax.source.text, syntax.children)
        return ir.Cast(type=kind, operand=value, spelled=name, **at(syntax))

    # --- calls ---------------------------------------------------------------------------------------------------------

    def callee(self, syntax: Syntax) -> str:
        """The called function's name."""
        target = inner(syntax.children[0]) if syntax.children else syntax
        declaration = target.cursor.referenced
        if target.kind != "DECL_REF_EXPR" or declaration is None or declaration.kind.name != "FUNCTION_DECL":
            self.refuse(syntax, "a call through a function pointer")
        return target.spelling

    def call(self, syntax: Syntax) -> ir.Expr:
        name = self.callee(syntax)
        if name in INFINITIES:
            value = math.nan if "nan" in name else math.inf
            return ir.FloatConst(value=value, spelling=INFINITIES[name], type=self.scalar(syntax), **at(syntax))
        if name == "__builtin_expect":
            return self.lower(syntax.children[1])
        plain = CLASSIFIERS.get(name, name.removeprefix("__builtin_"))
        defined = name in self.context.definitions
        if not defined and (plain in PURE or name in BIT_BUILTINS):
            arguments = tuple(self.lower(a) for a in syntax.children[1:])
            called = name if name in BIT_BUILTINS else plain
            return ir.Call(name=called, args=arguments, type=self.scalar(syntax), **at(syntax))
        if not defined:
            self.unknown_call(syntax, name)
        return self.helper_call(syntax, name)

    def unknown_call(self, syntax: Syntax, name: str) -> NoReturn:
        if name in HEAP:
            self.refuse(syntax, f"{name} allocates or frees memory", ReasonCode.SIDE_EFFECT)
        if name in ("setjmp", "longjmp", "_setjmp"):
            self.refuse(syntax, f"{name} jumps between functions", ReasonCode.SIDE_EFFECT)
        if name.removesuffix("l") in PURE:
            self.refuse(syntax, f"{name} computes in long double")
        self.refuse(
            syntax, f"the effects of {name}() are not known: its definition is not in this file", ReasonCode.SIDE_EFFECT
        )

    def helper_call(self, syntax: Syntax, name: str) -> ir.Call:
        if name in self.context.active:
            self.refuse(syntax, f"{name} is recursive")
        if not name.isascii():
            self.refuse(syntax, f"nvcc allows no function {name} on the device: its name is not ASCII")
        assert self.context.lower_helper is not None
        function = self.context.helpers.get(name) or self.context.lower_helper(name, syntax)
        self.globals |= {v.name: v for v in function.globals}
        wanted = [p.type for p in self.context.definitions[name].get_arguments()]
        passed = syntax.children[1:]
        arguments = [self.argument(a, t) for a, t in zip(passed, [*wanted, *[None] * len(passed)], strict=False)]
        return ir.Call(name=name, args=tuple(arguments), type=function.returns, **at(syntax))

    def argument(self, syntax: Syntax, wanted: Any) -> ir.Expr:
        """An argument of the user's function; C++ wants numbers cast to enumeration types."""
        if is_pointer(syntax.cursor.type) or is_array(syntax.cursor.type):  # libclang's type of what becomes `double x[]`
            return self.address(syntax)
        value, bare = self.lower(syntax), inner(syntax)
        if wanted is None or wanted.get_canonical().kind.name != "ENUM" or not isinstance(value.type, ir.Scalar):
            return value
        if bare.kind == "DECL_REF_EXPR" and bare.cursor.referenced.kind.name == "ENUM_CONSTANT_DECL":
            return value
        strip_text(syntax)
        words = [w for w in str(wanted.spelling).split() if w not in ("const", "volatile")]
        return ir.Cast(type=replace(value.type, name=" ".join(words)), operand=value, near=syntax.place)
