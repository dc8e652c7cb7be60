"""Which parameters of a function are pointers to arrays (`double (*A)[64]`), read off its text.

Buffers are plain pointers in host code; C++ converts those to such parameters only by a cast.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_ARRAY_POINTER: Final = re.compile(r"^(.*?)\(\s*\*[^)]*\)\s*((?:\[[^\]]*\]\s*)+)$", re.DOTALL)


@lru_cache(maxsize=256)
def array_types(code: str, function: str) -> tuple[str | None, ...]:
    """For each parameter of the kernel, or `static` function, the type to cast to, or None; empty where it is not found."""
    opening = re.search(rf"\b(?:__global__|static)\b[^;{{}}]*?\b{re.escape(function)}\s*\(", code)
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
