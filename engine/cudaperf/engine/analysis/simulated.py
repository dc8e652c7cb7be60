"""The rule families that look at simulated runs: memory and synchronization."""

from __future__ import annotations

from cudaperf.engine.analysis import branch_rules, memory_rules, synchronization_rules
from cudaperf.engine.analysis.finding import Finding
from cudaperf.engine.analysis.measured import confirmed, instances
from cudaperf.engine.analysis.runs import runs_of
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.model import FileModel


def findings(model: FileModel, settings: Settings) -> list[Finding]:
    """What the runs of every kernel show. A device function's finding that several kernels share is told once."""
    found: dict[tuple[str, int, int], Finding] = {}
    for kernel in model.kernels:
        runs = runs_of(model, kernel, settings)
        figures = instances(model, kernel, settings.measured)
        for finding in (
            *(f for each in memory_rules.findings(runs) if (f := confirmed(each, figures, settings.measured)) is not None),
            *synchronization_rules.findings(runs),
            *branch_rules.findings(runs),
        ):
            found.setdefault((finding.code, finding.start, finding.end), finding)
    return list(found.values())
