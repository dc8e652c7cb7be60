"""The rule families that look at simulated runs: memory and synchronization."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cudaperf.engine.analysis import branch_rules, memory_rules, synchronization_rules
from cudaperf.engine.analysis.finding import Finding, Related
from cudaperf.engine.analysis.measured import confirmed, instances
from cudaperf.engine.analysis.mending.fixes_of_runs import mended
from cudaperf.engine.analysis.runs import runs_of
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function


def findings(model: FileModel, function: Function, settings: Settings) -> list[Finding]:
    """What the runs of a kernel show, each place once."""
    if function.kind != "kernel":
        return []
    runs = runs_of(model, function, settings)
    figures = instances(model, function, settings.measured)
    found: dict[tuple[str, int, int], Finding] = {}
    for finding in (
        *(f for each in memory_rules.findings(runs) if (f := confirmed(each, figures, settings.measured)) is not None),
        *synchronization_rules.findings(runs),
        *branch_rules.findings(runs),
    ):
        if not function.start <= finding.start < function.end:
            finding = replace(finding, related=(*finding.related, *_called(model, function, finding.start)))
        found.setdefault((finding.code, finding.start, finding.end), finding)
    return mended(runs, list(found.values()))


def _called(model: FileModel, kernel: Function, offset: int) -> Iterator[Related]:
    """Where a kernel first calls what leads it to a place in a device function."""
    for call in (n for n in kernel.nodes if isinstance(n, ir.Call)):
        for entered in model.by_name.get(call.name, ()):
            if any(f.start <= offset < f.end for f in model.reached(entered)):
                yield Related(call.start, call.end, f"called by {kernel.name} here")
                return
