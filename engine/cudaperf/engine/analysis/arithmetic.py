"""CP401 accidental double, CP403 elementwise kernels that could be one, CP404 division in inner loops."""

from __future__ import annotations

from cudaperf.engine.analysis import division, doubles, intensity
from cudaperf.engine.analysis.finding import Finding
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.model import FileModel, Function


def findings(model: FileModel, function: Function, settings: Settings) -> list[Finding]:
    if function.kind == "host":
        return intensity.findings(model, function)
    return [*doubles.findings(model, function, settings), *division.findings(model, function)]
