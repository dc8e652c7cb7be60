"""Drive NVRTC by ctypes: CUDA C++ text to a cubin for one architecture, with ptxas's report, in this process.

Needs neither headers nor a host compiler nor a GPU. Device code sees `prelude.cuh`; including a standard C header is harmless
(it is empty there). A compile error comes back as data, a broken library as `NvrtcError`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

STANDARD_HEADERS: Final = (
    "assert.h", "float.h", "limits.h", "math.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h",
    "inttypes.h", "cmath", "cstdint", "cstddef", "climits", "cfloat", "cuda_runtime.h",
)  # fmt: skip
_COMPILE_ERROR: Final = 6
_NO_SUCH_NAME: Final = 9
_CACHE_SINCE: Final = (12, 9)
"""NVRTC has a cache of its own from here on, which gives the machine code without ptxas's report."""


class NvrtcError(RuntimeError):
    """The library does not load or refuses a call that can't fail; a fault of the installation."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """`cubin` is empty when the code does not compile; `log` holds errors, warnings and ptxas's report."""

    cubin: bytes
    log: str


class Nvrtc:
    """One loaded libnvrtc. Calls are safe from several threads, as the library's are."""

    def __init__(self, path: Path) -> None:
        try:
            # The library opens its builtins by name and has no run path of its own: load them first, from beside it.
            self._builtins = [ctypes.CDLL(str(found)) for found in sorted(path.parent.glob("libnvrtc-builtins.so.*"))]
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            raise NvrtcError(f"{path} does not load: {error}") from error
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._check(self._library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
        self.version = f"{major.value}.{minor.value}"
        self._no_cache = ["--no-cache"] if (major.value, minor.value) >= _CACHE_SINCE else []

    def compile(self, code: str, capability: int, options: Sequence[str] = (), names: Sequence[str] = ()) -> Compiled:
        """Compile for `sm_<capability>`; the file is called candidate.cu in messages. `names` are the instances to make of
        templates (`scale<float, 4>`)."""
        program = self._create(code)
        try:
            for name in names:
                self._check(self._library.nvrtcAddNameExpression(program, name.encode(errors="replace")))
            arguments = [f"--gpu-architecture=sm_{capability}", "--ptxas-options=-v", *self._no_cache, *options]
            encoded = [argument.encode() for argument in arguments]
            status = self._library.nvrtcCompileProgram(program, len(encoded), (ctypes.c_char_p * len(encoded))(*encoded))
            log = self._bytes(program, "nvrtcGetProgramLog").rstrip(b"\0").decode(errors="replace")
            if status in (_COMPILE_ERROR, _NO_SUCH_NAME):
                return Compiled(b"", log)
            self._check(status, log)
            return Compiled(self._bytes(program, "nvrtcGetCUBIN"), log)
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))

    def _create(self, code: str) -> ctypes.c_void_p:
        program = ctypes.c_void_p()
        count = len(STANDARD_HEADERS)
        empty = (ctypes.c_char_p * count)(*[b""] * count)
        names = (ctypes.c_char_p * count)(*[name.encode() for name in STANDARD_HEADERS])
        text = code.encode(errors="replace")
        self._check(self._library.nvrtcCreateProgram(ctypes.byref(program), text, b"candidate.cu", count, empty, names))
        return program

    def _bytes(self, program: ctypes.c_void_p, getter: str) -> bytes:
        size = ctypes.c_size_t()
        self._check(getattr(self._library, getter + "Size")(program, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        self._check(getattr(self._library, getter)(program, buffer))
        return buffer.raw

    def _check(self, status: int, log: str = "") -> None:
        if status != 0:
            raise NvrtcError(f"NVRTC: {self._library.nvrtcGetErrorString(status).decode()} {log.strip()}".strip())


@lru_cache(maxsize=4)
def load(path: Path) -> Nvrtc:
    """The library at `path`, loaded once a process; raises `NvrtcError`."""
    return Nvrtc(path)
