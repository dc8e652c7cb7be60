"""Declarations of tree-sitter nodes as `ir`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.lower_expressions import Expressions
from cudaperf.engine.cuda.nodes import first_child, spelling

if TYPE_CHECKING:
    from tree_sitter import Node as Tree

_FILE_SCOPE = frozenset(
    ("translation_unit", "declaration_list", "template_declaration", "linkage_specification", "field_declaration_list")
)


class Declarations(Expressions):
    """Lowers the declarations of one file."""

    def declarations(self, node: Tree) -> list[ir.Stmt]:
        """One `Declare` a declarator."""
        words = {
            spelling(c)
            for c in node.children
            if c.type in ("type_qualifier", "storage_class_specifier") or c.type.startswith("__")
        }
        kind = node.child_by_field_name("type")
        if kind is None:
            return [self._opaque(node)]
        found: list[ir.Stmt] = []
        for declarator in node.children_by_field_name("declarator"):
            init: ir.Expr | None = None
            inner: Tree | None = declarator
            if declarator.type == "init_declarator":
                init = self._initial(declarator.child_by_field_name("value"))
                inner = declarator.child_by_field_name("declarator")
            elif declarator.type == "function_declarator" and node.parent is not None and node.parent.type not in _FILE_SCOPE:
                init = self._constructed(declarator.child_by_field_name("parameters"))
            declared = self._declarator(inner)
            if declared is None:
                continue
            name, pointers, dims, reference = declared
            type_ = self.types.named(spelling(kind), pointers, const="const" in words)
            type_.reference = reference
            found.append(
                ir.Declare(
                    declarator.start_byte,
                    declarator.end_byte,
                    name,
                    type_,
                    dims,
                    init,
                    shared="__shared__" in words,
                    extern="extern" in words,
                    static="static" in words,
                )
            )
        return found

    def _initial(self, node: Tree | None) -> ir.Expr | None:
        if node is None:
            return None
        if node.type == "argument_list":  # dim3 block(16, 16)
            inside = [self.expression(c) for c in node.named_children if c.type != "comment"]
            return inside[0] if len(inside) == 1 else ir.Comma(node.start_byte, node.end_byte, inside)
        return self.expression(node)

    def _constructed(self, node: Tree | None) -> ir.Expr | None:
        """In a body `dim3 block(BX, BY)` is an object, though the grammar takes it for a function of two types."""
        parameters = [c for c in node.named_children if c.type != "comment"] if node is not None else []
        if node is None or not parameters or any(_primitive(p) for p in parameters):
            return None
        inside = [self._argument(p) for p in parameters]
        return inside[0] if len(inside) == 1 else ir.Comma(node.start_byte, node.end_byte, inside)

    def _argument(self, node: Tree) -> ir.Expr:
        """A parameter that is an expression in truth: a name, or a product of two."""
        kind, declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        while kind is not None and kind.type == "qualified_identifier":
            kind = kind.child_by_field_name("name")
        if node.type != "parameter_declaration" or kind is None or kind.type != "type_identifier":
            return ir.Opaque(node.start_byte, node.end_byte, [])
        name = ir.Name(kind.start_byte, kind.end_byte, spelling(kind))
        if declarator is None:
            return name
        other = declarator.child_by_field_name("declarator")
        if declarator.type != "pointer_declarator" or other is None or other.type != "identifier":
            return ir.Opaque(node.start_byte, node.end_byte, [])
        return ir.Binary(node.start_byte, node.end_byte, "*", name, self.expression(other))

    def array_reference(self, node: Tree | None) -> ir.Declare | None:
        """`float (&r)[256] = s`, which the grammar takes for an assignment to an element of `float(&r)`."""
        if node is None or node.type != "assignment_expression":
            return None
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        call = left.child_by_field_name("argument") if left is not None and left.type == "subscript_expression" else None
        kind = call.child_by_field_name("function") if call is not None and call.type == "call_expression" else None
        if call is None or kind is None or kind.type != "primitive_type":
            return None
        target, whole = self.expression(call), self.expression(left)
        named = target.value.target if isinstance(target, ir.Cast) and isinstance(target.value, ir.AddressOf) else None
        if not isinstance(named, ir.Name) or not isinstance(whole, ir.Index):
            return None
        type_ = self.types.named(spelling(kind), 0)
        type_.reference = True
        return ir.Declare(node.start_byte, node.end_byte, named.id, type_, [whole.index], self.expression(right))

    def _declarator(self, node: Tree | None) -> tuple[str, int, list[ir.Expr | None], bool] | None:
        """(name, stars, dimensions, whether a reference)."""
        pointers, dims, reference = 0, list[ir.Expr | None](), False
        while node is not None:
            match node.type:
                case "identifier" | "field_identifier" | "type_identifier":
                    return spelling(node), pointers, dims, reference
                case "pointer_declarator":
                    pointers += 1
                    node = node.child_by_field_name("declarator")
                case "reference_declarator":
                    reference = True
                    node = first_child(node)
                case "array_declarator":
                    size = node.child_by_field_name("size")
                    dims.insert(0, self.expression(size) if size is not None else None)
                    node = node.child_by_field_name("declarator")
                case "parenthesized_declarator" | "function_declarator":
                    node = node.child_by_field_name("declarator") or first_child(node)
                case _:
                    return None
        return None


def _primitive(parameter: Tree) -> bool:
    """`float x`, `int`: a parameter of a function indeed; `unsigned(n)` is a cast."""
    kind, declarator = parameter.child_by_field_name("type"), parameter.child_by_field_name("declarator")
    cast = declarator is not None and declarator.type == "abstract_function_declarator"
    return kind is not None and kind.type in ("primitive_type", "sized_type_specifier") and not cast
