"""The polyhedral model of a function: statements with their loops, guards and memory accesses.

A symbolic walk in program order keeps the polynomial value of every integer scalar, so that `int y0 = y > 0 ? y - 1 : 0`,
`row = a + i*n` and hand-kept counters (`k++`) end up as subscripts in terms of iterators and parameters. What is not known
becomes an opaque atom (see `poly`): every domain is a superset of the instances that run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.convert import Environment, split, to_poly
from cudaperf.engine.loops.poly import ONE, TRUE, And, Atoms, Compare, Condition, Poly, compare


@dataclass(frozen=True, slots=True, eq=False)
class LoopVar:
    """One loop. `atom` names its iterator uniquely in the function; `condition` bounds it; `while` loops count passes.

    `step` is None where it is not a constant. `exact` is False when the condition is only a superset of the iterations that
    run (data-dependent bounds, `while`).
    """

    node: ir.For | ir.While
    atom: str
    condition: Condition
    exact: bool
    step: int | None = 1

    @property
    def canonical(self) -> bool:
        return isinstance(self.node, ir.For)


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One memory reference. `subscripts` has one polynomial an index; None when the whole array may be touched. `tests` are the
    conditions within the statement that it stands behind: of `?:`, `&&` and `||`."""

    array: str
    node: ir.Load | ir.Address
    write: bool
    subscripts: tuple[Poly, ...] | None
    statement: Statement
    path: tuple[str, ...] = ()
    tests: tuple[Condition, ...] = ()

    @property
    def guards(self) -> tuple[Condition, ...]:
        return self.statement.guards + self.tests

    @property
    def domain(self) -> Condition:
        """The instances that make the reference."""
        return And((self.statement.domain, *self.tests)) if self.tests else self.statement.domain


@dataclass(slots=True, eq=False)
class Statement:
    """A leaf statement, or the control expressions of a loop or branch (`control`)."""

    index: int
    node: ir.Stmt | ir.Expr
    loops: tuple[LoopVar, ...]
    guards: tuple[Condition, ...]
    control: bool = False
    accesses: list[Access] = field(default_factory=list)

    @property
    def domain(self) -> Condition:
        return And(tuple(loop.condition for loop in self.loops) + self.guards)


@dataclass(slots=True)
class Model:
    """`statements` in program order; `loops` by the identity of their node; `values` holds the integer
    scalars' polynomials before each statement (by the node's identity)."""

    function: ir.Function
    atoms: Atoms
    statements: list[Statement] = field(default_factory=list)
    loops: dict[int, LoopVar] = field(default_factory=dict)
    values: dict[int, dict[str, Poly]] = field(default_factory=dict)
    inside_values: dict[int, dict[str, Poly]] = field(default_factory=dict)
    counters: dict[int, dict[str, Poly]] = field(default_factory=dict)
    assumptions: list[Condition] = field(default_factory=list)

    def inside(self, node: ir.Node) -> list[Statement]:
        """The statements of a loop's subtree (the loop's own control expressions excluded)."""
        return [s for s in self.statements if any(loop.node is node for loop in s.loops)]

    def accesses(self) -> Iterator[Access]:
        for statement in self.statements:
            yield from statement.accesses


def assigned(node: ir.Node) -> frozenset[str]:
    """Scalars assigned anywhere below a node (declarations excluded)."""
    return frozenset(
        n.target.id for n in ir.walk(node) if isinstance(n, ir.Assign) and isinstance(n.target, ir.Name)
    ) | frozenset(n.var for n in ir.walk(node) if isinstance(n, ir.For))


def declared(node: ir.Node) -> frozenset[str]:
    """Names declared below a node."""
    return frozenset(n.name for n in ir.walk(node) if isinstance(n, ir.Decl | ir.PointerDecl)) | frozenset(
        n.var for n in ir.walk(node) if isinstance(n, ir.For) and n.declared
    )


def bounds_around(access: Access) -> list[ir.Expr]:
    """The bounds of the loops that a reference stands in."""
    loops = [loop.node for loop in access.statement.loops if isinstance(loop.node, ir.For)]
    return [bound for loop in loops for bound in (loop.lower, loop.bound)]


def build(function: ir.Function, assumptions: tuple[Condition, ...] = (), helpers: tuple[ir.Function, ...] = ()) -> Model:
    """The model of a function's body; `helpers` are the functions that it calls."""
    atoms = Atoms()
    written = {a.array for a in _targets(function.body)}
    arrays = frozenset(v.name for v in function.parameters + function.globals if v.is_array)
    env = Environment(atoms, helpers={h.name: h for h in helpers}, constant=arrays - written)
    for variable in function.parameters + function.globals:
        if not variable.is_array and isinstance(variable.type, ir.Scalar) and variable.type.kind == "int":
            known = isinstance(variable.value, int) and variable.is_global
            env.values[variable.name] = Poly.constant(int(variable.value)) if known else Poly.atom(variable.name)  # type: ignore[arg-type]
    model = Model(function, atoms)
    for variable in function.parameters:
        if (
            isinstance(variable.type, ir.Scalar)
            and variable.type.kind == "int"
            and not variable.type.signed
            and not variable.is_array
        ):
            model.assumptions.append(Compare(Poly.atom(variable.name), ">="))
            atoms.unsigned.add(variable.name)
    model.assumptions.extend(assumptions)
    _Walk(model, env).block(function.body)
    return model


def _targets(body: ir.Node) -> Iterator[ir.Load | ir.Address]:
    """Every place that is assigned to, or handed to a helper that may write there."""
    for node in ir.walk(body):
        if isinstance(node, ir.Assign) and isinstance(node.target, ir.Load):
            yield node.target
        elif isinstance(node, ir.Address) and not node.const:
            yield node


class _Walk:
    """Program-order traversal with the current loops, guards and scalar values."""

    def __init__(self, model: Model, env: Environment) -> None:
        self.model, self.env = model, env
        self.loops: tuple[LoopVar, ...] = ()
        self.guards: tuple[Condition, ...] = ()
        self.names: dict[str, int] = {}

    def block(self, block: ir.Block) -> None:
        guards = self.guards
        for statement in block.statements:
            self.statement(statement)
        self.guards = guards

    def statement(self, node: ir.Stmt) -> None:
        self.model.values[id(node)] = self.env.snapshot()
        match node:
            case ir.Block():
                for inner in node.statements:  # what an early end in it excludes stays excluded behind it
                    self.statement(inner)
            case ir.For():
                self.for_loop(node)
            case ir.While():
                self.while_loop(node)
            case ir.If():
                self.branch(node)
            case ir.Decl():
                self.leaf(node)
                self.env.declare(node)
            case ir.Assign():
                self.leaf(node)
                self.env.assign(node)
            case ir.PointerDecl() | ir.Evaluate() | ir.Return():
                self.leaf(node)
            case ir.PointerSwap() | ir.Break() | ir.Continue():
                self.leaf(node)

    def leaf(self, node: ir.Stmt | ir.Expr, control: bool = False) -> Statement:
        statement = Statement(len(self.model.statements), node, self.loops, self.guards, control)
        self.model.statements.append(statement)
        reads = node
        if isinstance(node, ir.Assign):
            if isinstance(node.target, ir.Load):
                self.access(statement, node.target, write=True)
                if node.op is not None:
                    self.access(statement, node.target, write=False)
                for index in node.target.indices:
                    self.reads(statement, index)
                for part in node.target.path:
                    if not isinstance(part, str):
                        self.reads(statement, part)
            reads = node.value
        self.reads(statement, reads)
        return statement

    def reads(self, statement: Statement, node: ir.Node, tests: tuple[Condition, ...] = ()) -> None:
        """The references below a node; what stands behind a test happens only where it holds."""
        match node:
            case ir.Select():
                when_true, when_false = split(node.condition, self.env)
                self.reads(statement, node.condition, tests)
                self.reads(statement, node.then, (*tests, when_true))
                self.reads(statement, node.other, (*tests, when_false))
                return
            case ir.Binary(op="&&" | "||"):
                self.reads(statement, node.left, tests)
                self.reads(statement, node.right, (*tests, split(node.left, self.env)[node.op == "||"]))
                return
            case ir.Load():
                self.access(statement, node, False, tests)
            case ir.Address():
                self.access(statement, node, False, tests)
                if not node.const:
                    self.access(statement, node, True, tests)
        for child in ir.children(node):
            self.reads(statement, child, tests)

    def access(self, statement: Statement, node: ir.Load | ir.Address, write: bool, tests: tuple[Condition, ...] = ()) -> None:
        subscripts = None
        if isinstance(node, ir.Load):
            member = tuple(to_poly(p, self.env) for p in node.path if not isinstance(p, str))
            subscripts = tuple(to_poly(i, self.env) for i in node.indices) + member
        path = tuple(p for p in node.path if isinstance(p, str)) if isinstance(node, ir.Load) else ()
        statement.accesses.append(Access(node.array, node, write, subscripts, statement, path, tests))

    def for_loop(self, node: ir.For) -> None:
        self.leaf(node.lower, control=True)
        lower, bound, step = (to_poly(e, self.env) for e in (node.lower, node.bound, node.step))
        self.names[node.var] = count = self.names.get(node.var, 0) + 1
        taken = any(v.name == node.var for v in self.model.function.parameters)
        atom = Poly.atom(node.var if count == 1 and not taken else f"{node.var}.{count}")
        step_value = step.value if step.is_constant else None
        condition, exact = self.iterations(atom, lower, node.relation, bound, step_value)
        loop = LoopVar(node, next(iter(atom.atoms)), condition, exact, step_value)
        self.model.loops[id(node)] = loop
        counters = self.env.enter_loop(
            node.body, atom, lower, step_value, self.trip(lower, node.relation, bound, step_value), condition
        )
        self.model.counters[id(node)] = counters
        self.env.values[node.var] = atom
        self.env.iterators.add(loop.atom)
        if not node.type.signed or (step_value is not None and step_value > 0 and self.env.natural_alone(lower)):
            self.env.natural.add(loop.atom)
        self.model.inside_values[id(node)] = dict(self.env.values)
        self.nested(loop, node.body)
        self.leaf_in(loop, node.bound)
        self.env.leave_loop(node.body, counters)
        self.env.forget(node.var)

    def leaf_in(self, loop: LoopVar, bound: ir.Expr) -> None:
        """The bound is evaluated once an iteration."""
        outer, self.loops = self.loops, (*self.loops, loop)
        self.leaf(bound, control=True)
        self.loops = outer

    def iterations(self, atom: Poly, lower: Poly, relation: str, bound: Poly, step: int | None) -> tuple[Condition, bool]:
        if step is None or step == 0:
            return TRUE, False
        first = compare(lower, "<=" if step > 0 else ">=", atom)
        parts: list[Condition] = [first]
        if relation == "!=":
            relation = "<" if step > 0 else ">"
        parts.append(compare(atom, relation, bound))
        if abs(step) != 1:
            count = self.model.atoms.fresh(lambda q: Compare(atom - lower - q.scale(step), "="))
            self.model.atoms.quotients |= count.atoms
            parts.append(Compare(count, ">="))
        opaque = any(a in self.model.atoms.conditions for a in (lower.atoms | bound.atoms))
        return And(tuple(parts)), not opaque

    @staticmethod
    def trip(lower: Poly, relation: str, bound: Poly, step: int | None) -> Poly | None:
        """The number of iterations of a unit-step loop that runs at least zero times, else None."""
        if step == 1 and relation in ("<", "<=", "!="):
            return bound - lower + (ONE if relation == "<=" else Poly())
        if step == -1 and relation in (">", ">=", "!="):
            return lower - bound + (ONE if relation == ">=" else Poly())
        return None

    def nested(self, loop: LoopVar, body: ir.Block) -> None:
        outer, self.loops = self.loops, (*self.loops, loop)
        self.block(body)
        self.loops = outer

    def while_loop(self, node: ir.While) -> None:
        for statement in node.init:
            self.statement(statement)
        self.names["while"] = count = self.names.get("while", 0) + 1
        passes = Poly.atom(f"while.{count}")
        self.env.iterators.add(f"while.{count}")
        loop = LoopVar(node, f"while.{count}", Compare(passes, ">="), exact=False, step=1)
        self.model.loops[id(node)] = loop
        self.env.enter_loop(ir.Block(statements=(*node.body.statements, *node.advance)), passes, Poly(), None, None)
        self.model.inside_values[id(node)] = dict(self.env.values)
        outer, self.loops = self.loops, (*self.loops, loop)
        self.leaf(node.condition, control=True)
        guards = self.guards
        if not node.post_test:
            self.guards = (*guards, split(node.condition, self.env)[0])
        self.block(node.body)
        for statement in node.advance:
            self.statement(statement)
        self.guards, self.loops = guards, outer
        self.env.kill(assigned(node))

    def branch(self, node: ir.If) -> None:
        self.leaf(node.condition, control=True)
        when_true, when_false = split(node.condition, self.env)
        guards, before = self.guards, self.env.snapshot()
        self.guards = (*guards, when_true)
        self.block(node.then)
        after_then = self.env.snapshot()
        self.env.restore(before)
        self.guards = (*guards, when_false)
        if node.other is not None:
            self.block(node.other)
        self.guards = guards
        self.env.merge(after_then, when_true, when_false)
        # after `if (c) continue;` (or break, return) the rest of the block runs only when c was false
        if _leaves(node.then):
            self.guards = (*guards, when_false)


def _leaves(block: ir.Block) -> bool:
    return bool(block.statements) and isinstance(block.statements[-1], ir.Continue | ir.Break | ir.Return)
