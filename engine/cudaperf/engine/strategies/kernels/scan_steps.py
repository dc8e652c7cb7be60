"""The algebra of a scan as text, and the scan of one value a thread over a block.

A state has one part `v`, or for a linear recurrence the pair (`f`, `v`): the map x -> f * x + v. Appending keeps order, so the
operation needs to be associative only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from cudaperf.engine.strategies.kernels import accumulate
from cudaperf.engine.strategies.kernels.kernel import Writer

ScanOp = Literal["+", "*", "min", "max", "linear"]


@dataclass(frozen=True, slots=True)
class Monoid:
    """States of `type` under `op`; a state named s lives in the variables s_v (and s_f)."""

    op: ScanOp
    type: str

    @property
    def parts(self) -> tuple[str, ...]:
        return ("f", "v") if self.op == "linear" else ("v",)

    def identity(self, part: str) -> str:
        if self.op == "linear":
            return f"({self.type}){'1' if part == 'f' else '0'}"
        return f"({self.type}){accumulate.identity(self.op, self.type)}"

    def declare(self, write: Writer, name: str) -> None:
        for part in self.parts:
            write(f"{self.type} {name}_{part} = {self.identity(part)};")

    def append(self, write: Writer, name: str, right: Mapping[str, str]) -> None:
        """name = name, then right; the texts of `right` are evaluated more than once."""
        mine, value = f"{name}_v", right["v"]
        match self.op:
            case "+" | "*":
                write(f"{mine} = {mine} {self.op} {value};")
            case "min" | "max":
                write(f"{mine} = {value} {'<' if self.op == 'min' else '>'} {mine} ? {value} : {mine};")
            case "linear":
                write(f"{mine} = {right['f']} * {mine} + {value};")
                write(f"{name}_f = {name}_f * {right['f']};")


def _named(monoid: Monoid, name: str) -> dict[str, str]:
    return {part: f"{name}_{part}" for part in monoid.parts}


def scan_block(write: Writer, monoid: Monoid, threads: int, *, prefix: bool) -> None:
    """Append every thread's `cp_mine` to `cp_carry`, in thread order; one barrier, `cp_warp_*` must be free to write.

    With `prefix`, `cp_before` becomes the old carry with the values of earlier threads appended.
    """
    parts = monoid.parts
    for part in parts:
        write(f"{monoid.type} cp_upto_{part} = cp_mine_{part};")
    write("#pragma unroll")
    write("for (int cp_d = 1; cp_d < 32; cp_d <<= 1) {")
    for part in parts:
        write(f"{monoid.type} cp_left_{part} = __shfl_up_sync(0xffffffffu, cp_upto_{part}, cp_d);")
    write("if (cp_t % 32 >= cp_d) {")
    monoid.append(write, "cp_left", _named(monoid, "cp_upto"))
    for part in parts:
        write(f"cp_upto_{part} = cp_left_{part};")
    write("}")
    write("}")
    write("if (cp_t % 32 == 31) {")
    for part in parts:
        write(f"cp_warp_{part}[cp_t / 32] = cp_upto_{part};")
    write("}")
    if prefix:
        for part in parts:
            write(f"{monoid.type} cp_before_{part} = cp_carry_{part};")
            write(f"const {monoid.type} cp_near_{part} = __shfl_up_sync(0xffffffffu, cp_upto_{part}, 1);")
    write("__syncthreads();")
    write(f"for (int cp_w = 0; cp_w < {threads // 32}; ++cp_w) {{")
    warp = {part: f"cp_warp_{part}[cp_w]" for part in parts}
    if prefix:
        write("if (cp_w < cp_t / 32) {")
        monoid.append(write, "cp_before", warp)
        write("}")
    monoid.append(write, "cp_carry", warp)
    write("}")
    if prefix:
        write("if (cp_t % 32 > 0) {")
        monoid.append(write, "cp_before", _named(monoid, "cp_near"))
        write("}")
