"""`Report`: one file's findings at lines and columns, ready to be shown, stored or sent between processes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from cudaperf.engine.analysis.finding import Finding, JsonScalar, Severity
from cudaperf.engine.cuda.source import Source


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Both from 1; columns in code points."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Range:
    """`end` is exclusive."""

    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class Place:
    """Another place that takes part; `excerpt` is the text of its first line."""

    path: str
    range: Range
    message: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class Change:
    """One edit of a fix."""

    range: Range
    text: str


@dataclass(frozen=True, slots=True)
class Mending:
    """A fix as a reader sees it."""

    title: str
    safe: bool
    edits: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """A finding; `excerpt` is the text of its first line."""

    code: str
    severity: Severity
    message: str
    path: str
    range: Range
    excerpt: str
    related: tuple[Place, ...] = ()
    data: Mapping[str, JsonScalar] = field(default_factory=dict)
    fix: Mending | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that kept a file, or a rule, from being looked at. `internal` where that is a fault of cudaperf."""

    path: str
    message: str
    internal: bool = False
    unreadable: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {'internal error' if self.internal else 'warning'}: {self.message}"


@dataclass(frozen=True, slots=True)
class Fixed:
    """A file's bytes before and after `count` fixes."""

    before: bytes
    after: bytes
    count: int


@dataclass(frozen=True, slots=True)
class Report:
    """What became of one file. `checked` is False where there was no CUDA in it, or it could not be read. `measured` counts the
    kernels that a compiler told of."""

    path: str
    problems: tuple[Problem, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    checked: bool = True
    fixed: Fixed | None = None
    measured: int = 0


def located(finding: Finding, source: Source, path: str) -> Problem:
    """A finding with byte offsets as a problem with lines and columns."""
    fix = finding.fix
    return Problem(
        finding.code,
        finding.severity,
        finding.message,
        path,
        span(source, finding.start, finding.end),
        _line(source, finding.start),
        tuple(Place(path, span(source, r.start, r.end), r.message, _line(source, r.start)) for r in finding.related),
        {key: _finite(value) for key, value in finding.data.items()},
        Mending(fix.title, fix.safe, tuple(Change(span(source, e.start, e.end), e.text) for e in fix.edits)) if fix else None,
    )


def span(source: Source, start: int, end: int) -> Range:
    size = len(source.data)
    first, last = min(max(start, 0), size), min(max(end, start, 0), size)
    return Range(Position(*source.position(first)), Position(*source.position(last)))


def _line(source: Source, offset: int) -> str:
    return source.line(source.position(min(max(offset, 0), len(source.data)))[0])


def _finite(value: JsonScalar) -> JsonScalar:
    return None if isinstance(value, float) and not math.isfinite(value) else value
