"""CP501 unchecked errors, CP502 synchronous work in loops, CP503 launches over limits: the rules about host code."""

from __future__ import annotations

from cudaperf.engine.analysis import limits, synchronous, unchecked
from cudaperf.engine.analysis.finding import Finding
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.model import FileModel


def findings(model: FileModel, settings: Settings) -> list[Finding]:
    return [
        *unchecked.findings(model, settings),
        *synchronous.findings(model, settings),
        *limits.findings(model, settings),
    ]
