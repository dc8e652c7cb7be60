"""Reading ptxas's report, the device table, finding compilers, and compiling device code by those that are here."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.plan import Launch, LaunchPlan
from cudaperf.engine.toolchain import compile as toolchain
from cudaperf.engine.toolchain import devices, find, ptxas
from cudaperf.engine.verdict import CompileFailed

LOG = """\
ptxas info    : 24 bytes gmem
ptxas info    : Compiling entry function 'big' for 'sm_90'
ptxas info    : Function properties for big
    208 bytes stack frame, 24 bytes spill stores, 40 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 208 bytes cumulative stack size, 1024 bytes smem, 372 bytes cmem[0]
ptxas info    : Compile time = 6.944 ms
ptxas info    : Compiling entry function 'small' for 'sm_90'
ptxas info    : Function properties for small
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas info    : Compiling entry function 'failed' for 'sm_90'
"""
CODE = """\
#include <math.h>
#include <stdint.h>
extern "C" __global__ void k(const float *a, double *b, int n)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    size_t i = threadIdx.x;
    if (i < (size_t)n)
        b[i] = sin(M_PI * s[255 - i]) + (double)(int64_t)i + (b[i] < DBL_MAX ? INFINITY : INT_MAX);
}
"""
ARCHITECTURE = devices.architecture(90)


def test_ptxas_report_a_kernel() -> None:
    big, small = ptxas.parse(LOG)
    assert (big.kernel, big.registers, big.shared_bytes, big.barriers) == ("big", 255, 1024, 1)
    assert (big.stack_bytes, big.spill_stores, big.spill_loads) == (208, 24, 40)
    assert (small.kernel, small.registers, small.shared_bytes, small.barriers) == ("small", 8, 0, 0)


@pytest.mark.parametrize("text", ["sm_90", "90", "9.0", "compute_90", "SM_90a"])
def test_architecture_by_its_names(text: str) -> None:
    assert devices.parse_architecture(text).capability == 90


@pytest.mark.parametrize("text", ["sm_70", "hopper", ""])
def test_unknown_architectures_are_said_to_be(text: str) -> None:
    with pytest.raises(devices.UnknownArchitecture):
        devices.parse_architecture(text)


def test_devices_outside_the_table_are_taken_for_the_next_older() -> None:
    assert [devices.default_architecture(c).capability for c in (None, 88, 121, 90)] == [80, 87, 120, 90]


def test_every_architecture_has_a_reference_device() -> None:
    for capability in devices.ARCHITECTURES:
        assert devices.reference_device(capability).flops(32) > devices.reference_device(capability).flops(64) / 2


def test_nothing_is_found_where_nothing_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(find, "_homes", lambda: iter(()))
    monkeypatch.setattr(find.sys, "path", [])
    monkeypatch.setattr(find, "_LIBRARY_FOLDERS", ())
    assert (find.find_nvcc(), find.find_nvrtc(), find.host_compiler()) == (None, None, None)


def test_wheel_layouts_of_nvrtc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find.sys, "path", [str(tmp_path)])
    for folder, names, version in (
        ("nvidia/cuda_nvrtc/lib", ("libnvrtc.so.12", "libnvrtc-builtins.so.12.8"), "12.8"),
        ("nvidia/cu13/lib", ("libnvrtc.so.13", "libnvrtc-builtins.so.13.0"), "13.0"),
    ):
        (tmp_path / folder).mkdir(parents=True)
        for name in names:
            (tmp_path / folder / name).touch()
        tool = find.find_nvrtc()
        assert tool is not None
        assert (tool.version, tool.source, tool.path.name) == (version, "wheel", names[0])


def compilers() -> list[toolchain.DeviceCompiler]:
    found = [(find.find_nvrtc(), "NVRTC"), (find.find_nvcc(), "nvcc")]
    return [toolchain.DeviceCompiler(tool, kind) for tool, kind in found if tool]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CUDAPERF_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.skipif(not compilers(), reason="needs NVRTC or nvcc")
@pytest.mark.parametrize("compiler", compilers(), ids=lambda compiler: compiler.kind)
def test_device_code_compiles_with_what_c_takes_for_granted(compiler: toolchain.DeviceCompiler, cache: Path) -> None:
    cubin = toolchain.compile_cubin(CODE, ARCHITECTURE, ("--fmad=false",), compiler)
    assert isinstance(cubin, toolchain.Cubin)
    assert cubin.code.startswith(b"\x7fELF")
    (report,) = cubin.reports
    assert (report.kernel, report.shared_bytes, report.barriers) == ("k", 1024, 1)
    assert toolchain.compile_cubin(CODE, ARCHITECTURE, ("--fmad=false",), compiler) == cubin
    (stored,) = cache.glob("cubin/*/*.cubin")
    stored.write_bytes(b"damaged")
    assert toolchain.compile_cubin(CODE, ARCHITECTURE, ("--fmad=false",), compiler) == cubin


@pytest.mark.skipif(not compilers(), reason="needs NVRTC or nvcc")
@pytest.mark.parametrize("compiler", compilers(), ids=lambda compiler: compiler.kind)
def test_code_that_does_not_compile_has_its_own_line_in_the_log(compiler: toolchain.DeviceCompiler, cache: Path) -> None:
    failed = toolchain.compile_cubin("\n\nint 3;\n", ARCHITECTURE, (), compiler)
    assert isinstance(failed, CompileFailed)
    assert "candidate.cu(3): error" in failed.log
    assert not list(cache.rglob("*.cubin"))


def candidate(block: str, shared: str = "0") -> Candidate:
    plan = LaunchPlan(steps=(Launch(kernel="k", block=(block, "1", "1"), shared=shared),))
    return Candidate(device_code=CODE, plan=plan, strategy="map", schedule="map")


@pytest.mark.skipif(not compilers(), reason="needs NVRTC or nvcc")
def test_resources_have_occupancy_where_the_block_is_constant(cache: Path) -> None:
    (fixed,) = toolchain.resources(candidate("256", "4096"), ARCHITECTURE)
    assert (fixed.kernel, fixed.architecture, fixed.shared_bytes) == ("k", 90, 1024 + 4096)
    assert fixed.occupancy is not None
    assert 0 < fixed.occupancy <= 1
    (varying,) = toolchain.resources(candidate("n"), ARCHITECTURE)
    assert varying.occupancy is None


def test_without_a_compiler_there_are_no_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "device_compiler", lambda: None)
    assert toolchain.resources(candidate("256"), ARCHITECTURE) == ()
    with pytest.raises(toolchain.NoCompiler):
        toolchain.compile_cubin(CODE, ARCHITECTURE)
