"""tree-sitter nodes to `ir`: one function body at a time, tolerant of everything."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.types import Types

if TYPE_CHECKING:
    from tree_sitter import Node as Tree

_BUILTINS = frozenset(("threadIdx", "blockIdx", "blockDim", "gridDim"))
_CASTS = frozenset(("reinterpret_cast", "static_cast", "const_cast", "bit_cast"))
_INT = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlL]*)$")
_STATEMENTS = frozenset(
    [
        "compound_statement",
        "declaration",
        "expression_statement",
        "if_statement",
        "for_statement",
        "while_statement",
        "do_statement",
        "switch_statement",
        "return_statement",
        "break_statement",
        "continue_statement",
        "goto_statement",
        "labeled_statement",
        "case_statement",
        "for_range_loop",
        "try_statement",
        "attributed_statement",
    ]
)

_FILE_SCOPE = frozenset(
    ("translation_unit", "declaration_list", "template_declaration", "linkage_specification", "field_declaration_list")
)


class Lowering:
    """Lowers the nodes of one file."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self._expressions: dict[str, Callable[[Tree], ir.Expr]] = {
            "identifier": lambda n: ir.Name(n.start_byte, n.end_byte, _text(n)),
            "qualified_identifier": self._qualified,
            "number_literal": self._number,
            "true": lambda n: ir.Number(n.start_byte, n.end_byte, 1),
            "false": lambda n: ir.Number(n.start_byte, n.end_byte, 0),
            "char_literal": lambda n: ir.Number(n.start_byte, n.end_byte, ord(_text(n)[1:2] or " ")),
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

    # --- expressions -------------------------------------------------------------------------------------------------------

    def expression(self, node: Tree | None) -> ir.Expr:
        if node is None:
            return ir.Opaque(0, 0, [])
        found = self._expressions.get(node.type)
        return found(node) if found is not None else self._opaque(node)

    def _opaque(self, node: Tree) -> ir.Opaque:
        parts: list[ir.Expr | ir.Stmt] = []
        if node.type not in ("lambda_expression", "string_literal", "comment", "asm_statement", "gnu_asm_expression"):
            for child in node.named_children:
                parts.append(self.statement(child) if child.type in _STATEMENTS else self.expression(child))
        return ir.Opaque(node.start_byte, node.end_byte, parts)

    def _qualified(self, node: Tree) -> ir.Expr:
        name = node.child_by_field_name("name")
        return ir.Name(node.start_byte, node.end_byte, _text(name) if name is not None else _text(node))

    def _number(self, node: Tree) -> ir.Expr:
        text = _text(node)
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
        kind = "float" if text[-1:] in "fF" and text[:2] not in ("0x", "0X") else "double"
        try:
            value = float(text.rstrip("fFlL").replace("'", ""))
        except ValueError:
            return self._opaque(node)
        return ir.Number(node.start_byte, node.end_byte, value, "float" if kind == "float" else "double")

    def _inner(self, node: Tree) -> ir.Expr:
        inner = _first(node)
        return self.expression(inner)

    def _condition_clause(self, node: Tree) -> ir.Expr:
        return self.expression(node.child_by_field_name("value") or _first(node))

    def _field(self, node: Tree) -> ir.Expr:
        base, name = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if base is None or name is None:
            return self._opaque(node)
        field, start, end = _text(name), node.start_byte, node.end_byte
        if base.type == "identifier" and _text(base) in _BUILTINS and field in ("x", "y", "z"):
            return ir.Builtin(start, end, _text(base), field)  # type: ignore[arg-type]
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
            if name is not None and _text(name) in _CASTS and inside is not None and len(args) == 1 and inside.named_children:
                return ir.Cast(
                    node.start_byte, node.end_byte, self._descriptor(inside.named_children[0]), self.expression(args[0])
                )
            templates = [self._template_argument(c) for c in inside.named_children] if inside is not None else []
            function = name
        elif function is not None and function.type == "field_expression":
            receiver = self.expression(function.child_by_field_name("argument"))
            function = function.child_by_field_name("field")
        elif function is not None and function.type == "primitive_type" and len(args) == 1:
            return ir.Cast(node.start_byte, node.end_byte, self._types.named(_text(function)), self.expression(args[0]))
        if function is None:
            return self._opaque(node)
        launch = next((c for c in node.children if c.type == "kernel_call_syntax"), None)
        if launch is not None:
            config = [self.expression(c) for c in launch.named_children if c.type != "comment"]
            given = [self.expression(a) for a in args]
            return ir.Launch(node.start_byte, node.end_byte, _text(function), config, given, templates)
        return ir.Call(node.start_byte, node.end_byte, _text(function), [self.expression(a) for a in args], templates, receiver)

    def _template_argument(self, node: Tree) -> ir.Expr:
        """A single name may be a type or a value: it counts as the name."""
        kind = node.child_by_field_name("type") if node.type == "type_descriptor" else None
        kind = kind if kind is not None else node
        if kind.type == "type_identifier":
            return ir.Name(kind.start_byte, kind.end_byte, _text(kind))
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
        text = _text(kind) if kind is not None else _text(node)
        return self._types.named(
            text, _text(node).count("*"), const=any(c.type == "type_qualifier" and _text(c) == "const" for c in node.children)
        )

    # --- statements --------------------------------------------------------------------------------------------------------

    def block(self, node: Tree | None) -> ir.Block:
        """A statement as a block."""
        if node is None:
            return ir.Block(0, 0, [])
        nodes = node.named_children if node.type == "compound_statement" else [node]
        body: list[ir.Stmt] = []
        for child in nodes:
            self._add(child, body)
        return ir.Block(node.start_byte, node.end_byte, body)

    def statement(self, node: Tree) -> ir.Stmt:
        body: list[ir.Stmt] = []
        self._add(node, body)
        return body[0] if len(body) == 1 else ir.Block(node.start_byte, node.end_byte, body)

    def _add(self, node: Tree, body: list[ir.Stmt]) -> None:
        """Append what a node is lowered to: nothing for a comment, several for a declaration of several names."""
        start, end = node.start_byte, node.end_byte
        match node.type:
            case "comment" | "preproc_call" | "preproc_def" | "preproc_function_def" | "preproc_include" | ";":
                return
            case "preproc_ifdef" | "preproc_if" | "preproc_else" | "preproc_elif":
                skipped = [node.child_by_field_name("name"), node.child_by_field_name("condition")]
                for child in node.named_children:
                    if child not in skipped and child.type not in ("preproc_else", "preproc_elif"):
                        self._add(child, body)
            case "expression_statement":
                inner = _first(node)
                if inner is not None:
                    body.append(ir.Evaluate(start, end, self.expression(inner)))
            case "declaration":
                body.extend(self.declarations(node))
            case "compound_statement":
                body.append(self.block(node))
            case "if_statement":
                body.append(self._if(node))
            case "for_statement":
                body.append(self._for(node))
            case "while_statement" | "do_statement":
                condition = self.expression(node.child_by_field_name("condition"))
                kind = "while" if node.type == "while_statement" else "do"
                body.append(ir.Loop(start, end, kind, None, condition, None, self.block(node.child_by_field_name("body"))))  # type: ignore[arg-type]
            case "switch_statement":
                body.append(self._switch(node))
            case "return_statement":
                value = _first(node)
                body.append(ir.Return(start, end, self.expression(value) if value is not None else None))
            case "break_statement" | "continue_statement" | "goto_statement":
                body.append(ir.Jump(start, end, node.type.removesuffix("_statement")))  # type: ignore[arg-type]
            case "labeled_statement" | "attributed_statement":
                for child in node.named_children:
                    if child.type in _STATEMENTS:
                        self._add(child, body)
            case _:
                body.append(self._opaque(node))

    def _if(self, node: Tree) -> ir.If:
        orelse = node.child_by_field_name("alternative")
        if orelse is not None and orelse.type == "else_clause":
            orelse = _first(orelse)
        return ir.If(
            node.start_byte,
            node.end_byte,
            self.expression(node.child_by_field_name("condition")),
            self.block(node.child_by_field_name("consequence")),
            self.block(orelse) if orelse is not None else None,
        )

    def _for(self, node: Tree) -> ir.Loop:
        init = node.child_by_field_name("initializer")
        condition, step = node.child_by_field_name("condition"), node.child_by_field_name("update")
        first: ir.Block | None = None
        if init is not None:
            is_statement = init.type in _STATEMENTS
            made: list[ir.Stmt] = []
            if is_statement:
                self._add(init, made)
            else:
                made.append(ir.Evaluate(init.start_byte, init.end_byte, self.expression(init)))
            first = ir.Block(init.start_byte, init.end_byte, made)
        return ir.Loop(
            node.start_byte,
            node.end_byte,
            "for",
            first,
            self.expression(condition) if condition is not None else None,
            self.expression(step) if step is not None else None,
            self.block(node.child_by_field_name("body")),
        )

    def _switch(self, node: Tree) -> ir.Switch:
        cases: list[tuple[ir.Expr | None, ir.Block]] = []
        body = node.child_by_field_name("body")
        for child in body.named_children if body is not None else []:
            if child.type == "case_statement":
                value = child.child_by_field_name("value")
                inside: list[ir.Stmt] = []
                for statement in child.named_children:
                    if value is None or statement != value:
                        self._add(statement, inside)
                block = ir.Block(child.start_byte, child.end_byte, inside)
                cases.append((self.expression(value) if value is not None else None, block))
        return ir.Switch(node.start_byte, node.end_byte, self.expression(node.child_by_field_name("condition")), cases)

    # --- declarations ------------------------------------------------------------------------------------------------------

    def declarations(self, node: Tree) -> list[ir.Stmt]:
        """One `Declare` a declarator."""
        words = {
            _text(c)
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
            type_ = self._types.named(_text(kind), pointers, const="const" in words)
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
        name = ir.Name(kind.start_byte, kind.end_byte, _text(kind))
        if declarator is None:
            return name
        other = declarator.child_by_field_name("declarator")
        if declarator.type != "pointer_declarator" or other is None or other.type != "identifier":
            return ir.Opaque(node.start_byte, node.end_byte, [])
        return ir.Binary(node.start_byte, node.end_byte, "*", name, self.expression(other))

    def _declarator(self, node: Tree | None) -> tuple[str, int, list[ir.Expr | None], bool] | None:
        """(name, stars, dimensions, whether a reference)."""
        pointers, dims, reference = 0, list[ir.Expr | None](), False
        while node is not None:
            match node.type:
                case "identifier" | "field_identifier" | "type_identifier":
                    return _text(node), pointers, dims, reference
                case "pointer_declarator":
                    pointers += 1
                    node = node.child_by_field_name("declarator")
                case "reference_declarator":
                    reference = True
                    node = _first(node)
                case "array_declarator":
                    size = node.child_by_field_name("size")
                    dims.insert(0, self.expression(size) if size is not None else None)
                    node = node.child_by_field_name("declarator")
                case "parenthesized_declarator" | "function_declarator":
                    node = node.child_by_field_name("declarator") or _first(node)
                case _:
                    return None
        return None


def _primitive(parameter: Tree) -> bool:
    """`float x`, `int`: a parameter of a function indeed; `unsigned(n)` is a cast."""
    kind, declarator = parameter.child_by_field_name("type"), parameter.child_by_field_name("declarator")
    cast = declarator is not None and declarator.type == "abstract_function_declarator"
    return kind is not None and kind.type in ("primitive_type", "sized_type_specifier") and not cast


def _first(node: Tree) -> Tree | None:
    return next((c for c in node.named_children if c.type != "comment"), None)


def _text(node: Tree) -> str:
    data = node.text
    return data.decode("utf-8", "replace") if data is not None else ""
