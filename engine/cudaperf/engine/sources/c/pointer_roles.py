"""Sort a function's pointer variables before it is lowered: which stay, which walk, which are exchanged.

Nodes that mention a walking pointer lose their text, and so does everything around them: that text says `*p++`, while the
tree says which element of which array.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cudaperf.engine.sources.c.c_types import is_pointer
from cudaperf.engine.sources.c.expressions import ASSIGN, COMPOUND, INCREMENTS, inner, opcode
from cudaperf.engine.sources.c.syntax import Syntax


@dataclass(frozen=True, slots=True)
class Swap:
    """`tmp = a; a = b; b = tmp;`: three statements of a block, from the one at `index` on."""

    first: Syntax
    second: Syntax


@dataclass(slots=True)
class Roles:
    """Declarations by hash; swaps by the identity of their first statement."""

    walking: set[int] = field(default_factory=set)
    swapped: set[int] = field(default_factory=set)
    swaps: dict[int, Swap] = field(default_factory=dict)


def pointer_roles(root: Syntax) -> Roles:
    """The roles of the pointers in a function."""
    roles, exempt = Roles(), set[int]()
    nodes = root.walk()
    for block in nodes:
        if block.kind == "COMPOUND_STMT":
            for index in range(len(block.children) - 2):
                _find_swap(block.children[index : index + 3], roles, exempt)
    for node in nodes:
        if id(node) not in exempt and is_pointer_change(node):
            roles.walking.add(inner(node.children[0]).cursor.referenced.hash)
    for node in nodes:
        if _declared(node) in roles.walking:
            _strip(node)
    return roles


def is_pointer_change(node: Syntax) -> bool:
    """Whether an operator changes a pointer variable."""
    code = opcode(node)
    changes = code in INCREMENTS if node.kind == "UNARY_OPERATOR" else code == ASSIGN or code in COMPOUND
    return changes and is_pointer(node.children[0].cursor.type) and inner(node.children[0]).kind == "DECL_REF_EXPR"


def _declared(node: Syntax) -> int | None:
    if node.kind in ("VAR_DECL", "PARM_DECL"):
        return int(node.cursor.hash)
    if node.kind == "DECL_REF_EXPR" and node.cursor.referenced is not None:
        return int(node.cursor.referenced.hash)
    return None


def _strip(node: Syntax) -> None:
    up: Syntax | None = node
    while up is not None and up.kind != "FUNCTION_DECL":
        if up.kind != "PARM_DECL" and up.span is not None:
            up.span, up.near = None, up.span
        up = up.parent


def _assigned(statement: Syntax) -> tuple[Syntax | None, Syntax, Syntax] | None:
    """(declaration or None, target, source) of `p = q;` or `T *p = q;` for pointers."""
    if statement.kind == "DECL_STMT" and len(statement.children) == 1:
        variable = statement.children[0]
        if variable.children and is_pointer(variable.cursor.type):
            source = inner(variable.children[-1])
            return (variable, variable, source) if source.kind == "DECL_REF_EXPR" else None
    if opcode(statement) == ASSIGN and is_pointer(statement.cursor.type):
        target, source = (inner(c) for c in statement.children)
        if target.kind == source.kind == "DECL_REF_EXPR":
            return None, target, source
    return None


def _find_swap(statements: list[Syntax], roles: Roles, exempt: set[int]) -> None:
    found = [_assigned(s) for s in statements]
    if None in found:
        return
    (_, temporary, a), (_, target, b), (_, last, saved) = (f for f in found if f is not None)
    names = [_declared(n) for n in (temporary, a, target, b, last, saved)]
    if names[0] == names[5] and names[1] == names[2] and names[3] == names[4] and None not in names:
        roles.swaps[id(statements[0])] = Swap(a, b)
        roles.swapped |= {int(a.cursor.referenced.hash), int(b.cursor.referenced.hash)}
        exempt |= {id(s) for s in statements}
