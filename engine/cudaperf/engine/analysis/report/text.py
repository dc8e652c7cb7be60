"""Findings as compilers show them: place, kind, code, message, and the line with the range underlined."""

from __future__ import annotations

from collections.abc import Iterator

from cudaperf.engine.analysis.report.problem import Mending, Problem, Range
from cudaperf.engine.excerpt import Excerpt, underlined

Piece = tuple[str, str]
"""Some text and what it is: "place", "error", "warning", "hint", "note", or "" for plain text."""


def lines(problem: Problem) -> Iterator[list[Piece]]:
    """One finding, the places that take part, and its fix."""
    kind = str(problem.severity)
    place = _place(problem.path, problem.range)
    yield [(f"{place}: ", "place"), (f"{kind} [{problem.code}]", kind), (f": {_one_line(problem.message)}", "")]
    yield from _marked(problem.excerpt, problem.range, kind)
    for each in problem.related:
        yield [(f"{_place(each.path, each.range)}: ", "place"), ("note", "note"), (f": {_one_line(each.message)}", "")]
        yield from _marked(each.excerpt, each.range, "note")
    if problem.fix is not None:
        yield [("      = ", ""), ("fix", "note"), (f": {_one_line(problem.fix.title)}{_how(problem.fix)}", "")]


def plain(pieces: list[Piece]) -> str:
    return "".join(text for text, _ in pieces)


def _how(fix: Mending) -> str:
    return " (--fix)" if fix.safe else " (may change results; --fix --unsafe-fixes)"


def _place(path: str, span: Range) -> str:
    return f"{path}:{span.start.line}:{span.start.column}"


def _marked(line: str, span: Range, kind: str) -> Iterator[list[Piece]]:
    end = span.end.column if span.end.line == span.start.line else len(line.rstrip()) + 1
    shown: Excerpt = underlined(line, span.start.line, span.start.column - 1, end - 1)
    yield [(shown.source, "")]
    yield [(shown.carets, kind)]


def _one_line(message: str) -> str:
    return " ".join(message.split())
