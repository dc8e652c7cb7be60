"""Lower C loops: canonical ones to `For`, all others to `While`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.conversions import preserves, strip_implicit
from cudaperf.engine.reason import ReasonCode
from cudaperf.engine.sources.c.expressions import ASSIGN, COMMA, at, inner, opcode
from cudaperf.engine.sources.c.loop_tests import least, tested
from cudaperf.engine.sources.c.pointer_roles import is_pointer_change
from cudaperf.engine.sources.c.scope import assigned_names, read_names
from cudaperf.engine.sources.c.statements import Statements, whole
from cudaperf.engine.sources.c.syntax import Syntax
from cudaperf.engine.sources.c.text import matching, skip

TRUE = ir.IntConst(value=1)


@dataclass(frozen=True, slots=True)
class Header:
    """The parts of `for (...)`, each None where it is missing."""

    init: Syntax | None
    condition: Syntax | None
    advance: Syntax | None
    span: ir.Span | None


NO_HEADER = Header(None, None, None, None)


class Loops(Statements):
    """for, while, do."""

    def loop(self, syntax: Syntax) -> list[ir.Stmt]:
        self.depth += 1
        self.scopes.append(set())
        self.check_links(syntax)
        if syntax.kind == "FOR_STMT":
            result = self.for_loop(syntax)
        else:
            result = self.while_loop(syntax) if syntax.kind == "WHILE_STMT" else self.do_loop(syntax)
        self.scopes.pop()
        self.depth -= 1
        if not self.depth and len(self.context.active) == 1:
            self.check_end(result, syntax)
        return result

    def check_links(self, syntax: Syntax) -> None:
        """Following pointers from object to object is refused where the next one is fetched: `p = p->next`."""
        for node in syntax.walk():
            if not is_pointer_change(node) or opcode(node) != ASSIGN:
                continue
            target, source = inner(node.children[0]), inner(node.children[1])
            base = inner(source.children[0]) if source.kind == "MEMBER_REF_EXPR" and source.children else source
            if base is not source and base.kind == "DECL_REF_EXPR" and base.cursor.referenced == target.cursor.referenced:
                how = f"{target.spelling}->{source.spelling}"
                message = f"the loop follows {how} from one object to the next: its end is found in the data"
                self.refuse(node, message, ReasonCode.UNBOUNDED)

    def check_end(self, result: list[ir.Stmt], syntax: Syntax) -> None:
        """A loop that looks for its own end in an array, as in a string, is known to be bounded by nothing."""
        for loop in result:
            if not isinstance(loop, ir.While) or any(isinstance(n, ir.For) for n in ir.walk(loop)):
                continue
            changed = set(assigned_names(loop))
            searched = [_searched(part, changed) for part in conjuncts(condition_of(loop))]
            if searched and all(searched):
                message = f"the loop's end is found in the data of {searched[0]}, so nothing bounds how far it goes"
                self.refuse(syntax, message, ReasonCode.UNBOUNDED)

    def while_loop(self, syntax: Syntax) -> list[ir.Stmt]:
        before, condition, after = self.condition(syntax.children[0])
        body = self.block(syntax.children[1])
        counted = self.counted(syntax, condition, body) if not before and not after else None
        return (
            counted
            or self.countdown(syntax, before, condition, after, body)
            or [self.tested_first(syntax, before, condition, after, body)]
        )

    def counted(self, syntax: Syntax, condition: ir.Expr, body: ir.Block) -> list[ir.Stmt] | None:
        """`while (k > 0) { ...; k--; }`: the step at the end of the body is the loop's."""
        if not body.statements or continues(body):
            return None
        *head, last = body.statements
        rest = ir.Block(statements=tuple(head), near=body.place)
        return self.canonical(syntax, NO_HEADER, [], condition, [last], rest)

    def countdown(
        self, syntax: Syntax, before: list[ir.Stmt], condition: ir.Expr, after: list[ir.Stmt], body: ir.Block
    ) -> list[ir.Stmt] | None:
        """`while (n--) body` as `for (; n > 0;) { n--; body } n--;` where the body leaves n alone (below 0 it overflows)."""
        name = strip_implicit(condition)
        if before or len(after) != 1 or not isinstance(name, ir.Name) or continues(body, leaving=True):
            return None
        found = self.stepped_variable(after[0])
        if found is None or found[0] != name.id or not is_one_down(found[2]):
            return None
        zero = ir.IntConst(value=0, type=found[1], near=syntax.place)
        test = ir.Binary(op=">", left=name, right=zero, near=syntax.place)
        loop = self.going_on(syntax, [], test, after[0], body, stepping_first=True)
        return [*loop, *after] if loop else None

    def tested_first(
        self, syntax: Syntax, before: list[ir.Stmt], condition: ir.Expr, after: list[ir.Stmt], body: ir.Block
    ) -> ir.While:
        """A while loop; side effects of its condition move into the body.

        `while (c) body` becomes `while (1) { if (!c) { effects; break; } effects; body }`.
        """
        if not before and not after:
            return ir.While(condition=condition, body=body, span=whole(syntax), near=syntax.near)
        near = syntax.place
        leave = ir.Block(statements=(*after, ir.Break(near=near)), near=near)
        test = ir.If(condition=ir.Unary(op="!", operand=condition, near=near), then=leave, near=near)
        statements = (*before, test, *after, *body.statements)
        return ir.While(condition=replace(TRUE, near=near), body=ir.Block(statements=statements, near=near), near=near)

    def do_loop(self, syntax: Syntax) -> list[ir.Stmt]:
        body = self.block(syntax.children[0])
        before, condition, after = self.condition(syntax.children[1])
        if after or (before and any(isinstance(n, ir.Continue) for n in ir.walk(body))):
            self.refuse(syntax.children[1], "a side effect inside a loop's condition: write it as a statement of its own")
        if before:
            body = ir.Block(statements=(*body.statements, *before), near=body.place)
        span = None if before else whole(syntax)
        return [ir.While(condition=condition, body=body, post_test=True, span=span, near=syntax.place)]

    # --- for -----------------------------------------------------------------------------------------------------------

    def header(self, syntax: Syntax) -> Header:
        """Which part of the header each child is: libclang leaves out missing ones."""
        parts = syntax.children[:-1]
        text, start = syntax.source.text, syntax.start
        opening = skip(text, start + 3) if not syntax.in_macro and text[start : start + 3] == b"for" else -1
        closing, semicolons = matching(text, opening) if text[opening : opening + 1] == b"(" and opening > 0 else (-1, [])
        span = ir.Span(start, closing + 1) if closing > 0 and syntax.span is not None else None
        if len(parts) == 3:
            return Header(parts[0], parts[1], parts[2], span)
        if len(semicolons) != 2:
            self.refuse(syntax, "a for loop with missing parts, from a macro")
        found: list[Syntax | None] = [None, None, None]
        for part in parts:
            found[sum(part.start > s for s in semicolons)] = part
        return Header(found[0], found[1], found[2], span)

    def for_loop(self, syntax: Syntax) -> list[ir.Stmt]:
        header = self.header(syntax)
        init = self.clauses(header.init)
        before, condition, after = self.condition(header.condition) if header.condition else ([], TRUE, [])
        body = self.block(syntax.children[-1])
        advance = self.clauses(header.advance)
        if before or after:
            loop = self.tested_first(syntax, before, condition, after, body)
            return [replace(loop, init=tuple(init), advance=tuple(advance))]
        canonical = self.canonical(syntax, header, init, condition, advance, body)
        canonical = canonical or self.narrowed(syntax, header, init, condition, advance, body)
        if canonical is not None:
            return canonical
        loop = ir.While(
            condition=condition, body=body, init=tuple(init), advance=tuple(advance), span=whole(syntax), near=syntax.near
        )
        return [loop]

    def clauses(self, syntax: Syntax | None) -> list[ir.Stmt]:
        """The statements of a header's part: a declaration or expressions between commas."""
        if syntax is None:
            return []
        top = inner(syntax)
        if opcode(top) == COMMA and top.kind == "BINARY_OPERATOR":
            return [s for part in top.children for s in self.clauses(part)]
        lower = self.declarations if syntax.kind == "DECL_STMT" else self.expression
        return self.with_effects(syntax, lower)

    def canonical(
        self,
        syntax: Syntax,
        header: Header,
        init: list[ir.Stmt],
        condition: ir.Expr,
        advance: list[ir.Stmt],
        body: ir.Block,
    ) -> list[ir.Stmt] | None:
        """The loop as a `For`, its header's other parts before it and at the end of its body; None if it is not canonical.

        Where nothing sets the variable first, the loop goes on from its value (`going_on`).
        """
        for position, step in enumerate(advance):
            rest = [*advance[:position], *advance[position + 1 :]]
            whole_body = body if not rest else ir.Block(statements=(*body.statements, *rest), near=body.place)
            found = self.stepped_variable(step)
            if found is None or (rest and (continues(body) or any(found[0] in read_names(s) for s in rest))):
                continue
            plain = header if not rest else replace(header, span=None)
            if not any(starts(s, found[0]) for s in init):
                loop = self.going_on(syntax, init, condition, step, whole_body)
            else:
                loop = self.over(syntax, plain, init, condition, found, whole_body)
            if loop is not None:
                return loop
        return None

    def narrowed(
        self,
        syntax: Syntax,
        header: Header,
        init: list[ir.Stmt],
        condition: ir.Expr,
        advance: list[ir.Stmt],
        body: ir.Block,
    ) -> list[ir.Stmt] | None:
        """`for (...; j < k && test; ...) body` as `for (...; j < k; ...) { if (!test) break; body }`."""
        parts, near = conjuncts(condition), syntax.place
        for position, part in enumerate(parts if len(parts) > 1 else ()):
            first, *others = [*parts[:position], *parts[position + 1 :]]
            for other in others:
                first = ir.Binary(op="&&", left=first, right=other, near=near)
            leave = ir.Block(statements=(ir.Break(near=near),), near=near)
            test = ir.If(condition=ir.Unary(op="!", operand=first, near=near), then=leave, near=near)
            inner_body = ir.Block(statements=(test, *body.statements), near=body.place)
            found = self.canonical(syntax, replace(header, span=None), init, part, advance, inner_body)
            if found is not None:
                return found
        return None

    def over(
        self,
        syntax: Syntax,
        header: Header,
        init: list[ir.Stmt],
        condition: ir.Expr,
        variable: tuple[str, ir.Scalar, ir.Expr],
        body: ir.Block,
    ) -> list[ir.Stmt] | None:
        """The loop over a variable with a known type and step."""
        name, kind, step = variable
        start = next((s for s in init if starts(s, name)), None)
        test = tested(condition, name)
        if test is None:
            test, header = least(conjuncts(condition), name), replace(header, span=None)
        changed = set(assigned_names(body)) | self.helper_changes(body)
        if test is None or name in changed:
            return None
        relation, bound = test
        if (read_names(bound) | read_names(step)) & (changed | {name}):
            return None
        others = [s for s in init if s is not start]
        lower = start.init if isinstance(start, ir.Decl) else start.value if isinstance(start, ir.Assign) else None
        if lower is None or isinstance(lower, tuple) or any(name in read_names(s) for s in others):
            return None
        plain = header.span is not None and not others
        loop = ir.For(
            var=name,
            type=kind,
            lower=lower,
            relation=relation,
            bound=bound,
            step=step,
            body=body,
            declared=isinstance(start, ir.Decl),
            header=header.span if plain else None,
            spelled=start.spelled if isinstance(start, ir.Decl) else None,
            span=whole(syntax) if plain else None,
            near=syntax.place,
        )
        if not others:
            return [loop]
        if isinstance(start, ir.Assign):
            return [*others, loop]
        return [ir.Block(statements=(*others, loop), **at(syntax))]

    def going_on(
        self,
        syntax: Syntax,
        init: list[ir.Stmt],
        condition: ir.Expr,
        step: ir.Stmt,
        body: ir.Block,
        stepping_first: bool = False,
    ) -> list[ir.Stmt] | None:
        """`for (; k > 0; k--) body` as `k_from = k; for (int k_now = k_from; k_now > 0; k_now--) { body k--; }`."""
        found = self.stepped_variable(step)
        if found is None or found[0] in assigned_names(body):
            return None
        name, kind, by = found
        test = tested(condition, name)
        if test is None or name in read_names(test[1]):
            return None
        relation, bound = test
        held, now = self.fresh(f"{name}_from"), self.fresh(f"{name}_now")
        here = ir.Name(id=now, type=kind, near=syntax.place)
        start = ir.Decl(name=now, type=kind, init=ir.Name(id=held, type=kind, near=syntax.place), near=syntax.place)
        again = ir.Binary(op=relation, left=here, right=bound, near=syntax.place)
        order = (step, *body.statements) if stepping_first else (*body.statements, step)
        stepping = ir.Block(statements=order, near=body.place)
        loop = self.over(syntax, NO_HEADER, [start], again, (now, kind, by), stepping)
        if loop is None:
            return None
        self.scopes[0] |= {held, now}
        value = ir.Name(id=name, type=kind, near=syntax.place)
        return [*init, ir.Decl(name=held, type=kind, init=value, near=syntax.place), *loop]

    def helper_changes(self, body: ir.Block) -> set[str]:
        """File-scope variables that functions called in the body may change."""
        called = {n.name for n in ir.walk(body) if isinstance(n, ir.Call)}
        functions = [f for name, f in self.context.helpers.items() if name in called]
        return {g.name for f in functions for g in f.globals if not g.const}

    @staticmethod
    def stepped_variable(step: ir.Stmt) -> tuple[str, ir.Scalar, ir.Expr] | None:
        """(variable, type, signed step) of `i++`, `i += e`, `i = i + e`, ..."""
        if not isinstance(step, ir.Assign) or not isinstance(step.target, ir.Name):
            return None
        target, op, value = step.target, step.op, step.value
        if not isinstance(target.type, ir.Scalar) or target.type.kind != "int":
            return None
        if op is None:
            split = increment(strip_implicit(value), target.id)
            if split is None:
                return None
            op, value = split
        if op not in ("+", "-"):
            return None
        return target.id, target.type, value if op == "+" else negated(value)


def condition_of(loop: ir.While) -> ir.Expr:
    """A loop's condition, also where its side effects had to move into the body (`tested_first`)."""
    first = next((s for s in loop.body.statements if isinstance(s, ir.If)), None)
    if loop.condition == TRUE and first is not None and isinstance(first.condition, ir.Unary):
        return first.condition.operand
    return loop.condition


def conjuncts(condition: ir.Expr) -> list[ir.Expr]:
    condition = strip_implicit(condition)
    if isinstance(condition, ir.Binary) and condition.op == "&&":
        return [*conjuncts(condition.left), *conjuncts(condition.right)]
    return [condition]


def _searched(condition: ir.Expr, changed: set[str]) -> str | None:
    """The array whose elements, at places that change, decide alone."""
    loads = [n for n in ir.walk(condition) if isinstance(n, ir.Load)]
    below = {id(x) for n in loads for x in ir.walk(n)}
    outside = {n.id for n in ir.walk(condition) if isinstance(n, ir.Name) and id(n) not in below}
    moving = [n.array for n in loads if any(read_names(i) & changed for i in n.indices)]
    return moving[0] if moving and not outside & changed else None


def continues(body: ir.Block, leaving: bool = False) -> bool:
    """Whether an iteration may skip the end of the loop's body; with `leaving`, also whether it may end the loop."""
    kinds = (ir.Continue, ir.Break) if leaving else (ir.Continue,)

    def search(node: ir.Node, own: bool) -> bool:
        found = (own and isinstance(node, kinds)) or (leaving and isinstance(node, ir.Return))
        return found or any(search(c, own and not isinstance(node, ir.For | ir.While)) for c in ir.children(node))

    return search(body, True)


def is_one_down(step: ir.Expr) -> bool:
    bare = strip_implicit(step)
    return isinstance(bare, ir.IntConst) and bare.value == -1


def starts(statement: ir.Stmt, name: str) -> bool:
    """Whether a statement gives the variable its first value."""
    if isinstance(statement, ir.Decl):
        return statement.name == name and statement.init is not None
    is_plain = isinstance(statement, ir.Assign) and statement.op is None
    return is_plain and isinstance(statement.target, ir.Name) and statement.target.id == name  # type: ignore[union-attr]


def increment(value: ir.Expr, name: str) -> tuple[str, ir.Expr] | None:
    """("+", e) for `i + e` or `e + i`, ("-", e) for `i - e`."""
    if not isinstance(value, ir.Binary) or value.op not in ("+", "-"):
        return None
    left, right = strip_implicit(value.left), strip_implicit(value.right)
    if isinstance(left, ir.Name) and left.id == name:
        return value.op, value.right
    if value.op == "+" and isinstance(right, ir.Name) and right.id == name:
        return "+", value.left
    return None


def negated(value: ir.Expr) -> ir.Expr:
    bare = strip_implicit(value)
    if isinstance(bare, ir.IntConst) and (bare.type.signed or preserves(bare.type, ir.LONG) or bare.value < 1 << 31):
        signed = bare.type if bare.type.signed else ir.INT
        return ir.IntConst(value=-bare.value, type=signed, near=bare.place)
    kind = value.type if isinstance(value.type, ir.Scalar) else ir.INT
    return ir.Unary(op="-", operand=value, type=kind, near=value.place)
