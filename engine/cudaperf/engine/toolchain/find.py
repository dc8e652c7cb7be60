"""What is installed here: nvcc, NVRTC, a host C++ compiler, a GPU. Each answer is a small record, or None.

Looks at well-known places and starts no compiler that takes more than a few milliseconds; loads no CUDA library except the
driver's, in `find_gpu`, which creates no context. Finding a thing does not promise that it works.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Tool:
    """A compiler or library: where it is and its version ("13.0"; "" where it could not be told). `source` says whose it is."""

    path: Path
    version: str
    source: str


@dataclass(frozen=True, slots=True)
class Gpu:
    """Device 0 as the driver describes it: bytes, bytes per second (from memory clock and bus width, 0 if unknown), Hz."""

    name: str
    capability: int
    driver: str
    memory: int
    multiprocessors: int
    l2_bytes: int
    bandwidth: float
    clock: float


def _site_folders() -> Iterator[Path]:
    """`nvidia/` folders of PyPI wheels on the import path (torch's own CUDA libraries are such wheels too)."""
    for entry in sys.path:
        folder = Path(entry or ".") / "nvidia"
        if folder.is_dir():
            yield folder


def _homes() -> Iterator[tuple[Path, str]]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if value := os.environ.get(variable):
            yield Path(value), variable
    yield Path("/usr/local/cuda"), "system"
    yield from ((home, "system") for home in sorted(Path("/usr/local").glob("cuda-*"), reverse=True))


def find_nvcc() -> Tool | None:
    """$CUDA_HOME first, then PATH, /usr/local/cuda, the PyPI wheels."""
    for path, source in _nvcc_candidates():
        if path.is_file() and os.access(path, os.X_OK):
            return Tool(path, _nvcc_version(path), source)
    return None


def _nvcc_candidates() -> Iterator[tuple[Path, str]]:
    homes = list(_homes())
    yield from ((home / "bin" / "nvcc", source) for home, source in homes if source != "system")
    if found := shutil.which("nvcc"):
        yield Path(found), "PATH"
    yield from ((home / "bin" / "nvcc", source) for home, source in homes if source == "system")
    for folder in _site_folders():
        for part in sorted(folder.glob("cu[0-9]*"), reverse=True):
            yield part / "bin" / "nvcc", "wheel"
        yield folder / "cuda_nvcc" / "bin" / "nvcc", "wheel"


_RUNTIME_HEADER_BYTES: Final = 16384
"""`CUDART_VERSION` is defined within these first bytes of the runtime's header."""


@lru_cache
def _nvcc_version(path: Path) -> str:
    """From the header beside it (starting nvcc takes 5 to 40 ms), else by asking."""
    try:
        with (path.resolve().parents[1] / "include" / "cuda_runtime_api.h").open(encoding="utf-8", errors="replace") as file:
            found = re.search(r"#define\s+CUDART_VERSION\s+(\d+)", file.read(_RUNTIME_HEADER_BYTES))
    except OSError:
        found = None
    if found:
        return f"{int(found[1]) // 1000}.{int(found[1]) % 1000 // 10}"
    match = re.search(r"release (\d+\.\d+)", _ask(path, "--version"))
    return match[1] if match else ""


def _ask(path: Path, *options: str) -> str:
    """The standard output of a quick question; empty where the tool can't answer."""
    try:
        return subprocess.run([path, *options], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def find_nvrtc() -> Tool | None:
    """The newest libnvrtc: PyPI wheels (the `compiler` extra, torch's) before the system's, whose version need not match."""
    for folder in _site_folders():
        for library in ("cu[0-9]*/lib", "cuda_nvrtc/lib"):
            if tool := _nvrtc_in(sorted(folder.glob(library), reverse=True), "wheel"):
                return tool
    for home, source in _homes():
        if tool := _nvrtc_in([home / "lib64", home / "lib", home / "targets" / "x86_64-linux" / "lib"], source):
            return tool
    if name := ctypes.util.find_library("nvrtc") if sys.platform != "linux" else _ldconfig("libnvrtc.so"):
        return Tool(Path(name), _library_version(Path(name)), "system")
    return None


def _nvrtc_in(folders: list[Path], source: str) -> Tool | None:
    for folder in folders:
        found = sorted(folder.glob("libnvrtc.so*"), key=lambda p: (len(p.name), p.name), reverse=True)
        if found:
            return Tool(found[0], _library_version(found[0]), source)
    return None


def _library_version(path: Path) -> str:
    """From the file names: libnvrtc-builtins carries major.minor, libnvrtc itself only the major version."""
    for builtins in sorted(path.parent.glob("libnvrtc-builtins.so.*"), reverse=True):
        if match := re.search(r"\.so\.(\d+\.\d+)", builtins.name):
            return match[1]
    match = re.search(r"\.so\.(\d+(?:\.\d+)?)", path.resolve().name)
    return match[1] if match else ""


_LIBRARY_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")


def _ldconfig(name: str) -> str | None:
    """A library in the loader's usual folders (asking ldconfig takes 20 ms)."""
    for folder in (*os.environ.get("LD_LIBRARY_PATH", "").split(":"), *_LIBRARY_FOLDERS):
        if folder and (found := sorted(Path(folder).glob(name + "*"))):
            return str(found[-1])
    return None


def host_compiler() -> Tool | None:
    """The host C++ compiler: $CXX, g++, clang++, c++."""
    for name in filter(None, (os.environ.get("CXX"), "g++", "clang++", "c++")):
        if found := shutil.which(name):
            return Tool(Path(found), _compiler_version(found), "$CXX" if name == os.environ.get("CXX") else "PATH")
    return None


@lru_cache
def _compiler_version(path: str) -> str:
    return _ask(Path(path), "-dumpfullversion", "-dumpversion").strip()


_NAME_LENGTH = 256
_MULTIPROCESSORS, _CLOCK, _MEMORY_CLOCK, _BUS_WIDTH, _L2, _MAJOR, _MINOR = 16, 13, 36, 37, 38, 75, 76
"""CUdevice_attribute values of cuda.h."""


@lru_cache(maxsize=1)
def find_gpu() -> Gpu | None:
    """Device 0 of libcuda, with no context created; None without a driver or a device. Asked once a process.

    Milliseconds without a driver; with one, `cuInit` takes what the driver takes (some 100 ms).
    """
    driver = _load_driver()
    if driver is None or driver.cuInit(0) != 0:
        return None
    count = ctypes.c_int()
    if driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return None
    return _describe(driver)


def _load_driver() -> ctypes.CDLL | None:
    for name in ("libcuda.so.1", "libcuda.so", "nvcuda.dll"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _describe(driver: ctypes.CDLL) -> Gpu | None:
    device, version, memory = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
    name = ctypes.create_string_buffer(_NAME_LENGTH)
    if driver.cuDeviceGet(ctypes.byref(device), 0) != 0 or driver.cuDeviceGetName(name, _NAME_LENGTH, device) != 0:
        return None
    driver.cuDriverGetVersion(ctypes.byref(version))
    driver.cuDeviceTotalMem_v2(ctypes.byref(memory), device)

    def attribute(which: int) -> int:
        value = ctypes.c_int()
        return value.value if driver.cuDeviceGetAttribute(ctypes.byref(value), which, device) == 0 else 0

    return Gpu(
        name=name.value.decode(errors="replace"),
        capability=10 * attribute(_MAJOR) + attribute(_MINOR),
        driver=f"{version.value // 1000}.{version.value % 1000 // 10}",
        memory=memory.value,
        multiprocessors=attribute(_MULTIPROCESSORS),
        l2_bytes=attribute(_L2),
        bandwidth=2e3 * attribute(_MEMORY_CLOCK) * attribute(_BUS_WIDTH) / 8,
        clock=1e3 * attribute(_CLOCK),
    )
