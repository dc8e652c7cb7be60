"""Every generator's text compiles for the oldest and the newest architecture without a warning."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from kernel_samples import number, pointer, product

from cudaperf.engine.strategies.cp import cp_header
from cudaperf.engine.strategies.kernels.accumulate import Accumulator, Op
from cudaperf.engine.strategies.kernels.contraction import Tiling, contraction, tilings
from cudaperf.engine.strategies.kernels.histogram import Histogram, HistogramShape, histogram
from cudaperf.engine.strategies.kernels.kernel import SIZES, Kernels
from cudaperf.engine.strategies.kernels.reduction import GridReduction, Reduction, grid_reduction
from cudaperf.engine.strategies.kernels.reduction_rows import RowReduction, RowShape, row_reduction
from cudaperf.engine.strategies.kernels.scan import Scan, ScanShape, scan
from cudaperf.engine.strategies.kernels.scan_steps import ScanOp
from cudaperf.engine.strategies.kernels.stencil import Field, Stencil, StencilShape, stencil
from cudaperf.engine.strategies.kernels.transpose import Transpose, TransposeShape, transpose


def contractions() -> Iterator[Kernels]:
    for kind in ("float", "double", "int"):
        for tile in dict.fromkeys((*tilings(kind, 75), *tilings(kind, 80), *tilings(kind, 90))):
            yield contraction(product(kind, "NTN"), tile)
    yield contraction(product("float", "TNT"), Tiling(128, 128, 16, 64, 32, "tf32x3", 3, spread=True))
    problem = product("double", batches="P", k_range=("cp_j0", "cp_i1"))
    a = replace(problem.a, type="float", guard=lambda i, k: f"{k} <= {i}")
    yield contraction(replace(problem, a=a), Tiling(64, 64, 16, 4, 4))


def reductions() -> Iterator[Kernels]:
    operations: tuple[Op, ...] = ("+", "*", "min", "max", "argmin", "argmax")
    for kind in SIZES:
        accumulators = [Accumulator(kind, op, lambda *i: "x[" + " + ".join(i) + "]") for op in operations]
        if kind not in ("float", "double"):
            accumulators += [Accumulator(kind, "&&", lambda *i: "1"), Accumulator(kind, "||", lambda *i: "0")]
        parameters = pointer("x", kind), pointer("out", "double", const=False)
        for accumulator in accumulators:
            problem = Reduction("r", (accumulator,), "n", parameters, lambda results: f"out[0] = (double){results[0].value};")
            yield grid_reduction(problem, GridReduction())
    rows = RowReduction(
        "rows",
        (Accumulator("double", "+", lambda o, i: f"x[{o} * n + {i}]"), Accumulator("int", "+", lambda o, i: "1")),
        "m",
        "n",
        (pointer("x", "double"), pointer("out", "double", const=False), number("n")),
        lambda o, results: f"out[{o}] = {results[0].value} / {results[1].value};",
    )
    for shape in (
        RowShape("thread"),
        RowShape("warp", lanes=8),
        RowShape("block", split=64),
        RowShape("columns", split=64),
        RowShape("columns"),
    ):
        yield row_reduction(rows, shape)


def tiles() -> Iterator[Kernels]:
    operations: tuple[ScanOp, ...] = ("+", "min", "linear")
    for op in operations:
        yield scan(
            Scan(
                name="s",
                type="double",
                op=op,
                element=lambda i: f"x[{i}]",
                store=lambda i, value: f"x[{i}] = {value};",
                length="n",
                parameters=(pointer("x", "double", const=False),),
                factor=(lambda i: "0.5") if op == "linear" else None,
                exclusive=op == "min",
            ),
            ScanShape(256, 8),
        )
    both = pointer("x", "float"), pointer("out", "float", const=False)
    yield transpose(
        Transpose("t", "float", lambda r, c: f"x[{r} * 9 + {c}]", lambda r, c, v: f"out[{c} * 9 + {r}] = {v};", "9", "9", both),
        TransposeShape(),
    )
    for dims, shape in ((2, StencilShape()), (3, StencilShape(8, 64, 256, 32, 4))):
        centre = (0,) * dims
        field = Field("x", "float", lambda *cell: f"x[{cell[-1]} + 1]", (centre, (1, *centre[1:]), (*centre[1:], -1)))
        yield stencil(
            Stencil("g", (field,), ("n",) * dims, lambda cell, read: f"out[{cell[-1]}] = {read('x', (0,) * len(cell))};", both),
            shape,
        )
    for kind, ordered in (("int", False), ("long", False), ("float", False), ("double", True)):
        out = pointer("x", "int"), pointer("out", kind, const=False)
        problem = Histogram("h", kind, lambda i: f"x[{i}]", lambda b: f"out[{b}]", "n", "b", out)
        yield histogram(problem, HistogramShape(128, 64, ordered=ordered))


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize("architecture", [75, 90, 120])
@pytest.mark.parametrize("family", [contractions, reductions, tiles])
def test_compiles_without_warnings(family: object, architecture: int, tmp_path: Path) -> None:
    assert callable(family)
    texts = []
    for count, kernels in enumerate(family()):
        if max(kernel.architecture for kernel in kernels.kernels) > architecture:
            continue
        text = kernels.device_code
        for name in sorted({kernel.name for kernel in kernels.kernels}, key=len, reverse=True):
            text = re.sub(rf"\b{name}(?=\b|_shared\b)", f"k{count}_{name}", text)
        texts.append(text)
    code = "".join(texts)
    source = tmp_path / "kernels.cu"
    source.write_text(cp_header(code) + code)
    command = ["nvcc", f"-arch=sm_{architecture}", "-Werror", "all-warnings", "-cubin", "-o", str(tmp_path / "k"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
