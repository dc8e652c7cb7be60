"""An in-memory device with kernels written in Python, so that the worker's logic is tested where there is no GPU."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from cudaperf.engine.executors.gpu.backend import DeviceError, DeviceFacts, Kernel, Triple

FACTS = DeviceFacts("Fake", 90, 1 << 24, 1 << 16, 4, 227 * 1024, "13.0", "fake")


@dataclass
class Launched:
    """What a kernel gets: its device, shape and packed arguments."""

    device: FakeDevice
    grid: Triple
    block: Triple
    arguments: bytes

    def unpack(self, layout: str) -> tuple[int | float, ...]:
        return struct.unpack(layout, self.arguments)

    def view(self, address: int, count: int, kind: str) -> np.ndarray:
        """`count` elements at a device address; a fault outside every allocation."""
        for base, memory in self.device.memory.items():
            if base <= address and address + count * np.dtype(kind).itemsize <= base + len(memory):
                return np.frombuffer(memory, kind, count, address - base)
        raise DeviceError("memory", "an illegal memory access was encountered")


@dataclass
class FakeDevice:
    """The backend protocol on bytearrays. `log` holds kernel names in order of launch; events count operations."""

    kernels: Mapping[str, Callable[[Launched], None]]
    limit: int = 1 << 24
    facts: DeviceFacts = FACTS
    stream: int = 0
    memory: dict[int, bytearray] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    clock: float = 0.0
    _next: int = 1 << 20

    def allocate(self, size: int) -> int:
        if size > self.free_memory():
            raise DeviceError("out of memory", "out of memory")
        address = self._next
        self._next += -(-size // 256) * 256 + (1 << 16)
        self.memory[address] = bytearray(size)
        return address

    def free(self, address: int) -> None:
        del self.memory[address]

    def _span(self, address: int, size: int) -> tuple[bytearray, int]:
        for base, memory in self.memory.items():
            if base <= address and address + size <= base + len(memory):
                return memory, address - base
        raise DeviceError("memory", f"no allocation at {address:#x}")

    def upload(self, address: int, data: bytes | memoryview) -> None:
        memory, at = self._span(address, len(data))
        memory[at : at + len(data)] = bytes(data)

    def download(self, address: int, size: int) -> bytes:
        memory, at = self._span(address, size)
        return bytes(memory[at : at + size])

    def fill(self, address: int, byte: int, size: int) -> None:
        self.upload(address, bytes([byte]) * size)

    def copy(self, target: int, source: int, size: int) -> None:
        self.upload(target, self.download(source, size))

    def free_memory(self) -> int:
        return self.limit - sum(map(len, self.memory.values()))

    def load(self, cubin: bytes) -> object:
        if cubin != b"cubin":
            raise DeviceError("other", "device kernel image is invalid")
        return self

    def kernel(self, module: object, name: str) -> Kernel:
        if name not in self.kernels:
            raise DeviceError("other", "named symbol not found")
        return Kernel(name, self.kernels[name], 0)

    def launch(self, kernel: Kernel, grid: Triple, block: Triple, shared: int, arguments: bytes) -> None:
        self.log.append(kernel.name)
        self.clock += 1e-6
        self.kernels[kernel.name](Launched(self, grid, block, arguments))

    def synchronize(self) -> None:
        """Everything here is synchronous."""

    def record(self) -> object:
        return self.clock

    def elapsed(self, start: float, stop: float) -> float:
        return stop - start
