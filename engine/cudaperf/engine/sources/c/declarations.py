"""Lower local declarations: scalars, arrays, structs, and pointers by their role."""

from __future__ import annotations

from typing import Any

from cudaperf.engine.loops import ir
from cudaperf.engine.sources.c.c_types import Shape, TypeRefused, is_enumeration, take_apart
from cudaperf.engine.sources.c.enumerations import spelled
from cudaperf.engine.sources.c.expressions import at, strip_text
from cudaperf.engine.sources.c.parse import library
from cudaperf.engine.sources.c.pointer_roles import Roles
from cudaperf.engine.sources.c.references import ZERO, References, added, as_type
from cudaperf.engine.sources.c.scope import Binding, Pointer, UnitContext
from cudaperf.engine.sources.c.syntax import Syntax

TYPE_KINDS = ("TYPE_REF", "STRUCT_DECL", "ENUM_DECL", "UNION_DECL", "PARM_DECL", "UNEXPOSED_ATTR")


class Declarations(References):
    """Scopes and local variables."""

    def __init__(self, context: UnitContext) -> None:
        super().__init__(context)
        self.scopes: list[set[str]] = [set()]
        self.roles = Roles()
        self.depth = 0
        self.parameter_names: frozenset[str] = frozenset()

    def declare(self, syntax: Syntax, binding: Binding) -> None:
        """Bind a name; one that hides another of the function is refused, since trees know variables by name."""
        if any(binding.name in scope for scope in self.scopes):
            self.refuse(syntax, f"{binding.name} hides another variable of that name: give it a name of its own")
        self.scopes[-1].add(binding.name)
        self.bindings[int(syntax.cursor.hash)] = binding

    def shape(self, syntax: Syntax) -> Shape:
        try:
            return take_apart(syntax.cursor.type)
        except TypeRefused as refused:
            for call in (c for c in syntax.walk() if c.kind == "CALL_EXPR"):
                if self.callee(call) not in self.context.definitions:
                    self.call(call)  # fopen and its like: the effect is the better reason
            self.refuse(syntax, f"{syntax.spelling}: {refused.message}", refused.code)

    def declarations(self, syntax: Syntax) -> list[ir.Stmt]:
        """The declarations of one statement; only a single one keeps the statement's text."""
        found: list[ir.Stmt] = []
        variables = [c for c in syntax.children if c.kind == "VAR_DECL"]
        for child in syntax.children:
            if child.kind not in ("VAR_DECL", "STRUCT_DECL", "ENUM_DECL", "TYPEDEF_DECL"):
                self.refuse(child, "this declaration inside a function is not supported")
        for variable in variables:
            place = syntax if len(variables) == 1 and len(syntax.children) == 1 else None
            found += self.variable(variable, place or pointing(variable, syntax))
        return found

    def variable(self, syntax: Syntax, place: Syntax) -> list[ir.Stmt]:
        storage = syntax.cursor.storage_class.name
        shape = self.shape(syntax)
        if storage == "EXTERN" or (storage == "STATIC" and not shape.const):
            self.refuse(syntax, f"{syntax.spelling} keeps its value between calls ({storage.lower()})")
        if storage == "STATIC":
            place = pointing(syntax, place)
        init = self.initialiser(syntax)
        if is_enumeration(syntax.cursor.type) and named(syntax) is None:
            strip_text(syntax)
        if shape.pointer:
            return self.pointer_variable(syntax, shape, init, place)
        dims = tuple(self.dims(syntax, shape, init))
        value = self.initial_value(init, shape) if init is not None else None
        if any(d is None for d in dims):
            self.refuse(syntax, f"{syntax.spelling} has no size")
        self.declare(syntax, Binding(syntax.spelling, "array" if dims else "scalar", shape, dims))
        known = tuple(d for d in dims if d is not None)
        return [ir.Decl(name=syntax.spelling, type=shape.element, dims=known, init=value, spelled=named(syntax), **at(place))]

    @staticmethod
    def initialiser(syntax: Syntax) -> Syntax | None:
        found = library().clang_Cursor_getVarDeclInitializer(syntax.cursor)
        return syntax.children[-1] if syntax.children and not found.kind.is_invalid() else None

    def dims(self, syntax: Syntax, shape: Shape, init: Syntax | None) -> list[ir.Expr | None]:
        """The dimensions of an array (or of what a pointer points to), with the user's expressions where they are written."""
        written = [c for c in syntax.children if c is not init and c.kind not in TYPE_KINDS]
        written.sort(key=lambda c: c.start)
        if len(written) > len(shape.extents):
            self.refuse(syntax, f"{syntax.spelling}: this type is not supported")
        missing = len(shape.extents) - len(written)
        exprs: list[Syntax | None] = [*([None] * missing), *written]
        known = sum(e is not None for e in shape.extents)
        if missing and missing < len(shape.extents) and known == len(shape.extents):
            exprs = [None] * len(shape.extents)
        return [self.dim(e, extent) for e, extent in zip(exprs, shape.extents, strict=True)]

    def dim(self, syntax: Syntax | None, extent: int | None) -> ir.Expr | None:
        if extent is not None:
            place: Any = at(syntax) if syntax is not None else {}
            return ir.IntConst(value=extent, **place)
        return self.lower(syntax) if syntax is not None else None

    # --- initial values ------------------------------------------------------------------------------------------------

    def initial_value(self, init: Syntax, shape: Shape) -> ir.Expr | tuple[ir.Expr, ...]:
        if init.kind != "INIT_LIST_EXPR":
            if shape.extents:
                self.refuse(init, "an array initialised by a string")
            return self.lower(init)
        if isinstance(shape.element, ir.Struct) and shape.extents:
            self.refuse(init, "an array of structures with an initialiser")
        extents = tuple(e for e in shape.extents if e is not None)
        values = self.listed(init, extents) if extents else [self.lower(c) for c in init.children]
        return tuple(values) if extents or isinstance(shape.element, ir.Struct) else values[0]

    def listed(self, init: Syntax, extents: tuple[int, ...]) -> list[ir.Expr]:
        """A (nested) list in row-major order, padded with zeros as C does."""
        if init.kind != "INIT_LIST_EXPR":
            self.refuse(init, "an initialiser without braces of its own")
        size = 1
        for extent in extents:
            size *= extent
        values: list[ir.Expr] = []
        for child in init.children:
            if child.kind not in ("INIT_LIST_EXPR",) and len(extents) > 1:
                self.refuse(child, "an initialiser without braces of its own")
            if child.kind == "UNEXPOSED_EXPR" and len(child.children) > 1:
                self.refuse(child, "a designated initialiser is not supported")
            values += self.listed(child, extents[1:]) if len(extents) > 1 else [self.lower(child)]
        if len(values) > size:
            self.refuse(init, "an initialiser with designators is not supported")
        return values + [ir.IntConst(value=0)] * (size - len(values))

    # --- pointers ------------------------------------------------------------------------------------------------------

    def pointer_variable(self, syntax: Syntax, shape: Shape, init: Syntax | None, place: Syntax) -> list[ir.Stmt]:
        name, hashed = syntax.spelling, int(syntax.cursor.hash)
        if hashed in self.roles.walking:
            return self.walking(syntax, shape, init, place)
        if init is None:
            self.declare(syntax, Binding(name, "alias", shape))
            return []
        pointer = self.pointer(init)
        partial = len(pointer.indices) != self.rank(pointer.array)
        if pointer.path or (partial and not shape.extents):
            self.refuse(syntax, f"{name} points to a member or a row of a structure")
        kind = "array" if hashed in self.roles.swapped else "alias"
        if kind == "alias" and not self.depth and len(self.context.active) == 1:
            unnamed(syntax)
        dims: tuple[ir.Expr | None, ...] = (None, *self.dims(syntax, shape, init))
        self.declare(syntax, Binding(name, "array" if kind == "array" else "alias", shape, dims, pointer))
        offset = self.flattened(pointer)
        return [
            ir.PointerDecl(
                name=name, array=pointer.array, offset=offset, type=shape.element, spelled=named(syntax), **at(place)
            )
        ]

    def flattened(self, pointer: Pointer) -> ir.Expr:
        """The offset in elements from the array's start."""
        dims = next((b.dims for b in self.bindings.values() if b.name == pointer.array and b.kind == "array"), (None,))
        indices = pointer.indices + (ZERO,) * (len(dims) - len(pointer.indices))
        offset = indices[0]
        for index, size in zip(indices[1:], dims[1:], strict=False):
            assert size is not None
            row = ir.Binary(op="*", left=as_type(offset, ir.LONG), right=as_type(size, ir.LONG), type=ir.LONG)
            offset = added(ZERO if offset is ZERO else row, "+", index)
        return offset

    def walking(self, syntax: Syntax, shape: Shape, init: Syntax | None, place: Syntax) -> list[ir.Stmt]:
        """A pointer that changes: an integer variable that counts elements from the start of its array."""
        bound = Binding(syntax.spelling, "counter", shape, counter=self.fresh(f"{syntax.spelling}_at"))
        start = self.aim(bound, self.pointer(init), syntax) if init is not None else None
        self.declare(syntax, bound)
        return [ir.Decl(name=bound.counter, type=ir.LONG, init=start, near=place.place)]

    def fresh(self, name: str) -> str:
        taken = {b.name for b in self.bindings.values()} | {b.counter for b in self.bindings.values()}
        while name in taken or any(name in scope for scope in self.scopes):
            name += "_"
        return name


def named(syntax: Syntax) -> ir.Spelled | None:
    return spelled(syntax.source.text, syntax.children)


def unnamed(syntax: Syntax) -> None:
    """What goes through a pointer that is set before the loops loses its text: kernels name the array alone."""
    function = syntax
    while function.parent is not None:
        function = function.parent
    name = syntax.cursor
    for node in function.walk():
        if node.kind == "DECL_REF_EXPR" and node.cursor.referenced == name:
            strip_text(node)


def pointing(syntax: Syntax, place: Syntax) -> Syntax:
    """A place without text, at another node."""
    return Syntax(syntax.cursor, syntax.kind, syntax.start, syntax.end, syntax.source, near=place.place)
