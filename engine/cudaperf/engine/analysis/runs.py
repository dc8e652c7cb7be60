"""The simulated runs of one kernel, made when first asked for, and what it takes for a finding to hold in them.

A block shape is either a launch's own or a guess. What is found of accesses must hold for every sampling of the parameters;
that some threads miss a barrier or a warp operation for one: a size that leaves part of a block is enough. For launches either
must hold in one of their shapes, for guesses in all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from cudaperf.engine.analysis.block_shapes import block_shapes
from cudaperf.engine.analysis.finding import Finding
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.analysis.simt.interpreter import Budget, Interpreter, OverBudget
from cudaperf.engine.analysis.simt.machine import Machine, Sampling, Shape
from cudaperf.engine.analysis.simt.trace import Trace
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function

LARGE, ALIGNED, TIGHT, SMALL = (Sampling(kind) for kind in ("large", "aligned", "tight", "small"))
ROWS = Sampling("tight", rows=True)
KERNEL_STEPS: Final = 40_000
"""Of all runs of one kernel; about 0.1 s."""
MOST_GUESSES: Final = 3

Place = tuple[str, int, int]
Finder = Callable[["Run"], Iterable[Finding]]


@dataclass(eq=False)
class Run:
    """One block's run; `number` is that of its shape."""

    runs: Runs
    number: int
    sampling: Sampling
    trace: Trace

    def neighbours(self) -> Iterator[Trace]:
        """The runs of the next block along each axis of blockIdx that the kernel looks at."""
        for axis in sorted(self.trace.block_axes):
            run = self.runs.run(self.number, self.sampling, _NEXT[axis])
            if run is not None:
                yield run.trace


_NEXT: Final[dict[str, Shape]] = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


@dataclass(eq=False)
class Runs:
    """One kernel's shapes and runs. `known`: the shapes are the launches' own."""

    model: FileModel
    kernel: Function
    known: bool
    shapes: list[tuple[Shape, dict[str, int]]]
    waits: bool
    budget: Budget = field(default_factory=lambda: Budget(KERNEL_STEPS))
    made: dict[tuple[int, Sampling, Shape], Run | None] = field(default_factory=dict)

    def run(self, number: int, sampling: Sampling, block: Shape = (0, 0, 0)) -> Run | None:
        """The run of one block of the shape of this number; None where it takes too long."""
        key = (number, sampling, block)
        if key not in self.made:
            shape, templates = self.shapes[number]
            try:
                trace = Interpreter(self.model, self.kernel, Machine(shape, sampling, block), templates, self.budget).run()
                self.made[key] = Run(self, number, sampling, trace)
            except (OverBudget, RecursionError):
                self.made[key] = None
        return self.made[key]

    @property
    def first(self) -> Run | None:
        return self.run(0, LARGE) if self.shapes else None

    def agreed(self, find: Finder, samplings: tuple[Sampling, ...] = (LARGE, ALIGNED)) -> list[Finding]:
        """What `find` finds on all these samplings."""
        return self._over_shapes(lambda number: self._on_all(number, find, samplings))

    def any_of(self, find: Finder, samplings: tuple[Sampling, ...]) -> list[Finding]:
        """What `find` finds on one of these samplings; on "tight" ones in the next block too."""

        def some(number: int) -> dict[Place, Finding]:
            found: dict[Place, Finding] = {}
            for sampling in samplings:
                if sampling is ROWS and self.shapes[number][0][1] == 1:
                    continue
                for block in ((0, 0, 0), (1, 0, 0)) if sampling.kind == "tight" else ((0, 0, 0),):
                    run = self.run(number, sampling, block)
                    for finding in find(run) if run is not None else ():
                        found[_place(finding)] = _worse(found.get(_place(finding), finding), finding)
            return found

        return self._over_shapes(some)

    def _on_all(self, number: int, find: Finder, samplings: tuple[Sampling, ...]) -> dict[Place, Finding]:
        kept: dict[Place, Finding] | None = None
        for sampling in samplings:
            run = self.run(number, sampling)
            found: dict[Place, Finding] = {}
            for finding in find(run) if run is not None else ():
                found[_place(finding)] = _worse(found.get(_place(finding), finding), finding)
            kept = found if kept is None else {place: f for place, f in kept.items() if place in found}
            if not kept:
                return {}
        return kept or {}

    def _over_shapes(self, of: Callable[[int], dict[Place, Finding]]) -> list[Finding]:
        kept: dict[Place, Finding] = {}
        for number in range(len(self.shapes)):
            found = of(number)
            every = self.known or number == 0
            both = {place: _worse(f, found[place]) for place, f in kept.items() if place in found}
            kept = {**found, **kept, **both} if every else both
            if not self.known and not kept:
                break
        return list(kept.values())


_ONE_KIND: Final = {"CP303": "CP302"}
"""Races between lanes count as races between warps where shapes are compared: which it is depends on the shape."""


def _place(finding: Finding) -> Place:
    return _ONE_KIND.get(finding.code, finding.code), finding.start, finding.end


def _worse(a: Finding, b: Finding) -> Finding:
    return min(a, b, key=lambda f: f.code)


def runs_of(model: FileModel, kernel: Function, settings: Settings) -> Runs:
    """The shapes that a kernel is looked at with; nothing is run yet."""
    shapes = block_shapes(model, kernel, settings)
    known = [(s.shape, dict(s.templates)) for s in shapes.known]
    chosen = known or [(shape, {}) for shape in _spread(_likely(model, kernel, shapes.guesses))]
    macros = (macro.text.encode() for macro in model.macros.values())
    waits = any(b"sync" in text for text in (*map(model.text, model.reached(kernel)), *macros))
    return Runs(model, kernel, bool(known), chosen, waits)


def _likely(model: FileModel, kernel: Function, shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
    """Without the shapes that the code speaks against: `threadIdx.x < 32` is for blocks of more threads, and what never looks
    at threadIdx.y for blocks of one row."""
    axes = {n.axis for f in model.reached(kernel) for n in f.nodes if isinstance(n, ir.Builtin) and n.id == "threadIdx"}
    if "y" not in axes and "z" not in axes:
        shapes = tuple(sorted({(x * y * z, 1, 1) for x, y, z in shapes}))
    limit = 0
    for node in kernel.nodes:
        if isinstance(node, ir.Binary) and node.op in ("<", "<=") and isinstance(node.right, ir.Number):
            names = {n.id for n in ir.walk(node.left) if isinstance(n, ir.Name)} & _thread_names(kernel)
            plain = isinstance(node.left, ir.Name | ir.Builtin)
            if plain and (names or (isinstance(node.left, ir.Builtin) and node.left.id == "threadIdx")):
                limit = max(limit, int(node.right.value))
    wider = tuple(shape for shape in shapes if shape[0] * shape[1] * shape[2] > limit)
    return wider or shapes


def _thread_names(kernel: Function) -> set[str]:
    """Variables that hold threadIdx.x."""
    declared = [n for n in kernel.nodes if isinstance(n, ir.Declare)]
    return {d.name for d in declared if isinstance(d.init, ir.Builtin) and d.init.id == "threadIdx" and d.init.axis == "x"}


def _spread(shapes: tuple[Shape, ...]) -> list[Shape]:
    """Few of many: the smallest, the largest and some between."""
    if len(shapes) <= MOST_GUESSES:
        return list(shapes)
    last = len(shapes) - 1
    return [shapes[round(i * last / (MOST_GUESSES - 1))] for i in range(MOST_GUESSES)]
