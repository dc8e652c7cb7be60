"""CUDA graphs by ctypes on libcuda, whatever package drives the device: capture what is issued to a stream, launch it whole."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Final

from cudaperf.engine.executors.gpu.backend import DeviceError

_RELAXED: Final = 2


class Graph:
    """An instantiated graph on one stream; `free` gives it back."""

    def __init__(self, stream: int, issue: Callable[[], None]) -> None:
        """Capture everything that `issue` puts on `stream`; raises `DeviceError`."""
        self._cuda = ctypes.CDLL("libcuda.so.1")
        self._stream = ctypes.c_void_p(stream)
        graph, self._executable = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuStreamBeginCapture_v2", self._stream, _RELAXED)
        try:
            issue()
        finally:
            status = self._cuda.cuStreamEndCapture(self._stream, ctypes.byref(graph))
        self._check(status, "cuStreamEndCapture")
        try:
            self._call("cuGraphInstantiateWithFlags", ctypes.byref(self._executable), graph, ctypes.c_ulonglong(0))
        finally:
            self._call("cuGraphDestroy", graph)

    def launch(self) -> None:
        self._call("cuGraphLaunch", self._executable, self._stream)

    def free(self) -> None:
        self._call("cuGraphExecDestroy", self._executable)

    def _call(self, name: str, *arguments: object) -> None:
        self._check(getattr(self._cuda, name)(*arguments), name)

    @staticmethod
    def _check(status: int, name: str) -> None:
        if status != 0:
            raise DeviceError("other", f"{name} failed with CUresult {status}")
