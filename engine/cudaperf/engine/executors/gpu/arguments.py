"""Kernel arguments as bytes: scalar and struct values by their C types, packed at natural alignment as CUDA passes them.

Types are those of Linux on 64-bit (long has 8 bytes).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from cudaperf.engine.task import ElementType, ScalarType, StructType, Task
from cudaperf.engine.verify.data import Value, dtype, leaves

_INTEGERS: Final[dict[str, tuple[int, bool]]] = {
    "char": (1, True), "signed char": (1, True), "unsigned char": (1, False), "bool": (1, False), "_Bool": (1, False),
    "short": (2, True), "unsigned short": (2, False), "int": (4, True), "unsigned int": (4, False), "unsigned": (4, False),
    "long": (8, True), "unsigned long": (8, False), "long long": (8, True), "unsigned long long": (8, False),
    "size_t": (8, False), "ssize_t": (8, True), "ptrdiff_t": (8, True), "intptr_t": (8, True), "uintptr_t": (8, False),
    "int8_t": (1, True), "uint8_t": (1, False), "int16_t": (2, True), "uint16_t": (2, False), "int32_t": (4, True),
    "uint32_t": (4, False), "int64_t": (8, True), "uint64_t": (8, False),
}  # fmt: skip
_FLOATS: Final = {"float": 4, "double": 8}
Argument = tuple[bytes, int]
"""The value's bytes and its alignment."""


class UnknownType(ValueError):
    """A C type that has no known size here; the message names it."""


def size_of(name: str, task: Task) -> int:
    """Bytes of a scalar C type, or of a type of the task's arrays by its name."""
    if name in _INTEGERS:
        return _INTEGERS[name][0]
    if name in _FLOATS:
        return _FLOATS[name]
    for parameter in (*task.parameters, *task.globals):
        if parameter.type.name in (name, name.removeprefix("struct ")):
            return dtype(parameter.type).itemsize
    raise UnknownType(f"the size of type {name!r} is not known")


def integer(value: int, name: str) -> Argument:
    """An integer computed by the plan, as C type `name`; raises `UnknownType`, or `OverflowError` where it doesn't fit."""
    if name not in _INTEGERS:
        raise UnknownType(f"{name!r} is not an integer type")
    size, signed = _INTEGERS[name]
    return value.to_bytes(size, "little", signed=signed), size


def scalar(value: Value, element: ElementType) -> Argument:
    """A scalar or struct parameter's value as C passes it."""
    kind = dtype(element)
    if isinstance(element, StructType):
        return np.asarray(value, dtype=kind).tobytes(), _alignment(element)
    if element.number == "int":
        mask = (1 << element.bits) - 1
        return (int(value) & mask).to_bytes(element.bits // 8, "little"), kind.itemsize
    return np.asarray(value, dtype=kind).tobytes(), kind.itemsize


def _alignment(element: ElementType) -> int:
    return max((_scalar_size(kind) for _, _, kind in leaves(element)), default=1)


def _scalar_size(kind: ScalarType) -> int:
    return kind.bits // 8


def pointer(address: int) -> Argument:
    return address.to_bytes(8, "little"), 8


def pack(arguments: Iterable[Argument]) -> bytes:
    """One parameter buffer."""
    packed = bytearray()
    for value, alignment in arguments:
        packed += bytes(-len(packed) % alignment)
        packed += value
    return bytes(packed)
