"""The analysis half of `optimize`: from a file and a function's name to a task and what strategies offer for it.

Nothing is compiled for a device or run here. Raises `Refusal` with the reason and its place in the user's file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from cudaperf.engine import size
from cudaperf.engine.describe import describe
from cudaperf.engine.loops import assume, ir
from cudaperf.engine.loops.nest import LoopNest, Program, RepeatStep, Step, WhenStep, WhileStep, nests
from cudaperf.engine.loops.partition import partition
from cudaperf.engine.loops.sets import BudgetExceeded
from cudaperf.engine.reason import Reason, ReasonCode, Refusal
from cudaperf.engine.schedule import Schedule
from cudaperf.engine.strategies.compose import Choices, choices, strategies
from cudaperf.engine.task import ArrayParameter, Original, Task

LEAST_WORK = 4096
"""Statement instances below which a function of fixed size can't pay for one launch (some 10 microseconds)."""
LEAST_WIDTH = 256
"""Iterations at a time, of a fixed number, below which a launch each pass can't pay: fewer than one block of threads."""


@dataclass(frozen=True, slots=True)
class Analysed:
    unit: ir.Unit
    program: Program
    task: Task


def analyse(path: Path, function: str, arguments: tuple[str, ...] = ()) -> Analysed:
    """Front end, loop analysis, task."""
    from cudaperf.engine.sources import c
    from cudaperf.engine.verify.reference import reference_source

    unit = c.load(str(path), function, arguments)
    if isinstance(unit, Reason):
        raise Refusal(unit)
    assumed = assume.read(unit)
    try:
        program = partition(unit, assumed.conditions)
        task = describe(program, original(unit), assumed.texts, dict(assumed.extents))
    except BudgetExceeded as error:
        message = "the analysis of this function's loops exceeded its budget"
        raise Refusal(c.place(unit, ReasonCode.BUDGET, message, unit.function)) from error
    keeps_const(unit, program)
    computes(unit, program, task)
    profitable(unit, task)
    wide_enough(unit, program.steps)
    return Analysed(unit, program, task.model_copy(update={"reference": reference_source(unit, task)}))


def original(unit: ir.Unit) -> Original:
    from cudaperf.engine.sources import c

    return Original(
        path=Path(unit.path).name,
        function=unit.function.name,
        source=(unit.written or unit.text).decode("utf-8", "replace"),
        preprocessed=c.preprocess(unit.path, unit.arguments, markers=True),
        arguments=unit.arguments,
        static=unit.function.is_static,
    )


def keeps_const(unit: ir.Unit, program: Program) -> None:
    """Refuse writes through a cast that takes const away."""
    from cudaperf.engine.sources import c

    constant = {v.name for v in unit.function.parameters if v.is_array and v.const}
    for access in program.model.accesses():
        if access.write and access.array in constant and isinstance(access.node, ir.Load):
            message = f"this writes to {access.array}, which is declared const; declare it as what it is"
            raise Refusal(c.place(unit, ReasonCode.UNSUPPORTED, message, access.node))


def computes(unit: ir.Unit, program: Program, task: Task) -> None:
    """Refuse a function whose loops write nothing."""
    from cudaperf.engine.sources import c

    written = {a.array for a in program.model.accesses() if a.write}
    reached = [p for p in (*task.parameters, *task.globals) if isinstance(p, ArrayParameter) and p.name in written]
    if task.returns is None and all("0" in p.extents for p in reached) and not _assigns_globals(unit):
        message = f"{unit.function.name} computes nothing: no statement of its loops writes an array or a result"
        raise Refusal(c.place(unit, ReasonCode.NO_LOOP, message, unit.function))


def _assigns_globals(unit: ir.Unit) -> bool:
    names = {v.name for v in unit.function.globals}
    targets = [n.target for n in ir.walk(unit.function.body) if isinstance(n, ir.Assign)]
    return any(isinstance(t, ir.Name) and t.id in names for t in targets)


def profitable(unit: ir.Unit, task: Task) -> None:
    """Refuse a function whose size is fixed and too small; sizes that are arguments are the caller's to judge."""
    from cudaperf.engine.sources import c

    if size.names(task.work) or size.arrays(task.work):
        return
    work = size.evaluate(task.work, {})
    if work < LEAST_WORK:
        first = next(n for n in ir.walk(unit.function.body) if isinstance(n, ir.For | ir.While))
        message = f"not worth moving: {work} iterations in all, and one kernel launch takes as long as about {LEAST_WORK}"
        raise Refusal(c.place(unit, ReasonCode.NOT_PROFITABLE, message, first))


def wide_enough(unit: ir.Unit, steps: tuple[Step, ...]) -> None:
    """Refuse a loop that the host would repeat for a handful of iterations a pass."""
    from cudaperf.engine.sources import c

    for step in steps:
        if not isinstance(step, RepeatStep | WhileStep | WhenStep):
            continue
        inside = nests(step.steps)
        if isinstance(step, RepeatStep) and inside and all(_width(nest) is not None for nest in inside):
            widest = max(_width(nest) or 0 for nest in inside)
            if widest < LEAST_WIDTH:
                message = (
                    f"not worth moving: each pass of the loop over {step.var} has at most {widest} iterations to run at once"
                )
                raise Refusal(c.place(unit, ReasonCode.NOT_PROFITABLE, message, step.node))
        wide_enough(unit, step.steps)


def _width(nest: LoopNest) -> int | None:
    """How many iterations run at once, where arguments do not decide it."""
    counts = [loop.range.count for loop in nest.band if loop.facts.kind != "sequential"]
    if any(size.names(text) for text in counts) or not counts:
        return None
    return math.prod(max(0, size.evaluate(text, {})) for text in counts)


def offered(analysed: Analysed, wanted: Schedule | None = None, architecture: int = 90) -> Choices:
    """What the strategies offer for an architecture; refuses a nest that none takes, with their reasons."""
    from cudaperf.engine.sources import c

    extents = {a.name: " * ".join(f"({t})" for t in a.extents) for a in analysed.task.arrays}
    made = choices(analysed.program, wanted, extents, architecture)
    for nest in nests(analysed.program.steps):
        if not made.offers[nest.name]:
            because = _because(nest, made.refusals[nest.name], wanted)
            if wanted is not None:
                message = f"--schedule does not fit the loop over {nest.root.var}: {because}"
                raise Refusal(c.place(analysed.unit, ReasonCode.USAGE, message, nest.root))
            message = f"the loop over {nest.root.var} can't move: {because}"
            raise Refusal(c.place(analysed.unit, ReasonCode.UNSUPPORTED, message, nest.root))
    return made


def _because(nest: LoopNest, refusals: tuple[str, ...], wanted: Schedule | None) -> str:
    """The reason of the strategy that the nest is made for; with a schedule, of the one that it names."""
    reasons = dict(text.split(": ", 1) for text in refusals)
    if wanted is not None:
        named = " or ".join(n.strategy for n in wanted.nests)
        return "; ".join(reasons.values()) or f"no strategy is called {named}; there are {', '.join(strategies())}"
    made_for = {
        "reduction": nest.reductions,
        "atomic": nest.array_reductions,
        "scan": nest.scan,
        "wavefront": nest.skew,
        "map": True,
    }
    return next(reasons[name] for name, fits in made_for.items() if fits and name in reasons)
