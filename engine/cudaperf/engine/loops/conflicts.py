"""Whether two iterations of a loop touch the same memory, and how to say so.

A conflict is a pair of references to one array, at least one of them a write, for which integer values exist such that two
*different* iterations of the loop reach the same element. Domains are supersets, so "no conflict" is proved and "conflict"
may be conservative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import islpy as isl

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.layout import Layout
from cudaperf.engine.loops.model import Access, LoopVar
from cudaperf.engine.loops.poly import ONE, And, Compare, Condition, Or, Poly, rename_condition
from cudaperf.engine.loops.sets import Space


@dataclass(frozen=True, slots=True, eq=False)
class Conflict:
    """`first` happens in an earlier iteration than `second` (or in either order when `distance` is None).

    `distance` is the number of iterations between them where it is one constant; `certain` is False where a subscript is not
    known (an index array, say), or a bound of a loop around it.
    """

    first: Access
    second: Access
    loop: LoopVar
    kind: Literal["flow", "anti", "output"]
    distance: int | None
    certain: bool


def conflicts(
    accesses: Sequence[Access], loop: LoopVar, fixed: frozenset[str], layouts: dict[str, Layout], space: Space
) -> list[Conflict]:
    """Conflicts between different iterations of `loop`, iterators in `fixed` being equal. Flow dependences come first."""
    found: list[Conflict] = []
    unique = _distinct(accesses, layouts)
    for i, a in enumerate(unique):
        for b in unique[i:]:
            if (
                a.array == b.array
                and (a.write or b.write)
                and _same_member(a, b)
                and _collide(a, b, loop, fixed, layouts, space)
            ):
                found.append(_describe(a, b, loop, fixed, layouts, space))
    order = {"flow": 0, "output": 1, "anti": 2}
    return sorted(found, key=lambda c: (not c.certain, order[c.kind]))


def _distinct(accesses: Sequence[Access], layouts: dict[str, Layout]) -> list[Access]:
    """One access of each kind, subscript and domain."""
    seen: dict[object, Access] = {}
    for access in accesses:
        index = layouts[access.array].of(access)
        key = (access.array, access.path, access.write, index, access.statement.loops, access.guards)
        seen.setdefault(key, access)
    return list(seen.values())


def _same_member(a: Access, b: Access) -> bool:
    return all(x == y for x, y in zip(a.path, b.path, strict=False))


def pair(
    a: Access, b: Access, fixed: frozenset[str], layouts: dict[str, Layout], space: Space
) -> tuple[Condition, frozenset[str]]:
    """The condition that both instances run and touch one element, iterators renamed apart, and its variables."""
    parts: list[Condition] = []
    variables: set[str] = set()
    indices = []
    for access, suffix in ((a, "'1"), (b, "'2")):
        names = {v.atom: v.atom + suffix for v in access.statement.loops if v.atom not in fixed}
        condition, opaque = space.renamed(access.domain, names, suffix)
        parts.append(condition)
        variables |= set(names.values()) | opaque
        index = layouts[access.array].of(access)
        if index is not None:
            atoms = frozenset(x for p in index for x in p.atoms if space.is_opaque(x))
            closed = space.atoms.closure(atoms)
            mapping = {**names, **{x: x + suffix for x in closed}}
            variables |= {x + suffix for x in closed}
            parts += [rename_condition(space.atoms.conditions[x], mapping) for x in sorted(closed)]
            index = tuple(p.rename(mapping) for p in index)
        indices.append(index)
    if indices[0] is not None and indices[1] is not None:
        parts += [Compare(p - q, "=") for p, q in zip(*indices, strict=False)]
    return And(tuple(parts)), frozenset(variables)


def _collide(a: Access, b: Access, loop: LoopVar, fixed: frozenset[str], layouts: dict[str, Layout], space: Space) -> bool:
    condition, variables = pair(a, b, fixed, layouts, space)
    first, second = Poly.atom(loop.atom + "'1"), Poly.atom(loop.atom + "'2")
    differ = Or((Compare(second - first - ONE, ">="), Compare(first - second - ONE, ">=")))
    return not space.empty(variables, And((condition, differ)))


def _describe(a: Access, b: Access, loop: LoopVar, fixed: frozenset[str], layouts: dict[str, Layout], space: Space) -> Conflict:
    certain = all(_known(x, layouts, space) for x in (a, b))
    candidates: list[tuple[int, Conflict]] = []
    for first, second in ((a, b), (b, a)):
        kind: Literal["flow", "anti", "output"] = (
            "output" if first.write and second.write else "flow" if first.write else "anti"
        )
        distance = _distance(first, second, loop, fixed, layouts, space)
        if distance is not _NEVER:
            rank = {"flow": 0, "output": 1, "anti": 2}[kind]
            candidates.append(
                (rank, Conflict(first, second, loop, kind, distance if isinstance(distance, int) else None, certain))
            )
    return min(candidates, key=lambda c: c[0])[1]


def settled_by(conflict: Conflict, fixed: frozenset[str], layouts: dict[str, Layout], space: Space) -> str | None:
    """An assumption under which the two never meet, where it is simple: arguments lie further apart than the loop counts."""
    loop = conflict.loop.node
    indices = [i for a in (conflict.first, conflict.second) for i in layouts[a.array].of(a) or ()]
    if not isinstance(loop, ir.For) or not isinstance(loop.bound, ir.Name) or len(indices) != 2:
        return None
    if any(c < 0 for index in indices for m, c in index.terms if m):  # far apart, it would begin before the array
        return None
    apart = indices[1] - indices[0]
    if not apart.atoms or any(len(m) != 1 or abs(c) != 1 for m, c in apart.terms) or len(apart.terms) > 2:
        return None
    if any(space.is_opaque(a) for a in apart.atoms) or apart.atoms & {v.atom for v in conflict.first.statement.loops}:
        return None
    condition, variables = pair(conflict.first, conflict.second, fixed, layouts, space)
    for far in (apart, -apart):
        plus, minus = ([m[0] for m, c in far.terms if c == sign] for sign in (1, -1))
        if plus and space.empty(variables, And((condition, Compare(far - Poly.atom(loop.bound.id), ">=")))):
            return f"{' - '.join([' + '.join(plus), *minus])} >= {loop.bound.id}"
    return None


_NEVER = object()


def _distance(
    first: Access, second: Access, loop: LoopVar, fixed: frozenset[str], layouts: dict[str, Layout], space: Space
) -> object:
    """The constant number of iterations from `first` to `second`, None if it varies, `_NEVER` if it never comes first."""
    condition, variables = pair(first, second, fixed, layouts, space)
    step = loop.step or 1
    delta = (Poly.atom(loop.atom + "'2") - Poly.atom(loop.atom + "'1")).scale(1 if step > 0 else -1)
    with space.budget():
        deltas = space.set(
            ("distance",), And((condition, Compare(delta - ONE, ">="), Compare(delta - Poly.atom("distance"), "="))), variables
        )
        if deltas.is_empty():
            return _NEVER
        bounded = deltas.dim_has_upper_bound(isl.dim_type.set, 0)
        greatest, least = (deltas.dim_max_val(0) if bounded else None), deltas.dim_min_val(0)
    if greatest is not None and greatest == least and greatest.is_int():
        return int(greatest.to_python()) // abs(step)
    return None


def _known(access: Access, layouts: dict[str, Layout], space: Space) -> bool:
    index = layouts[access.array].of(access)
    loops = frozenset(v.atom for v in access.statement.loops)
    if index is None or not all(space.affine_condition(v.condition, loops) for v in access.statement.loops):
        return False
    return not any(a in space.atoms.data or _free(a, loops, space) for p in index for a in p.atoms)


def _free(atom: str, loops: frozenset[str], space: Space) -> bool:
    """Whether more values are possible, as far as isl knows, than an atom really has."""
    if not space.is_opaque(atom):
        return False
    behind = [space.atoms.conditions[a] for a in space.atoms.closure((atom,))]
    followed = atom in space.atoms.quotients | space.atoms.exact
    return not followed or not all(space.affine_condition(condition, loops) for condition in behind)
