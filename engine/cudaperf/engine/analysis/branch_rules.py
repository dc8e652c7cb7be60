"""CP402: branches on the lane index, which split warps."""

from __future__ import annotations

from collections.abc import Iterator

from cudaperf.engine.analysis.finding import RULES, Data, Finding
from cudaperf.engine.analysis.runs import LARGE, Run, Runs

WARP = 32
FEW = 4


def findings(runs: Runs) -> list[Finding]:
    """Branches that split most warps of a block between lanes, both parts large (a guard of a few lanes costs nothing)."""
    return runs.agreed(_splits, (LARGE,))


def _splits(run: Run) -> Iterator[Finding]:
    for split in run.trace.splits:
        warps = mixed = 0
        for begin in range(0, run.trace.threads, WARP):
            part = slice(begin, begin + WARP)
            active, taken = int(split.active[part].sum()), int(split.taken[part].sum())
            warps += active == WARP
            mixed += active == WARP and FEW <= taken <= active - FEW
        if warps and mixed == warps:
            message = (
                f"divergent branch: it splits the lanes of {mixed} of {warps} warps, which run both sides one after the other"
            )
            data: Data = {"warps": warps, "split": mixed}
            yield Finding("CP402", RULES["CP402"].severity, split.start, split.end, message, data=data)
