"""CP101 to CP105 and CP204: how a kernel's threads use global, shared and local memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import numpy as np

from cudaperf.engine.analysis.finding import RULES, Data, Edit, Finding, Fix
from cudaperf.engine.analysis.runs import ALIGNED, Run, Runs
from cudaperf.engine.analysis.simt.trace import Access
from cudaperf.engine.analysis.simt.values import Numbers
from cudaperf.engine.analysis.warps import WARP, Requests, requests
from cudaperf.engine.cuda import ir

FEWEST_LANES: Final = 5
LARGEST_FACTOR: Final = 16
WIDEST: Final = 16
FAR: Final = 1 << 16
"""Bytes between lanes that no code has written as a number: a product of samples."""
Key = tuple[int, int, str, str]


def grouped(run: Run, space: str) -> dict[Key, list[Access]]:
    """The accesses of one space by place in the text, array and kind."""
    found: dict[Key, list[Access]] = defaultdict(list)
    for access in run.trace.accesses:
        if access.space == space:
            found[access.start, access.end, access.array, access.kind].append(access)
    return found


def findings(runs: Runs) -> list[Finding]:
    """The kernel's findings of these rules."""
    return [
        *runs.agreed(_uncoalesced),
        *runs.agreed(_bank_conflicts),
        *runs.agreed(_vectorizable),
        *_repeated(runs),
        *_unrestricted(runs),
        *_local_arrays(runs),
    ]


def _uncoalesced(run: Run) -> Iterator[Finding]:
    for (start, end, array, kind), accesses in grouped(run, "global").items():
        cost = requests(accesses, run.trace.threads) if kind != "atomic" else None
        if cost is None or not _wasteful(cost):
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


def _wasteful(cost: Requests) -> bool:
    """At least twice the sectors that contiguous lanes would need, and not for a few lanes only."""
    return cost.lanes >= FEWEST_LANES * cost.warps and cost.cost >= 2 * cost.ideal and cost.cost >= cost.ideal + 2 * cost.warps


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def _apart(run: Run, stride: int, size: int) -> str | None:
    """A distance in words: a number of elements, or of the parameter that it is a multiple of; None for others."""
    for name, sample in run.trace.samples.items():
        factor, rest = divmod(abs(stride), sample * size)
        if not rest and 0 < factor <= LARGEST_FACTOR:
            return f"{name if factor == 1 else f'{factor} * {name}'} elements of {size} bytes"
    if abs(stride) >= FAR:
        return None
    return f"{abs(stride)} bytes" if stride % size else f"{abs(stride) // size} elements of {size} bytes"


def _bank_conflicts(run: Run) -> Iterator[Finding]:
    for (start, end, array, kind), accesses in grouped(run, "shared").items():
        cost = requests(accesses, run.trace.threads) if kind != "atomic" else None
        if cost is None or cost.cost < 2 * cost.warps or cost.lanes < FEWEST_LANES * cost.warps:
            continue
        message = f"{cost.worst}-way bank conflict: threads of a warp touch {cost.worst} words of {array} in one bank"
        data: Data = {"array": array, "degree": cost.worst}
        yield Finding("CP102", RULES["CP102"].severity, start, end, message, data=data)


def _vectorizable(run: Run) -> Iterator[Finding]:
    """A thread's 2 or 4 neighbouring elements, in one piece of straight code, its neighbour the next ones."""
    groups: dict[tuple[object, ...], list[tuple[Access, Numbers]]] = defaultdict(list)
    for access in run.trace.accesses:
        if access.space == "global" and access.kind != "atomic" and isinstance(access.offset, np.ndarray):
            key = (access.array, access.kind, access.size, access.iteration, access.path, access.interval, access.compound)
            groups[key].append((access, access.offset[:WARP]))
    for parts in groups.values():
        first = parts[0][0]
        size, count = first.size, len({(a.start, a.end) for a, _ in parts})
        if size is None or not 2 <= size <= 8 or count not in (2, 4) or first.compound:
            continue
        width = count * size
        starts = sorted({int(offsets[0]) for _, offsets in parts})
        apart = {int(step) for _, offsets in parts for step in np.diff(offsets)}
        wanted = [starts[0] + i * size for i in range(count)]
        if starts != wanted or apart != {width} or width > WIDEST or starts[0] % width:
            continue
        verb = "writes" if first.kind == "write" else "reads"
        message = (
            f"each thread {verb} {count} neighbouring elements of {first.array} singly; one access of {width} bytes can do it"
        )
        data: Data = {"array": first.array, "elements": count, "bytes": width}
        yield Finding("CP103", RULES["CP103"].severity, first.start, first.end, message, data=data)


def _repeated(runs: Runs) -> list[Finding]:
    """A load in a loop that reads the same place every round, while the loop writes there or where it may alias."""
    run, found = runs.first, list[Finding]()
    if run is None:
        return found
    by_place = grouped(run, "global")
    written = {array for (_, _, array, kind) in by_place if kind != "read"}
    writing = {r[0] for a in run.trace.accesses if a.writes and a.space != "local" for r in a.iteration}
    for (start, end, array, kind), accesses in by_place.items():
        rounds = {a.iteration[-1] for a in accesses if a.iteration}
        loops = {r[0] for r in rounds}
        if kind != "read" or len(rounds) < 2 or any(a.offset is None or a.from_data or not a.iteration for a in accesses):
            continue
        same = all(np.array_equal(np.asarray(a.offset), np.asarray(accesses[0].offset)) for a in accesses)
        own = all(a.compound for a in accesses)
        if not same or len(loops) != 1 or not loops <= writing or (array in written and not own):
            continue
        if not own and _restricted(runs, array):
            continue
        place = "one place in memory is read and written in every round of the loop: a register can hold the sum"
        alias = "it is loaded from one place in every round of the loop: what the loop writes may alias it"
        message = f"{array}: {place if own else alias}"
        found.append(Finding("CP104", RULES["CP104"].severity, start, end, message, data={"array": array}))
    return found


def _restricted(runs: Runs, array: str) -> bool:
    return any(p.name == array and p.type.restrict for p in runs.kernel.parameters)


def _unrestricted(runs: Runs) -> list[Finding]:
    """Pointers that the kernel only reads, while it writes through others."""
    run = runs.first
    if run is None or not run.trace.complete:
        return []
    touched = [a for a in run.trace.accesses if a.space == "global"]
    written = {a.array for a in touched if a.kind != "read"}
    read = {a.array for a in touched if a.kind == "read"}
    escaped = _escaping(runs)
    found = []
    for parameter in runs.kernel.parameters:
        kind, name = parameter.type, parameter.name
        if kind.pointers != 1 or name not in read or name in written or not written or name in escaped:
            continue
        if kind.const and kind.restrict:
            continue
        missing = " and ".join(word for word, has in (("const", kind.const), ("__restrict__", kind.restrict)) if not has)
        message = f"{name} is only read: with {missing} the compiler may keep its values and use read-only loads"
        text = runs.model.source.text(parameter.start, parameter.end)
        head, star, tail = text.rpartition("*")
        head = head if kind.const else f"const {head.lstrip()}"
        tail = tail if kind.restrict else f" __restrict__ {tail.strip()}"
        fix = (
            Fix(f"Declare {name} const __restrict__", (Edit(parameter.start, parameter.end, f"{head}{star}{tail}"),))
            if star
            else None
        )
        found.append(
            Finding("CP105", RULES["CP105"].severity, parameter.start, parameter.end, message, data={"array": name}, fix=fix)
        )
    return found


def _escaping(runs: Runs) -> set[str]:
    """Pointers that are handed to functions, or copied: something else may write through them."""
    names: set[str] = set()
    for node in runs.kernel.nodes:
        inside = node.args if isinstance(node, ir.Call) else [node.init] if isinstance(node, ir.Declare) and node.init else []
        for part in inside:
            names |= {n.id for n in ir.walk(part) if isinstance(n, ir.Name)}
    return names


def _local_arrays(runs: Runs) -> list[Finding]:
    """A local array indexed by what is not known when compiling, even with its loops unrolled: it differs between threads,
    comes from memory, or follows parameters (other samples lead elsewhere)."""
    run = runs.first
    if run is None or not any(a.space == "local" for a in run.trace.accesses):
        return []
    other = runs.run(0, ALIGNED)
    if other is None:
        return []
    elsewhere = {(a.start, a.end, a.iteration): a.offset for a in other.trace.accesses if a.space == "local"}
    found: dict[str, Finding] = {}
    for access in run.trace.accesses:
        if access.space != "local" or access.array in found:
            continue
        twin = elsewhere.get((access.start, access.end, access.iteration), access.offset)
        follows = isinstance(access.offset, int) and isinstance(twin, int) and twin != access.offset
        loaded = access.from_data or not isinstance(access.base, int) or access.base != 0
        if isinstance(access.offset, np.ndarray) or loaded or follows:
            name = access.array.partition("@")[0]  # of an inlined function's
            message = f"{name} is indexed at run time, so it lies in local memory instead of registers"
            data: Data = {"array": name}
            found[access.array] = Finding("CP204", RULES["CP204"].severity, access.start, access.end, message, data=data)
    return list(found.values())
