"""Compares the theoretical occupancy of `toolchain.occupancy` with what a GPU's driver computes for the same kernels.

Run on a machine with a GPU and nvcc: python3 benchmarks/confirm_occupancy.py [--out FILE.json]. Builds kernels of many register
counts, static shared sizes, named barriers and launch bounds for the device's architecture, asks the driver
(`cuOccupancyMaxActiveBlocksPerMultiprocessor`) for every block size and dynamic shared size, and prints how many answers agree
and which differ. It also compares ptxas's report with the driver's account of each kernel, and the device table with the
device. Elsewhere `--dry-run` builds everything and computes this side alone. Launches nothing and measures no speed.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "engine"))

from cudaperf.engine.extras import install  # noqa: E402
from cudaperf.engine.toolchain import nvcc, ptxas  # noqa: E402
from cudaperf.engine.toolchain.devices import (  # noqa: E402
    STATIC_SHARED_LIMIT,
    Architecture,
    UnknownArchitecture,
    nearest,
    parse_architecture,
)
from cudaperf.engine.toolchain.find import find_gpu, find_nvcc  # noqa: E402
from cudaperf.engine.toolchain.occupancy import occupancy  # noqa: E402

LIVE: Final = tuple(range(1, 249, 4))
"""Values that a kernel keeps in registers; ptxas needs a few more."""
STATIC: Final = (1, 128, 1000, 4096, 8192, 12345, 16384, 24576, 32768, 40000, STATIC_SHARED_LIMIT)
BARRIERS: Final = (2, 3, 4, 8, 15, 16)
BOUNDS: Final = ((1024, 1), (1024, 2), (512, 3), (256, 8), (128, 5), (64, 32))
"""Threads a block and blocks a multiprocessor of `__launch_bounds__`."""
DYNAMIC: Final = (0, 1, 100, 127, 128, 129, 1024, 3000, 7168, 10000, 16384, 32768, 49152, 65536, 76800, 100000, 115712, 163840)
BLOCKS: Final = tuple(sorted({1, 7, 31, 33, 48, 63, 65, 95, 97, 100, 127, 129, 200, 255, 257, 300, 500, 513, 777, 1000, 1023}
                             | set(range(32, 1025, 32))))  # fmt: skip
SHOWN: Final = 30
PARTS: Final = 8

WORK: Final = """
template <int LIVE, int SHARED>
__device__ __forceinline__ void work(float *out, const float *in, int steps)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float values[LIVE];
#pragma unroll
    for (int i = 0; i < LIVE; i++)
        values[i] = in[thread + i * 4096];
    if constexpr (SHARED > 0) {
        __shared__ unsigned char held[SHARED];
        held[thread % SHARED] = (unsigned char)steps;
        __syncthreads();
        values[0] += held[(thread * 7) % SHARED];
    }
    for (int s = 0; s < steps; s++)
#pragma unroll
        for (int i = 0; i < LIVE; i++)
            values[i] = values[i] * values[(i + 1) % LIVE] + 1.0f;
#pragma unroll
    for (int i = 0; i < LIVE; i++)
        out[thread + i * 4096] = values[i];
}
"""


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel to build. `threads` is the largest block that its launch bounds allow."""

    name: str
    text: str
    threads: int = 1024


@dataclass(frozen=True, slots=True)
class Difference:
    """A launch for which the two answers differ, in blocks that reside on a multiprocessor."""

    kernel: str
    registers: int
    static: int
    dynamic: int
    barriers: int
    threads: int
    ours: int
    driver: int


def kernels() -> list[Kernel]:
    return [
        *(_kernel(f"live{live}", live, 0) for live in LIVE),
        *(_kernel(f"static{bytes_}", 4, bytes_) for bytes_ in STATIC),
        *(_kernel(f"both{live}_{bytes_}", live, bytes_) for live in (60, 150) for bytes_ in (3000, 20000)),
        *(_kernel(f"barriers{count}", 4, 0, barriers=count) for count in BARRIERS),
        *(_kernel(f"bounds{threads}_{blocks}", 120, 0, (threads, blocks)) for threads, blocks in BOUNDS),
    ]


def _kernel(name: str, live: int, shared: int, bounds: tuple[int, int] | None = None, barriers: int = 0) -> Kernel:
    bound = f" __launch_bounds__({bounds[0]}, {bounds[1]})" if bounds else ""
    waits = "".join(f' asm volatile("bar.sync {barrier};");' for barrier in range(barriers))
    head = f'extern "C" __global__ void{bound} {name}(float *out, const float *in, int steps)'
    return Kernel(name, f"{head}\n{{\n   {waits} work<{live}, {shared}>(out, in, steps);\n}}\n", bounds[0] if bounds else 1024)


def build(row: Architecture, compiler: Path, jobs: int) -> list[tuple[bytes, tuple[ptxas.PtxasReport, ...]]]:
    """Machine code and ptxas's report, in parts that compile side by side."""
    every = kernels()

    def one(part: int) -> tuple[bytes, tuple[ptxas.PtxasReport, ...]]:
        text = WORK + "".join(kernel.text for kernel in every[part::PARTS])
        compiled = nvcc.compile_cubin(compiler, text, row.capability, ["-std=c++17"])
        if not compiled.cubin:
            raise SystemExit(f"nvcc does not compile the kernels:\n{compiled.log}")
        return compiled.cubin, ptxas.parse(compiled.log)

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, range(PARTS)))


def ours(row: Architecture, report: ptxas.PtxasReport, threads: int, dynamic: int) -> int:
    """The calculator's blocks a multiprocessor."""
    return occupancy(row, threads, report.registers, report.shared_bytes + dynamic, report.barriers).blocks


def launches(row: Architecture, report: ptxas.PtxasReport, most: int) -> Iterator[tuple[int, int]]:
    """Block sizes and dynamic shared sizes to ask for, one of each beyond what fits."""
    left = row.shared_per_block - report.shared_bytes
    sizes = sorted({d for d in DYNAMIC if d <= left} | {left})
    yield from ((threads, dynamic) for threads in BLOCKS if threads <= most for dynamic in sizes)


class Driver:
    """libcuda with a context on device 0."""

    LIMITS: Final = {
        "max_threads_per_sm": 39, "max_blocks_per_sm": 106, "shared_per_sm": 81, "shared_per_block": 97,
        "reserved_shared": 111, "registers_per_sm": 82, "registers_per_block": 12,
    }  # fmt: skip
    """Numbers of CUdevice_attribute in cuda.h, by their names in the device table."""
    MAX_THREADS, STATIC, LOCAL, REGISTERS, MAX_DYNAMIC = 0, 1, 3, 4, 8
    """Numbers of CUfunction_attribute in cuda.h."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self._call("cuInit", 0)
        self._device, context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuDeviceGet", ctypes.byref(self._device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self._call("cuCtxSetCurrent", context)

    def limit(self, name: str) -> int:
        value = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(value), self.LIMITS[name], self._device)
        return value.value

    def functions(self, code: bytes, names: list[str]) -> dict[str, ctypes.c_void_p]:
        module = ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(module), code)
        found = {}
        for name in names:
            function = ctypes.c_void_p()
            self._call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
            found[name] = function
        return found

    def attribute(self, function: ctypes.c_void_p, which: int) -> int:
        value = ctypes.c_int()
        self._call("cuFuncGetAttribute", ctypes.byref(value), which, function)
        return value.value

    def allow(self, function: ctypes.c_void_p, dynamic: int) -> None:
        """Opt in to dynamic shared memory above 48 KiB."""
        self._call("cuFuncSetAttribute", function, self.MAX_DYNAMIC, dynamic)

    def blocks(self, function: ctypes.c_void_p, threads: int, dynamic: int) -> int:
        count = ctypes.c_int()
        name = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        self._call(name, ctypes.byref(count), function, threads, ctypes.c_size_t(dynamic))
        return count.value

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorName(status, ctypes.byref(text))
            raise SystemExit(f"{name}: {(text.value or b'?').decode()} ({status})")


def compare(
    driver: Driver, row: Architecture, function: ctypes.c_void_p, report: ptxas.PtxasReport, most: int
) -> tuple[int, list[Difference]]:
    """How many launches of a kernel were asked for, and those whose answers differ."""
    driver.allow(function, row.shared_per_block - report.shared_bytes)
    count, found = 0, []
    for threads, dynamic in launches(row, report, most):
        count += 1
        mine, theirs = ours(row, report, threads, dynamic), driver.blocks(function, threads, dynamic)
        if mine != theirs:
            figures = (report.registers, report.shared_bytes, dynamic, report.barriers)
            found.append(Difference(report.kernel, *figures, threads, mine, theirs))
    return count, found


def account(driver: Driver, function: ctypes.c_void_p, report: ptxas.PtxasReport) -> list[str]:
    """Where the driver's figures of a kernel are not those that ptxas reported."""
    pairs = (
        ("registers", report.registers, driver.REGISTERS),
        ("static shared bytes", report.shared_bytes, driver.STATIC),
        ("local bytes", report.stack_bytes, driver.LOCAL),
    )
    told = [(name, mine, driver.attribute(function, which)) for name, mine, which in pairs]
    return [f"{report.kernel}: {name}: ptxas {mine}, driver {theirs}" for name, mine, theirs in told if mine != theirs]


def dry(row: Architecture, built: list[tuple[bytes, tuple[ptxas.PtxasReport, ...]]]) -> int:
    bounds = {kernel.name: kernel.threads for kernel in kernels()}
    reports = [report for _, part in built for report in part]
    answers = [ours(row, r, *launch) for r in reports for launch in launches(row, r, bounds[r.kernel])]
    registers = sorted({report.registers for report in reports})
    print(f"registers: {' '.join(map(str, registers))}")
    print(f"sm_{row.capability}: {len(answers)} launches of {len(reports)} kernels computed, {answers.count(0)} do not fit")
    return 0


def confirm(row: Architecture, built: list[tuple[bytes, tuple[ptxas.PtxasReport, ...]]], out: Path | None, device: str) -> int:
    bounds = {kernel.name: kernel.threads for kernel in kernels()}
    driver = Driver()
    limits = {name: (getattr(row, name), driver.limit(name)) for name in driver.LIMITS}
    wrong = [f"device table: {name}: ours {mine}, driver {theirs}" for name, (mine, theirs) in limits.items() if mine != theirs]
    count, number = 0, 0
    found: list[Difference] = []
    figures: list[str] = []
    for code, reports in built:
        functions = driver.functions(code, [report.kernel for report in reports])
        for report in reports:
            figures += account(driver, functions[report.kernel], report)
            asked, different = compare(driver, row, functions[report.kernel], report, bounds[report.kernel])
            count, number, found = count + asked, number + 1, found + different
    print(*wrong, *figures, *(f"differs: {asdict(each)}" for each in found[:SHOWN]), sep="\n")
    if len(found) > SHOWN:
        print(f"... and {len(found) - SHOWN} more that differ")
    print(f"device table: {len(limits) - len(wrong)} of {len(limits)} limits agree")
    print(f"ptxas's report: {number - len({line.split(':')[0] for line in figures})} of {number} kernels agree")
    print(f"occupancy on {device}, sm_{row.capability}: {count - len(found)} of {count} launches of {number} kernels agree")
    if out is not None:
        document = {
            "device": device, "architecture": row.capability, "kernels": number, "launches": count,
            "agree": count - len(found), "table": wrong, "figures": figures, "differ": [asdict(each) for each in found],
        }  # fmt: skip
        out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 1 if found or wrong or figures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="file for the answers, as JSON")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--nvcc", type=Path, help="compiler in place of the one found")
    parser.add_argument("--arch", default="sm_90", help="with --dry-run: what to build for")
    parser.add_argument("--dry-run", action="store_true", help="build and compute, ask no driver")
    arguments = parser.parse_args()
    tool, gpu = find_nvcc(), None if arguments.dry_run else find_gpu()
    compiler = arguments.nvcc or (tool.path if tool else None)
    if compiler is None:
        raise SystemExit(f"no nvcc here: {install('compiler')}, or --nvcc PATH")
    if gpu is None and not arguments.dry_run:
        raise SystemExit("no GPU here: --dry-run builds and computes without one")
    try:
        row = nearest(gpu.capability) if gpu else parse_architecture(arguments.arch)
    except UnknownArchitecture as error:
        raise SystemExit(str(error)) from error
    start = time.monotonic()
    built = build(row, compiler, arguments.jobs)
    print(f"{sum(len(reports) for _, reports in built)} kernels built in {time.monotonic() - start:.1f} s", flush=True)
    code = confirm(row, built, arguments.out, gpu.name) if gpu else dry(row, built)
    print(f"{time.monotonic() - start:.1f} s")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
