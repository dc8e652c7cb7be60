"""Theoretical occupancy against known cases, its own invariants, and NVIDIA's `cuda_occupancy.h` where the toolkit is here."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudaperf.engine.toolchain.devices import ARCHITECTURES, Architecture, architecture
from cudaperf.engine.toolchain.find import host_compiler
from cudaperf.engine.toolchain.occupancy import occupancy

HEADER = Path("/usr/local/cuda/include/cuda_occupancy.h")
rows = st.sampled_from(list(ARCHITECTURES.values()))
threads, registers, shared = st.integers(1, 1024), st.integers(0, 255), st.integers(0, 228 * 1024)


@pytest.mark.parametrize(
    ("capability", "block", "used", "bytes_", "fraction", "limiter"),
    [
        (90, 256, 32, 0, 1.0, "warps"),
        (90, 256, 64, 0, 0.5, "registers"),
        (90, 32, 16, 0, 0.5, "blocks"),
        (90, 256, 32, 100 * 1024, 0.25, "shared memory"),
        (86, 1024, 32, 0, 2 / 3, "warps"),
        (75, 256, 255, 0, 0.25, "registers"),
        (80, 1024, 255, 0, 0.0, "does not fit"),
        (75, 64, 16, 65 * 1024, 0.0, "does not fit"),
    ],
)
def test_known_cases(capability: int, block: int, used: int, bytes_: int, fraction: float, limiter: str) -> None:
    found = occupancy(architecture(capability), block, used, bytes_)
    assert (found.fraction, found.limiter) == (pytest.approx(fraction), limiter)


@given(rows, threads, registers, shared)
def test_what_resides_fits_and_the_limiter_is_tight(row: Architecture, block: int, used: int, bytes_: int) -> None:
    found = occupancy(row, block, used, bytes_)
    warps = -(-block // 32)
    assert 0 <= found.fraction <= 1
    assert found.warps == found.blocks * warps
    assert found.blocks * block * used <= row.registers_per_sm
    assert found.blocks * bytes_ <= row.shared_per_sm
    assert found.blocks <= row.max_blocks_per_sm
    assert (found.blocks == 0) == (found.limiter == "does not fit")


@given(rows, threads, st.integers(1, 254), st.integers(0, 48 * 1024))
def test_more_resources_never_raise_occupancy(row: Architecture, block: int, used: int, bytes_: int) -> None:
    base = occupancy(row, block, used, bytes_).blocks
    assert occupancy(row, block, used + 1, bytes_).blocks <= base
    assert occupancy(row, block, used, bytes_ + 256).blocks <= base


def test_negative_figures_are_refused() -> None:
    with pytest.raises(ValueError, match="threads 0"):
        occupancy(architecture(80), 0, 32, 0)


ORACLE = r"""
#include <cstddef>
#include <cstdio>
#include <cstring>
#include "cuda_occupancy.h"
int main() {
    cudaOccDeviceProp d;
    cudaOccFuncAttributes f;
    cudaOccDeviceState s;
    memset(&d, 0, sizeof d); memset(&f, 0, sizeof f); memset(&s, 0, sizeof s);
    d.maxThreadsPerBlock = f.maxThreadsPerBlock = 1024; d.regsPerBlock = d.regsPerMultiprocessor = 65536;
    d.warpSize = 32; d.sharedMemPerBlock = 49152; d.numSms = 1;
    f.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN; s.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    int threads, per_sm, optin, reserved, block, regs, shared, barriers;
    while (scanf("%d %d %d %d", &d.computeMajor, &d.computeMinor, &threads, &per_sm) == 4 &&
           scanf("%d %d %d %d %d %d", &optin, &reserved, &block, &regs, &shared, &barriers) == 6) {
        d.maxThreadsPerMultiprocessor = threads; d.sharedMemPerMultiprocessor = per_sm;
        d.sharedMemPerBlockOptin = optin; d.reservedSharedMemPerBlock = reserved;
        f.numRegs = regs; f.numBlockBarriers = barriers; f.maxDynamicSharedSizeBytes = shared;
        cudaOccResult r;
        int error = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &d, &f, &s, block, shared);
        printf("%d\n", error ? 0 : r.activeBlocksPerMultiprocessor);
    }
}
"""
BLOCKS, REGISTERS, SHARED = (1, 32, 33, 96, 128, 256, 480, 1024), (1, 32, 40, 64, 128, 168, 255), (0, 1000, 16384, 50000, 99000)
BARRIERS = (0, 1, 2, 3, 5, 16)


@pytest.mark.skipif(not HEADER.is_file() or host_compiler() is None, reason="needs the CUDA toolkit and a C++ compiler")
def test_agrees_with_nvidias_header(tmp_path: Path) -> None:
    compiler = host_compiler()
    assert compiler is not None
    (tmp_path / "oracle.cpp").write_text(ORACLE)
    subprocess.run([compiler.path, "-w", f"-I{HEADER.parent}", "oracle.cpp", "-o", "oracle"], cwd=tmp_path, check=True)
    cases = [
        (row, *shape)
        for row in ARCHITECTURES.values()
        for shape in itertools.product(BLOCKS, REGISTERS, SHARED, BARRIERS)
        if shape[2] <= row.shared_per_block
    ]
    text = "".join(
        f"{row.capability // 10} {row.capability % 10} {row.max_threads_per_sm} {row.shared_per_sm} {row.shared_per_block} "
        f"{row.reserved_shared} {block} {used} {bytes_} {barriers}\n"
        for row, block, used, bytes_, barriers in cases
    )
    answer = subprocess.run([tmp_path / "oracle"], input=text, capture_output=True, text=True, check=True).stdout
    expected = [int(line) for line in answer.split()]
    assert [occupancy(row, *shape).blocks for row, *shape in cases] == expected
