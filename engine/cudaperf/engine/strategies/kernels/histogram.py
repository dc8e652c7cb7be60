"""Histograms: integer bins by atomics (private to warps in shared memory where they fit), float bins in a fixed order.

    histogram atomic block(512) blocks(1024)        integer counts; order does not matter, so reruns are equal
    histogram ordered block(128) blocks(256)        float sums: two launches, bit-equal reruns
    histogram atomic block(512) blocks(1024)        float sums with atomics: fast, reruns differ in rounding
                                                     (`Kernels.deterministic` is False)

Whether the bins fit is decided at run time, from `bins`: one text serves every size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cudaperf.engine.plan import SizeExpr, Temporary
from cudaperf.engine.strategies.kernels.kernel import (
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


@dataclass(frozen=True, slots=True)
class Histogram:
    """target(bin(i)) += weight(i) for `length` elements where guard(i) holds; `bins` is one more than the largest bin.

    `bin` gives an integer text, `target(bin)` the text of the bin's lvalue in memory, of C type `type`.
    """

    name: str
    type: str
    bin: Callable[[str], str]
    target: Callable[[str], str]
    length: SizeExpr
    bins: SizeExpr
    parameters: tuple[Parameter, ...]
    weight: Callable[[str], str] = lambda i: "1"
    guard: Callable[[str], str] | None = None


@dataclass(frozen=True, slots=True)
class HistogramShape:
    """Threads a block, most blocks; `ordered` adds in a fixed order instead of by atomics."""

    block: int = 512
    blocks: int = 1024
    ordered: bool = False

    def schedule(self) -> str:
        return f"histogram {'ordered' if self.ordered else 'atomic'} block({self.block}) blocks({self.blocks})"


def histogram(problem: Histogram, shape: HistogramShape) -> Kernels:
    """One kernel (atomics) or two (ordered); dynamic shared memory holds a copy of the bins for each warp, up to 48 KiB."""
    accumulated(problem.type)
    require(shape.block % 32 == 0 and 32 <= shape.block <= 1024, "block must be 32 to 1024 threads, whole warps")
    require(1 <= shape.blocks <= 65535, "blocks must be 1 to 65535")
    return _ordered(problem, shape) if shape.ordered else _atomic(problem, shape)


def _atomic(problem: Histogram, shape: HistogramShape) -> Kernels:
    fit = STATIC_SHARED_LIMIT // accumulated(problem.type)
    copies = f"min({shape.block // 32}, {fit} // max(1, {problem.bins}))"
    parameters = (
        *problem.parameters,
        size_parameter("cp_n", problem.length),
        size_parameter("cp_bins", problem.bins),
        size_parameter("cp_copies", copies),
    )
    kernel = KernelText(
        name=problem.name,
        text=f"{signature(problem.name, shape.block, parameters)}\n{_atomic_body(problem, shape)}",
        parameters=parameters,
        grid=(f"min(ceildiv({problem.length}, {shape.block * 8}), {shape.blocks})", "1", "1"),
        block=(str(shape.block), "1", "1"),
        shared=f"{copies} * ({problem.bins}) * {accumulated(problem.type)}",
    )
    return Kernels((kernel,), shape.schedule(), deterministic=problem.type not in ("float", "double"))


def _add(problem: Histogram, place: str, value: str) -> str:
    """An atomic addition; the 64-bit integer types share the unsigned one's instruction."""
    if problem.type in ("long", "unsigned long", "long long"):
        return f"atomicAdd(reinterpret_cast<unsigned long long *>(&{place}), (unsigned long long)({value}));"
    return f"atomicAdd(&{place}, ({problem.type})({value}));"


_BATCH: Final = 8  # elements a thread has on the way before the first addition


def _elements(write: Writer, problem: Histogram, shape: HistogramShape, place: Callable[[str], str]) -> None:
    """Add this thread's elements to their bins' places."""
    condition = problem.guard or (lambda i: "true")
    write(f"const long long cp_stride = (long long)gridDim.x * {shape.block};")
    write(f"long long cp_i = (long long)blockIdx.x * {shape.block} + threadIdx.x;")
    write(f"for (; cp_i + {_BATCH - 1} * cp_stride < cp_n; cp_i += {_BATCH} * cp_stride) {{")
    write(f"long long cp_bin[{_BATCH}];")
    write(f"{problem.type} cp_add[{_BATCH}];")
    write("#pragma unroll")
    write(f"for (int cp_u = 0; cp_u < {_BATCH}; ++cp_u) {{")
    write("const long long cp_x = cp_i + cp_u * cp_stride;")
    write(f"const bool cp_takes = {condition('cp_x')};")
    write(f"cp_bin[cp_u] = cp_takes ? (long long)({problem.bin('cp_x')}) : -1;")
    write(f"cp_add[cp_u] = cp_takes ? ({problem.type})({problem.weight('cp_x')}) : ({problem.type})0;")
    write("}")
    write("#pragma unroll")
    write(f"for (int cp_u = 0; cp_u < {_BATCH}; ++cp_u) {{")
    write("if (cp_bin[cp_u] >= 0) {")
    write(_add(problem, place("cp_bin[cp_u]"), "cp_add[cp_u]"))
    write("}\n}\n}")
    write("for (; cp_i < cp_n; cp_i += cp_stride) {")
    write(f"if ({condition('cp_i')}) {{")
    write(_add(problem, place(problem.bin("cp_i")), problem.weight("cp_i")))
    write("}\n}")


def _atomic_body(problem: Histogram, shape: HistogramShape) -> str:
    shared, block = f"{problem.name}_shared", shape.block
    write = Writer()
    write("{")
    write(f"extern __shared__ {problem.type} {shared}[];")
    write("if (cp_copies > 0) {")
    write("const long long cp_cells = cp_copies * cp_bins;")
    write(f"for (long long cp_b = threadIdx.x; cp_b < cp_cells; cp_b += {block}) {{")
    write(f"{shared}[cp_b] = 0;")
    write("}")
    write("__syncthreads();")
    write("const long long cp_own = threadIdx.x / 32 % cp_copies * cp_bins;")
    _elements(write, problem, shape, lambda at: f"{shared}[cp_own + ({at})]")
    write("__syncthreads();")
    write(f"for (long long cp_b = threadIdx.x; cp_b < cp_bins; cp_b += {block}) {{")
    write(f"{problem.type} cp_total = 0;")
    write("for (long long cp_c = 0; cp_c < cp_copies; ++cp_c) {")
    write(f"cp_total += {shared}[cp_c * cp_bins + cp_b];")
    write("}")
    write("if (cp_total != 0) {")
    write(_add(problem, problem.target("cp_b"), "cp_total"))
    write("}\n}\n} else {")
    _elements(write, problem, shape, problem.target)
    write("}\n}")
    return write.text


def _ordered(problem: Histogram, shape: HistogramShape) -> Kernels:
    size, warps = accumulated(problem.type), shape.block // 32
    fit = STATIC_SHARED_LIMIT // (size * warps)
    # at most 2^25 partial bins, so that many bins mean few parts rather than much memory
    parts = f"max(1, min(ceildiv({problem.length}, 4096), min({shape.blocks}, 33554432 // max(1, {problem.bins}))))"
    sizes = (
        size_parameter("cp_n", problem.length),
        size_parameter("cp_bins", problem.bins),
        size_parameter("cp_parts", parts),
    )
    buffer = f"{problem.name}_partial_bins"
    first = (*problem.parameters, *sizes, buffer_parameter("cp_p", problem.type, buffer, const=False))
    second = (*problem.parameters, *sizes, buffer_parameter("cp_p", problem.type, buffer, const=True))
    name = f"{problem.name}_partial"
    kernels = (
        KernelText(
            name=name,
            text=f"{signature(name, shape.block, first)}\n{_ordered_body(problem, shape, fit, name)}",
            parameters=first,
            grid=(parts, f"ceildiv({problem.bins}, {fit})", "1"),
            block=(str(shape.block), "1", "1"),
            shared=f"min({fit}, {problem.bins}) * {warps * size}",
        ),
        KernelText(
            name=problem.name,
            text=f"{signature(problem.name, 256, second)}\n{_merge_body(problem)}",
            parameters=second,
            grid=(f"ceildiv({problem.bins}, 256)", "1", "1"),
            block=("256", "1", "1"),
        ),
    )
    temporary = Temporary(name=buffer, type=problem.type, count=f"max(1, {parts} * ({problem.bins}))")
    return Kernels(kernels, shape.schedule(), (temporary,))


def _ordered_body(problem: Histogram, shape: HistogramShape, fit: int, name: str) -> str:
    """Each warp adds its elements to bins of its own, lanes that meet in a bin one after another."""
    block, warps, shared = shape.block, shape.block // 32, f"{name}_shared"
    guard = f" && ({problem.guard('cp_i')})" if problem.guard else ""
    write = Writer()
    write("{")
    write(f"extern __shared__ {problem.type} {shared}[];")
    write("const int cp_lane = threadIdx.x % 32, cp_warp = threadIdx.x / 32;")
    write(f"const long long cp_low = (long long)blockIdx.y * {fit};")
    write(f"const int cp_here = (int)(cp_bins - cp_low < {fit} ? cp_bins - cp_low : {fit});")
    write(f"for (int cp_b = threadIdx.x; cp_b < {warps} * cp_here; cp_b += {block}) {{")
    write(f"{shared}[cp_b] = 0;")
    write("}")
    write("__syncthreads();")
    write("const long long cp_part = (cp_n + cp_parts - 1) / cp_parts;")
    write("const long long cp_begin = blockIdx.x * cp_part;")
    write("const long long cp_end = cp_begin + cp_part < cp_n ? cp_begin + cp_part : cp_n;")
    write(f"for (long long cp_at = cp_begin + cp_warp * 32; cp_at < cp_end; cp_at += {block}) {{")
    write("const long long cp_i = cp_at + cp_lane;")
    write(f"const bool cp_takes = cp_i < cp_end{guard};")
    write(f"const long long cp_cell = cp_takes ? (long long)({problem.bin('cp_i')}) - cp_low : -1;")
    write("const bool cp_mine = cp_cell >= 0 && cp_cell < cp_here;")
    write(f"const {problem.type} cp_w = cp_mine ? ({problem.type})({problem.weight('cp_i')}) : ({problem.type})0;")
    write("const int cp_key = cp_mine ? (int)cp_cell : -1 - cp_lane;")
    write("const unsigned int cp_peers = __match_any_sync(0xffffffffu, cp_key);")
    write("const int cp_turn = __popc(cp_peers & ((1u << cp_lane) - 1u));")
    write("for (int cp_r = 0; __any_sync(0xffffffffu, cp_turn >= cp_r); ++cp_r) {")
    write("if (cp_mine && cp_turn == cp_r) {")
    write(f"{shared}[cp_warp * cp_here + cp_key] += cp_w;")
    write("}")
    write("__syncwarp();")
    write("}\n}")
    write("__syncthreads();")
    write(f"for (int cp_b = threadIdx.x; cp_b < cp_here; cp_b += {block}) {{")
    write(f"{problem.type} cp_total = 0;")
    write(f"for (int cp_c = 0; cp_c < {warps}; ++cp_c) {{")
    write(f"cp_total += {shared}[cp_c * cp_here + cp_b];")
    write("}")
    write("cp_p[blockIdx.x * cp_bins + cp_low + cp_b] = cp_total;")
    write("}\n}")
    return write.text


def _merge_body(problem: Histogram) -> str:
    write = Writer()
    write("{")
    write("const long long cp_b = (long long)blockIdx.x * 256 + threadIdx.x;")
    write("if (cp_b < cp_bins && cp_n > 0) {")
    write(f"{problem.type} cp_total = 0;")
    write("#pragma unroll 8")
    write("for (long long cp_c = 0; cp_c < cp_parts; ++cp_c) {")
    write("cp_total += cp_p[cp_c * cp_bins + cp_b];")
    write("}")
    write(f"{problem.target('cp_b')} += cp_total;")
    write("}\n}")
    return write.text
