"""The parameters of a function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.lower import Lowering
from cudaperf.engine.cuda.nodes import spelling

if TYPE_CHECKING:
    from tree_sitter import Node as Tree


@dataclass(slots=True, eq=False)
class Parameter:
    """`rows` are the dimensions behind the first of an array of arrays (`float (*t)[33]`, `float t[][33]`)."""

    name: str
    type: ir.CType
    start: int
    end: int
    rows: list[ir.Expr] = field(default_factory=list)


def parameters(listed: Tree | None, lowering: Lowering) -> list[Parameter]:
    """Those of a parameter list."""
    nodes = listed.named_children if listed is not None else []
    return [p for node in nodes if (p := _parameter(node, lowering)) is not None]


def _parameter(node: Tree, lowering: Lowering) -> Parameter | None:
    kind, declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
    if kind is None:
        return None
    const = any(c.type == "type_qualifier" and spelling(c) == "const" for c in node.children)
    restrict, name, reference = "__restrict" in spelling(node), "", False
    levels: list[Tree | None] = []  # from the outermost: a star (None) or an array's size
    inner = declarator
    while inner is not None:
        restrict |= any(c.type == "type_qualifier" and "restrict" in spelling(c) for c in inner.children)
        if inner.type in ("pointer_declarator", "array_declarator"):
            levels.append(inner.child_by_field_name("size") or inner if inner.type == "array_declarator" else None)
            inner = inner.child_by_field_name("declarator")
        elif inner.type in ("reference_declarator", "parenthesized_declarator"):
            reference |= inner.type == "reference_declarator"
            inner = next(iter(inner.named_children), None)
        else:
            name = spelling(inner) if inner.type == "identifier" else ""
            break
    beyond = levels[-2::-1]  # what the first level leads to, the nearest first
    rows = [lowering.expression(level) for level in beyond if level is not None]
    stars = min(len(levels), 1) + sum(level is None for level in beyond)
    type_ = lowering.types.named(spelling(kind), stars, const=const, restrict=restrict)
    type_.reference = reference
    return Parameter(name, type_, node.start_byte, node.end_byte, rows)
