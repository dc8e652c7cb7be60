"""Places in memory: where pointers lead when they are indexed, and what reading them yields."""

from __future__ import annotations

from math import prod
from zlib import crc32

import numpy as np

from cudaperf.engine.analysis.simt.machine import Machine
from cudaperf.engine.analysis.simt.values import (
    ITSELF,
    LOADED,
    UNIFORM,
    VARYING,
    Based,
    Pointer,
    Record,
    Unknown,
    Value,
    binary,
    sampled,
    total,
    unknown,
    varies,
)
from cudaperf.engine.cuda.ir import CType
from cudaperf.engine.cuda.types import Types, vector


class Memory:
    """Nothing is remembered of what is stored: reads yield samples, the same ones for the same place."""

    def __init__(self, machine: Machine, types: Types) -> None:
        self._machine, self._types = machine, types

    def scalar(self, name: str, kind: CType) -> Pointer:
        """A shared variable without dimensions."""
        return Pointer("shared", name, 0, kind, ITSELF)

    def reference(self, place: Pointer) -> Pointer:
        return Pointer(place.space, place.array, place.offset, place.type, ITSELF)

    def element(self, pointer: Pointer) -> int | None:
        """Bytes from one element to the next: of an array of arrays, a whole row."""
        size = 8 if pointer.type.pointers else pointer.type.size
        rows = pointer.dims[1:]
        if not all(rows):
            return None
        return size * prod(rows) if size is not None else None

    def indexed(self, base: Pointer, index: Value) -> Pointer:
        """`base[index]`: an element, or a row where there are more dimensions."""
        step = self.element(base)
        offset: Value = unknown(base.offset, index) if step is None else binary("+", base.offset, binary("*", index, step))
        return Pointer(base.space, base.array, offset, base.type, base.dims[1:])

    def member(self, place: Pointer, field: str) -> Pointer | None:
        struct = self._types.struct(place.type.name) if not place.type.pointers else None
        if struct is None or field not in struct.fields:
            return None
        offset, kind, dims = struct.fields[field]
        moved = binary("+", place.offset, offset)
        part = (offset, struct.size) if struct.size and vector(place.type.name) else None
        return Pointer(place.space, place.array, moved, kind, dims, part)

    def loaded(self, place: Pointer) -> Value:
        """What a read yields: a number that stands for what is there, the same for the same place."""
        kind = place.type
        if kind.pointers:
            where = f"*{place.array}" if not varies(place.offset) else f"*{place.array}?"
            offset: Value = VARYING if varies(place.offset) else 0
            return Pointer("global", where, offset, CType(kind.name, kind.size, kind.pointers - 1, kind.const))
        struct = self._types.struct(kind.name)
        if struct is not None:
            return Record(dict.fromkeys(struct.fields, LOADED if varies(place.offset) else UNIFORM))
        if place.space == "local":
            return VARYING
        if not kind.integer or isinstance(place.offset, Unknown):
            return LOADED if varies(place.offset) else UNIFORM
        if not isinstance(place.offset, int | np.ndarray | Based):
            return VARYING
        seed, element = crc32(place.array.encode()), total(place.offset)
        if isinstance(element, int) and self._machine.sampling.kind in ("tight", "small"):
            return self._machine.sampling.parameter((seed + element) % 2, self._machine.shape, False)
        return Based(0, sampled(seed, element))

    def scattered(self, seed: int) -> Value:
        """A number of each thread's own that its data decides."""
        return Based(0, sampled(seed, self._machine.flat))
