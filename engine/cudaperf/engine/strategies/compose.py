"""From a program and one offer a nest to a `Candidate`: device code, launch plan, schedule."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.loops import ir
from cudaperf.engine.loops.nest import (
    LoopNest,
    NestStep,
    NotApplicable,
    Program,
    RepeatStep,
    ScalarStep,
    SwapStep,
    WhenStep,
    WhileStep,
    nests,
)
from cudaperf.engine.loops.nest import Step as ProgramStep
from cudaperf.engine.plan import LaunchPlan, Repeat, RepeatWhile, Step, Swap, Temporary, When
from cudaperf.engine.schedule import NestSchedule, Schedule
from cudaperf.engine.strategies.kernel import Source, cuda_type
from cudaperf.engine.strategies.offer import Offer
from cudaperf.engine.strategies.scalar import scalar_kernel

Strategy = Callable[[LoopNest, Source, NestSchedule | None], "list[Offer] | NotApplicable"]


def strategies() -> dict[str, Strategy]:
    """Every strategy by name, the most specialised first."""
    from cudaperf.engine.strategies import (
        atomic,
        contraction,
        histogram,
        reduction,
        rows,
        scan,
        stencil,
        transpose,
        wavefront,
    )
    from cudaperf.engine.strategies import map as map_strategy

    modules = (contraction, transpose, stencil, reduction, scan, rows, map_strategy, histogram, atomic, wavefront)
    return {module.NAME: module.offers for module in modules}


@dataclass(frozen=True, slots=True)
class Choices:
    """The offers of every nest, by the nest's name, cheapest first, and why the other strategies did not apply."""

    source: Source
    offers: Mapping[str, tuple[Offer, ...]]
    refusals: Mapping[str, tuple[str, ...]]


def source_of(program: Program, extents: Mapping[str, str] | None = None, architecture: int = 90) -> Source:
    """Arrays in parameter order: arguments, globals, then the function's local arrays."""
    function, inside = program.unit.function, ir.embedded(program.unit)
    arrays = {v.name: v for v in function.parameters + function.globals if v.is_array and v.name not in inside}
    for node in ir.walk(function.body):
        if isinstance(node, ir.Decl) and node.dims and any(a.name == node.name for a in program.local_arrays):
            arrays[node.name] = ir.Variable(node.name, node.type, dims=node.dims)
    return Source(program.unit, arrays, dict(extents or {}), architecture)


def choices(
    program: Program,
    wanted: Schedule | None = None,
    extents: Mapping[str, str] | None = None,
    architecture: int = 90,
) -> Choices:
    """Ask every strategy about every nest; offers that the architecture can't run are left out."""
    source = source_of(program, extents, architecture)
    offers: dict[str, tuple[Offer, ...]] = {}
    refusals: dict[str, tuple[str, ...]] = {}
    for i, nest in enumerate(nests(program.steps)):
        found: list[Offer] = []
        because: list[str] = []
        asked = wanted.nests[i] if wanted is not None and i < len(wanted.nests) else None
        for name, strategy in strategies().items():
            if asked is not None and asked.strategy != name:
                continue
            answer = strategy(nest, source, asked)
            if isinstance(answer, NotApplicable):
                because.append(f"{name}: {answer.because}")
            else:
                found.extend(offer for offer in answer if offer.architecture <= architecture)
        offers[nest.name] = tuple(sorted(found, key=lambda offer: offer.cost))
        refusals[nest.name] = tuple(because)
    return Choices(source, offers, refusals)


def candidates(program: Program, made: Choices, limit: int) -> list[Candidate]:
    """At most `limit` candidates: the cheapest offers together first, then one nest's alternatives at a time."""
    order = [nest.name for nest in nests(program.steps)]
    base = dict.fromkeys(order, 0)
    picks = [base]
    deepest = max((len(made.offers[name]) for name in order), default=0)
    for level in range(1, deepest):
        picks.append({name: min(level, len(made.offers[name]) - 1) for name in order})
    for name in order:
        picks.extend({**base, name: level} for level in range(1, len(made.offers[name])))
    unique: dict[str, Candidate] = {}
    for pick in picks:
        if len(unique) >= limit:
            break
        candidate = compose(program, made.source, {name: made.offers[name][i] for name, i in pick.items()})
        unique.setdefault(candidate.schedule, candidate)
    return list(unique.values())


def compose(program: Program, source: Source, chosen: Mapping[str, Offer]) -> Candidate:
    """One candidate from one offer a nest."""
    kernels: list[str] = []
    steps = _steps(program.steps, source, chosen, kernels)
    offers = [chosen[nest.name] for nest in nests(program.steps)]
    temporaries = [
        Temporary(name=name, type=cuda_type(kind), count="1") for name, kind in sorted(program.device_scalars.items())
    ]
    temporaries += [Temporary(name=a.name, type=cuda_type(a.type), count=a.count) for a in program.local_arrays]
    temporaries += [t for offer in offers for t in offer.temporaries]
    code = "\n\n".join([*_preamble(program.unit), *kernels]) + "\n"
    return Candidate(
        device_code=code,
        plan=LaunchPlan(temporaries=tuple(temporaries), steps=steps, result=program.result),
        strategy="+".join(dict.fromkeys(offer.schedule.strategy for offer in offers)),
        schedule=str(Schedule(tuple(offer.schedule for offer in offers))),
        account=" ".join(dict.fromkeys(offer.account for offer in offers)),
        deterministic=all(offer.deterministic for offer in offers),
        architecture=max((offer.architecture for offer in offers), default=75),
    )


def _preamble(unit: ir.Unit) -> list[str]:
    """Macros, types and constants, helpers; tables that helpers read become device memory."""
    preamble = unit.preamble
    tables = [v.name for v in unit.function.globals if v.is_array and v.name in ir.embedded(unit)]
    types = [_on_device(text) if any(re.search(rf"\b{t}\s*\[", text) for t in tables) else text for text in preamble.types]
    parts = ["\n".join(preamble.macros), "\n\n".join(types)]
    where = "static __device__ __forceinline__" if tables else "static __host__ __device__ __forceinline__"
    parts += [f"{where} {helper}" for helper in preamble.helpers]
    return [part for part in parts if part.strip()]


def _on_device(text: str) -> str:
    return f"static __device__ {text.removeprefix('static ')}"


def _steps(steps: Sequence[ProgramStep], source: Source, chosen: Mapping[str, Offer], kernels: list[str]) -> tuple[Step, ...]:
    made: list[Step] = []
    for step in steps:
        match step:
            case NestStep(nest):
                kernels.extend(chosen[nest.name].kernels)
                made.extend(chosen[nest.name].steps)
            case ScalarStep():
                text, launch = scalar_kernel(step, source)
                kernels.append(text)
                made.append(launch)
            case RepeatStep():
                body = _steps(step.steps, source, chosen, kernels)
                made.append(Repeat(var=step.var, begin=step.begin, end=step.end, step=step.step, body=body))
            case WhenStep():
                made.append(When(condition=step.condition, body=_steps(step.steps, source, chosen, kernels)))
            case SwapStep():
                made.append(Swap(first=step.first, second=step.second))
            case WhileStep():
                made.extend(_while(step, source, chosen, kernels))
    return tuple(made)


def _while(step: WhileStep, source: Source, chosen: Mapping[str, Offer], kernels: list[str]) -> list[Step]:
    body = _steps(step.steps, source, chosen, kernels)
    text, launch = scalar_kernel(step.test, source)
    kernels.append(text)
    before: list[Step] = [launch] if step.first else []
    return [*before, RepeatWhile(flag=step.flag_name, first=step.first, limit=step.limit, body=(*body, launch))]
