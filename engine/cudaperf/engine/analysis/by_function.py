"""What all rules find in a file, function by function; with what was kept of the last check, only of those that it touches."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from cudaperf.engine.analysis.dependence import Dependence, Key
from cudaperf.engine.analysis.families import Group, groups
from cudaperf.engine.analysis.finding import Finding
from cudaperf.engine.analysis.guard import guarded
from cudaperf.engine.analysis.kept import Kept, Regions
from cudaperf.engine.analysis.report.problem import Trouble
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.model import FileModel, Function


@dataclass(slots=True)
class Found:
    """Findings in the order of functions, of each those of memory and synchronization first; troubles where rules failed."""

    findings: list[Finding] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)


def findings(model: FileModel, settings: Settings, kept: Kept | None = None) -> Found:
    """Those of every function."""
    found, told = Found(), set[tuple[str, int, int]]()
    memory = _Memory(model, kept, settings) if kept is not None else None
    shaped, others = groups()
    for function in model.functions:
        if function.kind == "kernel":
            own = _kept(model, function, settings, shaped, memory)
            found.troubles += own.troubles
            found.findings += [f for f in own.findings if (f.code, f.start, f.end) not in told]
            told |= {(f.code, f.start, f.end) for f in own.findings}
        own = _kept(model, function, settings, others, memory)
        found.troubles += own.troubles
        found.findings += own.findings
    if memory is not None:
        memory.end()
    return found


def _kept(model: FileModel, function: Function, settings: Settings, group: Group, memory: _Memory | None) -> Found:
    """What some families find of a function, from memory where nothing that it depends on has changed."""
    if memory is None:
        return _found(model, function, settings, group)
    key = memory.dependence.of(function, shapes=group[0].shapes)
    known = memory.recall(key)
    if known is not None:
        return Found(known)
    found = _found(model, function, settings, group)
    if not found.troubles:
        memory.keep(key, found.findings)
    return found


def _found(model: FileModel, function: Function, settings: Settings, group: Group) -> Found:
    found = Found()
    for family in group:
        what = f"the rules of {family.name} in {function.name}"
        answer = guarded(model.source.path, what, partial(family.findings, model, function, settings))
        if isinstance(answer, Trouble):
            found.troubles.append(answer)
        else:
            found.findings += answer
    return found


class _Memory:
    """What was kept, for one model."""

    def __init__(self, model: FileModel, kept: Kept, settings: Settings) -> None:
        kept.begin(settings)
        self.dependence = Dependence(model, kept.texts)
        self._kept, self._regions, self._used = kept, Regions(model, self.dependence), 0

    def recall(self, key: Key) -> list[Finding] | None:
        self._used += 1
        answers = self._kept.recall(key)
        return self._regions.placed(answers) if answers is not None else None

    def keep(self, key: Key, findings: list[Finding]) -> None:
        if (answers := self._regions.anchored(findings)) is not None:
            self._kept.answers[key] = answers

    def end(self) -> None:
        self._kept.trim(self._used)
