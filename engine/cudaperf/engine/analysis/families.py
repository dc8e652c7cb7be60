"""The rule families: each says everything its rules find in one file."""

from __future__ import annotations

from collections.abc import Callable

from cudaperf.engine.analysis.finding import Finding
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.model import FileModel

Family = Callable[[FileModel, Settings], list[Finding]]


def families() -> tuple[Family, ...]:
    """The rule families, imported when first needed."""
    from cudaperf.engine.analysis import arithmetic, host, occupancy, simulated

    return (simulated.findings, occupancy.findings, arithmetic.findings, host.findings)
