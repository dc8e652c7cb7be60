"""Many reductions at once: one result for each output index, over an inner index.

    reduction thread block(256) unroll(4)            one thread a result: columns of a row-major array with many columns
    reduction warp block(256) unroll(4) lanes(16)    some lanes of a warp a result: rows of up to some hundred elements
    reduction block block(256) unroll(4)             one block a result: long rows
    reduction columns block(256) unroll(4)           32 neighbouring results a block: coalesced where outputs are contiguous

`block` and `columns` take `split(64)`: the inner index in up to 64 parts where there are few results; a second launch merges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from cudaperf.engine.plan import SizeExpr
from cudaperf.engine.strategies.kernels import accumulate
from cudaperf.engine.strategies.kernels.accumulate import Accumulator, Reduced
from cudaperf.engine.strategies.kernels.kernel import (
    Kernels,
    KernelText,
    Parameter,
    Writer,
    require,
    signature,
    size_parameter,
)
from cudaperf.engine.strategies.kernels.reduction import buffers, check_block, fold_strided, temporaries

Worker = Literal["thread", "warp", "block", "columns"]


@dataclass(frozen=True, slots=True)
class RowReduction:
    """`outputs` results, each over `length` elements; texts get the output's and the element's number (64-bit variables).

    `body(output, element)` declares what the elements share. `finish(output, results)` stores one output's results.
    """

    name: str
    accumulators: tuple[Accumulator, ...]
    outputs: SizeExpr
    length: SizeExpr
    parameters: tuple[Parameter, ...]
    finish: Callable[[str, Sequence[Reduced]], str]
    body: Callable[[str, str], str] | None = None


@dataclass(frozen=True, slots=True)
class RowShape:
    """Who computes a result; threads a block; elements in flight a thread; most parts of the inner index; lanes (`warp`)."""

    worker: Worker
    block: int = 256
    unroll: int = 4
    split: int = 1
    lanes: int = 32

    def schedule(self) -> str:
        split = f" split({self.split})" if self.split > 1 else ""
        lanes = f" lanes({self.lanes})" if self.lanes < 32 else ""
        return f"reduction {self.worker} block({self.block}) unroll({self.unroll}){lanes}{split}"


def row_reduction(problem: RowReduction, shape: RowShape) -> Kernels:
    """One kernel; two where the inner index is split."""
    accumulate.check(problem.accumulators)
    check_block(shape.block, shape.unroll)
    require(1 <= shape.split <= 65535, "split must be 1 to 65535")
    require(shape.split == 1 or shape.worker in ("block", "columns"), "only `block` and `columns` split the inner index")
    require(shape.lanes in (2, 4, 8, 16, 32), "lanes must be a power of two, 2 to 32")
    sizes = size_parameter("cp_outputs", problem.outputs), size_parameter("cp_n", problem.length)
    parameters = problem.parameters + sizes
    outputs = {"thread": shape.block, "warp": shape.block // shape.lanes, "block": 1, "columns": 32}[shape.worker]
    across = f"ceildiv({problem.outputs}, {outputs})"
    if shape.split > 1:
        return _split(problem, shape, parameters, across)
    body = {"thread": _thread, "warp": _warp, "block": _block, "columns": _columns}[shape.worker](problem, shape)
    kernel = _kernel(problem.name, body, parameters, (across, "1", "1"), shape.block)
    return Kernels((kernel,), shape.schedule())


def _split(problem: RowReduction, shape: RowShape, parameters: tuple[Parameter, ...], across: SizeExpr) -> Kernels:
    """Partial results [part][output], and a launch that merges them; enough parts to fill a device, none of them tiny."""
    least = shape.block * shape.unroll if shape.worker == "block" else 64
    enough = f"ceildiv(4096, max(1, {across}))"
    parts = f"max(1, min(ceildiv({problem.length}, {least}), min({shape.split}, {enough})))"
    split = size_parameter("cp_parts", parts)
    first = (*parameters, split, *buffers(problem.name, problem.accumulators, const=False))
    second = (*parameters, split, *buffers(problem.name, problem.accumulators, const=True))
    body = _block(problem, shape) if shape.worker == "block" else _columns(problem, shape)
    kernels = (
        _kernel(f"{problem.name}_partial", body, first, (across, parts, "1"), shape.block),
        _kernel(problem.name, _merge(problem, shape), second, (f"ceildiv({problem.outputs}, 32)", "1", "1"), shape.block),
    )
    count = f"max(1, {parts} * ({problem.outputs}))"
    return Kernels(kernels, shape.schedule(), temporaries(problem.name, problem.accumulators, count))


def _folding(problem: RowReduction) -> Callable[[str], str]:
    def fold(at: str) -> str:
        inner = Writer()
        if problem.body:
            inner(problem.body("cp_out", at))
        accumulate.fold(inner, problem.accumulators, ("cp_out", at), at)
        return inner.text

    return fold


def _finish(write: Writer, problem: RowReduction) -> None:
    write(problem.finish("cp_out", accumulate.reduced(problem.accumulators)))


def _thread(problem: RowReduction, shape: RowShape) -> str:
    write = Writer()
    write("{")
    write(f"const long long cp_out = (long long)blockIdx.x * {shape.block} + threadIdx.x;")
    write("if (cp_out < cp_outputs) {")
    accumulate.declare(write, problem.accumulators)
    write("long long cp_i = 0;")
    fold_strided(write, _folding(problem), "cp_n", "1", shape.unroll)
    _finish(write, problem)
    write("}")
    write("}")
    return write.text


def _warp(problem: RowReduction, shape: RowShape) -> str:
    lanes = shape.lanes
    write = Writer()
    write("{")
    write(f"const long long cp_out = (long long)blockIdx.x * {shape.block // lanes} + threadIdx.x / {lanes};")
    accumulate.declare(write, problem.accumulators)
    write("if (cp_out < cp_outputs) {")
    write(f"long long cp_i = threadIdx.x % {lanes};")
    fold_strided(write, _folding(problem), "cp_n", str(lanes), shape.unroll)
    write("}")
    accumulate.reduce_warp(write, problem.accumulators, lanes)
    write(f"if (threadIdx.x % {lanes} == 0 && cp_out < cp_outputs) {{")
    _finish(write, problem)
    write("}\n}")
    return write.text


def _block(problem: RowReduction, shape: RowShape) -> str:
    write = Writer()
    write("{")
    write("const long long cp_out = blockIdx.x;")
    accumulate.declare(write, problem.accumulators)
    _declare_part(write, shape)
    write("long long cp_i = cp_begin + threadIdx.x;")
    fold_strided(write, _folding(problem), "cp_end", str(shape.block), shape.unroll)
    accumulate.reduce_block(write, problem.accumulators, shape.block)
    write("if (threadIdx.x == 0) {")
    _store(write, problem, shape)
    write("}\n}")
    return write.text


def _declare_part(write: Writer, shape: RowShape) -> None:
    if shape.split > 1:
        write("const long long cp_part = (cp_n + cp_parts - 1) / cp_parts;")
        write("const long long cp_begin = blockIdx.y * cp_part;")
        write("const long long cp_end = cp_begin + cp_part < cp_n ? cp_begin + cp_part : cp_n;")
    else:
        write("const long long cp_begin = 0, cp_end = cp_n;")


def _store(write: Writer, problem: RowReduction, shape: RowShape) -> None:
    if shape.split > 1:
        accumulate.save(write, problem.accumulators, lambda name: f"cp_p{name}[blockIdx.y * cp_outputs + cp_out]")
    else:
        _finish(write, problem)


def _columns(problem: RowReduction, shape: RowShape) -> str:
    rows = shape.block // 32
    write = Writer()
    write("{")
    _declare_lanes(write, problem, rows)
    _declare_part(write, shape)
    write("if (cp_out < cp_outputs) {")
    write("long long cp_i = cp_begin + cp_row;")
    fold_strided(write, _folding(problem), "cp_end", str(rows), shape.unroll)
    write("}")
    _merge_rows(write, problem, rows)
    _store(write, problem, shape)
    write("}\n}")
    return write.text


def _declare_lanes(write: Writer, problem: RowReduction, rows: int) -> None:
    """A warp's lanes are neighbouring outputs, its number is the row of the block."""
    accumulate.declare_shared(write, problem.accumulators, f"{rows}][32")
    write("const int cp_lane = threadIdx.x % 32, cp_row = threadIdx.x / 32;")
    write("const long long cp_out = (long long)blockIdx.x * 32 + cp_lane;")
    accumulate.declare(write, problem.accumulators)


def _merge_rows(write: Writer, problem: RowReduction, rows: int) -> None:
    """Merge the block's rows into its first one; leaves the branch of its threads open."""
    accumulators = problem.accumulators
    accumulate.save(write, accumulators, lambda name: f"cp_s{name}[cp_row][cp_lane]")
    write("__syncthreads();")
    write("if (cp_row == 0 && cp_out < cp_outputs) {")
    write(f"for (int cp_w = 1; cp_w < {rows}; ++cp_w) {{")
    accumulate.merge(write, accumulators, lambda n: Reduced(f"cp_s{n}[cp_w][cp_lane]", f"cp_s{n}_at[cp_w][cp_lane]"))
    write("}")


def _merge(problem: RowReduction, shape: RowShape) -> str:
    rows = shape.block // 32
    write = Writer()
    write("{")
    _declare_lanes(write, problem, rows)
    write("if (cp_out < cp_outputs) {")
    write("#pragma unroll 4")
    write(f"for (long long cp_i = cp_row; cp_i < cp_parts; cp_i += {rows}) {{")
    at = "cp_i * cp_outputs + cp_out"
    accumulate.merge(write, problem.accumulators, lambda n: Reduced(f"cp_p{n}[{at}]", f"cp_p{n}_at[{at}]"))
    write("}\n}")
    _merge_rows(write, problem, rows)
    _finish(write, problem)
    write("}\n}")
    return write.text


def _kernel(
    name: str,
    body: str,
    parameters: tuple[Parameter, ...],
    grid: tuple[SizeExpr, SizeExpr, SizeExpr],
    block: int,
) -> KernelText:
    text = f"{signature(name, block, parameters)}\n{body}"
    return KernelText(name=name, text=text, parameters=parameters, grid=grid, block=(str(block), "1", "1"))
