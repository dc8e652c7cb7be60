"""Findings as GitHub's workflow commands: annotations on the lines of a pull request."""

from __future__ import annotations

from cudaperf.engine.analysis.finding import RULES, Severity
from cudaperf.engine.analysis.report.problem import Problem

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "notice"}


def line(problem: Problem) -> str:
    """Columns only where the range is within one line: GitHub takes no others."""
    start, end = problem.range.start, problem.range.end
    columns = {"col": start.column, "endColumn": end.column} if start.line == end.line else {}
    name = f" {RULES[problem.code].name}" if problem.code in RULES else ""
    fields = {"file": problem.path, "line": start.line, "endLine": end.line, **columns, "title": f"{problem.code}{name}"}
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in fields.items())
    place = f"{problem.path}:{start.line}:{start.column}"
    return f"::{_COMMANDS[problem.severity]} {listed}::{_message(f'{place}: {problem.code} {problem.message}')}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
