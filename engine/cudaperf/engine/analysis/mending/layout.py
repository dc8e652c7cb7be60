"""Where a statement stands in the text, and edits that add or take whole statements in the text's own layout.

Statements are nodes of the tree that stand right between braces: what `#if`, a label or a missing pair of braces holds has no
place for another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cudaperf.engine.analysis.finding import Edit
from cudaperf.engine.cuda.model import Function
from cudaperf.engine.cuda.nodes import STATEMENTS

if TYPE_CHECKING:
    from tree_sitter import Node as Tree

_LABELLED: Final = frozenset(("case_statement", "labeled_statement"))
LOOPS: Final = frozenset(("for_statement", "while_statement", "do_statement"))
_INDENT: Final = re.compile(rb"[ \t]*")
_LINE_END: Final = re.compile(rb"[ \t]*\r?\n")
_REST: Final = re.compile(rb"[ \t]*(?://[^\r\n]*|(?:/\*[^\r\n]*\*/[ \t]*)?)(?=\r?\n|\Z)")
"""Blanks and a comment up to the end of a line."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A statement, and the braces right around it."""

    statement: Tree
    braces: Tree


def around(function: Function, offset: int) -> Iterator[Placed]:
    """The statements of a function that hold an offset, from the innermost."""
    node = function.node.descendant_for_byte_range(offset, offset + 1)
    while node is not None and node != function.node:
        parent = node.parent
        if parent is not None and parent.type == "compound_statement" and node.type in STATEMENTS - _LABELLED:
            yield Placed(node, parent)
        node = parent


def holds(node: Tree, offset: int) -> bool:
    return node.start_byte <= offset < node.end_byte


def parted(function: Function, first: int, second: int) -> Placed | None:
    """The statement with the second of two places, in the innermost braces that hold both."""
    for placed in around(function, second):
        if holds(placed.braces, first):
            return placed if not holds(placed.statement, first) else None
    return None


def loop_around(function: Function, first: int, second: int) -> Tree | None:
    """The braces of the innermost loop that holds two places; None where it has none."""
    node = function.node.descendant_for_byte_range(second, second + 1)
    while node is not None and node != function.node:
        if node.type in LOOPS and holds(node, first):
            body = node.child_by_field_name("body")
            return body if body is not None and body.type == "compound_statement" else None
        node = node.parent
    return None


def before(data: bytes, offset: int, text: str) -> Edit:
    """A statement in front of the one at an offset: on a line of its own, or on the same line where other code comes first."""
    indent = _indent(data, offset)
    return Edit(offset, offset, f"{text} " if indent is None else f"{text}\n{indent}")


def behind(data: bytes, start: int, end: int, text: str) -> Edit:
    """A statement after the one from `start` to `end`, likewise; a comment behind that stays where it is."""
    indent, rest = _indent(data, start), _REST.match(data, end)
    if indent is None or rest is None:
        return Edit(end, end, f" {text}")
    return Edit(rest.end(), rest.end(), f"\n{indent}{text}")


def last(data: bytes, braces: Tree, text: str) -> Edit | None:
    """A statement at the end of what braces hold; None where they hold nothing."""
    inside = [c for c in braces.named_children if c.type != "comment"]
    return behind(data, inside[-1].start_byte, inside[-1].end_byte, text) if inside else None


def without(data: bytes, start: int, end: int) -> Edit:
    """No statement from `start` to `end`; its line goes with it where nothing else is on it."""
    if _indent(data, start) is None:
        return Edit(start - 1, end, "") if data[start - 1 : start] == b" " else Edit(start, end, "")
    whole = _LINE_END.match(data, end)
    if whole is not None:
        return Edit(_line(data, start), whole.end(), "")
    blanks = _INDENT.match(data, end)
    return Edit(start, blanks.end() if blanks is not None else end, "")


def _line(data: bytes, offset: int) -> int:
    return data.rfind(b"\n", 0, offset) + 1


def _indent(data: bytes, offset: int) -> str | None:
    """What stands before an offset on its line, if that is only blanks."""
    begin = _line(data, offset)
    blanks = _INDENT.match(data, begin)
    return blanks[0].decode() if blanks is not None and blanks.end() >= offset else None
