"""What a thread or warp of a contraction does with a tile: multiply-adds on the CUDA cores or steps of the fp64 tensor cores.

Fragments of the tensor-core steps, for lane L with g = L / 4 and q = L % 4 (the layout of the PTX manual):
8x8x4: A row g, k q; B k q, column g; C row g, columns 2q and 2q + 1.
16x8x16 (and 16x8x8): A rows g and g + 8 at k q, q + 4, q + 8, q + 12; B at the same k, column g; C as above, rows g and g + 8.

tf32x3: x = high + low, both rounded to tf32, so x y = low high + high low + high high up to 2^-22. Each tile's sums start at 0
and are added to the running sums in float, so that the tensor cores' rounding does not add up over k. Infinities become NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cudaperf.engine.strategies.kernels.contraction_problem import STEPS, Contraction, Tiling
from cudaperf.engine.strategies.kernels.contraction_tiles import Side
from cudaperf.engine.strategies.kernels.kernel import SIZES, Writer

Between = Callable[[str, int], str]


def nothing(number: str, parts: int) -> str:
    """Nothing to issue between the steps."""
    return ""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Texts: `lanes` (where the thread's block lies), `declare` (sums = 0), `multiply` (tile `cp_use`), `store`.

    `multiply` takes what else is to be issued between its steps: given (number, of how many), the text of one share.
    """

    lanes: str
    declare: str
    multiply: Callable[[Between], str]
    store: str


def arithmetic(problem: Contraction, tile: Tiling, a: Side, b: Side) -> Arithmetic:
    """The texts for the tiling's unit."""
    if tile.unit == "fma":
        return _multiply_adds(problem, tile, a, b)
    return _tensor_steps(problem, tile, a, b)


def _multiply_adds(problem: Contraction, tile: Tiling, a: Side, b: Side) -> Arithmetic:
    kind = problem.type
    piece_i, piece_j = (min(16 // SIZES[kind], block) for block in (tile.block_i, tile.block_j))
    gap_i, gap_j = tile.i // (tile.block_i // piece_i), tile.j // (tile.block_j // piece_j)
    x = f"cp_p / {piece_i} * {gap_i} + cp_ti * {piece_i} + cp_p % {piece_i}"
    y = f"cp_q / {piece_j} * {gap_j} + cp_tj * {piece_j} + cp_q % {piece_j}"

    def multiply(between: Between) -> str:
        write = Writer()
        write("#pragma unroll")
        write(f"for (int cp_s = 0; cp_s < {tile.k}; ++cp_s) {{")
        write(f"{kind} cp_u[{tile.block_i}], cp_v[{tile.block_j}];")
        _loop(write, "cp_p", tile.block_i, f"cp_u[cp_p] = {a.at('cp_use', x, 'cp_s')};")
        _loop(write, "cp_q", tile.block_j, f"cp_v[cp_q] = {b.at('cp_use', y, 'cp_s')};")
        write(between("cp_s", tile.k))
        _nested(write, tile.block_i, tile.block_j, "cp_sum[cp_p][cp_q] += cp_u[cp_p] * cp_v[cp_q];")
        write("}")
        return write.text

    store = Writer()
    _store(store, problem, (tile.block_i, tile.block_j), (f"cp_i0 + {x}", f"cp_j0 + {y}"), "cp_sum[cp_p][cp_q]")
    return Arithmetic(
        lanes=_thread_lanes(tile),
        declare=_zeroed(kind, f"cp_sum[{tile.block_i}][{tile.block_j}]"),
        multiply=multiply,
        store=store.text,
    )


def _thread_lanes(tile: Tiling) -> str:
    across, down = tile.j // tile.block_j, tile.i // tile.block_i
    if across % 8 or down % 4:
        return f"const int cp_ti = cp_t / {across}, cp_tj = cp_t % {across};"
    # a warp covers 4 x 8 blocks, so that its reads of A and B are one pass each over the banks
    warps = across // 8
    return f"const int cp_ti = cp_t / 32 / {warps} * 4 + cp_t % 32 / 8;\nconst int cp_tj = cp_t / 32 % {warps} * 8 + cp_t % 8;"


def _tensor_steps(problem: Contraction, tile: Tiling, a: Side, b: Side) -> Arithmetic:
    step, split = STEPS[tile.unit], tile.unit == "tf32x3"
    rows, columns = tile.block_i // step.rows, tile.block_j // 8
    at_i = f"cp_i0 + cp_wi + cp_p / {step.c} * {step.rows} + cp_p % {step.c} / 2 * 8 + cp_g"
    at_j = "cp_j0 + cp_wj + cp_q * 8 + cp_l * 2 + cp_p % 2"
    store = Writer()
    _store(store, problem, (rows * step.c, columns), (at_i, at_j), f"cp_sum[cp_p / {step.c}][cp_q][cp_p % {step.c}]")
    warps = tile.j // tile.block_j
    sums = f"[{rows}][{columns}][{step.c}]"

    def multiply(between: Between) -> str:
        write = Writer()
        if split:
            write(f"float cp_part{sums} = {{}};")
        write("#pragma unroll")
        write(f"for (int cp_s = 0; cp_s < {tile.k}; cp_s += {step.terms}) {{")
        _fragment(write, "v", b, (columns, step.b), "cp_wj + 8 * cp_q + cp_g", "cp_s + 4 * cp_e + cp_l", split=split)
        write("#pragma unroll")
        write(f"for (int cp_p = 0; cp_p < {rows}; ++cp_p) {{")
        row, depth = ("cp_e % 2 * 8 + ", "cp_s + 4 * (cp_e / 2)") if step.c == 4 else ("", "cp_s")
        _fragment(write, "u", a, (0, step.a), f"cp_wi + {step.rows} * cp_p + {row}cp_g", f"{depth} + cp_l", split=split)
        write(between(f"cp_s / {step.terms} * {rows} + cp_p", tile.k // step.terms * rows))
        _loop(write, "cp_q", columns, _STEP[tile.unit])
        write("}\n}")
        if split:
            add = Writer()
            _loop(add, "cp_e", step.c, "cp_sum[cp_p][cp_q][cp_e] += cp_part[cp_p][cp_q][cp_e];")
            _nested(write, rows, columns, add.text)
        return write.text

    return Arithmetic(
        lanes="const int cp_g = cp_t % 32 / 4, cp_l = cp_t % 4;\n"
        f"const int cp_wi = cp_t / 32 / {warps} * {tile.block_i}, cp_wj = cp_t / 32 % {warps} * {tile.block_j};",
        declare=_zeroed(problem.type, f"cp_sum{sums}"),
        multiply=multiply,
        store=store.text,
    )


_STEP: Final = {
    "mma": "cp_mma_f64_8x8x4(cp_sum[cp_p][cp_q], cp_u[0], cp_v[cp_q][0]);",
    "mma16": "cp_mma_f64_16x8x16(cp_sum[cp_p][cp_q], cp_u, cp_v[cp_q]);",
    "tf32x3": "cp_mma_tf32_16x8x8(cp_part[cp_p][cp_q], cp_ul, cp_v[cp_q]);\n"
    "cp_mma_tf32_16x8x8(cp_part[cp_p][cp_q], cp_u, cp_vl[cp_q]);\n"
    "cp_mma_tf32_16x8x8(cp_part[cp_p][cp_q], cp_u, cp_v[cp_q]);",
}


def _fragment(write: Writer, name: str, side: Side, counts: tuple[int, int], x: str, k: str, *, split: bool) -> None:
    """Declare and read a lane's part of one operand: `counts` are the steps held at once (0: just one) and their elements."""
    many, each = counts
    kind = "unsigned" if split else "double"
    dims = f"[{many}][{each}]" if many else f"[{each}]"
    at = "[cp_q][cp_e]" if many else "[cp_e]"
    element = side.at("cp_use", x, k)
    write(f"{kind} cp_{name}{dims};")
    text = f"cp_{name}{at} = {element};"
    if split:
        write(f"unsigned cp_{name}l{dims};")
        text = (
            f"const float cp_x = {element};\ncp_{name}{at} = cp_cvt_tf32(cp_x);\n"
            f"cp_{name}l{at} = cp_cvt_tf32(cp_x - __uint_as_float(cp_{name}{at}));"
        )
    if many:
        _nested(write, many, each, text, ("cp_q", "cp_e"))
    else:
        _loop(write, "cp_e", each, text)


def _zeroed(kind: str, declarator: str) -> str:
    return f"{kind} {declarator} = {{}};"


def _loop(write: Writer, name: str, count: int, statement: str) -> None:
    write("#pragma unroll")
    write(f"for (int {name} = 0; {name} < {count}; ++{name}) {{")
    write(statement)
    write("}")


def _nested(write: Writer, outer: int, inner: int, text: str, names: tuple[str, str] = ("cp_p", "cp_q")) -> None:
    write("#pragma unroll")
    write(f"for (int {names[0]} = 0; {names[0]} < {outer}; ++{names[0]}) {{")
    _loop(write, names[1], inner, text)
    write("}")


def _store(write: Writer, problem: Contraction, counts: tuple[int, int], at: tuple[str, str], acc: str) -> None:
    c = problem.c
    guard = f" && ({c.guard('cp_i', 'cp_j')})" if c.guard else ""
    body = Writer()
    body(f"const long long cp_i = {at[0]}, cp_j = {at[1]};")
    body(f"if (cp_i < cp_m && cp_j < cp_n{guard}) {{")
    body(f"{c.type} *const cp_to = {c.access.address('cp_i', 'cp_j')};")
    body(f"*cp_to = {c.epilogue(acc, '*cp_to')};")
    body("}")
    _nested(write, *counts, body.text)
