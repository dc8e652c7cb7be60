"""A line of source with carets under a range of it, as compilers show it.

Tabs stay tabs, wide characters count two cells, combining ones none; control characters show as spaces, so that a form feed or
an escape sequence in a file can't reach the terminal. Of a long line only what surrounds the range is shown.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 160
_BEFORE: Final = 40


@dataclass(frozen=True, slots=True)
class Excerpt:
    source: str
    carets: str


def underlined(line: str, number: int, start: int, end: int) -> Excerpt:
    """`start` and `end` (exclusive) are code points of the line from 0; at least one place is marked."""
    start = max(0, min(start, len(line)))
    end = max(start, min(end, len(line)))
    line = "".join(" " if _unshowable(character) else character for character in line)
    if len(line) > LONGEST:
        line, start, end = _cropped(line, start, end)
    padding = "".join(_blank(character) for character in line[:start])
    marks = sum(_cells(character) for character in line[start:end]) or 1
    return Excerpt(f"{number:5} | {line}", f"{'':5} | {padding}^{'~' * (marks - 1)}")


def _cropped(line: str, start: int, end: int) -> tuple[str, int, int]:
    """The part of a line around a range, dots where it was cut."""
    first = max(0, min(start - _BEFORE, len(line) - LONGEST))
    last = min(len(line), first + LONGEST)
    head, tail = "..." if first else "", "..." if last < len(line) else ""
    return head + line[first:last] + tail, start - first + len(head), min(end, last) - first + len(head)


def _unshowable(character: str) -> bool:
    return character != "\t" and unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def _blank(character: str) -> str:
    """What keeps the carets below: a tab under a tab, two spaces under a wide character."""
    return "\t" if character == "\t" else " " * _cells(character)


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
