"""Findings as one JSON list; docs/check.md describes its keys."""

from __future__ import annotations

import json
from collections.abc import Iterable

from cudaperf.engine.analysis.report.problem import Problem, Range
from cudaperf.engine.result import JsonValue


def text(problems: Iterable[Problem]) -> str:
    return json.dumps([as_json(problem) for problem in problems], indent=2, allow_nan=False)


def as_json(problem: Problem) -> dict[str, JsonValue]:
    fix: JsonValue = None
    if problem.fix is not None:
        edits: list[JsonValue] = [{"range": _range(edit.range), "text": edit.text} for edit in problem.fix.edits]
        fix = {"title": problem.fix.title, "safe": problem.fix.safe, "edits": edits}
    return {
        "code": problem.code,
        "severity": str(problem.severity),
        "message": problem.message,
        "path": problem.path,
        "range": _range(problem.range),
        "related": [{"path": each.path, "range": _range(each.range), "message": each.message} for each in problem.related],
        "data": dict(problem.data),
        "fix": fix,
    }


def _range(span: Range) -> JsonValue:
    return {
        "start": {"line": span.start.line, "column": span.start.column},
        "end": {"line": span.end.line, "column": span.end.column},
    }
