"""The user's line with carets under the range to blame, as compilers show it."""

from __future__ import annotations

from pathlib import Path

from cudaperf.engine.excerpt import Excerpt, underlined
from cudaperf.engine.reason import Reason


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
    return underlined(line, reason.line, start, end)


def _line(path: Path, number: int) -> str | None:
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except OSError:
        return None
    lines = text.split("\n")
    return lines[number - 1].removesuffix("\r") if 1 <= number <= len(lines) else None
