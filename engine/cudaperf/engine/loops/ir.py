"""Typed expression and statement trees: what both front ends produce and what analyses and strategies read.

Nodes are immutable. A node that came from the user's file carries the `Span` of bytes it occupies there, so that emitted
code is the user's own text (names, macros, comments) wherever nothing had to change; a node without a span (inside a macro
expansion, or made by an analysis) is printed structurally by `loops.printer`.

Conventions
- `Load` is every memory reference, also as the target of an assignment; scalars are `Name`s.
- Array names are resolved: a local pointer `row = a + i*n` makes `row[k]` a Load of array `a` at `i*n + k` (its text is still
  `row[k]`, and the `PointerDecl` stays in the body).
- Implicit C conversions are explicit `Cast` nodes with `implicit=True`, so that `type` is always C's type.
- `*p` is index 0; `p->f` is index 0 with path ("f",).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Literal

Renamed = tuple[tuple[str, str], ...]
"""(the name in the trees and texts, the user's name) of what C++ reserves."""


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of byte offsets in the user's main file."""

    start: int
    end: int


# --- types -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scalar:
    """An arithmetic C type. `name` is the canonical C spelling ("unsigned char", "double", "_Bool")."""

    name: str
    kind: Literal["int", "float"]
    bits: int
    signed: bool = True


@dataclass(frozen=True, slots=True)
class Field:
    """A struct member; `dims` are constant array extents (empty for a plain member), `offset` is in bytes."""

    name: str
    type: Scalar | Struct
    offset: int
    dims: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct type. `name` is how emitted code spells it ("struct particle" or a typedef's name); `size` in bytes."""

    name: str
    fields: tuple[Field, ...]
    size: int


Type = Scalar | Struct

INT = Scalar("int", "int", 32)
UINT = Scalar("unsigned int", "int", 32, signed=False)
LONG = Scalar("long", "int", 64)
FLOAT = Scalar("float", "float", 32)
DOUBLE = Scalar("double", "float", 64)


# --- expressions -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Base of every tree node; `span` is None when the node has no text of its own in the main file."""

    span: Span | None = field(default=None, compare=False)
    # where to point when span is None: the macro invocation (or statement) the node came from
    near: Span | None = field(default=None, compare=False)

    @property
    def place(self) -> Span | None:
        return self.span or self.near


@dataclass(frozen=True, slots=True)
class IntConst(Node):
    value: int
    type: Scalar = INT


@dataclass(frozen=True, slots=True)
class FloatConst(Node):
    """`spelling` is a valid C literal of exactly this type ("0.25f")."""

    value: float
    spelling: str
    type: Scalar = DOUBLE


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A scalar (or whole-struct) variable: parameter, local, loop iterator or file-scope scalar."""

    id: str
    type: Type = INT


@dataclass(frozen=True, slots=True)
class Load(Node):
    """`array[indices...].path...`; `type` is the type of the accessed member.

    `indices` follow the array's declared dimensions (one index for a plain pointer). `path` holds member names and, for
    member arrays, index expressions: `p[i].pos[k]` is Load("p", (i,), ("pos", k)). A member of a struct variable that is
    not an array has no indices.
    """

    array: str
    indices: tuple[Expr, ...]
    path: tuple[str | Expr, ...] = ()
    type: Type = DOUBLE


@dataclass(frozen=True, slots=True)
class Address(Node):
    """`&a[i]`, or `a + i`, passed to a helper: array, element offset (flattened as the indices of a Load)."""

    array: str
    indices: tuple[Expr, ...]
    const: bool
    type: Type = DOUBLE


@dataclass(frozen=True, slots=True)
class Unary(Node):
    op: Literal["-", "+", "!", "~"]
    operand: Expr
    type: Scalar = INT


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """Arithmetic, bitwise, shift, comparison, logical; `op` is C's spelling. `&&`, `||` short-circuit."""

    op: str
    left: Expr
    right: Expr
    type: Scalar = INT


@dataclass(frozen=True, slots=True)
class Select(Node):
    condition: Expr
    then: Expr
    other: Expr
    type: Type = INT


@dataclass(frozen=True, slots=True)
class Spelled(Node):
    """A type's name that emitted text says as `type`: an enumeration's, which C++ converts no number to."""

    type: Scalar


@dataclass(frozen=True, slots=True)
class Cast(Node):
    type: Scalar
    operand: Expr
    implicit: bool = False
    spelled: Spelled | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A math.h function or one of `Unit.helpers`."""

    name: str
    args: tuple[Expr, ...]
    type: Type | None = DOUBLE


Expr = IntConst | FloatConst | Name | Load | Address | Unary | Binary | Select | Cast | Call


# --- statements --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assign(Node):
    """`target = value` (op None) or `target op= value`; `x++` is Assign(x, "+", 1)."""

    target: Name | Load
    op: str | None
    value: Expr


@dataclass(frozen=True, slots=True)
class Decl(Node):
    """A local variable. `dims` empty for scalars; `init` a single expression or a tuple for an array initialiser."""

    name: str
    type: Type
    dims: tuple[Expr, ...] = ()
    init: Expr | tuple[Expr, ...] | None = None
    spelled: Spelled | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PointerDecl(Node):
    """`T *name = array + offset` (kept for its text; Loads through `name` are already resolved to `array`)."""

    name: str
    array: str
    offset: Expr
    type: Type
    spelled: Spelled | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PointerSwap(Node):
    """Exchange of two pointer variables, as time loops do (`tmp = a; a = b; b = tmp;`)."""

    first: str
    second: str


@dataclass(frozen=True, slots=True)
class For(Node):
    """A canonical loop: `var` runs from `lower` while `var relation bound`, by the constant or invariant `step`.

    `step` is signed (`i--` is -1, `i *= 2` is not canonical). `declared` says whether the header declares the variable.
    `header` is the span of `for (...)` without the body. Neither bound nor step changes inside the body, and the body does
    not assign `var`; any other loop is a `While`.
    """

    var: str
    type: Scalar
    lower: Expr
    relation: Literal["<", "<=", ">", ">=", "!="]
    bound: Expr
    step: Expr
    body: Block
    declared: bool = True
    header: Span | None = field(default=None, compare=False)
    spelled: Spelled | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class While(Node):
    """Any other loop. `init` and `advance` come from a non-canonical `for`; `post_test` marks do-while."""

    condition: Expr
    body: Block
    init: tuple[Stmt, ...] = ()
    advance: tuple[Stmt, ...] = ()
    post_test: bool = False


@dataclass(frozen=True, slots=True)
class If(Node):
    condition: Expr
    then: Block
    other: Block | None = None


@dataclass(frozen=True, slots=True)
class Block(Node):
    statements: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Break(Node):
    pass


@dataclass(frozen=True, slots=True)
class Continue(Node):
    pass


@dataclass(frozen=True, slots=True)
class Return(Node):
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Evaluate(Node):
    """A call for its effects on its `Address` arguments."""

    call: Call


Stmt = Assign | Decl | PointerDecl | PointerSwap | For | While | If | Block | Break | Continue | Return | Evaluate


# --- functions and files -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """A parameter or a file-scope variable.

    For arrays `dims` holds one entry a dimension: an expression (constants, or scalar parameters for a VLA), or None for
    the unknown leading extent of a pointer (`double *a`, `double a[]`, `double (*a)[m]`). Scalars have `dims == ()`.
    `declaration` is the C text of the parameter as the user wrote it (typedefs and qualifiers kept).
    `value` is the constant initialiser of a `const`/never-written file-scope scalar, else None.
    """

    name: str
    type: Type
    dims: tuple[Expr | None, ...] = ()
    const: bool = False
    restrict: bool = False
    declaration: str = ""
    is_global: bool = False
    is_static: bool = False
    value: int | float | None = None

    @property
    def is_array(self) -> bool:
        return bool(self.dims)


@dataclass(frozen=True, slots=True)
class Function(Node):
    """`parameters` in C order; `globals` are the file-scope variables the body (or a helper) uses."""

    name: str
    parameters: tuple[Variable, ...]
    returns: Type | None
    body: Block
    globals: tuple[Variable, ...] = ()
    is_static: bool = False
    is_inline: bool = False

    def variable(self, name: str) -> Variable:
        return next(v for v in self.parameters + self.globals if v.name == name)


@dataclass(frozen=True, slots=True)
class Preamble:
    """What the user's text needs in order to compile elsewhere, each a complete C declaration or directive, in order.

    `macros`: `#define` lines (from the main file and user headers; system macros such as M_PI by value).
    `types`: typedefs, enums and structs. `helpers`: full texts of the called helper functions, without `static`/`inline`.
    `type_headers`: user headers (as written in the #include) that define types the function's signature names.
    `local_types`: names of signature types that the .c file itself defines.
    """

    macros: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()
    type_headers: tuple[str, ...] = ()
    local_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """One function to convert with everything around it.

    `text` is the main file's bytes exactly as on disk; where names that C++ reserves had to be `renamed`, those are in it, and
    `written` are the bytes on disk. `helpers` are the called user functions, callees first.
    `assumptions` are the texts of `// cudaperf: assume ...` comments in or above the function ("n >= 2"), and of assertions;
    `assumed_at` where each stands.
    `arguments` are the compiler arguments (-I, -D, -std) the file was parsed with.
    `nonnull` are the parameters that the function tests for NULL at its start: the trees hold for calls without NULL there.
    """

    path: str
    text: bytes
    function: Function
    helpers: tuple[Function, ...] = ()
    preamble: Preamble = Preamble()
    assumptions: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    nonnull: tuple[str, ...] = ()
    assumed_at: tuple[Span | None, ...] = ()
    renamed: Renamed = ()
    written: bytes | None = None


def embedded(unit: Unit) -> frozenset[str]:
    """File-scope constants that kernels take from the text of the preamble instead of as arguments.

    Scalars of known value, and `const` tables that a helper reads (a device function has no other way to them).
    """
    scalars = {v.name for v in unit.function.globals if not v.is_array and v.value is not None}
    tables = {v.name for h in unit.helpers for v in h.globals if v.is_array and v.const and defined(v.name, unit)}
    return frozenset(scalars | tables)


def defined(name: str, unit: Unit) -> bool:
    """Whether the preamble holds the definition of a file-scope table."""
    return any(re.search(rf"\b{name}\s*(\[[^\]]*\]\s*)+=", text) for text in unit.preamble.types)


# --- walking -----------------------------------------------------------------------------------------------------------


def children(node: object) -> Iterator[Node]:
    """The direct sub-nodes of a node, in source order."""
    for f in fields(node):  # type: ignore[arg-type]
        value = getattr(node, f.name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, Node))


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, parents first."""
    yield node
    for child in children(node):
        yield from walk(child)
