"""From a function's trees to a `Program`: which loops become kernels, which the host repeats, which scalars live where.

Walks the statements that the host would run ("host level"): the function's body and the bodies of loops that stay on the
host. A loop nest with independent iterations becomes a `NestStep`; a sequential loop around such nests a `RepeatStep`;
scalar code that depends only on arguments is repeated by every thread that needs it (`prologue`); other scalar code runs as
a one-thread `ScalarStep` and its results live in device memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.bounds import NotExpressible, poly_text, value_range
from cudaperf.engine.loops.convert import Environment, to_poly
from cudaperf.engine.loops.distribute import distributed, gained
from cudaperf.engine.loops.facts import declared_arrays, facts, leaves
from cudaperf.engine.loops.layout import Layout, layout
from cudaperf.engine.loops.model import Access, Model, assigned, build, declared
from cudaperf.engine.loops.nest import (
    BandLoop,
    LocalArray,
    LoopFacts,
    LoopNest,
    NestStep,
    Obstacle,
    Program,
    RepeatStep,
    ScalarStep,
    Step,
    SwapStep,
    WhenStep,
    WhileStep,
)
from cudaperf.engine.loops.poly import And, Condition, Poly
from cudaperf.engine.loops.scalars import exposed
from cudaperf.engine.loops.scans import scan_pattern
from cudaperf.engine.loops.sets import Space
from cudaperf.engine.loops.skew import skew
from cudaperf.engine.reason import ReasonCode, Refusal

RESULT = "cp_result"


def partition(unit: ir.Unit, assumptions: tuple[Condition, ...] = ()) -> Program:
    """The program of a unit; raises `Refusal` with the reason and its place."""
    program = _partition(unit, assumptions)
    split = distributed(program)
    if split is None:
        return program
    try:
        other = _partition(replace(unit, function=split), assumptions)
    except Refusal:
        return program
    return other if gained(program, other) else program


def _partition(unit: ir.Unit, assumptions: tuple[Condition, ...]) -> Program:
    model = build(unit.function, assumptions)
    return _Partition(unit, model, Space(model.atoms, tuple(model.assumptions))).run()


@dataclass(slots=True)
class _Partition:
    unit: ir.Unit
    model: Model
    space: Space
    pure: list[ir.Stmt] = field(default_factory=list)
    device: set[str] = field(default_factory=set)
    carried: set[str] = field(default_factory=set)
    scalars: dict[str, ir.Type] = field(default_factory=dict)
    arrays: list[LocalArray] = field(default_factory=list)
    types: dict[str, ir.Type] = field(default_factory=dict)
    repeats: dict[str, str] = field(default_factory=dict)  # atom of an enclosing host loop -> its variable
    guards: tuple[ir.Expr, ...] = ()
    requirements: list[object] = field(default_factory=list)
    after: list[tuple[ir.Stmt, ...]] = field(default_factory=list)
    held: frozenset[str] = frozenset()  # device scalars before the pending statements
    count: int = 0
    result: str | None = None

    # --- entry ---------------------------------------------------------------------------------------------------------

    def run(self) -> Program:
        function = self.unit.function
        for variable in function.parameters + function.globals:
            self.types[variable.name] = variable.type
        for node in ir.walk(function.body):
            if isinstance(node, ir.Decl) and not node.dims:
                self.types.setdefault(node.name, node.type)
            elif isinstance(node, ir.For):
                self.types.setdefault(node.var, node.type)
        if not any(isinstance(n, ir.For | ir.While) for n in ir.walk(function.body)):
            raise self.refusal(ReasonCode.NO_LOOP, f"{function.name} has no loop to move", function)
        self.check_globals()
        steps = self.host(function.body.statements)
        from cudaperf.engine.loops.requirements import requirement_texts

        texts = requirement_texts(self.requirements, self.space, self.host_atom)
        return Program(self.unit, self.model, self.space, tuple(steps), self.scalars, tuple(self.arrays), self.result, texts)

    def refusal(self, code: ReasonCode, message: str, node: ir.Node | None) -> Refusal:
        from cudaperf.engine.sources.c import place

        return Refusal(place(self.unit, code, message, node))

    def check_globals(self) -> None:
        """File-scope scalars that are set, and file-scope data that helpers use, have no place on the device."""
        function = self.unit.function
        scalars = {v.name for v in function.globals if not v.is_array}
        for owner in (function, *self.unit.helpers):
            local = declared(owner.body) | {p.name for p in owner.parameters}
            for node in ir.walk(owner.body):
                name = _sets(node)
                if name in scalars - local:
                    message = f"{owner.name} sets the file-scope variable {name}, which the caller would not see"
                    raise self.refusal(ReasonCode.SIDE_EFFECT, message, node)
        for helper in self.unit.helpers:
            for variable in helper.globals:
                if variable.value is None and variable.name not in ir.embedded(self.unit):
                    message = f"{helper.name} reads the file-scope variable {variable.name}: pass it as an argument"
                    raise self.refusal(ReasonCode.UNSUPPORTED, message, helper)

    def name(self, suffix: str = "") -> str:
        self.count += 1
        return f"{self.unit.function.name}_{suffix or 'k'}{self.count}"

    def host_atom(self, atom: str) -> str:
        """Names of what the host knows: arguments and the variables of its own loops."""
        if atom in self.repeats:
            return self.repeats[atom]
        if any(v.name == atom and not v.is_array for v in self.unit.function.parameters + self.unit.function.globals):
            return atom
        raise NotExpressible(atom)

    # --- host level ----------------------------------------------------------------------------------------------------

    def host(self, statements: Sequence[ir.Stmt]) -> list[Step]:
        steps: list[Step] = []
        pending: list[ir.Stmt] = []
        for i, node in enumerate(statements):
            rest = tuple(statements[i + 1 :])
            if self.is_pure(node):
                self.flush(pending, steps)
                self.add_pure(node)
                continue
            if isinstance(node, ir.Return):
                self.returns(node, pending, steps)
                return steps
            if self.is_scalar_code(node):
                self.postpone(node, pending)
                # later statements of the run may read what this one sets
                self.will_be_device(node)
                continue
            self.flush(pending, steps)
            self.after.append(rest)
            if isinstance(node, ir.If) and self.early_return(node, rest, steps):
                self.after.pop()
                return steps
            steps.extend(self.compound(node))
            self.after.pop()
        self.flush(pending, steps)
        return steps

    def compound(self, node: ir.Stmt) -> list[Step]:
        match node:
            case ir.Block():
                return self.host(node.statements)
            case ir.For():
                return self.for_loop(node)
            case ir.While():
                return self.while_loop(node)
            case ir.If():
                return self.branch(node)
            case ir.PointerSwap():
                return [SwapStep(node.first, node.second)]
            case ir.Decl():
                return self.local_array(node)
            case ir.Evaluate():
                message = f"the call to {node.call.name} works on whole arrays: optimize {node.call.name} itself, or inline it"
                raise self.refusal(ReasonCode.UNSUPPORTED, message, node)
            case _:
                raise self.refusal(ReasonCode.UNSUPPORTED, "this statement can't run on the host side of a plan", node)

    def local_array(self, node: ir.Decl) -> list[Step]:
        if not isinstance(node.type, ir.Scalar) or node.init is not None:
            raise self.refusal(ReasonCode.UNSUPPORTED, f"the local array {node.name} can't live on the device", node)
        env = Environment(self.model.atoms, dict(self.model.values[id(node)]))
        texts = [f"({poly_text(to_poly(d, env), self.host_atom)})" for d in node.dims]
        self.arrays.append(LocalArray(node.name, node.type, " * ".join(texts)))
        return []

    # --- scalar code ---------------------------------------------------------------------------------------------------

    def is_pure(self, node: ir.Stmt) -> bool:
        """Scalar definitions from arguments alone, repeated by every kernel that needs them."""
        match node:
            case ir.Decl(dims=()):
                inits = node.init if isinstance(node.init, tuple) else (node.init,)
                return node.name not in self.carried and all(i is None or self.pure_value(i) for i in inits)
            case ir.Decl(init=tuple() as init):
                return all(self.pure_value(i) for i in init) and not self.array_written(node.name)
            case ir.Assign(target=ir.Name() as target):
                local = not any(v.name == target.id for v in self.unit.function.globals)
                known = node.op is None or target.id not in self.device
                return local and known and target.id not in self.carried and self.pure_value(node.value)
            case ir.PointerDecl():
                return self.pure_value(node.offset)
            case ir.If():
                branches = (*node.then.statements, *(node.other.statements if node.other else ()))
                known = not assigned(node) & self.device  # else what is not set keeps its value on the device
                return (
                    known
                    and self.pure_value(node.condition)
                    and all(self.is_pure(s) and not isinstance(s, ir.Decl) for s in branches)
                )
            case ir.Block():
                return all(self.is_pure(s) for s in node.statements)
            case _:
                return False

    def pure_value(self, node: ir.Expr) -> bool:
        for n in ir.walk(node):
            if isinstance(n, ir.Load | ir.Address):
                return False
            if isinstance(n, ir.Name) and n.id in self.device:
                return False
        return True

    def array_written(self, name: str) -> bool:
        return any(a.write and a.array == name for a in self.model.accesses())

    def add_pure(self, node: ir.Stmt) -> None:
        self.pure.append(node)
        self.device -= _defines(node)

    def is_scalar_code(self, node: ir.Stmt) -> bool:
        if any(isinstance(n, ir.For | ir.While | ir.Return | ir.Break | ir.Continue | ir.PointerSwap) for n in ir.walk(node)):
            return False
        if isinstance(node, ir.Evaluate):
            return not self.helper_loops(node.call.name)
        return isinstance(node, ir.Assign | ir.If | ir.Block) or (isinstance(node, ir.Decl) and not node.dims)

    def helper_loops(self, name: str) -> bool:
        helper = next((h for h in self.unit.helpers if h.name == name), None)
        return helper is None or any(isinstance(n, ir.For | ir.While) for n in ir.walk(helper.body))

    def will_be_device(self, node: ir.Stmt) -> None:
        for name in _defines(node):
            self.to_device(name)

    def to_device(self, name: str) -> None:
        if name in self.types:
            self.device.add(name)
            self.scalars[name] = self.types[name]

    def postpone(self, node: ir.Stmt, pending: list[ir.Stmt]) -> None:
        """Scalar code waits for more of its kind."""
        if not pending:
            self.held = frozenset(self.device)
        pending.append(node)

    def flush(self, pending: list[ir.Stmt], steps: list[Step]) -> None:
        """Emit the pending scalar statements as one step."""
        if pending:
            outputs = frozenset(n for s in pending for n in _defines(s))
            steps.append(self.scalar_step(tuple(pending), outputs, held=self.held))
            pending.clear()

    def scalar_step(
        self, statements: tuple[ir.Stmt, ...], outputs: frozenset[str], name: str = "", held: frozenset[str] | None = None
    ) -> ScalarStep:
        """`held` are the scalars that the device holds before the statements."""
        held = frozenset(self.device) if held is None else held
        reads, writes = array_sets(statements)
        own = _used(statements) | self.pitches(reads | writes)
        # an output that keeps its value on some path starts from the device, or from its pure definition
        kept = frozenset(n for n in outputs if exposed(statements, n) is not None or not _always(statements, n))
        inputs = (own & held - outputs) | (kept & held)
        for n in outputs:
            self.to_device(n)
        prologue = self.slice((own - inputs - outputs) | (kept - held))
        used = own | _used(prologue)
        return ScalarStep(
            name or self.name("scalar"),
            (*statements,),
            prologue,
            self.parameters_in(used),
            self.outer_in(used),
            tuple(sorted(inputs)),
            tuple(sorted(outputs)),
            reads,
            writes,
            dict(self.types),
        )

    def pitches(self, arrays: frozenset[str]) -> frozenset[str]:
        """Scalars in the inner dimensions of arrays, which flat subscripts multiply with."""
        function = self.unit.function
        dims = [d for v in function.parameters + function.globals if v.name in arrays for d in v.dims[1:] if d is not None]
        for node in ir.walk(function.body):
            if isinstance(node, ir.Decl) and node.name in arrays:
                dims.extend(node.dims[1:])
        return _used(tuple(ir.Return(value=d) for d in dims))

    def slice(self, needed: frozenset[str]) -> tuple[ir.Stmt, ...]:
        """The pure statements that define the needed names, in order, with what they need in turn."""
        want, kept = set(needed) - set(self.repeats.values()), list[ir.Stmt]()
        for node in reversed(self.pure):
            if _defines(node) & want or (isinstance(node, ir.Decl | ir.PointerDecl) and node.name in want):
                kept.append(node)
                want |= _used((node,)) - set(self.repeats.values())
        return tuple(reversed(kept))

    def parameters_in(self, names: frozenset[str]) -> tuple[str, ...]:
        inside = ir.embedded(self.unit)
        scalars = [v.name for v in self.unit.function.parameters + self.unit.function.globals if not v.is_array]
        return tuple(n for n in scalars if n in names and n not in inside)

    def outer_in(self, names: frozenset[str]) -> tuple[str, ...]:
        return tuple(v for v in self.repeats.values() if v in names)

    def materialise(self, names: frozenset[str], steps: list[Step]) -> None:
        """Move pure scalars to device memory (before a loop that changes them)."""
        for name in sorted(names):
            if name in self.device or not any(name in _defines(p) for p in self.pure):
                continue
            target = ir.Name(id=name, type=self.types[name])
            steps.append(self.scalar_step((ir.Assign(target=target, op=None, value=target),), frozenset({name})))

    # --- returns and branches ------------------------------------------------------------------------------------------

    def returns(self, node: ir.Return, pending: list[ir.Stmt], steps: list[Step]) -> None:
        if self.repeats:
            raise self.refusal(ReasonCode.UNSUPPORTED, "the function returns from inside a loop", node)
        if node.value is None:
            self.flush(pending, steps)
            return
        self.types[RESULT] = self.unit.function.returns or ir.INT
        self.result = RESULT
        target = ir.Name(id=RESULT, type=self.types[RESULT])
        self.postpone(ir.Assign(target=target, op=None, value=node.value, near=node.span), pending)
        self.flush(pending, steps)

    def early_return(self, node: ir.If, rest: tuple[ir.Stmt, ...], steps: list[Step]) -> bool:
        """`if (n < 2) return ...;`: the rest runs under the opposite condition."""
        if not any(isinstance(n, ir.Return) for n in ir.walk(node)):
            return False
        last = node.then.statements[-1] if node.then.statements else None
        inner = [n for n in ir.walk(node) if isinstance(n, ir.Return)]
        if node.other is not None or len(inner) != 1 or inner[0] is not last or self.repeats:
            raise self.refusal(ReasonCode.UNSUPPORTED, "this early return can't be expressed on the device", inner[0])
        condition = self.host_condition(node.condition, node)
        if condition is None:
            raise self.refusal(
                ReasonCode.UNSUPPORTED,
                "whether the function returns here depends on values that the host does not know",
                inner[0],
            )
        before = len(self.pure)
        taken = self.host(node.then.statements)
        del self.pure[before:]
        if taken:
            steps.append(WhenStep(condition, tuple(taken)))
        other = self.host(rest)
        if other:
            steps.append(WhenStep(f"0 if {condition} else 1", tuple(other)))
        return True

    def branch(self, node: ir.If) -> list[Step]:
        """A branch around loops: decided by the host where it can, else by every kernel inside."""
        condition = self.host_condition(node.condition, node)
        branches = [(node.then, False)] + ([(node.other, True)] if node.other is not None else [])
        changed = frozenset(n for b, _ in branches for n in assigned(b) - declared(b))
        steps: list[Step] = []
        self.materialise(changed, steps)
        carried = self.carried
        self.carried = carried | changed
        for block, negated in branches:
            before = len(self.pure)
            if condition is not None:
                inner = self.host(block.statements)
                if inner:
                    steps.append(WhenStep(f"0 if {condition} else 1" if negated else condition, tuple(inner)))
            else:
                steps.extend(self.guarded(node, block, negated))
            del self.pure[before:]
        self.carried = carried
        return steps

    def guarded(self, node: ir.If, block: ir.Block, negated: bool) -> list[Step]:
        used = _used((ir.Return(value=node.condition),))
        arrays = frozenset(n.array for n in ir.walk(node.condition) if isinstance(n, ir.Load | ir.Address))
        if arrays or used & assigned(block):
            raise self.refusal(ReasonCode.UNSUPPORTED, "a condition around loops depends on data on the device", node.condition)
        guard: ir.Expr = ir.Unary(op="!", operand=node.condition, near=node.span) if negated else node.condition
        outer, self.guards = self.guards, (*self.guards, guard)
        steps = self.host(block.statements)
        self.guards = outer
        if any(not isinstance(s, NestStep) for s in steps):
            raise self.refusal(
                ReasonCode.UNSUPPORTED, "a condition around loops depends on values that the host does not know", node
            )
        return steps

    def host_condition(self, node: ir.Expr, at: ir.Node) -> str | None:
        """A size expression for a condition on integer arguments, None where the host can't decide it."""
        env = Environment(self.model.atoms, dict(self.model.values[id(at)]))
        return _condition_text(node, env, self)

    def host_int(self, node: ir.Expr, at: ir.Node) -> str | None:
        env = Environment(self.model.atoms, dict(self.model.values[id(at)]))
        return self.host_poly(to_poly(node, env))

    def host_poly(self, poly: Poly) -> str | None:
        if any(self.space.is_opaque(a) for a in poly.atoms):
            return None
        try:
            from cudaperf.engine.loops.bounds import param_text

            return poly_text(poly, lambda a: param_text(a, self.space, self.host_atom))
        except NotExpressible:
            return None

    # --- loops ---------------------------------------------------------------------------------------------------------

    def live(self) -> frozenset[str]:
        """Scalars that code after the current statement may read before setting them."""
        names = frozenset(self.types)
        found: set[str] = set()
        for name in names:
            for rest in reversed(self.after):
                if exposed(rest, name) is not None:
                    found.add(name)
                    break
                if _always(rest, name):
                    break
        return frozenset(found)

    def for_loop(self, node: ir.For) -> list[Step]:
        nest = self.nest(node)
        if isinstance(nest, Obstacle):
            other = self.scan(node)
            if other is None and not self.inner_parallel(node):
                other = self.wavefront(node)
            if other is None:
                return self.repeat(node, nest)
            nest = other
        for reduction in nest.reductions:
            for name in (reduction.name, *reduction.companions):
                self.to_device(name)
        if nest.scan is not None and isinstance(nest.scan.carried, ir.Name):
            self.to_device(nest.scan.carried.id)
        return [NestStep(nest)]

    def scan(self, node: ir.For) -> LoopNest | None:
        """A loop that carries one running value."""
        accesses, layouts, fixed = self.view(node)
        accesses = [a for a in accesses if a.array in layouts]
        pattern = scan_pattern(node, self.model, self.space, layouts, accesses, fixed)
        if pattern is None:
            return None
        fact = LoopFacts(self.model.loops[id(node)], "sequential")
        return replace(self.build_nest(node, [(node, ())], [fact], accesses, layouts), scan=pattern)

    def wavefront(self, node: ir.For) -> LoopNest | None:
        """Two perfectly nested sequential loops with independent diagonals."""
        chain = _chain(node)[:2]
        if len(chain) != 2 or chain[0][1] or any(leaves(loop) is not None for loop, _ in chain):
            return None
        accesses, layouts, fixed = self.view(node)
        accesses = [a for a in accesses if a.array in layouts]
        outer, inner = (self.model.loops[id(loop)] for loop, _ in chain)
        if outer.step not in (1, -1) or inner.step not in (1, -1):
            return None
        carried = assigned(chain[1][0].body) - declared(chain[1][0].body)
        if any(exposed(chain[1][0].body.statements, name) is not None for name in carried) or carried & self.live():
            return None
        found = skew(accesses, outer, inner, fixed, layouts, self.space)
        if found is None:
            return None
        facts_ = [LoopFacts(v, "sequential", private=carried) for v in (outer, inner)]
        return replace(self.build_nest(node, chain, facts_, accesses, layouts), skew=found)

    def inner_parallel(self, node: ir.For) -> bool:
        """Whether some loop directly inside has independent iterations (then the host repeats this one)."""
        fixed = frozenset(self.repeats) | {self.model.loops[id(node)].atom}
        _, layouts, _ = self.view(node)
        for statement in _flat(node.body.statements):
            if isinstance(statement, ir.For):
                mine = [a for s in self.model.inside(statement) for a in s.accesses]
                found = facts(statement, self.model, self.space, layouts, mine, fixed)
                if found.kind != "sequential":
                    return True
        return False

    def view(self, node: ir.For) -> tuple[list[Access], dict[str, Layout], frozenset[str]]:
        """Accesses inside a loop, their layouts, and the iterators of the host's loops."""
        inside = self.model.inside(node)
        accesses = [a for s in inside for a in s.accesses]
        fixed = frozenset(self.repeats)
        iterators = frozenset(v.atom for s in inside for v in s.loops) - fixed
        return accesses, self.layouts(accesses, declared_arrays(node.body), iterators), fixed

    def repeat(self, node: ir.For, obstacle: Obstacle) -> list[Step]:
        """A sequential loop whose body has work for the device: the host repeats it."""
        refused = self.refusal(ReasonCode.DEPENDENCE, obstacle.message, obstacle.node)
        inner = [n for n in ir.walk(node.body) if isinstance(n, ir.For | ir.While)]
        leaving = leaves(node)
        if not inner or leaving is not None:
            raise refused
        var = self.model.loops[id(node)]
        begin, end = self.host_int(node.lower, node), self.host_int(node.bound, node)
        if begin is None or end is None or var.step is None:
            raise self.refusal(ReasonCode.UNSUPPORTED, f"how often the loop over {node.var} runs depends on data", node)
        if node.relation in ("<=", ">="):
            end = f"{end} {'+' if node.relation == '<=' else '-'} 1"
        if node.var in self.live():
            raise self.refusal(ReasonCode.UNSUPPORTED, f"the value of {node.var} after the loop is needed", node)
        steps: list[Step] = []
        changed = (assigned(node.body) - declared(node.body)) & frozenset(self.types)
        carried = frozenset(n for n in changed if exposed(node.body.statements, n) is not None)
        live = self.live() & changed
        self.materialise(carried | live, steps)
        outer_carried, before = self.carried, len(self.pure)
        self.carried = self.carried | carried | live
        self.repeats[var.atom] = node.var
        self.after.append(node.body.statements)
        try:
            body = self.host(node.body.statements)
        except Refusal as inner_refusal:
            raise self.better(refused, inner_refusal, obstacle) from None
        finally:
            self.after.pop()
            del self.repeats[var.atom]
            self.carried = outer_carried
        del self.pure[before:]
        steps.append(RepeatStep(node, node.var, begin, end, var.step, tuple(body)))
        return steps

    @staticmethod
    def better(outer: Refusal, inner: Refusal, obstacle: Obstacle) -> Refusal:
        """The outer loop's dependence explains most, unless the inner reason is of another kind."""
        return outer if inner.reason.code is ReasonCode.DEPENDENCE and obstacle.conflict is not None else inner

    def while_loop(self, node: ir.While) -> list[Step]:
        """A loop until convergence: the device evaluates the condition, the host reads one flag a pass."""
        if leaves(node) is not None or node.init or node.advance:
            raise self.refusal(
                ReasonCode.UNSUPPORTED, "this loop's end depends on data in a way that a plan can't express", node
            )
        if not any(isinstance(n, ir.For) for n in ir.walk(node.body)):
            raise self.refusal(ReasonCode.DEPENDENCE, "each pass of this while loop depends on the one before", node)
        steps: list[Step] = []
        changed = (assigned(node.body) - declared(node.body)) & frozenset(self.types)
        carried = frozenset(
            n for n in changed if exposed((*node.body.statements, ir.Return(value=node.condition)), n) is not None
        )
        carried = carried | (self.live() & changed) | (_used((ir.Return(value=node.condition),)) & changed)
        self.materialise(carried, steps)
        flag = f"cp_continue_{self.count}"
        self.types[flag] = ir.INT
        outer_carried, before = self.carried, len(self.pure)
        self.carried = self.carried | carried
        self.after.append((*node.body.statements, ir.Return(value=node.condition)))
        atom = self.model.loops[id(node)].atom
        self.repeats[atom] = atom
        body = self.host(node.body.statements)
        del self.repeats[atom]
        self.after.pop()
        test = self.scalar_step(
            (ir.Assign(target=ir.Name(id=flag), op=None, value=node.condition, near=node.span),),
            frozenset({flag}),
            self.name("test"),
        )
        self.carried = outer_carried
        del self.pure[before:]
        return [*steps, WhileStep(node, flag, test, not node.post_test, "1000000000", tuple(body))]

    # --- nests ---------------------------------------------------------------------------------------------------------

    def nest(self, node: ir.For) -> LoopNest | Obstacle:
        """The nest at a loop, or what stands in the way of running its iterations at once."""
        accesses, layouts, fixed = self.view(node)
        chain = _chain(node)
        live = self.live()
        found: list[LoopFacts] = []
        for loop, _ in chain:
            found.append(facts(loop, self.model, self.space, layouts, accesses, fixed, live, self.unit.text))
        depth = _band_depth(found)
        if depth == 0:
            return found[0].obstacle or Obstacle("no loop of this nest can run in parallel", node)
        return self.build_nest(node, chain[:depth], found[:depth], accesses, layouts)

    def layouts(self, accesses: Sequence[Access], own: frozenset[str], iterators: frozenset[str]) -> dict[str, Layout]:
        names = dict.fromkeys(a.array for a in accesses if a.array not in own)
        found = {}
        for name in names:
            found[name] = layout(name, [a for a in accesses if a.array == name], self.space, iterators)
            self.requirements.extend(found[name].requirements)
        return found

    def build_nest(
        self,
        node: ir.For,
        chain: Sequence[tuple[ir.For, tuple[ir.Stmt, ...]]],
        found: Sequence[LoopFacts],
        accesses: Sequence[Access],
        layouts: dict[str, Layout],
    ) -> LoopNest:
        band = tuple(
            self.band_loop(loop, fact, chain[:i], before if i + 1 < len(chain) else ())
            for i, ((loop, before), fact) in enumerate(zip(chain, found, strict=True))
        )
        body = chain[-1][0].body.statements
        headers = tuple(ir.Return(value=e) for loop, _ in chain for e in (loop.lower, loop.bound, loop.step))
        guards = tuple(ir.Return(value=g) for g in self.guards)
        parts = (*headers, *guards, *(s for _, before in chain[:-1] for s in before), *body)
        private = frozenset(p for fact in found for p in fact.private) | _outer_loop_vars(node)
        private -= frozenset(loop.var for loop, _ in chain)
        reads, writes = array_sets(parts)
        used = _used(parts) | self.pitches(reads | writes)
        inner_names = declared(ir.Block(statements=parts)) | frozenset(loop.var for loop, _ in chain)
        reductions = frozenset(r.name for fact in found for r in fact.reductions)
        inputs = frozenset(n for n in used if n in self.device) - private - inner_names
        prologue = self.slice(frozenset(used) - inputs - private - inner_names | (reductions - self.device))
        everything = used | _used(prologue)
        return LoopNest(
            self.name(),
            node,
            band,
            body,
            prologue,
            self.guards,
            tuple(sorted(private)),
            self.parameters_in(everything),
            self.outer_in(everything),
            tuple(sorted(inputs)),
            reads,
            writes,
            tuple(accesses),
            layouts,
            self.model,
            self.space,
            dict(self.types),
            self.host_names(),
        )

    def host_names(self) -> dict[str, str]:
        variables = self.unit.function.parameters + self.unit.function.globals
        return {v.name: v.name for v in variables if not v.is_array} | self.repeats

    def band_loop(
        self, node: ir.For, fact: LoopFacts, outer: Sequence[tuple[ir.For, tuple[ir.Stmt, ...]]], before: tuple[ir.Stmt, ...]
    ) -> BandLoop:
        atom = fact.var.atom
        others = tuple(self.model.loops[id(loop)].atom for loop, _ in outer)
        condition = And((*(self.model.loops[id(loop)].condition for loop, _ in outer), fact.var.condition))
        try:
            found = value_range(self.space, atom, condition, others, self.host_atom)
        except NotExpressible:
            message = f"how often the loop over {node.var} runs depends on data, so the host can't size a launch"
            raise self.refusal(ReasonCode.UNSUPPORTED, message, node) from None
        env = Environment(self.model.atoms, dict(self.model.values[id(node)]))
        bounds = to_poly(node.lower, env).atoms | to_poly(node.bound, env).atoms
        tight = not bounds & frozenset(others) and not any(self.space.is_opaque(a) for a in bounds)
        return BandLoop(node, fact, found, tight, before)


# --- small analyses of trees -------------------------------------------------------------------------------------------


def _sets(node: ir.Node) -> str | None:
    """The scalar that one node sets."""
    if isinstance(node, ir.Assign):
        return node.target.id if isinstance(node.target, ir.Name) else None
    return node.var if isinstance(node, ir.For) and not node.declared else None


def _chain(node: ir.For) -> list[tuple[ir.For, tuple[ir.Stmt, ...]]]:
    """Loops nested one directly in another, each with the cheap statements that precede the next one."""
    chain: list[tuple[ir.For, tuple[ir.Stmt, ...]]] = []
    current: ir.For | None = node
    while current is not None:
        body = _flat(current.body.statements)
        head, last = body[:-1], body[-1] if body else None
        if isinstance(last, ir.For) and all(_repeatable(s, current.body) for s in head):
            chain.append((current, tuple(head)))
            current = last
        else:
            chain.append((current, ()))
            current = None
    return chain


def _flat(statements: Sequence[ir.Stmt]) -> list[ir.Stmt]:
    """Statements with plain nested blocks opened."""
    if len(statements) == 1 and isinstance(statements[0], ir.Block):
        return _flat(statements[0].statements)
    return list(statements)


def _repeatable(node: ir.Stmt, body: ir.Block) -> bool:
    """A definition that every inner iteration may evaluate again with the same result."""
    if isinstance(node, ir.PointerDecl):
        return True
    if not isinstance(node, ir.Decl) or node.dims or node.init is None or isinstance(node.init, tuple):
        return False
    names = {n.id for n in ir.walk(node.init) if isinstance(n, ir.Name)} | {node.name}
    arrays = {n.array for n in ir.walk(node.init) if isinstance(n, ir.Load | ir.Address)}
    changed = assigned(body) | {
        n.target.array for n in ir.walk(body) if isinstance(n, ir.Assign) and isinstance(n.target, ir.Load)
    }
    calls = any(isinstance(n, ir.Address) and not n.const for n in ir.walk(body))
    return not names & changed and not arrays & changed and not (arrays and calls)


def _band_depth(found: Sequence[LoopFacts]) -> int:
    """How many loops of the chain form the band: to the innermost parallel one, else the leading reductions."""
    parallel = [i for i, fact in enumerate(found) if fact.kind == "parallel"]
    if parallel:
        return parallel[-1] + 1
    depth = 0
    for fact in found:
        if fact.kind != "reduction":
            break
        depth += 1
    return depth


def _outer_loop_vars(node: ir.For) -> frozenset[str]:
    """Variables of loops inside that are declared outside them."""
    return frozenset(n.var for n in ir.walk(node.body) if isinstance(n, ir.For) and not n.declared) - declared(node.body)


def _defines(node: ir.Stmt) -> frozenset[str]:
    """Scalars (and pointers) that a statement sets at host level."""
    if isinstance(node, ir.Decl):
        return frozenset({node.name}) if node.init is not None else frozenset()
    if isinstance(node, ir.PointerDecl):
        return frozenset({node.name})
    return assigned(node) - declared(node)


def _used(statements: Sequence[ir.Stmt]) -> frozenset[str]:
    """Scalar names mentioned anywhere in the statements."""
    found: set[str] = set()
    for statement in statements:
        for n in ir.walk(statement):
            if isinstance(n, ir.Name):
                found.add(n.id)
            elif isinstance(n, ir.Load | ir.Address) and not n.indices:
                found.add(n.array)
            elif isinstance(n, ir.For):
                found.add(n.var)
    return frozenset(found)


def _always(statements: Sequence[ir.Stmt], name: str) -> bool:
    from cudaperf.engine.loops.scalars import always_assigned

    return always_assigned(statements, name)


def array_sets(statements: Sequence[ir.Stmt]) -> tuple[frozenset[str], frozenset[str]]:
    """(arrays read, arrays written) by statements, arrays declared inside left out."""
    own = frozenset(n.name for s in statements for n in ir.walk(s) if isinstance(n, ir.Decl))
    reads: set[str] = set()
    writes: set[str] = set()
    for statement in statements:
        for n in ir.walk(statement):
            if isinstance(n, ir.Assign) and isinstance(n.target, ir.Load):
                writes.add(n.target.array)
                if n.op is not None:
                    reads.add(n.target.array)
                reads |= {x.array for x in ir.walk(n.target) if isinstance(x, ir.Load) and x is not n.target}
                reads |= {x.array for x in ir.walk(n.value) if isinstance(x, ir.Load)}
            elif isinstance(n, ir.Address):
                reads.add(n.array)
                if not n.const:
                    writes.add(n.array)
            elif isinstance(n, ir.Decl | ir.If | ir.While | ir.For | ir.Return | ir.Evaluate | ir.Assign):
                tops = [c for c in ir.children(n) if not isinstance(c, ir.Block | ir.Assign | ir.For | ir.While | ir.If)]
                reads |= {x.array for c in tops for x in ir.walk(c) if isinstance(x, ir.Load)}
            elif isinstance(n, ir.PointerDecl):
                reads.add(n.array)
    return frozenset(reads - own), frozenset(writes - own)


def _condition_text(node: ir.Expr, env: Environment, owner: _Partition) -> str | None:
    match node:
        case ir.Binary(op="&&" | "||" as op):
            parts = [_condition_text(node.left, env, owner), _condition_text(node.right, env, owner)]
            if parts[0] is None or parts[1] is None:
                return None
            return f"({parts[0]}) {'and' if op == '&&' else 'or'} ({parts[1]})"
        case ir.Unary(op="!"):
            inner = _condition_text(node.operand, env, owner)
            return None if inner is None else f"0 if {inner} else 1"
        case ir.Binary(op="<" | "<=" | ">" | ">=" | "==" | "!=" as op):
            sides = [_int_text(side, env, owner) for side in (node.left, node.right)]
            return None if None in sides else f"{sides[0]} {op} {sides[1]}"
        case ir.Cast():
            return _condition_text(node.operand, env, owner)
        case _:
            value = _int_text(node, env, owner)
            return None if value is None else f"{value} != 0"


def _int_text(node: ir.Expr, env: Environment, owner: _Partition) -> str | None:
    kind = getattr(node, "type", None)
    if not isinstance(kind, ir.Scalar) or kind.kind != "int":
        return None
    return owner.host_poly(to_poly(node, env))
