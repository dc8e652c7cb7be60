"""The device as the worker sees it: memory, modules, launches, events on one stream; `pycuda` or `cuda-bindings` behind it.

Addresses are plain integers. Everything is ordered on the backend's one stream; `synchronize` waits for it. Failures are
`DeviceError`s with a kind that the worker turns into a verdict; after a "memory" fault the context is lost.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from cudaperf.engine.extras import install

Triple = tuple[int, int, int]


class DeviceError(RuntimeError):
    """`kind`: "memory" an illegal access, "out of memory", "launch" a refused launch, "other"."""

    def __init__(self, kind: Literal["memory", "out of memory", "launch", "other"], message: str) -> None:
        super().__init__(message)
        self.kind = kind


class BackendMissing(RuntimeError):
    """No Python package that drives a GPU, no driver, or no device; the message says what would add it."""


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What the device says of itself; bytes. `capability` 90 = 9.0."""

    name: str
    capability: int
    memory: int
    l2_bytes: int
    multiprocessors: int
    shared_optin: int
    driver: str
    backend: str


@dataclass(frozen=True, slots=True)
class Kernel:
    """A loaded function: the backend's own handle and its static shared memory in bytes."""

    name: str
    handle: object
    static_shared: int


class Backend(Protocol):
    """One device, one context, one stream."""

    facts: DeviceFacts
    stream: int
    """The driver's handle of the stream, for graph capture."""

    def allocate(self, size: int) -> int:
        """The address of `size` bytes, aligned to 256."""

    def free(self, address: int) -> None: ...

    def upload(self, address: int, data: bytes | memoryview) -> None: ...

    def download(self, address: int, size: int) -> bytes: ...

    def fill(self, address: int, byte: int, size: int) -> None: ...

    def copy(self, target: int, source: int, size: int) -> None: ...

    def free_memory(self) -> int:
        """Bytes of device memory that are free now."""

    def load(self, cubin: bytes) -> object:
        """A module from machine code for this device."""

    def kernel(self, module: object, name: str) -> Kernel: ...

    def launch(self, kernel: Kernel, grid: Triple, block: Triple, shared: int, arguments: bytes) -> None:
        """`arguments` is the packed parameter buffer (each at its natural alignment)."""

    def synchronize(self) -> None: ...

    def record(self) -> object:
        """An event on the stream."""

    def elapsed(self, start: object, stop: object) -> float:
        """Seconds between two recorded events, which are used up; waits for the second."""


def open_backend(wanted: str | None = None) -> Backend:
    """pycuda where it imports, else cuda-bindings, or the `wanted` one; raises `BackendMissing` with what to do."""
    _require_driver()
    problems = []
    for module, opener in (("pycuda", _open_pycuda), ("cuda-bindings", _open_bindings)):
        if wanted not in (None, module):
            continue
        try:
            return opener()
        except ImportError as error:
            problems.append(f"{module}: {error}")
    advice = f"{install('gpu')} adds pycuda; cuda-bindings, which needs no compiler to install, will do as well"
    raise BackendMissing(f"no package here drives a GPU ({'; '.join(problems)}): {advice}")


def _require_driver() -> None:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise BackendMissing(f"no NVIDIA driver here ({error})") from error


def _open_pycuda() -> Backend:
    from cudaperf.engine.executors.gpu.pycuda_backend import PycudaBackend

    return PycudaBackend()


def _open_bindings() -> Backend:
    from cudaperf.engine.executors.gpu.bindings_backend import BindingsBackend

    return BindingsBackend()


_FAULTS: Final = (
    "illegal address", "illegal memory access", "misaligned address", "illegal instruction", "invalid address space",
    "invalid pc", "invalid program counter", "launch failure", "launch failed", "device-side assert", "hardware stack error",
)  # fmt: skip
_REFUSALS: Final = ("invalid value", "invalid argument", "out of resources", "too many resources", "launch")


def classify(message: str) -> DeviceError:
    """A driver's error text (the names and phrases of `cuGetErrorName`/`String`) as a `DeviceError`."""
    text = message.lower().replace("_", " ")
    if any(phrase in text for phrase in _FAULTS):
        return DeviceError("memory", message)
    if "out of memory" in text:
        return DeviceError("out of memory", message)
    return DeviceError("launch" if any(phrase in text for phrase in _REFUSALS) else "other", message)
