"""Runs C functions as trees, and their programs as a device may: an interpreter that the analysis is checked against.

`original` runs a function in program order and records every memory access; `parallel` runs the program made from it with
parallel loops backwards, private scalars poisoned, scans by their pattern and wavefronts by diagonals. Integers only: all
values are those of C's 32- and 64-bit integers, arrays are dictionaries by flat element number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cudaperf.engine import size
from cudaperf.engine.loops import ir
from cudaperf.engine.loops.nest import LoopNest, NestStep, Program, RepeatStep, ScalarStep, Step, SwapStep, WhenStep, WhileStep

POISON = "poison"
Where = tuple[tuple[int, int], ...]


class Undefined(Exception):
    """The program does something that C does not define (a negative subscript), or too much for a test."""


class Poisoned(AssertionError):
    """A value is used that the device would not have."""


class _Leave(Exception):
    def __init__(self, node: ir.Stmt, value: object = None) -> None:
        self.node, self.value = node, value


@dataclass(frozen=True, slots=True)
class Touched:
    """One memory access; `where` are the loops around it (by the node's identity) with their iterators' values."""

    array: str
    element: int
    write: bool
    where: Where


def value_of(array: str, element: int) -> int:
    """The value that an argument's element has at the start."""
    return (element * 7 + len(array) * 3 + ord(array[0])) % 13 - 4


@dataclass(slots=True)
class Machine:
    """Scalars, memory and the trace."""

    function: ir.Function
    scalars: dict[str, object]
    data: Callable[[str, int], int] = value_of
    memory: dict[str, dict[int, object]] = field(default_factory=dict)
    dims: dict[str, tuple[ir.Expr | None, ...]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    trace: list[Touched] = field(default_factory=list)
    where: Where = ()
    left: int = 20_000

    def __post_init__(self) -> None:
        for variable in self.function.parameters + self.function.globals:
            if variable.is_array:
                self.dims[variable.name] = variable.dims

    # --- memory --------------------------------------------------------------------------------------------------------

    def flat(self, node: ir.Load) -> int:
        dims = self.dims.get(node.array, (None,))
        element = 0
        for d, index in enumerate(node.indices):
            length = dims[d] if d else None
            element = element * (self.int(length) if length is not None else 1) + self.int(index)
        if element < 0:
            raise Undefined(f"{node.array}[{element}]")
        return element

    def load(self, node: ir.Load) -> object:
        element = self.flat(node)
        array = self.names.get(node.array, node.array)
        self.trace.append(Touched(array, element, False, self.where))
        held = self.memory.setdefault(array, {})
        if element not in held:
            known = any(v.name == array for v in self.function.parameters + self.function.globals)
            held[element] = self.data(array, element) if known else POISON
        return held[element]

    def store(self, node: ir.Load, value: object) -> None:
        element = self.flat(node)
        array = self.names.get(node.array, node.array)
        self.trace.append(Touched(array, element, True, self.where))
        self.memory.setdefault(array, {})[element] = value

    # --- expressions ---------------------------------------------------------------------------------------------------

    def int(self, node: ir.Expr) -> int:
        value = self.eval(node)
        if value is POISON:
            raise Poisoned(f"{node} has no value here")
        assert isinstance(value, int)
        return value

    def eval(self, node: ir.Expr) -> object:
        match node:
            case ir.IntConst():
                return node.value
            case ir.Name():
                return self.scalars.get(node.id, POISON)
            case ir.Load():
                return self.load(node)
            case ir.Cast():
                value = self.eval(node.operand)
                return value if value is POISON else wrapped(value, node.type)  # type: ignore[arg-type]
            case ir.Unary():
                value = self.int(node.operand)
                found = {"-": -value, "+": value, "!": int(not value), "~": ~value}[node.op]
                return wrapped(found, node.type)
            case ir.Select():
                return self.eval(node.then if self.int(node.condition) else node.other)
            case ir.Binary(op="&&"):
                return int(bool(self.int(node.left)) and bool(self.int(node.right)))
            case ir.Binary(op="||"):
                return int(bool(self.int(node.left)) or bool(self.int(node.right)))
            case ir.Binary():
                return wrapped(_binary(node.op, self.int(node.left), self.int(node.right)), node.type)
            case _:
                raise NotImplementedError(node)

    # --- statements ----------------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[ir.Stmt]) -> None:
        for statement in statements:
            self.run(statement)

    def run(self, node: ir.Stmt) -> None:
        self.left -= 1
        if self.left < 0:
            raise Undefined("too long")
        match node:
            case ir.Block():
                self.block(node.statements)
            case ir.Assign():
                self.assign(node)
            case ir.Decl() if node.dims:
                self.dims[node.name] = node.dims
                self.memory[node.name] = {}
            case ir.Decl():
                self.scalars[node.name] = POISON if node.init is None else self.converted(node.init, node.type)  # type: ignore[arg-type]
            case ir.If():
                if self.int(node.condition):
                    self.run(node.then)
                elif node.other is not None:
                    self.run(node.other)
            case ir.For():
                self.loop(node)
            case ir.While():
                self.while_loop(node)
            case ir.PointerSwap(first=a, second=b):
                self.names[a], self.names[b] = self.names.get(b, b), self.names.get(a, a)
            case ir.Return():
                raise _Leave(node, None if node.value is None else self.eval(node.value))
            case ir.Break() | ir.Continue():
                raise _Leave(node)
            case _:
                raise NotImplementedError(node)

    def converted(self, node: ir.Expr, kind: ir.Type) -> object:
        value = self.eval(node)
        return value if value is POISON else wrapped(value, kind)  # type: ignore[arg-type]

    def assign(self, node: ir.Assign) -> None:
        kind = node.target.type
        assert isinstance(kind, ir.Scalar)
        value = node.value if node.op is None else ir.Binary(op=node.op, left=node.target, right=node.value, type=kind)
        result = self.converted(value, node.target.type)
        if isinstance(node.target, ir.Name):
            self.scalars[node.target.id] = result
        else:
            self.store(node.target, result)

    def values(self, node: ir.For) -> Iterator[int]:
        """The iterator's values."""
        at, bound, step = self.int(node.lower), self.int(node.bound), self.int(node.step)
        while _binary(node.relation, at, bound):
            yield at
            at += step

    def loop(self, node: ir.For) -> None:
        at = self.int(node.lower)
        for at in self.values(node):
            self.iteration(node, at, node.body.statements)
            at += self.int(node.step)
        self.scalars[node.var] = at

    def iteration(self, node: ir.For, at: int, body: Sequence[ir.Stmt]) -> None:
        outer, self.where = self.where, (*self.where, (id(node), at))
        self.scalars[node.var] = at
        try:
            self.block(body)
        except _Leave as leave:
            if not isinstance(leave.node, ir.Continue):
                raise
        finally:
            self.where = outer

    def while_loop(self, node: ir.While) -> None:
        self.block(node.init)
        first = node.post_test
        while first or self.int(node.condition):
            first = False
            self.block(node.body.statements)
            self.block(node.advance)


def wrapped(value: int, kind: ir.Type) -> int:
    """The value in an integer type."""
    assert isinstance(kind, ir.Scalar)
    if kind.name == "_Bool":
        return int(value != 0)
    low = value & ((1 << kind.bits) - 1)
    return low - (1 << kind.bits) if kind.signed and low >> (kind.bits - 1) else low


def _binary(op: str, a: int, b: int) -> int:
    match op:
        case "/" | "%":
            if b == 0:
                raise Undefined("division by zero")
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if op == "/" else a - quotient * b
        case "&" | "|" | "^":
            return {"&": a & b, "|": a | b, "^": a ^ b}[op]
        case "<<" | ">>":
            return a << b if op == "<<" else a >> b
        case "+" | "-" | "*":
            return {"+": a + b, "-": a - b, "*": a * b}[op]
        case _:
            return int({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[op])


# --- the original ------------------------------------------------------------------------------------------------------


def original(function: ir.Function, arguments: Mapping[str, int]) -> tuple[Machine, object]:
    """The state after a call, and what it returned."""
    machine = Machine(function, dict(arguments))
    return machine, _called(machine, lambda: machine.run(function.body))


def _called(machine: Machine, work: Callable[[], None]) -> object:
    try:
        work()
    except _Leave as leave:
        return leave.value
    return None


# --- the program -------------------------------------------------------------------------------------------------------


def parallel(program: Program, arguments: Mapping[str, int]) -> tuple[Machine, object]:
    """The state after running the program's steps, and its result."""
    machine = Machine(program.unit.function, dict(arguments))
    device = _Device(program, machine, dict(arguments))
    device.steps(program.steps)
    return machine, device.scalars.get(program.result) if program.result else None


@dataclass(slots=True)
class _Device:
    program: Program
    machine: Machine
    host: dict[str, int]
    scalars: dict[str, object] = field(default_factory=dict)

    def steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            match step:
                case NestStep(nest):
                    self.nest(nest)
                case ScalarStep():
                    self.scalar(step)
                case WhenStep():
                    if size.evaluate(step.condition, self.host):
                        self.steps(step.steps)
                case RepeatStep():
                    low, high = (size.evaluate(t, self.host) for t in (step.begin, step.end))
                    for at in range(low, high, step.step):
                        self.host[step.var] = at
                        self.steps(step.steps)
                case SwapStep(a, b):
                    names = self.machine.names
                    names[a], names[b] = names.get(b, b), names.get(a, a)
                case WhileStep():
                    self.repeat_while(step)

    def repeat_while(self, step: WhileStep) -> None:
        if step.first:
            self.scalar(step.test)
        while not step.first or self.scalars[step.flag_name]:
            self.steps(step.steps)
            self.scalar(step.test)
            if not self.scalars[step.flag_name]:
                break

    def enter(self, part: LoopNest | ScalarStep) -> None:
        """What a kernel knows: its parameters, nothing else."""
        known = {n: self.host[n] for n in (*part.parameters, *part.outer)}
        self.machine.scalars = {**known, **{n: self.scalars.get(n, POISON) for n in part.inputs}}
        self.machine.block(part.prologue)

    def scalar(self, step: ScalarStep) -> None:
        self.enter(step)
        for name in set(step.outputs) - self.machine.scalars.keys():
            self.machine.scalars[name] = self.scalars.get(name, POISON)
        self.machine.block(step.statements)
        self.scalars |= {n: self.machine.scalars[n] for n in step.outputs}

    def nest(self, nest: LoopNest) -> None:
        self.enter(nest)
        results = {n for r in nest.reductions for n in (r.name, *r.companions)}
        if nest.scan is not None and isinstance(nest.scan.carried, ir.Name):
            results.add(nest.scan.carried.id)
        for name in results - self.machine.scalars.keys():
            self.machine.scalars[name] = self.scalars.get(name, POISON)
        if all(self.machine.int(guard) for guard in nest.guards):
            if nest.scan is not None:
                self.scan(nest)
            elif nest.skew is not None:
                self.diagonals(nest)
            else:
                self.band(nest, 0, results)
        self.scalars |= {n: self.machine.scalars[n] for n in results}

    def band(self, nest: LoopNest, depth: int, results: set[str]) -> None:
        machine = self.machine
        if depth == len(nest.band):
            machine.block(nest.body)
            return
        loop = nest.band[depth]
        values = list(machine.values(loop.node))
        covers = range(*(size.evaluate(t, self.host) for t in (loop.low, loop.high)))
        assert all(v in covers for v in values), f"{loop.var} takes {values}, its range is {covers}"
        kept = dict(machine.scalars)
        for at in reversed(values) if loop.parallel else values:
            if loop.parallel:
                # a thread of its own: it knows what stood before the loop, and its private scalars hold nothing
                machine.scalars = {**kept, **{n: machine.scalars[n] for n in results}, **dict.fromkeys(nest.private, POISON)}
            machine.scalars[loop.var] = at
            try:
                machine.block(loop.before)
                self.band(nest, depth + 1, results)
            except _Leave as leave:
                if not isinstance(leave.node, ir.Continue):
                    raise
        if loop.parallel:
            machine.scalars = {**kept, **{n: machine.scalars[n] for n in results}}

    def scan(self, nest: LoopNest) -> None:
        """By the pattern's formula instead of the user's statements."""
        machine, pattern, loop = self.machine, nest.scan, nest.band[0].node
        assert pattern is not None
        running: object = None
        for at in machine.values(loop):
            machine.scalars[loop.var] = at
            if running is None:
                first = pattern.previous if pattern.previous is not None else pattern.carried
                running = machine.eval(first)
            element = machine.int(pattern.element) * (-1 if pattern.negative else 1)
            assert isinstance(running, int)
            before, running = running, _stepped(pattern.op, running, element, pattern.factor and machine.int(pattern.factor))
            running = wrapped(running, pattern.carried.type)
            if pattern.store is None:
                assert isinstance(pattern.carried, ir.Load)
                machine.store(pattern.carried, running)
            else:
                assert isinstance(pattern.carried, ir.Name)
                machine.scalars[pattern.carried.id] = before if pattern.exclusive else running
                machine.run(pattern.store)
                machine.scalars[pattern.carried.id] = running

    def diagonals(self, nest: LoopNest) -> None:
        """Diagonal by diagonal, the iterations of each backwards."""
        machine, skew = self.machine, nest.skew
        assert skew is not None
        outer, inner = nest.band
        points: list[tuple[int, int, int]] = []
        for i in machine.values(outer.node):
            machine.scalars[outer.var] = i
            for j in machine.values(inner.node):
                number = skew.outer * i * (1 if outer.step > 0 else -1) + skew.inner * j * (1 if inner.step > 0 else -1)
                points.append((number, i, j))
        for _, i, j in sorted(points, key=lambda p: (p[0], -p[1], -p[2])):
            machine.scalars |= {outer.var: i, inner.var: j} | dict.fromkeys(nest.private, POISON)
            machine.block(nest.body)


def _stepped(op: str, running: int, element: int, factor: int | None) -> int:
    match op:
        case "+":
            return running + element
        case "*":
            return running * element
        case "min" | "max":
            return (min if op == "min" else max)(running, element)
        case _:
            assert factor is not None
            return factor * running + element
