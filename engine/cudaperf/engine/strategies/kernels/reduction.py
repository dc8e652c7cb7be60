"""Reduction of one index: grid-stride partial results, then one block over the partials. Two launches, bit-equal reruns.

    reduction grid block(256) unroll(8) blocks(2048)
    reduction single block(1024) unroll(4)

An empty range gives the identities (0, 1, an infinity or the integer limit, position -1); the epilogue merges them with what
the accumulators held before, so any initial value is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cudaperf.engine.plan import SizeExpr, Temporary
from cudaperf.engine.strategies.kernels import accumulate
from cudaperf.engine.strategies.kernels.accumulate import Accumulator, Reduced
from cudaperf.engine.strategies.kernels.kernel import (
    Kernels,
    KernelText,
    Parameter,
    Writer,
    buffer_parameter,
    mentions,
    require,
    signature,
    size_parameter,
)

__all__ = ["Accumulator", "GridReduction", "Reduced", "Reduction", "grid_reduction"]

Finish = Callable[[Sequence[Reduced]], str]


@dataclass(frozen=True, slots=True)
class Reduction:
    """`length` elements; `accumulators`' texts get the element's number (from 0) as a 64-bit variable.

    `body(i)` is text that runs before the elements are evaluated (declarations that they share). `finish(results)` is the
    text that stores the results; it runs once, in one thread of the last kernel. `parameters` go to both kernels.
    """

    name: str
    accumulators: tuple[Accumulator, ...]
    length: SizeExpr
    parameters: tuple[Parameter, ...]
    finish: Finish
    body: Callable[[str], str] | None = None


@dataclass(frozen=True, slots=True)
class GridReduction:
    """Threads a block, elements in flight a thread, most blocks of the first launch; `single` uses one block alone."""

    block: int = 256
    unroll: int = 8
    blocks: int = 2048
    single: bool = False

    def schedule(self) -> str:
        if self.single:
            return f"reduction single block({self.block}) unroll({self.unroll})"
        return f"reduction grid block({self.block}) unroll({self.unroll}) blocks({self.blocks})"


def grid_reduction(problem: Reduction, shape: GridReduction) -> Kernels:
    """One kernel (`single`) or two, the second of one block; partial results are temporaries of `blocks` elements each."""
    accumulate.check(problem.accumulators)
    check_block(shape.block, shape.unroll)
    require(1 <= shape.blocks <= 65535, "blocks must be 1 to 65535")
    length = size_parameter("cp_n", problem.length)
    if shape.single:
        parameters = (*problem.parameters, length)
        text = _partial(problem, shape, problem.finish(accumulate.reduced(problem.accumulators)))
        return Kernels((_kernel(problem.name, text, parameters, "1", shape.block),), shape.schedule())
    count = f"min(ceildiv({problem.length}, {shape.block * shape.unroll}), {shape.blocks})"
    first = (*problem.parameters, length, *buffers(problem.name, problem.accumulators, const=False))
    second = (
        *problem.parameters,
        size_parameter("cp_count", count),
        *buffers(problem.name, problem.accumulators, const=True),
    )
    save = Writer()
    accumulate.save(save, problem.accumulators, lambda name: f"cp_p{name}[blockIdx.x]")
    kernels = (
        _kernel(f"{problem.name}_partial", _partial(problem, shape, save.text), first, count, shape.block),
        _kernel(problem.name, _final(problem, shape), second, "1", shape.block),
    )
    return Kernels(kernels, shape.schedule(), temporaries(problem.name, problem.accumulators, f"max(1, {count})"))


def check_block(block: int, unroll: int) -> None:
    """Raise `ConfigurationError` for a block that is not whole warps."""
    require(block % 32 == 0 and 32 <= block <= 1024, "block must be 32 to 1024 threads, whole warps")
    require(1 <= unroll <= 16, "unroll must be 1 to 16")


def buffers(name: str, accumulators: Sequence[Accumulator], *, const: bool) -> tuple[Parameter, ...]:
    """The parameters `cp_p0`, `cp_p0_at`, ... that hold partial results."""
    found: list[Parameter] = []
    for n, accumulator in enumerate(accumulators):
        found.append(buffer_parameter(f"cp_p{n}", accumulator.type, f"{name}_partial_{n}", const=const))
        if accumulator.positional:
            found.append(buffer_parameter(f"cp_p{n}_at", "long long", f"{name}_partial_{n}_at", const=const))
    return tuple(found)


def temporaries(name: str, accumulators: Sequence[Accumulator], count: SizeExpr) -> tuple[Temporary, ...]:
    """The buffers behind `buffers`, of `count` elements each."""
    found: list[Temporary] = []
    for n, accumulator in enumerate(accumulators):
        found.append(Temporary(name=f"{name}_partial_{n}", type=accumulator.type, count=count))
        if accumulator.positional:
            found.append(Temporary(name=f"{name}_partial_{n}_at", type="long long", count=count))
    return tuple(found)


def fold_strided(write: Writer, fold: Callable[[str], str], bound: str, stride: str, unroll: int) -> None:
    """Take the elements `cp_i`, `cp_i + stride`, ... below `bound`, `unroll` of them in flight at a time."""
    if unroll > 1:
        text = fold("cp_x")
        write(f"for (; cp_i + {unroll - 1} * {stride} < {bound}; cp_i += {unroll} * {stride}) {{")
        write("#pragma unroll")
        write(f"for (int cp_u = 0; cp_u < {unroll}; ++cp_u) {{")
        if mentions(text, "cp_x"):
            write(f"const long long cp_x = cp_i + cp_u * {stride};")
        write(text)
        write("}")
        write("}")
    write(f"for (; cp_i < {bound}; cp_i += {stride}) {{")
    write(fold("cp_i"))
    write("}")


def _partial(problem: Reduction, shape: GridReduction, last: str) -> str:
    write = Writer()
    write("{")
    accumulate.declare(write, problem.accumulators)
    write(f"const long long cp_stride = (long long)gridDim.x * {shape.block};")
    write(f"long long cp_i = (long long)blockIdx.x * {shape.block} + threadIdx.x;")

    def fold(at: str) -> str:
        inner = Writer()
        if problem.body:
            inner(problem.body(at))
        accumulate.fold(inner, problem.accumulators, (at,), at)
        return inner.text

    fold_strided(write, fold, "cp_n", "cp_stride", shape.unroll)
    accumulate.reduce_block(write, problem.accumulators, shape.block)
    write("if (threadIdx.x == 0) {")
    write(last)
    write("}")
    write("}")
    return write.text


def _final(problem: Reduction, shape: GridReduction) -> str:
    write = Writer()
    write("{")
    accumulate.declare(write, problem.accumulators)
    write(f"for (long long cp_i = threadIdx.x; cp_i < cp_count; cp_i += {shape.block}) {{")
    accumulate.merge(write, problem.accumulators, lambda n: Reduced(f"cp_p{n}[cp_i]", f"cp_p{n}_at[cp_i]"))
    write("}")
    accumulate.reduce_block(write, problem.accumulators, shape.block)
    write("if (threadIdx.x == 0) {")
    write(problem.finish(accumulate.reduced(problem.accumulators)))
    write("}")
    write("}")
    return write.text


def _kernel(name: str, body: str, parameters: tuple[Parameter, ...], grid: SizeExpr, block: int) -> KernelText:
    return KernelText(
        name=name,
        text=f"{signature(name, block, parameters)}\n{body}",
        parameters=parameters,
        grid=(grid, "1", "1"),
        block=(str(block), "1", "1"),
    )
