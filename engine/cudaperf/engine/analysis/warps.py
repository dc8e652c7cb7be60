"""What a warp's request costs: sectors of global memory, degree of bank conflict in shared memory.

A request takes as many 32 byte sectors as its lanes touch (CUDA C++ Programming Guide, device memory accesses). Shared memory
has 32 banks of 4 bytes; requests of 8 and 16 bytes a lane are served by half and quarter warps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from cudaperf.engine.analysis.simt.trace import Access
from cudaperf.engine.analysis.simt.values import Numbers

SECTOR: Final = 32
BANKS: Final = 32
WORD: Final = 4
WARP: Final = 32
REPEAT: Final = 256
"""Bytes after which sectors and banks begin anew, and more."""
MOST_INSTANCES: Final = 16
FAR: Final = 1 << 14
MOST_LENGTHS: Final = 3
"""Lanes that cross rows, or planes, are some few distances apart."""


@dataclass(slots=True)
class Requests:
    """Sums over the warps looked at: `cost` and `ideal` are sectors in global memory, passes in shared memory; `worst` is the
    most that one warp took. `stride` is the bytes between neighbouring lanes where it is the same everywhere; `ragged`: far
    and of many lengths, as divisions and shifts of large samples make them."""

    warps: int = 0
    lanes: int = 0
    cost: int = 0
    ideal: int = 0
    worst: int = 0
    stride: int | None = None
    mixed: bool = False
    ragged: bool = False

    def add(self, lanes: int, cost: int, ideal: int, stride: int | None, ragged: bool) -> None:
        self.mixed |= self.warps > 0 and stride != self.stride
        self.stride = stride
        self.warps += 1
        self.lanes += lanes
        self.cost += cost
        self.ideal += ideal
        self.worst = max(self.worst, cost)
        self.ragged |= ragged


def lanes(access: Access, threads: int) -> Iterator[Numbers]:
    """The byte offsets of some warps of the first block, active lanes only; nothing where memory decides what they are."""
    if access.offset is None:
        return
    count = -(-threads // WARP)
    for number in {0, count // 2, count - 1}:
        begin, end = number * WARP, min((number + 1) * WARP, threads)
        active = access.may[begin:end]
        some = np.count_nonzero(active)
        if not some:
            continue
        full = some == len(active)
        if isinstance(access.base, np.ndarray):
            base = access.base[begin:end] if full else access.base[begin:end][active]
            if (base != base[0]).any():
                continue
        if isinstance(access.offset, int):
            yield np.full(some, access.offset, dtype=np.int64)
        else:
            yield access.offset[begin:end] if full else access.offset[begin:end][active]


def requests(accesses: list[Access], threads: int) -> Requests | None:
    """Costs of one access's instances; None where none of them is known."""
    found = Requests()
    for access in accesses[:MOST_INSTANCES]:
        if access.size is None:
            return None
        for offsets in lanes(access, threads):
            first = offsets[0]
            found.add(
                len(offsets), *_cost((offsets - (first - first % REPEAT)).tobytes(), access.size, access.space == "shared")
            )
    return found if found.warps else None


@lru_cache(maxsize=8192)
def _cost(pattern: bytes, size: int, shared: bool) -> tuple[int, int, int | None, bool]:
    """(cost, ideal, stride, whether it is ragged) of one request; `pattern` holds its lanes' offsets, from a multiple of
    `REPEAT` on. Few patterns make up most requests."""
    places = np.frombuffer(pattern, dtype=np.int64).tolist()
    if shared:
        return bank_degree(places, size), 1, *_stride(places)
    return sectors(places, size), -(-len(set(places)) * size // SECTOR), *_stride(places)


def _stride(places: list[int]) -> tuple[int | None, bool]:
    """(the distance of neighbours where it is one number, whether distances are ragged)."""
    steps = {b - a for a, b in pairwise(places)}
    ragged = len(steps) > MOST_LENGTHS and max(map(abs, steps)) >= FAR
    return (next(iter(steps)) if len(steps) == 1 else None), ragged


def sectors(places: list[int], size: int) -> int:
    """How many sectors the lanes touch."""
    touched = {place // SECTOR for place in places}
    touched |= {(place + at) // SECTOR for place in places for at in (*range(SECTOR, size, SECTOR), size - 1)}
    return len(touched)


def bank_degree(places: list[int], size: int) -> int:
    """The most different words that one bank must serve in one pass over the lanes."""
    words = max(1, size // WORD)
    group = max(1, WARP // words)
    worst = 1
    for begin in range(0, len(places), group):
        touched = {place // WORD + i for place in places[begin : begin + group] for i in range(words)}
        if len(touched) > 1:
            worst = max(worst, max(Counter(word % BANKS for word in touched).values()))
    return worst
