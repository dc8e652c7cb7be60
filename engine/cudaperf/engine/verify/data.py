"""The binary files between verification and executors: inputs and outputs of one call.

Everything is little-endian, packed, with no header. An input file holds, for each of `task.parameters` and then each of
`task.globals`:

- a scalar: 8 bytes, an int64 for integers (unsigned 64-bit values wrap), a double for floats; a struct's own bytes;
- an array: an int64 element count, then the elements' bytes as C lays them out (padding bytes are zero).

An output file holds, in the same order, every array whose access is "out" or "inout", every scalar of `task.globals`, and
last the return value if there is one. A harness whose call came back through the user's original instead writes the eight
bytes of `FALLBACK` alone and exits with status 17.

Not promised: `long double`, complex and bit-field members have no place here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cudaperf.engine.task import ArrayParameter, ElementType, ScalarType, StructType, Task

FALLBACK: Final = b"CPFELLBK"
FELL_BACK_STATUS: Final = 17
INPUT_CHANGED_STATUS: Final = 18
RETURN: Final = "return"

Array = NDArray[np.generic]
Value = Array | np.generic | int | float
"""Arrays for array parameters; int or float for scalars; a numpy record for struct scalars."""
Values = Mapping[str, Value]


class FormatError(ValueError):
    """A file that is shorter or longer than the format says; the message names the value."""


def dtype(element: ElementType) -> np.dtype[np.generic]:
    """The numpy type with C's layout (offsets and padding of structs included)."""
    if isinstance(element, ScalarType):
        return _scalar_dtype(element)
    return np.dtype(
        {
            "names": [f.name for f in element.fields],
            "formats": [(dtype(f.type), f.dims) if f.dims else dtype(f.type) for f in element.fields],
            "offsets": [f.offset for f in element.fields],
            "itemsize": element.size,
        }
    )


def _scalar_dtype(element: ScalarType) -> np.dtype[np.generic]:
    if element.number == "float":
        return np.dtype(f"<f{element.bits // 8}")
    return np.dtype(f"{'<' if element.bits > 8 else '|'}{'i' if element.signed else 'u'}{element.bits // 8}")


def leaves(element: ElementType, prefix: str = "") -> list[tuple[str, int, ScalarType]]:
    """Every scalar of one element: its path ("" for a plain scalar, ".pos[2]"), byte offset and type, by offset."""
    if isinstance(element, ScalarType):
        return [(prefix, 0, element)]
    found = []
    for member in element.fields:
        inner = leaves(member.type)
        step = dtype(member.type).itemsize
        for at, subscript in enumerate(_subscripts(member.dims)):
            base = member.offset + at * step
            found += [(f"{prefix}.{member.name}{subscript}{path}", base + offset, kind) for path, offset, kind in inner]
    return found


def _subscripts(dims: tuple[int, ...]) -> list[str]:
    return ["".join(f"[{i}]" for i in index) for index in np.ndindex(*dims)]


def column(values: Array, offset: int, kind: ScalarType) -> Array:
    """One leaf of every element, as a one-dimensional array that shares memory with `values`."""
    flat = values.reshape(-1)
    if flat.size == 0:
        return np.zeros(0, _scalar_dtype(kind))
    view: Array = np.ndarray(flat.shape, _scalar_dtype(kind), flat, offset, flat.strides)
    return view


def outputs(task: Task) -> list[tuple[str, ElementType, bool]]:
    """What an output file holds, in order: name (`RETURN` for the return value), element type, whether an array."""
    found: list[tuple[str, ElementType, bool]] = []
    for p in task.parameters + task.globals:
        if isinstance(p, ArrayParameter):
            found += [(p.name, p.type, True)] if p.access != "in" else []
        elif p.is_global:
            found.append((p.name, p.type, False))
    return [*found, (RETURN, task.returns, False)] if task.returns is not None else found


def _write(element: ElementType, is_array: bool, value: Value) -> bytes:
    if is_array:
        array = np.ascontiguousarray(value, dtype=dtype(element))
        return np.int64(array.size).tobytes() + array.tobytes()
    if isinstance(element, StructType):
        return np.asarray(value, dtype=dtype(element)).tobytes()
    if element.number == "float":
        return np.float64(value).tobytes()
    return (int(value) & 0xFFFF_FFFF_FFFF_FFFF).to_bytes(8, "little")


class _Reader:
    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        self.at = 0
        self.path = path

    def take(self, count: int, name: str) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            raise FormatError(f"{self.path.name}: ends inside {name}")
        self.at += count
        return self.data[self.at - count : self.at]

    def value(self, name: str, element: ElementType, is_array: bool) -> Value:
        kind = dtype(element)
        if is_array:
            count = int.from_bytes(self.take(8, name), "little", signed=True)
            return np.frombuffer(self.take(count * kind.itemsize, name), kind).copy()
        if isinstance(element, StructType):
            record: Value = np.frombuffer(self.take(element.size, name), kind)[0]
            return record
        raw = self.take(8, name)
        if element.number == "float":
            return float(np.frombuffer(raw, "<f8")[0])
        return int.from_bytes(raw, "little", signed=element.signed)

    def finish(self) -> None:
        if self.at != len(self.data):
            raise FormatError(f"{self.path.name}: {len(self.data) - self.at} bytes too long")


def write_inputs(task: Task, path: Path, values: Values) -> None:
    """Write the input file of one configuration."""
    with path.open("wb") as file:
        for p in task.parameters + task.globals:
            file.write(_write(p.type, isinstance(p, ArrayParameter), values[p.name]))


def read_inputs(task: Task, path: Path) -> dict[str, Value]:
    """Read an input file; raises `FormatError`."""
    reader = _Reader(path)
    found = {p.name: reader.value(p.name, p.type, isinstance(p, ArrayParameter)) for p in task.parameters + task.globals}
    reader.finish()
    return found


def write_outputs(task: Task, path: Path, values: Values) -> None:
    """Write an output file (executors that run no harness)."""
    with path.open("wb") as file:
        for name, element, is_array in outputs(task):
            file.write(_write(element, is_array, values[name]))


def read_outputs(task: Task, path: Path) -> dict[str, Value] | None:
    """Read an output file; None when the call fell back to the original; raises `FormatError`."""
    reader = _Reader(path)
    if reader.data == FALLBACK:
        return None
    found = {name: reader.value(name, element, is_array) for name, element, is_array in outputs(task)}
    reader.finish()
    return found
