"""Many reductions at once: one result for each output index, over an inner index.

reduction thread block(256) unroll(4)       one thread a result: short rows, or columns of a row-major array
reduction warp block(256) unroll(4)         one warp a result: rows of some hundred elements
reduction block block(256) unroll(4)        one block a result: long rows
reduction columns block(256) unroll(4)      32 neighbouring results a block: coalesced where the outputs are contiguous
reduction columns block(256) unroll(4) split(64)   the same, the inner index in up to 64 parts; a second launch merges them
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
    """Who computes a result; threads a block; elements in flight a thread; most parts of the inner index (`columns`)."""

    worker: Worker
    block: int = 256
    unroll: int = 4
    split: int = 1

    def schedule(self) -> str:
        split = f" split({self.split})" if self.split > 1 else ""
        return f"reduction {self.worker} block({self.block}) unroll({self.unroll}){split}"


def row_reduction(problem: RowReduction, shape: RowShape) -> Kernels:
    """One kernel; two where the inner index is split."""
    accumulate.check(problem.accumulators)
    check_block(shape.block, shape.unroll)
    require(1 <= shape.split <= 65535, "split must be 1 to 65535")
    require(shape.split == 1 or shape.worker == "columns", "only `columns` splits the inner index")
    sizes = size_parameter("cp_outputs", problem.outputs), size_parameter("cp_n", problem.length)
    parameters = problem.parameters + sizes
    if shape.worker == "columns":
        return _columns(problem, shape, parameters)
    rows = {"thread": shape.block, "warp": shape.block // 32, "block": 1}[shape.worker]
    body = _thread(problem, shape) if shape.worker == "thread" else _team(problem, shape)
    kernel = _kernel(problem.name, body, parameters, (f"ceildiv({problem.outputs}, {rows})", "1", "1"), shape.block)
    return Kernels((kernel,), shape.schedule())


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


def _team(problem: RowReduction, shape: RowShape) -> str:
    """A warp or a block a result; a warp past the last result leaves as a whole."""
    write = Writer()
    write("{")
    accumulators = problem.accumulators
    if shape.worker == "warp":
        write(f"const long long cp_out = (long long)blockIdx.x * {shape.block // 32} + threadIdx.x / 32;")
        write("if (cp_out < cp_outputs) {")
        write("long long cp_i = threadIdx.x % 32;")
    else:
        write("const long long cp_out = blockIdx.x;")
        write("long long cp_i = threadIdx.x;")
    accumulate.declare(write, accumulators)
    fold_strided(write, _folding(problem), "cp_n", "32" if shape.worker == "warp" else str(shape.block), shape.unroll)
    if shape.worker == "warp":
        accumulate.reduce_warp(write, accumulators)
        write("if (threadIdx.x % 32 == 0) {")
    else:
        accumulate.reduce_block(write, accumulators, shape.block)
        write("if (threadIdx.x == 0) {")
    _finish(write, problem)
    write("}")
    if shape.worker == "warp":
        write("}")
    write("}")
    return write.text


def _columns(problem: RowReduction, shape: RowShape, parameters: tuple[Parameter, ...]) -> Kernels:
    across = f"ceildiv({problem.outputs}, 32)"
    if shape.split == 1:
        body = _column_part(problem, shape)
        kernel = _kernel(problem.name, body, parameters, (across, "1", "1"), shape.block)
        return Kernels((kernel,), shape.schedule())
    # enough blocks to fill a device, each with at least 64 elements a column
    parts = f"max(1, min(ceildiv({problem.length}, 64), min({shape.split}, ceildiv(4096, max(1, {across})))))"
    split = size_parameter("cp_parts", parts)
    first = (*parameters, split, *buffers(problem.name, problem.accumulators, const=False))
    second = (*parameters, split, *buffers(problem.name, problem.accumulators, const=True))
    grid = f"ceildiv({problem.outputs}, {shape.block})", "1", "1"
    kernels = (
        _kernel(f"{problem.name}_partial", _column_part(problem, shape), first, (across, parts, "1"), shape.block),
        _kernel(problem.name, _column_merge(problem, shape), second, grid, shape.block),
    )
    count = f"max(1, {parts} * ({problem.outputs}))"
    return Kernels(kernels, shape.schedule(), temporaries(problem.name, problem.accumulators, count))


def _column_part(problem: RowReduction, shape: RowShape) -> str:
    accumulators, rows = problem.accumulators, shape.block // 32
    write = Writer()
    write("{")
    accumulate.declare_shared(write, accumulators, f"{rows}][32")
    write("const int cp_lane = threadIdx.x % 32, cp_row = threadIdx.x / 32;")
    write("const long long cp_out = (long long)blockIdx.x * 32 + cp_lane;")
    accumulate.declare(write, accumulators)
    if shape.split > 1:
        write("const long long cp_part = (cp_n + cp_parts - 1) / cp_parts;")
        write("const long long cp_begin = blockIdx.y * cp_part;")
        write("const long long cp_end = cp_begin + cp_part < cp_n ? cp_begin + cp_part : cp_n;")
    else:
        write("const long long cp_begin = 0, cp_end = cp_n;")
    write("if (cp_out < cp_outputs) {")
    write("long long cp_i = cp_begin + cp_row;")
    fold_strided(write, _folding(problem), "cp_end", str(rows), shape.unroll)
    write("}")
    accumulate.save(write, accumulators, lambda name: f"cp_s{name}[cp_row][cp_lane]")
    write("__syncthreads();")
    write("if (cp_row == 0 && cp_out < cp_outputs) {")
    write(f"for (int cp_w = 1; cp_w < {rows}; ++cp_w) {{")
    accumulate.merge(write, accumulators, lambda n: Reduced(f"cp_s{n}[cp_w][cp_lane]", f"cp_s{n}_at[cp_w][cp_lane]"))
    write("}")
    if shape.split > 1:
        accumulate.save(write, accumulators, lambda name: f"cp_p{name}[blockIdx.y * cp_outputs + cp_out]")
    else:
        _finish(write, problem)
    write("}")
    write("}")
    return write.text


def _column_merge(problem: RowReduction, shape: RowShape) -> str:
    write = Writer()
    write("{")
    write(f"const long long cp_out = (long long)blockIdx.x * {shape.block} + threadIdx.x;")
    write("if (cp_out < cp_outputs) {")
    accumulate.declare(write, problem.accumulators)
    write("#pragma unroll 8")
    write("for (long long cp_w = 0; cp_w < cp_parts; ++cp_w) {")
    at = "cp_w * cp_outputs + cp_out"
    accumulate.merge(write, problem.accumulators, lambda n: Reduced(f"cp_p{n}[{at}]", f"cp_p{n}_at[{at}]"))
    write("}")
    _finish(write, problem)
    write("}")
    write("}")
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
