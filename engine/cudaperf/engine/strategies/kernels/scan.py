"""Prefix scan in three launches: sums of the blocks' ranges, an exclusive scan of those sums by one block, the scan itself.

    scan(+) block(256) items(16) blocks(1024)

Each block owns a range of whole tiles of block * items elements and walks it with a carry, so the grid never exceeds `blocks`
and one block can scan the sums. Elements are evaluated twice; nothing is stored before the third launch, so a scan may
overwrite its input. Bit-equal reruns; sums are associated differently from the sequential loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from cudaperf.engine.plan import SizeExpr, Temporary
from cudaperf.engine.strategies.kernels import accumulate
from cudaperf.engine.strategies.kernels.accumulate import Accumulator
from cudaperf.engine.strategies.kernels.kernel import (
    SIZES,
    STATIC_SHARED_LIMIT,
    Kernels,
    KernelText,
    Parameter,
    Writer,
    accumulated,
    buffer_parameter,
    require,
    signature,
    size_parameter,
)
from cudaperf.engine.strategies.kernels.reduction import fold_strided
from cudaperf.engine.strategies.kernels.scan_steps import Monoid, ScanOp, scan_block

_SUMS_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Scan:
    """x[i] = x[i-1] op element(i), or factor(i) * x[i-1] + element(i) for "linear"; x[-1] is `initial`.

    `store(i, value)` is the text that stores x[i] (inclusive) or x[i-1] (exclusive). `initial` is a C expression, by default
    the operation's identity (0 for linear). `finish(value)` stores the last x, once.
    """

    name: str
    type: str
    op: ScanOp
    element: Callable[[str], str]
    store: Callable[[str, str], str]
    length: SizeExpr
    parameters: tuple[Parameter, ...]
    factor: Callable[[str], str] | None = None
    initial: str | None = None
    exclusive: bool = False
    finish: Callable[[str], str] | None = None


@dataclass(frozen=True, slots=True)
class ScanShape:
    """Threads a block, consecutive elements a thread, most blocks."""

    block: int = 256
    items: int = 16
    blocks: int = 1024

    def schedule(self, op: ScanOp) -> str:
        return f"scan({_NAMES[op]}) block({self.block}) items({self.items}) blocks({self.blocks})"


_NAMES = {"+": "sum", "*": "product", "min": "min", "max": "max", "linear": "linear"}


def scan(problem: Scan, shape: ScanShape) -> Kernels:
    """Three kernels. Grids: the blocks; one block of 1024 threads; the blocks."""
    size = accumulated(problem.type)
    monoid = Monoid(problem.op, problem.type)
    tile = shape.block * shape.items
    require(shape.block % 32 == 0 and 64 <= shape.block <= 1024, "block must be 64 to 1024 threads, whole warps")
    require(shape.items & (shape.items - 1) == 0 and 1 <= shape.items <= 32, "items must be a power of two up to 32")
    require(1 <= shape.blocks <= 65535, "blocks must be 1 to 65535")
    require((problem.factor is not None) == (problem.op == "linear"), "linear scans, and they alone, have a factor")
    bytes_ = len(monoid.parts) * (_padded(tile, size) * size + 32 * size)
    require(bytes_ <= STATIC_SHARED_LIMIT, f"{bytes_} bytes of shared memory; at most {STATIC_SHARED_LIMIT}")
    blocks = f"min(ceildiv({problem.length}, {tile}), {shape.blocks})"
    # with nothing to scan and no last value to store, what comes before may not exist
    one = "1" if problem.finish is not None else f"min(1, {blocks})"
    sums = tuple(
        buffer_parameter(f"cp_{part}_sums", problem.type, f"{problem.name}_{part}", const=False) for part in monoid.parts
    )
    length, count = size_parameter("cp_n", problem.length), size_parameter("cp_count", blocks)
    ranges = (*problem.parameters, length, *sums)
    kernels = (
        _kernel(f"{problem.name}_sums", _sums(problem, shape, monoid), ranges, blocks, shape.block),
        _kernel(f"{problem.name}_offsets", _offsets(problem, monoid), (*problem.parameters, count, *sums), one, _SUMS_BLOCK),
        _kernel(problem.name, _scanned(problem, shape, monoid), ranges, blocks, shape.block),
    )
    temporaries = tuple(
        Temporary(name=f"{problem.name}_{part}", type=problem.type, count=f"max(1, {blocks})") for part in monoid.parts
    )
    return Kernels(kernels, shape.schedule(problem.op), temporaries)


def _padded(elements: int, size: int) -> int:
    return elements + elements * size // 128


def _slot(index: str, size: int) -> str:
    """One element of padding every 128 bytes, so that threads reading runs of their own hit different banks."""
    return f"{index} + ({index}) / {128 // size}"


def _element(problem: Scan, at: str) -> dict[str, str]:
    parts = {"v": problem.element(at)}
    if problem.factor is not None:
        parts["f"] = problem.factor(at)
    return parts


def _declare_range(write: Writer, tile: int) -> None:
    write(f"const long long cp_tiles = (cp_n + {tile - 1}) / {tile};")
    write(f"const long long cp_own = (cp_tiles + gridDim.x - 1) / gridDim.x * {tile};")
    write("const long long cp_begin = blockIdx.x * cp_own;")
    write("const long long cp_end = cp_begin + cp_own < cp_n ? cp_begin + cp_own : cp_n;")


def _load_tile(write: Writer, problem: Scan, shape: ScanShape, monoid: Monoid) -> None:
    """Coalesced reads of the tile at `cp_at` into shared memory; then each thread's run into `cp_item`."""
    size = SIZES[problem.type]
    write("#pragma unroll")
    write(f"for (int cp_k = 0; cp_k < {shape.items}; ++cp_k) {{")
    write(f"const int cp_e = cp_k * {shape.block} + cp_t;")
    write("const long long cp_i = cp_at + cp_e;")
    for part, value in _element(problem, "cp_i").items():
        write(f"cp_tile_{part}[{_slot('cp_e', size)}] = cp_i < cp_end ? ({problem.type})({value}) : {monoid.identity(part)};")
    write("}")
    write("__syncthreads();")
    for part in monoid.parts:
        write(f"{problem.type} cp_item_{part}[{shape.items}];")
    write("#pragma unroll")
    write(f"for (int cp_k = 0; cp_k < {shape.items}; ++cp_k) {{")
    write(f"const int cp_e = cp_t * {shape.items} + cp_k;")
    for part in monoid.parts:
        write(f"cp_item_{part}[cp_k] = cp_tile_{part}[{_slot('cp_e', size)}];")
    write("}")
    monoid.declare(write, "cp_mine")
    write("#pragma unroll")
    write(f"for (int cp_k = 0; cp_k < {shape.items}; ++cp_k) {{")
    monoid.append(write, "cp_mine", {part: f"cp_item_{part}[cp_k]" for part in monoid.parts})
    write("}")


def _declare_tile(write: Writer, problem: Scan, shape: ScanShape, monoid: Monoid) -> None:
    size = SIZES[problem.type]
    for part in monoid.parts:
        write(f"__shared__ {problem.type} cp_tile_{part}[{_padded(shape.block * shape.items, size)}];")
        write(f"__shared__ {problem.type} cp_warp_{part}[{shape.block // 32}];")
    write("const int cp_t = threadIdx.x;")


def _sums(problem: Scan, shape: ScanShape, monoid: Monoid) -> str:
    return _ordered_sums(problem, shape, monoid) if problem.op == "linear" else _free_sums(problem, shape, problem.op)


def _free_sums(problem: Scan, shape: ScanShape, op: Literal["+", "*", "min", "max"]) -> str:
    """Where order does not matter the sum of a block's range is an ordinary reduction."""
    accumulators = (Accumulator(problem.type, op, problem.element),)
    write = Writer()
    write("{")
    _declare_range(write, shape.block * shape.items)
    accumulate.declare(write, accumulators)
    write("long long cp_i = cp_begin + threadIdx.x;")

    def fold(at: str) -> str:
        inner = Writer()
        accumulate.fold(inner, accumulators, (at,), at)
        return inner.text

    fold_strided(write, fold, "cp_end", str(shape.block), 8)
    accumulate.reduce_block(write, accumulators, shape.block)
    write("if (threadIdx.x == 0) {")
    write("cp_v_sums[blockIdx.x] = cp_0;")
    write("}")
    write("}")
    return write.text


def _ordered_sums(problem: Scan, shape: ScanShape, monoid: Monoid) -> str:
    tile = shape.block * shape.items
    write = Writer()
    write("{")
    _declare_tile(write, problem, shape, monoid)
    _declare_range(write, tile)
    monoid.declare(write, "cp_carry")
    write(f"for (long long cp_at = cp_begin; cp_at < cp_end; cp_at += {tile}) {{")
    _load_tile(write, problem, shape, monoid)
    scan_block(write, monoid, shape.block, prefix=False)
    write("__syncthreads();")
    write("}")
    write("if (cp_t == 0) {")
    for part in monoid.parts:
        write(f"cp_{part}_sums[blockIdx.x] = cp_carry_{part};")
    write("}")
    write("}")
    return write.text


def _offsets(problem: Scan, monoid: Monoid) -> str:
    """Replace each block's sum by what comes before its range, `initial` included."""
    write = Writer()
    write("{")
    for part in monoid.parts:
        write(f"__shared__ {problem.type} cp_warp_{part}[{_SUMS_BLOCK // 32}];")
    write("const int cp_t = threadIdx.x;")
    monoid.declare(write, "cp_carry")
    if problem.initial is not None:
        write(f"cp_carry_v = {problem.initial};")
    write(f"for (long long cp_at = 0; cp_at < cp_count; cp_at += {_SUMS_BLOCK}) {{")
    write("const long long cp_i = cp_at + cp_t;")
    for part in monoid.parts:
        value = f"cp_i < cp_count ? cp_{part}_sums[cp_i] : {monoid.identity(part)}"
        write(f"const {problem.type} cp_mine_{part} = {value};")
    scan_block(write, monoid, _SUMS_BLOCK, prefix=True)
    write("if (cp_i < cp_count) {")
    for part in monoid.parts:
        write(f"cp_{part}_sums[cp_i] = cp_before_{part};")
    write("}")
    write("__syncthreads();")
    write("}")
    if problem.finish is not None:
        write("if (cp_t == 0) {")
        write(problem.finish("cp_carry_v"))
        write("}")
    write("}")
    return write.text


def _scanned(problem: Scan, shape: ScanShape, monoid: Monoid) -> str:
    tile, size = shape.block * shape.items, SIZES[problem.type]
    slot = _slot("cp_e", size)
    write = Writer()
    write("{")
    _declare_tile(write, problem, shape, monoid)
    _declare_range(write, tile)
    for part in monoid.parts:
        write(f"{problem.type} cp_carry_{part} = cp_{part}_sums[blockIdx.x];")
    write(f"for (long long cp_at = cp_begin; cp_at < cp_end; cp_at += {tile}) {{")
    _load_tile(write, problem, shape, monoid)
    scan_block(write, monoid, shape.block, prefix=True)
    write("#pragma unroll")
    write(f"for (int cp_k = 0; cp_k < {shape.items}; ++cp_k) {{")
    write(f"const int cp_e = cp_t * {shape.items} + cp_k;")
    if problem.exclusive:
        write(f"cp_tile_v[{slot}] = cp_before_v;")
    monoid.append(write, "cp_before", {part: f"cp_item_{part}[cp_k]" for part in monoid.parts})
    if not problem.exclusive:
        write(f"cp_tile_v[{slot}] = cp_before_v;")
    write("}")
    write("__syncthreads();")
    write("#pragma unroll")
    write(f"for (int cp_k = 0; cp_k < {shape.items}; ++cp_k) {{")
    write(f"const int cp_e = cp_k * {shape.block} + cp_t;")
    write("const long long cp_i = cp_at + cp_e;")
    write("if (cp_i < cp_end) {")
    write(problem.store("cp_i", f"cp_tile_v[{slot}]"))
    write("}")
    write("}")
    write("__syncthreads();")
    write("}")
    write("}")
    return write.text


def _kernel(name: str, body: str, parameters: tuple[Parameter, ...], grid: SizeExpr, block: int) -> KernelText:
    text = f"{signature(name, block, parameters)}\n{body}"
    return KernelText(name=name, text=text, parameters=parameters, grid=(grid, "1", "1"), block=(str(block), "1", "1"))
