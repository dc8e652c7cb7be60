"""CP302 and CP303: the barrier that is missing between two accesses: before the later one, or at the end of their loop.

Not safe: a person should look, as data may need more than one barrier, or another order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cudaperf.engine.analysis.conflicts import by_interval, meet
from cudaperf.engine.analysis.finding import Edit, Finding, Fix
from cudaperf.engine.analysis.mending.changed import block_at, called, with_block
from cudaperf.engine.analysis.mending.layout import before, last, loop_around, parted
from cudaperf.engine.analysis.mending.trial import Change, Trials
from cudaperf.engine.analysis.runs import Run, Runs
from cudaperf.engine.analysis.simt.trace import Access

WAITS = {"CP302": "__syncthreads", "CP303": "__syncwarp"}


@dataclass(slots=True)
class _Missing:
    """Where a race's other accesses stand: those that come before it, and those that come after it as a loop goes on."""

    earlier: set[int] = field(default_factory=set)
    later: set[int] = field(default_factory=set)


def separated(trials: Trials, finding: Finding) -> Fix | None:
    """The fix of a race in a kernel."""
    runs = trials.runs
    run = runs.first
    if run is None or "array" not in finding.data:
        return None
    missing, name = _missing(run, finding), WAITS[finding.code]
    change = _changed(runs, finding, missing, name)
    if not change.edits or not trials.mends(finding, change):
        return None
    place = "between the two accesses" if missing.earlier else "at the end of the loop"
    return Fix(f"Add {name}() {place}", change.edits)


def _missing(run: Run, finding: Finding) -> _Missing:
    found, here = _Missing({r.start for r in finding.related[:1]}), (finding.start, finding.end)
    if not any(loop_around(run.runs.kernel, other, finding.start) for other in found.earlier or {finding.start}):
        return found
    found.earlier.clear()
    for group in by_interval(run, "shared"):
        if group[0].array == finding.data["array"]:
            group = [a for a in group if all(number <= 1 for _, number in a.iteration)]  # more rounds say no more
            mine = [a for a in group if (a.start, a.end) == here]
            for first, second in _met(run, mine, group, found):
                if second.start == finding.start and first.start < second.start:
                    found.earlier.add(first.start)
                elif first.start == finding.start:
                    found.later.add(second.start)
    if not found.earlier and not found.later:
        found.earlier = {related.start for related in finding.related[:1]}
    return found


def _met(run: Run, mine: list[Access], group: list[Access], found: _Missing) -> Iterator[tuple[Access, Access]]:
    """Pairs that conflict, in the order of execution, one of each of `mine`; places that are found already are passed over."""
    for access in mine:
        for other in group:
            after = other.order > access.order
            if other.start in (found.later if after else found.earlier) or (other.start > access.start and after):
                continue
            first, second = (access, other) if after else (other, access)
            if meet(run, first, second):
                yield first, second


def _changed(runs: Runs, finding: Finding, missing: _Missing, name: str) -> Change:
    """The kernel with a barrier before the access and one at the end of a loop, as far as they are missing."""
    change, data = Change(runs.kernel), runs.model.source.data
    parts = [parted(runs.kernel, first, finding.start) for first in missing.earlier]
    loops = [loop_around(runs.kernel, other, finding.start) for other in missing.later]
    if None in parts or None in loops:
        return change
    if parts:
        placed = max((p for p in parts if p is not None), key=lambda p: p.statement.start_byte)
        at = placed.statement.start_byte
        _insert(change, placed.braces.start_byte, at, name, before(data, at, f"{name}();"))
    if loops:
        braces = max((b for b in loops if b is not None), key=lambda b: b.start_byte)
        _insert(change, braces.start_byte, braces.end_byte - 1, name, last(data, braces, f"{name}();"))
    return change if len(change.edits) == bool(parts) + bool(loops) else Change(runs.kernel)


def _insert(change: Change, braces: int, at: int, name: str, edit: Edit | None) -> None:
    block = block_at(change.kernel, braces)
    if block is None or edit is None:
        return
    behind = next((i for i, s in enumerate(block.body) if s.start >= at), len(block.body))
    body = [*block.body[:behind], called(name, at), *block.body[behind:]]
    change.kernel = with_block(change.kernel, block, body)
    change.edits += (edit,)
    change.barriers += (at,)
