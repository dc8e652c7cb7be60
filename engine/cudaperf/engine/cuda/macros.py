"""The expressions that macros stand for, parsed when first asked for."""

from __future__ import annotations

from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.lower import Lowering
from cudaperf.engine.cuda.model import FileModel, Macro
from cudaperf.engine.cuda.parse import parse

_PARSED = "_cudaperf_macros"


def expression(model: FileModel, name: str) -> tuple[Macro, ir.Expr] | None:
    """A macro and its text as an expression; None where there is none, it has two texts, or its text is no expression."""
    macro = model.macros.get(name)
    if macro is None or macro.ambiguous or not macro.text:
        return None
    cache: dict[str, ir.Expr | None] = model.__dict__.setdefault(_PARSED, {})
    if name not in cache:
        cache[name] = _parsed(model, macro.text.replace("\\\n", " ").replace("\\\r\n", " "))
    found = cache[name]
    return (macro, found) if found is not None else None


def _parsed(model: FileModel, text: str) -> ir.Expr | None:
    tree = parse(f"auto cp_x = ({text}\n);".encode())
    if tree.root_node.has_error:
        return None
    declaration = tree.root_node.named_children[0]
    declarator = declaration.child_by_field_name("declarator")
    value = declarator.child_by_field_name("value") if declarator is not None else None
    return Lowering(model.types).expression(value) if value is not None else None
