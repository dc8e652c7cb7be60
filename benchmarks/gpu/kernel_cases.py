"""The cases of benchmarks/gpu/kernels.py: data, variants, references and the work that each moves or computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import cupy

from cudaperf.engine.plan import PointerArg, ScalarArg
from cudaperf.engine.strategies.kernels.accumulate import Accumulator, Reduced
from cudaperf.engine.strategies.kernels.contraction import Contraction, Operand, Output, Tiling, contraction
from cudaperf.engine.strategies.kernels.histogram import Histogram, HistogramShape, histogram
from cudaperf.engine.strategies.kernels.kernel import Access, Kernels, Parameter
from cudaperf.engine.strategies.kernels.reduction import GridReduction, Reduction, grid_reduction
from cudaperf.engine.strategies.kernels.reduction_rows import RowReduction, RowShape, row_reduction
from cudaperf.engine.strategies.kernels.scan import Scan, ScanShape, scan
from cudaperf.engine.strategies.kernels.stencil import Field, Read, Stencil, StencilShape, stencil
from cudaperf.engine.strategies.kernels.transpose import Transpose, TransposeShape, transpose

Arrays = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """`work` is flops or compulsory bytes; `check(arrays, run)` runs the kernels and gives the error and its bound."""

    name: str
    unit: str
    work: float
    data: Callable[[], tuple[Arrays, dict[str, int]]]
    variants: Sequence[Callable[[], Kernels]]
    check: Callable[[Arrays, Callable[[], None]], tuple[float, float]]
    library: Callable[[Arrays], object] | None = None
    library_name: str = ""


def pointer(name: str, kind: str, *, const: bool = True) -> Parameter:
    return Parameter(f"{'const ' if const else ''}{kind} *__restrict__ {name}", PointerArg(buffer=name))


def number(name: str) -> Parameter:
    return Parameter(f"long long {name}", ScalarArg(name=name))


def _dtype(kind: str) -> Any:
    return {"float": cupy.float32, "double": cupy.float64, "int": cupy.int32}[kind]


def random(kind: str, *shape: int) -> Any:
    return cupy.random.standard_normal(shape, dtype=_dtype(kind))


def relative(found: Any, expected: Any) -> float:
    """The norm of the difference over the norm of the reference; NaN never passes."""
    difference = cupy.linalg.norm((found.astype(cupy.float64) - expected).ravel())
    error = float(difference / (cupy.linalg.norm(expected.ravel()) + 1e-300))
    return error if error == error else float("inf")


def poison(array: Any) -> None:
    array.fill(-77 if array.dtype.kind in "iu" else float("nan"))


def cases(families: set[str]) -> Iterator[Case]:
    """All cases, or those of the named families."""
    every = {
        "contraction": contractions,
        "reduction": reductions,
        "rows": rows,
        "scan": scans,
        "transpose": transposes,
        "stencil": stencils,
        "histogram": histograms,
    }
    for name, family in every.items():
        if not families or name in families:
            yield from family()


# --- contraction -------------------------------------------------------------------------------------------------------

DOUBLE = (
    Tiling(128, 128, 32, 64, 32, "mma16", 2),
    Tiling(64, 64, 16, 32, 32, "mma16", 3),
    Tiling(64, 64, 16, 32, 32, "mma16", 3, spread=True),
    Tiling(64, 64, 32, 32, 32, "mma16", 2),
    Tiling(64, 64, 32, 32, 32, "mma16", 2, spread=True),
    Tiling(64, 64, 32, 32, 32, "mma16", 3, spread=True),
    Tiling(128, 128, 16, 64, 32, "mma16", 3),
    Tiling(128, 128, 16, 64, 32, "mma16", 3, spread=True),
    Tiling(128, 128, 32, 64, 32, "mma16", 2, spread=True),
    Tiling(128, 64, 16, 64, 32, "mma16", 3, spread=True),
    Tiling(128, 64, 32, 32, 32, "mma16", 2, spread=True),
    Tiling(128, 128, 16, 32, 32, "mma16", 3, spread=True),
    Tiling(64, 64, 16, 32, 32, "mma", 3, spread=True),
    Tiling(128, 64, 8, 8, 4),
)
FLOAT = (
    Tiling(128, 128, 16, 8, 8, "fma", 2),
    Tiling(128, 128, 16, 8, 8, "fma", 3),
    Tiling(128, 128, 16, 8, 8, "fma", 2, spread=True),
    Tiling(128, 128, 16, 8, 8, "fma", 4),
    Tiling(128, 128, 16, 64, 32, "tf32x3", 3),
    Tiling(128, 128, 16, 64, 32, "tf32x3", 3, spread=True),
    Tiling(128, 128, 16, 32, 32, "tf32x3", 3, spread=True),
    Tiling(128, 64, 16, 32, 32, "tf32x3", 3),
    Tiling(128, 64, 16, 32, 32, "tf32x3", 3, spread=True),
    Tiling(128, 64, 32, 32, 32, "tf32x3", 2),
    Tiling(64, 64, 32, 32, 32, "tf32x3", 3),
    Tiling(128, 64, 16, 64, 32, "tf32x3", 3),
)


def product(kind: str, tile: Tiling, *, ta: bool = False, tb: bool = False) -> Kernels:
    """C = A B with A and B stored as they are or transposed."""
    a = Access("A", (lambda i, k: f"{k} * M + {i}") if ta else (lambda i, k: f"{i} * K + {k}"))
    b = Access("B", (lambda k, j: f"{j} * K + {k}") if tb else (lambda k, j: f"{k} * N + {j}"))
    problem = Contraction(
        name="product",
        type=kind,
        a=Operand(a, kind, "first" if ta else "second"),
        b=Operand(b, kind, "first" if tb else "second"),
        c=Output(Access("C", lambda i, j: f"{i} * N + {j}"), kind),
        m="M",
        n="N",
        k="K",
        parameters=(
            pointer("A", kind),
            pointer("B", kind),
            pointer("C", kind, const=False),
            *map(number, "MNK"),
        ),
    )
    return contraction(problem, tile)


def contractions() -> Iterator[Case]:
    yield _product("double", (2048, 2048, 2048), DOUBLE)
    yield _product("double", (4096, 4096, 4096), DOUBLE)
    yield _product("double", (2047, 1999, 2051), DOUBLE[:4])
    yield _product("double", (2048, 2048, 2048), DOUBLE[:4], ta=True)
    yield _product("double", (2048, 2048, 2048), DOUBLE[:4], tb=True)
    yield _product("double", (200, 200, 200), DOUBLE[:4])
    yield _product("float", (4096, 4096, 4096), FLOAT)
    yield _product("float", (2048, 2048, 2048), FLOAT)
    yield _product("float", (4095, 4001, 4099), FLOAT[1::4])
    yield _product("float", (4096, 4096, 4096), FLOAT[1::4], ta=True)
    yield _product("float", (4096, 4096, 4096), FLOAT[1::4], tb=True)


def _product(kind: str, size: tuple[int, int, int], tiles: Sequence[Tiling], *, ta: bool = False, tb: bool = False) -> Case:
    m, n, k = size

    def data() -> tuple[Arrays, dict[str, int]]:
        a, b = random(kind, *((k, m) if ta else (m, k))), random(kind, *((n, k) if tb else (k, n)))
        return {"A": a, "B": b, "C": cupy.empty((m, n), _dtype(kind))}, {"M": m, "N": n, "K": k}

    def operands(arrays: Arrays) -> tuple[Any, Any]:
        return (arrays["A"].T if ta else arrays["A"]), (arrays["B"].T if tb else arrays["B"])

    def check(arrays: Arrays, run: Callable[[], None]) -> tuple[float, float]:
        poison(arrays["C"])
        run()
        a, b = operands(arrays)
        expected = a.astype(cupy.float64) @ b.astype(cupy.float64)
        return relative(arrays["C"], expected), 1e-14 if kind == "double" else 1e-5

    return Case(
        name=f"{kind} {m}x{n}x{k} {'T' if ta else 'N'}{'T' if tb else 'N'}",
        unit="TFLOP/s",
        work=2.0 * m * n * k,
        data=data,
        variants=[lambda tile=tile: product(kind, tile, ta=ta, tb=tb) for tile in tiles],
        check=check,
        library=lambda arrays: cupy.dot(*operands(arrays), out=arrays["C"]),
        library_name="cuBLAS",
    )


# --- reductions --------------------------------------------------------------------------------------------------------


def _store(results: Sequence[Reduced]) -> str:
    return "\n".join(f"out[{n}] = {result.at or result.value};" for n, result in enumerate(results))


def _reduction(kind: str, out: str, shape: GridReduction, *accumulators: Accumulator) -> Kernels:
    parameters = pointer("x", kind), pointer("y", kind), pointer("out", out, const=False)
    return grid_reduction(Reduction("total", accumulators, "n", parameters, _store), shape)


SHAPES = (
    GridReduction(256, 8, 1024),
    GridReduction(256, 8, 2048),
    GridReduction(256, 4, 2048),
    GridReduction(512, 8, 2048),
    GridReduction(256, 16, 4096),
)


def reductions() -> Iterator[Case]:
    n = 1 << 28
    for kind in ("float", "double"):
        add = Accumulator(kind, "+", lambda i: f"x[{i}]")
        dot = Accumulator(kind, "+", lambda i: f"x[{i}] * y[{i}]")
        least = Accumulator(kind, "argmin", lambda i: f"x[{i}]")
        eps = 1e-5 if kind == "float" else 1e-12
        size = 4 if kind == "float" else 8
        yield _total(f"sum {kind}", kind, kind, n * size, SHAPES, (add,), lambda x, y: x.astype("f8").sum(), eps, "sum")
        yield _total(
            f"dot {kind}",
            kind,
            kind,
            2 * n * size,
            SHAPES[:2],
            (dot,),
            lambda x, y: cupy.dot(x.astype("f8"), y.astype("f8")),
            eps,
        )
        yield _total(
            f"argmin {kind}", kind, "long long", n * size, SHAPES[:2], (least,), lambda x, y: x.argmin(), 0.0, "argmin"
        )


def _total(
    name: str,
    kind: str,
    out: str,
    work: float,
    shapes: Sequence[GridReduction],
    accumulators: tuple[Accumulator, ...],
    reference: Callable[[Any, Any], Any],
    bound: float,
    library: str | None = None,
) -> Case:
    n = 1 << 28

    def data() -> tuple[Arrays, dict[str, int]]:
        x = cupy.random.random(n, dtype=_dtype(kind))
        y = cupy.random.random(n, dtype=_dtype(kind))
        return {"x": x, "y": y, "out": cupy.empty(1, cupy.int64 if out == "long long" else _dtype(out))}, {"n": n}

    def check(arrays: Arrays, run: Callable[[], None]) -> tuple[float, float]:
        poison(arrays["out"])
        run()
        expected = float(reference(arrays["x"], arrays["y"]))
        return abs(float(arrays["out"][0]) - expected) / max(1.0, abs(expected)), bound

    return Case(
        name=f"{name} 2^28",
        unit="TB/s",
        work=work,
        data=data,
        variants=[lambda shape=shape: _reduction(kind, out, shape, *accumulators) for shape in shapes],
        check=check,
        library=(lambda arrays: getattr(arrays["x"], library)()) if library else None,
        library_name="cupy",
    )


def rows() -> Iterator[Case]:
    for m, n in ((16384, 16384), (1 << 22, 64), (64, 1 << 22)):
        for axis in (1, 0):
            yield _row_case(m, n, axis)


def _row_case(m: int, n: int, axis: int) -> Case:
    """Sums of float rows (axis 1) or columns (axis 0) of an m x n array."""
    outputs, length = ("m", "n") if axis else ("n", "m")
    element = (lambda o, i: f"x[{o} * n + {i}]") if axis else (lambda o, i: f"x[{i} * n + {o}]")

    def build(shape: RowShape) -> Kernels:
        parameters = pointer("x", "float"), pointer("out", "float", const=False), number("m"), number("n")
        store: Callable[[str, Sequence[Reduced]], str] = lambda o, results: f"out[{o}] = {results[0].value};"  # noqa: E731
        return row_reduction(
            RowReduction("sums", (Accumulator("float", "+", element),), outputs, length, parameters, store), shape
        )

    by_row = (
        RowShape("warp", 256, 4),
        RowShape("warp", 256, 4, lanes=16),
        RowShape("warp", 256, 8, lanes=8),
        RowShape("block", 256, 8),
        RowShape("block", 256, 8, 64),
    )
    by_column = (RowShape("columns", 256, 4, 64), RowShape("columns", 256, 4, 1024), RowShape("thread", 128, 8))

    def data() -> tuple[Arrays, dict[str, int]]:
        x = cupy.random.random((m, n), dtype=cupy.float32)
        return {"x": x, "out": cupy.empty(m if axis else n, cupy.float32)}, {"m": m, "n": n}

    def check(arrays: Arrays, run: Callable[[], None]) -> tuple[float, float]:
        poison(arrays["out"])
        run()
        return relative(arrays["out"], arrays["x"].astype("f8").sum(axis=axis)), 1e-4

    return Case(
        name=f"{'row' if axis else 'column'} sums float {m}x{n}",
        unit="TB/s",
        work=4.0 * m * n,
        data=data,
        variants=[lambda shape=shape: build(shape) for shape in (by_row if axis else by_column)],
        check=check,
        library=lambda arrays: arrays["x"].sum(axis=axis),
        library_name="cupy",
    )


# --- scan, transpose, stencil, histogram -------------------------------------------------------------------------------


def scans() -> Iterator[Case]:
    for kind in ("float", "double"):
        yield _scan_case(kind, "+")
    yield _scan_case("double", "linear")


def _scan_case(kind: str, op: Any) -> Case:
    n = 1 << 27

    def build(shape: ScanShape) -> Kernels:
        problem = Scan(
            name="prefix",
            type=kind,
            op=op,
            element=lambda i: f"x[{i}]",
            factor=(lambda i: f"y[{i}]") if op == "linear" else None,
            store=lambda i, value: f"out[{i}] = {value};",
            length="n",
            parameters=(pointer("x", kind), pointer("y", kind), pointer("out", kind, const=False)),
        )
        return scan(problem, shape)

    shapes = (ScanShape(256, 8, 1024), ScanShape(256, 8, 2048), ScanShape(128, 16, 4096)) + (
        () if op == "linear" else (ScanShape(256, 16, 1024),)
    )

    def data() -> tuple[Arrays, dict[str, int]]:
        x, y = cupy.random.random(n, dtype=_dtype(kind)), cupy.random.random(n, dtype=_dtype(kind))
        return {"x": x, "y": y, "out": cupy.empty(n, _dtype(kind))}, {"n": n}

    def check(arrays: Arrays, run: Callable[[], None]) -> tuple[float, float]:
        poison(arrays["out"])
        run()
        x, out = arrays["x"].astype("f8"), arrays["out"]
        if op == "+":
            return relative(out, cupy.cumsum(x)), 1e-5 if kind == "float" else 1e-12
        # the recurrence itself, every element against its neighbour
        return relative(out[1:], arrays["y"][1:] * out[:-1] + x[1:]), 1e-12

    size = 4 if kind == "float" else 8
    return Case(
        name=f"scan {op} {kind} 2^27",
        unit="TB/s",
        work=float((3 if op == "linear" else 2) * n * size),
        data=data,
        variants=[lambda shape=shape: build(shape) for shape in shapes],
        check=check,
        library=(lambda arrays: cupy.cumsum(arrays["x"], out=arrays["out"])) if op == "+" else None,
        library_name="cupy (CUB)",
    )


def transposes() -> Iterator[Case]:
    m, n = 16384, 16000
    for kind in ("float", "double"):

        def build(shape: TransposeShape, kind: str = kind) -> Kernels:
            problem = Transpose(
                name="turn",
                type=kind,
                load=lambda r, c: f"x[{r} * n + {c}]",
                store=lambda r, c, value: f"out[{c} * m + {r}] = {value};",
                rows="m",
                columns="n",
                parameters=(pointer("x", kind), pointer("out", kind, const=False), number("m"), number("n")),
            )
            return transpose(problem, shape)

        def data(kind: str = kind) -> tuple[Arrays, dict[str, int]]:
            return {"x": random(kind, m, n), "out": cupy.empty((n, m), _dtype(kind))}, {"m": m, "n": n}

        def check(arrays: Arrays, run: Callable[[], None]) -> tuple[float, float]:
            poison(arrays["out"])
            run()
            return float(cupy.count_nonzero(arrays["out"] != arrays["x"].T)), 0.0

        shapes = TransposeShape(32, 256), TransposeShape(64, 256), TransposeShape(64, 512), TransposeShape(32, 128)
        yield Case(
            name=f"transpose {kind} {m}x{n}",
            unit="TB/s",
            work=2.0 * m * n * (4 if kind == "float" else 8),
            data=data,
            variants=[lambda shape=shape, build=build: build(shape) for shape in shapes],
            check=check,
            library=lambda arrays: cupy.copyto(arrays["out"], arrays["x"].T),
            library_name="cupy",
        )


STAR2 = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
STAR3 = ((0, 0, 0), (-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1))


def stencils() -> Iterator[Case]:
    shapes2 = StencilShape(16, 64, 256), StencilShape(8, 64, 256), StencilShape(16, 32, 256), StencilShape(32, 32, 256)
    yield _stencil_case((16384, 16384), STAR2, shapes2)
    shapes3 = (
        StencilShape(8, 64, 256, 32),
        StencilShape(8, 64, 256, 32, 5),
        StencilShape(8, 64, 256, 32, 6),
        StencilShape(8, 32, 256, 32),
        StencilShape(4, 64, 256, 32, 6),
        StencilShape(4, 64, 256, 64, 8),
        StencilShape(16, 64, 512, 64, 3),
    )
    yield _stencil_case((640, 640, 640), STAR3, shapes3)


def _stencil_case(extents: tuple[int, ...], offsets: Any, shapes: Sequence[StencilShape]) -> Case:
    """out = 0.5 * centre + 0.1 * the sum of the neighbours, on the interior."""
    dims = len(extents)
    strides = ("ny * nx", "nx", "1")[3 - dims :]
    names = ("nz", "ny", "nx")[3 - dims :]

    def flat(cell: Sequence[str]) -> str:
        return " + ".join(f"({at} + 1) * {stride}" for at, stride in zip(cell, strides, strict=True))

    def body(cell: tuple[str, ...], read: Read) -> str:
        neighbours = " + ".join(read("x", offset) for offset in offsets[1:])
        return f"out[{flat(cell)}] = 0.5 * {read('x', offsets[0])} + 0.1 * ({neighbours});"

    def build(shape: StencilShape) -> Kernels:
        field = Field("x", "double", lambda *cell: f"x[{flat(cell)}]", offsets)
        parameters = pointer("x", "double"), pointer("out", "double", const=False), *map(number, names)
        return stencil(Stencil("smooth", (field,), tuple(f"{name} - 2" for name in names), body, parameters), shape)

    def data() -> tuple[Arrays, dict[str, int]]:
        arrays = {"x": random("double", *extents), "out": cupy.empty(extents)}
        return arrays, dict(zip(names, extents, strict=True))

    def check(arrays: Arrays, run: Callable[[], None]) -> tuple[float, float]:
        poison(arrays["out"])
        run()
        x = arrays["x"]
        inner = tuple(slice(1, -1) for _ in extents)
        shifted = [
            x[tuple(slice(1 + o, extent - 1 + o) for o, extent in zip(offset, extents, strict=True))] for offset in offsets[1:]
        ]
        return relative(arrays["out"][inner], 0.5 * x[inner] + 0.1 * sum(shifted)), 1e-14

    cells = 1
    for extent in extents:
        cells *= extent
    return Case(
        name=f"{len(offsets)}-point stencil double {dims}D",
        unit="TB/s",
        work=16.0 * cells,
        data=data,
        variants=[lambda shape=shape: build(shape) for shape in shapes],
        check=check,
    )


def histograms() -> Iterator[Case]:
    atomic = HistogramShape(512, 1024), HistogramShape(1024, 1024), HistogramShape(256, 1024)
    ordered = HistogramShape(128, 2048, ordered=True), HistogramShape(64, 4096, ordered=True)
    for bins in (256, 4096, 1 << 20):
        yield _histogram_case("int", bins, atomic)
    for bins in (256, 4096):
        yield _histogram_case("double", bins, (*ordered, *atomic[:1]))


def _histogram_case(kind: str, bins: int, shapes: Sequence[HistogramShape]) -> Case:
    n = 1 << 26
    weighted = kind == "double"

    def build(shape: HistogramShape) -> Kernels:
        problem = Histogram(
            name="bins",
            type=kind,
            bin=lambda i: f"x[{i}]",
            target=lambda b: f"out[{b}]",
            weight=(lambda i: f"w[{i}]") if weighted else (lambda i: "1"),
            length="n",
            bins="bins",
            parameters=(pointer("x", "int"), pointer("w", "double"), pointer("out", kind, const=False)),
        )
        return histogram(problem, shape)

    def data() -> tuple[Arrays, dict[str, int]]:
        x = cupy.random.randint(0, bins, n, dtype=cupy.int32)
        w = cupy.random.random(n if weighted else 1)
        return {"x": x, "w": w, "out": cupy.zeros(bins, _dtype(kind))}, {"n": n, "bins": bins}

    def check(arrays: Arrays, run: Callable[[], None]) -> tuple[float, float]:
        arrays["out"].fill(0)
        run()
        expected = cupy.bincount(arrays["x"], arrays["w"] if weighted else None, bins).astype("f8")
        return relative(arrays["out"], expected), 1e-12 if weighted else 0.0

    return Case(
        name=f"histogram {kind} {bins} bins 2^26",
        unit="TB/s",
        work=float(n * (12 if weighted else 4)),
        data=data,
        variants=[lambda shape=shape: build(shape) for shape in shapes],
        check=check,
        library=lambda arrays: cupy.bincount(arrays["x"], arrays["w"] if weighted else None, bins),
        library_name="cupy",
    )
