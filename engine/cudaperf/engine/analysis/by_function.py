"""What all rules find in a file, function by function; with what was kept of the last check, only of those that it touches."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from cudaperf.engine.analysis.dependence import Dependence
from cudaperf.engine.analysis.families import Family, families
from cudaperf.engine.analysis.finding import Finding
from cudaperf.engine.analysis.guard import guarded
from cudaperf.engine.analysis.kept import Kept, Regions
from cudaperf.engine.analysis.report.problem import Trouble
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.model import FileModel, Function


@dataclass(slots=True)
class Found:
    """Findings in the order of families and functions; troubles where rules failed."""

    findings: list[Finding] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)


def findings(model: FileModel, settings: Settings, kept: Kept | None = None) -> Found:
    """Those of every function."""
    found = Found()
    memory = _Memory(model, settings, kept) if kept is not None else None
    for family in families():
        told = set[tuple[str, int, int]]()
        for function in model.functions:
            job = partial(family.findings, model, function, settings)
            if memory is not None:
                job = partial(memory.findings, family, function)
            answer = guarded(model.source.path, f"the rules of {family.name} in {function.name}", job)
            if isinstance(answer, Trouble):
                found.troubles.append(answer)
                continue
            if family.shapes:
                answer = [f for f in answer if (f.code, f.start, f.end) not in told]
                told |= {(f.code, f.start, f.end) for f in answer}
            found.findings += answer
    if memory is not None:
        memory.end()
    return found


class _Memory:
    """The findings that were kept, and those that are found now."""

    def __init__(self, model: FileModel, settings: Settings, kept: Kept) -> None:
        kept.begin(settings)
        self._model, self._settings, self._kept = model, settings, kept
        self._dependence = Dependence(model, kept.texts)
        self._regions = Regions(model, self._dependence)
        self._used = 0

    def findings(self, family: Family, function: Function) -> list[Finding]:
        key = (family.name, self._dependence.of(function, shapes=family.shapes))
        self._used += 1
        answers = self._kept.recall(key)
        placed = self._regions.placed(answers) if answers is not None else None
        if placed is not None:
            return placed
        found = family.findings(self._model, function, self._settings)
        if (fresh := self._regions.anchored(found)) is not None:
            self._kept.answers[key] = fresh
        return found

    def end(self) -> None:
        self._kept.trim(self._used)
