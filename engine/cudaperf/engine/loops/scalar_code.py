"""Scalar code at host level: definitions that every thread repeats, and one-thread steps for what depends on device data."""

from __future__ import annotations

from dataclasses import dataclass

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.model import assigned
from cudaperf.engine.loops.nest import ScalarStep, Step
from cudaperf.engine.loops.scalars import always_assigned, exposed
from cudaperf.engine.loops.state import State
from cudaperf.engine.loops.trees import array_sets, defines, used_names


@dataclass(slots=True)
class ScalarCode(State):
    """Decides what is `pure` and builds `ScalarStep`s."""

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
        self.device -= defines(node)

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
        for name in defines(node):
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
            outputs = frozenset(n for s in pending for n in defines(s))
            steps.append(self.scalar_step(tuple(pending), outputs, held=self.held))
            pending.clear()

    def scalar_step(
        self, statements: tuple[ir.Stmt, ...], outputs: frozenset[str], name: str = "", held: frozenset[str] | None = None
    ) -> ScalarStep:
        """`held` are the scalars that the device holds before the statements."""
        held = frozenset(self.device) if held is None else held
        reads, writes = array_sets(statements)
        own = used_names(statements) | self.pitches(reads | writes)
        # an output that keeps its value on some path starts from the device, or from its pure definition
        kept = frozenset(n for n in outputs if exposed(statements, n) is not None or not always_assigned(statements, n))
        inputs = (own & held - outputs) | (kept & held)
        for n in outputs:
            self.to_device(n)
        prologue = self.slice((own - inputs - outputs) | (kept - held) | reads)
        used = own | used_names(prologue)
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

    def materialise(self, names: frozenset[str], steps: list[Step]) -> None:
        """Move pure scalars to device memory (before a loop that changes them)."""
        for name in sorted(names):
            if name in self.device or not any(name in defines(p) for p in self.pure):
                continue
            target = ir.Name(id=name, type=self.types[name])
            steps.append(self.scalar_step((ir.Assign(target=target, op=None, value=target),), frozenset({name})))
