"""Values of all simulated threads at once.

`int`: known, the same for every thread. An int64 array: known, one number a thread. `Based`: a known part on top of a sampled
one that stands for what was loaded from memory. `Unknown`: nothing is known but whether it can differ between threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard

import numpy as np
from numpy.typing import NDArray

from cudaperf.engine.cuda.ir import CType

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Known = int | Numbers


@dataclass(slots=True, eq=False)
class Unknown:
    """`varying`: threads may hold different ones; `data`: they do as what they loaded from different places does."""

    varying: bool
    data: bool = False


@dataclass(slots=True, eq=False)
class Based:
    """`known + base`; `base` stands for numbers that memory holds."""

    known: Known
    base: Known

    @property
    def varying(self) -> bool:
        return not isinstance(self.known, int) or not isinstance(self.base, int)


ITSELF: Final = (-1,)
"""The `dims` of a pointer that stands for the object itself."""


@dataclass(slots=True, eq=False)
class Pointer:
    """`offset` in bytes from the start of an array; `space` is "global", "shared" or "local". `part` is (offset, size of the
    whole) in a built-in vector whose member this is."""

    space: str
    array: str
    offset: Value
    type: CType
    dims: tuple[int, ...] = ()
    part: tuple[int, int] | None = None

    @property
    def itself(self) -> bool:
        """Whether this is an object rather than what a pointer leads to: a scalar in memory, or a reference."""
        return self.dims == ITSELF

    @property
    def row(self) -> bool:
        """Whether this is an array within an array, naming which is no access."""
        return bool(self.dims) and not self.itself


@dataclass(slots=True, eq=False)
class Record:
    """A struct of numbers that lives in registers."""

    fields: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Group:
    """A cooperative group: "block", "warp", "grid" or "other"."""

    kind: str


Value = int | Numbers | Based | Unknown | Pointer | Record | Group
UNIFORM: Final = Unknown(False)
VARYING: Final = Unknown(True)
LOADED: Final = Unknown(True, True)


def is_known(value: Value) -> TypeGuard[Known]:
    return isinstance(value, int | np.ndarray)


def varies(value: Value) -> bool:
    """Whether threads can hold different ones."""
    if isinstance(value, Unknown | Based):
        return value.varying
    if isinstance(value, np.ndarray):
        return True
    if isinstance(value, Pointer):
        return varies(value.offset)
    return isinstance(value, Record) and any(varies(v) for v in value.fields.values())


def loaded(value: Value | None) -> bool:
    """Whether a value differs between threads because memory does."""
    if isinstance(value, Unknown):
        return value.data
    if isinstance(value, Based):
        return not isinstance(value.base, int)
    if isinstance(value, Pointer):
        return loaded(value.offset)
    return isinstance(value, Record) and any(loaded(v) for v in value.fields.values())


def unknown(*values: Value | None, varying: bool = False) -> Unknown:
    """What is not known but comes from these."""
    for value in values:
        kind = type(value)
        if kind is int:
            continue
        if loaded(value):
            return LOADED
        varying = varying or value is None or varies(value)
    return VARYING if varying else UNIFORM


def total(value: Known | Based) -> Known:
    return value.known + value.base if isinstance(value, Based) else value


def _truncated_divide(a: Known, b: Known) -> Known:
    """C's division; by zero gives 0."""
    if isinstance(a, int) and isinstance(b, int):
        return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    x, y = np.asarray(a), np.asarray(b)
    safe = np.where(y == 0, 1, y)
    quotient: Numbers = np.where(y == 0, 0, np.sign(x) * np.sign(safe) * (np.abs(x) // np.abs(safe)))
    return quotient


def _shift(a: Known, b: Known, left: bool) -> Known:
    if isinstance(a, int) and isinstance(b, int):
        return (a << b if left else a >> b) if 0 <= b < 64 and abs(a) < 1 << 62 else 0
    count = np.clip(b, 0, 62)
    shifted: Numbers = np.left_shift(a, count) if left else np.right_shift(a, count)
    return shifted


def as_numbers(flags: Any) -> Numbers:
    """0 and 1 for truth values."""
    numbers: Numbers = np.asarray(flags).astype(np.int64)
    return numbers


def _flag(value: Any) -> Known:
    return int(value) if isinstance(value, bool | int) else as_numbers(value)


_OPERATORS: Final[dict[str, Callable[[Any, Any], Known]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _truncated_divide,
    "%": lambda a, b: a - b * _truncated_divide(a, b),
    "<<": lambda a, b: _shift(a, b, True),
    ">>": lambda a, b: _shift(a, b, False),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: _flag(a < b),
    "<=": lambda a, b: _flag(a <= b),
    ">": lambda a, b: _flag(a > b),
    ">=": lambda a, b: _flag(a >= b),
    "==": lambda a, b: _flag(a == b),
    "!=": lambda a, b: _flag(a != b),
}
COMPARISONS: Final = frozenset(("<", "<=", ">", ">=", "==", "!="))
LIMIT: Final = 1 << 60


def binary(op: str, a: Value, b: Value) -> Value:
    """`a op b` for numbers; pointers are the interpreter's business. Numbers beyond 64 bits are not known."""
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return unknown(a, b)
    if isinstance(a, int) and isinstance(b, int):
        return _bounded(_OPERATORS[op](a, b)) if op in _OPERATORS else UNIFORM
    if op not in _OPERATORS or isinstance(a, _WITHOUT_NUMBER) or isinstance(b, _WITHOUT_NUMBER):
        return unknown(a, b)
    try:
        if isinstance(a, Based) or isinstance(b, Based):
            return _based(op, a, b)
        return _OPERATORS[op](a, b)
    except OverflowError:
        return unknown(a, b)


_WITHOUT_NUMBER: Final = (Pointer, Record, Group)


def _bounded(value: Known) -> Value:
    return value if not isinstance(value, int) or -LIMIT < value < LIMIT else UNIFORM


def _based(op: str, a: Known | Based, b: Known | Based) -> Value:
    ka, ba = (a.known, a.base) if isinstance(a, Based) else (a, 0)
    kb, bb = (b.known, b.base) if isinstance(b, Based) else (b, 0)
    if op in ("+", "-"):
        apply = _OPERATORS[op]
        return _parts(apply(ka, kb), apply(ba, bb))
    if op == "*" and isinstance(b, int):
        return _parts(ka * b, ba * b)
    if op == "*" and isinstance(a, int):
        return _parts(kb * a, bb * a)
    if op in COMPARISONS:
        return unknown(a, b)
    return _parts(0, _OPERATORS[op](total(a), total(b)))


def _parts(known: Known, base: Known) -> Value:
    found = Based(known, base)
    large = any(isinstance(part, int) and abs(part) >= LIMIT for part in (known, base))
    return unknown(found) if large else found


def where(flags: Flags, new: Value, old: Value | None) -> Value:
    """`new` for the threads named, `old` for the others (None: nothing, so that it does not matter)."""
    if old is None or new is old:
        return new
    if isinstance(new, int) and isinstance(old, int) and new == old:
        return new
    if isinstance(new, int | np.ndarray) and isinstance(old, int | np.ndarray):
        return np.where(flags, new, old)
    if isinstance(new, int | np.ndarray | Based) and isinstance(old, int | np.ndarray | Based):
        kn, bn = (new.known, new.base) if isinstance(new, Based) else (new, 0)
        ko, bo = (old.known, old.base) if isinstance(old, Based) else (old, 0)
        return Based(np.where(flags, kn, ko), np.where(flags, bn, bo))
    if isinstance(new, Pointer) and isinstance(old, Pointer) and (new.space, new.array) == (old.space, old.array):
        return Pointer(new.space, new.array, where(flags, new.offset, old.offset), new.type, new.dims)
    if isinstance(new, Record) and isinstance(old, Record):
        return Record({k: where(flags, v, old.fields.get(k)) for k, v in new.fields.items()})
    return unknown(new, old, varying=True)


def merged(a: Value | None, b: Value | None, varying: bool) -> Value:
    """What a variable may hold after one of two paths was taken (by each thread for itself, if `varying`)."""
    if a is b and a is not None:
        return a
    if isinstance(a, int) and isinstance(b, int) and a == b:
        return a
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b):
        return a
    if isinstance(a, Pointer) and isinstance(b, Pointer) and (a.space, a.array) == (b.space, b.array):
        return Pointer(a.space, a.array, merged(a.offset, b.offset, varying), a.type, a.dims)
    present = [v for v in (a, b) if v is not None]
    return unknown(*present, varying=varying)


def sampled(seed: int, address: Known) -> Known:
    """Numbers that stand for what an array holds: the same for the same address, else scattered; 0 to 2^20."""
    if isinstance(address, int):
        return (address * 2654435761 + seed * 40503) % 1000003 % (1 << 20)
    mixed = (address * 2654435761 + seed * 40503) % 1000003
    return mixed % (1 << 20)
