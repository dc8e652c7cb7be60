"""The GPU executor on a real device: right candidates through both paths, each way to fail, timing, and the device's ceiling.

Every failing candidate is followed by a right one on the same executor: a fault costs its worker and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_plan_interpretation import AXPY, task

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.emit.cuda import emit
from cudaperf.engine.executors.gpu import client, native
from cudaperf.engine.executors.gpu.executor import GpuExecutor, Measurement
from cudaperf.engine.executors.protocol import Job, Outputs
from cudaperf.engine.plan import Fill, IntArg, Launch, LaunchPlan, PointerArg, Repeat, RepeatWhile, ScalarArg, Step, Temporary
from cudaperf.engine.task import Task
from cudaperf.engine.toolchain import compile as toolchain
from cudaperf.engine.toolchain.find import find_gpu, find_nvcc
from cudaperf.engine.verdict import CompileFailed, Hazard, LaunchFailed, Mismatch, OutOfMemory, TimedOut, Verdict
from cudaperf.engine.verify import data
from cudaperf.engine.verify.harness import harness_source

pytestmark = pytest.mark.gpu

SIZES = (0, 1, 127, 128, 1000, 65537)
HEAD = 'extern "C" __global__ void axpy(int n, double s, const double *x, double *y)\n{\n'
INDEX = "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
GOOD = HEAD + INDEX + "    if (i < n)\n        y[i] += s * x[i];\n}\n"

FLAG = Temporary(name="left", type="int", count="1")


@pytest.fixture(scope="module")
def executor() -> Iterator[GpuExecutor]:
    if find_gpu() is None:
        pytest.skip("no NVIDIA GPU here")
    found = GpuExecutor()
    yield found
    found.close()


def candidate(code: str, *steps: Step, temporaries: tuple[Temporary, ...] = (), deterministic: bool = True) -> Candidate:
    plan = LaunchPlan(temporaries=temporaries, steps=steps or (AXPY,))
    return Candidate(device_code=code, plan=plan, strategy="map", schedule="map", deterministic=deterministic)


def job(one: Candidate, folder: Path, sizes: tuple[int, ...] = SIZES, of: Task | None = None) -> Job:
    of = of or task()
    paths = []
    for n in sizes:
        generator = np.random.default_rng(n)
        paths.append(folder / f"in-{n}")
        values: dict[str, data.Value] = {
            "n": n,
            "s": 0.75,
            "x": generator.standard_normal(n),
            "y": generator.standard_normal(n),
        }
        data.write_inputs(of, paths[-1], values)
    return Job(of, one, emit(of, one, "f"), harness_source(of, "f_cuda"), tuple(paths), tuple(range(min(4, len(sizes)))))


def soon(seconds: float = 60.0) -> float:
    return time.monotonic() + seconds


def outputs(found: Outputs | Verdict) -> list[np.ndarray]:
    assert isinstance(found, Outputs), found
    read = [data.read_outputs(task(), path) for path in found.paths]
    return [np.asarray(values["y"]) for values in read if values is not None]


def expected(one: Job) -> list[np.ndarray]:
    read = [data.read_inputs(one.task, path) for path in one.inputs]
    return [np.asarray(v["y"]) + v["s"] * np.asarray(v["x"]) for v in read]  # type: ignore[operator]


def is_right(executor: GpuExecutor, folder: Path) -> bool:
    folder.mkdir(exist_ok=True)
    one = job(candidate(GOOD), folder)
    found = outputs(executor.run(one, folder, soon()))
    return len(found) == len(SIZES) and all(np.allclose(a, b, rtol=1e-14) for a, b in zip(found, expected(one), strict=True))


def test_right_candidate_through_plan_and_emitted_program(executor: GpuExecutor, tmp_path: Path) -> None:
    one = job(candidate(GOOD), tmp_path)
    found = executor.run(one, tmp_path, soon())
    assert isinstance(found, Outputs), found
    assert ("emitted" in found.checks) == (find_nvcc() is not None)
    assert is_right(executor, tmp_path / "again")


def test_nvrtc_alone_is_enough(executor: GpuExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = toolchain.device_compiler()
    if compiler is None or compiler.kind != "NVRTC":
        pytest.skip("no NVRTC here")
    monkeypatch.setattr(toolchain, "nvcc_compiler", lambda: None)
    monkeypatch.setattr(native, "find_nvcc", lambda: None)
    found = executor.run(job(candidate(GOOD), tmp_path), tmp_path, soon())
    assert isinstance(found, Outputs), found
    assert "emitted" not in found.checks
    assert is_right(executor, tmp_path / "again")


def test_cuda_bindings_do_as_well(executor: GpuExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cuda.bindings")
    monkeypatch.setattr(client, "WORKER", (*client.WORKER, "cuda-bindings"))
    other = GpuExecutor()
    assert other.facts["backend"] == "cuda-bindings"
    assert is_right(other, tmp_path)
    wild = HEAD + "    *(volatile double *)16 = s;\n}\n"
    assert isinstance(other.run(job(candidate(wild), tmp_path), tmp_path, soon()), Hazard)
    assert is_right(other, tmp_path)
    other.close()


@pytest.mark.parametrize(
    ("body", "hazard"),
    [("    *(volatile double *)16 = s;\n}\n", "illegal"), (INDEX + "    if (i <= n)\n        y[i] += s;\n}\n", "past its end")],
    ids=["null", "off by one"],
)
def test_stray_writes_are_memory_hazards(executor: GpuExecutor, tmp_path: Path, body: str, hazard: str) -> None:
    found = executor.run(job(candidate(HEAD + body), tmp_path, (1000,)), tmp_path, soon())
    assert isinstance(found, Hazard), found
    assert (found.hazard, found.configuration) == ("memory", 0)
    assert hazard in found.message
    assert is_right(executor, tmp_path / "again")


def test_hanging_kernel_times_out(executor: GpuExecutor, tmp_path: Path) -> None:
    code = HEAD + "    volatile int go = 1;\n    while (go)\n        y[0] += s;\n}\n"
    found = executor.run(job(candidate(code), tmp_path, (1000,)), tmp_path, soon(5))
    assert isinstance(found, TimedOut), found
    assert is_right(executor, tmp_path / "again")


def test_too_large_temporary_is_out_of_memory(executor: GpuExecutor, tmp_path: Path) -> None:
    huge = Temporary(name="t", type="double", count="n * 1000000000")
    found = executor.run(job(candidate(GOOD, AXPY, temporaries=(huge,)), tmp_path, (1000,)), tmp_path, soon())
    assert isinstance(found, OutOfMemory), found
    assert is_right(executor, tmp_path / "again")


def test_code_that_does_not_compile(executor: GpuExecutor, tmp_path: Path) -> None:
    found = executor.run(job(candidate(HEAD + "    undeclared = 1;\n}\n"), tmp_path), tmp_path, soon())
    assert isinstance(found, CompileFailed), found
    assert "candidate.cu(3)" in found.log


def test_launch_beyond_the_kernels_own_bounds_fails(executor: GpuExecutor, tmp_path: Path) -> None:
    code = (
        HEAD.replace("void axpy", "__launch_bounds__(32) void axpy") + INDEX + "    if (i < n)\n        y[i] += s * x[i];\n}\n"
    )
    found = executor.run(job(candidate(code), tmp_path), tmp_path, soon())
    assert isinstance(found, LaunchFailed), found
    assert found.kernel == "axpy"
    assert is_right(executor, tmp_path / "again")


def test_rerun_that_differs_is_a_race(executor: GpuExecutor, tmp_path: Path) -> None:
    code = HEAD + INDEX + "    if (i < n)\n        atomicAdd(y, s * x[i] * (1 + 1e-3 * (clock64() & 1023)));\n}\n"
    found = executor.run(job(candidate(code), tmp_path, (65537,)), tmp_path, soon())
    assert isinstance(found, Hazard), found
    assert found.hazard == "race"


def test_output_that_depends_on_unwritten_memory_is_found(executor: GpuExecutor, tmp_path: Path) -> None:
    code = GOOD.replace("double *y)", "double *y, const int *t)").replace("s * x[i]", "s * x[i] * (t[0] < 0 ? 1 : 2)")
    launch = AXPY.model_copy(update={"args": (*AXPY.args, PointerArg(buffer="left"))})
    one = job(candidate(code, launch, temporaries=(FLAG,)), tmp_path, (1000,))
    found = executor.run(one, tmp_path, soon())
    assert isinstance(found, Hazard), found
    assert found.hazard == "initialization"


@pytest.mark.skipif(find_nvcc() is None, reason="needs nvcc")
def test_emitted_program_that_differs_from_the_plan_is_a_mismatch(executor: GpuExecutor, tmp_path: Path) -> None:
    one, other = job(candidate(GOOD), tmp_path), job(candidate(GOOD.replace("+=", "-=")), tmp_path)
    found = executor.run(replace(one, files=other.files), tmp_path, soon())
    assert isinstance(found, Mismatch), found
    assert "differ" in found.what


def test_dynamic_shared_memory_beyond_the_static_limit(executor: GpuExecutor, tmp_path: Path) -> None:
    body = (
        INDEX + "    extern __shared__ double tile[];\n    tile[threadIdx.x + 7000] = i < n ? x[i] : 0;\n    __syncthreads();\n"
    )
    code = HEAD + body + "    if (i < n)\n        y[i] += s * tile[threadIdx.x + 7000];\n}\n"
    one = job(candidate(code, AXPY.model_copy(update={"shared": "8 * 7128"})), tmp_path)
    found = outputs(executor.run(one, tmp_path, soon()))
    assert all(np.allclose(a, b, rtol=1e-14) for a, b in zip(found, expected(one), strict=True))


LOOPS: dict[str, tuple[Step, ...]] = {
    "graph": (Repeat(var="t", begin="0", end="100", body=(AXPY,)),),
    "live": (
        Fill(buffer="left", count="1"),
        RepeatWhile(flag="left", limit="1000", body=(AXPY, Fill(buffer="left", count="1"))),
    ),
}


def test_timing_is_within_the_device_and_says_how(executor: GpuExecutor, tmp_path: Path) -> None:
    ceiling = executor.ceiling(soon())
    assert isinstance(ceiling, dict), ceiling
    n = 1 << 26
    one = job(candidate(GOOD), tmp_path, (n,))
    found = executor.measure(one, tmp_path, 0, soon(120), seconds=0.5)
    assert isinstance(found, Measurement), found
    timing = found.timing
    rate = 3 * 8 * n / timing.median
    print(f"copy {ceiling['copy'] / 1e12:.2f} TB/s, axpy {rate / 1e12:.2f} TB/s, gemm {ceiling['gemm']}")
    print(f"seconds {timing.median} [{timing.low}, {timing.high}], end to end {timing.end_to_end}; {found.clocks}")
    assert found.mode == "replay"
    assert timing.low <= timing.median <= timing.high
    assert 0.5 * ceiling["copy"] < rate < 1.2 * ceiling["copy"]


@pytest.mark.parametrize("mode", ["graph", "live"])
def test_loops_are_timed_as_graphs_or_live(executor: GpuExecutor, tmp_path: Path, mode: str) -> None:
    one = job(candidate(GOOD, *LOOPS[mode], temporaries=(FLAG,)), tmp_path, (1000, 100_000))
    assert isinstance(executor.run(one, tmp_path, soon()), Outputs)
    found = executor.measure(one, tmp_path, 1, soon(), seconds=0.2)
    assert isinstance(found, Measurement), found
    print(mode, found.timing.median, found.timing.end_to_end)
    assert found.mode == mode


def test_integer_and_scalar_arguments_of_every_width(executor: GpuExecutor, tmp_path: Path) -> None:
    code = (
        'extern "C" __global__ void mix(char a, long long b, short c, double s, unsigned char d, int n, double *y)\n{\n'
        "    if (n > 0)\n        y[0] = a + 10.0 * b + 100.0 * c + 1000.0 * d + s;\n}\n"
    )
    args = (
        IntArg(value="0 - 1", type="char"),
        IntArg(value="3", type="long long"),
        IntArg(value="0 - 5", type="short"),
        ScalarArg(name="s"),
        IntArg(value="200", type="unsigned char"),
        ScalarArg(name="n"),
        PointerArg(buffer="y"),
    )
    found = outputs(executor.run(job(candidate(code, Launch(kernel="mix", args=args)), tmp_path, (8,)), tmp_path, soon()))
    assert found[0][0] == -1 + 30 - 500 + 200_000 + 0.75
