"""The expressions that macros stand for, parsed when first asked for."""

from __future__ import annotations

import dataclasses

from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.lower import Lowering
from cudaperf.engine.cuda.model import FileModel, Macro
from cudaperf.engine.cuda.parse import parse

_PARSED = "_cudaperf_macros"
_EXPANDED = "_cudaperf_expanded"


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


def expanded(model: FileModel, call: ir.Call) -> ir.Expr | None:
    """A macro's expression with a use's arguments in place of the parameters. What is the macro's own stands at its use; the
    arguments stay where they are. None where the macro is no expression."""
    kept: dict[ir.Call, ir.Expr | None] = model.__dict__.setdefault(_EXPANDED, {})
    if call not in kept:
        found = expression(model, call.name)
        given = dict(zip(found[0].parameters or [], call.args, strict=False)) if found is not None else {}
        kept[call] = _substituted(found[1], given, call) if found is not None else None
    return kept[call]


def _substituted(node: ir.Expr, given: dict[str, ir.Expr], call: ir.Call) -> ir.Expr:
    if isinstance(node, ir.Name) and node.id in given:
        return given[node.id]

    def inside(value: object) -> object:
        if isinstance(value, list):
            return [inside(one) for one in value]
        return _substituted(value, given, call) if isinstance(value, ir.Node) else value  # type: ignore[arg-type]

    values = {field.name: inside(getattr(node, field.name)) for field in dataclasses.fields(node) if field.init}
    return type(node)(**{**values, "start": call.start, "end": call.end})  # type: ignore[arg-type]


def _parsed(model: FileModel, text: str) -> ir.Expr | None:
    tree = parse(f"auto cp_x = ({text}\n);".encode())
    if tree.root_node.has_error:
        return None
    declaration = tree.root_node.named_children[0]
    declarator = declaration.child_by_field_name("declarator")
    value = declarator.child_by_field_name("value") if declarator is not None else None
    return Lowering(model.types).expression(value) if value is not None else None
