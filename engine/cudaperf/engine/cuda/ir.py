"""What bodies of CUDA functions are lowered to: expressions and structured statements, each with its byte range.

Only what the analyses look at is kept apart; everything else is `Opaque` with the expressions found inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Axis = Literal["x", "y", "z"]


@dataclass(slots=True, eq=False)
class Node:
    """`start` and `end` are byte offsets. `all` is for `walk`."""

    start: int
    end: int
    all: Sequence[Expr | Stmt] | None = field(default=None, init=False, repr=False)


@dataclass(slots=True, eq=False)
class CType:
    """A declared type. `size` is the bytes of one element (None: not known); `pointers` counts the stars."""

    name: str
    size: int | None
    pointers: int = 0
    const: bool = False
    restrict: bool = False
    reference: bool = False

    @property
    def integer(self) -> bool:
        return not self.pointers and self.name in INTEGERS

    @property
    def floating(self) -> bool:
        return not self.pointers and self.name in FLOATS


INTEGERS = frozenset(
    """char|signed char|unsigned char|short|unsigned short|int|unsigned|unsigned int|long|unsigned long|long long
    |unsigned long long|bool|size_t|ptrdiff_t|int8_t|uint8_t|int16_t|uint16_t|int32_t|uint32_t|int64_t|uint64_t|uint|ushort
    |uchar|ulong|auto""".replace("\n    ", "").split("|")
)
FLOATS = frozenset(("float", "double", "half", "__half", "__nv_bfloat16"))


# --- expressions -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Number(Node):
    """A literal; `kind` is "int", "float" (with the suffix f) or "double"."""

    value: int | float
    kind: Literal["int", "float", "double"] = "int"


@dataclass(slots=True, eq=False)
class Name(Node):
    id: str


@dataclass(slots=True, eq=False)
class Builtin(Node):
    """threadIdx, blockIdx, blockDim or gridDim along an axis."""

    id: str
    axis: Axis


@dataclass(slots=True, eq=False)
class Unary(Node):
    op: str
    operand: Expr


@dataclass(slots=True, eq=False)
class Binary(Node):
    op: str
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class Conditional(Node):
    condition: Expr
    then: Expr
    orelse: Expr


@dataclass(slots=True, eq=False)
class Assign(Node):
    """`op` is the operator of a compound assignment ("+" for +=, ++), None for a plain one; `after` for x++ and x--."""

    target: Expr
    op: str | None
    value: Expr
    after: bool = False


@dataclass(slots=True, eq=False)
class Index(Node):
    """`base[index]`, also `*base` (index 0)."""

    base: Expr
    index: Expr


@dataclass(slots=True, eq=False)
class Member(Node):
    base: Expr
    field: str


@dataclass(slots=True, eq=False)
class AddressOf(Node):
    target: Expr


@dataclass(slots=True, eq=False)
class Cast(Node):
    type: CType
    value: Expr


@dataclass(slots=True, eq=False)
class Call(Node):
    """`name` is the function's own (namespaces and template arguments left out); `receiver` the object of a method."""

    name: str
    args: list[Expr]
    templates: list[Expr] = field(default_factory=list)
    receiver: Expr | None = None


@dataclass(slots=True, eq=False)
class Launch(Node):
    """`kernel<<<grid, block, shared, stream>>>(args)`; `config` holds what stands between the brackets."""

    kernel: str
    config: list[Expr]
    args: list[Expr]
    templates: list[Expr] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Comma(Node):
    parts: list[Expr]


@dataclass(slots=True, eq=False)
class Opaque(Node):
    """Something else; `parts` are the expressions and statements inside it."""

    parts: list[Expr | Stmt]


Expr = (
    Number
    | Name
    | Builtin
    | Unary
    | Binary
    | Conditional
    | Assign
    | Index
    | Member
    | AddressOf
    | Cast
    | Call
    | Launch
    | Comma
    | Opaque
)


# --- statements ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Declare(Node):
    """One declarator. `dims` of an array, outermost first (None: `[]`); `shared` for __shared__, `extern` with it for dynamic
    shared memory."""

    name: str
    type: CType
    dims: list[Expr | None]
    init: Expr | None
    shared: bool = False
    extern: bool = False
    static: bool = False


@dataclass(slots=True, eq=False)
class Evaluate(Node):
    value: Expr


@dataclass(slots=True, eq=False, weakref_slot=True)
class If(Node):
    condition: Expr
    then: Block
    orelse: Block | None


@dataclass(slots=True, eq=False, weakref_slot=True)
class Loop(Node):
    """for, while and do; `step` is evaluated after the body. A do loop tests its condition at the end."""

    kind: Literal["for", "while", "do"]
    init: Block | None
    condition: Expr | None
    step: Expr | None
    body: Block


@dataclass(slots=True, eq=False)
class Switch(Node):
    """`cases` are (value or None for default, statements)."""

    value: Expr
    cases: list[tuple[Expr | None, Block]]


@dataclass(slots=True, eq=False)
class Return(Node):
    value: Expr | None


@dataclass(slots=True, eq=False)
class Jump(Node):
    kind: Literal["break", "continue", "goto"]


@dataclass(slots=True, eq=False)
class Block(Node):
    body: list[Stmt]


Stmt = Declare | Evaluate | If | Loop | Switch | Return | Jump | Block | Opaque


def _conditional(node: Conditional) -> list[Expr | Stmt]:
    return [node.condition, node.then, node.orelse]


def _declare(node: Declare) -> list[Expr | Stmt]:
    found: list[Expr | Stmt] = [d for d in node.dims if d is not None]
    return [*found, node.init] if node.init is not None else found


def _if(node: If) -> list[Expr | Stmt]:
    return [node.condition, node.then, node.orelse] if node.orelse is not None else [node.condition, node.then]


def _loop(node: Loop) -> list[Expr | Stmt]:
    return [n for n in (node.init, node.condition, node.step, node.body) if n is not None]


def _switch(node: Switch) -> list[Expr | Stmt]:
    return [node.value, *(n for case in node.cases for n in case if n is not None)]


_CHILDREN: dict[type[Node], Callable[[Any], Sequence[Expr | Stmt]]] = {
    Unary: lambda n: (n.operand,),
    AddressOf: lambda n: (n.target,),
    Cast: lambda n: (n.value,),
    Member: lambda n: (n.base,),
    Evaluate: lambda n: (n.value,),
    Binary: lambda n: (n.left, n.right),
    Index: lambda n: (n.base, n.index),
    Assign: lambda n: (n.target, n.value),
    Conditional: _conditional,
    Call: lambda n: (n.receiver, *n.args) if n.receiver is not None else n.args,
    Launch: lambda n: (*n.config, *n.args),
    Comma: lambda n: n.parts,
    Opaque: lambda n: n.parts,
    Declare: _declare,
    If: _if,
    Loop: _loop,
    Switch: _switch,
    Return: lambda n: (n.value,) if n.value is not None else (),
    Block: lambda n: n.body,
}


def children(node: Expr | Stmt) -> Sequence[Expr | Stmt]:
    """The nodes directly inside a node, in the order of the text."""
    inside = _CHILDREN.get(type(node))
    return inside(node) if inside is not None else ()


def walk(node: Expr | Stmt) -> Sequence[Expr | Stmt]:
    """A node and everything inside it, in the order of the text; kept with the node, as rules ask again and again."""
    if node.all is None:
        found: list[Expr | Stmt] = []
        waiting, table = [node], _CHILDREN
        while waiting:
            one = waiting.pop()
            found.append(one)
            inside = table.get(type(one))
            if inside is not None:
                waiting += inside(one)[::-1]
        node.all = found
    return node.all
