"""Vectorised maps: one thread computes several neighbouring iterations, with 16 byte loads and stores where it can.

For one loop whose arrays are read and written at `[i]`, or in whole groups `[3*i]`, `[3*i + 1]`, `[3*i + 2]` (others at places
that do not depend on `i`, or anywhere when only read). Pointers that are not aligned for it, and the end of the array, take the
plain path in the same kernel. Directives: `map x(i) block(x:256) vector(4)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.model import Access
from cudaperf.engine.loops.nest import BandLoop, LoopNest, NotApplicable
from cudaperf.engine.loops.poly import Poly
from cudaperf.engine.loops.sets import BudgetExceeded
from cudaperf.engine.plan import Launch
from cudaperf.engine.strategies.kernel import Source, comparand, cuda_type, guarded, indent, iterator_type, prologue, signature

WIDEST = 16
"""Bytes that one instruction of a thread moves at most."""
LARGEST_GROUP = 4


@dataclass(frozen=True, slots=True)
class Moved:
    """An array that moves as vectors: `group` elements an iteration. `places` are their numbers by the reference's identity."""

    element: str
    size: int
    group: int
    places: dict[int, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """The loop, iterations a thread, and the arrays that move as vectors."""

    loop: BandLoop
    width: int
    arrays: dict[str, Moved]


def plans(nest: LoopNest) -> list[Plan] | NotApplicable:
    """How many iterations a thread may compute, the most promising number first; or why vectors do not suit."""
    if len(nest.band) != 1 or not nest.band[0].tight or nest.band[0].step != 1 or nest.band[0].low != "0":
        return NotApplicable("vectors need one loop that counts up from 0")
    if any(isinstance(n, ir.For | ir.While | ir.Continue) for s in nest.body for n in ir.walk(s)):
        return NotApplicable("vectors need a body without loops")
    loop = nest.band[0]
    by_array: dict[str, list[Access]] = {}
    for access in nest.accesses:
        if access.array in nest.layouts:
            by_array.setdefault(access.array, []).append(access)
    found = {name: _moved(nest, accesses, loop) for name, accesses in by_array.items()}
    arrays = {name: moved for name, moved in found.items() if moved is not None}
    if any(found[name] is None for name in nest.writes & found.keys()):
        return NotApplicable("an array is written elsewhere than at the loop's index")
    if not any(name in nest.writes for name in arrays):
        return NotApplicable("no array of this nest is written at the loop's index")
    width = WIDEST // max(moved.size for moved in arrays.values())
    return [Plan(loop, width, arrays), *([Plan(loop, 4, arrays)] if width > 4 else [])]


def _moved(nest: LoopNest, accesses: list[Access], loop: BandLoop) -> Moved | None:
    """How an array moves as vectors: all of each iteration's group is touched, whatever the branches; else None."""
    places: dict[int, int] = {}
    groups: set[int] = set()
    kinds: set[tuple[str, int]] = set()
    for access in accesses:
        place = _place(nest, access, loop)
        node = access.node
        if place is None or not isinstance(node, ir.Load) or not isinstance(node.type, ir.Scalar):
            return None
        groups.add(place[0])
        places[id(node)] = place[1]
        kinds.add((cuda_type(node.type), node.type.bits // 8))
    if len(groups) != 1 or len(kinds) != 1 or any(not a.write and a.guards for a in accesses):
        return None
    (group,), ((element, size),) = groups, kinds
    written = any(a.write for a in accesses)
    sure = {places[id(a.node)] for a in accesses if not a.guards}
    needed = set(range(group)) if written else {0, group - 1}
    if size > WIDEST // 2 or (group > 1 and not needed <= sure):
        return None
    if written and not sure and not _reached_by_all(nest, accesses, loop):
        return None
    return Moved(element, size, group, places)


def _reached_by_all(nest: LoopNest, accesses: list[Access], loop: BandLoop) -> bool:
    """Whether every iteration makes one of the references, conditions on data taken as true: the array's extent ends with those
    that do (`if (flag) z[i] = 1` leaves z without an element where flag is 0), and a vector is loaded and stored whole."""
    bound = next((s for s in nest.model.statements if s.control and s.node is loop.node.bound), None)
    around = bound.domain if bound is not None else loop.facts.var.condition
    atom = loop.facts.var.atom
    space = nest.space
    try:
        with space.budget():
            every = space.set((atom,), around)
            made = [space.set((atom,), access.domain) for access in accesses]
            return bool(every.is_subset(reduce(lambda a, b: a.union(b), made)))
    except BudgetExceeded:
        return False


def _place(nest: LoopNest, access: Access, loop: BandLoop) -> tuple[int, int] | None:
    """(elements an iteration, which of them) of a reference `a[group * i + place]`."""
    index = nest.layouts[access.array].of(access)
    if index is None or len(index) != 1 or access.path:
        return None
    atom = loop.facts.var.atom
    factor = index[0].coefficient(atom)
    rest = index[0] - Poly.atom(atom) * factor
    if not factor.is_constant or not rest.is_constant:
        return None
    group, place = factor.value, rest.value
    return (group, place) if 0 <= place < group <= LARGEST_GROUP else None


def kernel(nest: LoopNest, source: Source, made: Plan, block: int) -> tuple[str, Launch]:
    """The kernel and its launch."""
    loop, width = made.loop, made.width
    kind = iterator_type(loop.node)
    head = signature(nest, source)
    plain = source.printer()
    bound = plain.expr(loop.node.bound)
    limit = f"{loop.var} {loop.node.relation if loop.node.relation != '!=' else '<'} {comparand(bound)}"
    first, aligned_ = source.fresh("first"), source.fresh("aligned")
    last = limit.replace(f"{loop.var} ", f"{first} + {width - 1} ", 1)
    wanted = nest.reads | nest.writes
    aligned = " | ".join(f"(size_t){name}" for name in made.arrays if name in wanted)
    lines = [
        f"const {kind} {first} = {width} * {_thread(kind)};",
        f"const bool {aligned_} = (({aligned}) % {width * max(m.size for m in made.arrays.values())}) == 0;",
        f"if ({aligned_} && {last}) {{",
        *indent(_vector_path(nest, source, made, kind)),
        "} else {",
        *indent(
            [
                f"for ({kind} {loop.var} = {first}; {loop.var} - {first} < {width} && {limit}; ++{loop.var}) {{",
                *indent([line for s in nest.body for line in plain.statement(s)]),
                "}",
            ]
        ),
        "}",
    ]
    text = head.text(nest.name, [*prologue(nest, plain), *guarded(nest, plain, lines)], str(block))
    grid = f"max(0, ceildiv({loop.range.count}, {block * width}))"
    return text, Launch(kernel=nest.name, grid=(grid, "1", "1"), block=(str(block), "1", "1"), args=tuple(head.args))


def _thread(kind: str) -> str:
    """The thread's number in the grid, in a type that holds it."""
    if "long" in kind:
        return f"(({kind})blockIdx.x * blockDim.x + threadIdx.x)"
    return f"({kind})(blockIdx.x * blockDim.x + threadIdx.x)"


def _vector_path(nest: LoopNest, source: Source, made: Plan, kind: str) -> list[str]:
    loop = made.loop
    lines = []
    first, lane = source.fresh("first"), source.fresh("lane")
    vectors = {name: source.fresh(f"{name}_v") for name in made.arrays}
    types = {name: _type(moved, made.width) for name, moved in made.arrays.items()}
    starts = {name: f"{name} + {first if m.group == 1 else f'{m.group} * (size_t){first}'}" for name, m in made.arrays.items()}
    for name, vector in types.items():
        partly = any(a.array == name and a.write and a.guards for a in nest.accesses)
        if name in nest.reads or partly:
            const = "" if name in nest.writes else "const "
            lines.append(f"{const}{vector} {vectors[name]} = *(const {vector} *)({starts[name]});")
        else:
            lines.append(f"{vector} {vectors[name]};")

    def rewrite(node: ir.Node) -> str | None:
        if isinstance(node, ir.Load) and node.array in made.arrays:
            moved = made.arrays[node.array]
            place = f" + {moved.places[id(node)]}" if moved.places[id(node)] else ""
            return f"{vectors[node.array]}.at[{lane if moved.group == 1 else f'{moved.group} * {lane}{place}'}]"
        return None

    printer = source.printer(rewrite)
    body = [line for s in nest.body for line in printer.statement(s)]
    lines += [
        "#pragma unroll",
        f"for (int {lane} = 0; {lane} < {made.width}; ++{lane}) {{",
        *indent([f"const {kind} {loop.var} = {first} + {lane};", *body] if _uses(nest, loop.var, made) else body),
        "}",
    ]
    lines += [f"*({types[name]} *)({starts[name]}) = {vectors[name]};" for name in made.arrays if name in nest.writes]
    return lines


def _type(moved: Moved, width: int) -> str:
    """The vector of all elements that a thread touches, aligned for the widest instruction that takes one of its parts."""
    count = moved.group * width
    return f"cp_vector<{moved.element}, {count}{f', {width * moved.size}' if moved.group > 1 else ''}>"


def _uses(nest: LoopNest, name: str, made: Plan) -> bool:
    """Whether the iterator is needed beyond the subscripts of vectors."""

    def search(node: ir.Node) -> bool:
        if isinstance(node, ir.Load) and node.array in made.arrays:
            return False
        return (isinstance(node, ir.Name) and node.id == name) or any(search(c) for c in ir.children(node))

    return any(search(s) for s in nest.body)
