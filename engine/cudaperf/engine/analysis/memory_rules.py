"""CP101 to CP105 and CP204: how a kernel's threads use global, shared and local memory.

CP104 and CP105 are found by `pointer_rules`, CP204 by `local_arrays`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import numpy as np

from cudaperf.engine.analysis.finding import RULES, Data, Finding
from cudaperf.engine.analysis.joined import joined
from cudaperf.engine.analysis.local_arrays import in_local_memory
from cudaperf.engine.analysis.pointer_rules import repeated, unrestricted, volatile
from cudaperf.engine.analysis.runs import Run, Runs
from cudaperf.engine.analysis.simt.machine import FEWEST, GRID
from cudaperf.engine.analysis.simt.trace import Access
from cudaperf.engine.analysis.simt.values import Numbers
from cudaperf.engine.analysis.warps import WARP, Requests, requests

FEWEST_LANES: Final = 5
LARGEST_FACTOR: Final = 16
WIDEST: Final = 16
FAR: Final = 1 << 16
"""Bytes between lanes that no code has written as a number: a product of samples."""
Key = tuple[int, int, str, str]


def grouped(run: Run, space: str) -> dict[Key, list[Access]]:
    """The accesses of one space by place in the text, array and kind."""
    found: dict[Key, list[Access]] = defaultdict(list)
    for access in joined([a for a in run.trace.accesses if a.space == space]):
        found[access.start, access.end, access.array, access.kind].append(access)
    return found


def findings(runs: Runs) -> list[Finding]:
    """The kernel's findings of these rules."""
    return [
        *runs.agreed(_uncoalesced),
        *runs.agreed(bank_conflicts),
        *runs.agreed(_vectorizable),
        *repeated(runs),
        *unrestricted(runs),
        *in_local_memory(runs),
    ]


def _uncoalesced(run: Run) -> Iterator[Finding]:
    widths = _widths(run)
    for (start, end, array, kind), accesses in grouped(run, "global").items():
        cost = requests(accesses, run.trace.threads) if kind != "atomic" else None
        if cost is None or not _wasteful(cost) or all(_spare(access, widths) for access in accesses):
            continue
        per_request, ideal = cost.cost / cost.warps, max(1.0, cost.ideal / cost.warps)
        size = accesses[0].size or 4
        stride = cost.stride if not cost.mixed else None
        if cost.ragged:
            continue  # what samples of parameters make of it, through divisions or shifts
        named = _apart(run, stride, size) if stride else None
        apart = f"are {named} apart" if named else "touch places far apart"
        verb = "written" if kind == "write" else "read"
        sectors = f"{_number(per_request)} sectors per request instead of {_number(ideal)}"
        data: Data = {
            "array": array,
            "sectors": round(per_request, 2),
            "ideal_sectors": round(ideal, 2),
            "stride_bytes": stride if stride is not None and abs(stride) < 1 << 16 else None,
            "size": size,
        }
        message = f"uncoalesced access: {array} is {verb} where neighbouring threads {apart}: {sectors}"
        yield Finding("CP101", RULES["CP101"].severity, start, end, message, data=data)


Widths = dict[tuple[int, str], dict[int, int]]


def _widths(run: Run) -> Widths:
    """For each branch on trial and array, the widest access of each way in bytes; where a type is not known, any width."""
    found: Widths = defaultdict(dict)
    for access in run.trace.accesses:
        if access.space == "global":
            for choice in access.path:
                ways = found[choice.id, access.array]
                ways[choice.way] = max(ways.get(choice.way, 0), access.size if access.size is not None else FAR)
    return found


def _spare(access: Access, widths: Widths) -> bool:
    """Whether an access stands in for a wider one on the other side of a branch: the tail, or pointers that are not aligned."""
    size = access.size or 0
    return any(width > size for c in access.path for way, width in widths[c.id, access.array].items() if way != c.way)


def _wasteful(cost: Requests) -> bool:
    """At least twice the sectors that contiguous lanes would need, and not for a few lanes only."""
    return cost.lanes >= FEWEST_LANES * cost.warps and cost.cost >= 2 * cost.ideal and cost.cost >= cost.ideal + 2 * cost.warps


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def _apart(run: Run, stride: int, size: int) -> str | None:
    """A distance in words: a number of elements, or of the parameter that it is a multiple of; None for others."""
    for name, sample in {**run.trace.samples, **{f"gridDim.{axis}": size for axis, size in GRID.items()}}.items():
        if sample < FEWEST:
            continue
        factor, rest = divmod(abs(stride), sample * size)
        if not rest and 0 < factor <= LARGEST_FACTOR:
            return f"{name if factor == 1 else f'{factor} * {name}'} elements of {size} bytes"
    if abs(stride) >= FAR:
        return None
    return f"{abs(stride)} bytes" if stride % size else f"{abs(stride) // size} elements of {size} bytes"


def bank_conflicts(run: Run) -> Iterator[Finding]:
    """CP102 in one run."""
    for (start, end, _, kind), accesses in grouped(run, "shared").items():
        cost = requests(accesses, run.trace.threads) if kind != "atomic" else None
        if cost is None or cost.cost < 2 * cost.warps or cost.lanes < FEWEST_LANES * cost.warps:
            continue
        name = accesses[0].name
        message = f"{cost.worst}-way bank conflict: threads of a warp touch {cost.worst} words of {name} in one bank"
        data: Data = {"array": name, "degree": cost.worst}
        yield Finding("CP102", RULES["CP102"].severity, start, end, message, data=data)


def _vectorizable(run: Run) -> Iterator[Finding]:
    """A thread's 2 or 4 neighbouring elements, in one piece of straight code, its neighbour the next ones."""
    groups: dict[tuple[object, ...], dict[int, tuple[Access, Numbers]]] = defaultdict(dict)
    for access in run.trace.accesses:
        plain = access.space == "global" and access.kind != "atomic" and isinstance(access.base, int) and access.part is None
        if plain and isinstance(access.offset, np.ndarray):
            key = (access.array, access.kind, access.size, access.iteration, access.path, access.interval, access.compound)
            groups[key].setdefault(int(access.offset[0]), (access, access.offset[:WARP]))
    for parts in groups.values():
        starts, first = sorted(parts), next(iter(parts.values()))[0]
        size, count = first.size, len(parts)
        if size is None or not 2 <= size <= 8 or count not in (2, 4) or first.compound or volatile(run.runs, first.array):
            continue
        width = count * size
        apart = {int(step) for _, offsets in parts.values() for step in np.diff(offsets)}
        wanted = [starts[0] + i * size for i in range(count)]
        if starts != wanted or apart != {width} or width > WIDEST or not _aligned(run, parts[starts[0]][0], width):
            continue
        verb = "writes" if first.kind == "write" else "reads"
        message = (
            f"each thread {verb} {count} neighbouring elements of {first.array} singly; one access of {width} bytes can do it"
        )
        data: Data = {"array": first.array, "elements": count, "bytes": width}
        yield Finding("CP103", RULES["CP103"].severity, first.start, first.end, message, data=data)


def _aligned(run: Run, access: Access, width: int) -> bool:
    """Whether an access starts at a multiple of `width` in this block and in its neighbours."""
    same = [access]
    for trace in run.neighbours():
        same += [a for a in trace.accesses if (a.start, a.end, a.iteration) == (access.start, access.end, access.iteration)]
    starts = (a.base + np.asarray(a.offset).flat[0] if isinstance(a.base, int) and a.offset is not None else 1 for a in same)
    return all(start % width == 0 for start in starts)
