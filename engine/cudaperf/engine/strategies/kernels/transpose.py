"""Transposition through a padded tile in shared memory: coalesced reads by rows, coalesced writes by columns.

transpose tile(32) block(128)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cudaperf.engine.plan import SizeExpr
from cudaperf.engine.strategies.kernels.kernel import (
    STATIC_SHARED_LIMIT,
    Kernels,
    KernelText,
    Parameter,
    Writer,
    accumulated,
    require,
    signature,
    size_parameter,
)


@dataclass(frozen=True, slots=True)
class Transpose:
    """`rows` x `columns` elements of `type`; reads are contiguous along columns, writes along rows.

    `load(row, column)` is the value's text; `store(row, column, value)` the text that stores it. `guard(row, column)` limits
    the elements that move. With `batches`, texts may use the 64-bit variable `cp_batch`.
    """

    name: str
    type: str
    load: Callable[[str, str], str]
    store: Callable[[str, str, str], str]
    rows: SizeExpr
    columns: SizeExpr
    parameters: tuple[Parameter, ...]
    guard: Callable[[str, str], str] | None = None
    batches: SizeExpr | None = None


@dataclass(frozen=True, slots=True)
class TransposeShape:
    """Side of the square tile in elements; threads a block."""

    tile: int = 32
    block: int = 128

    def schedule(self) -> str:
        return f"transpose tile({self.tile}) block({self.block})"


def transpose(problem: Transpose, shape: TransposeShape) -> Kernels:
    """One kernel; x counts tiles, y batches (at most 65535 at a time)."""
    size, tile = accumulated(problem.type), shape.tile
    require(tile in (16, 32, 64), "tile must be 16, 32 or 64")
    require(shape.block % tile == 0 and 64 <= shape.block <= 1024, "block must be 64 to 1024 threads, whole rows of the tile")
    require(tile * tile % shape.block == 0, "the tile must be whole elements a thread")
    require(tile * (tile + 1) * size <= STATIC_SHARED_LIMIT, "the tile does not fit in shared memory")
    sizes = [size_parameter("cp_rows", problem.rows), size_parameter("cp_columns", problem.columns)]
    if problem.batches is not None:
        sizes.append(size_parameter("cp_batches", problem.batches))
    parameters = (*problem.parameters, *sizes)
    kernel = KernelText(
        name=problem.name,
        text=f"{signature(problem.name, shape.block, parameters)}\n{_body(problem, shape)}",
        parameters=parameters,
        grid=(
            f"ceildiv({problem.rows}, {tile}) * ceildiv({problem.columns}, {tile})",
            "1" if problem.batches is None else f"min({problem.batches}, 65535)",
            "1",
        ),
        block=(str(shape.block), "1", "1"),
    )
    return Kernels((kernel,), shape.schedule())


def _body(problem: Transpose, shape: TransposeShape) -> str:
    tile = shape.tile
    write = Writer()
    write("{")
    write(f"__shared__ {problem.type} cp_tile[{tile}][{tile + 1}];")
    write(f"{problem.type} cp_value[{tile * tile // shape.block}];")
    write(f"const int cp_fast = threadIdx.x % {tile}, cp_slow = threadIdx.x / {tile};")
    write(f"const long long cp_across = (cp_columns + {tile - 1}) / {tile};")
    write(f"const long long cp_row0 = blockIdx.x / cp_across * {tile}, cp_column0 = blockIdx.x % cp_across * {tile};")
    if problem.batches is not None:
        write("for (long long cp_batch = blockIdx.y; cp_batch < cp_batches; cp_batch += gridDim.y) {")
    # all loads first, so that they are under way together
    inside = _pass(write, problem, shape, "cp_row0 + cp_e", "cp_column0 + cp_fast")
    write(f"cp_value[cp_r] = {inside} ? ({problem.type})({problem.load('cp_row', 'cp_column')}) : ({problem.type})0;")
    write("}")
    _each(write, shape)
    write("cp_tile[cp_e][cp_fast] = cp_value[cp_r];")
    write("}")
    write("__syncthreads();")
    inside = _pass(write, problem, shape, "cp_row0 + cp_fast", "cp_column0 + cp_e")
    write(f"if ({inside}) {{")
    write(problem.store("cp_row", "cp_column", "cp_tile[cp_fast][cp_e]"))
    write("}\n}")
    if problem.batches is not None:
        write("__syncthreads();")
        write("}")
    write("}")
    return write.text


def _each(write: Writer, shape: TransposeShape) -> None:
    write("#pragma unroll")
    write(f"for (int cp_r = 0; cp_r < {shape.tile * shape.tile // shape.block}; ++cp_r) {{")
    write(f"const int cp_e = cp_slow + cp_r * {shape.block // shape.tile};")


def _pass(write: Writer, problem: Transpose, shape: TransposeShape, row: str, column: str) -> str:
    """Begin a loop over this thread's elements; the condition that one of them is inside."""
    guard = f" && ({problem.guard('cp_row', 'cp_column')})" if problem.guard else ""
    _each(write, shape)
    write(f"const long long cp_row = {row}, cp_column = {column};")
    return f"cp_row < cp_rows && cp_column < cp_columns{guard}"
