"""Findings as one SARIF 2.1.0 log, as code scanning services take it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from urllib.parse import quote

from cudaperf.engine.analysis.finding import RULES, Rule, Severity
from cudaperf.engine.analysis.report.problem import Mending, Problem, Range, Trouble
from cudaperf.engine.result import JsonValue
from cudaperf.engine.version import version

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}

Json = dict[str, JsonValue]


def text(problems: Iterable[Problem], troubles: Sequence[Trouble]) -> str:
    return json.dumps(log(list(problems), troubles), indent=2, allow_nan=False)


def log(problems: Sequence[Problem], troubles: Sequence[Trouble]) -> Json:
    """One run. Troubles are its notifications; it was successful where none is a fault of cudaperf."""
    rules = {code: index for index, code in enumerate(RULES)}
    run: Json = {
        "tool": {"driver": {"name": "cudaperf", "version": version(), "rules": [_rule(rule) for rule in RULES.values()]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"uri": Path.cwd().as_uri().rstrip("/") + "/"}},
        "invocations": [
            {
                "executionSuccessful": not any(trouble.internal for trouble in troubles),
                "toolExecutionNotifications": [_notification(trouble) for trouble in troubles],
            }
        ],
        "results": [_result(problem, rules) for problem in problems],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> Json:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "help": {"text": f"`cudaperf rule {rule.code}` explains it."},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(problem: Problem, rules: dict[str, int]) -> Json:
    result: Json = {
        "ruleId": problem.code,
        "level": _LEVELS[problem.severity],
        "message": {"text": problem.message},
        "locations": [_location(problem.path, problem.range)],
        "relatedLocations": [
            {**_location(each.path, each.range), "id": number, "message": {"text": each.message}}
            for number, each in enumerate(problem.related, start=1)
        ],
        "properties": dict(problem.data),
    }
    if problem.code in rules:
        result["ruleIndex"] = rules[problem.code]
    if problem.fix is not None and problem.fix.edits:
        result["fixes"] = [_fix(problem.path, problem.fix)]
    return result


def _fix(path: str, fix: Mending) -> Json:
    replacements: list[JsonValue] = [
        {"deletedRegion": _region(edit.range), "insertedContent": {"text": edit.text}} for edit in fix.edits
    ]
    change: Json = {"artifactLocation": _artifact(path), "replacements": replacements}
    return {"description": {"text": fix.title}, "artifactChanges": [change]}


def _location(path: str, span: Range) -> Json:
    return {"physicalLocation": {"artifactLocation": _artifact(path), "region": _region(span)}}


def _region(span: Range) -> Json:
    return {
        "startLine": span.start.line,
        "startColumn": span.start.column,
        "endLine": span.end.line,
        "endColumn": span.end.column,
    }


def _artifact(path: str) -> Json:
    """Below the working directory relative to it, elsewhere absolute."""
    if os.path.isabs(path) or ".." in PurePath(path).parts:
        absolute = os.path.abspath(path)
        relative = os.path.relpath(absolute)
        if relative.startswith(os.pardir):
            return {"uri": "file://" + quote(os.fsencode(PurePath(absolute).as_posix()), safe="/")}
        path = relative
    return {"uri": quote(os.fsencode(PurePath(path).as_posix()), safe="/"), "uriBaseId": "%SRCROOT%"}


def _notification(trouble: Trouble) -> Json:
    return {
        "level": "error" if trouble.internal or trouble.unreadable else "warning",
        "message": {"text": trouble.message},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(trouble.path)}}],
    }
