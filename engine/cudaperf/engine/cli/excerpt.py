"""The user's line with carets under the range to blame, as compilers show it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path

from cudaperf.engine.reason import Reason


@dataclass(frozen=True, slots=True)
class Excerpt:
    source: str
    carets: str


def excerpt(path: Path, reason: Reason) -> Excerpt | None:
    """None where the reason names no place, or the file no longer has it."""
    if reason.line is None:
        return None
    line = _line(path, reason.line)
    if line is None:
        return None
    start = (reason.column or len(line) - len(line.lstrip()) + 1) - 1
    same_line = reason.end_line in (None, reason.line)
    end = reason.end_column - 1 if same_line and reason.end_column is not None else None
    if end is None:
        end = start + 1 if same_line and reason.column is not None else len(line.rstrip())
    gutter = f"{reason.line:5} | "
    blank = f"{'':5} | "
    padding = "".join(_blank(character) for character in line[:start])
    marks = sum(_cells(character) for character in line[start:end]) or 1
    return Excerpt(gutter + line, blank + padding + "^" + "~" * (marks - 1))


def _line(path: Path, number: int) -> str | None:
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except OSError:
        return None
    lines = text.split("\n")
    return lines[number - 1].removesuffix("\r") if 1 <= number <= len(lines) else None


def _blank(character: str) -> str:
    """What keeps the carets below: a tab under a tab, two spaces under a wide character."""
    return "\t" if character == "\t" else " " * _cells(character)


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
