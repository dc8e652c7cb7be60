"""From a function's trees to a `Program`: which loops become kernels, which the host repeats, which scalars live where.

Walks the statements that the host would run ("host level"): the function's body and the bodies of loops that stay on the
host. A loop nest with independent iterations becomes a `NestStep`; a sequential loop around such nests a `RepeatStep`;
scalar code that depends only on arguments is repeated by every thread that needs it (`prologue`); other scalar code runs as
a one-thread `ScalarStep` and its results live in device memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.bands import Bands
from cudaperf.engine.loops.counters import with_closed_counters
from cudaperf.engine.loops.distribute import distributed, gained
from cudaperf.engine.loops.facts import leaves
from cudaperf.engine.loops.headroom import crowded
from cudaperf.engine.loops.launch_sizes import unknown_count
from cudaperf.engine.loops.model import assigned, build, declared
from cudaperf.engine.loops.nest import (
    LocalArray,
    NestStep,
    Obstacle,
    Program,
    RepeatStep,
    Step,
    SwapStep,
    WhenStep,
    WhileStep,
)
from cudaperf.engine.loops.poly import Condition
from cudaperf.engine.loops.promote import with_promoted_elements
from cudaperf.engine.loops.requirements import requirement_texts
from cudaperf.engine.loops.scalars import exposed
from cudaperf.engine.loops.sets import Space
from cudaperf.engine.loops.trees import sets_scalar, used_names
from cudaperf.engine.loops.wrapping import unwrapped
from cudaperf.engine.reason import ReasonCode, Refusal

RESULT = "cp_result"


def partition(unit: ir.Unit, assumptions: tuple[Condition, ...] = ()) -> Program:
    """The program of a unit; raises `Refusal` with the reason and its place."""
    unit = replace(unit, function=with_closed_counters(unit.function))
    promoted = replace(unit, function=with_promoted_elements(unit.function))
    try:
        program = _partition(promoted, assumptions)
        unit = promoted
    except Refusal:
        if promoted.function is unit.function:
            raise
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
    model = build(unit.function, assumptions, unit.helpers)
    return _Partition(unit, model, Space(model.atoms, tuple(model.assumptions))).run()


@dataclass(slots=True)
class _Partition(Bands):
    """The walk over host-level statements."""

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
        self.requirements.extend(crowded(self.model, self.space))
        bounds = [loop.condition for loop in self.model.loops.values()]
        texts = requirement_texts(self.requirements, self.space, self.host_atom)
        texts += unwrapped(function, self.model.atoms, bounds)
        return Program(self.unit, self.model, self.space, tuple(steps), self.scalars, tuple(self.arrays), self.result, texts)

    def check_globals(self) -> None:
        """File-scope scalars that are set, and file-scope data that helpers use, have no place on the device."""
        function = self.unit.function
        scalars = {v.name for v in function.globals if not v.is_array}
        for owner in (function, *self.unit.helpers):
            local = declared(owner.body) | {p.name for p in owner.parameters}
            for node in ir.walk(owner.body):
                name = sets_scalar(node)
                if name in scalars - local:
                    message = f"{owner.name} sets the file-scope variable {name}, which the caller would not see"
                    raise self.refusal(ReasonCode.SIDE_EFFECT, message, node)
        self.check_linkage()
        for helper in self.unit.helpers:
            for variable in helper.globals:
                if variable.value is None and variable.name not in ir.embedded(self.unit):
                    message = f"{helper.name} reads the file-scope variable {variable.name}: pass it as an argument"
                    raise self.refusal(ReasonCode.UNSUPPORTED, message, helper)

    def check_linkage(self) -> None:
        """Static file-scope data can't be named by the emitted file; constants stand in it themselves."""
        inside = ir.embedded(self.unit)
        for variable in self.unit.function.globals:
            if not variable.is_static or variable.name in inside or ir.defined(variable.name, self.unit):
                continue
            used = (
                n
                for n in ir.walk(self.unit.function.body)
                if variable.name in (getattr(n, "array", None), getattr(n, "id", None))
            )
            message = f"{variable.name} is static, and the emitted file can't reach it: make it an argument, or not static"
            raise self.refusal(ReasonCode.UNSUPPORTED, message, next(used, self.unit.function))

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
            if isinstance(node, ir.Block) and any(isinstance(n, ir.Return) for n in ir.walk(node)):
                return [*steps, *self.host((*node.statements, *rest))]
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
        texts = [self.host_int(d, node) for d in node.dims]
        if None in texts:
            message = f"the host can't compute the length of {node.name} before the loops run: pass the array as an argument"
            raise self.refusal(ReasonCode.UNSUPPORTED, message, node)
        self.arrays.append(LocalArray(node.name, node.type, " * ".join(f"({text})" for text in texts)))
        return []

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
        """`if (n < 2) return ...;`: the rest runs under the opposite condition, which kernels test where the host can't."""
        if not any(isinstance(n, ir.Return) for n in ir.walk(node)):
            return False
        last = node.then.statements[-1] if node.then.statements else None
        inner = [n for n in ir.walk(node) if isinstance(n, ir.Return)]
        if node.other is not None or len(inner) != 1 or inner[0] is not last or self.repeats:
            raise self.refusal(ReasonCode.UNSUPPORTED, "this early return can't be expressed on the device", inner[0])
        condition = self.host_condition(node.condition, node)
        if condition is None and node.then.statements == (ir.Return(),) and self.pure_value(node.condition):
            steps.extend(self.guarded(node, ir.Block(statements=rest), negated=True))
            return True
        if condition is None:
            because = self.unknown(node.condition)
            raise self.refusal(ReasonCode.UNSUPPORTED, f"whether the function returns here depends on {because}", inner[0])
        before = len(self.pure)
        taken = self.host(node.then.statements)
        del self.pure[before:]
        if taken:
            steps.append(WhenStep(condition, tuple(taken)))
        other = self.host(rest)
        if other:
            steps.append(WhenStep(f"0 if ({condition}) else 1", tuple(other)))
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
                    steps.append(WhenStep(f"0 if ({condition}) else 1" if negated else condition, tuple(inner)))
            else:
                steps.extend(self.guarded(node, block, negated))
            del self.pure[before:]
        self.carried = carried
        return steps

    def unknown(self, condition: ir.Expr) -> str:
        """What a test is that the host can't make."""
        if not self.pure_value(condition):
            return "values that the host does not know"
        floating = any(
            isinstance(kind := getattr(n, "type", None), ir.Scalar) and kind.kind == "float" for n in ir.walk(condition)
        )
        what = "a floating-point test" if floating else "a test"
        return f"{what}, which kernels alone can make, and not all behind it is kernels: make it in the caller"

    def guarded(self, node: ir.If, block: ir.Block, negated: bool) -> list[Step]:
        used = used_names((ir.Return(value=node.condition),))
        arrays = frozenset(n.array for n in ir.walk(node.condition) if isinstance(n, ir.Load | ir.Address))
        if arrays:
            raise self.refusal(ReasonCode.UNSUPPORTED, "a condition around loops depends on data on the device", node.condition)
        if used & assigned(block):
            message = f"a condition around loops depends on {min(used & assigned(block))}, which changes under it"
            raise self.refusal(ReasonCode.UNSUPPORTED, message, node.condition)
        guard: ir.Expr = ir.Unary(op="!", operand=node.condition, near=node.span) if negated else node.condition
        outer, self.guards = self.guards, (*self.guards, guard)
        steps = self.host(block.statements)
        self.guards = outer
        if any(not isinstance(s, NestStep) for s in steps):
            because = self.unknown(node.condition)
            raise self.refusal(ReasonCode.UNSUPPORTED, f"a condition around loops depends on {because}", node.condition)
        return steps

    def for_loop(self, node: ir.For) -> list[Step]:
        if node.var in self.live():
            raise self.refusal(ReasonCode.UNSUPPORTED, f"the value of {node.var} after the loop is needed", node)
        nest = self.nest(node)
        if isinstance(nest, Obstacle):
            self.check_step(node)
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
            raise self.refusal(ReasonCode.UNSUPPORTED, unknown_count(self.unit, node), node)
        if node.relation in ("<=", ">="):
            end = f"{end} {'+' if node.relation == '<=' else '-'} 1"
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
                ReasonCode.UNSUPPORTED,
                "how often this loop runs can't be computed before it begins; "
                "write it as for (i = ...; i < ...; i++), with a counter that only the header changes",
                node,
            )
        if not any(isinstance(n, ir.For) for n in ir.walk(node.body)):
            raise self.refusal(ReasonCode.DEPENDENCE, "each pass of this while loop depends on the one before", node)
        steps: list[Step] = []
        changed = (assigned(node.body) - declared(node.body)) & frozenset(self.types)
        carried = frozenset(
            n for n in changed if exposed((*node.body.statements, ir.Return(value=node.condition)), n) is not None
        )
        carried = carried | (self.live() & changed) | (used_names((ir.Return(value=node.condition),)) & changed)
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
