"""The device's clocks and temperature through NVML, where its library is installed: logged beside timings, never set."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Final

_SM, _MEMORY, _GPU_SENSOR = 1, 2, 0
_DEVICE: Final = 0


@dataclass(frozen=True, slots=True)
class Clocks:
    """MHz and degrees Celsius at one moment, of NVML's device 0."""

    sm: int
    memory: int
    temperature: int


def read_clocks() -> Clocks | None:
    """None without NVML, or where the driver won't say."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    if nvml.nvmlInit_v2() != 0:
        return None
    try:
        return _read(nvml)
    finally:
        nvml.nvmlShutdown()


def _read(nvml: ctypes.CDLL) -> Clocks | None:
    device = ctypes.c_void_p()
    if nvml.nvmlDeviceGetHandleByIndex_v2(_DEVICE, ctypes.byref(device)) != 0:
        return None
    values = [ctypes.c_uint() for _ in range(3)]
    statuses = (
        nvml.nvmlDeviceGetClockInfo(device, _SM, ctypes.byref(values[0])),
        nvml.nvmlDeviceGetClockInfo(device, _MEMORY, ctypes.byref(values[1])),
        nvml.nvmlDeviceGetTemperature(device, _GPU_SENSOR, ctypes.byref(values[2])),
    )
    return None if any(statuses) else Clocks(*(value.value for value in values))
