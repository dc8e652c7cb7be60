"""Lower whole functions: parameters, file-scope variables, helpers, body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cudaperf.engine.emit.names import why_reserved
from cudaperf.engine.loops import ir
from cudaperf.engine.sources.c.c_types import (
    Shape,
    TypeRefused,
    as_number,
    is_enumeration,
    is_number,
    is_pointer,
    lower_type,
    take_apart,
)
from cudaperf.engine.sources.c.expressions import at
from cudaperf.engine.sources.c.null_checks import NullChecks
from cudaperf.engine.sources.c.parse import evaluate
from cudaperf.engine.sources.c.pointer_roles import pointer_roles
from cudaperf.engine.sources.c.references import ZERO
from cudaperf.engine.sources.c.scope import Binding, Pointer, UnitContext
from cudaperf.engine.sources.c.syntax import Syntax

UNKNOWN = Shape(ir.INT, (), False, False, False)

VARIADIC = "{} takes a variable number of arguments"


class Functions(NullChecks):
    """One function's lowering."""

    def function(self, root: Syntax) -> ir.Function:
        """The tree of a function definition."""
        name = root.spelling
        self.check_signature(root)
        self.roles = pointer_roles(root)
        written = [self.parameter(c) for c in root.children if c.kind == "PARM_DECL"]
        parameters = tuple(p for p in written if p is not None)
        self.parameter_names = frozenset(p.name for p in parameters)
        counters = [
            ir.Decl(name=b.counter, type=ir.LONG, init=ir.IntConst(value=0, type=ir.LONG), near=root.place)
            for b in self.bindings.values()
            if b.kind == "counter"
        ]
        body = self.block(root.children[-1])
        for syntax in root.children:
            bound = self.bindings.get(int(syntax.cursor.hash))
            if bound is not None and bound.refused is not None:
                self.refuse(syntax, f"{bound.name}: {bound.refused.message}", bound.refused.code)
        if counters:
            body = ir.Block(statements=(*counters, *body.statements), near=body.place)
        return ir.Function(
            name=name,
            parameters=parameters,
            returns=self.result_type(root),
            body=body,
            globals=tuple(self.globals.values()),
            is_static=root.cursor.storage_class.name == "STATIC",
            is_inline=self.is_inline(root),
            **at(root),
        )

    def check_signature(self, root: Syntax) -> None:
        if is_variadic(root.cursor):
            self.refuse(root.children[-1] if not root.source.is_main else signature(root), VARIADIC.format(root.spelling))
        if any(c.kind == "PARM_DECL" and not c.spelling for c in root.children):
            self.refuse(signature(root), "a parameter without a name")
        if not self.context.active[1:]:
            for kind, syntax in [(root.cursor.result_type, signature(root))] + [
                (c.cursor.type, c) for c in root.children if c.kind == "PARM_DECL"
            ]:
                self.check_names(kind, syntax)

    def check_names(self, kind: Any, syntax: Syntax) -> None:
        """The header says the types of the signature, to C and C++ alike."""
        reserved = next((name for name in _type_names(kind) if name in self.context.renamed), None)
        if reserved is not None and not is_number(_element(kind)):
            why = why_reserved(self.context.renamed[reserved])
            self.refuse(syntax, f"{reserved} {why}, and the emitted header would have to say it: rename it")

    @staticmethod
    def is_inline(root: Syntax) -> bool:
        head = root.source.text[root.start : root.children[-1].start].split(b"(")[0]
        return any(word in (b"inline", b"__inline", b"__inline__") for word in head.split())

    def result_type(self, root: Syntax) -> ir.Type | None:
        result = root.cursor.result_type
        if result.get_canonical().kind.name == "VOID":
            return None
        try:
            return lower_type(result)
        except TypeRefused as refused:
            self.refuse(signature(root), f"the result of {root.spelling}: {refused.message}", refused.code)

    def parameter(self, syntax: Syntax) -> ir.Variable | None:
        """A parameter; None for one of a type outside the subset, which is refused where it is used."""
        name = syntax.spelling
        try:
            shape = take_apart(syntax.cursor.type)
        except TypeRefused as refused:
            if not refused.by_use:
                self.refuse(syntax, f"{name}: {refused.message}", refused.code)
            self.declare(syntax, Binding(name, "refused", UNKNOWN, refused=refused))
            return None
        place: Any = at(syntax)
        text = syntax.source.text[syntax.start : syntax.end].decode(errors="replace")
        declaration = text if syntax.span is not None else declared(syntax.cursor)
        if is_enumeration(syntax.cursor.type) and (not shape.pointer or any(mark in declaration for mark in "*[")):
            declaration = as_number(declaration, shape.element)
        for word in set(re.findall(r"\w+", _element(syntax.cursor.type).spelling)) & set(self.context.renamed):
            declaration = re.sub(rf"\b{word}\b", shape.element.name, declaration)
        is_array_of_rows = shape.pointer or bool(shape.extents)
        kind = "array" if is_array_of_rows else "scalar"
        if int(syntax.cursor.hash) in self.roles.walking:
            binding = Binding(name, "counter", shape, pointer=Pointer(name, (ZERO,)), counter=self.fresh(f"{name}_at"))
            self.declare(syntax, binding)
        else:
            self.declare(syntax, Binding(name, "array" if kind == "array" else "scalar", shape))
        dims = tuple(self.dims(syntax, shape, None)) if is_array_of_rows else ()
        dims = (None, *dims) if shape.pointer else dims
        self.bindings[int(syntax.cursor.hash)].dims = dims
        return ir.Variable(
            name=name,
            type=shape.element,
            dims=dims,
            const=shape.const,
            restrict=shape.restrict,
            declaration=" ".join(declaration.split()),
            **place,
        )

    def global_binding(self, syntax: Syntax, declaration: Any) -> Binding:
        """A file-scope variable, known by its definition if that is in this file."""
        found = declaration.get_definition() or declaration
        name = declaration.spelling
        hidden = next((b for b in self.bindings.values() if b.name == name), None)
        if hidden is not None:
            self.refuse(syntax, f"{name} is a file-scope variable here and a local one elsewhere in the function")
        try:
            shape = take_apart(found.type)
        except TypeRefused as refused:
            self.refuse(syntax, f"{name}: {refused.message}", refused.code)
        value = evaluate(found) if not shape.pointer and not shape.extents and shape.const else None
        extents = tuple(ir.IntConst(value=e) if e is not None else None for e in shape.extents)
        dims: tuple[ir.Expr | None, ...] = (None, *extents) if shape.pointer else extents
        repeated = shape.const and found.is_definition() and value is not None
        if name in self.context.renamed and not repeated:
            why = why_reserved(self.context.renamed[name])
            self.refuse(syntax, f"{name} {why}, so no file-scope variable can have that name there: rename it")
        binding = Binding(name, "array" if dims else "scalar", shape, dims)
        self.bindings[int(declaration.hash)] = binding
        self.globals[name] = ir.Variable(
            name=name,
            type=shape.element,
            dims=dims,
            const=shape.const,
            restrict=shape.restrict,
            declaration=declared(found),
            is_global=True,
            is_static=found.storage_class.name == "STATIC",
            value=value,
        )
        self.context.global_cursors[name] = found
        return binding


def _element(kind: Any) -> Any:
    """What pointers and arrays are of, as written."""
    while kind.kind.name in ("POINTER", "CONSTANTARRAY", "INCOMPLETEARRAY", "VARIABLEARRAY"):
        kind = kind.get_pointee() if kind.kind.name == "POINTER" else kind.element_type
    return kind


def _type_names(kind: Any) -> Iterator[str]:
    """The names of a type that a header repeats: its own, and members' unless `struct x *` is all that is said of it."""
    by_value, kind = _element(kind).kind == kind.kind, _element(kind)
    record = kind.get_canonical()
    yield from re.findall(r"\w+", f"{kind.spelling} {record.spelling}")
    if record.kind.name == "RECORD" and (by_value or not record.spelling.removeprefix("const ").startswith("struct ")):
        for member in record.get_fields():
            yield member.spelling
            yield from _type_names(member.type)


def signature(root: Syntax) -> Syntax:
    """A function's head, to point at."""
    span = ir.Span(root.start, max(root.start + 1, root.children[-1].start)) if root.children else root.span
    text = root.source.text[span.start : span.end] if span is not None else b""
    if span is not None:
        span = ir.Span(span.start, span.start + len(text.rstrip()))
    return Syntax(root.cursor, root.kind, root.start, root.end, root.source, span=span)


def declared(cursor: Any) -> str:
    """The declaration of a variable, spelled from its type."""
    spelled, name = str(cursor.type.spelling), str(cursor.spelling)
    if "(*" in spelled:
        return spelled.replace("(*", f"(*{name}", 1)
    base, bracket, dims = spelled.partition("[")
    return f"{base.rstrip()}{'' if base.endswith('*') else ' '}{name}{bracket}{dims}"


def is_variadic(function: Any) -> bool:
    """Whether a function takes `...`; one declared as `f()` has no prototype to say so."""
    canonical = function.type.get_canonical()
    return canonical.kind.name == "FUNCTIONPROTO" and bool(canonical.is_function_variadic())


def lower_helper(context: UnitContext, name: str, call: Syntax) -> ir.Function:
    """Lower a called function of the user's (and those it calls, first)."""
    cursor = context.definitions[name]
    root = context.source_of(cursor.extent.start.file.name).tree(cursor)
    if is_variadic(cursor):
        context.refuse(call, VARIADIC.format(name))
    if any(is_pointer(c.cursor.type) and "VARIABLEARRAY" in c.cursor.type.get_pointee().kind.name for c in root.children):
        context.refuse(call, f"{name} takes an array of variable row length, which CUDA C++ functions cannot")
    context.active.append(name)
    function = Functions(context).function(root)
    context.active.pop()
    context.helpers[name] = function
    context.trees.append(root)
    return function


def without_places(function: ir.Function) -> ir.Function:
    """A function of a header: its spans would refer to another file than the unit's text."""
    return replace(function, body=_bare(function.body), span=None, near=None)


def _bare(node: Any) -> Any:
    from dataclasses import fields

    changes: dict[str, Any] = {"span": None, "near": None}
    for f in fields(node):
        value = getattr(node, f.name)
        if f.name in ("span", "near"):
            continue
        if isinstance(value, ir.Node):
            changes[f.name] = _bare(value)
        elif isinstance(value, tuple):
            changes[f.name] = tuple(_bare(v) if isinstance(v, ir.Node) else v for v in value)
    if isinstance(node, ir.For):
        changes["header"] = None
    return replace(node, **changes)
