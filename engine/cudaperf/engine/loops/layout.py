"""Array layouts: flattened subscripts such as `i*n + j` read back as `[i][j]` of rows of length n.

All references to one array in a nest must agree on the strides. Where an index could leave its row (`[i][j+1]` when
j + 1 = n), the parameters for which it does are collected as a requirement that the host wrapper checks; where it always
does, the reference stays one-dimensional.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product
from math import gcd
from typing import Any

from cudaperf.engine.loops.model import Access
from cudaperf.engine.loops.poly import ONE, And, Compare, Condition, Monomial, Or, Poly
from cudaperf.engine.loops.sets import Space


@dataclass(frozen=True, slots=True)
class Layout:
    """How an array is indexed in a nest.

    `subscripts` maps each access to its multi-dimensional index, None where it is not affine (any element may be touched).
    `extents` holds the lengths of all dimensions but the first, as polynomials over parameters (None: unknown, an array
    declared with dimensions that the subscripts index directly).
    `requirements` are sets of parameters (conditions) under which the layout is right.
    """

    array: str
    subscripts: dict[int, tuple[Poly, ...] | None]
    extents: tuple[Poly, ...]
    requirements: tuple[Any, ...] = ()

    def of(self, access: Access) -> tuple[Poly, ...] | None:
        return self.subscripts[id(access)]


def layout(array: str, accesses: Sequence[Access], space: Space, iterators: frozenset[str]) -> Layout:
    """The layout of one array from all its accesses in a nest. `iterators` are the atoms that vary in the nest."""
    direct = {id(a): a.subscripts for a in accesses}
    if all(a.subscripts is None or _affine(a.subscripts, space, iterators, a) for a in accesses):
        return Layout(array, direct, ())
    flat = [a for a in accesses if a.subscripts is not None]
    if any(len(a.subscripts or ()) != 1 for a in flat):
        return _unknown(array, accesses, space, iterators)
    strides = _strides([a.subscripts[0] for a in flat if a.subscripts], space, iterators)
    if strides is None:
        return _unknown(array, accesses, space, iterators)
    subscripts: dict[int, tuple[Poly, ...] | None] = {}
    requirements: list[Any] = []
    for access in accesses:
        index = _split(access, strides, space, iterators) if access.subscripts is not None else None
        subscripts[id(access)] = index[0] if index else None
        if index and index[1] is not None:
            requirements.append(index[1])
    return Layout(array, subscripts, tuple(_length(a, b) for a, b in pairwise(strides)), tuple(requirements))


def by_stride(accesses: Sequence[Access], space: Space, iterators: frozenset[str]) -> list[list[Access]]:
    """The references in groups that have the same strides, each seen alone."""
    groups: dict[object, list[Access]] = {}
    for access in accesses:
        flat = access.subscripts if access.subscripts is not None and len(access.subscripts) == 1 else None
        groups.setdefault(_strides(flat, space, iterators) if flat else None, []).append(access)
    return list(groups.values())


def _affine(subscripts: tuple[Poly, ...], space: Space, iterators: frozenset[str], access: Access) -> bool:
    return all(space.affine(s, _variables(s, space, iterators)) for s in subscripts)


def _variables(poly: Poly, space: Space, iterators: frozenset[str]) -> frozenset[str]:
    return frozenset(a for a in poly.atoms if a in iterators or space.is_opaque(a))


def _unknown(array: str, accesses: Sequence[Access], space: Space, iterators: frozenset[str]) -> Layout:
    return Layout(
        array,
        {
            id(a): a.subscripts if a.subscripts is not None and _affine(a.subscripts, space, iterators, a) else None
            for a in accesses
        },
        (),
    )


READINGS = 54
"""Tried for one subscript: all of them up to four dimensions, whose likeliest come first."""

Stride = tuple[Monomial, int]
"""A monomial of parameters and the factor before it: `4 * m` in `(i * m + j) * 4 + k`."""


def _strides(polys: Sequence[Poly], space: Space, iterators: frozenset[str]) -> tuple[Stride, ...] | None:
    """What multiplies the variables, largest first, each a multiple of the next; ends with 1."""
    found: dict[Monomial, int] = {(): 1}
    for poly in polys:
        for monomial, coefficient in poly.terms:
            variables = [a for a in monomial if a in iterators or space.is_opaque(a)]
            if len(variables) > 1:
                return None
            if variables:
                rest = tuple(a for a in monomial if a not in variables)
                found[rest] = gcd(found.get(rest, 0), coefficient)
    ordered = sorted(found.items(), key=lambda s: (len(s[0]), s[0]), reverse=True)
    if any(_quotient(a, b) is None for (a, _), (b, _) in pairwise(ordered)):
        return None
    whole = all(a % b == 0 for (_, a), (_, b) in pairwise(ordered))
    return tuple(ordered) if whole else tuple((monomial, 1) for monomial, _ in ordered)


def _length(outer: Stride, inner: Stride) -> Poly:
    """How many of the inner stride the outer one spans."""
    return Poly.of({_quotient(outer[0], inner[0]) or (): outer[1] // inner[1]})


def _quotient(a: Monomial, b: Monomial) -> Monomial | None:
    rest = list(a)
    for atom in b:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _split(
    access: Access, strides: tuple[Stride, ...], space: Space, iterators: frozenset[str]
) -> tuple[tuple[Poly, ...], Any | None] | None:
    """(index in each dimension, parameter set where it leaves its rows or None if never), or None."""
    assert access.subscripts is not None
    possible: tuple[tuple[Poly, ...], Any] | None = None
    for index in islice(_readings(access.subscripts[0], strides, space, iterators), READINGS):
        if not all(space.affine(p, _variables(p, space, iterators)) for p in index):
            continue
        bad = _violations(access, index, strides, space, iterators)
        if bad.is_empty():
            return index, None
        if possible is None:
            good = bad.complement().intersect_params(space.set((), And(())).params()).params()
            local = [v.atom for v in access.statement.loops if v.atom in iterators]
            domain = space.set((), access.domain, local).params()
            possible = None if good.intersect(domain).is_empty() else (index, bad.params())
    return possible


def _readings(poly: Poly, strides: tuple[Stride, ...], space: Space, iterators: frozenset[str]) -> Iterator[tuple[Poly, ...]]:
    """Ways to read a flat subscript as one index a dimension: they differ in where terms of parameters alone go."""
    seen: set[tuple[Poly, ...]] = set()
    for carries in product((0, 1, -1), repeat=len(strides) - 1):
        for greedy in (True, False):
            index = list(_distribute(poly, strides, space, iterators, greedy))
            for d, carry in enumerate(carries):
                index[d] = index[d] - Poly.constant(carry)
                index[d + 1] = index[d + 1] + _length(strides[d], strides[d + 1]).scale(carry)
            if tuple(index) not in seen:
                seen.add(tuple(index))
                yield tuple(index)


def _distribute(
    poly: Poly, strides: tuple[Stride, ...], space: Space, iterators: frozenset[str], greedy: bool
) -> tuple[Poly, ...]:
    """Each term goes to the dimension of the largest stride that divides it.

    A term of parameters alone that equals a stride (`- n` in `(i-1)*n + j`) is a step in that dimension when `greedy`, else a
    distance in the next one (`n - 1` in `i*n + n - 1`).
    """
    index: list[dict[Monomial, int]] = [{} for _ in strides]
    for monomial, coefficient in poly.terms:
        variables = tuple(a for a in monomial if a in iterators or space.is_opaque(a))
        if variables:
            factor = tuple(a for a in monomial if a not in variables)
            d, rest = [m for m, _ in strides].index(factor), variables
        else:
            d, rest = _place(monomial, coefficient, strides, greedy)
        index[d][rest] = index[d].get(rest, 0) + coefficient // strides[d][1]
    return tuple(Poly.of(terms) for terms in index)


def _place(monomial: Monomial, coefficient: int, strides: tuple[Stride, ...], greedy: bool) -> tuple[int, Monomial]:
    for d, (stride, factor) in enumerate(strides):
        rest = _quotient(monomial, stride)
        if rest is not None and coefficient % factor == 0 and (greedy or rest != () or stride == ()):
            return d, rest
    return len(strides) - 1, monomial


def _violations(
    access: Access, index: tuple[Poly, ...], strides: tuple[Stride, ...], space: Space, iterators: frozenset[str]
) -> Any:
    """The parameters for which some instance leaves its row in some dimension but the first."""
    outside: list[Condition] = []
    for d in range(1, len(strides)):
        length = _length(strides[d - 1], strides[d])
        outside.append(Compare(-index[d] - ONE, ">="))
        outside.append(Compare(index[d] - length, ">="))
    condition = And((access.domain, Or(tuple(outside))))
    return space.set((), condition, [v.atom for v in access.statement.loops if v.atom in iterators])
