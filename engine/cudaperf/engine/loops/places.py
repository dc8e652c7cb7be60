"""Places in the user's file: byte offsets to lines and columns, and reasons that point at them.

Lines end at \\n, \\r\\n or a lone \\r; lines and columns count from 1, columns in code points.
Bytes that are not UTF-8 count as one code point each.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from cudaperf.engine.loops.ir import Node, Renamed, Span, Unit
from cudaperf.engine.reason import Reason, ReasonCode

LINE_END = re.compile(rb"\r\n|\n|\r")


def position(text: bytes, offset: int) -> tuple[int, int]:
    """Line and column of a byte offset."""
    line, start = 1, 0
    for end in LINE_END.finditer(text, 0, offset):
        if end.end() > offset:
            break
        line, start = line + 1, end.end()
    return line, len(text[start:offset].decode("utf-8", errors="surrogateescape")) + 1


def reason_at(text: bytes, span: Span | None, code: ReasonCode, message: str) -> Reason:
    """A reason with the range of `span`."""
    if span is None:
        return Reason(code, message)
    (line, column), (end_line, end_column) = position(text, span.start), position(text, span.end)
    return Reason(code, message, line, column, end_line, end_column)


def place(unit: Unit, code: ReasonCode, message: str, node: Node | None) -> Reason:
    """A reason that points at a node of the unit: at its own text, or at the macro or statement that it came from."""
    found = reason_at(unit.text, node.place if node is not None else None, code, message)
    return restored(found, unit.text, unit.renamed)


def restored(reason: Reason, text: bytes, names: Renamed) -> Reason:
    """A reason found in the renamed text, in the user's own names and columns."""
    if not names:
        return reason
    lines = LINE_END.split(text)
    changes: dict[str, Any] = {"message": written(reason.message, names)}
    for line, column in (("line", "column"), ("end_line", "end_column")):
        at, place = getattr(reason, line), getattr(reason, column)
        if at is not None and place is not None and at <= len(lines):
            head = lines[at - 1].decode("utf-8", errors="surrogateescape")[: place - 1]
            changes[column] = len(written(head, names)) + 1
    return replace(reason, **changes)


def written(text: str, names: Renamed) -> str:
    """A text with the user's names again."""
    spelled = dict(names)
    return re.sub(r"[A-Za-z_]\w*", lambda word: spelled.get(word[0], word[0]), text)
