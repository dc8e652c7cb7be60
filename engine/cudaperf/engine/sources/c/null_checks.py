"""Tests for NULL at a function's top level: `if (!a || n <= 0) return -1;`.

A test of a parameter goes, and its name is noted: emitted files leave a call with such a pointer to the user's own function.
A test of what the function allocated goes too: emitted files have their own way out when memory is short. What else such a
condition says stays.
"""

from __future__ import annotations

from functools import reduce

from cudaperf.engine.loops import ir
from cudaperf.engine.sources.c.c_types import is_pointer
from cudaperf.engine.sources.c.expressions import BINARY, UNARY, inner, opcode
from cudaperf.engine.sources.c.memory import Memory
from cudaperf.engine.sources.c.pointer_roles import declared_by
from cudaperf.engine.sources.c.references import is_null
from cudaperf.engine.sources.c.syntax import Syntax

EARLY = ("DECL_STMT", "IF_STMT", "NULL_STMT")


class NullChecks(Memory):
    """`if` statements that test pointers."""

    def if_statement(self, syntax: Syntax) -> list[ir.Stmt]:
        tests = disjuncts(syntax.children[0])
        kept = [t for t in tests if not self.is_checked(t, syntax)]
        if len(kept) == len(tests) or len(syntax.children) != 2 or not leaves(syntax.children[1]):
            return super().if_statement(syntax)
        gone = [p for t in tests if t not in kept and (p := tested_for_null(t)) is not None]
        names = {p.spelling for p in gone if declared_by(p) not in self.roles.heap}
        self.context.nonnull += [n for n in sorted(names) if n not in self.context.nonnull]
        self.assume_counts([p for p in gone if declared_by(p) in self.roles.heap])
        if not kept:
            return []
        before, conditions, after = zip(*(self.condition(t) for t in kept), strict=True)
        if any(before) or any(after):
            self.refuse(syntax.children[0], "a side effect in a condition that tests pointers")
        both = reduce(lambda a, b: ir.Binary(op="||", left=a, right=b, near=syntax.place), conditions)
        return [ir.If(condition=both, then=self.block(syntax.children[1]), near=syntax.place)]

    def is_checked(self, test: Syntax, statement: Syntax) -> bool:
        """Whether the outcome is known: the pointer is a parameter's, before anything happened, or allocated here."""
        pointer, block = tested_for_null(test), statement.parent
        is_top = block is not None and block.parent is not None and block.parent.kind == "FUNCTION_DECL"
        if pointer is None or block is None or not is_top or len(self.context.active) != 1:
            return False
        name = declared_by(pointer)
        if name in self.roles.heap:
            return True
        earlier = block.children[: block.children.index(statement)]
        moves = name in self.roles.walking or name in self.roles.swapped
        is_early = all((s.kind in EARLY and not (moves and s.kind == "IF_STMT")) or s.in_macro for s in earlier)
        is_static = block.parent is not None and block.parent.cursor.storage_class.name == "STATIC"
        return pointer.cursor.referenced.kind.name == "PARM_DECL" and is_early and not is_static

    def assume_counts(self, pointers: list[Syntax]) -> None:
        """An allocation of a negative count fails: what the original does then is not what the trees say."""
        for pointer in pointers:
            count = self.binding(pointer).dims[0]
            names = [n for n in ir.walk(count) if isinstance(n, ir.Name)] if count is not None else []
            text = arithmetic(count) if count is not None else None
            is_signed = any(isinstance(n.type, ir.Scalar) and n.type.signed for n in names)
            if text is not None and is_signed and all(n.id in self.parameter_names for n in names):
                self.context.assumptions.append((f"{text} >= 0", pointer.place))


def arithmetic(node: ir.Expr) -> str | None:
    """A sum or product of names and numbers as text; None for anything else."""
    match node:
        case ir.Cast():
            return arithmetic(node.operand)
        case ir.IntConst():
            return str(node.value)
        case ir.Name():
            return node.id
        case ir.Binary(op="+" | "-" | "*"):
            left, right = arithmetic(node.left), arithmetic(node.right)
            if left is None or right is None:
                return None
            return f"({left} {node.op} {right})" if node.op != "*" else f"{left} * {right}"
    return None


def disjuncts(condition: Syntax) -> list[Syntax]:
    top = inner(condition)
    if BINARY.get(opcode(top)) == "||" and top.kind == "BINARY_OPERATOR":
        return [d for c in top.children for d in disjuncts(c)]
    return [condition]


def tested_for_null(test: Syntax) -> Syntax | None:
    """The variable of `!p`, `p == NULL` or `NULL == p`."""
    top = inner(test)
    if top.kind == "UNARY_OPERATOR" and UNARY.get(opcode(top)) == "!":
        pointer = inner(top.children[0])
    elif top.kind == "BINARY_OPERATOR" and BINARY.get(opcode(top)) == "==" and any(map(is_null, top.children)):
        pointer = inner(next((c for c in top.children if not is_null(c)), top))
    else:
        return None
    return pointer if pointer.kind == "DECL_REF_EXPR" and is_pointer(pointer.cursor.type) else None


def leaves(body: Syntax) -> bool:
    """Whether a branch ends in a return (or in the program's end)."""
    last = body.children[-1] if body.kind == "COMPOUND_STMT" and body.children else body
    return last.kind == "RETURN_STMT" or (last.kind == "CALL_EXPR" and last.spelling in ("exit", "abort", "_Exit"))
