"""CP304: barriers without which no two threads of a block would meet.

Nothing is said of a kernel some of whose accesses are not known: left out by a test or a return on the samples, or done by
threads that data picks. Nor where a barrier may order writes for other blocks, which an atomic or a fence tells of.
"""

from __future__ import annotations

from cudaperf.engine.analysis.conflicts import Conflict, sure, within_block
from cudaperf.engine.analysis.finding import RULES, Finding
from cudaperf.engine.analysis.runs import ALIGNED, LARGE, Run, Runs
from cudaperf.engine.cuda import ir

Place = tuple[int, int]


def idle_barriers(runs: Runs) -> list[Finding]:
    """Those that no run of any shape needs."""
    every, needed, seen, looked = set[Place](), set[Place](), set[int](), list[Run]()
    for number in range(len(runs.shapes)):
        for sampling in (LARGE, ALIGNED):
            run = runs.run(number, sampling)
            if run is None or not run.trace.complete or not _understood(run):
                return []
            looked.append(run)
            every |= {(b.start, b.end) for b in run.trace.barriers if not b.votes}
            needed |= _needed(run)
            seen |= {a.start for a in run.trace.accesses if a.must.any()}
        if every <= needed:
            return []
    if not _shared_places(runs) <= seen or _fenced(runs) or _renamed(runs):
        return []
    own = runs.kernel
    every = {place for place in every if own.start <= place[0] < own.end}  # a helper's barrier is others' too
    message = "this barrier orders nothing: no thread touches before it what another touches after it"
    return [Finding("CP304", RULES["CP304"].severity, *place, message) for place in _together(every - needed, looked)]


def _together(idle: set[Place], runs: list[Run]) -> list[Place]:
    """Of barriers that could go one at a time, those that can all go: of two in a row one stays."""
    gone: list[Place] = []
    for place in sorted(idle):
        if not any(place in _needed(run, frozenset(gone)) for run in runs):
            gone.append(place)
    return gone


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


def _needed(run: Run, gone: frozenset[Place] = frozenset()) -> set[Place]:
    """The barriers between accesses that conflict, without those that are `gone`."""
    found: set[Place] = set()
    barriers = sorted((b for b in run.trace.barriers if (b.start, b.end) not in gone), key=lambda b: b.interval)
    written = {a.array for a in run.trace.accesses if a.writes}
    for number, barrier in enumerate(barriers):
        place = (barrier.start, barrier.end)
        if place in found:
            continue
        before = barriers[number - 1].interval if number else -1
        after = barriers[number + 1].interval if number + 1 < len(barriers) else run.trace.barriers[-1].interval + 1
        near = [a for a in run.trace.accesses if before < a.interval <= after and a.array in written and a.space != "local"]
        if any(not sure(a) for a in near):
            found.add(place)
            continue
        for array in {a.array for a in near}:
            group = [a for a in near if a.array == array]
            if any(_apart(c, barrier.interval) for c in within_block(run, group, ordered=True)):
                found.add(place)
                break
    return found


def _apart(conflict: Conflict, interval: int) -> bool:
    """Whether a barrier at the end of an interval is between two accesses."""
    return (conflict.first.interval <= interval) != (conflict.second.interval <= interval)


def _shared_places(runs: Runs) -> set[int]:
    """Where the kernel's text touches shared memory, by its own names."""
    nodes = runs.kernel.nodes
    shared = [n for n in nodes if isinstance(n, ir.Declare) and n.shared]
    arrays, scalars = {n.name for n in shared if n.dims}, {n.name for n in shared if not n.dims}
    places = {n.start for n in nodes if isinstance(n, ir.Index) and isinstance(n.base, ir.Name) and n.base.id in arrays}
    return places | {n.start for n in nodes if isinstance(n, ir.Name) and n.id in scalars}


def _renamed(runs: Runs) -> bool:
    """Whether shared memory has types that are not known (unions, say), or goes by other names: references."""
    declared = [n for n in runs.kernel.nodes if isinstance(n, ir.Declare)]
    odd = any(n.shared and n.type.size is None and n.type.name not in runs.kernel.type_names for n in declared)
    return odd or any(n.type.reference for n in declared)


def _fenced(runs: Runs) -> bool:
    return any(isinstance(n, ir.Call) and n.name.startswith("__threadfence") for n in runs.kernel.nodes)
