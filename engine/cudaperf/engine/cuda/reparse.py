"""Parsing a text again after an edit: only what the edit touched is rewritten and parsed anew."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cudaperf.engine.cuda.parse import closed, parse_rewritten, rewritten

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_OUTER: Final = frozenset(
    ("translation_unit", "namespace_definition", "declaration_list", "linkage_specification", "preproc_if", "preproc_ifdef")
)


@dataclass(frozen=True)
class Parsed:
    """A text, as the grammar took it, and its tree."""

    data: bytes
    taken: bytes
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
        return Parsed(data, taken, parse_rewritten(taken))
    if data == before.data:
        return before
    taken = _taken(data, before)
    change = edited(before.taken, taken)
    tree = before.tree.copy()
    tree.edit(
        change.start,
        change.old_end,
        change.new_end,
        _point(before.taken, change.start),
        _point(before.taken, change.old_end),
        _point(taken, change.new_end),
    )
    return Parsed(data, taken, parse_rewritten(taken, tree))


def edited(old: bytes, new: bytes) -> Edited:
    """The one stretch in which two texts differ."""
    start = _common(old, new, min(len(old), len(new)))
    most = min(len(old), len(new)) - start
    low, high = 0, most
    while low < high:  # the longest common end
        middle = (low + high + 1) // 2
        if old[len(old) - middle :] == new[len(new) - middle :]:
            low = middle
        else:
            high = middle - 1
    return Edited(start, len(old) - low, len(new) - low)


def _common(old: bytes, new: bytes, most: int) -> int:
    """How many bytes two texts begin with together."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _taken(data: bytes, before: Parsed) -> bytes:
    """The new text rewritten, the declarations around the edit alone where comments and strings can't run on beyond them."""
    change = edited(before.data, data)
    begin, end = _around(before, change.start, change.old_end)
    here = data[begin : len(data) - (len(before.data) - end)]
    if closed(before.data[begin:end]) and closed(here):
        return before.taken[:begin] + rewritten(here) + before.taken[end:]
    return rewritten(data)


def _around(before: Parsed, start: int, end: int) -> tuple[int, int]:
    """From the start of the declaration before the one that holds `start` to that of the second one behind `end`."""
    node = before.tree.root_node
    while True:
        children = node.children
        at = _first_from(children, start) - 1
        inner = children[at] if at >= 0 else None
        if inner is not None and inner.type in _OUTER and end < inner.end_byte:
            node = inner
            continue
        root = node.parent is None
        behind = _first_from(children, end + 1) + 1
        first = children[at - 1].start_byte if at > 0 else 0 if root else node.start_byte
        last = children[behind].start_byte if behind < len(children) else len(before.data) if root else node.end_byte
        return first, last


def _first_from(children: list[Node], offset: int) -> int:
    """The number of the first child that begins at an offset or behind it."""
    return bisect_left(children, offset, key=lambda child: child.start_byte)


def _point(data: bytes, offset: int) -> tuple[int, int]:
    """(row, column in bytes), both from 0."""
    return data.count(b"\n", 0, offset), offset - (data.rfind(b"\n", 0, offset) + 1)
