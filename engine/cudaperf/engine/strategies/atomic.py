"""`atomic`: array elements accumulated from many iterations (histograms, scattered sums), each update an atomic.

One thread an iteration, as in `map`; `h[b] += w` becomes `atomicAdd(&h[b], w)`. Integer results do not depend on the order;
floating-point sums do, so those candidates say that they are not deterministic. Directives: `atomic x(i) y(j) block(x:256)`.
"""

from __future__ import annotations

from collections.abc import Sequence

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.conversions import strip_implicit
from cudaperf.engine.loops.nest import BandLoop, LoopNest, NotApplicable
from cudaperf.engine.loops.printer import Printer
from cudaperf.engine.loops.scalars import update_of
from cudaperf.engine.schedule import Directive, NestSchedule
from cudaperf.engine.strategies.access import contiguity
from cudaperf.engine.strategies.kernel import Source, cuda_type
from cudaperf.engine.strategies.map import BLOCKS, Mapping, threaded
from cudaperf.engine.strategies.offer import Offer

NAME = "atomic"
FUNCTIONS = {"+": "atomicAdd", "min": "atomicMin", "max": "atomicMax", "&": "atomicAnd", "|": "atomicOr", "^": "atomicXor"}
ADD_TYPES = {"int", "unsigned int", "unsigned long long", "unsigned long", "long", "long long", "float", "double"}
INTEGER_TYPES = {"int", "unsigned int", "unsigned long long", "unsigned long", "long long", "long"}


def offers(nest: LoopNest, source: Source, wanted: NestSchedule | None = None) -> list[Offer] | NotApplicable:
    """One offer a block shape."""
    if nest.threads or not nest.array_reductions:
        return NotApplicable("the nest accumulates into no array across its iterations")
    if nest.reductions:
        return NotApplicable(f"the nest also reduces the scalar {nest.reductions[0].name}")
    updates = _updates(nest)
    if isinstance(updates, str):
        return NotApplicable(updates)
    loops = _axes(nest)
    shapes: Sequence[tuple[int, ...]] = BLOCKS[len(loops)]
    if wanted is not None:
        shapes = [s for s in shapes if str(_schedule(loops, s)) == str(wanted)]
        if not shapes:
            return NotApplicable(f"write one of: {'; '.join(str(_schedule(loops, s)) for s in BLOCKS[len(loops)])}")
    return [_offer(nest, source, Mapping(loops, shape), updates, 1.0 + 0.01 * k) for k, shape in enumerate(shapes)]


def _axes(nest: LoopNest) -> tuple[BandLoop, ...]:
    order = sorted(nest.band, key=lambda loop: (contiguity(nest, loop), nest.band.index(loop)), reverse=True)
    rest = [loop for loop in reversed(nest.band) if loop is not order[0]]
    return (order[0], *rest[:2])


def _schedule(loops: Sequence[BandLoop], block: Sequence[int]) -> NestSchedule:
    return NestSchedule((Directive(NAME), *Mapping(tuple(loops), tuple(block)).schedule.directives[1:]))


def _updates(nest: LoopNest) -> dict[int, ir.Assign] | str:
    """The statements to make atomic, by identity; or why one can't be."""
    found: dict[int, ir.Assign] = {}
    for statement in nest.model.inside(nest.root):
        node = statement.node
        if not isinstance(node, ir.Assign) or not isinstance(node.target, ir.Load):
            continue
        if node.target.array not in nest.array_reductions:
            continue
        update = update_of(node)
        if update is None or term(node) is None:
            return f"the update of {node.target.array} is not one that an atomic does"
        if node.target.path:
            owner = node.target.array
            return (
                f"members of structures can't be updated at once: keep each member of {owner} in a variable or array of its own"
            )
        kind = node.target.type.name
        allowed = ADD_TYPES if update.op == "+" else INTEGER_TYPES
        if update.op not in FUNCTIONS or kind not in allowed:
            return f"CUDA has no atomic {update.op} for elements of type {kind}"
        found[id(node)] = node
    return found


def term(node: ir.Assign) -> tuple[ir.Expr, bool] | None:
    """(what is combined, whether it is subtracted)."""
    if node.op is not None:
        return node.value, node.op == "-"
    value = node.value
    while isinstance(value, ir.Cast) and value.implicit:
        value = value.operand
    if isinstance(value, ir.Binary):
        left, right = strip_implicit(value.left), strip_implicit(value.right)
        if left == node.target:
            return value.right, value.op == "-"
        if right == node.target and value.op != "-":
            return value.left, False
    if isinstance(value, ir.Call) and len(value.args) == 2:
        return value.args[1] if strip_implicit(value.args[0]) == node.target else value.args[0], False
    return None


def _offer(nest: LoopNest, source: Source, mapping: Mapping, updates: dict[int, ir.Assign], cost: float) -> Offer:
    plain = source.printer()
    printer = source.printer(lambda node: atomic_text(updates[id(node)], plain) if id(node) in updates else None)
    text, launch = threaded(nest, printer, source, mapping)
    floats = any(node.target.type.name in ("float", "double") for node in updates.values())
    arrays = " and ".join(nest.array_reductions)
    account = f"Every iteration updates {arrays} by an atomic."
    if floats:
        account += " The order of these additions differs between runs, and with it the last bits of the sums."
    return Offer(_schedule(mapping.loops, mapping.block), (text,), (launch,), account, cost, deterministic=not floats)


def atomic_text(node: ir.Assign, printer: Printer) -> str:
    """The statement as a call; 64-bit signed sums go through the unsigned type of the same width."""
    update, found = update_of(node), term(node)
    assert update is not None
    assert found is not None
    combined, negative = found
    kind = cuda_type(node.target.type)
    target, value = f"&{printer.expr(node.target)}", printer.expr(combined)
    if negative:
        value = f"-({value})"
    if update.op == "+" and kind in ("long", "long long", "unsigned long"):
        return f"atomicAdd((unsigned long long *){target}, (unsigned long long)({value}));"
    return f"{FUNCTIONS[update.op]}({target}, ({kind})({value}));"
