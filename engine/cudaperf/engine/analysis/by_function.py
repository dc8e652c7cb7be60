"""What all rules find in a file, function by function."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from cudaperf.engine.analysis.families import families
from cudaperf.engine.analysis.finding import Finding
from cudaperf.engine.analysis.guard import guarded
from cudaperf.engine.analysis.report.problem import Trouble
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.model import FileModel


@dataclass(slots=True)
class Found:
    """Findings in the order of families and functions; troubles where rules failed."""

    findings: list[Finding] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)


def findings(model: FileModel, settings: Settings) -> Found:
    """Those of every function."""
    found, path = Found(), model.source.path
    for family in families():
        told = set[tuple[str, int, int]]()
        for function in model.functions:
            what = f"the rules of {family.name} in {function.name}"
            answer = guarded(path, what, partial(family.findings, model, function, settings))
            if isinstance(answer, Trouble):
                found.troubles.append(answer)
                continue
            found.findings += [f for f in answer if not family.shapes or (f.code, f.start, f.end) not in told]
            told |= {(f.code, f.start, f.end) for f in answer}
    return found
