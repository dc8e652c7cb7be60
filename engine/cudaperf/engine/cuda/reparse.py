"""Parsing a text again after an edit: only what the edit touched is rewritten and parsed anew."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cudaperf.engine.cuda.parse import Rewritten, parse_rewritten, rewritten

if TYPE_CHECKING:
    from tree_sitter import Tree


@dataclass(frozen=True)
class Parsed:
    """A text, as the grammar took it, and its tree."""

    data: bytes
    taken: Rewritten
    tree: Tree


@dataclass(frozen=True, slots=True)
class Edited:
    """Bytes `start` to `old_end` of a text became `start` to `new_end` of another."""

    start: int
    old_end: int
    new_end: int


def parsed(data: bytes, before: Parsed | None = None) -> Parsed:
    """A text and its tree; `before`, the same document's last, saves most of the work."""
    if before is None:
        taken = rewritten(data)
        return Parsed(data, taken, parse_rewritten(taken.text))
    if data == before.data:
        return before
    taken = _taken(data, before)
    old, new = before.taken.text, taken.text
    change = edited(old, new)
    tree = before.tree.copy()
    tree.edit(
        change.start,
        change.old_end,
        change.new_end,
        _point(old, change.start),
        _point(old, change.old_end),
        _point(new, change.new_end),
    )
    return Parsed(data, taken, parse_rewritten(new, tree))


def edited(old: bytes, new: bytes) -> Edited:
    """The one stretch in which two texts differ."""
    start = _common(old, new)
    low, high = 0, min(len(old), len(new)) - start
    while low < high:  # the longest common end
        middle = (low + high + 1) // 2
        if old[len(old) - middle :] == new[len(new) - middle :]:
            low = middle
        else:
            high = middle - 1
    return Edited(start, len(old) - low, len(new) - low)


def _common(old: bytes, new: bytes) -> int:
    """How many bytes two texts begin with together."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _taken(data: bytes, before: Parsed) -> Rewritten:
    """The new text rewritten, the lines around the edit alone where nothing runs on into them or out of them."""
    old, spans = before.taken, before.taken.spans
    change = edited(before.data, data)
    begin, end = _line_outside(before.data, spans, change.start, -1), _line_outside(before.data, spans, change.old_end, 1)
    moved = len(data) - len(before.data)
    first, here = rewritten(before.data[max(0, begin - 400) : begin]), rewritten(data[begin : end + moved])
    if here.open or old.open or (begin and first.open):
        return rewritten(data)
    inside = ((start + begin, stop + begin) for start, stop in here.spans)
    low, high = bisect_left(spans, (begin, begin)), bisect_left(spans, (end, end))
    behind = ((start + moved, stop + moved) for start, stop in spans[high:])
    return Rewritten(old.text[:begin] + here.text + old.text[end:], (*spans[:low], *inside, *behind), False)


def _line_outside(data: bytes, spans: tuple[tuple[int, int], ...], offset: int, way: int) -> int:
    """The start of a line before (`way` -1) or behind an offset, at least a line away, that lies in none of the spans."""
    for _ in range(2):
        offset = _line_start(data, offset - 1) if way < 0 else _next_line(data, offset)
    while 0 < offset < len(data):
        at = bisect_right(spans, (offset, len(data))) - 1
        if at < 0 or not spans[at][0] < offset < spans[at][1]:
            break
        start, stop = spans[at]
        offset = _line_start(data, start) if way < 0 else _next_line(data, stop)
    return offset


def _line_start(data: bytes, offset: int) -> int:
    return data.rfind(b"\n", 0, max(0, offset)) + 1


def _next_line(data: bytes, offset: int) -> int:
    found = data.find(b"\n", offset)
    return found + 1 if found >= 0 else len(data)


def _point(data: bytes, offset: int) -> tuple[int, int]:
    """(row, column in bytes), both from 0."""
    return data.count(b"\n", 0, offset), offset - (data.rfind(b"\n", 0, offset) + 1)
