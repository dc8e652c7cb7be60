"""The body of a contraction kernel: which tile a block takes, the pipeline over k, the arithmetic, the stores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from cudaperf.engine.strategies.kernels import contraction_tiles as tiles
from cudaperf.engine.strategies.kernels.contraction_arithmetic import Arithmetic, arithmetic, nothing
from cudaperf.engine.strategies.kernels.contraction_problem import Contraction, Tiling
from cudaperf.engine.strategies.kernels.contraction_tiles import Side
from cudaperf.engine.strategies.kernels.kernel import STATIC_SHARED_LIMIT, Writer

_GROUP = 8  # rows of tiles that neighbouring blocks share columns of B over, so that both stay in the L2 cache


@dataclass(frozen=True, slots=True)
class Body:
    """`text` from the opening brace to the closing one; `shared_bytes` of tiles in all."""

    text: str
    shared_bytes: int


def renamed(text: str, names: Mapping[str, str]) -> str:
    """`text` with whole identifiers replaced."""
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda match: names.get(match[0], match[0]), text)


def body(problem: Contraction, tile: Tiling) -> Body:
    """The kernel's body."""
    a, b = tiles.sides(problem, tile)
    stages = tile.stages if a.asynchronous and b.asynchronous else 2
    shared = stages * (a.bytes + b.bytes)
    unit = arithmetic(problem, tile, a, b)
    write = Writer()
    write("{")
    _declare_tiles(write, problem, (a, b), stages, shared)
    write("const int cp_t = threadIdx.x;")
    for side in (a, b):
        tiles.declare_lanes(write, side)
    write(unit.lanes)
    _choose_tile(write, problem, tile)
    if problem.batches is not None:
        write("for (long long cp_batch = blockIdx.y; cp_batch < cp_batches; cp_batch += gridDim.y) {")
    write(unit.declare)
    if a.asynchronous and b.asynchronous:
        _pipeline(write, unit, (a, b), tile, stages)
    else:
        _through_registers(write, unit, (a, b), tile)
    write(unit.store)
    if problem.batches is not None:
        write("__syncthreads();")
        write("}")
    write("}")
    return Body(write.text, shared)


def _declare_tiles(write: Writer, problem: Contraction, pair: tuple[Side, Side], stages: int, shared: int) -> None:
    kind = problem.type
    if shared <= STATIC_SHARED_LIMIT:
        for side in pair:
            write(f"__shared__ __align__(16) {kind} cp_{side.letter}[{stages}][{side.dims[0]}][{side.dims[1]}];")
        return
    write(f"extern __shared__ __align__(16) {kind} {problem.name}_shared[];")
    offset = 0
    for side in pair:
        rows, pitch = side.dims
        pointer = f"{kind} (*)[{rows}][{pitch}]"
        write(f"{kind} (*cp_{side.letter})[{rows}][{pitch}] = reinterpret_cast<{pointer}>({problem.name}_shared + {offset});")
        offset += stages * rows * pitch


def _choose_tile(write: Writer, problem: Contraction, tile: Tiling) -> None:
    write(f"const long long cp_across = (cp_n + {tile.j - 1}) / {tile.j}, cp_down = (cp_m + {tile.i - 1}) / {tile.i};")
    write(f"const long long cp_first = blockIdx.x / ({_GROUP} * cp_across) * {_GROUP};")
    write(f"const long long cp_within = blockIdx.x % ({_GROUP} * cp_across);")
    write(f"const long long cp_rows = cp_down - cp_first < {_GROUP} ? cp_down - cp_first : {_GROUP};")
    write(f"const long long cp_i0 = (cp_first + cp_within % cp_rows) * {tile.i};")
    write(f"const long long cp_j0 = cp_within / cp_rows * {tile.j};")
    if problem.k_range is None:
        write("const long long cp_k0 = 0, cp_k1 = cp_k;")
    else:
        begin, end = problem.k_range
        names = f"{begin} {end}"
        if "cp_i1" in names:
            write(f"const long long cp_i1 = cp_i0 + {tile.i} < cp_m ? cp_i0 + {tile.i} : cp_m;")
        if "cp_j1" in names:
            write(f"const long long cp_j1 = cp_j0 + {tile.j} < cp_n ? cp_j0 + {tile.j} : cp_n;")
        write(f"const long long cp_begin = {begin}, cp_end = {end};")
        write("const long long cp_k0 = cp_begin > 0 ? cp_begin : 0, cp_k1 = cp_end < cp_k ? cp_end : cp_k;")
    write(f"const long long cp_steps = cp_k1 > cp_k0 ? (cp_k1 - cp_k0 + {tile.k - 1}) / {tile.k} : 0;")


def _pipeline(write: Writer, unit: Arithmetic, pair: tuple[Side, Side], tile: Tiling, stages: int) -> None:
    """Copies run `stages - 1` tiles ahead of the arithmetic; one barrier a tile."""

    def start(target: Writer, share: tuple[str, int] | None = None) -> None:
        for side in pair:
            tiles.copy(target, side, "cp_fill", "cp_kt", share)

    def between(number: str, parts: int) -> str:
        inner = Writer()
        start(inner, (number, parts))
        return inner.text

    write("int cp_fill = 0, cp_use = 0;")
    write("long long cp_kt = cp_k0;")
    write("#pragma unroll 1")
    write(f"for (; cp_fill < {stages - 1}; ++cp_fill, cp_kt += {tile.k}) {{")
    start(write)
    write("cp_async_commit();")
    write("}")
    write("#pragma unroll 1")
    write(f"for (long long cp_step = 0; cp_step < cp_steps; ++cp_step, cp_kt += {tile.k}) {{")
    write(f"cp_async_wait<{stages - 2}>();")
    write("__syncthreads();")
    if not tile.spread:
        start(write)
    write(unit.multiply(between if tile.spread else nothing))
    write("cp_async_commit();")
    for index in ("cp_fill", "cp_use"):
        write(f"{index} = {index} == {stages - 1} ? 0 : {index} + 1;")
    write("}")
    write("cp_async_wait<0>();")


def _through_registers(write: Writer, unit: Arithmetic, pair: tuple[Side, Side], tile: Tiling) -> None:
    """The next tile waits in registers while the present one is multiplied; one barrier a tile."""
    for side in pair:
        write(f"{side.type} cp_{side.letter}r[{side.per_thread}];")
    write("#pragma unroll 1")
    write("for (long long cp_step = -1; cp_step < cp_steps; ++cp_step) {")
    write("const int cp_use = (int)(cp_step & 1);")
    write("if (cp_step + 1 < cp_steps) {")
    write(f"const long long cp_kt = cp_k0 + (cp_step + 1) * {tile.k};")
    for side in pair:
        tiles.read(write, side, "cp_kt")
    write("}")
    write("if (cp_step >= 0) {")
    write(unit.multiply(nothing))
    write("}")
    write("if (cp_step + 1 < cp_steps) {")
    for side in pair:
        tiles.put(write, side, "1 - cp_use")
    write("}")
    write("__syncthreads();")
    write("}")
