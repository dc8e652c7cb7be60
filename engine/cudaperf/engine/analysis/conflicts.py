"""Which threads touch the same bytes between two barriers, and whether at least one of them writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from cudaperf.engine.analysis.runs import Run
from cudaperf.engine.analysis.simt.trace import Access, Path
from cudaperf.engine.analysis.simt.values import Numbers

WARP: Final = 32


@dataclass(frozen=True, slots=True)
class Conflict:
    """`first` and `second` in the order of execution; `crossing` where the threads belong to different warps (blocks)."""

    first: Access
    second: Access
    crossing: bool
    threads: tuple[int, int]


def sure(access: Access) -> bool:
    """Known bytes, touched by the threads of `must`: surely, or as each thread's data says."""
    return (
        access.offset is not None
        and access.size is not None
        and isinstance(access.base, int)
        and not any(c.varying and not c.data for c in access.path)
    )


def compatible(a: Path, b: Path) -> bool:
    """Whether both can happen in one run: no branch that all threads take together, one way or the other."""
    ways = {choice.id: choice.way for choice in a if not choice.varying}
    return all(ways.get(choice.id, choice.way) == choice.way for choice in b)


def by_interval(run: Run, space: str) -> Iterator[list[Access]]:
    """The sure accesses of one array between two barriers."""
    groups: dict[tuple[str, int], list[Access]] = defaultdict(list)
    for access in run.trace.accesses:
        if access.space == space and sure(access):
            groups[access.array, access.interval].append(access)
    for group in groups.values():
        if any(a.writes for a in group):
            yield group


def within_block(run: Run, accesses: list[Access], *, ordered: bool = False) -> Iterator[Conflict]:
    """Pairs that touch the same bytes from different threads of the first block, one of them a plain write. `ordered` counts
    lanes of a warp between which a __syncwarp stands, too."""
    cells = [_cells(access, run.trace.threads) for access in accesses]
    for i, a in enumerate(accesses):
        for j in range(i, len(accesses)):
            b = accesses[j]
            if not (a.writes or b.writes) or (a.kind == "atomic" and b.kind == "atomic") or not compatible(a.path, b.path):
                continue
            if (found := _meet(a, b, cells[i], cells[j])) is not None and (
                found.crossing or ordered or a.warp_interval == b.warp_interval
            ):
                yield found


def _cells(access: Access, threads: int) -> tuple[Numbers, Numbers]:
    """(bytes' numbers in units of the smaller of the size and 4, the threads that touch them), of the first block."""
    who = np.flatnonzero(access.must[:threads])
    assert access.offset is not None
    assert access.size is not None
    assert isinstance(access.base, int)
    offsets = np.broadcast_to(np.asarray(access.offset), access.must.shape)[:threads][who]
    unit = 4 if access.size % 4 == 0 else 1
    count = access.size // unit
    places = np.concatenate([offsets + i * unit for i in range(count)]) if count > 1 else offsets
    return places, np.tile(who, count)


def _meet(a: Access, b: Access, mine: tuple[Numbers, Numbers], other: tuple[Numbers, Numbers]) -> Conflict | None:
    """A conflict between two accesses, across warps if there is such a one."""
    places, who = mine
    others, whose = other
    if not places.size or not others.size or places.max() < others.min() or others.max() < places.min():
        return None
    order = np.argsort(others, kind="stable")
    ordered, owners = others[order], whose[order]
    low, high = np.searchsorted(ordered, places, "left"), np.searchsorted(ordered, places, "right")
    hit = high > low
    if not hit.any():
        return None
    best: Conflict | None = None
    for pick in (low, high - 1):
        theirs = owners[np.where(hit, pick, 0)]
        different = hit & (theirs != who)
        across = different & (theirs // WARP != who // WARP)
        chosen = across if across.any() else different
        if chosen.any():
            at = int(np.argmax(chosen))
            found = Conflict(a, b, bool(across.any()), (int(who[at]), int(theirs[at])))
            if found.crossing:
                return found
            best = best or found
    return best


def meet_between_blocks(access: Access, others: Iterable[Access]) -> tuple[int, int] | None:
    """Threads of two blocks that touch the same bytes by one access; None where there are none."""
    mine, who = _cells(access, len(access.must))
    for other in others:
        if sure(other) and other.size == access.size and not other.constant and not other.path:
            theirs, whose = _cells(other, len(other.must))
            _, at, there = np.intersect1d(mine, theirs, return_indices=True)
            if at.size:
                return int(who[at[0]]), int(whose[there[0]])
    return None
