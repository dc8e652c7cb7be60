"""`map`: one thread an iteration of the parallel loops, the rest of the nest as the user wrote it.

Directives: `map x(j) y(i) z(k) block(x:32,y:8,z:1)`. The loop on `x` is the one whose neighbouring iterations touch
neighbouring elements most often, so that accesses coalesce.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.nest import BandLoop, LoopNest, NotApplicable
from cudaperf.engine.loops.printer import Printer
from cudaperf.engine.plan import Launch
from cudaperf.engine.schedule import Directive, NestSchedule
from cudaperf.engine.strategies import unrolled, vector
from cudaperf.engine.strategies.access import contiguity, starts_inside
from cudaperf.engine.strategies.kernel import Source, comparand, guarded, indent, is_zero, iterator_type, prologue, signature
from cudaperf.engine.strategies.kernel import operand as factor
from cudaperf.engine.strategies.offer import Offer

NAME = "map"
AXES = ("x", "y", "z")
BLOCKS = {1: ((256,), (128,), (512,)), 2: ((32, 8), (64, 4), (16, 16)), 3: ((32, 4, 2), (64, 2, 2), (16, 8, 2))}


@dataclass(frozen=True, slots=True)
class Mapping:
    """Loops by axis (x first) and the block's extent on each."""

    loops: tuple[BandLoop, ...]
    block: tuple[int, ...]

    @property
    def schedule(self) -> NestSchedule:
        axes = tuple(Directive(axis, ((loop.var, None),)) for axis, loop in zip(AXES, self.loops, strict=False))
        block = Directive("block", tuple(zip(AXES, self.block, strict=False)))
        return NestSchedule((Directive(NAME), *axes, block))


def offers(nest: LoopNest, source: Source, wanted: NestSchedule | None = None) -> list[Offer] | NotApplicable:
    """One offer a block shape."""
    if not nest.threads:
        return NotApplicable("no loop of the nest has independent iterations")
    if wanted is not None and wanted.get("vector"):
        found = [offer for offer in _vectors(nest, source) if str(offer.schedule) == str(wanted)]
        return found or NotApplicable("this nest has no such vectorised map")
    if wanted is not None and wanted.get("unroll"):
        found = [offer for offer in _unrolled(nest, source) if str(offer.schedule) == str(wanted)]
        return found or NotApplicable("this nest has no such unrolled map")
    if wanted is not None:
        mapping = _wanted(nest, wanted)
        return mapping if isinstance(mapping, NotApplicable) else [_offer(nest, source, mapping)]
    loops = _axes(nest)
    return [
        *_vectors(nest, source),
        *_unrolled(nest, source),
        *(_offer(nest, source, Mapping(loops, block)) for block in BLOCKS[len(loops)]),
    ]


def _vectors(nest: LoopNest, source: Source) -> list[Offer]:
    """The vectorised maps where there are some."""
    plans, found = vector.plans(nest), []
    for rank, made in enumerate([] if isinstance(plans, NotApplicable) else plans):
        text, launch = vector.kernel(nest, source, made, 256)
        plain = Mapping((made.loop,), (256,)).schedule
        schedule = NestSchedule((*plain.directives, Directive("vector", ((str(made.width), None),))))
        account = (
            f"One thread computes {made.width} neighbouring iterations over {made.loop.var}, with vector loads and stores."
        )
        found.append(Offer(schedule, (text,), (launch,), account, 0.95 + 0.01 * rank))
    return found


UNROLLED = {2: (((64, 4), 4), ((32, 8), 4), ((32, 8), 8)), 3: (((64, 4, 1), 8), ((32, 8, 1), 8), ((64, 4, 1), 4))}


def _unrolled(nest: LoopNest, source: Source) -> list[Offer]:
    """Several iterations of the slowest loop a thread, where the body is plain."""
    if unrolled.suits(nest) is not None:
        return []
    loops, found = _axes(nest), []
    printer = source.printer()
    slow = loops[-1]

    def axis(name: str, loop: BandLoop, inner: list[str]) -> list[str]:
        return _axis(name, loop, printer, inner, name != "x", name == "x" and starts_inside(nest, loop))

    for rank, (block, count) in enumerate(UNROLLED[len(loops)]):
        text, launch = unrolled.kernel(nest, source, loops, block, count, axis, printer.expr(slow.node.bound))
        schedule = NestSchedule((*Mapping(loops, block).schedule.directives, Directive("unroll", ((slow.var, count),))))
        account = f"One thread computes {count} neighbouring iterations over {slow.var}, which share what they read."
        cost = 0.85 if contiguity(nest, loops[0]) > 0 else 4.0
        found.append(Offer(schedule, (text,), (launch,), account, cost + 0.01 * rank))
    return found


def _axes(nest: LoopNest) -> tuple[BandLoop, ...]:
    """At most three parallel loops, the most contiguous one first, then from the inside out."""
    order = sorted(nest.threads, key=lambda loop: (contiguity(nest, loop), nest.band.index(loop)), reverse=True)
    first = order[0]
    rest = [loop for loop in reversed(nest.threads) if loop is not first]
    return (first, *rest[:2])


def _wanted(nest: LoopNest, wanted: NestSchedule) -> Mapping | NotApplicable:
    loops: list[BandLoop] = []
    for axis in AXES:
        directive = wanted.get(axis)
        if directive is None:
            break
        name = directive.args[0][0] if directive.args else ""
        loop = next((b for b in nest.threads if b.var == name), None)
        if loop is None:
            return NotApplicable(f"the loop over {name or '?'} is not one of the parallel loops of this nest")
        loops.append(loop)
    chosen = tuple(loops) or _axes(nest)
    block = wanted.get("block")
    sizes = [block.value(axis) if block else None for axis in AXES[: len(chosen)]]
    shape = tuple(s if isinstance(s, int) and s > 0 else d for s, d in zip(sizes, BLOCKS[len(chosen)][0], strict=True))
    threads = prod(shape)
    if threads > 1024:
        return NotApplicable(f"a block of {threads} threads is over CUDA's limit of 1024")
    return Mapping(chosen, shape)


def _offer(nest: LoopNest, source: Source, mapping: Mapping) -> Offer:
    names = " and ".join(loop.var for loop in reversed(mapping.loops))
    account = f"One thread computes one iteration of the loop{'s' if len(mapping.loops) > 1 else ''} over {names}."
    text, launch = threaded(nest, source.printer(), source, mapping)
    return Offer(mapping.schedule, (text,), (launch,), account, _cost(nest, mapping))


def threaded(nest: LoopNest, printer: Printer, source: Source, mapping: Mapping) -> tuple[str, Launch]:
    """The kernel that gives each iteration of the mapped loops to one thread, statements as `printer` prints them."""
    made = signature(nest, source)
    body = prologue(nest, printer)
    grid, lines = [], nest_body(nest, printer, frozenset(loop.var for loop in mapping.loops))
    for axis, loop, extent in zip(AXES, mapping.loops, mapping.block, strict=False):
        strided = axis != "x" or _continues(nest.body)
        kind = iterator_type(loop.node)
        if not loop.tight and loop.low != "0":
            made.integer(f"{loop.var}_first", loop.low, kind)
        if not loop.tight and strided:
            made.integer(f"{loop.var}_end", loop.high, kind)
        inside = not strided and starts_inside(nest, loop)
        lines = _axis(axis, loop, printer, lines, strided, inside)
        grid.append(_grid(axis, loop.high if inside else loop.range.count, loop, extent))
    text = made.text(nest.name, [*body, *guarded(nest, printer, lines)], str(prod(mapping.block)))
    block = _three([str(b) for b in mapping.block])
    return text, Launch(kernel=nest.name, grid=_three(grid), block=block, args=tuple(made.args))


def _three(parts: Sequence[str]) -> tuple[str, str, str]:
    padded = [*parts, "1", "1", "1"]
    return padded[0], padded[1], padded[2]


def _grid(axis: str, extent: str, loop: BandLoop, block: int) -> str:
    per_block = block * (abs(loop.step) if loop.tight else 1)
    blocks = f"ceildiv({extent}, {per_block})"
    return f"max(0, {blocks})" if axis == "x" else f"max(0, min({blocks}, 65535))"


def first_value(loop: BandLoop, printer: Printer) -> str:
    """C text of the iterator's value at index 0 of its axis."""
    if loop.tight:
        return printer.expr(loop.node.lower)
    return f"{loop.var}_first" if loop.low != "0" else "0"


def condition(loop: BandLoop, printer: Printer) -> str:
    relation = loop.node.relation
    if relation == "!=":
        relation = "<" if loop.step > 0 else ">"
    text = f"{loop.var} {relation} {comparand(printer.expr(loop.node.bound))}"
    if loop.step < 0 and not loop.node.type.signed:
        # what goes below zero wraps around to values above the first
        text += f" && {loop.var} <= {comparand(printer.expr(loop.node.lower))}"
    return text


def position(axis: str, kind: str) -> str:
    """The global thread index on an axis, wide enough for the iterator's type."""
    index = f"blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}"
    if kind in ("long", "long long", "unsigned long", "unsigned long long"):
        return f"({kind})blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}"
    return f"({kind})({index})"


def _axis(axis: str, loop: BandLoop, printer: Printer, inner: list[str], strided: bool, inside: bool = False) -> list[str]:
    """The iterator of one axis around the lines that use it.

    y and z stride over the grid, whose extent is limited there; x does where the body holds a `continue`. With `inside` threads
    count from 0, and those before the first iteration do nothing.
    """
    kind = iterator_type(loop.node)
    if inside:
        lower = f"{loop.var} >= {comparand(printer.expr(loop.node.lower))}"
        opening = f"if ({lower} && {condition(loop, printer)}) {{"
        return [f"const {kind} {loop.var} = {position(axis, kind)};", opening, *indent(inner), "}"]
    first, index = first_value(loop, printer), position(axis, kind)
    rising = loop.step > 0 or not loop.tight
    scale = "" if abs(loop.step) == 1 or not loop.tight else f"{abs(loop.step)} * "
    if (scale or not rising) and not index.endswith(")"):
        index = f"({index})"
    start = f"{scale}{index}" if is_zero(first) and rising else f"{comparand(first)} {'+' if rising else '-'} {scale}{index}"
    if not strided:
        guard = condition(loop, printer) if loop.tight else None
        body = [f"if ({guard}) {{", *indent(inner), "}"] if guard else inner
        return [f"const {kind} {loop.var} = {start};", *body]
    step = f"{scale}({kind})(gridDim.{axis} * blockDim.{axis})"
    limit = condition(loop, printer) if loop.tight else f"{loop.var} < {loop.var}_end"
    return [f"for ({kind} {loop.var} = {start}; {limit}; {loop.var} {'+' if rising else '-'}= {step}) {{", *indent(inner), "}"]


def nest_body(nest: LoopNest, printer: Printer, threads: frozenset[str]) -> list[str]:
    """The band inside the threads' loops, sequential loops and guards of dependent bounds in place, then the body."""
    return _level(nest, 0, printer, threads)


def own_header(loop: BandLoop, printer: Printer) -> str:
    """The loop's header, declaring its variable where the user declared it elsewhere."""
    node = loop.node if loop.node.declared else replace(loop.node, declared=True, header=None)
    return printer.for_header(node)


def _level(nest: LoopNest, depth: int, printer: Printer, threads: frozenset[str]) -> list[str]:
    if depth == len(nest.band):
        return [line for s in nest.body for line in printer.statement(s)]
    loop = nest.band[depth]
    inner = [line for s in loop.before for line in printer.statement(s)]
    inner += _level(nest, depth + 1, printer, threads)
    if loop.var not in threads:
        return [f"{own_header(loop, printer)} {{", *indent(inner), "}"]
    if loop.tight:
        return inner
    low = factor(printer.expr(loop.node.lower))
    lower = f"{loop.var} {'>=' if loop.step > 0 else '<='} {low}"
    parts = [lower, condition(loop, printer)]
    if abs(loop.step) > 1:
        distance = f"{loop.var} - {low}" if loop.step > 0 else f"{low} - {loop.var}"
        parts.append(f"({distance}) % {abs(loop.step)} == 0")
    return [f"if ({' && '.join(parts)}) {{", *indent(inner), "}"]


def _continues(statements: Sequence[ir.Stmt]) -> bool:
    """A `continue` that belongs to the band's innermost loop."""

    def search(node: ir.Node) -> bool:
        if isinstance(node, ir.For | ir.While):
            return False
        return isinstance(node, ir.Continue) or any(search(child) for child in ir.children(node))

    return any(search(s) for s in statements)


def _cost(nest: LoopNest, mapping: Mapping) -> float:
    """Prefers contiguous x, and blocks of 256 threads with a full warp on x."""
    cost = 1.0 if contiguity(nest, mapping.loops[0]) > 0 else 4.0
    threads = prod(mapping.block)
    return cost * (1.0 if mapping.block[0] >= 32 else 1.5) * (1.0 + abs(threads - 256) / 4096)
