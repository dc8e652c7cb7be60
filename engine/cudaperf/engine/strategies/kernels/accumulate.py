"""Accumulators as text: declare, fold an element in, merge two, reduce over a warp and a block.

Every order of merging is fixed, so results are bit-equal between runs of one launch shape. `min` and `max` compare with `<`
and `>` and so pass over NaN; `argmin` and `argmax` give the position (64-bit, -1 when no element took part) with the value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from cudaperf.engine.strategies.kernels.kernel import Writer, accumulated, require

Op = Literal["+", "*", "&", "|", "^", "min", "max", "&&", "||", "argmin", "argmax"]

_INTEGER_LIMITS: Final = {
    "int": ("(-2147483647 - 1)", "2147483647"),
    "unsigned int": ("0u", "4294967295u"),
    "long": ("(-9223372036854775807L - 1)", "9223372036854775807L"),
    "unsigned long": ("0ul", "18446744073709551615ul"),
    "long long": ("(-9223372036854775807LL - 1)", "9223372036854775807LL"),
    "unsigned long long": ("0ull", "18446744073709551615ull"),
}
_FLOATS: Final = ("float", "double")


@dataclass(frozen=True, slots=True)
class Accumulator:
    """One value that is reduced.

    `element(*index)` is the text of one element, `guard(*index)` the condition under which it takes part; `ties` says which
    of equal elements argmin and argmax report. The indices are one (grid) or two (output, term) texts of 64-bit variables.
    """

    type: str
    op: Op
    element: Callable[..., str]
    guard: Callable[..., str] | None = None
    ties: Literal["first", "last"] = "first"

    @property
    def positional(self) -> bool:
        return self.op in ("argmin", "argmax")


@dataclass(frozen=True, slots=True)
class Reduced:
    """What an epilogue gets for each accumulator: texts of the value, and of the position for argmin and argmax."""

    value: str
    at: str | None


def check(accumulators: Sequence[Accumulator]) -> None:
    """Raise `ConfigurationError` for a combination of type and operation that has no kernel."""
    require(len(accumulators) > 0, "a reduction needs an accumulator")
    for accumulator in accumulators:
        accumulated(accumulator.type)
        if accumulator.op in ("&&", "||", "&", "|", "^"):
            require(accumulator.type not in _FLOATS, f"{accumulator.op} accumulates in an integer type")


def reduced(accumulators: Sequence[Accumulator], prefix: str = "cp_") -> tuple[Reduced, ...]:
    """The variables that hold the accumulators whose names begin with `prefix`."""
    return tuple(Reduced(f"{prefix}{n}", f"{prefix}{n}_at" if a.positional else None) for n, a in enumerate(accumulators))


def identity(op: Op, type_name: str) -> str:
    """The text of the value that changes nothing."""
    match op:
        case "+" | "|" | "^" | "||" | "argmin" | "argmax":
            return "0"
        case "&":
            return f"({type_name})-1"
        case "*" | "&&":
            return "1"
        case "min":
            return "INFINITY" if type_name in _FLOATS else _INTEGER_LIMITS[type_name][1]
        case "max":
            return "-INFINITY" if type_name in _FLOATS else _INTEGER_LIMITS[type_name][0]


def declare(write: Writer, accumulators: Sequence[Accumulator], prefix: str = "cp_") -> None:
    for n, accumulator in enumerate(accumulators):
        write(f"{accumulator.type} {prefix}{n} = {identity(accumulator.op, accumulator.type)};")
        if accumulator.positional:
            write(f"long long {prefix}{n}_at = -1;")


def fold(write: Writer, accumulators: Sequence[Accumulator], index: tuple[str, ...], position: str) -> None:
    """Take the element at `index` into every accumulator; `position` (a simple text) is what argmin and argmax record."""
    for n, accumulator in enumerate(accumulators):
        guard = accumulator.guard
        write(f"if ({guard(*index)}) {{" if guard else "{")
        if accumulator.op in ("&&", "||"):
            write(f"cp_{n} {accumulator.op[0]}= ({accumulator.element(*index)}) != 0;")
        else:
            write(f"const {accumulator.type} cp_e = {accumulator.element(*index)};")
            _combine(write, accumulator, f"cp_{n}", "cp_e", position, known=True)
        write("}")


def merge(write: Writer, accumulators: Sequence[Accumulator], other: Callable[[int], Reduced]) -> None:
    """Merge other accumulators into these; `other(n)` are texts, evaluated once."""
    for n, accumulator in enumerate(accumulators):
        theirs = other(n)
        write("{")
        write(f"const {accumulator.type} cp_o = {theirs.value};")
        if accumulator.positional:
            write(f"const long long cp_o_at = {theirs.at};")
        _combine(write, accumulator, f"cp_{n}", "cp_o", "cp_o_at", known=False)
        write("}")


def _combine(write: Writer, accumulator: Accumulator, mine: str, theirs: str, at: str, *, known: bool) -> None:
    match accumulator.op:
        case "+" | "*" | "&" | "|" | "^":
            write(f"{mine} {accumulator.op}= {theirs};")
        case "&&" | "||":
            write(f"{mine} {accumulator.op[0]}= {theirs};")
        case "min" | "max":
            write(f"{mine} = {theirs} {'<' if accumulator.op == 'min' else '>'} {mine} ? {theirs} : {mine};")
        case "argmin" | "argmax":
            better = "<" if accumulator.op == "argmin" else ">"
            earlier = "<" if accumulator.ties == "first" else ">"
            present = "" if known else f"{at} >= 0 && "
            tie = f"({theirs} == {mine} && {at} {earlier} {mine}_at)"
            write(f"if ({present}({mine}_at < 0 || {theirs} {better} {mine} || {tie})) {{")
            write(f"{mine} = {theirs};")
            write(f"{mine}_at = {at};")
            write("}")


def reduce_warp(write: Writer, accumulators: Sequence[Accumulator], lanes: int = 32) -> None:
    """Leave the result of every `lanes` lanes in the first of them; all 32 lanes must take part."""

    def shuffled(n: int) -> Reduced:
        return Reduced(*(f"__shfl_down_sync(0xffffffffu, {name}, cp_d)" for name in (f"cp_{n}", f"cp_{n}_at")))

    write("#pragma unroll")
    write(f"for (int cp_d = {lanes // 2}; cp_d > 0; cp_d >>= 1) {{")
    merge(write, accumulators, shuffled)
    write("}")


def reduce_block(write: Writer, accumulators: Sequence[Accumulator], threads: int) -> None:
    """Leave the block's result in thread 0 of a one-dimensional block of `threads`, all of which must take part."""
    reduce_warp(write, accumulators)
    warps = threads // 32
    if warps == 1:
        return
    declare_shared(write, accumulators, str(warps))
    write("if (threadIdx.x % 32 == 0) {")
    save(write, accumulators, lambda name: f"cp_s{name}[threadIdx.x / 32]")
    write("}")
    write("__syncthreads();")
    write("if (threadIdx.x == 0) {")
    write(f"for (int cp_w = 1; cp_w < {warps}; ++cp_w) {{")
    merge(write, accumulators, lambda n: Reduced(f"cp_s{n}[cp_w]", f"cp_s{n}_at[cp_w]"))
    write("}")
    write("}")


def declare_shared(write: Writer, accumulators: Sequence[Accumulator], dims: str) -> None:
    """Shared arrays `cp_s0[dims]`, `cp_s0_at[dims]`, ..."""
    for n, accumulator in enumerate(accumulators):
        write(f"__shared__ {accumulator.type} cp_s{n}[{dims}];")
        if accumulator.positional:
            write(f"__shared__ long long cp_s{n}_at[{dims}];")


def save(write: Writer, accumulators: Sequence[Accumulator], place: Callable[[str], str]) -> None:
    """Store the accumulators where `place("0")`, `place("0_at")`, ... say."""
    for n, accumulator in enumerate(accumulators):
        write(f"{place(str(n))} = cp_{n};")
        if accumulator.positional:
            write(f"{place(f'{n}_at')} = cp_{n}_at;")
