"""Loop nests: the facts of each loop, the band that becomes threads, scans and wavefronts where no loop is parallel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.bounds import NotExpressible, value_range
from cudaperf.engine.loops.convert import Environment, to_poly
from cudaperf.engine.loops.facts import declared_arrays, facts, leaves, unknown_step
from cudaperf.engine.loops.launch_sizes import unknown_count
from cudaperf.engine.loops.layout import Layout, layout
from cudaperf.engine.loops.model import Access, assigned, declared
from cudaperf.engine.loops.nest import BandLoop, LoopFacts, LoopNest, Obstacle
from cudaperf.engine.loops.poly import And
from cudaperf.engine.loops.scalar_code import ScalarCode
from cudaperf.engine.loops.scalars import exposed
from cudaperf.engine.loops.scans import scan_pattern
from cudaperf.engine.loops.skew import skew
from cudaperf.engine.loops.trees import array_sets, chain_of, flat, outer_loop_vars, used_names
from cudaperf.engine.reason import ReasonCode


@dataclass(slots=True)
class Bands(ScalarCode):
    """Builds `LoopNest`s, or gives the obstacle."""

    def nest(self, node: ir.For) -> LoopNest | Obstacle:
        """The nest at a loop, or what stands in the way of running its iterations at once."""
        accesses, layouts, fixed = self.view(node)
        chain = chain_of(node)
        live = self.live()
        found: list[LoopFacts] = []
        for loop, _ in chain:
            found.append(facts(loop, self.model, self.space, layouts, accesses, fixed, live, self.unit.text))
        depth = _band_depth(found)
        if depth == 0:
            return found[0].obstacle or Obstacle("no loop of this nest can run in parallel", node)
        return self.build_nest(node, chain[:depth], found[:depth], accesses, layouts)

    def scan(self, node: ir.For) -> LoopNest | None:
        """A loop that carries one running value."""
        accesses, layouts, fixed = self.view(node)
        accesses = [a for a in accesses if a.array in layouts]
        pattern = scan_pattern(node, self.model, self.space, layouts, accesses, fixed)
        if pattern is None:
            return None
        fact = LoopFacts(self.model.loops[id(node)], "sequential")
        return replace(self.build_nest(node, [(node, ())], [fact], accesses, layouts), scan=pattern)

    def wavefront(self, node: ir.For) -> LoopNest | None:
        """Two perfectly nested sequential loops with independent diagonals."""
        chain = chain_of(node)[:2]
        if len(chain) != 2 or chain[0][1] or any(leaves(loop) is not None for loop, _ in chain):
            return None
        accesses, layouts, fixed = self.view(node)
        accesses = [a for a in accesses if a.array in layouts]
        outer, inner = (self.model.loops[id(loop)] for loop, _ in chain)
        if outer.step not in (1, -1) or inner.step not in (1, -1):
            return None
        carried = assigned(chain[1][0].body) - declared(chain[1][0].body)
        if any(exposed(chain[1][0].body.statements, name) is not None for name in carried) or carried & self.live():
            return None
        found = skew(accesses, outer, inner, fixed, layouts, self.space)
        if found is None:
            return None
        facts_ = [LoopFacts(v, "sequential", private=carried) for v in (outer, inner)]
        return replace(self.build_nest(node, chain, facts_, accesses, layouts), skew=found)

    def inner_parallel(self, node: ir.For) -> bool:
        """Whether some loop directly inside has independent iterations (then the host repeats this one)."""
        fixed = frozenset(self.repeats) | {self.model.loops[id(node)].atom}
        _, layouts, _ = self.view(node)
        for statement in flat(node.body.statements):
            if isinstance(statement, ir.For):
                mine = [a for s in self.model.inside(statement) for a in s.accesses]
                found = facts(statement, self.model, self.space, layouts, mine, fixed)
                if found.kind != "sequential":
                    return True
        return False

    def view(self, node: ir.For) -> tuple[list[Access], dict[str, Layout], frozenset[str]]:
        """Accesses inside a loop, their layouts, and the iterators of the host's loops."""
        inside = self.model.inside(node)
        accesses = [a for s in inside for a in s.accesses]
        fixed = frozenset(self.repeats)
        iterators = frozenset(v.atom for s in inside for v in s.loops) - fixed
        return accesses, self.layouts(accesses, declared_arrays(node.body), iterators), fixed

    def layouts(self, accesses: Sequence[Access], own: frozenset[str], iterators: frozenset[str]) -> dict[str, Layout]:
        names = dict.fromkeys(a.array for a in accesses if a.array not in own)
        found = {}
        for name in names:
            found[name] = layout(name, [a for a in accesses if a.array == name], self.space, iterators)
            self.requirements.extend(found[name].requirements)
        return found

    def build_nest(
        self,
        node: ir.For,
        chain: Sequence[tuple[ir.For, tuple[ir.Stmt, ...]]],
        found: Sequence[LoopFacts],
        accesses: Sequence[Access],
        layouts: dict[str, Layout],
    ) -> LoopNest:
        band = tuple(
            self.band_loop(loop, fact, chain[:i], before if i + 1 < len(chain) else ())
            for i, ((loop, before), fact) in enumerate(zip(chain, found, strict=True))
        )
        body = chain[-1][0].body.statements
        headers = tuple(ir.Return(value=e) for loop, _ in chain for e in (loop.lower, loop.bound, loop.step))
        guards = tuple(ir.Return(value=g) for g in self.guards)
        parts = (*headers, *guards, *(s for _, before in chain[:-1] for s in before), *body)
        private = frozenset(p for fact in found for p in fact.private) | outer_loop_vars(node)
        private -= frozenset(loop.var for loop, _ in chain)
        reads, writes = array_sets(parts)
        used = used_names(parts) | self.pitches(reads | writes)
        inner_names = declared(ir.Block(statements=parts)) | frozenset(loop.var for loop, _ in chain)
        reductions = frozenset(r.name for fact in found for r in fact.reductions)
        inputs = frozenset(n for n in used if n in self.device) - private - inner_names
        tables = reads - inner_names  # local arrays of known values are defined like scalars
        prologue = self.slice(frozenset(used) - inputs - private - inner_names | (reductions - self.device) | tables)
        everything = used | used_names(prologue)
        return LoopNest(
            self.name(),
            node,
            band,
            body,
            prologue,
            self.guards,
            tuple(sorted(private)),
            self.parameters_in(everything),
            self.outer_in(everything),
            tuple(sorted(inputs)),
            reads,
            writes,
            tuple(accesses),
            layouts,
            self.model,
            self.space,
            dict(self.types),
            self.host_names(),
        )

    def check_step(self, node: ir.For) -> None:
        """Refuses a loop whose step only the run knows."""
        if self.model.loops[id(node)].step is None:
            message = f"{unknown_step(node)}; count its passes: for (t = 0; t < (n + s - 1) / s; t++)"
            raise self.refusal(ReasonCode.UNSUPPORTED, message, node)

    def band_loop(
        self, node: ir.For, fact: LoopFacts, outer: Sequence[tuple[ir.For, tuple[ir.Stmt, ...]]], before: tuple[ir.Stmt, ...]
    ) -> BandLoop:
        atom = fact.var.atom
        others = tuple(self.model.loops[id(loop)].atom for loop, _ in outer)
        condition = And((*(self.model.loops[id(loop)].condition for loop, _ in outer), fact.var.condition))
        try:
            found = value_range(self.space, atom, condition, others, self.host_atom)
        except NotExpressible:
            self.check_step(node)
            raise self.refusal(ReasonCode.UNSUPPORTED, unknown_count(self.unit, node), node) from None
        env = Environment(self.model.atoms, dict(self.model.values[id(node)]))
        bounds = to_poly(node.lower, env).atoms | to_poly(node.bound, env).atoms
        tight = not bounds & frozenset(others) and not any(self.space.is_opaque(a) for a in bounds)
        return BandLoop(node, fact, found, tight, before)


def _band_depth(found: Sequence[LoopFacts]) -> int:
    """How many loops of the chain form the band: to the innermost parallel one, else the leading reductions."""
    parallel = [i for i, fact in enumerate(found) if fact.kind == "parallel"]
    if parallel:
        return parallel[-1] + 1
    depth = 0
    for fact in found:
        if fact.kind != "reduction":
            break
        depth += 1
    return depth
