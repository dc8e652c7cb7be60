"""Which threads touch the same bytes between two barriers, and whether at least one of them writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
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
    cells = [Cells.of(access, run.trace.threads) for access in accesses]
    for i, a in enumerate(accesses):
        for j in range(i, len(accesses)):
            b = accesses[j]
            if not (a.writes or b.writes) or (a.kind == "atomic" and b.kind == "atomic") or cells[i].apart(cells[j]):
                continue
            if a.doubt != b.doubt or not compatible(a.path, b.path):
                continue
            if (found := _meet(a, b, cells[i], cells[j])) is not None and (
                found.crossing or ordered or a.warp_interval == b.warp_interval
            ):
                yield found


def meet(run: Run, a: Access, b: Access) -> bool:
    """Whether two sure accesses of one interval conflict, `a` first."""
    pairs = within_block(run, [a, b] if a is not b else [a])
    return any(c.first is a and c.second is b for c in pairs)


@dataclass(eq=False)
class Cells:
    """What an access touches: `places`, numbers of bytes in units of the smaller of its size and 4, each by the thread beside
    it in `who`."""

    places: Numbers
    who: Numbers

    @staticmethod
    def of(access: Access, threads: int) -> Cells:
        """Those of the first block, of `threads` threads."""
        must = access.must[:threads]
        assert access.offset is not None
        assert access.size is not None
        assert isinstance(access.base, int)
        everyone = np.count_nonzero(must) == len(must)
        who: Numbers = np.arange(len(must)) if everyone else np.flatnonzero(must)
        if isinstance(access.offset, int):
            offsets: Numbers = np.full(len(who), access.offset + access.base, dtype=np.int64)
        else:
            offsets = (access.offset[:threads] if everyone else access.offset[:threads][who]) + access.base
        unit = 4 if access.size % 4 == 0 else 1
        count = access.size // unit
        places = np.concatenate([offsets + i * unit for i in range(count)]) if count > 1 else offsets
        return Cells(places, np.tile(who, count) if count > 1 else who)

    @cached_property
    def span(self) -> tuple[int, int]:
        """The first and the last place."""
        return (int(self.places.min()), int(self.places.max())) if self.places.size else (0, -1)

    @cached_property
    def sorted(self) -> tuple[Numbers, Numbers]:
        """The places in order, with their threads."""
        if not np.count_nonzero(self.places[1:] < self.places[:-1]):
            return self.places, self.who
        order = np.argsort(self.places, kind="stable")
        return self.places[order], self.who[order]

    @cached_property
    def single(self) -> bool:
        """Whether no two threads touch one place."""
        ordered = self.sorted[0]
        return not np.count_nonzero(ordered[1:] == ordered[:-1])

    def apart(self, other: Cells) -> bool:
        """Whether it is clear at a glance that no two threads meet: other places, or the same ones thread by thread."""
        (low, high), (first, last) = self.span, other.span
        if high < low or last < first or high < first or last < low:
            return True
        same = self is other or ((low, high) == (first, last) and np.array_equal(self.places, other.places))
        return same and self.single and (self is other or np.array_equal(self.who, other.who))


def _meet(a: Access, b: Access, mine: Cells, other: Cells) -> Conflict | None:
    """A conflict between two accesses, across warps if there is such a one."""
    places, who = mine.places, mine.who
    ordered, owners = other.sorted
    low, high = np.searchsorted(ordered, places, "left"), np.searchsorted(ordered, places, "right")
    hit = high > low
    if not np.count_nonzero(hit):
        return None
    best: Conflict | None = None
    for pick in (low, high - 1):
        theirs = owners[np.where(hit, pick, 0)]
        different = hit & (theirs != who)
        across = different & (theirs // WARP != who // WARP)
        crossing = bool(np.count_nonzero(across))
        chosen = across if crossing else different
        if crossing or np.count_nonzero(different):
            at = int(np.argmax(chosen))
            found = Conflict(a, b, crossing, (int(who[at]), int(theirs[at])))
            if found.crossing:
                return found
            best = best or found
    return best


def meet_between_blocks(access: Access, others: Iterable[Access]) -> tuple[int, int] | None:
    """Threads of two blocks that touch the same bytes by one access; None where there are none."""
    mine = Cells.of(access, len(access.must))
    for other in others:
        if sure(other) and other.size == access.size and not other.constant and not other.path:
            theirs = Cells.of(other, len(other.must))
            if mine.span[1] < theirs.span[0] or theirs.span[1] < mine.span[0]:
                continue
            _, at, there = np.intersect1d(mine.places, theirs.places, return_indices=True)
            if at.size:
                return int(mine.who[at[0]]), int(theirs.who[there[0]])
    return None
