"""`rows`: a warp or a block for each iteration of the parallel loop, its threads sharing the loops inside.

For bodies such as `s = 0; for j: s += a[i][j] * x[j]; y[i] = s;`, softmax, norms, sparse rows (bounds may depend on data):
every loop directly in the body must itself be parallel or a scalar reduction. All threads of the team run the statements
between the loops (each on its own copies); stores there are done by one. Directives: `rows(i) team(warp) block(256)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.bounds import Range
from cudaperf.engine.loops.facts import facts
from cudaperf.engine.loops.model import assigned, declared
from cudaperf.engine.loops.nest import BandLoop, LoopFacts, LoopNest, NotApplicable
from cudaperf.engine.loops.printer import Printer
from cudaperf.engine.loops.scalars import Reduction, exposed
from cudaperf.engine.loops.trees import array_sets
from cudaperf.engine.plan import Launch
from cudaperf.engine.schedule import Directive, NestSchedule
from cudaperf.engine.strategies.access import contiguity, stride
from cudaperf.engine.strategies.kernel import (
    Source,
    comparand,
    cuda_type,
    guarded,
    indent,
    is_zero,
    iterator_type,
    prologue,
    signature,
)
from cudaperf.engine.strategies.kernels.kernel import SIZES
from cudaperf.engine.strategies.map import condition, first_value
from cudaperf.engine.strategies.offer import Offer
from cudaperf.engine.strategies.reduction import BITWISE, identity

NAME = "rows"
NOWHERE = Range("0", "0", "0")


@dataclass(frozen=True, slots=True)
class Team:
    """`threads` of a block that share one row: 32 (a warp) or the whole block."""

    name: str
    threads: int
    block: int

    @property
    def rank(self) -> str:
        return "threadIdx.x % 32" if self.threads == 32 and self.block != 32 else "threadIdx.x"

    @property
    def barrier(self) -> str:
        return "__syncwarp();" if self.name == "warp" else "__syncthreads();"


TEAMS = (Team("warp", 32, 256), Team("block", 256, 256), Team("block", 128, 128))


def offers(nest: LoopNest, source: Source, wanted: NestSchedule | None = None) -> list[Offer] | NotApplicable:
    """A warp and a block a row, cheapest first by how the inner accesses lie."""
    problem = _unsuitable(nest)
    if isinstance(problem, str):
        return NotApplicable(problem)
    teams: Sequence[Team] = TEAMS
    if wanted is not None:
        teams = [t for t in TEAMS if str(_schedule(nest, t)) == str(wanted)]
        if not teams:
            return NotApplicable(f"write one of: {'; '.join(str(_schedule(nest, t)) for t in TEAMS)}")
    return [_offer(nest, source, team, problem, _cost(nest, k, problem)) for k, team in enumerate(teams)]


def _schedule(nest: LoopNest, team: Team) -> NestSchedule:
    rows = Directive(NAME, tuple((loop.var, None) for loop in nest.threads))
    return NestSchedule((rows, Directive("team", ((team.name, None),)), Directive("block", ((str(team.block), None),))))


def _unsuitable(nest: LoopNest) -> dict[int, LoopFacts] | str:
    """The facts of the loops in the body, or why a team can't share it."""
    if not nest.threads or len(nest.band) != len(nest.threads) or len(nest.threads) > 2:
        return "the band is not one or two parallel loops"
    if not all(loop.tight for loop in nest.threads):
        return "the bounds of the parallel loops depend on one another"
    loops = [s for s in nest.body if isinstance(s, ir.For)]
    if not loops:
        return "the body holds no loop to share"
    found: dict[int, LoopFacts] = {}
    for statement in nest.body:
        if isinstance(statement, ir.For):
            fact = _inner(nest, statement)
            if fact.kind == "sequential" or fact.array_reductions or not _supported(nest, fact):
                why = fact.obstacle.message if fact.obstacle else "it accumulates in a way that threads can't merge"
                return f"the loop over {statement.var} can't be shared: {why}"
            found[id(statement)] = fact
        elif not isinstance(statement, ir.Decl | ir.Assign | ir.If | ir.PointerDecl) or (
            isinstance(statement, ir.Decl) and statement.dims
        ):
            return "a statement of the body can't be run by a team"
        elif any(isinstance(n, ir.For | ir.While | ir.Continue) for n in ir.walk(statement)):
            return "a loop stands under a condition"
        elif isinstance(statement, ir.If) and _stores(statement) and assigned(statement) - declared(statement):
            return "a branch both stores and sets scalars"
    return found


def _inner(nest: LoopNest, node: ir.For) -> LoopFacts:
    fixed = frozenset(loop.facts.var.atom for loop in nest.band) | frozenset(
        v.atom for s in nest.model.inside(nest.root) for v in s.loops if not _within(nest.root, v.node)
    )
    accesses = [a for s in nest.model.inside(node) for a in s.accesses if a.array in nest.layouts]
    at = next(i for i, s in enumerate(nest.body) if s is node)
    live = frozenset(n for n in nest.types if exposed(nest.body[at + 1 :], n) is not None)
    live |= frozenset(n for n in declared(ir.Block(statements=nest.body)) if exposed(nest.body[at + 1 :], n) is not None)
    return facts(node, nest.model, nest.space, nest.layouts, accesses, fixed, live)


def _within(root: ir.Node, node: ir.Node) -> bool:
    return any(n is node for n in ir.walk(root))


def _supported(nest: LoopNest, fact: LoopFacts) -> bool:
    types = _types(nest)
    for reduction in fact.reductions:
        kind = types.get(reduction.name)
        if reduction.companions or reduction.keyed is not None or kind is None or kind.name not in SIZES:
            return False
        if reduction.op in BITWISE and kind.name in ("float", "double"):
            return False
    return True


def _types(nest: LoopNest) -> dict[str, ir.Type]:
    local = {n.name: n.type for s in nest.body for n in ir.walk(s) if isinstance(n, ir.Decl) and not n.dims}
    return {**nest.types, **local}


def _offer(nest: LoopNest, source: Source, team: Team, found: dict[int, LoopFacts], cost: float) -> Offer:
    printer = source.printer()
    kernel = signature(nest, source)
    head = prologue(nest, printer)
    body = _body(nest, printer, team, found)
    rows = f"threadIdx.x / 32 + blockIdx.x * {team.block // 32}" if team.name == "warp" else "blockIdx.x"
    per_block = team.block // team.threads
    grid = []
    for axis, loop in zip("xy", reversed(nest.threads), strict=False):
        kind = iterator_type(loop.node)
        count = f"ceildiv({loop.range.count}, {abs(loop.step) * (per_block if axis == 'x' else 1)})"
        grid.append(f"max(0, min({count}, {2147483647 if axis == 'x' else 65535}))")
        number = rows if axis == "x" else "blockIdx.y"
        scale = "" if abs(loop.step) == 1 else f"{abs(loop.step)} * "
        first = first_value(loop, printer)
        sign = "+" if loop.step > 0 else "-"
        start = (
            f"({kind})({number})"
            if is_zero(first) and loop.step > 0
            else f"{comparand(first)} {sign} {scale}({kind})({number})"
        )
        step = f"{scale}({kind})(gridDim.{axis}{f' * {per_block}' if axis == 'x' and per_block > 1 else ''})"
        body = [
            *(line for s in loop.before for line in printer.statement(s)),
            *body,
        ]
        body = [
            f"for ({kind} {loop.var} = {start}; {condition(loop, printer)}; {loop.var} {sign}= {step}) {{",
            *indent(body),
            "}",
        ]
    lane = f"const int cp_lane = {team.rank};"
    text = kernel.text(nest.name, [*head, lane, *guarded(nest, printer, body)], str(team.block))
    launch = Launch(
        kernel=nest.name,
        grid=(grid[0], grid[1] if len(grid) > 1 else "1", "1"),
        block=(str(team.block), "1", "1"),
        args=tuple(kernel.args),
    )
    names = " and ".join(loop.var for loop in nest.threads)
    account = f"A {team.name} of threads shares the loops inside each iteration over {names}; sums are merged in a fixed order."
    return Offer(_schedule(nest, team), (text,), (launch,), account, cost)


def _body(nest: LoopNest, printer: Printer, team: Team, found: dict[int, LoopFacts]) -> list[str]:
    lines: list[str] = []
    types = _types(nest)
    since = _Since()
    for statement in nest.body:
        lines += [team.barrier] if since.needs_barrier(statement) else []
        if isinstance(statement, ir.For):
            lines += _shared_loop(statement, printer, team, found[id(statement)], types)
            continue
        text = printer.statement(statement)
        lines += ["if (cp_lane == 0) {", *indent(text), "}"] if _stores(statement) else text
    return [*lines, team.barrier] if since.written else lines


@dataclass(slots=True)
class _Since:
    """The arrays that the team's threads read and wrote since they last waited for one another."""

    read: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()

    def needs_barrier(self, statement: ir.Stmt) -> bool:
        """Whether the team must wait before a statement; takes note of it."""
        reads, writes = array_sets((statement,))
        needed = bool(reads & self.written or writes & (self.read | self.written))
        self.read, self.written = (reads, writes) if needed else (self.read | reads, self.written | writes)
        return needed


def _stores(statement: ir.Stmt) -> bool:
    own = declared(ir.Block(statements=(statement,)))
    return any(
        isinstance(n, ir.Assign) and isinstance(n.target, ir.Load) and n.target.array not in own for n in ir.walk(statement)
    )


def _shared_loop(node: ir.For, printer: Printer, team: Team, fact: LoopFacts, types: dict[str, ir.Type]) -> list[str]:
    """The loop with its iterations dealt to the team, then the merge of its accumulators in every thread."""
    step = fact.var.step or 1
    loop = BandLoop(node, fact, NOWHERE, True)
    kind = iterator_type(node)
    scale = "" if abs(step) == 1 else f"{abs(step)} * "
    sign = "+" if step > 0 else "-"
    lower = printer.expr(node.lower)
    first = f"{scale}cp_lane" if is_zero(lower) and step > 0 else f"{comparand(lower)} {sign} {scale}cp_lane"
    header = f"for ({kind} {node.var} = {first}; {condition(loop, printer)}; {node.var} {sign}= {scale}{team.threads})"
    inner = [line for s in node.body.statements for line in printer.statement(s)]
    before: list[str] = []
    after: list[str] = []
    for reduction in fact.reductions:
        target = cuda_type(types[reduction.name])
        before.append(f"const {target} {reduction.name}_before = {reduction.name};")
        before.append(f"{reduction.name} = {identity(reduction, target)};")
        after += _merge(reduction, target, team)
    body = [f"{header} {{", *indent(inner), "}"]
    if not before:
        return body
    return ["{", *indent([*before, *body, *after]), "}"]


def _merge(reduction: Reduction, kind: str, team: Team) -> list[str]:
    """All threads of the team end with the same total: butterflies in a warp, then over the block's warps in order."""
    name = reduction.name

    def combined(a: str, b: str) -> str:
        if reduction.op in ("min", "max"):
            return f"{b} {'<' if reduction.op == 'min' else '>'} {a} ? {b} : {a}"
        return f"{a} {reduction.op} {b}"

    lines = [
        "for (int cp_d = 16; cp_d > 0; cp_d >>= 1) {",
        f"    const {kind} cp_other = __shfl_xor_sync(0xffffffffu, {name}, cp_d);",
        f"    {name} = {combined(name, 'cp_other')};",
        "}",
    ]
    if team.name == "block":
        warps = team.threads // 32
        lines += [
            f"__shared__ {kind} cp_{name}[{warps}];",
            "__syncthreads();",
            f"if (threadIdx.x % 32 == 0) cp_{name}[threadIdx.x / 32] = {name};",
            "__syncthreads();",
            f"{name} = cp_{name}[0];",
            f"for (int cp_w = 1; cp_w < {warps}; ++cp_w) {name} = {combined(name, f'cp_{name}[cp_w]')};",
        ]
    return [*lines, f"{name} = {combined(f'{name}_before', name)};"]


def _cost(nest: LoopNest, rank: int, found: dict[int, LoopFacts]) -> float:
    """Cheap when inner loops walk along memory and outer ones do not; a map is cheaper when rows are the contiguous way."""
    outer = max(contiguity(nest, loop) for loop in nest.threads)
    inner = 0
    for fact in found.values():
        loop = BandLoop(fact.var.node, fact, NOWHERE, True)  # type: ignore[arg-type]
        for access in nest.accesses:
            if any(v is fact.var for v in access.statement.loops):
                moved = stride(nest, access, loop)
                inner += 1 if moved is not None and moved.is_constant and abs(moved.value) == 1 else 0
    return (0.8 if inner > max(0, outer) else 3.0) + 0.05 * rank
