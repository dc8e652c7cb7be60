"""`transpose`: `B[c][r] = f(A[r][c])`, where one side or the other would not coalesce, through a tile in shared memory.

Directives: `transpose tile(32) block(256)`.
"""

from __future__ import annotations

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.nest import BandLoop, LoopNest, NotApplicable
from cudaperf.engine.loops.poly import ONE
from cudaperf.engine.schedule import NestSchedule
from cudaperf.engine.schedule import parse as parse_schedule
from cudaperf.engine.strategies.access import moves
from cudaperf.engine.strategies.kernel import Source, cuda_type, plain_parameters, shifted
from cudaperf.engine.strategies.kernels.kernel import SIZES, ConfigurationError
from cudaperf.engine.strategies.kernels.transpose import Transpose, TransposeShape
from cudaperf.engine.strategies.kernels.transpose import transpose as transpose_kernel
from cudaperf.engine.strategies.offer import Offer

NAME = "transpose"
SHAPES = (TransposeShape(32, 128), TransposeShape(32, 256), TransposeShape(16, 128))


def offers(nest: LoopNest, source: Source, wanted: NestSchedule | None = None) -> list[Offer] | NotApplicable:
    """One offer a tile shape."""
    found = _match(nest)
    if isinstance(found, str):
        return NotApplicable(found)
    statement, load, rows, columns = found
    parameters = plain_parameters(nest, source)
    if isinstance(parameters, str):
        return NotApplicable(parameters)

    def names(row: str, column: str) -> dict[str, str]:
        return {rows.var: shifted(rows, row), columns.var: shifted(columns, column)}

    def text(node: ir.Expr, row: str, column: str, value: str | None = None) -> str:
        table = names(row, column)

        def rewrite(n: ir.Node) -> str | None:
            if value is not None and n is load:
                return value
            return table.get(n.id) if isinstance(n, ir.Name) else None

        return source.printer(rewrite).expr(node)

    problem = Transpose(
        name=nest.name,
        type=cuda_type(load.type),
        load=lambda row, column: text(load, row, column),
        store=lambda row, column, value: (
            f"{text(statement.target, row, column)} = {text(statement.value, row, column, value)};"
        ),
        rows=f"max(0, {rows.range.count})",
        columns=f"max(0, {columns.range.count})",
        parameters=parameters,
    )
    account = "A tile of the array is turned in shared memory, so that reads and writes are both coalesced."
    offers_: list[Offer] = []
    for shape in SHAPES:
        try:
            made = transpose_kernel(problem, shape)
        except ConfigurationError:
            continue
        schedule = parse_schedule(made.schedule).nests[0]
        if wanted is None or str(schedule) == str(wanted):
            kernels = tuple(k.text for k in made.kernels)
            offers_.append(Offer(schedule, kernels, made.steps(), account, 0.5 + 0.01 * len(offers_)))
    return offers_ or NotApplicable(f"write one of: {'; '.join(s.schedule() for s in SHAPES)}")


def _match(nest: LoopNest) -> tuple[ir.Assign, ir.Load, BandLoop, BandLoop] | str:
    """(the statement, the load that is turned, the loop along which writes are contiguous, the one for reads)."""
    if len(nest.band) != 2 or len(nest.threads) != 2 or not all(b.tight and b.step == 1 for b in nest.band):
        return "the nest is not two plain parallel loops"
    if len(nest.body) != 1 or not isinstance(nest.body[0], ir.Assign) or not isinstance(nest.body[0].target, ir.Load):
        return "the body is not one assignment to an array"
    statement = nest.body[0]
    if statement.op is not None or any(loop.before for loop in nest.band):
        return "the body is not one plain assignment"
    target = statement.target
    assert isinstance(target, ir.Load)
    for rows, columns in (nest.band, nest.band[::-1]):
        if moves(nest, target, rows.facts.var.atom) != ONE:
            continue
        turned = [
            n for n in ir.walk(statement.value) if isinstance(n, ir.Load) and moves(nest, n, columns.facts.var.atom) == ONE
        ]
        turned = [n for n in turned if moves(nest, n, rows.facts.var.atom) is not None]
        if len(turned) == 1 and turned[0].type.name in SIZES and turned[0].array not in nest.writes:
            return statement, turned[0], rows, columns
    return "reads and writes are contiguous along the same loop"
