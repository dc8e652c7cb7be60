"""What the checks of one document leave for the next one, so that only what an edit touched is looked at again."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from cudaperf.engine.analysis.dependence import Dependence, Key, Region, Texts
from cudaperf.engine.analysis.finding import Edit, Finding, Fix, Related
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.model import FileModel
from cudaperf.engine.cuda.reparse import Parsed

MOST_TEXTS: Final = 20_000
"""Beyond so many texts and keys everything is forgotten, which a long sitting comes to now and then."""
TIMES: Final = 4
"""Answers that stay, as multiples of those that one check uses."""


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A range by the region that it lies in."""

    region: Key
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Answer:
    """A finding with anchors for its own range, those of related places and those of its fix's edits."""

    finding: Finding
    anchors: tuple[_Anchor, ...]


@dataclass(eq=False)
class Kept:
    """Of one document, from check to check. Not for several threads at once."""

    parsed: Parsed | None = None
    settings: Settings | None = None
    texts: Texts = field(default_factory=Texts)
    answers: dict[Key, tuple[_Answer, ...]] = field(default_factory=dict)
    parts: dict[int, Kept] = field(default_factory=dict)

    def part(self, number: int) -> Kept:
        """That of one of the texts that a document holds, in their order: CUDA in Python strings."""
        return self.parts.setdefault(number, Kept())

    def begin(self, settings: Settings) -> None:
        """Forget what other settings led to, and everything where too much has come together."""
        if settings != self.settings or len(self.texts.numbers) > MOST_TEXTS:
            self.settings, self.texts = settings, Texts()
            self.answers.clear()

    def recall(self, key: Key) -> tuple[_Answer, ...] | None:
        """What was found under a key; it counts as used now."""
        answers = self.answers.pop(key, None)
        if answers is not None:
            self.answers[key] = answers
        return answers

    def trim(self, used: int) -> None:
        """Forget what was not used for longest, beyond some times what one check uses."""
        for key in list(self.answers)[: max(0, len(self.answers) - TIMES * used)]:
            del self.answers[key]


class Regions:
    """The regions of one model, to anchor findings in and to place them by."""

    def __init__(self, model: FileModel, dependence: Dependence) -> None:
        self._ordered = sorted(dependence.regions, key=lambda r: r.start)
        self._starts = [r.start for r in self._ordered]
        self._by_key = {r.key: r for r in self._ordered}

    def anchored(self, findings: Iterable[Finding]) -> tuple[_Answer, ...] | None:
        """Findings to keep; None where one of their places is in no region."""
        answers = []
        for finding in findings:
            anchors = [self._anchor(start, end) for start, end in _places(finding)]
            kept = tuple(anchor for anchor in anchors if anchor is not None)
            if len(kept) < len(anchors):
                return None
            answers.append(_Answer(finding, kept))
        return tuple(answers)

    def placed(self, answers: Iterable[_Answer]) -> list[Finding] | None:
        """Kept findings where their regions are now; None where one is gone."""
        try:
            return [_moved(answer.finding, [self._range(anchor) for anchor in answer.anchors]) for answer in answers]
        except KeyError:
            return None

    def _anchor(self, start: int, end: int) -> _Anchor | None:
        at = bisect_right(self._starts, start) - 1
        region: Region | None = self._ordered[at] if at >= 0 else None
        if region is None or end > region.end:
            return None
        return _Anchor(region.key, start - region.start, end - region.start)

    def _range(self, anchor: _Anchor) -> tuple[int, int]:
        begin = self._by_key[anchor.region].start
        return begin + anchor.start, begin + anchor.end


def _places(finding: Finding) -> list[tuple[int, int]]:
    edits = finding.fix.edits if finding.fix is not None else ()
    related = ((r.start, r.end) for r in finding.related)
    return [(finding.start, finding.end), *related, *((e.start, e.end) for e in edits)]


def _moved(finding: Finding, places: list[tuple[int, int]]) -> Finding:
    """A finding with other ranges, in the order of `_places`."""
    if places == _places(finding):
        return finding
    (start, end), *others = places
    count, fix = len(finding.related), finding.fix
    related = tuple(Related(s, e, r.message) for r, (s, e) in zip(finding.related, others[:count], strict=True))
    if fix is not None:
        edits = tuple(Edit(s, e, x.text) for x, (s, e) in zip(fix.edits, others[count:], strict=True))
        fix = Fix(fix.title, edits, fix.safe)
    return Finding(finding.code, finding.severity, start, end, finding.message, related, finding.data, fix)
