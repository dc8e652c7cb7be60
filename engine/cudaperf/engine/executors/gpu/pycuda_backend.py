"""The `Backend` on pycuda's driver API; importing this needs pycuda and a driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pycuda.driver as driver

from cudaperf.engine.executors.gpu.backend import BackendMissing, DeviceError, DeviceFacts, Kernel, Triple, classify
from cudaperf.engine.toolchain.devices import STATIC_SHARED_LIMIT


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except driver.MemoryError as error:
        raise DeviceError("out of memory", str(error)) from error
    except driver.Error as error:
        raise classify(str(error)) from error


class PycudaBackend:
    """Device 0 in a context of this process's own."""

    def __init__(self) -> None:
        try:
            driver.init()
            if driver.Device.count() == 0:
                raise BackendMissing("the driver shows no CUDA device")
            device = driver.Device(0)
        except driver.Error as error:
            raise BackendMissing(f"the CUDA driver does not start: {error}") from error
        with _errors():
            self._context = device.make_context()
            self._stream = driver.Stream()
        self._allocations: dict[int, Any] = {}
        self.stream: int = self._stream.handle
        self.facts = self._describe(device)

    @staticmethod
    def _describe(device: Any) -> DeviceFacts:
        attribute = driver.device_attribute
        major, minor = device.compute_capability()
        version = driver.get_driver_version()
        return DeviceFacts(
            name=device.name(),
            capability=10 * major + minor,
            memory=device.total_memory(),
            l2_bytes=device.get_attribute(attribute.L2_CACHE_SIZE),
            multiprocessors=device.get_attribute(attribute.MULTIPROCESSOR_COUNT),
            shared_optin=device.get_attribute(attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
            driver=f"{version // 1000}.{version % 1000 // 10}",
            backend="pycuda",
        )

    def allocate(self, size: int) -> int:
        with _errors():
            allocation = driver.mem_alloc(size)
        self._allocations[int(allocation)] = allocation  # pycuda frees an allocation with its last reference
        return int(allocation)

    def free(self, address: int) -> None:
        with _errors():
            self._allocations.pop(address).free()

    def upload(self, address: int, data: bytes | memoryview) -> None:
        if len(data):
            with _errors():
                self._stream.synchronize()
                driver.memcpy_htod(address, data)

    def download(self, address: int, size: int) -> bytes:
        data = bytearray(size)
        if size:
            with _errors():
                self._stream.synchronize()
                driver.memcpy_dtoh(data, address)
        return bytes(data)

    def fill(self, address: int, byte: int, size: int) -> None:
        with _errors():
            driver.memset_d8_async(address, byte, size, self._stream)

    def copy(self, target: int, source: int, size: int) -> None:
        with _errors():
            driver.memcpy_dtod_async(target, source, size, self._stream)

    def free_memory(self) -> int:
        with _errors():
            return int(driver.mem_get_info()[0])

    def load(self, cubin: bytes) -> object:
        with _errors():
            return driver.module_from_buffer(cubin)

    def kernel(self, module: Any, name: str) -> Kernel:
        with _errors():
            function = module.get_function(name)
            return Kernel(name, function, function.shared_size_bytes)

    def launch(self, kernel: Kernel, grid: Triple, block: Triple, shared: int, arguments: bytes) -> None:
        function: Any = kernel.handle
        with _errors():
            if shared + kernel.static_shared > STATIC_SHARED_LIMIT:
                function.set_attribute(driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
            function.prepare([f"{len(arguments)}s"] if arguments else [])
            function.prepared_async_call(grid, block, self._stream, *([arguments] if arguments else []), shared_size=shared)

    def synchronize(self) -> None:
        with _errors():
            self._stream.synchronize()

    def record(self) -> object:
        with _errors():
            event = driver.Event()
            event.record(self._stream)
            return event

    def elapsed(self, start: Any, stop: Any) -> float:
        with _errors():
            stop.synchronize()
            return 1e-3 * float(start.time_till(stop))
