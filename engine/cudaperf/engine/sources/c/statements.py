"""Lower C statements other than loops to `loops.ir`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from cudaperf.engine.loops import ir
from cudaperf.engine.sources.c.declarations import Declarations
from cudaperf.engine.sources.c.expressions import ASSIGN, COMMA, at, inner, is_effect, opcode
from cudaperf.engine.sources.c.parse import evaluate
from cudaperf.engine.sources.c.pointer_roles import Rotation
from cudaperf.engine.sources.c.scope import Binding, assigned_names, read_names
from cudaperf.engine.sources.c.syntax import Syntax
from cudaperf.engine.sources.c.text import skip

REFUSED = {"GOTO_STMT": "goto", "LABEL_STMT": "a label (goto)", "INDIRECT_GOTO_STMT": "goto", "ASM_STMT": "inline assembly"}
REFUSED |= {"MS_ASM_STMT": "inline assembly", "StmtExpr": "a statement expression"}
ENDS = (ir.Break, ir.Return, ir.Continue)


def whole(syntax: Syntax) -> ir.Span | None:
    """A statement's span with its semicolon."""
    text, span = syntax.source.text, syntax.span
    if span is None or text[span.end - 1 : span.end] in (b";", b"}"):
        return span
    end = skip(text, span.end)
    return ir.Span(span.start, end + 1) if text[end : end + 1] == b";" else span


class Statements(Declarations):
    """Blocks, conditions, expression statements."""

    def loop(self, syntax: Syntax) -> list[ir.Stmt]:
        raise NotImplementedError

    def block(self, syntax: Syntax) -> ir.Block:
        """A statement as a block; one without braces has no text as a block."""
        if syntax.kind != "COMPOUND_STMT":
            self.scopes.append(set())
            statements = self.statement(syntax)
            self.scopes.pop()
            return ir.Block(statements=tuple(statements), near=syntax.place)
        self.scopes.append(set())
        statements, index = [], 0
        while index < len(syntax.children):
            rotation = self.roles.rotations.get(id(syntax.children[index]))
            if rotation is not None:
                statements += self.rotated(syntax.children[index : index + rotation.length], rotation)
                index += rotation.length
            else:
                statements += self.statement(syntax.children[index])
                index += 1
        self.scopes.pop()
        self.check_aliases(statements, syntax)
        return ir.Block(statements=tuple(statements), **at(syntax))

    def rotated(self, copies: list[Syntax], rotation: Rotation) -> list[ir.Stmt]:
        """Exchanges of pointers; a single one keeps the text of its statements."""
        for saved in rotation.saved:
            self.declare(saved, Binding(saved.spelling, "alias", self.shape(saved)))
        start, end = copies[0].span, whole(copies[-1])
        span = ir.Span(start.start, end.end) if start and end and len(rotation.exchanges) == 1 else None
        return [ir.PointerSwap(first=a, second=b, span=span, near=copies[0].place) for a, b in rotation.exchanges]

    def check_aliases(self, statements: list[ir.Stmt], syntax: Syntax) -> None:
        """A local pointer's place must not depend on what changes while it is in scope."""
        for index, statement in enumerate(statements):
            if not isinstance(statement, ir.PointerDecl):
                continue
            rest = ir.Block(statements=tuple(statements[index + 1 :]))
            changed = set(assigned_names(rest)) & read_names(statement.offset)
            swaps = [s for s in ir.walk(rest) if isinstance(s, ir.PointerSwap) and statement.array in (s.first, s.second)]
            if changed or (swaps and not self.is_swapped(statement.name)):
                name = min(changed) if changed else statement.array
                self.refuse_at(
                    statement,
                    syntax,
                    f"{statement.name} is set from {name}, and {name} changes while {statement.name} is in use",
                )

    def is_swapped(self, name: str) -> bool:
        return any(b.name == name and b.kind == "array" for b in self.bindings.values())

    def refuse_at(self, node: ir.Node, syntax: Syntax, message: str) -> None:
        pointed = replace_place(syntax, node.place)
        self.refuse(pointed, message)

    # --- one statement -------------------------------------------------------------------------------------------------

    def statement(self, syntax: Syntax) -> list[ir.Stmt]:
        """The statements that one of C's becomes."""
        if syntax.kind in REFUSED:
            self.refuse(syntax, f"{REFUSED[syntax.kind]} is not supported")
        match syntax.kind:
            case "COMPOUND_STMT":
                return [self.block(syntax)]
            case "DECL_STMT":
                return self.with_effects(syntax, self.declarations)
            case "FOR_STMT" | "WHILE_STMT" | "DO_STMT":
                return self.loop(syntax)
            case "IF_STMT":
                return self.if_statement(syntax)
            case "SWITCH_STMT":
                return self.switch(syntax)
            case "RETURN_STMT":
                return self.returned(syntax)
            case "BREAK_STMT":
                return [ir.Break(span=whole(syntax), near=syntax.near)]
            case "CONTINUE_STMT":
                return [ir.Continue(span=whole(syntax), near=syntax.near)]
            case "NULL_STMT":
                return []
            case "UNEXPOSED_STMT" if len(syntax.children) == 1:  # an attribute, such as a pragma's, around a statement
                return self.statement(syntax.children[0])
            case "CASE_STMT" | "DEFAULT_STMT":
                self.refuse(syntax, "a case label inside another statement")
        if self.is_assertion(syntax):
            return []
        return self.with_effects(syntax, self.expression)

    def with_effects(self, syntax: Syntax, lower: Any) -> list[ir.Stmt]:
        """Lower a statement between the side effects that move out of it."""
        outer = self.before, self.after, self.may_hoist
        self.before, self.after, self.may_hoist = [], [], True
        self.mark_effects(syntax)
        middle = lower(syntax)
        result = [*self.before, *middle, *self.after]
        self.before, self.after, self.may_hoist = outer
        return result

    def mark_effects(self, syntax: Syntax) -> None:
        """Nodes that hold a side effect lose their text up to the statement."""
        top = inner(syntax)
        for node in syntax.walk():
            if is_effect(node) and node is not top:
                up: Syntax | None = node
                while up is not None and up is not syntax.parent:
                    up.near, up.span = up.place, None
                    up = up.parent

    def expression(self, syntax: Syntax) -> list[ir.Stmt]:
        top = inner(syntax)
        if opcode(top) == COMMA and top.kind == "BINARY_OPERATOR":
            for part in top.children:
                part.near, part.span = syntax.place, None
            return [s for part in top.children for s in self.with_effects(part, self.expression)]
        if is_effect(top):
            change = self.assignment(top)
            return [replace(change, span=whole(syntax), near=syntax.near)]
        if top.kind == "CALL_EXPR":
            return self.call_statement(top, syntax)
        if top.kind == "CSTYLE_CAST_EXPR" and top.cursor.type.spelling == "void":
            return self.discarded(top, syntax)
        self.lower(top)  # its value is not used; what it can't be is still refused
        return []

    def discarded(self, top: Syntax, syntax: Syntax) -> list[ir.Stmt]:
        operand = inner(top.children[-1])
        if operand.kind == "DECL_REF_EXPR" or isinstance(evaluate(operand.cursor), int):
            return []
        return self.expression(operand)

    def call_statement(self, top: Syntax, syntax: Syntax) -> list[ir.Stmt]:
        name = self.callee(top)
        if (
            name in ("memset", "memcpy", "memmove", "__builtin_memset", "__builtin_memcpy")
            and name not in self.context.definitions
        ):
            return self.memory_call(top, syntax, name.removeprefix("__builtin_"))
        call = self.call(top)
        if not isinstance(call, ir.Call):
            return []
        return [ir.Evaluate(call=call, span=whole(syntax), near=syntax.near)]

    def memory_call(self, top: Syntax, syntax: Syntax, name: str) -> list[ir.Stmt]:
        raise NotImplementedError

    def is_assertion(self, syntax: Syntax) -> bool:
        """`assert(n > 0)` at the start of the function is an assumption; elsewhere it could stop the program."""
        use = syntax.source.use_at(syntax.start) if syntax.in_macro else -1
        if use < 0 or syntax.source.uses[use].name != "assert" or "NDEBUG" in self.context.macros.definitions:
            return False
        named = [s.cursor.referenced for s in syntax.walk() if s.kind == "DECL_REF_EXPR"]
        variables = [d for d in named if d is not None and d.kind.name in ("VAR_DECL", "PARM_DECL")]
        is_top = syntax.parent is not None and syntax.parent.parent is not None and syntax.parent.parent.kind == "FUNCTION_DECL"
        if not is_top or self.depth or any(d.kind.name != "PARM_DECL" for d in variables):
            self.refuse(syntax, "assert can stop the program here: define NDEBUG, or state it as `cudaperf: assume`")
        pointers = {d.spelling for d in variables if self.bindings[d.hash].kind != "scalar"}
        self.assume(syntax, syntax.source.uses[use].span, pointers)
        return True

    def assume(self, syntax: Syntax, span: ir.Span, pointers: set[str]) -> None:
        """Note the parts of `assert(a && b)` that speak of numbers; that pointers are valid is assumed anyway."""
        text = syntax.source.text[span.start : span.end].decode(errors="replace")
        at = span if syntax.source.is_main else None
        parts = text[text.index("(") + 1 : text.rindex(")")].split("&&")
        if all(p.count("(") == p.count(")") for p in parts):
            self.context.assumptions += [(p.strip(), at) for p in parts if not pointers & set(re.findall(r"\w+", p))]
        elif not pointers:
            self.context.assumptions.append(("&&".join(parts).strip(), at))

    # --- conditions ----------------------------------------------------------------------------------------------------

    def condition(self, syntax: Syntax) -> tuple[list[ir.Stmt], ir.Expr, list[ir.Stmt]]:
        """A condition with the statements that must come before and after its evaluation."""
        outer = self.before, self.after, self.may_hoist
        self.before, self.after, self.may_hoist = [], [], True
        self.mark_effects(syntax)
        if opcode(inner(syntax)) == ASSIGN:
            self.mark_textless(syntax)
        value = self.lower(syntax)
        result = self.before, value, self.after
        self.before, self.after, self.may_hoist = outer
        return result

    @staticmethod
    def mark_textless(syntax: Syntax) -> None:
        for node in syntax.walk():
            node.near, node.span = node.place, None

    def if_statement(self, syntax: Syntax) -> list[ir.Stmt]:
        before, condition, after = self.condition(syntax.children[0])
        then = self.block(syntax.children[1])
        other = self.block(syntax.children[2]) if len(syntax.children) > 2 else None
        if after:
            then = ir.Block(statements=(*after, *then.statements), near=then.place)
            other = ir.Block(statements=(*after, *(other.statements if other else ())), near=syntax.place)
        span = None if before or after else whole(syntax)
        return [*before, ir.If(condition=condition, then=then, other=other, span=span, near=syntax.place)]

    def returned(self, syntax: Syntax) -> list[ir.Stmt]:
        if not syntax.children:
            return [ir.Return(span=whole(syntax), near=syntax.near)]
        before, value, after = self.condition(syntax.children[0])
        if any(isinstance(s, ir.Assign) and isinstance(s.target, ir.Load) for s in after):
            self.refuse(syntax, "a side effect inside a returned value")
        span = None if before or after else whole(syntax)
        return [*before, ir.Return(value=value, span=span, near=syntax.place)]

    # --- switch --------------------------------------------------------------------------------------------------------

    def switch(self, syntax: Syntax) -> list[ir.Stmt]:
        """A switch whose cases all end in break, return or continue, as a chain of conditions."""
        selector_syntax, body = syntax.children[0], syntax.children[-1]
        if body.kind != "COMPOUND_STMT" or any(is_effect(s) for s in selector_syntax.walk()):
            self.refuse(syntax, "this form of switch is not supported")
        selector = self.lower(selector_syntax)
        arms = [self.arm(labels, part, syntax) for labels, part in self.arms(body, syntax)]
        chosen = [a for a in arms if a[0]]
        default = next((a[1] for a in arms if not a[0]), None)
        for labels, block in reversed(chosen):
            condition = self.any_of(selector, labels, syntax)
            arm = ir.If(condition=condition, then=block, other=default, near=syntax.place)
            default = ir.Block(statements=(arm,), near=syntax.place)
        return list(default.statements) if default is not None else []

    def arms(self, body: Syntax, syntax: Syntax) -> list[tuple[list[Syntax | None], list[Syntax]]]:
        """(labels, statements) of each case; None stands for `default`."""
        found: list[tuple[list[Syntax | None], list[Syntax]]] = []
        for child in body.children:
            labels: list[Syntax | None] = []
            while child.kind in ("CASE_STMT", "DEFAULT_STMT"):
                labels.append(child.children[0] if child.kind == "CASE_STMT" else None)
                if child.kind == "CASE_STMT" and len(child.children) > 2:
                    self.refuse(child, "a range of case labels")
                child = child.children[-1]
            if labels:
                found.append((labels, []))
            elif not found:
                self.refuse(child, "a statement before the first case")
            found[-1][1].append(child)
        return found

    def arm(self, labels: list[Syntax | None], part: list[Syntax], syntax: Syntax) -> tuple[list[Syntax], ir.Block]:
        self.scopes.append(set())
        if len(part) == 1 and part[0].kind == "COMPOUND_STMT":
            part = part[0].children
        statements = [s for p in part for s in self.statement(p)]
        self.scopes.pop()
        is_last = part[-1].parent is not None and part[-1].end >= syntax.children[-1].children[-1].end
        if not (statements and isinstance(statements[-1], ENDS)) and not is_last:
            self.refuse(part[-1], "a case that falls through to the next")
        if statements and isinstance(statements[-1], ir.Break):
            statements.pop()
        if any(self.breaks_out(s) for s in statements):
            self.refuse(part[0], "a break in the middle of a case")
        chosen = [] if None in labels else [label for label in labels if label is not None]
        return chosen, ir.Block(statements=tuple(statements), near=syntax.place)

    def breaks_out(self, node: ir.Node) -> bool:
        """Whether a break below leaves the switch, not a loop inside it."""
        if isinstance(node, ir.Break):
            return True
        return not isinstance(node, ir.For | ir.While) and any(self.breaks_out(c) for c in ir.children(node))

    def any_of(self, selector: ir.Expr, labels: list[Syntax], syntax: Syntax) -> ir.Expr:
        tests: list[ir.Expr] = []
        for label in labels:
            tests.append(ir.Binary(op="==", left=selector, right=self.lower(label), near=syntax.place))
        result = tests[0]
        for test in tests[1:]:
            result = ir.Binary(op="||", left=result, right=test, near=syntax.place)
        return result


def replace_place(syntax: Syntax, place: ir.Span | None) -> Syntax:
    """A syntax node to point with, at another place of the same file."""
    return Syntax(
        syntax.cursor, syntax.kind, syntax.start, syntax.end, syntax.source, span=place or syntax.span, near=syntax.near
    )
