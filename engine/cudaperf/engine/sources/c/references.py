"""Lower memory references: subscripts, members, dereferences, and the local pointers they go through.

A local pointer that never changes is an alias: loads through it name the array. A pointer that walks one array becomes
that array and an integer variable. Nothing else that pointers can do is modelled.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.conversions import usual
from cudaperf.engine.reason import ReasonCode
from cudaperf.engine.sources.c.c_types import TypeRefused, is_array, is_pointer, plain_name, pointee, take_apart
from cudaperf.engine.sources.c.enumerations import is_local
from cudaperf.engine.sources.c.expressions import (
    ADDRESS_OF,
    ASSIGN,
    BINARY,
    COMPOUND,
    DEREFERENCE,
    EXTENSION,
    INCREMENTS,
    POSTFIX,
    Expressions,
    at,
    inner,
    opcode,
    strip_text,
)
from cudaperf.engine.sources.c.scope import Binding, Pointer
from cudaperf.engine.sources.c.syntax import Syntax

ZERO = ir.IntConst(value=0)


@dataclass(frozen=True, slots=True)
class Ref:
    """An object: a variable, or `array[indices...].path...`."""

    name: str
    indices: tuple[ir.Expr, ...] = ()
    path: tuple[str | ir.Expr, ...] = ()


def is_zero(node: ir.Expr) -> bool:
    return isinstance(node, ir.IntConst) and node.value == 0 and node.span is None


def is_null(syntax: Syntax) -> bool:
    while syntax.kind in ("CSTYLE_CAST_EXPR", "PAREN_EXPR", "UNEXPOSED_EXPR") and len(syntax.children) == 1:
        syntax = syntax.children[0]
    return syntax.kind == "INTEGER_LITERAL"


def added(left: ir.Expr, op: str, right: ir.Expr) -> ir.Expr:
    """The sum or difference of two element offsets, computed as C does for pointers: at least 64 bits wide."""
    if is_zero(left) and op == "+":
        return right
    if is_zero(right):
        return left
    kinds = [ir.LONG if n.type is None or isinstance(n.type, ir.Struct) else n.type for n in (left, right)]
    common = usual(usual(kinds[0], kinds[1]), ir.LONG)
    return ir.Binary(op=op, left=as_type(left, common), right=as_type(right, common), type=common)


def as_type(node: ir.Expr, kind: ir.Scalar) -> ir.Expr:
    return node if node.type == kind else ir.Cast(type=kind, operand=node, implicit=True, span=node.span, near=node.near)


def unplaced(node: ir.Expr, near: ir.Span | None) -> ir.Expr:
    """The expression without texts: what it says stands elsewhere in the file, it is meant here."""
    changes: dict[str, Any] = {"span": None, "near": near}
    for f in fields(node):
        value = getattr(node, f.name)
        if isinstance(value, ir.Node):
            changes[f.name] = unplaced(value, near)  # type: ignore[arg-type]
        elif isinstance(value, tuple):
            changes[f.name] = tuple(unplaced(v, near) if isinstance(v, ir.Node) else v for v in value)  # type: ignore[arg-type]
    return replace(node, **changes)


class References(Expressions):
    """Objects and pointers."""

    def binding(self, syntax: Syntax) -> Binding:
        """The binding of a name, file-scope variables included."""
        declaration = syntax.cursor.referenced
        found = self.bindings.get(declaration.hash)
        if found is not None and found.refused is not None:
            self.refuse(syntax, f"{found.name}: {found.refused.message}", found.refused.code)
        if found is not None:
            return found
        if declaration.kind.name in ("FUNCTION_DECL", "OVERLOAD_CANDIDATE"):
            self.refuse(syntax, f"{syntax.spelling} is used as a function pointer")
        if declaration.kind.name != "VAR_DECL":
            self.refuse(syntax, f"{syntax.spelling} is not a variable that can be moved")
        return self.global_binding(syntax, declaration)

    def global_binding(self, syntax: Syntax, declaration: Any) -> Binding:
        raise NotImplementedError

    # --- objects -------------------------------------------------------------------------------------------------------

    def reference(self, syntax: Syntax) -> ir.Expr:
        """The value of a variable or memory reference."""
        declaration = syntax.cursor.referenced if syntax.kind == "DECL_REF_EXPR" else None
        if declaration is not None and declaration.kind.name == "ENUM_CONSTANT_DECL":
            if is_local(declaration.semantic_parent):
                strip_text(syntax)  # its name is not known elsewhere
            return ir.IntConst(value=declaration.enum_value, type=self.scalar(syntax), **at(syntax))
        if is_pointer(syntax.cursor.type) or is_array(syntax.cursor.type):
            self.refuse(syntax, "a pointer is used as a value")
        return self.load(self.object(syntax), syntax)

    def load(self, ref: Ref, syntax: Syntax) -> ir.Name | ir.Load:
        if not ref.indices and not ref.path:
            return ir.Name(id=ref.name, type=self.type(syntax), **at(syntax))
        return ir.Load(array=ref.name, indices=ref.indices, path=ref.path, type=self.type(syntax), **at(syntax))

    def object(self, syntax: Syntax) -> Ref:
        """The object that an lvalue names."""
        match syntax.kind:
            case "PAREN_EXPR" | "UNEXPOSED_EXPR":
                return self.object(syntax.children[0])
            case "DECL_REF_EXPR":
                return Ref(self.binding(syntax).name)
            case "ARRAY_SUBSCRIPT_EXPR":
                base, index = syntax.children
                if not is_pointer(base.cursor.type) and not is_array(base.cursor.type):
                    base, index = index, base
                return self.dereferenced(self.plus(self.pointer(base), "+", self.lower(index)))
            case "MEMBER_REF_EXPR":
                base = syntax.children[0]
                owner = self.dereferenced(self.pointer(base)) if is_pointer(base.cursor.type) else self.object(base)
                return Ref(owner.name, owner.indices, (*owner.path, syntax.spelling))
            case "UNARY_OPERATOR" if opcode(syntax) == DEREFERENCE:
                return self.dereferenced(self.pointer(syntax.children[0]))
            case "UNARY_OPERATOR" if opcode(syntax) == EXTENSION:
                return self.object(syntax.children[0])
            case "STRING_LITERAL":
                self.refuse(syntax, "a string is not supported")
            case "CALL_EXPR":
                self.refuse(syntax, "a member of a function's result: store the result in a variable first")
        return self.refuse(syntax, "this memory reference is not supported")

    @staticmethod
    def dereferenced(pointer: Pointer) -> Ref:
        return Ref(pointer.array, pointer.indices, pointer.path)

    @staticmethod
    def plus(pointer: Pointer, op: str, offset: ir.Expr) -> Pointer:
        return pointer.moved(added(pointer.last, op, offset))

    # --- pointers ------------------------------------------------------------------------------------------------------

    def pointer(self, syntax: Syntax) -> Pointer:
        """Where a pointer (or decaying array) expression points."""
        code = opcode(syntax)
        match syntax.kind:
            case "PAREN_EXPR":
                return self.pointer(syntax.children[0])
            case "UNEXPOSED_EXPR" if len(syntax.children) == 1:
                return self.converted(syntax)
            case "DECL_REF_EXPR":
                return self.named(syntax)
            case "ARRAY_SUBSCRIPT_EXPR" | "MEMBER_REF_EXPR" if is_array(syntax.cursor.type):
                return self.decayed(self.object(syntax))
            case "CSTYLE_CAST_EXPR":
                self.check_cast(syntax)
                return self.pointer(syntax.children[-1])
            case "BINARY_OPERATOR" if BINARY.get(code) in ("+", "-"):
                return self.moved(syntax, BINARY[code])
            case "UNARY_OPERATOR" if code == ADDRESS_OF:
                return self.address_of(syntax)
            case "UNARY_OPERATOR" if code in INCREMENTS:
                return self.stepped(syntax, code)
            case "CALL_EXPR":
                name = self.callee(syntax)
                if name not in self.context.definitions:
                    self.unknown_call(syntax, name)
        return self.refuse(syntax, "this pointer expression is not supported")

    def converted(self, syntax: Syntax) -> Pointer:
        child = syntax.children[0]
        if is_array(child.cursor.type):
            return self.decayed(self.object(child)) if child.kind != "DECL_REF_EXPR" else self.named(child)
        self.check_cast(syntax)
        return self.pointer(child)

    def check_cast(self, syntax: Syntax) -> None:
        """Only qualifiers may change between pointer types."""
        source, target = syntax.children[-1].cursor.type, syntax.cursor.type
        if not is_pointer(source):
            self.refuse(syntax, "an address made from a number" if not is_array(source) else "a pointer cast")
        kinds = [pointee(k) for k in (source, target)]
        if plain_name(kinds[0]) != plain_name(kinds[1]) and not self.same_rows(*kinds):
            made = inner(syntax)
            if made.kind == "CALL_EXPR":
                self.pointer(made)
            self.refuse(syntax, f"a pointer cast from {source.spelling} to {target.spelling} reinterprets memory")

    @staticmethod
    def same_rows(source: Any, target: Any) -> bool:
        """Whether both are rows of one element type of variable length (their lengths are the program's promise)."""
        return bool(is_array(source) and is_array(target)) and plain_name(source.element_type) == plain_name(
            target.element_type
        )

    def decayed(self, ref: Ref) -> Pointer:
        """The pointer to the first element of an array object."""
        if ref.path:
            return Pointer(ref.name, ref.indices, (*ref.path, ZERO))
        return Pointer(ref.name, (*ref.indices, ZERO))

    def named(self, syntax: Syntax) -> Pointer:
        bound = self.binding(syntax)
        if bound.kind == "array":
            return Pointer(bound.name, (ZERO,))
        if bound.kind == "scalar":
            self.refuse(syntax, f"{bound.name} is no array")
        if bound.pointer is None:
            self.refuse(syntax, f"{bound.name} does not point anywhere yet")
        if bound.kind == "alias":
            return Pointer(bound.pointer.array, tuple(unplaced(i, syntax.place) for i in bound.pointer.indices))
        counter = ir.Name(id=bound.counter, type=ir.LONG, near=syntax.place)
        return self.plus(bound.pointer, "+", counter)

    def moved(self, syntax: Syntax, op: str) -> Pointer:
        left, right = syntax.children
        if op == "+" and is_pointer(right.cursor.type):
            left, right = right, left
        return self.plus(self.pointer(left), op, self.lower(right))

    def address_of(self, syntax: Syntax) -> Pointer:
        ref = self.object(syntax.children[0])
        if (ref.path and isinstance(ref.path[-1], str)) or not (ref.indices or ref.path):
            self.refuse(syntax, "the address of a variable or member is taken")
        return Pointer(ref.name, ref.indices, ref.path)

    def stepped(self, syntax: Syntax, code: int) -> Pointer:
        """`p++` inside an expression: where p points, and the step as a statement."""
        counter = self.hoisted(syntax, after=code in POSTFIX)
        bound = self.binding(inner(syntax.children[0]))
        assert bound.pointer is not None
        return self.plus(bound.pointer, "+", counter)

    def compare_pointers(self, syntax: Syntax) -> ir.Expr:
        """`p < end` and `p - q` of pointers into one array."""
        op, sides = BINARY.get(opcode(syntax), ""), [inner(c) for c in syntax.children]
        if not all(is_pointer(c.cursor.type) for c in syntax.children) or any(is_null(s) for s in sides):
            self.refuse(syntax, "a pointer is compared with a number or NULL")
        left, right = (self.pointer(c) for c in syntax.children)
        if (left.array, left.indices[:-1], left.path[:-1]) != (right.array, right.indices[:-1], right.path[:-1]):
            self.refuse(syntax, "pointers into different arrays are compared", ReasonCode.ALIASING)
        kind = ir.LONG if op == "-" else ir.INT
        first, second = as_type(left.last, ir.LONG), as_type(right.last, ir.LONG)
        return ir.Binary(op=op, left=first, right=second, type=kind, near=syntax.place)

    # --- addresses passed to functions ---------------------------------------------------------------------------------

    def address(self, syntax: Syntax) -> ir.Expr:
        """A pointer argument of a helper."""
        const = pointee(syntax.cursor.type).is_const_qualified()
        target = inner(syntax)
        kind = self.element(syntax)
        if target.kind == "UNARY_OPERATOR" and opcode(target) == ADDRESS_OF and target.children[0].kind == "DECL_REF_EXPR":
            bound = self.binding(target.children[0])
            return ir.Address(array=bound.name, indices=(), const=const, type=kind, **at(syntax))
        pointer = self.pointer(syntax)
        if pointer.path:
            self.refuse(syntax, "a member array is passed to a function")
        full = self.rank(pointer.array)
        indices = pointer.indices + (ZERO,) * (full - len(pointer.indices))
        return ir.Address(array=pointer.array, indices=indices, const=const, type=kind, **at(syntax))

    def element(self, syntax: Syntax) -> ir.Type:
        try:
            return take_apart(syntax.cursor.type).element
        except TypeRefused as refused:
            self.refuse(syntax, refused.message, refused.code)

    def rank(self, array: str) -> int:
        return max((len(b.dims) for b in self.bindings.values() if b.name == array and b.kind == "array"), default=1)

    # --- assignments ---------------------------------------------------------------------------------------------------

    def assignment(self, syntax: Syntax) -> ir.Assign:
        """`x = e`, `x op= e`, `x++` and their kin, with the target as it is spelled."""
        code, target = opcode(syntax), syntax.children[0]
        if is_pointer(target.cursor.type):
            return self.pointer_assignment(syntax)
        place = self.load(self.object(inner(target)), inner(target))
        if syntax.kind == "UNARY_OPERATOR":
            return ir.Assign(target=place, op=INCREMENTS[code], value=ir.IntConst(value=1, near=syntax.place), **at(syntax))
        value = self.lower(syntax.children[1])
        return ir.Assign(target=place, op=None if code == ASSIGN else COMPOUND[code], value=value, **at(syntax))

    def pointer_assignment(self, syntax: Syntax) -> ir.Assign:
        """A walking pointer's step or new start, as a change of its integer variable."""
        name = inner(syntax.children[0])
        bound = self.binding(name) if name.kind == "DECL_REF_EXPR" else None
        if bound is None or bound.kind != "counter":
            self.refuse(syntax, "this pointer assignment is not supported")
        code = opcode(syntax)
        counter = ir.Name(id=bound.counter, type=ir.LONG, near=syntax.place)
        if syntax.kind == "UNARY_OPERATOR":
            return ir.Assign(target=counter, op=INCREMENTS[code], value=ir.IntConst(value=1, type=ir.LONG), near=syntax.place)
        if code != ASSIGN:
            step = as_type(self.lower(syntax.children[1]), ir.LONG)
            return ir.Assign(target=counter, op=COMPOUND[code], value=step, near=syntax.place)
        start = self.aim(bound, self.pointer(syntax.children[1]), syntax)
        return ir.Assign(target=counter, op=None, value=start, near=syntax.place)

    def aim(self, bound: Binding, pointer: Pointer, syntax: Syntax) -> ir.Expr:
        """Point a walking pointer somewhere: the new value of its variable."""
        if pointer.path or len(pointer.indices) != 1:
            self.refuse(syntax, f"{bound.name} walks through rows or members of a structure")
        if bound.pointer is not None and bound.pointer.array != pointer.array:
            self.refuse(syntax, f"{bound.name} points into {bound.pointer.array} and into {pointer.array}", ReasonCode.ALIASING)
        bound.pointer = Pointer(pointer.array, (ZERO,))
        return as_type(pointer.last, ir.LONG)
