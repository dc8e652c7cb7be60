"""`wavefront`: two sequential loops run diagonal by diagonal, the iterations of one diagonal in parallel.

The host repeats a launch for each diagonal `w = a*i + b*j`, of the size of that diagonal; one thread computes one iteration on
it. Directives: `wavefront(i:1,j:1) block(128)`.
"""

from __future__ import annotations

from cudaperf.engine.loops.bounds import NotExpressible, Range, value_range
from cudaperf.engine.loops.nest import LoopNest, NotApplicable
from cudaperf.engine.loops.poly import And, Compare, Poly
from cudaperf.engine.plan import Launch, Repeat
from cudaperf.engine.schedule import Directive, NestSchedule
from cudaperf.engine.strategies.kernel import Source, cuda_type, guarded, indent, operand, prologue, signature
from cudaperf.engine.strategies.map import condition, position
from cudaperf.engine.strategies.offer import Offer

NAME = "wavefront"
BLOCKS = (128, 64, 256)


def offers(nest: LoopNest, source: Source, wanted: NestSchedule | None = None) -> list[Offer] | NotApplicable:
    """One offer a block size."""
    if nest.skew is None:
        return NotApplicable("the nest has no independent diagonals")
    try:
        diagonals, inner = _diagonals(nest), _inner(nest)
    except NotExpressible:
        return NotApplicable("how many diagonals there are depends on data")
    found = [_offer(nest, source, block, diagonals, inner, 1.0 + 0.01 * k) for k, block in enumerate(BLOCKS)]
    if wanted is not None:
        found = [offer for offer in found if str(offer.schedule) == str(wanted)]
    return found or NotApplicable(f"write one of: {'; '.join(str(_schedule(nest, b)) for b in BLOCKS)}")


def _schedule(nest: LoopNest, block: int) -> NestSchedule:
    assert nest.skew is not None
    i, j = nest.band
    return NestSchedule(
        (Directive(NAME, ((i.var, nest.skew.outer), (j.var, nest.skew.inner))), Directive("block", ((str(block), None),)))
    )


def _signs(nest: LoopNest) -> tuple[int, int]:
    """The factors of i and j in the diagonal's number, loops that count down turned round."""
    assert nest.skew is not None
    i, j = nest.band
    return nest.skew.outer * (1 if i.step > 0 else -1), nest.skew.inner * (1 if j.step > 0 else -1)


def _diagonal(nest: LoopNest) -> str:
    """The variable that counts the diagonals."""
    return f"{nest.name}_diagonal"


def _on_diagonal(nest: LoopNest) -> And:
    """The iterations (i, j) of diagonal cp_w."""
    a, b = _signs(nest)
    i, j = (loop.facts.var for loop in nest.band)
    number = Poly.atom(i.atom).scale(a) + Poly.atom(j.atom).scale(b)
    return And((i.condition, j.condition, Compare(number - Poly.atom("cp_w"), "=")))


def _diagonals(nest: LoopNest) -> Range:
    """The diagonals' numbers."""
    atoms = tuple(loop.facts.var.atom for loop in nest.band)
    return value_range(nest.space, "cp_w", _on_diagonal(nest), atoms, nest.host_atom)


def _inner(nest: LoopNest) -> Range:
    """The values of the inner loop's variable on one diagonal; on one that holds no iteration, anything."""
    i, j = (loop.facts.var.atom for loop in nest.band)
    return value_range(
        nest.space, j, _on_diagonal(nest), (i,), lambda atom: _diagonal(nest) if atom == "cp_w" else nest.host_atom(atom)
    )


def _offer(nest: LoopNest, source: Source, block: int, diagonals: Range, inner: Range, cost: float) -> Offer:
    printer = source.printer()
    made = signature(nest, source)
    i, j = nest.band
    a, b = _signs(nest)
    made.integer("cp_w", _diagonal(nest))
    made.integer("cp_first", inner.low)
    kind_i, kind_j = cuda_type(i.node.type), cuda_type(j.node.type)
    rest = f"cp_w - {b} * (int){j.var}" if b >= 0 else f"cp_w + {-b} * (int){j.var}"
    value = f"({rest})" if a == 1 else f"-({rest})" if a == -1 else f"({rest}) / {a}"
    tests = [
        f"{i.var} {'>=' if i.step > 0 else '<='} {operand(printer.expr(i.node.lower))}",
        condition(i, printer),
        f"{j.var} {'>=' if j.step > 0 else '<='} {operand(printer.expr(j.node.lower))}",
        condition(j, printer),
    ]
    if abs(a) != 1:
        tests.insert(0, f"({rest}) % {abs(a)} == 0")
    body = [line for s in nest.body for line in printer.statement(s)]
    lines = [
        f"const {kind_j} {j.var} = cp_first + {position('x', kind_j)};",
        f"const {kind_i} {i.var} = {value};",
        f"if ({' && '.join(tests)}) {{",
        *indent(body),
        "}",
    ]
    text = made.text(nest.name, [*prologue(nest, printer), *guarded(nest, printer, lines)], str(block))
    launch = Launch(
        kernel=nest.name,
        grid=(f"max(0, ceildiv(({inner.high}) - ({inner.low}), {block}))", "1", "1"),
        block=(str(block), "1", "1"),
        args=tuple(made.args),
    )
    step = Repeat(var=_diagonal(nest), begin=diagonals.low, end=diagonals.high, body=(launch,))
    account = f"Iterations on one diagonal of {i.var} and {j.var} are independent: each diagonal is one launch."
    return Offer(_schedule(nest, block), (text,), (step,), account, cost)
