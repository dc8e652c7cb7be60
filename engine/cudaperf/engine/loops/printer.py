"""Prints trees as C that is also CUDA C++: the user's own text wherever nothing changed, structure elsewhere.

An expression or statement is printed as the first of these that applies:
1. the replacement that `rewrite` returns for it;
2. the user's text at its span, when `text` is given and nothing below it is rewritten;
3. that text edited at the spans of the rewritten nodes below it, when they all have one inside it;
4. structurally, with minimal parentheses, each child again by these rules.

An argument that C converts implicitly is given an explicit cast where C++ would choose another overload (`sqrt(x)` of a
float is a double computation in C, a float one in C++). Not promised: the layout of structurally printed code, or `const`
of local variables. Subclasses override `type_name`, `const`, `name`, `load`, `call`, `cast`, `binary`, ... to print the
same trees in another number type; they pass no `text`.
"""

from __future__ import annotations

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.conversions import implied, promote, scalar_of, strip_implicit, usual
from cudaperf.engine.loops.expression_printer import LEVEL, SHIFT, ExpressionPrinter, Rewrite, narrows, never
from cudaperf.engine.loops.verbatim import comments, dedented, edited, line_indent

__all__ = ["Printer", "Rewrite", "never"]

INDENT = "    "


class Printer(ExpressionPrinter):
    """See the module's docstring. `text` is the bytes of the file that spans refer to."""

    def statement(self, node: ir.Stmt, indent: int = 0) -> list[str]:
        """The statement's lines, indented by `indent` levels."""
        replaced = self.rewrite(node)
        lines = replaced.split("\n") if replaced else [] if replaced is not None else self._statement(node)
        return [INDENT * indent + line if line else line for line in lines]

    def _statement(self, node: ir.Stmt) -> list[str]:
        verbatim = self.from_text(node)
        if verbatim is None or self.text is None or node.span is None:
            return self._structure(node)
        simple = not isinstance(node, ir.For | ir.While | ir.If | ir.Block)
        end = ";" if simple and not verbatim.endswith((";", "}")) else ""
        return dedented(verbatim + end, line_indent(self.text, node.span.start))

    def _structure(self, node: ir.Stmt) -> list[str]:
        match node:
            case ir.For():
                return self._braced(self.for_header(node), node.body)
            case ir.While():
                return self.while_loop(node)
            case ir.If():
                return self.if_statement(node)
            case ir.Block():
                return self._braced("", node)
            case ir.PointerSwap():
                return [self.simple(node)]
            case _:
                return [self.simple(node) + ";"]

    def block(self, node: ir.Block, indent: int = 0) -> list[str]:
        """The lines of a block's statements, without braces, with the comments between them."""
        lines: list[str] = []
        at = node.span.start + 1 if node.span else None
        for statement in node.statements:
            lines += [INDENT * indent + c for c in self._comments(at, statement)]
            lines += self.statement(statement, indent)
            at = statement.span.end if statement.span else None
        return lines

    def _comments(self, at: int | None, statement: ir.Stmt) -> list[str]:
        if at is None or self.text is None or statement.span is None:
            return []
        return comments(self.text, at, statement.span.start)

    def _braced(self, head: str, body: ir.Block) -> list[str]:
        return [f"{head} {{".lstrip(), *self._body(body), "}"]

    def _body(self, body: ir.Block) -> list[str]:
        """A block's statements one level deeper; a rewritten block is its replacement."""
        replaced = self.rewrite(body)
        if replaced is None:
            return self.block(body, 1)
        return [INDENT + line if line else line for line in replaced.split("\n")]

    # --- compound statements -------------------------------------------------------------------------------------------

    def for_header(self, node: ir.For) -> str:
        """`for (...)`: the user's text where the bounds have one."""
        if self.text is not None and node.header is not None:
            parts = ir.Block(statements=tuple(ir.Return(value=e) for e in (node.lower, node.bound, node.step)))
            named = [(node.spelled, self.type_name(node.type))] if node.spelled else []
            text = edited(self.text, node.header, [*named, *self.edits(parts)])
            if text is not None:
                return text
        declared = f"{self.type_name(node.type)} " if node.declared else ""
        lower = self.expr(implied(node.lower, node.type))
        condition = self.binary(ir.Binary(op=node.relation, left=ir.Name(id=node.var, type=node.type), right=node.bound))
        return f"for ({declared}{node.var} = {lower}; {condition}; {self._step(node)})"

    def _step(self, node: ir.For) -> str:
        step = strip_implicit(node.step)
        if isinstance(step, ir.IntConst):
            sign, size = ("-", -step.value) if step.value < 0 else ("+", step.value)
            return f"{node.var}{sign * 2}" if size == 1 else f"{node.var} {sign}= {size}"
        return f"{node.var} += {self.expr(implied(node.step, node.type))}"

    def while_loop(self, node: ir.While) -> list[str]:
        if node.post_test:
            return ["do {", *self._body(node.body), f"}} while ({self.expr(node.condition)});"]
        if not node.init and not node.advance:
            return self._braced(f"while ({self.expr(node.condition)})", node.body)
        inline = all(isinstance(s, ir.Assign | ir.Evaluate) for s in node.init)
        init = ", ".join(self._clause(s) for s in node.init) if inline else ""
        advance = ", ".join(self._clause(s) for s in node.advance)
        loop = self._braced(f"for ({init}; {self.expr(node.condition)}; {advance})", node.body)
        if inline:
            return loop
        before = [line for s in node.init for line in self.statement(s, 1)]
        return ["{", *before, *(INDENT + line if line else line for line in loop), "}"]

    def _clause(self, node: ir.Stmt) -> str:
        return " ".join(line.strip() for line in self.statement(node)).removesuffix(";")

    def if_statement(self, node: ir.If) -> list[str]:
        lines = [f"if ({self.expr(node.condition)}) {{", *self._body(node.then)]
        if node.other is None:
            return [*lines, "}"]
        rest = node.other.statements
        if len(rest) == 1 and isinstance(rest[0], ir.If) and self.rewrite(node.other) is None:
            first, *more = self.statement(rest[0])
            return [*lines, f"}} else {first}", *more]
        return [*lines, "} else {", *self._body(node.other), "}"]

    # --- simple statements ---------------------------------------------------------------------------------------------

    def simple(self, node: ir.Stmt) -> str:
        """A statement without its semicolon."""
        match node:
            case ir.Assign():
                return self.assign(node)
            case ir.Decl():
                return self.declaration(node)
            case ir.PointerDecl():
                kind = self.type_name(node.type)
                return f"{kind} *{node.name} = ({kind} *){node.array} + {self.operand(node.offset, LEVEL['+'] + 1)}"
            case ir.PointerSwap(first=a, second=b):
                return f"{{ __typeof__({a} + 0) swapped = {a}; {a} = {b}; {b} = swapped; }}"
            case ir.Return():
                return "return" if node.value is None else f"return {self.expr(self._returned(node.value))}"
            case ir.Evaluate():
                return self.expr(node.call)
            case _:
                return "break" if isinstance(node, ir.Break) else "continue"

    @staticmethod
    def _returned(value: ir.Expr) -> ir.Expr:
        return implied(value, value.type)

    def assign(self, node: ir.Assign) -> str:
        target, value = self.expr(node.target), node.value
        if node.op in ("+", "-") and isinstance(value, ir.IntConst) and value.value == 1:
            return f"{target}{node.op * 2}"
        return f"{target} {node.op or ''}= {self.expr(implied(value, self._context(node)))}"

    @staticmethod
    def _context(node: ir.Assign) -> ir.Type | None:
        """The type that C converts the right side of an assignment to."""
        left, right = scalar_of(node.target.type), scalar_of(strip_implicit(node.value).type)
        if node.op is None or left is None or right is None:
            return node.target.type
        return promote(right) if node.op in SHIFT else usual(left, right)

    def declaration(self, node: ir.Decl) -> str:
        text = f"{self.type_name(node.type)} {node.name}{self.subscripts(node.dims)}"
        if node.init is None:
            return text
        if isinstance(node.init, tuple):
            items = (self.expr(i if narrows(i, node.type) else implied(i, node.type)) for i in node.init)
            return f"{text} = {{{', '.join(items)}}}"
        return f"{text} = {self.expr(implied(node.init, node.type))}"
