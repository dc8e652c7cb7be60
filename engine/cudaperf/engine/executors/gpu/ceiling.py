"""What the device itself reaches, to compare with: copy bandwidth, and cuBLAS matrix products where its library is here.

For benchmarks: the fraction of the hardware limit is a candidate's rate over one of these, measured on the same device.
"""

from __future__ import annotations

import ctypes
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from cudaperf.engine.executors.gpu.backend import Backend, DeviceError

_REPEATS: Final = 20
_NO_TRANSPOSE: Final = 0


@dataclass(frozen=True, slots=True)
class Ceiling:
    """`copy` in bytes a second, read plus written; `gemm` operations a second by type ("double") at order `gemm_size`, empty
    without cuBLAS."""

    copy: float
    copy_bytes: int
    gemm: dict[str, float]
    gemm_size: int


def measure_ceiling(backend: Backend, size: int = 2 << 30, n: int = 2048) -> Ceiling:
    """Median of 20 device-to-device copies of up to `size` bytes, and of square products of order `n`."""
    size = min(size, backend.free_memory() // 4)
    library = find_cublas()
    gemm = _gemm_rates(backend, library, n) if library else {}
    return Ceiling(_copy_rate(backend, size), size, gemm, n)


def _copy_rate(backend: Backend, size: int) -> float:
    source, target = backend.allocate(size), backend.allocate(size)
    backend.fill(source, 0x5A, size)
    rate = 2 * size / _median_seconds(backend, lambda: backend.copy(target, source, size))
    backend.free(source)
    backend.free(target)
    return rate


def _median_seconds(backend: Backend, issue: Callable[[], None]) -> float:
    for _ in range(3):
        issue()
    samples = []
    for _ in range(_REPEATS):
        start = backend.record()
        issue()
        samples.append(backend.elapsed(start, backend.record()))
    return statistics.median(samples)


def find_cublas() -> Path | None:
    """libcublas in the PyPI wheels on the import path, or in the system's toolkit."""
    patterns = ("nvidia/cu[0-9]*/lib/libcublas.so.*", "nvidia/cublas/lib/libcublas.so.*")
    folders = [Path(entry or ".") for entry in sys.path]
    found = [path for folder in folders for pattern in patterns for path in sorted(folder.glob(pattern))]
    found += sorted(Path("/usr/local/cuda/lib64").glob("libcublas.so.*"))
    return found[0] if found else None


def _gemm_rates(backend: Backend, library: Path, n: int) -> dict[str, float]:
    """cublasDgemm and cublasSgemm (its default mode: no tf32) on random data."""
    for dependency in sorted(library.parent.glob("libcublasLt.so.*")):
        ctypes.CDLL(str(dependency), mode=ctypes.RTLD_GLOBAL)
    blas = ctypes.CDLL(str(library))
    handle = ctypes.c_void_p()
    _check(blas.cublasCreate_v2(ctypes.byref(handle)), "cublasCreate")
    _check(blas.cublasSetStream_v2(handle, ctypes.c_void_p(backend.stream)), "cublasSetStream")
    rates = {name: _gemm_rate(backend, blas, handle, name, n) for name in ("double", "float")}
    _check(blas.cublasDestroy_v2(handle), "cublasDestroy")
    return rates


def _gemm_rate(backend: Backend, blas: ctypes.CDLL, handle: ctypes.c_void_p, name: str, n: int) -> float:
    kind: Literal["f8", "f4"] = "f8" if name == "double" else "f4"
    scalar = ctypes.c_double if name == "double" else ctypes.c_float
    function = blas.cublasDgemm_v2 if name == "double" else blas.cublasSgemm_v2
    values = np.random.default_rng(0).standard_normal((n, n)).astype(kind)
    addresses = [backend.allocate(values.nbytes) for _ in range(3)]
    for address in addresses:
        backend.upload(address, values.reshape(-1).view(np.uint8).data)
    one, zero = scalar(1), scalar(0)
    a, b, c = (ctypes.c_void_p(address) for address in addresses)

    def multiply() -> None:
        status = function(
            handle, _NO_TRANSPOSE, _NO_TRANSPOSE, n, n, n, ctypes.byref(one), a, n, b, n, ctypes.byref(zero), c, n
        )
        _check(status, f"cublas gemm ({name})")

    rate = 2.0 * n**3 / _median_seconds(backend, multiply)
    for address in addresses:
        backend.free(address)
    return rate


def _check(status: int, name: str) -> None:
    if status != 0:
        raise DeviceError("other", f"{name} failed with status {status}")
