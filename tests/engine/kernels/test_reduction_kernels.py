"""Reductions and scans against numpy on the emulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_run import TYPES, Program, Sanitizer, needs_compiler
from kernel_samples import number, pointer

from cudaperf.engine.strategies.kernels.accumulate import Accumulator, Reduced
from cudaperf.engine.strategies.kernels.kernel import ConfigurationError
from cudaperf.engine.strategies.kernels.reduction import GridReduction, Reduction, grid_reduction
from cudaperf.engine.strategies.kernels.reduction_rows import RowReduction, RowShape, row_reduction
from cudaperf.engine.strategies.kernels.scan import Scan, ScanShape, scan

pytestmark = needs_compiler

LENGTHS = [0, 1, 2, 33, 257, 4099]
GRID = GridReduction(64, 4, 5)


def values(kind: str, count: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng([seed, count])
    if kind in ("float", "double"):
        return random.standard_normal(count).astype(TYPES[kind])
    return random.integers(-50 if kind in ("int", "long long") else 0, 50, count).astype(TYPES[kind])


def stored(results: Sequence[Reduced]) -> str:
    texts = [text for result in results for text in (result.value, result.at) if text is not None]
    return "\n".join(f"out[{n}] = (double)({text});" for n, text in enumerate(texts))


def reduction(kind: str, shape: GridReduction, *accumulators: Accumulator) -> Program:
    parameters = pointer("x", kind), pointer("out", "double", const=False)
    return Program(grid_reduction(Reduction("total", accumulators, "n", parameters, stored), shape), ("x", "out"))


def of(kind: str, op: str, element: str = "x[{}]", **more: object) -> Accumulator:
    return Accumulator(kind, op, lambda *index: element.format(*index), **more)  # type: ignore[arg-type]


def first(array: np.ndarray, at: int) -> float:
    return float(array[at]) if len(array) else 0.0


@pytest.mark.parametrize("shape", [GRID, GridReduction(128, 2, single=True)])
@pytest.mark.parametrize("kind", ["float", "double", "int", "long long", "unsigned int"])
def test_several_accumulators(kind: str, shape: GridReduction) -> None:
    program = reduction(
        kind,
        shape,
        of(kind, "+"),
        of(kind, "max"),
        of(kind, "argmin"),
        of("int", "||", "x[{}] > 2"),
        of("int", "&&", "x[{}] < 3"),
        of("long long", "+", "1", guard=lambda i: f"x[{i}] > 0"),
    )
    for n in LENGTHS:
        x = values(kind, n)
        found = program({"x": x, "out": np.full(7, np.nan)}, {"n": n})["out"]
        at = int(x.argmin()) if n else -1
        assert abs(found[0] - x.sum(dtype="f8")) <= 1e-5 * np.abs(x.astype("f8")).sum() * (kind == "float") + 1e-9
        if n:
            assert found[1] == x.max()
        assert found[2:].tolist() == [first(x, at), at, (x > 2).any(), (x < 3).all(), (x > 0).sum()]


@given(
    st.lists(st.integers(-3, 3), max_size=700),
    st.sampled_from(["argmin", "argmax"]),
    st.sampled_from(["first", "last"]),
)
def test_ties(numbers: list[int], op: str, ties: str) -> None:
    x = np.array(numbers, "i4")
    found = reduction("int", GRID, of("int", op, ties=ties))({"x": x, "out": np.zeros(2)}, {"n": len(x)})["out"]
    best = (x.min() if op == "argmin" else x.max()) if len(x) else 0
    where = np.flatnonzero(x == best)
    assert found.tolist() == ([best, where[0 if ties == "first" else -1]] if len(x) else [0, -1])


@pytest.mark.parametrize("op", ["min", "max"])
def test_limits(op: str) -> None:
    """Infinities take part, NaN is passed over, and an empty range is the identity."""
    program = reduction("double", GRID, of("double", op))
    sign = 1 if op == "min" else -1
    for x, expected in (([], np.inf), ([np.inf], np.inf), ([np.nan, 3.0, np.nan], 3.0), ([-np.inf, np.nan], -np.inf)):
        found = program({"x": sign * np.array(x), "out": np.zeros(1)}, {"n": len(x)})["out"]
        assert found[0] == sign * expected


def test_products_and_shared_body() -> None:
    """prod(1 + x) and sum((x - y)^2), the difference computed once."""
    problem = Reduction(
        "total",
        (of("double", "*", "1 + 0.01 * d"), of("double", "+", "d * d")),
        "n",
        (pointer("x", "double"), pointer("y", "double"), pointer("out", "double", const=False)),
        stored,
        body=lambda i: f"const double d = x[{i}] - y[{i}];",
    )
    x, y = values("double", 333), values("double", 333, 1)
    program = Program(grid_reduction(problem, GRID), ("x", "y", "out"))
    found = program({"x": x, "y": y, "out": np.zeros(2)}, {"n": 333})["out"]
    assert np.allclose(found, [np.prod(1 + 0.01 * (x - y)), ((x - y) ** 2).sum()], rtol=1e-13)


ROW_SHAPES = [
    RowShape("thread", 64, 4),
    RowShape("warp", 64, 2),
    RowShape("warp", 64, 2, lanes=4),
    RowShape("block", 64, 2),
    RowShape("block", 64, 1, 3),
    RowShape("columns", 128, 2),
    RowShape("columns", 128, 4, 3),
]


def rows(shape: RowShape, sanitizer: Sanitizer = "address") -> Program:
    problem = RowReduction(
        "sums",
        (of("double", "+", "x[{} * length + {}]"), of("float", "argmax", "(float)x[{} * length + {}]")),
        "outputs",
        "length",
        (pointer("x", "double"), pointer("out", "double", const=False), number("outputs"), number("length")),
        lambda o, results: f"out[{o} * 2] = {results[0].value};\nout[{o} * 2 + 1] = (double){results[1].at};",
    )
    return Program(row_reduction(problem, shape), ("x", "out"), sanitizer)


@pytest.mark.parametrize("shape", ROW_SHAPES, ids=RowShape.schedule)
def test_rows(shape: RowShape) -> None:
    program = rows(shape)
    for outputs, length in ((0, 5), (3, 0), (1, 1), (2, 33), (65, 7), (40, 300)):
        x = values("double", outputs * length).reshape(outputs, length)
        out = program({"x": x, "out": np.full((outputs, 2), np.nan)}, {"outputs": outputs, "length": length})["out"]
        assert np.allclose(out[:, 0], x.sum(axis=1), rtol=1e-12, atol=1e-12)
        assert out[:, 1].tolist() == (x.argmax(axis=1).tolist() if length else [-1] * outputs)


@pytest.mark.parametrize("shape", ROW_SHAPES, ids=RowShape.schedule)
def test_row_races(shape: RowShape) -> None:
    x = values("double", 35 * 70).reshape(35, 70)
    out = rows(shape, "thread")({"x": x, "out": np.zeros((35, 2))}, {"outputs": 35, "length": 70})["out"]
    assert np.allclose(out[:, 0], x.sum(axis=1))


# --- scans -------------------------------------------------------------------------------------------------------------

SCAN = ScanShape(64, 4, 3)
IDENTITY = {"+": 0, "*": 1, "min": np.inf, "max": -np.inf}
UFUNC = {"+": np.add, "*": np.multiply, "min": np.minimum, "max": np.maximum}


def scanned(kind: str, op: str, *, exclusive: bool, initial: str | None = None, sanitizer: Sanitizer = "address") -> Program:
    problem = Scan(
        name="prefix",
        type=kind,
        op=op,  # type: ignore[arg-type]
        element=lambda i: f"x[{i}]",
        factor=(lambda i: f"a[{i}]") if op == "linear" else None,
        store=lambda i, value: f"x[{i}] = {value};",
        length="n",
        parameters=(pointer("x", kind, const=False), pointer("a", kind), pointer("last", kind, const=False)),
        initial=initial,
        exclusive=exclusive,
        finish=lambda value: f"last[0] = {value};",
    )
    return Program(scan(problem, SCAN), ("x", "a", "last"), sanitizer)


def sequential(x: np.ndarray, op: str, start: float, factor: np.ndarray) -> np.ndarray:
    """Prefixes with the start in front, in float64."""
    found = [start]
    for a, b in zip(factor.tolist(), x.tolist(), strict=True):
        found.append(a * found[-1] + b if op == "linear" else UFUNC[op](found[-1], b))
    return np.array(found)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize(
    ("kind", "op"), [("float", "+"), ("double", "*"), ("int", "max"), ("long long", "+"), ("double", "linear")]
)
def test_scans_in_place(kind: str, op: str, exclusive: bool) -> None:
    initial = {"linear": "0.5", "max": "-40", "+": "3"}.get(op)
    program = scanned(kind, op, exclusive=exclusive, initial=initial)
    for n in LENGTHS:
        x, a = values(kind, n), values("double", n, 1).clip(-1, 1).astype(TYPES[kind])
        if op == "*":
            x = 1 + 0.01 * x
        result = program({"x": x, "a": a, "last": np.zeros(1, x.dtype)}, {"n": n})
        expected = sequential(x, op, float(initial) if initial else IDENTITY[op], a)
        scale = 1e-5 * np.abs(x.astype("f8")).sum() if kind == "float" else 1e-11
        assert np.allclose(result["x"], expected[:-1] if exclusive else expected[1:], rtol=1e-11, atol=scale)
        assert np.allclose(result["last"], expected[-1], rtol=1e-11, atol=scale)


@given(st.integers(0, 3000), st.integers(0, 99))
def test_any_length(n: int, seed: int) -> None:
    x = values("long long", n, seed)
    program = scanned("long long", "+", exclusive=False)
    assert np.array_equal(program({"x": x, "a": x, "last": np.zeros(1, "i8")}, {"n": n})["x"], np.cumsum(x))


@pytest.mark.parametrize(("kind", "op"), [("double", "linear"), ("float", "min")])
def test_scan_races(kind: str, op: str) -> None:
    x = values(kind, 1500)
    program = scanned(kind, op, exclusive=False, sanitizer="thread")
    found = program({"x": x, "a": x, "last": np.zeros(1, x.dtype)}, {"n": 1500})["x"]
    if op == "min":
        assert np.array_equal(found, np.minimum.accumulate(x))


def test_configurations_without_a_kernel() -> None:
    with pytest.raises(ConfigurationError, match="whole warps"):
        reduction("int", GridReduction(100), of("int", "+"))
    with pytest.raises(ConfigurationError, match="integer type"):
        reduction("float", GRID, of("float", "&&"))
