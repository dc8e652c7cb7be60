"""`histogram`: counts and sums by a computed bin, private to each warp in shared memory where the bins fit.

For `h[bin(i)] op= w(i)` in one loop, under a condition or not. Integer counts use atomics, whose order does not matter;
floating-point sums are added in a fixed order. Directives: `histogram atomic block(256) blocks(1024)`.
"""

from __future__ import annotations

from cudaperf.engine import size
from cudaperf.engine.loops import ir
from cudaperf.engine.loops.nest import LoopNest, NotApplicable
from cudaperf.engine.loops.scalars import update_of
from cudaperf.engine.schedule import NestSchedule
from cudaperf.engine.schedule import parse as parse_schedule
from cudaperf.engine.strategies.atomic import term
from cudaperf.engine.strategies.kernel import Source, cuda_type, plain_parameters, shifted
from cudaperf.engine.strategies.kernels.histogram import Histogram, HistogramShape
from cudaperf.engine.strategies.kernels.histogram import histogram as histogram_kernels
from cudaperf.engine.strategies.kernels.kernel import SIZES, ConfigurationError
from cudaperf.engine.strategies.offer import Offer

NAME = "histogram"


def offers(nest: LoopNest, source: Source, wanted: NestSchedule | None = None) -> list[Offer] | NotApplicable:
    """One offer a launch shape."""
    found = _match(nest)
    if isinstance(found, str):
        return NotApplicable(found)
    update, guard = found
    target = update.target
    assert isinstance(target, ir.Load)
    bins = source.extents.get(target.array)
    if bins is None or size.arrays(bins):
        return NotApplicable(f"how many bins {target.array} has depends on data")
    parameters = plain_parameters(nest, source)
    if isinstance(parameters, str):
        return NotApplicable(parameters)
    loop = nest.band[0]

    def text(node: ir.Expr, at: str) -> str:
        return source.printer(lambda n: shifted(loop, at) if isinstance(n, ir.Name) and n.id == loop.var else None).expr(node)

    combined = term(update)
    assert combined is not None
    added, negative = combined
    problem = Histogram(
        name=nest.name,
        type=cuda_type(target.type),
        bin=lambda at: text(target.indices[0], at),
        target=lambda b: f"{target.array}[{b}]",
        length=f"max(0, {loop.range.count})",
        bins=bins,
        parameters=parameters,
        weight=lambda at: f"-({text(added, at)})" if negative else text(added, at),
        guard=(lambda at: text(guard, at)) if guard is not None else None,
    )
    floats = target.type.name in ("float", "double")
    shapes = (
        (HistogramShape(128, 256, True),)
        if floats
        else (HistogramShape(512, 1024), HistogramShape(1024, 512), HistogramShape(256, 1024))
    )
    made_offers: list[Offer] = []
    for shape in shapes:
        try:
            made = histogram_kernels(problem, shape)
        except ConfigurationError as error:
            return NotApplicable(str(error))
        schedule = parse_schedule(made.schedule).nests[0]
        if wanted is not None and str(schedule) != str(wanted):
            continue
        account = f"{target.array} is accumulated in copies in shared memory, which are added up at the end."
        kernels = tuple(k.text for k in made.kernels)
        cost = 0.5 + 0.01 * len(made_offers)
        made_offers.append(Offer(schedule, kernels, made.steps(), account, cost, made.temporaries, made.deterministic))
    return made_offers or NotApplicable(f"write one of: {'; '.join(s.schedule() for s in shapes)}")


def _match(nest: LoopNest) -> tuple[ir.Assign, ir.Expr | None] | str:
    """(the update, the condition it stands under)."""
    if nest.threads or len(nest.array_reductions) != 1 or nest.reductions or len(nest.band) != 1:
        return "the nest is not one loop that accumulates into one array"
    loop = nest.band[0]
    if not loop.tight or loop.step != 1 or len(nest.body) != 1:
        return "the loop does more than accumulate"
    statement, guard = nest.body[0], None
    while isinstance(statement, ir.Block | ir.If):
        if isinstance(statement, ir.If):
            if statement.other is not None or guard is not None:
                return "the update stands under more than one condition"
            guard = statement.condition
            statement = statement.then
        if len(statement.statements) != 1:
            return "the loop does more than accumulate"
        statement = statement.statements[0]
    if not isinstance(statement, ir.Assign) or not isinstance(statement.target, ir.Load):
        return "the loop does more than accumulate"
    target = statement.target
    update = update_of(statement)
    if update is None or update.op != "+" or len(target.indices) != 1 or target.path or target.type.name not in SIZES:
        return "the update is not a sum of plain elements"
    if target.array != nest.array_reductions[0]:
        return "the loop does more than accumulate"
    return statement, guard
