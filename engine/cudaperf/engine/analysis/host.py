"""CP501 unchecked errors, CP502 synchronous work in loops, CP503 launches over limits: the rules about host code."""

from __future__ import annotations

from cudaperf.engine.analysis import limits, synchronous, unchecked
from cudaperf.engine.analysis.finding import Finding
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.model import FileModel, Function


def findings(model: FileModel, function: Function, settings: Settings) -> list[Finding]:
    if function.kind == "host":
        return [
            *unchecked.findings(model, function),
            *synchronous.findings(model, function),
            *limits.of_launches(model, function, settings),
        ]
    return limits.of_kernel(model, function) if function.kind == "kernel" else []
