"""Which kernel parameters are pointers to arrays (`double (*A)[64]`), read off the device code.

Buffers are plain pointers in host code; C++ converts those to such parameters only by a cast.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_ARRAY_POINTER: Final = re.compile(r"^(.*?)\(\s*\*[^)]*\)\s*((?:\[[^\]]*\]\s*)+)$", re.DOTALL)


@lru_cache(maxsize=256)
def array_types(code: str, kernel: str) -> tuple[str | None, ...]:
    """For each parameter of the kernel the type to cast to, or None; empty where the kernel is not found."""
    opening = re.search(rf"__global__[^;{{}}]*?\b{re.escape(kernel)}\s*\(", code)
    if opening is None:
        return ()
    return tuple(_array_type(text) for text in _split(code[opening.end() :]))


def _split(text: str) -> list[str]:
    """The parameters up to the closing parenthesis."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "([":
            depth += 1
        elif depth and char in ")]":
            depth -= 1
        elif not depth and char in ",)":
            parts.append(text[start:at])
            start = at + 1
            if char == ")":
                break
    return parts


def _array_type(parameter: str) -> str | None:
    match = _ARRAY_POINTER.match(" ".join(parameter.split()))
    return f"{match[1].strip()} (*){match[2].strip()}" if match else None
