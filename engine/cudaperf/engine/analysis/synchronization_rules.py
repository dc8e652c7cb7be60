"""CP301 to CP306: barriers, races in shared memory, conflicting writes, returns before barriers. CP304: `idle_barriers`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cudaperf.engine.analysis.conflicts import Conflict, by_interval, meet_between_blocks, sure, within_block
from cudaperf.engine.analysis.finding import RULES, Data, Finding, Related
from cudaperf.engine.analysis.idle_barriers import idle_barriers
from cudaperf.engine.analysis.runs import LARGE, ROWS, SMALL, TIGHT, Run, Runs
from cudaperf.engine.analysis.simt.machine import Sampling
from cudaperf.engine.analysis.simt.trace import Access, Barrier, Exit, Path
from cudaperf.engine.analysis.thread_ids import definitions, numbers_threads
from cudaperf.engine.cuda import ir

FULL = 0xFFFFFFFF


def findings(runs: Runs) -> list[Finding]:
    """The kernel's findings of these rules."""
    found = [*runs.agreed(_within_blocks), *runs.agreed(_between_blocks)]
    crossing = {(f.start, f.end) for f in found if f.code == "CP302"}
    found = [f for f in found if f.code != "CP303" or (f.start, f.end) not in crossing]
    if runs.waits:
        waiting = of_waiting(runs)
        found += waiting
        found += [] if any(f.code in ("CP301", "CP306") for f in waiting) else idle_barriers(runs)
    return found


def of_races(runs: Runs, samplings: tuple[Sampling, ...]) -> list[Finding]:
    """Those of shared memory, on these samplings."""
    return runs.agreed(_shared, samplings)


def of_waiting(runs: Runs) -> list[Finding]:
    """Those of barriers that not all threads reach, and of masks."""
    apart = runs.first is not None and runs.first.trace.diverges
    barriers = runs.any_of(_barriers, (LARGE, TIGHT, SMALL, ROWS) if apart else (LARGE,))
    return [*barriers, *runs.any_of(_masks, (LARGE, TIGHT, SMALL) if apart else (LARGE,))]


# --- barriers --------------------------------------------------------------------------------------------------------------


def _barriers(run: Run) -> Iterable[Finding]:
    for barrier in run.trace.barriers:
        yield from _barrier(run, barrier)


def _barrier(run: Run, barrier: Barrier) -> list[Finding]:
    """A barrier that some threads of a block reach and others do not."""
    choice = next((c for c in barrier.path if c.varying), None)
    if choice is not None and not choice.data:
        return []  # a condition that is not understood
    if choice is not None:
        message = "divergent barrier: whether a thread reaches it depends on data, which can differ between threads of a block"
        related = (Related(choice.start, choice.end, "the condition"),)
        return [Finding("CP301", RULES["CP301"].severity, barrier.start, barrier.end, message, related, {"condition": "data"})]
    if left_by_data := _gone_by_data(run, barrier):
        return left_by_data
    threads = run.trace.threads
    present, absent = barrier.must, ~barrier.may
    if not present.any() or not absent.any():
        return []
    gone = [e for e in run.trace.exits if (e.must & absent).any() and _before(run, e, barrier)]
    left = absent.copy()
    for one in gone:
        left &= ~one.must
    count = int(absent.sum())
    if gone and not left.any():
        return [_return(one, barrier, count, threads) for one in gone]
    message = f"divergent barrier: {int(left.sum())} of {threads} threads of a block do not reach it"
    data: Data = {"absent": int(left.sum()), "threads": threads, "condition": "thread index"}
    return [Finding("CP301", RULES["CP301"].severity, barrier.start, barrier.end, message, data=data)]


def _before(run: Run, one: Exit, barrier: Barrier) -> bool:
    """Whether a return stands before a barrier in the text; of a barrier in a device function, whether it came first."""
    kernel = run.runs.kernel
    return one.start < barrier.start if kernel.start <= barrier.start < kernel.end else one.order <= barrier.order


def _gone_by_data(run: Run, barrier: Barrier) -> list[Finding]:
    """Threads whose data made them return, or leave the loop, before the barrier."""
    taken = {(c.id, c.way) for c in barrier.path}
    exits = [e for e in run.trace.exits if e.order <= barrier.order and _decided(e.path, taken) and _before(run, e, barrier)]
    if exits:
        return [_return(e, barrier, None, run.trace.threads) for e in exits]
    for jump in run.trace.leavings:
        inside = jump.loop[0] <= barrier.start < jump.loop[1]
        if inside and jump.order <= barrier.order and _decided(jump.path, taken):
            message = "divergent barrier: threads leave its loop before it, as their data says"
            return [Finding("CP301", RULES["CP301"].severity, barrier.start, barrier.end, message, data={"condition": "data"})]
    return []


def _decided(path: Path, taken: set[tuple[int, int]]) -> bool:
    """Whether data decides between threads that go this way, and the barrier is not on it."""
    return any(c.data and (c.id, c.way) not in taken for c in path)


def _return(one: Exit, barrier: Barrier, count: int | None, threads: int) -> Finding:
    who = "threads whose data says so" if count is None else f"up to {count} of {threads} threads of a block"
    message = f"return before a barrier: {who} never reach it, nor write what the others wait for"
    related = (Related(barrier.start, barrier.end, "the barrier that they do not reach"),)
    data: Data = {"absent": count, "threads": threads}
    return Finding("CP306", RULES["CP306"].severity, one.start, one.end, message, related, data)


# --- races -----------------------------------------------------------------------------------------------------------------


def _within_blocks(run: Run) -> Iterable[Finding]:
    yield from _shared(run)
    yield from _conflicts(run, "global")


def _shared(run: Run) -> Iterable[Finding]:
    if run.trace.thread_axes:
        yield from _by_data(run)
    yield from _conflicts(run, "shared")


def _conflicts(run: Run, space: str) -> Iterable[Finding]:
    if not run.trace.thread_axes:
        return  # written for a single thread
    for group in by_interval(run, space):
        if space == "global":
            group = [a for a in group if a.writes]
        conflicts = list(within_block(run, group))
        writers = {id(c.first) for c in conflicts if _double(c)} | {id(c.second) for c in conflicts if _double(c)}
        for conflict in conflicts:
            if _double(conflict):
                yield _written_twice(conflict)
            elif space == "shared" and not _told(conflict, writers) and not _same_value(conflict):
                yield _race(run, conflict)


def _by_data(run: Run) -> Iterable[Finding]:
    """An element that data names, of a shared array whose elements other threads write in the same interval."""
    shared = [a for a in run.trace.accesses if a.space == "shared"]
    scattered = [a for a in shared if isinstance(a.offset, int) and isinstance(a.base, np.ndarray) and not a.path]
    for access in scattered:
        for other in shared:
            wide = isinstance(other.offset, np.ndarray) and sure(other) and other.kind == "write" and not other.path
            if wide and other.array == access.array and other.interval == access.interval and other.must.any():
                first, last = sorted((access, other), key=lambda a: a.start)
                message = (
                    f"race: elements of {access.name} are {'written' if last.writes else 'read'} here and "
                    f"{'written' if first.writes else 'read'} by other threads, as the data says, with no barrier between"
                )
                related = (Related(first.start, first.end, "the other access"),)
                severity, data = RULES["CP302"].severity, {"array": access.name}
                yield Finding("CP302", severity, last.start, last.end, message, related, data)


def _double(conflict: Conflict) -> bool:
    """Two plain writes (or one and an atomic) of different values."""
    a, b = conflict.first, conflict.second
    return a.writes and b.writes and not (a.uniform and b.uniform and (a.start, a.end) == (b.start, b.end))


def _same_value(conflict: Conflict) -> bool:
    """Writes of one value by many threads at one place in the text."""
    a, b = conflict.first, conflict.second
    return a.kind == b.kind == "write" and a.uniform and b.uniform and (a.start, a.end) == (b.start, b.end)


def _told(conflict: Conflict, writers: set[int]) -> bool:
    """Whether it is reported as conflicting writes already, as the read of `s[0] += x` is."""
    a, b = conflict.first, conflict.second
    both = {id(a), id(b)}
    return both <= writers or (a.compound and b.compound and (a.start, a.end) == (b.start, b.end) and bool(both & writers))


def _written_twice(conflict: Conflict) -> Finding:
    a, b = conflict.first, conflict.second
    last = b if b.kind != "atomic" else a
    words = f"threads {conflict.threads[0]} and {conflict.threads[1]} of a block"
    message = f"conflicting writes: {words} write one element of {last.name} without an atomic"
    related = () if (a.start, a.end) == (b.start, b.end) else (Related(a.start, a.end, "the other write"),)
    return Finding(
        "CP305", RULES["CP305"].severity, last.start, last.end, message, related, {"array": last.name, "space": last.space}
    )


def _race(run: Run, conflict: Conflict) -> Finding:
    a, b = sorted((conflict.first, conflict.second), key=lambda x: (x.start, x.order))  # in the order of the text
    done = {True: "written", False: "read"}
    array = a.name
    if conflict.crossing or _among_barriers(run, a):
        message = (
            f"race: {array} is {done[b.writes]} here by thread {_thread(conflict, b)} and {done[a.writes]} by thread "
            f"{_thread(conflict, a)} with no barrier between"
        )
        code = "CP302"
    else:
        verbs = {True: "write", False: "read"}
        message = (
            f"lanes of one warp {verbs[b.writes]} elements of {array} that others {verbs[a.writes]} "
            "with no __syncwarp() between"
        )
        code = "CP303"
    related = () if (a.start, a.end) == (b.start, b.end) else (Related(a.start, a.end, f"{done[a.writes]} here"),)
    return Finding(code, RULES[code].severity, b.start, b.end, message, related, {"array": array})


def _among_barriers(run: Run, access: Access) -> bool:
    """Whether the loop around an access waits with barriers, one of which is missing, rather than relying on warps."""
    ends = [(start, run.trace.loops[start]) for start, _ in access.iteration]
    return not run.trace.warp_calls and any(start < b.start < end for b in run.trace.barriers for start, end in ends)


def _thread(conflict: Conflict, access: Access) -> int:
    return conflict.threads[0] if access is conflict.first else conflict.threads[1]


def _between_blocks(run: Run) -> Iterable[Finding]:
    yield from _updates(run)
    stores = [a for a in run.trace.accesses if a.space == "global" and a.kind == "write"]
    written = [a for a in stores if not a.constant and not a.path and sure(a) and not _by_memory(a)]
    if not written or not run.trace.block_axes or _locks(run):
        return
    own = _own_elements(run)
    written = [a for a in written if (a.start, a.end) not in own]
    if not written:
        return
    for trace in run.neighbours():
        by_place: dict[tuple[int, int, str], list[Access]] = {}
        for other in trace.accesses:
            if other.space == "global" and other.kind == "write":
                by_place.setdefault((other.start, other.end, other.array), []).append(other)
        for access in written:
            others = [o for o in by_place.get((access.start, access.end, access.array), ()) if not _by_memory(o)]
            pair = meet_between_blocks(access, others)
            if pair is not None:
                message = (
                    f"conflicting writes: thread {pair[0]} of one block and thread {pair[1]} of another write "
                    f"one element of {access.name} without an atomic"
                )
                data: Data = {"array": access.name, "space": "global"}
                yield Finding("CP305", RULES["CP305"].severity, access.start, access.end, message, data=data)


def _by_memory(access: Access) -> bool:
    """Whether memory decides the place: what is there differs between blocks."""
    return access.array.startswith("*") or not isinstance(access.base, int) or access.base != 0


def _locks(run: Run) -> bool:
    """Whether the kernel may wait for its turn: compare and swap."""
    reached = run.runs.model.reached(run.runs.kernel)
    return any(isinstance(n, ir.Call) and n.name.startswith("atomicCAS") for f in reached for n in f.nodes)


def _own_elements(run: Run) -> set[tuple[int, int]]:
    """Places in the text that index by the thread's number in the grid, where blocks lie along one axis: no two blocks meet."""
    kernel, axes = run.runs.kernel, run.trace.block_axes
    known = definitions(kernel, run.runs.model)
    return {
        (node.start, node.end)
        for node in kernel.nodes
        if isinstance(node, ir.Index) and isinstance(node.base, ir.Name) and {numbers_threads(node.index, known)} == axes
    }


def _updates(run: Run) -> Iterable[Finding]:
    """`bins[key[i]] += 1`: which element is updated is read from memory, so that threads can meet in one."""
    for access in run.trace.accesses:
        if access.kind != "write" or not access.compound or access.space == "local":
            continue
        chosen = isinstance(access.base, np.ndarray)  # by the data, as in h[key[i]]++
        counted = isinstance(access.base, int) and any(c.data for c in access.path)  # if (test(x[i])) count++
        who = np.flatnonzero(access.may)
        if access.offset is None or not (chosen or counted) or len(who) < 2:
            continue  # unknown, or one thread alone
        if isinstance(access.offset, np.ndarray) and len(np.unique(access.offset[who])) == len(who):
            continue  # a place of each thread's own
        message = (
            f"conflicting writes: threads whose data name one element of {access.name} update it at once without an atomic"
        )
        data: Data = {"array": access.name, "space": access.space}
        yield Finding("CP305", RULES["CP305"].severity, access.start, access.end, message, data=data)


# --- warps -----------------------------------------------------------------------------------------------------------------


def _masks(run: Run) -> Iterable[Finding]:
    """A mask that names lanes of a warp that surely do not take part."""
    threads = run.trace.threads
    for call in run.trace.warp_calls:
        if not isinstance(call.mask, int):
            continue
        if call.mask == FULL and any(c.data for c in call.path):
            message = f"wrong mask: {call.name} names all lanes, but data decides which of them take part"
            yield Finding("CP303", RULES["CP303"].severity, call.start, call.end, message, data={"condition": "data"})
        if any(c.varying for c in call.path):
            continue
        named = np.array([(call.mask >> lane) & 1 for lane in range(32)], dtype=np.bool_)
        for begin in range(0, threads - threads % 32, 32):
            here, can = call.must[begin : begin + 32], call.may[begin : begin + 32]
            missing, extra = named & ~can, here & ~named
            if not here.any() or not (missing.any() or extra.any()):
                continue
            if missing.any():
                message = f"wrong mask: {call.name} names {int(missing.sum())} lanes that do not take part"
            else:
                message = f"wrong mask: {int(extra.sum())} lanes that the mask leaves out call {call.name}"
            data: Data = {"missing": int(missing.sum()), "extra": int(extra.sum())}
            yield Finding("CP303", RULES["CP303"].severity, call.start, call.end, message, data=data)
            break
