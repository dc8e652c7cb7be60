"""A changed kernel run again: whether a finding is gone, and nothing new has come.

Told by the runs that decide what is reported: an access's finding must show on large samples, one of barriers shows on any.
For guessed shapes one will do, as what is found must hold in all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cudaperf.engine.analysis.finding import Edit, Finding
from cudaperf.engine.analysis.runs import LARGE, Runs
from cudaperf.engine.analysis.simt.trace import Path
from cudaperf.engine.analysis.synchronization_rules import of_races, of_waiting
from cudaperf.engine.cuda.model import Function

Place = tuple[str, int, int]


@dataclass(slots=True)
class Change:
    """A kernel with statements that wait at the offsets `barriers`, and how its text becomes that."""

    kernel: Function
    edits: tuple[Edit, ...] = ()
    barriers: tuple[int, ...] = ()


def place(finding: Finding) -> Place:
    return finding.code, finding.start, finding.end


def again(runs: Runs, kernel: Function) -> Runs:
    """The runs of a changed kernel."""
    shapes = runs.shapes if runs.known else runs.shapes[:1]
    return Runs(runs.model, kernel, runs.known, shapes, True)


class Trials:
    """Of one kernel, whose findings without fixes these are: each change is run once, whichever of them it is for."""

    def __init__(self, runs: Runs, findings: Iterable[Finding]) -> None:
        self.runs, self._known = runs, {place(f) for f in findings}
        self._left: dict[tuple[object, ...], set[Place] | None] = {}

    def mends(self, finding: Finding, change: Change) -> bool:
        """Whether the changed kernel is one without the finding, and nothing new is found of it."""
        key = (change.edits, change.barriers)
        if key not in self._left:
            self._left[key] = self._tried(change)
        left = self._left[key]
        return left is not None and place(finding) not in left

    def _tried(self, change: Change) -> set[Place] | None:
        """What is found of a changed kernel; None where that is more than before, or a barrier of it parts threads."""
        trial = again(self.runs, change.kernel)
        for number in range(len(trial.shapes)):
            trial.run(number, LARGE)
        if not _reached(trial, change.barriers):
            return None
        left = {place(f) for f in of_races(trial, (LARGE,))}
        if not left <= self._known | _before(self.runs, left - self._known):
            return None
        waiting = {place(f) for f in of_waiting(trial)}
        return left | waiting if waiting <= self._known and _reached(trial, change.barriers) else None


def _before(runs: Runs, asked: set[Place]) -> set[Place]:
    """Races of the kernel as it was that are not reported, as some sampling or shape does not show them."""
    if not asked:
        return set()
    same = again(runs, runs.kernel)
    same.made = runs.made
    return {place(f) for f in of_races(same, (LARGE,))}


def _reached(trial: Runs, barriers: tuple[int, ...]) -> bool:
    """Whether in all runs so far all that wait together come to these places, and in some run they do."""
    seen = set[int]()
    for run in trial.made.values():
        if run is None:
            return False
        for barrier in run.trace.barriers:
            if barrier.start == barrier.end and barrier.start in barriers:
                seen.add(barrier.start)
                if _parts(barrier.path) or not barrier.must.all():
                    return False
        for call in run.trace.warp_calls:
            if call.start == call.end and call.start in barriers:
                seen.add(call.start)
                starts = range(0, len(call.must), 32)
                whole = (call.must[s : s + 32] for s in starts if call.may[s : s + 32].any())
                if _parts(call.path) or not all(lanes.all() for lanes in whole):
                    return False
    return seen == set(barriers)


def _parts(path: Path) -> bool:
    """Whether threads may differ about a branch that was tried."""
    return any(choice.varying for choice in path)
