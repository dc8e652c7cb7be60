"""tree-sitter nodes to `ir`: one function body at a time, tolerant of everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.lower_declarations import Declarations
from cudaperf.engine.cuda.nodes import STATEMENTS, alive, first_child

if TYPE_CHECKING:
    from tree_sitter import Node as Tree


class Lowering(Declarations):
    """Lowers the nodes of one file."""

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
                live = alive(node)
                if live is None:
                    return
                skipped = [live.child_by_field_name("name"), live.child_by_field_name("condition")]
                for child in live.named_children:
                    if child not in skipped and child.type not in ("preproc_else", "preproc_elif"):
                        self._add(child, body)
            case "expression_statement":
                inner = first_child(node)
                declared = self.array_reference(inner)
                if declared is not None:
                    body.append(declared)
                elif inner is not None:
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
                value = first_child(node)
                body.append(ir.Return(start, end, self.expression(value) if value is not None else None))
            case "break_statement" | "continue_statement" | "goto_statement":
                body.append(ir.Jump(start, end, node.type.removesuffix("_statement")))  # type: ignore[arg-type]
            case "labeled_statement" | "attributed_statement":
                for child in node.named_children:
                    if child.type in STATEMENTS:
                        self._add(child, body)
            case _:
                body.append(self._opaque(node))

    def _if(self, node: Tree) -> ir.If:
        orelse = node.child_by_field_name("alternative")
        if orelse is not None and orelse.type == "else_clause":
            orelse = first_child(orelse)
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
            is_statement = init.type in STATEMENTS
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
