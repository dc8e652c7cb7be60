"""C(i,j) (op)= sum over k of f(A(i,k)) * g(B(k,j)): shared-memory tiles, register blocks, fp64 tensor cores.

Any M, N, K (also 0), any layout: elements are reached through the caller's index texts, and `Operand.contiguous` only says
which index walks through memory, so that loads coalesce. The sum over k runs in order for each element (fused multiply-adds;
the tensor-core variant rounds as the hardware does, in a fixed order), so reruns are bit-equal.

Not promised: a masked or padded term contributes f = 0 times the other factor, so an infinity or NaN in the other operand of a
masked term reaches the result. Tensor-core variants need compute capability 8.0 (`mma`) or 9.0 (`mma16`).

    contraction tile(i:128,j:128,k:16) register(i:8,j:8) stages(2)
    contraction tile(i:128,j:64,k:16) mma(i:64,j:32) stages(3) spread
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from cudaperf.engine.schedule import Directive, NestSchedule
from cudaperf.engine.strategies.kernels import contraction_body
from cudaperf.engine.strategies.kernels.contraction_problem import STEPS, Contraction, Operand, Output, Tiling, Unit
from cudaperf.engine.strategies.kernels.kernel import (
    STATIC_SHARED_LIMIT,
    Access,
    ConfigurationError,
    Kernels,
    KernelText,
    accumulated,
    require,
    signature,
    size_parameter,
)

__all__ = ["SMALL", "Contraction", "Operand", "Output", "Tiling", "contraction", "tiling", "tilings"]

_TENSOR: Final[tuple[Unit, ...]] = ("mma", "mma16", "tf32x3")
SMALL: Final = Tiling(16, 16, 16, 1, 1)
"""For a few hundred results: one thread each."""


_FP64_TENSOR: Final = (80, 90, 100)
"""Compute capabilities whose fp64 tensor cores outrun their CUDA cores."""


def tilings(type_name: str, architecture: int) -> tuple[Tiling, ...]:
    """The variants worth timing for a type on a device, the one expected fastest at large sizes first.

    `tf32x3` tilings are not among them: faster than multiply-adds and as accurate, but infinities become NaN.
    """
    small = (Tiling(64, 64, 16, 4, 4), SMALL)
    if accumulated(type_name) == 4:
        return (Tiling(128, 128, 16, 8, 8, stages=3), Tiling(128, 128, 16, 8, 8), *small)
    if type_name != "double" or architecture not in _FP64_TENSOR:
        return (Tiling(128, 64, 8, 8, 4), *small)
    if architecture == 80:
        return (Tiling(64, 64, 16, 32, 32, "mma", 3, spread=True), *small)
    wide = Tiling(128, 64, 16, 64, 32, "mma16", 3, spread=True), Tiling(128, 128, 32, 64, 32, "mma16", 2, spread=True)
    return (*wide, Tiling(64, 64, 16, 32, 32, "mma16", 3), Tiling(128, 64, 8, 8, 4), SMALL)


def tiling(nest: NestSchedule) -> Tiling:
    """The tiling that a schedule names; raises `ConfigurationError`."""
    tile = nest.get("tile")
    unit: Unit = next((name for name in _TENSOR if nest.get(name)), "fma")
    block = nest.get("register" if unit == "fma" else unit)
    if tile is None or block is None:
        raise ConfigurationError("a contraction needs tile(i:,j:,k:) and register(i:,j:), mma(i:,j:) or mma16(i:,j:)")
    stages = nest.get("stages")
    depth = int(stages.args[0][0]) if stages and stages.args and stages.args[0][0].isdigit() else 2
    i, j, k = (_whole(tile, key) for key in "ijk")
    return Tiling(i, j, k, _whole(block, "i"), _whole(block, "j"), unit, depth, nest.get("spread") is not None)


def _whole(directive: Directive, key: str) -> int:
    value = directive.value(key)
    if not isinstance(value, int):
        raise ConfigurationError(f"{directive.name} needs a whole number for {key}")
    return value


def contraction(problem: Contraction, tile: Tiling) -> Kernels:
    """The kernel; its block is `tile.threads` x 1 x 1, its grid one block a tile (y: batches, at most 65535 at a time)."""
    schedule = tile.schedule()
    if problem.c.contiguous == "first":
        problem, tile = _exchanged(problem, tile)
    _check(problem, tile)
    sizes = [("cp_m", problem.m), ("cp_n", problem.n), ("cp_k", problem.k)]
    if problem.batches is not None:
        sizes.append(("cp_batches", problem.batches))
    parameters = problem.parameters + tuple(size_parameter(name, value) for name, value in sizes)
    body = contraction_body.body(problem, tile)
    resident = 2 if tile.unit == "fma" and tile.threads <= 256 else 1
    dynamic = body.shared_bytes > STATIC_SHARED_LIMIT
    kernel = KernelText(
        name=problem.name,
        text=f"{signature(problem.name, tile.threads, parameters, resident)}\n{body.text}",
        parameters=parameters,
        grid=(
            f"ceildiv({problem.m}, {tile.i}) * ceildiv({problem.n}, {tile.j})",
            "1" if problem.batches is None else f"min({problem.batches}, 65535)",
            "1",
        ),
        block=(str(tile.threads), "1", "1"),
        shared=str(body.shared_bytes) if dynamic else "0",
        architecture={"fma": 75, "mma": 80, "mma16": 90, "tf32x3": 80}[tile.unit],
    )
    return Kernels((kernel,), schedule)


def _exchanged(problem: Contraction, tile: Tiling) -> tuple[Contraction, Tiling]:
    """The transposed product (C^T = B^T A^T), so that neighbouring threads store to neighbouring addresses."""

    def flip(access: Access) -> Access:
        return Access(access.pointer, lambda first, second: access.index(second, first))

    def operand(old: Operand) -> Operand:
        guard = old.guard
        return replace(
            old,
            access=flip(old.access),
            contiguous="first" if old.contiguous == "second" else "second",
            guard=None if guard is None else lambda first, second: guard(second, first),
        )

    c, guard = problem.c, problem.c.guard
    output = replace(
        c,
        access=flip(c.access),
        contiguous="second",
        guard=None if guard is None else lambda i, j: guard(j, i),
    )
    swapped = {"cp_i0": "cp_j0", "cp_i1": "cp_j1", "cp_j0": "cp_i0", "cp_j1": "cp_i1"}
    k_range = problem.k_range
    if k_range is not None:
        k_range = contraction_body.renamed(k_range[0], swapped), contraction_body.renamed(k_range[1], swapped)
    exchanged = replace(
        problem, a=operand(problem.b), b=operand(problem.a), c=output, m=problem.n, n=problem.m, k_range=k_range
    )
    return exchanged, replace(tile, i=tile.j, j=tile.i, block_i=tile.block_j, block_j=tile.block_i)


def _check(problem: Contraction, tile: Tiling) -> None:
    size = accumulated(problem.type)
    powers = (tile.i, tile.j, tile.k, tile.block_i, tile.block_j)
    require(all(value > 0 and value & (value - 1) == 0 for value in powers), "tile and block sizes must be powers of two")
    require(tile.block_i <= tile.i and tile.block_j <= tile.j, "a block must not be larger than its tile")
    require(32 <= tile.threads <= 1024, f"{tile.threads} threads a block; a tile needs 32 to 1024")
    require(1 < tile.stages <= 8, "stages must be 2 to 8")
    require(tile.k >= 4, "k must be at least 4")
    step = STEPS.get(tile.unit)
    if step is not None:
        kind = "float" if tile.unit == "tf32x3" else "double"
        require(problem.type == kind, f"{tile.unit} multiplies values of type {kind}")
        require(tile.block_i % step.rows == 0 and tile.block_j % 8 == 0, f"a warp's block must be whole {step.rows} x 8 steps")
        require(tile.k % step.terms == 0, f"k must be a multiple of {step.terms}")
    registers = tile.block_i * tile.block_j * size // 4 // (1 if step is None else 32)
    require(registers <= 160, f"{registers} registers a thread hold sums; at most 160 fit")
