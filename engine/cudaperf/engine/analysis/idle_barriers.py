"""CP304: barriers without which no two threads of a block would meet.

Nothing is said of a kernel some of whose accesses are not known: left out by a test or a return on the samples, or done by
threads that data picks. Nor where a barrier may order writes for other blocks, which an atomic or a fence tells of.
"""

from __future__ import annotations

from bisect import bisect_left

from cudaperf.engine.analysis.conflicts import sure, within_block
from cudaperf.engine.analysis.finding import RULES, Finding
from cudaperf.engine.analysis.runs import ALIGNED, LARGE, Run, Runs
from cudaperf.engine.analysis.simt.trace import Access
from cudaperf.engine.cuda import ir


def idle_barriers(runs: Runs) -> list[Finding]:
    """Those that no run of any shape needs."""
    every, needed, seen = set[tuple[int, int]](), set[tuple[int, int]](), set[int]()
    for number in range(len(runs.shapes)):
        for sampling in (LARGE, ALIGNED):
            run = runs.run(number, sampling)
            if run is None or not run.trace.complete or not _understood(run):
                return []
            every |= {(b.start, b.end) for b in run.trace.barriers if not b.votes}
            needed |= _needed(run)
            seen |= {a.start for a in run.trace.accesses if a.must.any()}
        if every <= needed:
            return []
    if not _shared_places(runs) <= seen or _fenced(runs):
        return []
    message = "this barrier orders nothing: no thread touches before it what another touches after it"
    return [Finding("CP304", RULES["CP304"].severity, *place, message) for place in sorted(every - needed)]


def needed_without(runs: Runs, gone: set[tuple[int, int]]) -> bool:
    """Whether without all these barriers two threads would meet, where without each one none do."""
    made = (runs.run(number, sampling) for number in range(len(runs.shapes)) for sampling in (LARGE, ALIGNED))
    return any(run is None or _meet(run, gone) for run in made)


def _meet(run: Run, gone: set[tuple[int, int]]) -> bool:
    """Whether accesses conflict between which no other barrier stands."""
    kept = sorted(b.interval for b in run.trace.barriers if (b.start, b.end) not in gone)
    written = {a.array for a in run.trace.accesses if a.writes}
    groups: dict[tuple[str, int], list[Access]] = {}
    for access in run.trace.accesses:
        if access.space != "local" and access.array in written:
            if not sure(access):
                return True
            groups.setdefault((access.array, bisect_left(kept, access.interval)), []).append(access)
    pairs = (c for group in groups.values() for c in within_block(run, group, ordered=True))
    return any(c.first.interval != c.second.interval for c in pairs)


def _understood(run: Run) -> bool:
    """Whether every access that a barrier could order is known."""
    shared = [a for a in run.trace.accesses if a.space == "shared"]
    if any(loop in run.trace.cut for a in shared for loop, _ in a.iteration):
        return False  # what the later rounds touch is not known
    written = [a for a in run.trace.accesses if a.space == "global" and a.writes]
    if any(a.kind == "atomic" for a in written) and any(a.kind == "write" for a in written):
        return False  # other blocks may wait for what is written
    plain = all(sure(a) and not a.path and (a.must == a.may).all() for a in (*shared, *written))
    return plain and not any(b.path for b in run.trace.barriers)


def _needed(run: Run) -> set[tuple[int, int]]:
    """The barriers between accesses that conflict."""
    found: set[tuple[int, int]] = set()
    barriers = sorted(run.trace.barriers, key=lambda b: b.interval)
    written = {a.array for a in run.trace.accesses if a.writes}
    for number, barrier in enumerate(barriers):
        place = (barrier.start, barrier.end)
        if place in found:
            continue
        before = barriers[number - 1].interval if number else -1
        after = barrier.interval + 1
        near = [a for a in run.trace.accesses if before < a.interval <= after and a.array in written and a.space != "local"]
        if any(not sure(a) for a in near):
            found.add(place)
            continue
        for array in {a.array for a in near}:
            group = [a for a in near if a.array == array]
            if any(c.first.interval != c.second.interval for c in within_block(run, group, ordered=True)):
                found.add(place)
                break
    return found


def _shared_places(runs: Runs) -> set[int]:
    """Where the kernel's text touches shared memory, by its own names."""
    nodes = runs.kernel.nodes
    shared = {n.name for n in nodes if isinstance(n, ir.Declare) and n.shared and n.dims}
    return {n.start for n in nodes if isinstance(n, ir.Index) and isinstance(n.base, ir.Name) and n.base.id in shared}


def _fenced(runs: Runs) -> bool:
    return any(isinstance(n, ir.Call) and n.name.startswith("__threadfence") for n in runs.kernel.nodes)
