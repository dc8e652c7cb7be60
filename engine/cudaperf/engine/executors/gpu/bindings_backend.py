"""The `Backend` on `cuda.bindings` (package cuda-bindings), for machines where pycuda can't be built; needs a driver."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from cuda.bindings import driver

from cudaperf.engine.executors.gpu.backend import BackendMissing, DeviceFacts, Kernel, Triple, classify
from cudaperf.engine.toolchain.devices import STATIC_SHARED_LIMIT


def _check(result: tuple[Any, ...], doing: str) -> Any:
    """The call's value; raises `DeviceError` on a failing status."""
    status, *values = result
    if status != driver.CUresult.CUDA_SUCCESS:
        _, text = driver.cuGetErrorString(status)
        raise classify(f"{doing} failed: {text.decode() if text else status} ({getattr(status, 'name', status)})")
    return values[0] if len(values) == 1 else tuple(values)


class BindingsBackend:
    """Device 0 in a context of this process's own."""

    def __init__(self) -> None:
        (status,) = driver.cuInit(0)
        if status != driver.CUresult.CUDA_SUCCESS:
            raise BackendMissing(f"the CUDA driver does not start: {getattr(status, 'name', status)}")
        if _check(driver.cuDeviceGetCount(), "cuDeviceGetCount") == 0:
            raise BackendMissing("the driver shows no CUDA device")
        device = _check(driver.cuDeviceGet(0), "cuDeviceGet")
        context = _check(driver.cuDevicePrimaryCtxRetain(device), "cuDevicePrimaryCtxRetain")
        _check(driver.cuCtxSetCurrent(context), "cuCtxSetCurrent")
        self._stream = _check(driver.cuStreamCreate(0), "cuStreamCreate")
        self.stream: int = int(self._stream)
        self.facts = self._describe(device)

    @staticmethod
    def _describe(device: Any) -> DeviceFacts:
        names = driver.CUdevice_attribute

        def attribute(name: str) -> int:
            return int(_check(driver.cuDeviceGetAttribute(getattr(names, "CU_DEVICE_ATTRIBUTE_" + name), device), name))

        version = _check(driver.cuDriverGetVersion(), "cuDriverGetVersion")
        return DeviceFacts(
            name=_check(driver.cuDeviceGetName(256, device), "cuDeviceGetName").rstrip(b"\0").decode(),
            capability=10 * attribute("COMPUTE_CAPABILITY_MAJOR") + attribute("COMPUTE_CAPABILITY_MINOR"),
            memory=int(_check(driver.cuDeviceTotalMem(device), "cuDeviceTotalMem")),
            l2_bytes=attribute("L2_CACHE_SIZE"),
            multiprocessors=attribute("MULTIPROCESSOR_COUNT"),
            shared_optin=attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
            driver=f"{version // 1000}.{version % 1000 // 10}",
            backend="cuda-bindings",
        )

    def allocate(self, size: int) -> int:
        return int(_check(driver.cuMemAlloc(size), "cuMemAlloc"))

    def free(self, address: int) -> None:
        _check(driver.cuMemFree(address), "cuMemFree")

    def upload(self, address: int, data: bytes | memoryview) -> None:
        self.synchronize()
        if len(data):
            content = np.frombuffer(data, np.uint8)
            _check(driver.cuMemcpyHtoD(address, content.ctypes.data, content.size), "cuMemcpyHtoD")

    def download(self, address: int, size: int) -> bytes:
        self.synchronize()
        content = np.empty(size, np.uint8)
        if size:
            _check(driver.cuMemcpyDtoH(content.ctypes.data, address, size), "cuMemcpyDtoH")
        return content.tobytes()

    def fill(self, address: int, byte: int, size: int) -> None:
        _check(driver.cuMemsetD8Async(address, byte, size, self._stream), "cuMemsetD8Async")

    def copy(self, target: int, source: int, size: int) -> None:
        _check(driver.cuMemcpyDtoDAsync(target, source, size, self._stream), "cuMemcpyDtoDAsync")

    def free_memory(self) -> int:
        return int(_check(driver.cuMemGetInfo(), "cuMemGetInfo")[0])

    def load(self, cubin: bytes) -> object:
        return _check(driver.cuModuleLoadData(cubin), "cuModuleLoadData")

    def kernel(self, module: object, name: str) -> Kernel:
        function = _check(driver.cuModuleGetFunction(module, name.encode()), "cuModuleGetFunction")
        which = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
        return Kernel(name, function, int(_check(driver.cuFuncGetAttribute(which, function), "cuFuncGetAttribute")))

    def launch(self, kernel: Kernel, grid: Triple, block: Triple, shared: int, arguments: bytes) -> None:
        if shared + kernel.static_shared > STATIC_SHARED_LIMIT:
            which = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            _check(driver.cuFuncSetAttribute(kernel.handle, which, shared), "cuFuncSetAttribute")
        buffer = ctypes.create_string_buffer(arguments, max(len(arguments), 1))
        size = ctypes.c_size_t(len(arguments))
        # CU_LAUNCH_PARAM_BUFFER_POINTER = 1, _BUFFER_SIZE = 2, _END = 0
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 0)
        _check(
            driver.cuLaunchKernel(kernel.handle, *grid, *block, shared, self._stream, 0, ctypes.addressof(extra)),
            "cuLaunchKernel",
        )

    def synchronize(self) -> None:
        _check(driver.cuStreamSynchronize(self._stream), "cuStreamSynchronize")

    def record(self) -> object:
        event = _check(driver.cuEventCreate(0), "cuEventCreate")
        _check(driver.cuEventRecord(event, self._stream), "cuEventRecord")
        return event

    def elapsed(self, start: object, stop: object) -> float:
        _check(driver.cuEventSynchronize(stop), "cuEventSynchronize")
        seconds = 1e-3 * float(_check(driver.cuEventElapsedTime(start, stop), "cuEventElapsedTime"))
        for event in (start, stop):
            _check(driver.cuEventDestroy(event), "cuEventDestroy")
        return seconds
