"""Accesses to all members of a built-in vector (`a[i].x`, `a[i].y`), which the compiler makes one wide access of.

It knows that a float4 lies at a multiple of 16 bytes. It joins loads where no store stands between them that may change what
they load, and stores with nothing between; seen in sm_80 code of nvcc 13.0 (LDG.E.128, STS.128).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from cudaperf.engine.analysis.simt.trace import Access
from cudaperf.engine.analysis.simt.values import Known


def joined(accesses: list[Access]) -> list[Access]:
    """The accesses of one space in their order, with one for each vector whose members are all touched."""
    groups: dict[tuple[object, ...], list[Access]] = defaultdict(list)
    for access in accesses:
        if access.part is not None and access.offset is not None:
            key = (access.array, access.kind, access.iteration, access.path, access.interval, access.size, access.part[1])
            groups[key].append(access)
    wide: dict[int, Access] = {}
    gone = set[int]()
    for group in groups.values():
        for members in _vectors(group):
            if _whole(members) and not _disturbed(members, accesses):
                first = min(members, key=lambda a: a.order)
                wide[first.order] = _wide(first)
                gone |= {a.order for a in members} - {first.order}
    return [wide.get(a.order, a) for a in accesses if a.order not in gone] if wide else accesses


def _vectors(group: list[Access]) -> list[list[Access]]:
    """The members of each vector."""
    found: list[tuple[Known, list[Access]]] = []
    for access in group:
        start = _start(access)
        for known, members in found:
            if np.array_equal(np.asarray(known), np.asarray(start)):
                members.append(access)
                break
        else:
            found.append((start, [access]))
    return [members for _, members in found]


def _start(access: Access) -> Known:
    assert access.part is not None
    assert access.offset is not None
    return access.offset - access.part[0]


def _whole(members: list[Access]) -> bool:
    parts = {a.part for a in members}
    return sum(a.size or 0 for a in {a.part: a for a in members}.values()) == max(part[1] for part in parts if part is not None)


def _disturbed(members: list[Access], accesses: list[Access]) -> bool:
    orders = {a.order for a in members}
    between = [a for a in accesses if min(orders) < a.order < max(orders) and a.order not in orders]
    return any(a.writes or members[0].writes for a in between)


def _wide(access: Access) -> Access:
    assert access.part is not None
    return replace(access, offset=_start(access), size=access.part[1], part=None)
