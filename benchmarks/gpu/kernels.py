"""Check and time the tuned kernel texts on one NVIDIA GPU, beside cuBLAS, CUB and a device-to-device copy.

    python benchmarks/gpu/kernels.py [--only contraction,reduction] [--out DIR]

Needs cupy. Prints one table; DIR/kernels.json gets every sample. Times are medians over events of single calls, the L2 cache
flushed before each by a write long enough to hide launches. Results are compared with float64 (or integer) references on
fresh random data; a wrong result is marked WRONG and ends with exit status 1. Nothing here passes or fails by speed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import cupy
import kernel_cases
import numpy

from cudaperf.engine.plan import IntArg, Launch, PointerArg, ScalarArg
from cudaperf.engine.size import evaluate
from cudaperf.engine.strategies.cp import cp_header
from cudaperf.engine.strategies.kernels.kernel import ConfigurationError, Kernels

PRELUDE = Path(__file__).parents[2] / "engine/cudaperf/engine/toolchain/prelude.cuh"
FLUSH_BYTES = 1 << 30


@dataclass
class Row:
    """One line of the table; `rate` is in `unit` (TFLOP/s or TB/s), `baseline` the same for the library or the copy."""

    case: str
    variant: str
    seconds: float
    rate: float
    unit: str
    baseline: float
    error: float
    bound: float
    registers: list[int] = field(default_factory=list)
    samples: list[float] = field(default_factory=list)

    @property
    def right(self) -> bool:
        return self.error <= self.bound


class Program:
    """Kernels compiled for the present device, with the buffers and sizes they run on."""

    def __init__(self, kernels: Kernels, arrays: dict[str, Any], sizes: dict[str, int]) -> None:
        header = PRELUDE.read_text() + cp_header(kernels.device_code)
        module = cupy.RawModule(code=header + kernels.device_code, options=("-std=c++17",))
        self.functions = {kernel.name: module.get_function(kernel.name) for kernel in kernels.kernels}
        self.arrays = dict(arrays)
        self.sizes = sizes
        for temporary in kernels.temporaries:
            count = evaluate(temporary.count, sizes)
            self.arrays[temporary.name] = cupy.empty(count, dtype=DTYPES[temporary.type])
        self.calls = [call for step in kernels.steps() if (call := self._prepare(step))]

    def _prepare(self, launch: Launch) -> tuple[Any, tuple[int, ...], tuple[int, ...], tuple[Any, ...], int] | None:
        grid = tuple(evaluate(part, self.sizes) for part in launch.grid)
        block = tuple(evaluate(part, self.sizes) for part in launch.block)
        shared = evaluate(launch.shared, self.sizes)
        function = self.functions[launch.kernel]
        if shared > 48 * 1024:
            function.max_dynamic_shared_size_bytes = shared
        return (function, grid, block, tuple(map(self._argument, launch.args)), shared) if min(grid) > 0 else None

    def _argument(self, argument: PointerArg | IntArg | ScalarArg) -> Any:
        match argument:
            case PointerArg(buffer=buffer):
                return self.arrays[buffer]
            case IntArg(value=value):
                return numpy.int64(evaluate(value, self.sizes))
            case ScalarArg(name=name):
                return numpy.int64(self.sizes[name])

    @property
    def registers(self) -> list[int]:
        return [function.num_regs for function in self.functions.values()]

    def __call__(self) -> None:
        for function, grid, block, arguments, shared in self.calls:
            function(grid, block, arguments, shared_mem=shared)


DTYPES = {
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "unsigned int": "uint32",
    "long": "int64",
    "long long": "int64",
    "unsigned long long": "uint64",
}


def timed(call: Callable[[], object], repeats: int) -> list[float]:
    """Seconds of each call by device events, caches flushed before it."""
    flush = cupy.empty(FLUSH_BYTES, dtype=cupy.uint8)
    samples = []
    for _ in range(repeats + 2):
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        flush.fill(len(samples) % 251)
        start.record()
        call()
        stop.record()
        stop.synchronize()
        samples.append(cupy.cuda.get_elapsed_time(start, stop) / 1e3)
    return samples[2:]


def copy_rate() -> float:
    """Bytes read and written a second by a large device-to-device copy."""
    source = cupy.random.random(1 << 28, dtype=cupy.float64)
    target = cupy.empty_like(source)
    seconds = float(numpy.median(timed(lambda: cupy.copyto(target, source), 10)))
    return 2 * source.nbytes / seconds


def run(case: kernel_cases.Case, copy: float, repeats: int) -> Iterator[Row]:
    """A row for each variant of the case, then one for its library baseline."""
    arrays, sizes = case.data()
    scale = 1e12
    library = float(numpy.median(timed(lambda: case.library(arrays), repeats))) if case.library else None
    baseline = case.work / library if library and case.unit == "TFLOP/s" else copy
    for build in case.variants:
        kernels = build()
        try:
            program = Program(kernels, arrays, sizes)
            error, bound = case.check(arrays, program)
            samples = timed(program, repeats)
        except (cupy.cuda.compiler.CompileException, cupy.cuda.driver.CUDADriverError, ConfigurationError) as problem:
            print(f"{case.name}: {kernels.schedule}: {problem}", file=sys.stderr)
            continue
        seconds = float(numpy.median(samples))
        rate, unit = case.work / seconds / scale, case.unit
        yield Row(case.name, kernels.schedule, seconds, rate, unit, baseline / scale, error, bound, program.registers, samples)
    if library:
        yield Row(case.name, case.library_name, library, case.work / library / scale, case.unit, baseline / scale, 0.0, 0.0)


def line(row: Row) -> str:
    """The row as printed; the percentage is of the baseline's rate."""
    share = f"{100 * row.rate / row.baseline:5.1f} %{'' if row.right else ' WRONG'}"
    figures = f"{row.seconds * 1e6:10.1f} us {row.rate:7.2f} {row.unit:8}{share}"
    return f"{row.case:34} {row.variant:58} {figures} error {row.error:.1e} registers {row.registers}"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", help="families, separated by commas")
    options.add_argument("--out", type=Path, default=Path("."))
    options.add_argument("--repeats", type=int, default=15)
    chosen = options.parse_args()
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    copy = copy_rate()
    print(f"{properties['name'].decode()}, driver {cupy.cuda.runtime.driverGetVersion()}, copy {copy / 1e12:.2f} TB/s")
    rows: list[Row] = []
    for case in kernel_cases.cases(set(filter(None, chosen.only.split(",")))):
        for row in run(case, copy, chosen.repeats):
            rows.append(row)
            print(line(row), flush=True)
        cupy.get_default_memory_pool().free_all_blocks()
    (chosen.out / "kernels.json").write_text(json.dumps([asdict(row) for row in rows], indent=1))
    return 0 if all(row.right for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
