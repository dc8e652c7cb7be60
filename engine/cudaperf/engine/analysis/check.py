"""Every rule over one file."""

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


def check(model: FileModel, settings: Settings) -> list[Finding]:
    """The selected rules' findings, in the order of the text. Suppression by comments is not looked at here."""
    found = [finding for family in families() for finding in family(model, settings) if settings.wants(finding.code)]
    return sorted(found, key=lambda f: (f.start, f.end, f.code))
