"""Vectorised maps: one thread computes two or four neighbouring iterations, with 4 to 16 byte loads and stores.

For one loop whose arrays are read and written at `[i]` (others at places that do not depend on `i`, or anywhere when only
read). Pointers that are not aligned for it, and the end of the array, take the plain path in the same kernel.
Directives: `map x(i) block(x:256) vector(4)`.
"""

from __future__ import annotations

from dataclasses import dataclass

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.nest import BandLoop, LoopNest, NotApplicable
from cudaperf.engine.loops.poly import Poly
from cudaperf.engine.plan import Launch
from cudaperf.engine.strategies.kernel import Source, comparand, cuda_type, guarded, indent, iterator_type, prologue, signature

VECTORS = {
    ("float", 4): "float4",
    ("float", 2): "float2",
    ("double", 2): "double2",
    ("int", 4): "int4",
    ("int", 2): "int2",
    ("unsigned int", 4): "uint4",
    ("unsigned int", 2): "uint2",
    ("short", 4): "short4",
    ("short", 2): "short2",
    ("unsigned short", 4): "ushort4",
    ("unsigned short", 2): "ushort2",
    ("unsigned char", 4): "uchar4",
    ("unsigned char", 2): "uchar2",
    ("signed char", 4): "char4",
    ("signed char", 2): "char2",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """The loop, elements a thread, and the arrays that move as vectors (name -> vector type)."""

    loop: BandLoop
    width: int
    arrays: dict[str, str]


def plan(nest: LoopNest) -> Plan | NotApplicable:
    """Which arrays can move as vectors, or why none can."""
    if len(nest.band) != 1 or not nest.band[0].tight or nest.band[0].step != 1 or nest.band[0].low != "0":
        return NotApplicable("vectors need one loop that counts up from 0")
    if any(isinstance(n, ir.For | ir.While | ir.Continue) for s in nest.body for n in ir.walk(s)):
        return NotApplicable("vectors need a body without loops")
    loop = nest.band[0]
    here = Poly.atom(loop.facts.var.atom)
    found: dict[str, ir.Type] = {}
    scattered: set[str] = set()
    for access in nest.accesses:
        layout = nest.layouts.get(access.array)
        if layout is None or not isinstance(access.node, ir.Load):
            continue
        index = layout.of(access)
        if index == (here,) and not access.path and isinstance(access.node.type, ir.Scalar):
            found[access.array] = access.node.type
        else:
            scattered.add(access.array)
    if scattered & nest.writes:
        return NotApplicable("an array is written elsewhere than at the loop's index")
    names = {name: kind for name, kind in found.items() if name not in scattered}
    if not names or any(a.array in names and not a.write and a.statement.guards for a in nest.accesses):
        return NotApplicable("no array is read and written at the loop's index throughout")
    width = 2 if any(kind.name == "double" for kind in names.values()) else 4
    vectors = {name: VECTORS[cuda_type(kind), width] for name, kind in names.items() if (cuda_type(kind), width) in VECTORS}
    if not vectors or not any(name in nest.writes for name in vectors):
        return NotApplicable("no array of this nest has a vector type")
    return Plan(loop, width, vectors)


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
        f"const {kind} {first} = {width} * ({kind})(blockIdx.x * blockDim.x + threadIdx.x);",
        f"const bool {aligned_} = (({aligned}) % {_bytes(made)}) == 0;",
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


def _bytes(made: Plan) -> int:
    sizes = {"double": 8, "float": 4, "int": 4, "uint": 4, "short": 2, "ushort": 2, "uchar": 1, "char": 1}
    return max(sizes[vector.rstrip("234")] for vector in made.arrays.values()) * made.width


def _vector_path(nest: LoopNest, source: Source, made: Plan, kind: str) -> list[str]:
    loop = made.loop
    lines = []
    first, lane = source.fresh("first"), source.fresh("lane")
    vectors = {name: source.fresh(f"{name}_v") for name in made.arrays}
    for name, vector in made.arrays.items():
        partly = any(a.array == name and a.write and a.statement.guards for a in nest.accesses)
        if name in nest.reads or partly:
            const = "" if name in nest.writes else "const "
            lines.append(f"{const}{vector} {vectors[name]} = *(const {vector} *)({name} + {first});")
        else:
            lines.append(f"{vector} {vectors[name]};")
    types = {name: cuda_type(source.arrays[name].type) for name in made.arrays}

    def rewrite(node: ir.Node) -> str | None:
        if isinstance(node, ir.Load) and node.array in made.arrays:
            const = "" if node.array in nest.writes else "const "
            return f"(({const}{types[node.array]} *)&{vectors[node.array]})[{lane}]"
        return None

    printer = source.printer(rewrite)
    body = [line for s in nest.body for line in printer.statement(s)]
    lines += [
        "#pragma unroll",
        f"for (int {lane} = 0; {lane} < {made.width}; ++{lane}) {{",
        *indent([f"const {kind} {loop.var} = {first} + {lane};", *body] if _uses(nest, loop.var, made) else body),
        "}",
    ]
    lines += [
        f"*({vector} *)({name} + {first}) = {vectors[name]};" for name, vector in made.arrays.items() if name in nest.writes
    ]
    return lines


def _uses(nest: LoopNest, name: str, made: Plan) -> bool:
    """Whether the iterator is needed beyond the subscripts of vectors."""

    def search(node: ir.Node) -> bool:
        if isinstance(node, ir.Load) and node.array in made.arrays:
            return False
        return (isinstance(node, ir.Name) and node.id == name) or any(search(c) for c in ir.children(node))

    return any(search(s) for s in nest.body)
