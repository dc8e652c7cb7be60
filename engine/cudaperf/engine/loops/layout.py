"""Array layouts: flattened subscripts such as `i*n + j` read back as `[i][j]` of rows of length n.

All references to one array in a nest must agree on the strides. Where an index could leave its row (`[i][j+1]` when
j + 1 = n), the parameters for which it does are collected as a requirement that the host wrapper checks; where it always
does, the reference stays one-dimensional.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
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
    extents = tuple(_quotient(a, b) for a, b in pairwise(strides))
    return Layout(array, subscripts, tuple(Poly.of({m: 1}) for m in extents if m is not None), tuple(requirements))


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


def _strides(polys: Sequence[Poly], space: Space, iterators: frozenset[str]) -> tuple[Monomial, ...] | None:
    """The parameter monomials that multiply variables, largest first, each a multiple of the next; ends with ()."""
    found: set[Monomial] = {()}
    for poly in polys:
        for monomial, _ in poly.terms:
            variables = [a for a in monomial if a in iterators or space.is_opaque(a)]
            if len(variables) > 1:
                return None
            if variables:
                found.add(tuple(a for a in monomial if a not in variables))
    ordered = sorted(found, key=lambda m: (len(m), m), reverse=True)
    if any(_quotient(a, b) is None for a, b in pairwise(ordered)):
        return None
    return tuple(ordered)


def _quotient(a: Monomial, b: Monomial) -> Monomial | None:
    rest = list(a)
    for atom in b:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _split(
    access: Access, strides: tuple[Monomial, ...], space: Space, iterators: frozenset[str]
) -> tuple[tuple[Poly, ...], Any | None] | None:
    """(index in each dimension, parameter set where it stays in its rows or None if always), or None."""
    assert access.subscripts is not None
    expanded = access.subscripts[0]
    for greedy in (True, False):
        index = _distribute(expanded, strides, space, iterators, greedy)
        if not all(space.affine(p, _variables(p, space, iterators)) for p in index):
            continue
        bad = _violations(access, index, strides, space, iterators)
        if bad.is_empty():
            return index, None
        good = bad.complement().intersect_params(space.set((), And(())).params()).params()
        local = [v.atom for v in access.statement.loops if v.atom in iterators]
        domain = space.set((), access.statement.domain, local).params()
        if not good.intersect(domain).is_empty():
            return index, bad.params()
    return None


def _distribute(
    poly: Poly, strides: tuple[Monomial, ...], space: Space, iterators: frozenset[str], greedy: bool
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
            d, rest = strides.index(factor), variables
        else:
            d, rest = _place(monomial, strides, greedy)
        index[d][rest] = index[d].get(rest, 0) + coefficient
    return tuple(Poly.of(terms) for terms in index)


def _place(monomial: Monomial, strides: tuple[Monomial, ...], greedy: bool) -> tuple[int, Monomial]:
    for d, stride in enumerate(strides):
        rest = _quotient(monomial, stride)
        if rest is not None and (greedy or rest != () or stride == ()):
            return d, rest
    return len(strides) - 1, monomial


def _violations(
    access: Access, index: tuple[Poly, ...], strides: tuple[Monomial, ...], space: Space, iterators: frozenset[str]
) -> Any:
    """The parameters for which some instance leaves its row in some dimension but the first."""
    outside: list[Condition] = []
    for d in range(1, len(strides)):
        length = Poly.of({_quotient(strides[d - 1], strides[d]) or (): 1})
        outside.append(Compare(-index[d] - ONE, ">="))
        outside.append(Compare(index[d] - length, ">="))
    condition = And((access.statement.domain, Or(tuple(outside))))
    return space.set((), condition, [v.atom for v in access.statement.loops if v.atom in iterators])
