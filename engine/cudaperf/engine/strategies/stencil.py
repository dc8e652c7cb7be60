"""`stencil`: neighbours at constant distances, read from a tile with its halo in shared memory (2D, and 3D by planes).

Directives: `stencil tile(y:16,x:64) block(256)`, in 3D also `march(z:32)`.
"""

from __future__ import annotations

from dataclasses import dataclass

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.model import Access
from cudaperf.engine.loops.nest import BandLoop, LoopNest, NotApplicable
from cudaperf.engine.loops.poly import ONE, Poly
from cudaperf.engine.schedule import NestSchedule
from cudaperf.engine.schedule import parse as parse_schedule
from cudaperf.engine.strategies.kernel import Source, cuda_type, indent, is_zero, operand, plain_parameters, shifted
from cudaperf.engine.strategies.kernels.kernel import SIZES, ConfigurationError
from cudaperf.engine.strategies.kernels.stencil import Field, Offset, Read, Stencil, StencilShape
from cudaperf.engine.strategies.kernels.stencil import stencil as stencil_kernel
from cudaperf.engine.strategies.offer import Offer

NAME = "stencil"
SHAPES = {
    2: (StencilShape(16, 64, 256), StencilShape(8, 64, 256), StencilShape(16, 32, 256)),
    3: (StencilShape(8, 64, 256, 32), StencilShape(8, 32, 256, 16), StencilShape(4, 64, 256, 32)),
}


def offers(nest: LoopNest, source: Source, wanted: NestSchedule | None = None) -> list[Offer] | NotApplicable:
    """One offer a tile shape."""
    found = _match(nest)
    if isinstance(found, str):
        return NotApplicable(found)
    parameters = plain_parameters(nest, source)
    if isinstance(parameters, str):
        return NotApplicable(parameters)
    texts = _Texts(nest, source, found)
    problem = Stencil(
        name=nest.name,
        fields=tuple(texts.field(name) for name in found.fields),
        extents=tuple(f"max(0, {loop.range.count})" for loop in found.loops),
        body=texts.body,
        parameters=parameters,
    )
    account = (
        f"A tile of {' and '.join(found.fields)} with its halo is kept in shared memory, so that neighbours are read once."
    )
    offers_: list[Offer] = []
    for shape in SHAPES[len(found.loops)]:
        try:
            made = stencil_kernel(problem, shape)
        except ConfigurationError:
            continue
        schedule = parse_schedule(made.schedule).nests[0]
        if wanted is None or str(schedule) == str(wanted):
            kernels = tuple(k.text for k in made.kernels)
            offers_.append(Offer(schedule, kernels, made.steps(), account, 0.9 + 0.01 * len(offers_)))
    return offers_ or NotApplicable(
        f"write one of: {'; '.join(s.schedule(len(found.loops)) for s in SHAPES[len(found.loops)])}"
    )


@dataclass(frozen=True, slots=True)
class Neighbours:
    """`loops` by dimension, x last; `fields` the offsets of each array to keep, by the identity of the load."""

    loops: tuple[BandLoop, ...]
    fields: dict[str, dict[int, Offset]]
    loads: dict[str, tuple[ir.Load, Offset]]


def _match(nest: LoopNest) -> Neighbours | str:
    if len(nest.band) not in (2, 3) or len(nest.threads) != len(nest.band):
        return "the nest is not two or three parallel loops"
    if not all(b.tight and b.step == 1 for b in nest.band) or any(b.before for b in nest.band):
        return "the loops are not plain"
    if any(isinstance(n, ir.Continue) for s in nest.body for n in ir.walk(s)):
        return "the body leaves an iteration early"
    fields: dict[str, dict[int, Offset]] = {}
    loads: dict[str, tuple[ir.Load, Offset]] = {}
    order: tuple[BandLoop, ...] | None = None
    for access in nest.accesses:
        if access.array in nest.writes or access.array not in nest.layouts or not isinstance(access.node, ir.Load):
            continue
        placed = _placed(nest, access)
        known = _nameable(nest, access.node)
        if placed is None or not known or access.guards or access.statement.loops[-1].atom not in _atoms(nest):
            fields.setdefault(access.array, {})[-1] = ()
            continue
        loops, offset = placed
        if order is not None and loops != order:
            return "the arrays are not indexed by the loops in one order"
        order = loops
        fields.setdefault(access.array, {})[id(access.node)] = offset
        loads[access.array] = (access.node, offset)
    kept = {a: offsets for a, offsets in fields.items() if -1 not in offsets and len(set(offsets.values())) >= 3}
    kept = {a: o for a, o in kept.items() if loads[a][0].type.name in SIZES and not loads[a][0].path}
    if not kept or order is None:
        return "no array is read at three or more constant distances"
    return Neighbours(order, kept, loads)


def _definitions(nest: LoopNest) -> dict[str, ir.Decl]:
    """Scalars that the body defines once: `const int at = y * w + x;`."""
    found = {d.name: d for d in nest.body if isinstance(d, ir.Decl) and not d.dims and isinstance(d.type, ir.Scalar)}
    changed = {n.target.id for s in nest.body for n in ir.walk(s) if isinstance(n, ir.Assign) and isinstance(n.target, ir.Name)}
    return {name: d for name, d in found.items() if name not in changed and isinstance(d.init, ir.Node)}


def _nameable(nest: LoopNest, load: ir.Node) -> bool:
    """Whether the subscripts are made of what is known before the body: other scalars of the body by their definitions."""
    known = _definitions(nest)
    own = {n.name for s in nest.body for n in ir.walk(s) if isinstance(n, ir.Decl)} | frozenset(nest.private)
    own |= {n.var for s in nest.body for n in ir.walk(s) if isinstance(n, ir.For)}
    for node in ir.walk(load):
        if isinstance(node, ir.Name) and node.id in own:
            definition = known.get(node.id)
            if definition is None or not isinstance(definition.init, ir.Node) or not _nameable(nest, definition.init):
                return False
        if isinstance(node, ir.Load) and node is not load:
            return False
    return True


def _atoms(nest: LoopNest) -> frozenset[str]:
    return frozenset(b.facts.var.atom for b in nest.band)


def _placed(nest: LoopNest, access: Access) -> tuple[tuple[BandLoop, ...], Offset] | None:
    """The loops in the order of the array's dimensions and the constant offsets from their iterators."""
    index = nest.layouts[access.array].of(access)
    if index is None or len(index) != len(nest.band):
        return None
    loops, offset = [], []
    for p in index:
        loop = next((b for b in nest.band if p.coefficient(b.facts.var.atom) == ONE), None)
        if loop is None:
            return None
        rest = p - Poly.atom(loop.facts.var.atom)
        if not rest.is_constant:
            return None
        loops.append(loop)
        offset.append(rest.value)
    return (tuple(loops), tuple(offset)) if len(set(map(id, loops))) == len(loops) else None


@dataclass(slots=True)
class _Texts:
    """Texts of loads and of the body over cells counted from the first output."""

    nest: LoopNest
    source: Source
    found: Neighbours

    def field(self, name: str) -> Field:
        load, offset = self.found.loads[name]
        loops, definitions = self.found.loops, _definitions(self.nest)

        def element(*cell: str) -> str:
            table = {
                loop.var: shifted(loop, f"({c}{f' - {o}' if o > 0 else f' + {-o}' if o < 0 else ''})")
                for loop, c, o in zip(loops, cell, offset, strict=True)
            }

            def rewrite(node: ir.Node) -> str | None:
                if not isinstance(node, ir.Name) or node.id not in definitions:
                    return table.get(node.id) if isinstance(node, ir.Name) else None
                value = definitions[node.id].init
                assert value is not None
                assert not isinstance(value, tuple)
                return f"({cuda_type(node.type)})({self.source.printer(rewrite).expr(value)})"

            return self.source.printer(rewrite).expr(load)

        offsets = tuple(dict.fromkeys(self.found.fields[name].values()))
        return Field(name, cuda_type(load.type), element, offsets)

    def body(self, cell: tuple[str, ...], read: Read) -> str:
        def rewrite(node: ir.Node) -> str | None:
            if isinstance(node, ir.Load) and id(node) in self.found.fields.get(node.array, {}):
                return read(node.array, self.found.fields[node.array][id(node)])
            return None

        printer = self.source.printer(rewrite)
        lines = []
        for loop, c in zip(self.found.loops, cell, strict=True):
            kind = cuda_type(loop.node.type)
            lower = self.source.printer().expr(loop.node.lower)
            start = f"({kind}){c}" if is_zero(lower) else f"{operand(lower)} + ({kind}){c}"
            lines.append(f"const {kind} {loop.var} = {start};")
        for name in self.nest.private:
            lines.append(f"{cuda_type(self.nest.types[name])} {name};")
        lines += [line for s in self.nest.body for line in printer.statement(s)]
        return "\n".join(indent(lines, 0))
