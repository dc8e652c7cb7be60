"""Sizes of C and CUDA types, and the layout of structs that a file defines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod

from cudaperf.engine.cuda.ir import CType

SIZES = {
    "char": 1, "signed char": 1, "unsigned char": 1, "uchar": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "__nv_fp8_e4m3": 1,
    "short": 2, "unsigned short": 2, "ushort": 2, "int16_t": 2, "uint16_t": 2, "half": 2, "__half": 2, "__nv_bfloat16": 2,
    "int": 4, "unsigned int": 4, "unsigned": 4, "uint": 4, "int32_t": 4, "uint32_t": 4, "float": 4, "half2": 4, "__half2": 4,
    "__nv_bfloat162": 4,
    "long": 8, "unsigned long": 8, "ulong": 8, "long long": 8, "unsigned long long": 8, "size_t": 8, "ptrdiff_t": 8,
    "int64_t": 8, "uint64_t": 8, "double": 8, "clock_t": 8,
}  # fmt: skip
_VECTOR = re.compile(r"(u?(?:char|short|int|long|longlong)|float|double)([1-4])$")
_PARTS = {"longlong": "long long", "ulonglong": "unsigned long long"}
_LANES = "xyzw"
_QUALIFIERS = ("const", "volatile", "struct", "register", "static", "typename")
_WORDS = ("unsigned", "signed", "long", "short", "int", "char", "double", "float")


@dataclass(slots=True)
class Struct:
    """`fields` are name -> (byte offset, type, dimensions). `size` is None where a field's type is not known."""

    name: str
    fields: dict[str, tuple[int, CType, tuple[int, ...]]] = field(default_factory=dict)
    size: int | None = None


def canonical(text: str) -> str:
    """The usual spelling of an arithmetic type ("unsigned long int" -> "unsigned long"); other names without qualifiers."""
    words = [
        w for w in re.findall(r"[\w:]+", text) if w not in ("const", "volatile", "struct", "register", "static", "typename")
    ]
    if not words or not all(w in _WORDS for w in words):
        return " ".join(words).removeprefix("std::")
    unsigned, longs = "unsigned" in words, words.count("long")
    if "double" in words or "float" in words:
        return "float" if "float" in words else "double"
    if "char" in words:
        return "unsigned char" if unsigned else "signed char" if "signed" in words else "char"
    base = "short" if "short" in words else "long long" if longs > 1 else "long" if longs else "int"
    return f"unsigned {base}" if unsigned else base


class Types:
    """Names of types to sizes and structs: the built-in ones and those of one file."""

    def __init__(self) -> None:
        self.structs: dict[str, Struct] = {}
        self.aliases: dict[str, CType] = {}

    def named(self, text: str, pointers: int = 0, *, const: bool = False, restrict: bool = False) -> CType:
        """The type of this spelling, aliases of the file seen through."""
        name = canonical(text)
        alias = self.aliases.get(name)
        if alias is not None:
            return CType(alias.name, alias.size, alias.pointers + pointers, const or alias.const, restrict)
        return CType(name, self.size(name), pointers, const, restrict)

    def size(self, name: str) -> int | None:
        if (size := SIZES.get(name)) is not None:
            return size
        struct = self.struct(name)
        return struct.size if struct else None

    def struct(self, name: str) -> Struct | None:
        found = self.structs.get(name)
        return found or _vector(name)


def vector(name: str) -> bool:
    """Whether a type is a built-in vector of two or four, which lies at a multiple of its size (of 16 bytes at most)."""
    return name[-1:] in ("2", "4") and _vector(name) is not None


@lru_cache(maxsize=256)
def _vector(name: str) -> Struct | None:
    """CUDA's built-in vector types."""
    match = _VECTOR.fullmatch(name)
    if match is None:
        return None
    part = _PARTS.get(match[1], ("unsigned " if match[1].startswith("u") else "") + match[1].removeprefix("u"))
    size, count = SIZES[part], int(match[2])
    fields: dict[str, tuple[int, CType, tuple[int, ...]]] = {_LANES[i]: (i * size, CType(part, size), ()) for i in range(count)}
    return Struct(name, fields, size * count)


def laid_out(name: str, members: list[tuple[str, CType, tuple[int, ...]]], types: Types) -> Struct:
    """A struct with C's alignment; members are (name, type, dimensions: 0 where not known)."""
    found, offset, widest = Struct(name), 0, 1
    for member, kind, dims in members:
        size = 8 if kind.pointers else kind.size
        if size is None or 0 in dims:
            return found
        align = 8 if kind.pointers else alignment(kind.name, types)
        offset = -(-offset // align) * align
        found.fields[member] = (offset, kind, dims)
        offset += size * prod(dims)
        widest = max(widest, align)
    found.size = -(-offset // widest) * widest
    return found


def alignment(name: str, types: Types) -> int:
    """Bytes. CUDA's vectors of two and four are aligned to their size, at most 16."""
    if name in SIZES:
        return SIZES[name]
    if _VECTOR.fullmatch(name):
        size = types.size(name) or 1
        return min(size, 16) if name[-1] in "124" else size // 3
    struct = types.structs.get(name)
    if struct is None:
        return 1
    return max((8 if kind.pointers else alignment(kind.name, types) for _, kind, _ in struct.fields.values()), default=1)
