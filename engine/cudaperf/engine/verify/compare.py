"""Judges outputs: every leaf of every output, by the rule of docs/decisions/001-tolerance.md.

A float passes when it lies between the reference and the original's own value, or within the derived bound of either. Where the
bound says nothing (rounding alone could have given almost anything) it is cut to a fixed share of the output's size.
Integers equal the original's. NaN and infinity stand where they stand in the original or in the reference.
Not promised: anything about elements the original never reached under its own inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cudaperf.engine.task import ElementType, ScalarType, Task
from cudaperf.engine.verify.data import Array, Value, column, dtype, leaves, outputs
from cudaperf.engine.verify.reference import Columns

LOOSE: Final = {32: 1e-2, 64: 1e-6}
"""A bound above this share of the output's size says nothing, and is cut to it."""

FALLBACK_UNITS: Final = 64.0
"""Units of roundoff, of the original's value, where a task has no reference."""

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_ROUNDOFF: Final = {32: 2.0**-24, 64: 2.0**-53}
_LARGEST: Final = {32: float(np.finfo(np.float32).max), 64: float(np.finfo(np.float64).max)}


@dataclass(frozen=True, slots=True)
class Expected:
    """What one configuration must give: the original's outputs; the reference's columns, None to go by the original."""

    original: Mapping[str, Value]
    columns: Mapping[str, Columns] | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The worst element of a failed output; `leaf` is the member's path in a struct."""

    array: str
    leaf: str
    index: int
    got: float
    expected: float
    error: float
    bound: float


@dataclass(frozen=True, slots=True)
class Worst:
    """The element with the largest error/bound among those that passed."""

    error: float = 0.0
    bound: float = 0.0

    @property
    def ratio(self) -> float:
        return self.error / self.bound if self.bound > 0 else 0.0


def compare(task: Task, expected: Expected, got: Mapping[str, Value]) -> Worst | Difference:
    """Judge all outputs of one configuration."""
    worst = Worst()
    for name, element, _ in outputs(task):
        ours, theirs = as_array(got[name], element), as_array(expected.original[name], element)
        if ours.shape != theirs.shape:
            return Difference(name, "", min(ours.size, theirs.size), float(ours.size), float(theirs.size), 0.0, 0.0)
        found = _output(name, element, ours, theirs, expected.columns[name] if expected.columns is not None else None)
        if isinstance(found, Difference):
            return found
        worst = max(worst, found, key=lambda w: w.ratio)
    return worst


def as_array(value: Value, element: ElementType) -> Array:
    """Any output as a one-dimensional array of the element type."""
    if isinstance(value, int) and isinstance(element, ScalarType) and element.number == "int":
        return np.array([value & ((1 << element.bits) - 1)], np.uint64).astype(dtype(element))
    return np.asarray(value, dtype(element)).reshape(-1)


def _output(name: str, element: ElementType, ours: Array, theirs: Array, columns: Columns | None) -> Worst | Difference:
    worst, kinds = Worst(), leaves(element)
    for at, (path, offset, kind) in enumerate(kinds):
        mine, own = column(ours, offset, kind), column(theirs, offset, kind)
        part = None if columns is None else leaf_columns(columns, at, len(kinds))
        found = _floats(mine, own, kind, part) if kind.number == "float" else _integers(mine, own)
        if isinstance(found, Worst):
            worst = max(worst, found, key=lambda w: w.ratio)
        else:
            index, error, bound, reference = found
            return Difference(name, path, index, float(mine[index]), reference, error, bound)
    return worst


def leaf_columns(columns: Columns, at: int, step: int) -> Columns:
    return Columns(columns.hi[at::step], columns.lo[at::step], columns.bound[at::step], columns.own[at::step])


Failure = tuple[int, float, float, float]
"""Element, error, bound, expected value."""


def _integers(mine: Array, own: Array) -> Worst | Failure:
    wrong = np.flatnonzero(mine != own)
    if wrong.size == 0:
        return Worst()
    index = int(wrong[0])
    return index, abs(float(mine[index]) - float(own[index])), 0.0, float(own[index])


def _floats(mine: Array, own: Array, kind: ScalarType, columns: Columns | None) -> Worst | Failure:
    if mine.size == 0:
        return Worst()
    with np.errstate(all="ignore"):
        out, original = mine.astype(np.float64), own.astype(np.float64)
        columns = columns or _by_original(original, kind)
        error, bound = errors(out, original, columns, kind)
        passed = (error <= bound) | special(out, original, columns, bound, kind)
        return _worst(error, bound, passed, columns)


def _by_original(own: Floats, kind: ScalarType) -> Columns:
    bound = np.abs(own) * _ROUNDOFF[kind.bits] * FALLBACK_UNITS
    return Columns(own, np.zeros_like(own), np.where(np.isfinite(bound), bound, 0.0), np.zeros(0, np.int64))


def _worst(error: Floats, bound: Floats, passed: Flags, columns: Columns) -> Worst | Failure:
    ratio = np.where(error > 0, error / np.maximum(bound, 5e-324), 0.0)
    if passed.all():
        ratio = np.where(np.isfinite(ratio), ratio, 0.0)
        index = int(np.argmax(ratio))
        if ratio[index] == 0:
            index = int(np.argmax(np.where(np.isfinite(bound), bound, 0.0)))
        return Worst(_finite(error[index]), _finite(bound[index]))
    ratio = np.where(passed, -1.0, np.where(np.isnan(ratio), np.inf, ratio))
    index = int(np.argmax(ratio))
    return index, float(error[index]), float(bound[index]), float(columns.hi[index])


def _finite(value: np.float64) -> float:
    return float(value) if np.isfinite(value) else 0.0


def errors(out: Floats, own: Floats, columns: Columns, kind: ScalarType) -> tuple[Floats, Floats]:
    """The distance from what is right, and the bound on it, element by element (NaN where neither is a number)."""
    to_reference, to_own = (out - columns.hi) - columns.lo, out - own
    between = np.sign(to_reference) * np.sign(to_own) < 0
    error = np.where(between, 0.0, np.fmin(np.abs(to_reference), np.abs(to_own)))
    return error, np.fmin(columns.bound, ceiling(columns, kind))


def ceiling(columns: Columns, kind: ScalarType) -> Floats:
    """The largest bound that still says something, an element. An output that is all zero is given the size 1."""
    size = np.where(np.isfinite(columns.hi), np.abs(columns.hi), 0.0)
    largest = float(size.max(initial=0.0))
    typical = largest * float(np.sqrt(np.mean(np.square(size / largest)))) if largest > 0 else 1.0
    return LOOSE[kind.bits] * np.fmax(size, typical)


def says_nothing(columns: Columns, kind: ScalarType) -> float:
    """The share of elements where rounding alone could explain almost any value."""
    return float(np.mean(~(columns.bound <= ceiling(columns, kind)))) if columns.bound.size else 0.0


def within(values: Array, others: Floats, bound: Floats) -> bool:
    """Whether two versions of the same floats agree within a bound, special values included."""
    with np.errstate(all="ignore"):
        mine = values.astype(np.float64)
        same = (mine == others) | (np.isnan(mine) & np.isnan(others))
        return bool((same | (np.abs(mine - others) <= bound)).all())


def special(out: Floats, own: Floats, columns: Columns, bound: Floats, kind: ScalarType) -> Flags:
    """Where NaN or infinity makes the difference no number: equal to the original's, or what the reference rounds to."""
    largest = _LARGEST[kind.bits]
    beyond = np.abs(columns.hi) > largest * (1 - _ROUNDOFF[kind.bits])
    overflow = np.isinf(out) & beyond & (np.sign(out) == np.sign(columns.hi))
    near = np.abs((out - columns.hi) - columns.lo) <= bound
    passed: Flags = (np.isnan(out) & np.isnan(own)) | (out == own) | overflow | (~np.isfinite(own) & near)
    return passed
