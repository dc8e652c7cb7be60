"""Sort a function's pointer variables before it is lowered: which stay, which walk, which are exchanged.

Nodes that mention a walking pointer lose their text, and so does everything around them: that text says `*p++`, while the
tree says which element of which array.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cudaperf.engine.sources.c.c_types import is_pointer
from cudaperf.engine.sources.c.expressions import ASSIGN, COMPOUND, INCREMENTS, inner, opcode, strip_text
from cudaperf.engine.sources.c.syntax import Syntax


@dataclass(frozen=True, slots=True)
class Rotation:
    """`tmp = a; a = b; b = tmp;` and its like for more pointers: statements of a block, in effect these exchanges in order.

    `saved` are the variables declared on the way; they hold nothing afterwards that is modelled.
    """

    length: int
    exchanges: tuple[tuple[str, str], ...]
    saved: tuple[Syntax, ...]


@dataclass(slots=True)
class Roles:
    """Declarations by hash; rotations by the identity of their first statement. `heap`: allocated and freed here."""

    walking: set[int] = field(default_factory=set)
    swapped: set[int] = field(default_factory=set)
    rotations: dict[int, Rotation] = field(default_factory=dict)
    heap: set[int] = field(default_factory=set)


def pointer_roles(root: Syntax) -> Roles:
    """The roles of the pointers in a function."""
    roles, exempt = Roles(), set[int]()
    nodes = root.walk()
    for block in nodes:
        if block.kind == "COMPOUND_STMT":
            for index in range(len(block.children) - 2):
                if id(block.children[index]) not in exempt:
                    _find_rotation(block.children[index:], roles, exempt)
    roles.heap = _heap(root, nodes, exempt) - roles.swapped
    for node in nodes:
        if id(node) not in exempt and is_pointer_change(node):
            roles.walking.add(inner(node.children[0]).cursor.referenced.hash)
    for node in nodes:
        if declared_by(node) in roles.walking:
            strip_text(node)
    return roles


def is_pointer_change(node: Syntax) -> bool:
    """Whether an operator changes a pointer variable."""
    code = opcode(node)
    changes = code in INCREMENTS if node.kind == "UNARY_OPERATOR" else code == ASSIGN or code in COMPOUND
    return changes and is_pointer(node.children[0].cursor.type) and inner(node.children[0]).kind == "DECL_REF_EXPR"


def declared_by(node: Syntax) -> int | None:
    if node.kind in ("VAR_DECL", "PARM_DECL"):
        return int(node.cursor.hash)
    if node.kind == "DECL_REF_EXPR" and node.cursor.referenced is not None:
        return int(node.cursor.referenced.hash)
    return None


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


def allocation(syntax: Syntax) -> Syntax | None:
    """The call of malloc or calloc that an expression is, below casts."""
    while syntax.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR", "CSTYLE_CAST_EXPR") and syntax.children:
        syntax = syntax.children[-1]
    is_call = syntax.kind == "CALL_EXPR" and syntax.spelling in ("malloc", "calloc") and not syntax.in_macro
    return syntax if is_call and syntax.cursor.referenced.get_definition() is None else None


def freed(call: Syntax) -> int | None:
    """The variable that a call of free is given."""
    if call.kind != "CALL_EXPR" or call.spelling != "free" or len(call.children) != 2:
        return None
    return declared_by(inner(call.children[1])) or None


def _heap(root: Syntax, nodes: list[Syntax], exempt: set[int]) -> set[int]:
    """Variables set once, by an allocation at the function's top level, and freed; static functions are printed as text."""
    if root.cursor.storage_class.name == "STATIC" or not root.children:
        return set()
    found: dict[int, int | None] = {}
    again: set[int] = set()
    for statement in root.children[-1].children:
        for variable in statement.children if statement.kind == "DECL_STMT" else ():
            if variable.kind == "VAR_DECL" and variable.children and allocation(variable.children[-1]):
                found[int(variable.cursor.hash)] = None
        if opcode(statement) == ASSIGN and allocation(statement.children[1]):
            name = declared_by(inner(statement.children[0]))
            if name is not None and is_local(inner(statement.children[0])):
                again |= {name} & found.keys()
                found[name] = id(statement)
    changes = [n for n in nodes if is_pointer_change(n)]
    for name, own in list(found.items()):
        others = [n for n in changes if declared_by(inner(n.children[0])) == name and id(n) != own]
        if others or name in again or name not in {freed(n) for n in nodes if n.kind == "CALL_EXPR"}:
            del found[name]
    exempt |= {own for own in found.values() if own is not None}
    return set(found)


def is_local(reference: Syntax) -> bool:
    """Whether a name is a variable of the function itself."""
    declaration = reference.cursor.referenced
    return bool(declaration.kind.name == "VAR_DECL" and declaration.semantic_parent.kind.name == "FUNCTION_DECL")


def _find_rotation(statements: list[Syntax], roles: Roles, exempt: set[int]) -> None:
    """The shortest run of copies from the first statement on that only exchanges pointers."""
    copies: list[tuple[Syntax | None, Syntax, Syntax]] = []
    for statement in statements:
        copy = _assigned(statement)
        if copy is None:
            return
        copies.append(copy)
        holds = _permuted([(_name(target), _name(source)) for _, target, source in copies])
        if len(copies) > 2 and holds:
            names = {_name(n): n for _, *nodes in copies for n in nodes if n.kind == "DECL_REF_EXPR"}
            pairs = tuple((names[a].spelling, names[b].spelling) for a, b in _exchanges(holds))
            saved = tuple(declared for declared, _, _ in copies if declared is not None)
            roles.rotations[id(statements[0])] = Rotation(len(copies), pairs, saved)
            roles.swapped |= set(holds)
            exempt |= {id(s) for s in statements[: len(copies)]}
            return


def _name(node: Syntax) -> int:
    found = declared_by(node)
    assert found is not None
    return found


def _permuted(copies: list[tuple[int, int]]) -> dict[int, int]:
    """Whose pointer each variable ends up with, if the copies move a set of pointers around; else nothing.

    Variables that are set before they are read only save a pointer for later.
    """
    state: dict[int, int] = {}
    saving: set[int] = set()
    for target, source in copies:
        state.setdefault(source, source)
        saving |= {target} - state.keys()
        state[target] = state[source]
    moved = {name: held for name, held in state.items() if name not in saving}
    same = set(moved) == set(moved.values()) and all(name != held for name, held in moved.items())
    return moved if same and saving else {}


def _exchanges(wanted: dict[int, int]) -> list[tuple[int, int]]:
    """Exchanges of two that together give each variable the pointer it ends up with."""
    current, found = {name: name for name in wanted}, []
    for name, held in wanted.items():
        if current[name] != held:
            other = next(n for n, now in current.items() if now == held)
            found.append((name, other))
            current[name], current[other] = current[other], current[name]
    return found
