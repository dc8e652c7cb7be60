"""Facts of a loop: parallel, a reduction, or sequential with the obstacle."""

from __future__ import annotations

from collections.abc import Sequence

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.causes import cause
from cudaperf.engine.loops.conflicts import Conflict, conflicts, settled_by
from cudaperf.engine.loops.layout import Layout
from cudaperf.engine.loops.model import Access, LoopVar, Model, assigned, bounds_around, declared
from cudaperf.engine.loops.nest import LoopFacts, Obstacle
from cudaperf.engine.loops.scalars import Reduction, exposed, scalar_reduction, update_of
from cudaperf.engine.loops.sets import Space


def unknown_step(node: ir.For) -> str:
    return f"the step of the loop over {node.var} is not a constant"


def facts(
    node: ir.For,
    model: Model,
    space: Space,
    layouts: dict[str, Layout],
    accesses: Sequence[Access],
    fixed: frozenset[str],
    live: frozenset[str] = frozenset(),
    text: bytes = b"",
) -> LoopFacts:
    """The facts of one loop. `fixed` iterators are equal in the iterations compared (those of enclosing host loops);
    `live` scalars are read after the loop."""
    var = model.loops[id(node)]
    leaving = leaves(node)
    if leaving is not None:
        return _sequential(var, Obstacle("the loop may end early here, so its iterations depend on one another", leaving))
    if var.step is None:
        return _sequential(var, Obstacle(unknown_step(node), node))
    scalars = _scalars(node, var, live)
    if isinstance(scalars, LoopFacts):
        return scalars
    private, reductions = scalars
    own = declared_arrays(node.body)
    relevant = [a for a in accesses if a.array not in own]
    found = conflicts(relevant, var, fixed, layouts, space)
    reduced: list[str] = []
    for conflict in found:
        if _both_update(conflict, model):
            if conflict.first.array not in reduced:
                reduced.append(conflict.first.array)
        else:
            message = describe(conflict, text, model.function)
            settled = settled_by(conflict, fixed, layouts, space) if len(found) == 1 and conflict.distance is None else None
            if settled is not None:
                message += f"; where they never meet, say so: // cudaperf: assume {settled} (docs/assume.md)"
            return _sequential(var, Obstacle(message, conflict.second.node, conflict))
    kind = "reduction" if reductions or reduced else "parallel"
    return LoopFacts(var, kind, private, reductions, tuple(reduced))  # type: ignore[arg-type]


def _sequential(var: LoopVar, obstacle: Obstacle) -> LoopFacts:
    return LoopFacts(var, "sequential", obstacle=obstacle)


def leaves(node: ir.For | ir.While) -> ir.Node | None:
    """A `break` of this loop or a `return` anywhere inside."""

    def search(block: ir.Node, own: bool) -> ir.Node | None:
        for child in ir.children(block):
            if isinstance(child, ir.Return) or (own and isinstance(child, ir.Break)):
                return child
            found = search(child, own and not isinstance(child, ir.For | ir.While))
            if found is not None:
                return found
        return None

    return search(node.body, True)


def declared_arrays(body: ir.Node) -> frozenset[str]:
    """Arrays (and struct variables) declared below a node: each iteration has its own."""
    return frozenset(n.name for n in ir.walk(body) if isinstance(n, ir.Decl))


def _scalars(node: ir.For, var: LoopVar, live: frozenset[str]) -> LoopFacts | tuple[frozenset[str], tuple[Reduction, ...]]:
    private: set[str] = set()
    reductions: list[Reduction] = []
    outside = assigned(node.body) - declared(node.body)
    companions: set[str] = set()
    for name in sorted(outside):
        found = scalar_reduction(node.body.statements, name)
        if found is not None and exposed(node.body.statements, name) is not None:
            reductions.append(found)
            companions |= set(found.companions)
    for name in sorted(outside - {r.name for r in reductions} - companions):
        early = exposed(node.body.statements, name)
        if early is not None:
            message = f"{name} carries a value from one iteration of the loop over {node.var} to the next"
            return _sequential(var, Obstacle(message, early, scalar=name))
        if name in live:
            place = next(
                n
                for n in ir.walk(node.body)
                if isinstance(n, ir.Assign | ir.For) and name in assigned(ir.Block(statements=(n,)))
            )
            message = f"the last value of {name} is used after the loop over {node.var}"
            return _sequential(var, Obstacle(message, place, scalar=name))
        private.add(name)
    return frozenset(private), tuple(reductions)


def _both_update(conflict: Conflict, model: Model) -> bool:
    """Both sides belong to statements that update the array with one and the same operator."""
    ops = [_update_operator(a) for a in (conflict.first, conflict.second)]
    return ops[0] is not None and ops[0] == ops[1]


def _update_operator(access: Access) -> str | None:
    statement = access.statement.node
    if not isinstance(statement, ir.Assign) or not isinstance(statement.target, ir.Load):
        return None
    if access.node is not statement.target and access.node != statement.target:
        return None
    update = update_of(statement)
    return update.op if update is not None and isinstance(update.target, ir.Load) else None


def describe(conflict: Conflict, text: bytes, function: ir.Function) -> str:
    """The sentence for the user, in the user's own words for the two references."""
    first, second = (_spelled(a, text) for a in (conflict.first, conflict.second))
    loop = conflict.loop.node
    name = loop.var if isinstance(loop, ir.For) else "the loop"
    which = (
        "the previous iteration"
        if conflict.distance == 1
        else (f"the iteration {conflict.distance} before" if conflict.distance else "another iteration")
    )
    if not conflict.certain:
        both = first if first == second else f"{first} and {second}"
        accesses = (conflict.second, conflict.first)
        indices = [i for a in accesses for i in getattr(a.node, "indices", ())]
        why = cause(function, text, indices, [b for a in accesses for b in bounds_around(a)])
        return (
            f"{both} may be the same element in two iterations of the loop over {name}: "
            f"nothing shows that the subscripts differ{f', as {why}' if why else ''}"
        )
    if conflict.kind == "flow":
        target = _target(conflict.second, text)
        return f"{target} reads {second} written by {which} of the loop over {name}"
    if conflict.kind == "output":
        return f"{second} is written by more than one iteration of the loop over {name}"
    return f"{second} overwrites {first} read by {which} of the loop over {name}"


def _target(access: Access, text: bytes) -> str:
    statement = access.statement.node
    if isinstance(statement, ir.Assign):
        if isinstance(statement.target, ir.Load):
            return _text(statement.target, text) or statement.target.array
        return statement.target.id
    return "the loop"


def _spelled(access: Access, text: bytes) -> str:
    return _text(access.node, text) or f"{access.array}[...]"


def _text(node: ir.Node, text: bytes) -> str | None:
    if node.span is None or not text:
        return None
    return " ".join(text[node.span.start : node.span.end].decode("utf-8", "replace").split())
