"""`read`: from a text to its `FileModel`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.lower import Lowering
from cudaperf.engine.cuda.model import FileModel, Function, Macro
from cudaperf.engine.cuda.nodes import alive, spelling
from cudaperf.engine.cuda.parse import parse
from cudaperf.engine.cuda.source import Source
from cudaperf.engine.cuda.types import laid_out

if TYPE_CHECKING:
    from tree_sitter import Node as Tree
    from tree_sitter import Tree as WholeTree

_CONTAINERS = frozenset(
    [
        "translation_unit",
        "namespace_definition",
        "declaration_list",
        "linkage_specification",
        "template_declaration",
        "preproc_ifdef",
        "preproc_if",
        "preproc_else",
        "preproc_elif",
        "class_specifier",
        "struct_specifier",
        "field_declaration_list",
        "ERROR",
    ]
)


_TELLING = frozenset(
    [
        "preproc_def",
        "preproc_function_def",
        "declaration",
        "field_declaration",
        "type_definition",
        "alias_declaration",
        "enum_specifier",
    ]
)
"""What tells something to the functions of a file."""


def read(source: Source, tree: WholeTree | None = None) -> FileModel:
    """The model of a text; `tree` if it is parsed already."""
    model = FileModel(source, tree or parse(source.data))
    _Reader(model).visit(model.tree.root_node)
    return model


class _Reader:
    def __init__(self, model: FileModel) -> None:
        self._model = model
        self._lowering = Lowering(model.types)
        self._type_names: frozenset[str] = frozenset()

    def visit(self, node: Tree, templates: dict[str, ir.Expr | None] | None = None) -> None:
        for child in node.children:
            kind = child.type
            if kind in _TELLING:
                self._model.surroundings.append((child.start_byte, child.end_byte))
            if kind == "function_definition":
                self._function(child, templates or {})
            elif kind == "template_declaration":
                parameters = child.child_by_field_name("parameters")
                if parameters is not None and not any(c.type == "function_definition" for c in child.named_children):
                    self._model.surroundings.append((child.start_byte, parameters.end_byte))
                self._type_names = self._types_of(child)
                self.visit(child, self._template(child))
                self._type_names = frozenset()
            elif kind == "preproc_def":
                self._macro(child, None)
            elif kind == "preproc_function_def":
                parameters = child.child_by_field_name("parameters")
                names = [spelling(p) for p in parameters.named_children] if parameters is not None else []
                self._macro(child, names)
            elif kind in ("declaration", "field_declaration"):
                self._declaration(child)
            elif kind in ("type_definition", "alias_declaration"):
                self._alias(child)
            elif kind == "enum_specifier":
                self._enum(child)
            if kind in ("struct_specifier", "class_specifier"):
                self._struct(child)
            if kind in _CONTAINERS and kind != "template_declaration" and (live := alive(child)) is not None:
                self.visit(live, templates)

    def _macro(self, node: Tree, parameters: list[str] | None) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None:
            text = spelling(value).strip() if value is not None else ""
            old = self._model.macros.get(spelling(name))
            twice = old is not None and (old.ambiguous or old.text != text or old.parameters != parameters)
            self._model.macros[spelling(name)] = Macro(parameters, text, node.start_byte, node.end_byte, twice)

    def _constant(self, name: str, value: ir.Expr) -> None:
        """Of two constants of one name (in branches of #if, in two structs) neither is known."""
        old = self._model.constants.get(name)
        self._model.constants[name] = value if old is None else ir.Opaque(value.start, value.end, [])

    def _declaration(self, node: Tree) -> None:
        kind = node.child_by_field_name("type")
        if kind is not None and kind.type in ("struct_specifier", "class_specifier"):
            self._struct(kind)
        if kind is not None and kind.type == "enum_specifier":
            self._enum(kind)
        for declared in self._lowering.declarations(node):
            if not isinstance(declared, ir.Declare):
                continue
            self._model.variables[declared.name] = declared
            if declared.init is not None and not declared.dims and not declared.shared:
                words = [spelling(c) for c in node.children]
                if declared.type.const or "constexpr" in words:
                    self._constant(declared.name, declared.init)

    def _alias(self, node: Tree) -> None:
        kind = node.child_by_field_name("type")
        if kind is None:
            return
        if kind.type == "struct_specifier":
            self._struct(kind, fallback=next((spelling(c) for c in node.children_by_field_name("declarator")), None))
            return
        name = node.child_by_field_name("name") or node.child_by_field_name("declarator")
        if name is not None and name.type == "type_identifier":
            self._model.types.aliases[spelling(name)] = self._model.types.named(
                spelling(kind).rstrip("* "), spelling(kind).count("*")
            )

    def _enum(self, node: Tree) -> None:
        body = node.child_by_field_name("body")
        value: ir.Expr = ir.Number(node.start_byte, node.start_byte, 0)
        for child in body.named_children if body is not None else []:
            if child.type == "enumerator":
                given, name = child.child_by_field_name("value"), child.child_by_field_name("name")
                value = self._lowering.expression(given) if given is not None else value
                if name is not None:
                    self._constant(spelling(name), value)
                value = ir.Binary(child.start_byte, child.end_byte, "+", value, ir.Number(0, 0, 1))

    def _struct(self, node: Tree, fallback: str | None = None) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        called = spelling(name) if name is not None else fallback
        if body is None or called is None:
            return
        self._model.surroundings.append((node.start_byte, body.start_byte))
        members: list[tuple[str, ir.CType, tuple[int, ...]]] = []
        for child in body.named_children:
            if child.type != "field_declaration" or (kind := child.child_by_field_name("type")) is None:
                continue
            for declarator in child.children_by_field_name("declarator"):
                stars, dims = 0, list[int]()
                inner: Tree | None = declarator
                while inner is not None and inner.type in ("pointer_declarator", "array_declarator"):
                    if inner.type == "pointer_declarator":
                        stars += 1
                    else:
                        size = inner.child_by_field_name("size")
                        dims.insert(0, self._extent(size))
                    inner = inner.child_by_field_name("declarator")
                if inner is not None and inner.type == "field_identifier":
                    members.append((spelling(inner), self._model.types.named(spelling(kind), stars), tuple(dims)))
        struct = laid_out(called, members, self._model.types)
        self._model.types.structs[called] = struct
        if fallback is not None:
            self._model.types.structs[fallback] = struct

    def _extent(self, node: Tree | None) -> int:
        """A member's dimension: a number, or a macro or constant that is one; 0 where it is not known."""
        number = self._lowering.expression(node)
        if isinstance(number, ir.Name):
            macro = self._model.macros.get(number.id)
            if macro is not None and macro.parameters is None and macro.text.isdigit():
                return int(macro.text)
            number = self._model.constants.get(number.id, number)
        return int(number.value) if isinstance(number, ir.Number) else 0

    def _template(self, node: Tree) -> dict[str, ir.Expr | None]:
        """Names of a template's value parameters, with their defaults."""
        parameters = node.child_by_field_name("parameters")
        found: dict[str, ir.Expr | None] = {}
        for p in parameters.named_children if parameters is not None else []:
            if p.type in ("parameter_declaration", "optional_parameter_declaration"):
                name = p.child_by_field_name("declarator")
                default = p.child_by_field_name("default_value")
                if name is not None:
                    found[spelling(name)] = self._lowering.expression(default) if default is not None else None
        return found

    @staticmethod
    def _types_of(node: Tree) -> frozenset[str]:
        """Names of a template's type parameters."""
        parameters = node.child_by_field_name("parameters")
        inside = parameters.named_children if parameters is not None else []
        return frozenset(spelling(p.named_children[0]) for p in inside if "type_parameter" in p.type and p.named_children)

    def _function(self, node: Tree, templates: dict[str, ir.Expr | None]) -> None:
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type in ("pointer_declarator", "reference_declarator"):
            inner = declarator.child_by_field_name("declarator")
            declarator = inner if inner is not None else next(iter(declarator.named_children), None)
        if declarator is None or declarator.type != "function_declarator":
            return
        name = declarator.child_by_field_name("declarator")
        while name is not None and name.type == "qualified_identifier":
            name = name.child_by_field_name("name")
        if name is None:
            return
        words = {c.type for c in node.children} | {
            spelling(c) for c in node.children if c.type in ("type_qualifier", "storage_class_specifier")
        }
        kind: Literal["kernel", "device", "host"] = (
            "kernel" if "__global__" in words else "device" if "__device__" in words else "host"
        )
        self._model.functions.append(
            Function(
                spelling(name),
                kind,
                node.start_byte,
                node.end_byte,
                name.start_byte,
                name.end_byte,
                templates,
                self._type_names,
                node,
                declarator.child_by_field_name("parameters"),
                self._lowering,
            )
        )
