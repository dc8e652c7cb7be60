"""The data of one input configuration: sizes from its spec, everything else from `verify.distributions`.

Arrays are made in the order in which their extents and rules read one another. Not promised: that a distribution suits the
function; `verify.prepare` replaces those that do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from cudaperf.engine import size
from cudaperf.engine.evidence import ConfigurationSpec
from cudaperf.engine.task import (
    ArrayParameter,
    IndexValues,
    OffsetValues,
    PermutationValues,
    ScalarParameter,
    ScalarType,
    StructType,
    Task,
)
from cudaperf.engine.verify.data import Array, Value, column, dtype, leaves
from cudaperf.engine.verify.distributions import (
    GENERATOR,
    bounded,
    drawn_values,
    index_values,
    key,
    offset_values,
    permutation_values,
    scalar_float,
    scalar_range,
)

__all__ = ["GENERATOR", "evaluated_extents", "extent_texts", "inputs", "requirements_hold"]

Evaluate = Callable[[str], int]


def extent_texts(array: ArrayParameter) -> tuple[str, ...]:
    """The extents for input generation: an extent that reads data is replaced by the free size."""
    return tuple(array.free_extent if array.free_extent and size.arrays(e) else e for e in array.extents)


def _array(p: ArrayParameter, spec: ConfigurationSpec, evaluate: Evaluate) -> Array:
    extents = _extents(p, evaluate)
    count, stream = math.prod(extents), key(spec.seed, p.name)
    columns = max(1, extents[-1]) if len(extents) > 1 else max(1, math.isqrt(count))
    match p.values:
        case IndexValues(low=low, high=high):
            drawn: Array = index_values(evaluate(low), evaluate(high), spec.distribution, stream, count)
        case OffsetValues(total=total):
            drawn = offset_values(max(0, evaluate(total)), spec.distribution, stream, count)
        case PermutationValues():
            drawn = permutation_values(stream, count)
        case _:
            return _elements(p.type, spec, p.name, count, columns)
    return drawn.astype(dtype(p.type))


def _extents(p: ArrayParameter, evaluate: Evaluate) -> list[int]:
    """What was drawn for a free extent, or what the data needs where that is more."""
    return [max(0, evaluate(given), evaluate(needed)) for given, needed in zip(extent_texts(p), p.extents, strict=True)]


def _elements(kind: ScalarType | StructType, spec: ConfigurationSpec, name: str, count: int, columns: int) -> Array:
    if isinstance(kind, ScalarType):
        return drawn_values(kind, spec.distribution, name, spec.seed, count, columns)
    made: Array = np.zeros(count, dtype(kind))
    for path, offset, leaf in leaves(kind):
        column(made, offset, leaf)[:] = drawn_values(leaf, spec.distribution, name + path, spec.seed, count, columns)
    return made


def _scalar(p: ScalarParameter, spec: ConfigurationSpec) -> Value:
    if p.name in spec.sizes:
        return spec.sizes[p.name]
    if isinstance(p.type, StructType):
        record: Value = _elements(p.type, spec, p.name, 1, 1)[0]
        return record
    stream = key(spec.seed, p.name)
    if p.type.number == "float":
        return float(scalar_float(spec.distribution, stream).astype(dtype(p.type)))
    low, high = scalar_range(p, spec.distribution)
    drawn = int(bounded(low, high, stream, 1)[0])
    return drawn or min(1, high) if spec.distribution not in ("ties", "unit") else drawn


def reader_of(values: Mapping[str, Value]) -> size.Reader:
    """Answers at(...), top(...) and bottom(...) of size expressions from data; out-of-range reads are `SizeError`s."""

    def read(what: str, name: str, argument: int) -> int:
        array = np.asarray(values[name]).reshape(-1)
        if not 0 <= argument < array.size + (what != "at"):
            raise size.SizeError(f"{what}({name}, {argument}) is outside the array of {array.size}")
        if what == "at":
            return int(array[argument])
        if what == "bottom":
            return min(0, int(array[:argument].min())) if argument else 0
        return max(0, int(array[:argument].max()) + 1) if argument else 0

    return read


def evaluated_extents(p: ArrayParameter, spec: ConfigurationSpec, values: Mapping[str, Value]) -> list[int]:
    """An array's extents in one configuration; raises `SizeError`."""
    names, reader = environment(values, spec), reader_of(values)
    return [max(0, size.evaluate(text, names, reader)) for text in extent_texts(p)]


def environment(values: Mapping[str, Value], spec: ConfigurationSpec) -> dict[str, int]:
    """The integers that size expressions may name: integer scalars and free sizes."""
    return {**spec.sizes, **{name: v for name, v in values.items() if isinstance(v, int)}}


def inputs(task: Task, spec: ConfigurationSpec, constants: Mapping[str, Value] | None = None) -> dict[str, Value]:
    """The value of every parameter and global of one configuration; raises `SizeError` where an extent has no value.

    `constants` are the values of `const` globals, which are the program's own and not drawn.
    """
    made: dict[str, Value] = {p.name: _scalar(p, spec) for p in task.scalars}
    made.update(constants or {})
    pending = [p for p in task.arrays if p.name not in made]
    while pending:
        ready = [p for p in pending if _reads(p) <= made.keys()]
        if not ready:
            raise size.SizeError(f"the extent of {pending[0].name} depends on itself")
        for p in ready:
            names, reader = environment(made, spec), reader_of(made)
            made[p.name] = _array(p, spec, lambda text, n=names, r=reader: size.evaluate(text, n, r))  # type: ignore[misc]
        pending = [p for p in pending if p.name not in made]
    return made


def _reads(p: ArrayParameter) -> frozenset[str]:
    texts = [*p.extents]
    if isinstance(p.values, IndexValues):
        texts += [p.values.low, p.values.high]
    if isinstance(p.values, OffsetValues):
        texts.append(p.values.total)
    return frozenset().union(*(size.arrays(text) for text in texts))


def requirements_hold(task: Task, spec: ConfigurationSpec, values: Mapping[str, Value]) -> bool:
    """Whether candidates must be right here; where not, the emitted function must fall back to the original."""
    names, reader = environment(values, spec), reader_of(values)
    try:
        return all(size.evaluate(text, names, reader) for text in task.requirements)
    except size.SizeError:
        return False
