"""Enumerations by their number types in emitted text: C++ converts no number to an enumeration, and C computes with the number.

What a declaration or cast calls `enum mode` or a typedef of it becomes `int` (or `unsigned int`, as C's compiler has it).
Not promised: names of enumerations inside macros, and enumerations that a declaration defines on the spot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from cudaperf.engine.loops import ir
from cudaperf.engine.sources.c.c_types import lower_type

KEYWORD = re.compile(rb"\benum\s+$")
DECLARATIONS = ("VAR_DECL", "PARM_DECL", "FIELD_DECL", "FUNCTION_DECL", "CSTYLE_CAST_EXPR")


class Place(Protocol):
    """A type's name in a file."""

    cursor: Any
    start: int
    end: int


def spelled(text: bytes, children: Iterable[Place]) -> ir.Spelled | None:
    """The enumeration that a declaration or cast with these parts names in a text."""
    for part in children:
        found = _spelled(text, part.cursor, part.start, part.end)
        if found is not None:
            return found
    return None


def _spelled(text: bytes, cursor: Any, start: int, end: int) -> ir.Spelled | None:
    named = cursor.referenced if cursor.kind.name == "TYPE_REF" else None
    if named is None or text[start:end].decode(errors="replace") != named.spelling:
        return None
    kind = named.type.get_canonical()
    if kind.kind.name != "ENUM":
        return None
    number = lower_type(kind)
    keyword = KEYWORD.search(text, max(0, start - 80), start)
    assert isinstance(number, ir.Scalar)
    return ir.Spelled(type=number, span=ir.Span(keyword.start() if keyword else start, end))


def is_local(enumeration: Any) -> bool:
    """Whether an enumeration is defined inside a function."""
    around = enumeration.semantic_parent
    return around is not None and around.kind.name == "FUNCTION_DECL"


def respelled(text: bytes, start: int, end: int, cursors: Iterable[Any]) -> bytes:
    """The text from `start` to `end` with the number types of what the declarations below these cursors name."""
    found = {s.span.start: s for cursor in cursors for s in _below(text, cursor) if s.span is not None}
    for at, one in sorted(found.items(), reverse=True):
        if one.span is not None and start <= at and one.span.end <= end:
            text = text[:at] + one.type.name.encode() + text[one.span.end :]
            end += len(one.type.name) - (one.span.end - at)
    return text[start:end]


def _below(text: bytes, cursor: Any) -> Iterator[ir.Spelled]:
    for node in (cursor, *cursor.walk_preorder()):
        if node.kind.name in DECLARATIONS:
            for part in node.get_children():
                extent = part.extent
                found = _spelled(text, part, extent.start.offset, extent.end.offset)
                if found is not None:
                    yield found
