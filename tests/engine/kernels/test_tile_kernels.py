"""Transposes, stencils and histograms against numpy on the emulation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_run import TYPES, Program, Sanitizer, needs_compiler
from kernel_samples import number, pointer

from cudaperf.engine.strategies.kernels.histogram import Histogram, HistogramShape, histogram
from cudaperf.engine.strategies.kernels.stencil import Field, Read, Stencil, StencilShape, stencil
from cudaperf.engine.strategies.kernels.transpose import Transpose, TransposeShape, transpose

pytestmark = needs_compiler

# --- transpose ---------------------------------------------------------------------------------------------------------


def turned(kind: str, shape: TransposeShape, *, batches: bool = False, sanitizer: Sanitizer = "address") -> Program:
    offset = "cp_batch * m * n + " if batches else ""
    problem = Transpose(
        name="turn",
        type=kind,
        load=lambda r, c: f"x[{offset}{r} * n + {c}]",
        store=lambda r, c, value: f"out[{offset}{c} * m + {r}] = {value};",
        rows="m",
        columns="n",
        parameters=(pointer("x", kind), pointer("out", kind, const=False), number("m"), number("n")),
        batches="p" if batches else None,
    )
    return Program(transpose(problem, shape), ("x", "out"), sanitizer)


@given(
    st.integers(0, 70),
    st.integers(0, 70),
    st.sampled_from([("float", TransposeShape(32, 256)), ("double", TransposeShape(64, 256)), ("int", TransposeShape(16, 64))]),
)
def test_transposes(m: int, n: int, variant: tuple[str, TransposeShape]) -> None:
    kind, shape = variant
    x = np.arange(m * n, dtype=TYPES[kind]).reshape(m, n)
    found = turned(kind, shape)({"x": x, "out": np.full((n, m), -1, x.dtype)}, {"m": m, "n": n})["out"]
    assert np.array_equal(found, x.T)


@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_batched_transposes(sanitizer: Sanitizer) -> None:
    x = np.arange(3 * 33 * 20, dtype="f4").reshape(3, 33, 20)
    program = turned("float", TransposeShape(16, 128), batches=True, sanitizer=sanitizer)
    found = program({"x": x, "out": np.zeros((3, 20, 33), "f4")}, {"m": 33, "n": 20, "p": 3})["out"]
    assert np.array_equal(found, x.transpose(0, 2, 1))


# --- stencils ----------------------------------------------------------------------------------------------------------

STAR2 = ((0, 0), (-1, 0), (1, 0), (0, -2), (0, 1))
BOX2 = tuple(product((-1, 0, 1), (-1, 0, 1)))
SPARSE2 = ((-1, -1), (1, 2), (0, 0))
STAR3 = ((0, 0, 0), (-1, 0, 0), (2, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1))
BOX3 = tuple(product((-1, 0, 1), (0, 1), (-1, 0, 1)))
FORWARD3 = ((1, 0, 0), (1, 0, 1), (1, 1, 0))


def margins(offsets: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    return [(max(0, -min(axis)), max(0, max(axis))) for axis in zip(*offsets, strict=True)]


def smooth(offsets: tuple[tuple[int, ...], ...], shape: StencilShape, sanitizer: Sanitizer = "address") -> Program:
    """out(cell) = sum of (n + 1) * x(cell + offset n) plus y(cell); x has exactly the margins that the offsets need."""
    dims = len(offsets[0])
    before = [margin[0] for margin in margins(offsets)]
    names = ("nz", "ny", "nx")[3 - dims :]

    def flat(cell: Sequence[str], sizes: Sequence[str], shifts: Sequence[int]) -> str:
        text = "0"
        for at, size, shift in zip(cell, sizes, shifts, strict=True):
            text = f"({text}) * {size} + {at} + {shift}"
        return text

    def body(cell: tuple[str, ...], read: Read) -> str:
        terms = " + ".join(f"{n + 1} * {read('x', offset)}" for n, offset in enumerate(offsets))
        return f"out[{flat(cell, names, [0] * dims)}] = {terms} + {read('y', (0,) * dims)};"

    fields = (
        Field("x", "double", lambda *cell: f"x[{flat(cell, ['p' + n for n in names], before)}]", offsets),
        Field("y", "float", lambda *cell: f"y[{flat(cell, names, [0] * dims)}]", ((0,) * dims,)),
    )
    parameters = pointer("x", "double"), pointer("y", "float"), pointer("out", "double", const=False)
    sizes = tuple(number(name) for name in (*names, *("p" + name for name in names)))
    problem = Stencil("smooth", fields, names, body, (*parameters, *sizes))
    return Program(stencil(problem, shape), ("x", "y", "out"), sanitizer)


def check_stencil(program: Program, offsets: tuple[tuple[int, ...], ...], extents: tuple[int, ...]) -> None:
    margin = margins(offsets)
    padded = tuple(extent + sum(around) for extent, around in zip(extents, margin, strict=True))
    random = np.random.default_rng(0)
    x, y = random.standard_normal(padded), random.standard_normal(extents).astype("f4")
    expected = y.astype("f8")
    for n, offset in enumerate(offsets):
        window = tuple(slice(m[0] + o, m[0] + o + e) for m, o, e in zip(margin, offset, extents, strict=True))
        expected = expected + (n + 1) * x[window]
    # cells that no output reads hold NaN, and the array ends with the last cell that is read
    used = np.zeros(padded, bool)
    for offset in offsets:
        used[tuple(slice(m[0] + o, m[0] + o + e) for m, o, e in zip(margin, offset, extents, strict=True))] = True
    flat = np.where(used, x, np.nan).ravel()
    flat = flat[: int(np.flatnonzero(used.ravel()).max(initial=-1)) + 1]
    names = ("nz", "ny", "nx")[3 - len(extents) :]
    sizes = dict(zip(names, extents, strict=True)) | {"p" + n: p for n, p in zip(names, padded, strict=True)}
    found = program({"x": flat, "y": y, "out": np.full(extents, np.nan)}, sizes)["out"]
    assert np.allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("offsets", [STAR2, BOX2, SPARSE2], ids=["star", "box", "sparse"])
def test_stencils_2d(offsets: tuple[tuple[int, ...], ...]) -> None:
    program = smooth(offsets, StencilShape(4, 32, 64))
    for extents in ((0, 5), (1, 1), (3, 40), (17, 33), (8, 64)):
        check_stencil(program, offsets, extents)


@pytest.mark.parametrize("offsets", [STAR3, BOX3, FORWARD3], ids=["star", "box", "forward"])
def test_stencils_3d(offsets: tuple[tuple[int, ...], ...]) -> None:
    program = smooth(offsets, StencilShape(4, 16, 64, 3))
    for extents in ((0, 2, 2), (1, 1, 1), (2, 5, 17), (7, 9, 20)):
        check_stencil(program, offsets, extents)


@pytest.mark.parametrize("offsets", [BOX2, STAR3], ids=["2d", "3d"])
def test_stencil_races(offsets: tuple[tuple[int, ...], ...]) -> None:
    program = smooth(offsets, StencilShape(4, 16, 64, 3), "thread")
    check_stencil(program, offsets, (7, 9, 20)[3 - len(offsets[0]) :])


# --- histograms --------------------------------------------------------------------------------------------------------


def counted(kind: str, shape: HistogramShape, sanitizer: Sanitizer = "address") -> Program:
    weighted = kind in ("float", "double")
    problem = Histogram(
        name="bins",
        type=kind,
        bin=lambda i: f"x[{i}]",
        target=lambda b: f"out[{b}]",
        weight=(lambda i: f"w[{i}]") if weighted else (lambda i: "1"),
        guard=lambda i: f"x[{i}] >= 0",
        length="n",
        bins="bins",
        parameters=(pointer("x", "int"), pointer("w", "double"), pointer("out", kind, const=False)),
    )
    return Program(histogram(problem, shape), ("x", "w", "out"), sanitizer)


def check_histogram(program: Program, kind: str, n: int, bins: int) -> np.ndarray:
    random = np.random.default_rng([n, bins])
    x, w = random.integers(-1, max(bins, 0), n).astype("i4"), random.standard_normal(n)
    start = np.arange(bins).astype(TYPES[kind])
    found = program({"x": x, "w": w, "out": start}, {"n": n, "bins": bins})["out"]
    weights = w[x >= 0] if kind in ("float", "double") else None
    expected = start + np.bincount(x[x >= 0], weights, max(bins, 1))[:bins]
    assert np.allclose(found, expected, rtol=0, atol={"float": 1e-3, "double": 1e-11}.get(kind, 0))
    return found


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("int", HistogramShape(64, 3)),
        ("long long", HistogramShape(64, 3)),
        ("double", HistogramShape(64, 3)),
        ("double", HistogramShape(64, 3, ordered=True)),
        ("float", HistogramShape(64, 3, ordered=True)),
    ],
)
def test_histograms(kind: str, shape: HistogramShape) -> None:
    program = counted(kind, shape)
    for n, bins in ((0, 5), (1, 1), (100, 1), (1000, 7), (3000, 300), (500, 20000)):
        check_histogram(program, kind, n, bins)


def test_ordered_sums_are_equal_between_runs_and_atomic_floats_say_so() -> None:
    program = counted("float", HistogramShape(64, 3, ordered=True))
    assert np.array_equal(check_histogram(program, "float", 9000, 5), check_histogram(program, "float", 9000, 5))
    assert program.kernels.deterministic
    assert not counted("float", HistogramShape(64, 3)).kernels.deterministic


@pytest.mark.parametrize("shape", [HistogramShape(64, 3), HistogramShape(64, 3, ordered=True)])
def test_histogram_races(shape: HistogramShape) -> None:
    check_histogram(counted("double", shape, "thread"), "double", 9000, 10)
