"""Contraction kernels against numpy on the emulation: every unit, layout and epilogue, ragged and empty sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_run import TYPES, Program, needs_compiler
from kernel_samples import number, product

from cudaperf.engine.schedule import parse
from cudaperf.engine.strategies.kernels.contraction import (
    SMALL,
    Contraction,
    Operand,
    Output,
    Tiling,
    contraction,
    tiling,
    tilings,
)
from cudaperf.engine.strategies.kernels.kernel import Access, ConfigurationError

pytestmark = needs_compiler

SIZES = [(0, 3, 2), (3, 0, 2), (1, 1, 0), (1, 1, 1), (5, 7, 3), (33, 35, 37), (64, 32, 64)]
TILES = {
    "small": ("double", SMALL),
    "float": ("float", Tiling(32, 32, 16, 4, 4)),
    "float three stages": ("float", Tiling(64, 32, 8, 8, 4, "fma", 3)),
    "double": ("double", Tiling(32, 32, 16, 4, 2)),
    "int": ("int", Tiling(32, 32, 16, 2, 4)),
    "unsigned long long": ("unsigned long long", Tiling(32, 16, 8, 2, 2)),
    "mma": ("double", Tiling(32, 32, 8, 16, 16, "mma", 3)),
    "mma16": ("double", Tiling(32, 32, 16, 16, 16, "mma16", 2, spread=True)),
    "tf32x3": ("float", Tiling(32, 32, 16, 16, 16, "tf32x3", 3)),
}


def matrix(kind: str, rows: int, columns: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng([seed, rows, columns])
    if kind in ("float", "double"):
        return random.standard_normal((rows, columns)).astype(TYPES[kind])
    return random.integers(0, 9, (rows, columns)).astype(TYPES[kind])


def compare(kind: str, found: np.ndarray, expected: np.ndarray, depth: int) -> None:
    """Within the rounding of a sum of `depth` terms of magnitude about 1."""
    unit = {"float": 2.0**-24, "double": 2.0**-53}.get(kind, 0.0)
    assert np.abs(found.astype("f8") - expected).max(initial=0.0) <= 16 * (depth + 1) * unit


def multiply(
    program: Program, kind: str, layout: str, size: tuple[int, int, int], seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    m, n, k = size
    a, b, c = matrix(kind, m, k, seed), matrix(kind, k, n, seed + 1), np.full((m, n), 77, TYPES[kind])
    stored = [x.T if letter == "T" else x for x, letter in zip((a, b, c), layout, strict=True)]
    result = program(dict(zip("ABC", stored, strict=True)), {"M": m, "N": n, "K": k})["C"]
    return (result.T if layout[2] == "T" else result), a.astype("f8") @ b.astype("f8")


LAYOUTS = [*((name, layout) for name in ("float", "mma16") for layout in ("TNN", "NTN")), *((name, "TTT") for name in TILES)]


@pytest.mark.parametrize(("name", "layout"), [*((name, "NNN") for name in TILES), *LAYOUTS])
def test_products(name: str, layout: str) -> None:
    kind, tile = TILES[name]
    program = Program(contraction(product(kind, layout), tile), ("A", "B", "C"))
    for size in SIZES:
        found, expected = multiply(program, kind, layout, size)
        compare(kind, found, expected, size[2])


@given(
    st.tuples(st.integers(0, 70), st.integers(0, 70), st.integers(0, 70)),
    st.sampled_from(["float", "mma16"]),
    st.integers(0, 9),
)
def test_any_size(size: tuple[int, int, int], name: str, seed: int) -> None:
    kind, tile = TILES[name]
    program = Program(contraction(product(kind), tile), ("A", "B", "C"))
    found, expected = multiply(program, kind, "NNN", size, seed)
    compare(kind, found, expected, size[2])


@pytest.mark.parametrize("name", ["float", "double", "mma", "mma16", "tf32x3"])
def test_races(name: str) -> None:
    kind, tile = TILES[name]
    program = Program(contraction(product(kind, "TNN"), tile), ("A", "B", "C"), "thread")
    found, expected = multiply(program, kind, "TNN", (37, 41, 53))
    compare(kind, found, expected, 53)


@pytest.mark.parametrize("tile", [Tiling(32, 32, 16, 4, 4), Tiling(32, 32, 8, 16, 16, "mma", 2)])
def test_accumulates_with_scale_and_leading_dimensions(tile: Tiling) -> None:
    problem = product(
        "double",
        a=Operand(Access("A", lambda i, k: f"{i} * lda + {k}"), "double"),
        c=Output(Access("C", lambda i, j: f"{i} * ldc + {j}"), "double", lambda acc, old: f"2.0 * {acc} + 0.5 * {old}"),
    )
    problem = replace(problem, parameters=(*problem.parameters, number("lda", "int"), number("ldc", "int")))
    program = Program(contraction(problem, tile), ("A", "B", "C"))
    a, b, c = matrix("double", 9, 20), matrix("double", 17, 11), matrix("double", 9, 13)
    found = program({"A": a, "B": b, "C": c}, {"M": 9, "N": 11, "K": 17, "lda": 20, "ldc": 13})["C"]
    compare("double", found[:, :11], 2 * a[:, :17] @ b + 0.5 * c[:, :11], 17)
    assert np.array_equal(found[:, 11:], c[:, 11:])


def test_transforms_and_mixed_types() -> None:
    """float A squared, int B, double sums stored as float."""
    problem = product(
        "double",
        a=Operand(Access("A", lambda i, k: f"{i} * K + {k}"), "float", transform=lambda x: f"(double){x} * {x}"),
        b=Operand(Access("B", lambda k, j: f"{k} * N + {j}"), "int"),
        c=Output(Access("C", lambda i, j: f"{i} * N + {j}"), "float", lambda acc, old: f"(float)({acc})"),
    )
    declared = {"A": "const float *A", "B": "const int *B", "C": "float *C"}
    parameters = tuple(replace(p, declaration=declared.get(p.declaration[-1], p.declaration)) for p in problem.parameters)
    program = Program(contraction(replace(problem, parameters=parameters), Tiling(32, 32, 16, 4, 4)), ("A", "B", "C"))
    a, b = matrix("float", 35, 50), matrix("int", 50, 33)
    found = program({"A": a, "B": b, "C": np.zeros((35, 33), "f4")}, {"M": 35, "N": 33, "K": 50})["C"]
    compare("float", found, a.astype("f8") ** 2 @ b, 50 * 9)


@pytest.mark.parametrize("layout", ["NNN", "NNT"])
def test_triangular_operand_and_output(layout: str) -> None:
    """Lower triangle of L times B, where only L's lower triangle is read and k stops at the tile's last row."""

    def problem() -> Contraction:
        base = product("double", layout)
        return replace(
            base,
            a=replace(base.a, guard=lambda i, k: f"{k} <= {i}"),
            c=replace(base.c, guard=lambda i, j: f"{j} <= {i}"),
            k_range=("0", "cp_i1"),
        )

    program = Program(contraction(problem(), Tiling(32, 16, 8, 2, 2)), ("A", "B", "C"))
    n = 45
    a, b = matrix("double", n, n), matrix("double", n, n, 1)
    c = np.full((n, n), 7.0)
    poisoned = np.where(np.tri(n, dtype=bool), a, np.nan)
    out = program({"A": poisoned, "B": b, "C": c}, {"M": n, "N": n, "K": n})["C"]
    found = out.T if layout[2] == "T" else out
    lower = np.tri(n, dtype=bool)
    compare("double", np.where(lower, found, 0), np.where(lower, np.tril(a) @ b, 0), n)
    assert (found[~lower] == 7.0).all()


def test_batches() -> None:
    problem = replace(
        product(
            "float",
            a=Operand(Access("A", lambda i, k: f"(cp_batch * M + {i}) * K + {k}"), "float"),
            b=Operand(Access("B", lambda k, j: f"(cp_batch * K + {k}) * N + {j}"), "float"),
            c=Output(Access("C", lambda i, j: f"(cp_batch * M + {i}) * N + {j}"), "float"),
        ),
        batches="P",
    )
    program = Program(contraction(problem, SMALL), ("A", "B", "C"))
    a, b = matrix("float", 3 * 18, 21).reshape(3, 18, 21), matrix("float", 3 * 21, 17).reshape(3, 21, 17)
    found = program({"A": a, "B": b, "C": np.zeros((3, 18, 17), "f4")}, {"M": 18, "N": 17, "K": 21, "P": 3})["C"]
    compare("float", found, a.astype("f8") @ b.astype("f8"), 21)


def test_schedules_read_back() -> None:
    for kind in ("float", "double", "int"):
        for tile in (*tilings(kind, 90), Tiling(64, 64, 16, 32, 32, "tf32x3", 3, spread=True)):
            assert tiling(parse(tile.schedule()).nests[0]) == tile


@pytest.mark.parametrize(
    ("kind", "tile", "message"),
    [
        ("float", Tiling(128, 128, 16, 64, 32, "mma", 2), "values of type double"),
        ("double", Tiling(48, 48, 16, 4, 4), "powers of two"),
        ("double", Tiling(64, 64, 8, 32, 32, "mma16", 2), "multiple of 16"),
        ("float", Tiling(256, 256, 16, 4, 4), "4096 threads"),
        ("short", Tiling(), "accumulate in 'short'"),
    ],
)
def test_configurations_without_a_kernel(kind: str, tile: Tiling, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        contraction(product(kind), tile)
