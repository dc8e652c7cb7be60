"""What a contraction computes and how its work is cut: the frozen configuration that `contraction` turns into text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from cudaperf.engine.plan import SizeExpr
from cudaperf.engine.schedule import Directive, NestSchedule
from cudaperf.engine.strategies.kernels.kernel import Access, Parameter

Unit = Literal["fma", "mma", "mma16", "tf32x3"]
"""Multiply-adds on the CUDA cores; on the fp64 tensor cores by 8x8x4 steps, or by Hopper's 16x8x16 steps; or floats as sums of
two tf32 values each on the tf32 tensor cores, three products for one, which keeps float's accuracy."""


@dataclass(frozen=True, slots=True)
class Step:
    """The rows and terms of one tensor-core step (it has 8 columns), and what a lane holds of A, B and C."""

    rows: int
    terms: int
    a: int
    b: int
    c: int


STEPS: Final[dict[str, Step]] = {
    "mma": Step(8, 4, 1, 1, 2),
    "mma16": Step(16, 16, 8, 4, 4),
    "tf32x3": Step(16, 8, 4, 2, 4),
}


@dataclass(frozen=True, slots=True)
class Operand:
    """A(i, k) or B(k, j).

    `type` is the element's C type. `contiguous` names which of the access's two indices has unit stride ("second" is
    row-major); it decides speed, never correctness. `transform` maps the element's text to f's; `guard(first, second)` is the
    condition under which the element takes part (a triangular operand, for instance); it is 0 elsewhere and not read.
    """

    access: Access
    type: str
    contiguous: Literal["first", "second"] = "second"
    transform: Callable[[str], str] | None = None
    guard: Callable[[str, str], str] | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """C(i, j). `epilogue(acc, old)` is the value to store, from the sum and the element's old value as texts.

    `guard(i, j)` is the condition under which the element is written at all.
    """

    access: Access
    type: str
    epilogue: Callable[[str, str], str] = lambda acc, old: acc
    contiguous: Literal["first", "second"] = "second"
    guard: Callable[[str, str], str] | None = None


@dataclass(frozen=True, slots=True)
class Contraction:
    """The product to compute: `m` x `n` results, each a sum of `k` terms, in `type`.

    `parameters` are those that the accesses name; the sizes are appended as `cp_m`, `cp_n`, `cp_k`. With `batches` the whole
    product is repeated, and index texts may use the 64-bit variable `cp_batch`. `k_range` narrows the sum for a tile: two
    texts over `cp_i0`, `cp_i1`, `cp_j0`, `cp_j1` (the tile's half-open range) and `cp_k`, for triangular shapes.
    """

    name: str
    type: str
    a: Operand
    b: Operand
    c: Output
    m: SizeExpr
    n: SizeExpr
    k: SizeExpr
    parameters: tuple[Parameter, ...]
    batches: SizeExpr | None = None
    k_range: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Tiling:
    """Elements of C a block computes (`i` x `j`), in steps of `k`.

    `block_i` x `block_j` is what one thread holds (`fma`) or one warp (the other units). `stages` tiles of A and B are in
    shared memory at a time. `spread` issues the copies of the next tile between the steps of the arithmetic, not before them.
    """

    i: int = 128
    j: int = 128
    k: int = 16
    block_i: int = 8
    block_j: int = 8
    unit: Unit = "fma"
    stages: int = 2
    spread: bool = False

    @property
    def threads(self) -> int:
        blocks = (self.i // self.block_i) * (self.j // self.block_j)
        return blocks if self.unit == "fma" else 32 * blocks

    def schedule(self) -> str:
        """The nest's schedule, as text that `tiling` reads back."""
        name = "register" if self.unit == "fma" else self.unit
        directives = [
            Directive("contraction"),
            Directive("tile", (("i", self.i), ("j", self.j), ("k", self.k))),
            Directive(name, (("i", self.block_i), ("j", self.block_j))),
            Directive("stages", ((str(self.stages), None),)),
        ]
        if self.spread:
            directives.append(Directive("spread"))
        return str(NestSchedule(tuple(directives)))
