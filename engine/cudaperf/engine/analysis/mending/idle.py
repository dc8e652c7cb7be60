"""CP304: the barrier that orders nothing, taken out.

Those of one kernel can all go together. Not safe: a barrier may be there for what is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from cudaperf.engine.analysis.finding import Finding, Fix
from cudaperf.engine.analysis.mending.layout import around, without
from cudaperf.engine.analysis.mending.trial import Place, place
from cudaperf.engine.analysis.runs import Runs

_STATEMENT: Final = re.compile(rb"(\w+)[^;]*;")


def removed(runs: Runs, findings: Iterable[Finding]) -> dict[Place, Fix]:
    """Fixes for a kernel's barriers that order nothing, by the finding's place."""
    fixes: dict[Place, Fix] = {}
    data = runs.model.source.data
    for finding in sorted(findings, key=lambda f: f.start):
        placed = next(around(runs.kernel, finding.start), None)
        if placed is None or placed.statement.start_byte != finding.start:
            continue
        start, end = placed.statement.start_byte, placed.statement.end_byte
        written = _STATEMENT.fullmatch(data, start, end)
        alone = written is not None and written[1].decode() not in runs.model.macros
        if alone:
            fixes[place(finding)] = Fix("Remove the barrier", (without(data, start, end),))
    return fixes
