"""Record what a plan does once, then replay it without interpreting: for timing, where Python must not stand in the way."""

from __future__ import annotations

from collections.abc import Callable

from cudaperf.engine.executors.gpu.backend import Backend, Kernel, Triple


class NotRecordable(Exception):
    """The plan reads the device between its steps (`RepeatWhile`), so what it does is not known beforehand."""


class Recorder:
    """Stands in for a backend while the interpreter runs; nothing reaches the device until `replay`."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.facts = backend.facts
        self.stream = backend.stream
        self._operations: list[Callable[[], None]] = []

    def __len__(self) -> int:
        return len(self._operations)

    def replay(self) -> None:
        for operation in self._operations:
            operation()

    def launch(self, kernel: Kernel, grid: Triple, block: Triple, shared: int, arguments: bytes) -> None:
        self._operations.append(lambda: self._backend.launch(kernel, grid, block, shared, arguments))

    def fill(self, address: int, byte: int, size: int) -> None:
        self._operations.append(lambda: self._backend.fill(address, byte, size))

    def copy(self, target: int, source: int, size: int) -> None:
        self._operations.append(lambda: self._backend.copy(target, source, size))

    def download(self, address: int, size: int) -> bytes:
        raise NotRecordable

    def synchronize(self) -> None:
        """Nothing to wait for while recording."""

    def allocate(self, size: int) -> int:
        raise NotRecordable

    def free(self, address: int) -> None:
        raise NotRecordable

    def upload(self, address: int, data: bytes | memoryview) -> None:
        raise NotRecordable

    def free_memory(self) -> int:
        return self._backend.free_memory()

    def load(self, cubin: bytes) -> object:
        raise NotRecordable

    def kernel(self, module: object, name: str) -> Kernel:
        raise NotRecordable

    def record(self) -> object:
        raise NotRecordable

    def elapsed(self, start: object, stop: object) -> float:
        raise NotRecordable
