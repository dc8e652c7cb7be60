"""Expressions of tree-sitter nodes as `ir`."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.nodes import STATEMENTS, first_child, spelling
from cudaperf.engine.cuda.types import Types

if TYPE_CHECKING:
    from tree_sitter import Node as Tree

_BUILTINS = frozenset(("threadIdx", "blockIdx", "blockDim", "gridDim"))
_CASTS = frozenset(("reinterpret_cast", "static_cast", "const_cast", "bit_cast"))
_INT = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlL]*)$")


class Expressions:
    """Lowers the expressions of one file."""

    def __init__(self, types: Types) -> None:
        self.types = types
        self._expressions: dict[str, Callable[[Tree], ir.Expr]] = {
            "identifier": lambda n: ir.Name(n.start_byte, n.end_byte, spelling(n)),
            "qualified_identifier": self._qualified,
            "number_literal": self._number,
            "true": lambda n: ir.Number(n.start_byte, n.end_byte, 1),
            "false": lambda n: ir.Number(n.start_byte, n.end_byte, 0),
            "char_literal": lambda n: ir.Number(n.start_byte, n.end_byte, ord(spelling(n)[1:2] or " ")),
            "null": lambda n: ir.Number(n.start_byte, n.end_byte, 0),
            "parenthesized_expression": self._inner,
            "condition_clause": self._condition_clause,
            "field_expression": self._field,
            "subscript_expression": self._subscript,
            "binary_expression": self._binary,
            "unary_expression": self._unary,
            "pointer_expression": self._pointer,
            "update_expression": self._update,
            "assignment_expression": self._assignment,
            "conditional_expression": self._conditional,
            "call_expression": self._call,
            "cast_expression": self._cast,
            "comma_expression": self._comma,
            "sizeof_expression": self._sizeof,
        }

    @abstractmethod
    def statement(self, node: Tree) -> ir.Stmt:
        """A statement, as it stands in what is not understood."""

    def expression(self, node: Tree | None) -> ir.Expr:
        if node is None:
            return ir.Opaque(0, 0, [])
        found = self._expressions.get(node.type)
        return found(node) if found is not None else self._opaque(node)

    def _opaque(self, node: Tree) -> ir.Opaque:
        parts: list[ir.Expr | ir.Stmt] = []
        if node.type not in ("lambda_expression", "string_literal", "comment", "asm_statement", "gnu_asm_expression"):
            for child in node.named_children:
                parts.append(self.statement(child) if child.type in STATEMENTS else self.expression(child))
        return ir.Opaque(node.start_byte, node.end_byte, parts)

    def _qualified(self, node: Tree) -> ir.Expr:
        name = node.child_by_field_name("name")
        return ir.Name(node.start_byte, node.end_byte, spelling(name) if name is not None else spelling(node))

    def _number(self, node: Tree) -> ir.Expr:
        text = spelling(node)
        if text[:1] in ("-", "+"):  # the grammar takes the sign of `-1` for a part of the number
            found = self._unsigned(node, text[1:].lstrip())
            if isinstance(found, ir.Number) and text[0] == "-":
                found.value = -found.value
            return found
        return self._unsigned(node, text)

    def _unsigned(self, node: Tree, text: str) -> ir.Expr:
        if match := _INT.match(text):
            digits = match[1].replace("'", "")
            octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
            return ir.Number(
                node.start_byte,
                node.end_byte,
                int(digits, 8) if octal and set(digits) <= set("01234567") else int(digits, 10 if octal else 0),
            )
        kind: Literal["float", "double"] = "float" if text[-1:] in "fF" and text[:2] not in ("0x", "0X") else "double"
        try:
            value = float(text.rstrip("fFlL").replace("'", ""))
        except ValueError:
            return self._opaque(node)
        if not math.isfinite(value):
            return self._opaque(node)
        return ir.Number(node.start_byte, node.end_byte, value, kind)

    def _inner(self, node: Tree) -> ir.Expr:
        inner = first_child(node)
        return self.expression(inner)

    def _condition_clause(self, node: Tree) -> ir.Expr:
        value, first = node.child_by_field_name("value"), node.child_by_field_name("initializer")
        condition = self.expression(value or first_child(node))
        first = first_child(first) if first is not None and first.type == "init_statement" else first
        if first is None or first.type not in STATEMENTS:
            return condition
        return ir.Opaque(node.start_byte, node.end_byte, [self.statement(first), condition])

    def _field(self, node: Tree) -> ir.Expr:
        base, name = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if base is None or name is None:
            return self._opaque(node)
        field, start, end = spelling(name), node.start_byte, node.end_byte
        if base.type == "identifier" and spelling(base) in _BUILTINS and field in ("x", "y", "z"):
            return ir.Builtin(start, end, spelling(base), field)  # type: ignore[arg-type]
        inner = self.expression(base)
        operator = node.child_by_field_name("operator")
        if (operator is not None and operator.type == "->") or any(c.type == "->" for c in node.children):
            inner = ir.Index(base.start_byte, base.end_byte, inner, ir.Number(base.end_byte, base.end_byte, 0))
        return ir.Member(start, end, inner, field)

    def _subscript(self, node: Tree) -> ir.Expr:
        base = self.expression(node.child_by_field_name("argument"))
        indices = node.child_by_field_name("indices") or node.child_by_field_name("index")
        parts = (
            [c for c in indices.named_children if c.type != "comment"]
            if indices is not None and indices.type.endswith("list")
            else [indices]
        )
        if len(parts) != 1:
            return self._opaque(node)
        return ir.Index(node.start_byte, node.end_byte, base, self.expression(parts[0]))

    def _binary(self, node: Tree) -> ir.Expr:
        operator = node.child_by_field_name("operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        return ir.Binary(
            node.start_byte,
            node.end_byte,
            operator.type if operator is not None else "?",
            self.expression(left),
            self.expression(right),
        )

    def _unary(self, node: Tree) -> ir.Expr:
        operator = node.child_by_field_name("operator")
        return ir.Unary(
            node.start_byte,
            node.end_byte,
            operator.type if operator is not None else "?",
            self.expression(node.child_by_field_name("argument")),
        )

    def _pointer(self, node: Tree) -> ir.Expr:
        inner = self.expression(node.child_by_field_name("argument"))
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.type == "&":
            return ir.AddressOf(node.start_byte, node.end_byte, inner)
        return ir.Index(node.start_byte, node.end_byte, inner, ir.Number(node.end_byte, node.end_byte, 0))

    def _update(self, node: Tree) -> ir.Expr:
        target = self.expression(node.child_by_field_name("argument"))
        operator = node.child_by_field_name("operator")
        op = "+" if operator is not None and operator.type == "++" else "-"
        after = node.children[0].type not in ("++", "--")
        return ir.Assign(node.start_byte, node.end_byte, target, op, ir.Number(node.end_byte, node.end_byte, 1), after)

    def _assignment(self, node: Tree) -> ir.Expr:
        operator = node.child_by_field_name("operator")
        op = operator.type[:-1] if operator is not None else ""
        target, value = self.expression(node.child_by_field_name("left")), self.expression(node.child_by_field_name("right"))
        return ir.Assign(node.start_byte, node.end_byte, target, op or None, value)

    def _conditional(self, node: Tree) -> ir.Expr:
        parts = [self.expression(node.child_by_field_name(name)) for name in ("condition", "consequence", "alternative")]
        return ir.Conditional(node.start_byte, node.end_byte, *parts)

    def _call(self, node: Tree) -> ir.Expr:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        args = [c for c in arguments.named_children if c.type != "comment"] if arguments is not None else []
        templates: list[ir.Expr] = []
        receiver: ir.Expr | None = None
        if function is not None and function.type == "qualified_identifier":
            function = function.child_by_field_name("name") or function
        if function is not None and function.type == "template_function":
            inside = function.child_by_field_name("arguments")
            name = function.child_by_field_name("name")
            given = inside.named_children if inside is not None else []
            if name is not None and spelling(name) in _CASTS and len(args) == 1 and given:
                return ir.Cast(node.start_byte, node.end_byte, self._descriptor(given[0]), self.expression(args[0]))
            templates = [self._template_argument(c) for c in given]
            function = name
        elif function is not None and function.type == "field_expression":
            receiver = self.expression(function.child_by_field_name("argument"))
            function = function.child_by_field_name("field")
        elif function is not None and function.type == "primitive_type" and len(args) == 1:
            return ir.Cast(node.start_byte, node.end_byte, self.types.named(spelling(function)), self.expression(args[0]))
        if function is None:
            return self._opaque(node)
        values = [self.expression(a) for a in args]
        launch = next((c for c in node.children if c.type == "kernel_call_syntax"), None)
        if launch is not None:
            config = [self.expression(c) for c in launch.named_children if c.type != "comment"]
            return ir.Launch(node.start_byte, node.end_byte, spelling(function), config, values, templates)
        return ir.Call(node.start_byte, node.end_byte, spelling(function), values, templates, receiver)

    def _template_argument(self, node: Tree) -> ir.Expr:
        """A single name may be a type or a value: it counts as the name."""
        kind = node.child_by_field_name("type") if node.type == "type_descriptor" else None
        kind = kind if kind is not None else node
        if kind.type == "type_identifier":
            return ir.Name(kind.start_byte, kind.end_byte, spelling(kind))
        return self.expression(kind)

    def _cast(self, node: Tree) -> ir.Expr:
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if kind is None or value is None:
            return self._opaque(node)
        return ir.Cast(node.start_byte, node.end_byte, self._descriptor(kind), self.expression(value))

    def _comma(self, node: Tree) -> ir.Expr:
        parts = [node.child_by_field_name("left"), node.child_by_field_name("right")]
        return ir.Comma(node.start_byte, node.end_byte, [self.expression(p) for p in parts])

    def _sizeof(self, node: Tree) -> ir.Expr:
        kind = node.child_by_field_name("type")
        if kind is None:
            return ir.Opaque(node.start_byte, node.end_byte, [])
        found = self._descriptor(kind)
        size = 8 if found.pointers else found.size
        return ir.Number(node.start_byte, node.end_byte, size) if size else ir.Opaque(node.start_byte, node.end_byte, [])

    def _descriptor(self, node: Tree) -> ir.CType:
        """A type in a cast or template argument."""
        kind = node.child_by_field_name("type")
        text = spelling(kind) if kind is not None else spelling(node)
        const = any(c.type == "type_qualifier" and spelling(c) == "const" for c in node.children)
        return self.types.named(text, spelling(node).count("*"), const=const)
