"""C identifiers that can't stand in CUDA C++ text, and what stands there instead.

Renaming is a pure function of the name, so host text and device text that use it agree. Not promised: that the new name is
free in the user's file; `fresh` avoids a given set.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Final

_CPP_KEYWORDS: Final = """
alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t char8_t class co_await co_return co_yield compl
concept const_cast consteval constexpr constinit decltype delete dynamic_cast explicit export false friend mutable namespace
new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires static_assert static_cast
template this thread_local throw true try typeid typename using virtual wchar_t xor xor_eq
"""
_MACROS: Final = "linux unix i386 signbit isfinite isinf isnan isnormal fpclassify errno stdin stdout stderr NULL EOF assert"
_CUDA: Final = """
threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 __host__ __device__ __global__ __shared__ __constant__ __managed__
__restrict__ cudaError_t cudaStream_t cudaSuccess std fprintf abort
"""
RESERVED: Final = frozenset(f"{_CPP_KEYWORDS} {_MACROS} {_CUDA}".split())
KEYWORDS: Final = frozenset(f"{_CPP_KEYWORDS} {_CUDA}".split())
"""Those that no header of the system defines as macros."""


@cache
def cuda_names() -> Mapping[str, str]:
    """Names that CUDA's headers declare at file scope (`norm`, `float2`), which parameters and locals may have all the same.

    Each with the type that it stands for where that is a number: `uint` may be declared again as that.
    """
    lines = (Path(__file__).parent / "cuda_names.txt").read_text(encoding="utf-8").splitlines()
    parts = (line.partition(" = ") for line in lines if not line.startswith("#"))
    return {name: kind for name, _, kind in parts}


def why_reserved(name: str) -> str:
    """What C++ has against a name, as the rest of a sentence that begins with it."""
    return "is a word of CUDA C++" if name in KEYWORDS else "is a name that CUDA's headers declare"


IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")


def cpp_name(name: str, taken: Collection[str] = ()) -> str:
    """The C++ identifier for a C parameter, local or buffer: the same unless it is reserved or in `taken`."""
    return fresh(f"{name}_", taken) if name in RESERVED or name in taken else name


def fresh(wanted: str, taken: Collection[str]) -> str:
    """`wanted`, with underscores added until it is neither taken nor reserved."""
    while wanted in taken or wanted in RESERVED:
        wanted += "_"
    return wanted


def macros(code: str) -> frozenset[str]:
    """Names that `#define` lines of the text replace: no identifier of ours after it may be one of them."""
    return frozenset(re.findall(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)", code, re.MULTILINE))
