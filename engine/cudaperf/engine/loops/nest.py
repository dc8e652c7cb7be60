"""The nouns between loop analysis and strategies: a `Program` of `Step`s, whose parallel parts are `LoopNest`s."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.bounds import NotExpressible, Range, value_range
from cudaperf.engine.loops.conflicts import Conflict
from cudaperf.engine.loops.layout import Layout
from cudaperf.engine.loops.model import Access, LoopVar, Model
from cudaperf.engine.loops.poly import And, condition_atoms
from cudaperf.engine.loops.scalars import Reduction
from cudaperf.engine.loops.scans import ScanPattern
from cudaperf.engine.loops.sets import Space
from cudaperf.engine.loops.skew import Skew

Kind = Literal["parallel", "reduction", "sequential"]


@dataclass(frozen=True, slots=True, eq=False)
class Obstacle:
    """Why the iterations of a loop can't run at once, with the node to point at."""

    message: str
    node: ir.Node
    conflict: Conflict | None = None
    scalar: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LoopFacts:
    """What is known of one loop within its nest.

    `parallel`: all iterations are independent. `reduction`: independent but for `reductions` (scalars) and `array_reductions`
    (arrays that are only updated with one operator). `sequential`: `obstacle` says why. `private` are scalars declared outside
    that each iteration needs a copy of.
    """

    var: LoopVar
    kind: Kind
    private: frozenset[str] = frozenset()
    reductions: tuple[Reduction, ...] = ()
    array_reductions: tuple[str, ...] = ()
    obstacle: Obstacle | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BandLoop:
    """One loop of a nest's band.

    `range` covers every value of the iterator; `tight` says that the loop's own bounds do not
    depend on other band loops, so that no guard is needed beyond them. `before` are the statements that stand in the loop
    before the next band loop (cheap, without effects: every thread may repeat them).
    """

    node: ir.For
    facts: LoopFacts
    range: Range
    tight: bool
    before: tuple[ir.Stmt, ...] = ()

    @property
    def var(self) -> str:
        return self.node.var

    @property
    def low(self) -> str:
        return self.range.low

    @property
    def high(self) -> str:
        return self.range.high

    @property
    def step(self) -> int:
        return self.facts.var.step or 1

    @property
    def parallel(self) -> bool:
        return self.facts.kind == "parallel"


@dataclass(frozen=True, slots=True, eq=False)
class LoopNest:
    """One nest to run on the device.

    `band` is the chain of loops, outermost first, of which the parallel (or reduction) ones become threads; `body` the
    statements inside it. `prologue` are scalar definitions that every thread repeats (they depend on arguments alone).
    `guards` are conditions on arguments under which the nest runs at all. `private` scalars are declared outside the nest and
    needed once a thread. `parameters` are the function's scalars that it reads, `outer` the variables of enclosing repeat
    loops, `inputs` the device scalars that it reads. `reads` and `writes` are array names. `accesses` and `layouts` are the
    polyhedral view; `host_names` gives the atoms that the host knows (arguments, repeat loops) by their names. A nest
    without parallel loops may carry a `scan`, or a `skew` of its two loops.
    """

    name: str
    root: ir.For
    band: tuple[BandLoop, ...]
    body: tuple[ir.Stmt, ...]
    prologue: tuple[ir.Stmt, ...]
    guards: tuple[ir.Expr, ...]
    private: tuple[str, ...]
    parameters: tuple[str, ...]
    outer: tuple[str, ...]
    inputs: tuple[str, ...]
    reads: frozenset[str]
    writes: frozenset[str]
    accesses: tuple[Access, ...]
    layouts: dict[str, Layout]
    model: Model
    space: Space
    types: dict[str, ir.Type]
    host_names: dict[str, str]
    scan: ScanPattern | None = None
    skew: Skew | None = None

    @property
    def threads(self) -> tuple[BandLoop, ...]:
        return tuple(loop for loop in self.band if loop.parallel)

    def host_atom(self, atom: str) -> str:
        """The name of something that the host knows; raises `NotExpressible`."""
        if atom not in self.host_names:
            raise NotExpressible(atom)
        return self.host_names[atom]

    @property
    def reductions(self) -> tuple[Reduction, ...]:
        """Scalar reductions over the band's loops (none when some loop is parallel and holds its own accumulators)."""
        seen: dict[str, Reduction] = {}
        for loop in self.band:
            for reduction in loop.facts.reductions:
                seen.setdefault(reduction.name, reduction)
        return tuple(seen.values())

    @property
    def array_reductions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(a for loop in self.band for a in loop.facts.array_reductions))


def inner_bounds(nest: LoopNest, node: ir.For) -> tuple[Range, frozenset[str]]:
    """The range of a loop inside the nest over all iterations of the loops around it, and the band variables that its
    own bounds depend on. Raises `NotExpressible` where the bounds depend on data."""
    loop = nest.model.loops[id(node)]
    around = next(s.loops for s in nest.model.statements if any(v is loop for v in s.loops))
    around = around[: around.index(loop) + 1]
    band = {b.facts.var.atom: b.var for b in nest.band}
    others = tuple(v.atom for v in around if v is not loop and v.atom not in nest.host_names)
    condition = And(tuple(v.condition for v in around if v.atom not in nest.host_names))
    found = value_range(nest.space, loop.atom, condition, others, nest.host_atom)
    atoms = condition_atoms(loop.condition)
    depends = frozenset(band[a] for a in atoms if a in band and a != loop.atom)
    return found, depends


@dataclass(frozen=True, slots=True, eq=False)
class NestStep:
    nest: LoopNest


@dataclass(frozen=True, slots=True, eq=False)
class ScalarStep:
    """Statements that one thread runs on the device: results of reductions put to use, single elements written.

    `outputs` are the device scalars that it sets.
    """

    name: str
    statements: tuple[ir.Stmt, ...]
    prologue: tuple[ir.Stmt, ...]
    parameters: tuple[str, ...]
    outer: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    reads: frozenset[str]
    writes: frozenset[str]
    types: dict[str, ir.Type]


@dataclass(frozen=True, slots=True, eq=False)
class RepeatStep:
    """A loop that the host runs: `var` from `begin` while `< end` (`> end` for a negative step)."""

    node: ir.For
    var: str
    begin: str
    end: str
    step: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, eq=False)
class WhileStep:
    """A loop whose condition is computed on the device: `flag` is the ScalarStep that evaluates it into `flag_name`."""

    node: ir.While | ir.For
    flag_name: str
    test: ScalarStep
    first: bool
    limit: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, eq=False)
class WhenStep:
    condition: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SwapStep:
    first: str
    second: str


Step = NestStep | ScalarStep | RepeatStep | WhileStep | WhenStep | SwapStep


@dataclass(frozen=True, slots=True, eq=False)
class LocalArray:
    """A function-level array, which becomes a temporary on the device."""

    name: str
    type: ir.Scalar
    count: str


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A function as the device will run it.

    `device_scalars` live in device memory between kernels; `result` is the device scalar that holds the return value.
    `requirements` are size expressions (non-zero holds) that the host wrapper checks.
    """

    unit: ir.Unit
    model: Model
    space: Space
    steps: tuple[Step, ...]
    device_scalars: dict[str, ir.Type]
    local_arrays: tuple[LocalArray, ...]
    result: str | None
    requirements: tuple[str, ...]


def nests(steps: tuple[Step, ...]) -> list[LoopNest]:
    """Every nest of a program, in order, nested steps included."""
    found: list[LoopNest] = []
    for step in steps:
        if isinstance(step, NestStep):
            found.append(step.nest)
        elif isinstance(step, RepeatStep | WhileStep | WhenStep):
            found.extend(nests(step.steps))
    return found


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A strategy's answer when it has nothing to offer for a nest."""

    because: str
