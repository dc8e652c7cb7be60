"""What a thread or warp of a contraction does with a tile: multiply-adds on the CUDA cores or steps of the fp64 tensor cores.

Fragments of the tensor-core steps, for lane L with g = L / 4 and q = L % 4 (the layout of the PTX manual):
8x8x4: A row g, k q; B k q, column g; C row g, columns 2q and 2q + 1.
16x8x16: A rows g and g + 8 at k q, q + 4, q + 8, q + 12; B k q, q + 4, q + 8, q + 12, column g; C as above, rows g and g + 8.
"""

from __future__ import annotations

from dataclasses import dataclass

from cudaperf.engine.strategies.kernels.contraction_problem import Contraction, Tiling
from cudaperf.engine.strategies.kernels.contraction_tiles import Side
from cudaperf.engine.strategies.kernels.kernel import SIZES, Writer


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Texts: `lanes` (where the thread's block lies), `declare` (sums = 0), `multiply` (tile `cp_use`), `store`."""

    lanes: str
    declare: str
    multiply: str
    store: str


def arithmetic(problem: Contraction, tile: Tiling, a: Side, b: Side) -> Arithmetic:
    """The texts for the tiling's unit."""
    if tile.unit == "fma":
        return _multiply_adds(problem, tile, a, b)
    return _tensor_steps(problem, tile, a, b, wide=tile.unit == "mma16")


def _multiply_adds(problem: Contraction, tile: Tiling, a: Side, b: Side) -> Arithmetic:
    kind = problem.type
    piece_i, piece_j = (min(16 // SIZES[kind], block) for block in (tile.block_i, tile.block_j))
    gap_i, gap_j = tile.i // (tile.block_i // piece_i), tile.j // (tile.block_j // piece_j)
    x = f"cp_p / {piece_i} * {gap_i} + cp_ti * {piece_i} + cp_p % {piece_i}"
    y = f"cp_q / {piece_j} * {gap_j} + cp_tj * {piece_j} + cp_q % {piece_j}"
    multiply = Writer()
    multiply("#pragma unroll")
    multiply(f"for (int cp_s = 0; cp_s < {tile.k}; ++cp_s) {{")
    multiply(f"{kind} cp_u[{tile.block_i}], cp_v[{tile.block_j}];")
    _loop(multiply, "cp_p", tile.block_i, f"cp_u[cp_p] = {a.at('cp_use', x, 'cp_s')};")
    _loop(multiply, "cp_q", tile.block_j, f"cp_v[cp_q] = {b.at('cp_use', y, 'cp_s')};")
    _nested(multiply, tile.block_i, tile.block_j, "cp_sum[cp_p][cp_q] += cp_u[cp_p] * cp_v[cp_q];")
    multiply("}")
    store = Writer()
    _store(store, problem, (tile.block_i, tile.block_j), (f"cp_i0 + {x}", f"cp_j0 + {y}"), "cp_sum[cp_p][cp_q]")
    return Arithmetic(
        lanes=_thread_lanes(tile),
        declare=_zeroed(kind, f"cp_sum[{tile.block_i}][{tile.block_j}]"),
        multiply=multiply.text,
        store=store.text,
    )


def _thread_lanes(tile: Tiling) -> str:
    across, down = tile.j // tile.block_j, tile.i // tile.block_i
    if across % 8 or down % 4:
        return f"const int cp_ti = cp_t / {across}, cp_tj = cp_t % {across};"
    # a warp covers 4 x 8 blocks, so that its reads of A and B are one pass each over the banks
    warps = across // 8
    return f"const int cp_ti = cp_t / 32 / {warps} * 4 + cp_t % 32 / 8;\nconst int cp_tj = cp_t / 32 % {warps} * 8 + cp_t % 8;"


def _tensor_steps(problem: Contraction, tile: Tiling, a: Side, b: Side, *, wide: bool) -> Arithmetic:
    high, deep = (16, 16) if wide else (8, 4)
    rows, columns = tile.block_i // high, tile.block_j // 8
    u, v, sums = (8, 4, 4) if wide else (1, 1, 2)
    multiply = Writer()
    multiply("#pragma unroll")
    multiply(f"for (int cp_s = 0; cp_s < {tile.k}; cp_s += {deep}) {{")
    multiply(f"double cp_v[{columns}][{v}];")
    at_b = b.at("cp_use", "cp_wj + 8 * cp_q + cp_g", "cp_s + 4 * cp_e + cp_l")
    _nested(multiply, columns, v, f"cp_v[cp_q][cp_e] = {at_b};", ("cp_q", "cp_e"))
    multiply("#pragma unroll")
    multiply(f"for (int cp_p = 0; cp_p < {rows}; ++cp_p) {{")
    multiply(f"double cp_u[{u}];")
    row, depth = ("cp_e % 2 * 8 + ", "4 * (cp_e / 2)") if wide else ("", "0")
    at_a = a.at("cp_use", f"cp_wi + {high} * cp_p + {row}cp_g", f"cp_s + {depth} + cp_l")
    _loop(multiply, "cp_e", u, f"cp_u[cp_e] = {at_a};")
    step = "cp_mma_f64_16x8x16(cp_sum[cp_p][cp_q], cp_u, cp_v[cp_q]);"
    narrow = "cp_mma_f64_8x8x4(cp_sum[cp_p][cp_q], cp_u[0], cp_v[cp_q][0]);"
    _loop(multiply, "cp_q", columns, step if wide else narrow)
    multiply("}")
    multiply("}")
    store = Writer()
    at_i = f"cp_i0 + cp_wi + cp_p / {sums} * {high} + cp_p % {sums} / 2 * 8 + cp_g"
    at_j = "cp_j0 + cp_wj + cp_q * 8 + cp_l * 2 + cp_p % 2"
    _store(store, problem, (rows * sums, columns), (at_i, at_j), f"cp_sum[cp_p / {sums}][cp_q][cp_p % {sums}]")
    warps = tile.j // tile.block_j
    return Arithmetic(
        lanes="const int cp_g = cp_t % 32 / 4, cp_l = cp_t % 4;\n"
        f"const int cp_wi = cp_t / 32 / {warps} * {tile.block_i}, cp_wj = cp_t / 32 % {warps} * {tile.block_j};",
        declare=_zeroed("double", f"cp_sum[{rows}][{columns}][{sums}]"),
        multiply=multiply.text,
        store=store.text,
    )


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
