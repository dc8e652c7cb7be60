"""The tiles of A and B in shared memory: who copies which element, and how the copies are written.

A tile lies as [k][x] (x is i for A, j for B), padded by one 16-byte access, so that a thread reads its block in 16-byte pieces.
For the tensor cores it lies the way memory does, [x][k] where k is contiguous, and rows are padded by 4 elements (8 floats for
[k][x]): the lanes that are served together then read different banks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from cudaperf.engine.strategies.kernels.contraction_problem import Contraction, Operand, Tiling
from cudaperf.engine.strategies.kernels.kernel import SIZES, Writer, require

_BOUNDS: Final = {"a": ("cp_i0", "cp_m"), "b": ("cp_j0", "cp_n")}


@dataclass(frozen=True, slots=True)
class Lanes:
    """Where thread `cp_t`'s r-th element lies in the tile: texts of its first x and k, and their steps over `cp_r`."""

    x: str
    k: str
    x_step: str
    k_step: str


@dataclass(frozen=True, slots=True)
class Side:
    """One operand's tile: `extent` rows or columns of C by `depth` terms of the sum."""

    letter: Literal["a", "b"]
    operand: Operand
    type: str
    extent: int
    depth: int
    threads: int
    tensor: bool

    @property
    def along_k(self) -> bool:
        return self.operand.contiguous == ("second" if self.letter == "a" else "first")

    @property
    def k_last(self) -> bool:
        """Whether the tile lies as [x][k]."""
        return self.tensor and self.along_k

    @property
    def dims(self) -> tuple[int, int]:
        """The tile's rows and the padded length of a row, in elements."""
        pad = 16 // SIZES[self.type]
        if self.tensor:
            pad = 4 if self.k_last or self.type == "double" else 8
        return (self.extent, self.depth + pad) if self.k_last else (self.depth, self.extent + pad)

    @property
    def bytes(self) -> int:
        return self.dims[0] * self.dims[1] * SIZES[self.type]

    @property
    def per_thread(self) -> int:
        return self.extent * self.depth // self.threads

    @property
    def asynchronous(self) -> bool:
        """Whether elements can go to shared memory as they are, without passing through registers."""
        return self.operand.transform is None and self.operand.type == self.type

    def at(self, stage: str, x: str, k: str) -> str:
        first, second = (x, k) if self.k_last else (k, x)
        return f"cp_{self.letter}[{stage}][{first}][{second}]"

    def element(self, x: str, k: str) -> tuple[str, str]:
        """The operand's own two indices."""
        return (x, k) if self.letter == "a" else (k, x)


def sides(problem: Contraction, tile: Tiling) -> tuple[Side, Side]:
    """The tiles of both operands; raises `ConfigurationError` when threads can't share out the copies evenly."""
    tensor = tile.unit != "fma"
    a = Side("a", problem.a, problem.type, tile.i, tile.k, tile.threads, tensor)
    b = Side("b", problem.b, problem.type, tile.j, tile.k, tile.threads, tensor)
    for side in (a, b):
        require(side.extent * side.depth >= tile.threads, "a tile must have at least one element a thread")
    return a, b


def lanes(side: Side) -> Lanes:
    """Consecutive threads along memory; where the tile is transposed on the way, 8 along k by 4 along x (no bank conflicts)."""
    rows = side.threads // 32 // max(1, side.depth // 8) * 4
    if side.along_k and not side.k_last and side.depth % 8 == 0 and 4 <= rows <= side.extent:
        high = f" + 8 * (cp_t / 32 % {side.depth // 8})" if side.depth > 8 else ""
        return Lanes(f"cp_t / 8 % 4 + 4 * (cp_t / {4 * side.depth})", f"cp_t % 8{high}", f"{rows} * cp_r", "0")
    fast = side.depth if side.along_k else side.extent
    if fast <= side.threads:
        first, second = f"cp_t % {fast}", f"cp_t / {fast}"
        steps = "0", f"{side.threads // fast} * cp_r"
    else:
        repeats = fast // side.threads
        first, second = "cp_t", "0"
        steps = f"cp_r % {repeats} * {side.threads}", f"cp_r / {repeats}"
    return Lanes(second, first, steps[1], steps[0]) if side.along_k else Lanes(first, second, steps[0], steps[1])


def declare_lanes(write: Writer, side: Side) -> None:
    at = lanes(side)
    write(f"const int cp_{side.letter}x = {at.x}, cp_{side.letter}k = {at.k};")


def copy(write: Writer, side: Side, stage: str, k_base: str, share: tuple[str, int] | None = None) -> None:
    """Start the copies of this thread's elements of the tile whose first term is `k_base`.

    With a `share` (number, of how many) only that part of them; the number is a text that unrolling makes constant.
    """
    x, k = _begin(write, side, k_base, share)
    access = side.operand.access
    index = f"(cp_ok ? {access.index(*side.element('cp_x', 'cp_z'))} : 0)"
    width = 8 * SIZES[side.type]
    write(f"cp_async_b{width}(&{side.at(stage, x, k)}, {access.pointer} + {index}, cp_ok);")
    write("}")


def read(write: Writer, side: Side, k_base: str) -> None:
    """Read this thread's elements of a tile into its registers, transformed."""
    _begin(write, side, k_base)
    element = side.operand.access.element(*side.element("cp_x", "cp_z"))
    value = side.operand.transform(element) if side.operand.transform else element
    write(f"cp_{side.letter}r[cp_r] = cp_ok ? ({side.type})({value}) : ({side.type})0;")
    write("}")


def put(write: Writer, side: Side, stage: str) -> None:
    """Move the registers that `read` filled to the tile."""
    x, k = _place(side)
    _unrolled(write, side)
    write(f"{side.at(stage, x, k)} = cp_{side.letter}r[cp_r];")
    write("}")


def _place(side: Side) -> tuple[str, str]:
    at = lanes(side)
    return (
        f"cp_{side.letter}x" + (f" + {at.x_step}" if at.x_step != "0" else ""),
        f"cp_{side.letter}k" + (f" + {at.k_step}" if at.k_step != "0" else ""),
    )


def _unrolled(write: Writer, side: Side, share: tuple[str, int] | None = None) -> None:
    first, last = "0", str(side.per_thread)
    if share is not None:
        number, parts = share
        first, last = f"({number}) * {last} / {parts}", f"(({number}) + 1) * {last} / {parts}"
    write("#pragma unroll")
    write(f"for (int cp_r = {first}; cp_r < {last}; ++cp_r) {{")


def _begin(write: Writer, side: Side, k_base: str, share: tuple[str, int] | None = None) -> tuple[str, str]:
    origin, bound = _BOUNDS[side.letter]
    x, k = _place(side)
    guard = side.operand.guard
    extra = f" && ({guard(*side.element('cp_x', 'cp_z'))})" if guard else ""
    _unrolled(write, side, share)
    write(f"const long long cp_x = {origin} + {x}, cp_z = {k_base} + {k};")
    write(f"const bool cp_ok = cp_x < {bound} && cp_z < cp_k1{extra};")
    return x, k
