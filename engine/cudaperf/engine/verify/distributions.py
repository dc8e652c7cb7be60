"""The portable generator: every drawn value of an input configuration, from a specification that anyone can write again.

Portable by construction: 64-bit integer arithmetic modulo 2**64 and single correctly rounded double operations, in the order
written here; no library's random numbers.

    mix(z):       z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;  z = (z ^ z >> 27) * 0x94D049BB133111EB;  return z ^ z >> 31
    key(s, name): mix(fnv1a64(utf8 bytes of name) ^ mix(s + 0x9E3779B97F4A7C15))        s: the configuration's seed
    word(k, i):   mix(k + (i + 1) * 0x9E3779B97F4A7C15)                                  (this is SplitMix64, by counter)

Element j of a value called `name` (arrays flat; a struct's members are called name.member[i]) reads w0..w3 = word(k, 4j) ..
word(k, 4j+3). With u = ((w0 >> 12) + 0.5) / 2**52 and z = (((w0>>11) + (w1>>11) + (w2>>11) + (w3>>11)) / 2**53 - 2) *
1.7320508075688772 (nearly normal, variance 1), the distributions of floats are

    normal z; x100 100*z; x0.01 0.01*z; negated -(|z| + 2**-10); positive |z| + 2**-10, also x100 and x0.01; unit, calm u;
    structured (c % 17 - 8)/8 + (r % 11 - 5)/2 + z/128 (c: index in the last dimension, r: the rest); ties one of eight small
    values; wide (1 + u) * 2**(w1 % 41 - 20) with the sign of w2's last bit.

Integers are lo + w0 % (hi - lo + 1), within the ranges of `_INTEGERS` cut to the type. Scalars keep their own small range, so
that a repeated step does not overflow. Rules (index, offsets, permutation) are written at the functions that obey them.
Not promised: that a distribution suits the function; `verify.prepare` replaces those that do not.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from cudaperf.engine.task import ScalarParameter, ScalarType
from cudaperf.engine.verify.data import Array, dtype

GENERATOR: Final = "splitmix64-counter-1"
"""The name that evidence carries; it changes whenever the same specification would give other bytes."""

Words = NDArray[np.uint64]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_GOLDEN: Final = 0x9E3779B97F4A7C15
_MASK: Final = 2**64 - 1
_TIES: Final = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 2.0, 3.0])
_INTEGERS: Final = {"normal": (-100, 100), "x100": (-10_000, 10_000), "x0.01": (-2, 2), "negated": (-100, -1)}
_INTEGERS.update({"positive": (1, 100), "positive x100": (1, 10_000), "positive x0.01": (1, 3), "unit": (0, 1)})
_INTEGERS.update({"ties": (-1, 2), "calm": (1, 8), "wide": (-(2**63), 2**63 - 1)})
_SCALARS: Final = {"positive": (1, 9), "x100": (-1000, 1000), "x0.01": (-2, 2), "negated": (-9, -1), "ties": (0, 1)}
_SCALARS.update({"positive x100": (1, 1000), "positive x0.01": (1, 2), "unit": (0, 1), "calm": (1, 3)})
POSITIVE: Final = ("positive", "positive x100", "positive x0.01", "unit", "calm")


def _mix(words: Words) -> Words:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def mix(word: int) -> int:
    """The mixing function of the module's docstring, for one word."""
    word &= _MASK
    word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ word >> 27) * 0x94D049BB133111EB) & _MASK
    return word ^ word >> 31


def key(seed: int, name: str) -> int:
    """The stream of a named value."""
    hashed = 0xCBF29CE484222325
    for byte in name.encode():
        hashed = ((hashed ^ byte) * 0x100000001B3) & _MASK
    return mix(hashed ^ mix(seed + _GOLDEN))


def words(stream: int, count: int, lane: int) -> Words:
    """Word `lane` (0 to 3) of elements 0 .. count-1."""
    at = np.arange(count, dtype=np.uint64) * np.uint64(4) + np.uint64(lane + 1)
    return _mix(np.uint64(stream) + at * np.uint64(_GOLDEN))


def _uniform(stream: int, count: int) -> Floats:
    return ((words(stream, count, 0) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def _normal(stream: int, count: int) -> Floats:
    total = sum((words(stream, count, lane) >> np.uint64(11) for lane in range(4)), np.zeros(count, np.uint64))
    return (total.astype(np.float64) * 2.0**-53 - 2.0) * 1.7320508075688772


def _scaled(distribution: str, values: Floats) -> Floats:
    if distribution.endswith("x100"):
        return values * 100.0
    return values * 0.01 if distribution.endswith("x0.01") else values


def _floats(distribution: str, stream: int, count: int, columns: int) -> Floats:
    if distribution in ("unit", "calm"):
        return _uniform(stream, count)
    if distribution == "ties":
        return _TIES[(words(stream, count, 0) % np.uint64(8)).astype(np.int64)]
    if distribution == "wide":
        exponent = (words(stream, count, 1) % np.uint64(41)).astype(np.int64) - 20
        sign = 1.0 - 2.0 * (words(stream, count, 2) & np.uint64(1)).astype(np.float64)
        return np.ldexp(1.0 + _uniform(stream, count), exponent) * sign
    z = _normal(stream, count)
    if distribution == "structured":
        return _grid(count, columns) + z * 2.0**-7
    if distribution == "negated":
        return -(np.abs(z) + 2.0**-10)
    return _scaled(distribution, np.abs(z) + 2.0**-10 if distribution.startswith("positive") else z)


def _grid(count: int, columns: int) -> Floats:
    at = np.arange(count)
    return (at % columns % 17 - 8) / 8.0 + (at // columns % 11 - 5) / 2.0


def bounded(low: int, high: int, stream: int, count: int) -> Integers:
    """low + w0 % (high - low + 1), in two's complement."""
    span = high - low + 1
    drawn = words(stream, count, 0)
    picked = drawn if span > _MASK else drawn % np.uint64(span)
    return (picked + np.uint64(low & _MASK)).view(np.int64)


def _integers(kind: ScalarType, distribution: str, stream: int, count: int, columns: int) -> Integers:
    if kind.name in ("_Bool", "bool"):
        return bounded(0, 1, stream, count)
    least, most = (-(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1) if kind.signed else (0, (1 << kind.bits) - 1)
    if distribution == "structured":
        at = np.arange(count)
        grid = at % columns % 17 + 3 * (at // columns % 5)
        return (grid - 8 if kind.signed else grid).astype(np.int64)
    if distribution == "x100" and not kind.signed:
        return bounded(least, most, stream, count)
    low, high = _INTEGERS[distribution]
    return bounded(*((max(low, least), min(high, most)) if high >= least else (least, min(100, most))), stream, count)


def drawn_values(kind: ScalarType, distribution: str, name: str, seed: int, count: int, columns: int) -> Array:
    stream, target = key(seed, name), dtype(kind)
    if kind.number == "float":
        return _floats(distribution, stream, count, columns).astype(target)
    return _integers(kind, distribution, stream, count, columns).astype(target)


def index_values(low: int, high: int, distribution: str, stream: int, count: int) -> Integers:
    """Integers in [low, high): the first is high-1, the second low, the rest low + w0 % (high - low).

    structured: low + (7j + j//5) % (high - low); ties: only the first and the middle of the range. An empty range gives low.
    """
    span = max(1, high - low)
    at = np.arange(count)
    if distribution == "structured":
        return (low + (7 * at + at // 5) % span).astype(np.int64)
    if distribution == "ties":
        return low + (words(stream, count, 0) & np.uint64(1)).astype(np.int64) * (span // 2)
    drawn = low + (words(stream, count, 0) % np.uint64(span)).astype(np.int64)
    drawn[: min(count, 2)] = [low + span - 1, low][: min(count, 2)]
    return drawn


def offset_values(total: int, distribution: str, stream: int, count: int) -> Integers:
    """Non-decreasing from 0 to total: the inner ones are the sorted w0 % (total + 1).

    structured: j * total // (count - 1); ties: all of it between the first two. A single offset is 0.
    """
    if count <= 1:
        return np.zeros(count, np.int64)
    at = np.arange(count)
    if distribution == "structured":
        return (at * total // (count - 1)).astype(np.int64)
    if distribution == "ties":
        return np.where(at == 0, 0, total).astype(np.int64)
    drawn = np.sort((words(stream, count, 0) % np.uint64(total + 1)).astype(np.int64))
    drawn[0], drawn[-1] = 0, total
    return drawn


def permutation_values(stream: int, count: int) -> Integers:
    """0 .. count-1 in the order of (w0, j)."""
    return np.argsort(words(stream, count, 0), kind="stable").astype(np.int64)


def scalar_float(distribution: str, stream: int) -> np.float64:
    """0.25 + 0.75u, its sign from w1's last bit except where all is positive; calm: u/8."""
    u = _uniform(stream, 1)[0]
    if distribution == "calm":
        return np.float64(u * 0.125)
    negative = distribution not in POSITIVE and int(words(stream, 1, 1)[0]) & 1
    return np.float64(-(0.25 + 0.75 * u) if negative else 0.25 + 0.75 * u)


def scalar_range(p: ScalarParameter, distribution: str) -> tuple[int, int]:
    """Inclusive bounds of an integer scalar that is no size."""
    assert isinstance(p.type, ScalarType)
    low, high = _SCALARS.get(distribution, (-9, 9))
    if p.type.name in ("_Bool", "bool"):
        return 0, 1
    least = 0 if not p.type.signed else -(1 << (p.type.bits - 1))
    most = (1 << (p.type.bits - p.type.signed)) - 1
    least, most = max(least, p.low if p.low is not None else least), min(most, p.high if p.high is not None else most)
    low, high = max(low, least), min(high, most)
    return (low, high) if low <= high else (least, min(most, least + 9))
