"""Reading the user's bytes: the next token, matching parentheses. Places are `loops.places`."""

from __future__ import annotations

import re

from cudaperf.engine.loops.places import place, position, reason_at, restored, written

__all__ = ["matching", "place", "position", "reason_at", "restored", "skip", "written"]

SKIPPED = re.compile(rb"//(?:\\\r?\n|[^\n])*|/\*.*?\*/|\s+|\\\r?\n", re.DOTALL)
LITERAL = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


def skip(text: bytes, offset: int) -> int:
    """The offset of the next token: past white space, comments and line continuations."""
    while (found := SKIPPED.match(text, offset)) is not None:
        offset = found.end()
    return offset


def matching(text: bytes, offset: int) -> tuple[int, list[int]]:
    """For the `(` at `offset`: the offset of its `)`, and those of the semicolons directly inside; (-1, []) if unclosed."""
    depth, semicolons, at = 0, list[int](), offset
    while at < len(text):
        jump = SKIPPED.match(text, at) or LITERAL.match(text, at)
        if jump is not None:
            at = jump.end()
            continue
        character = text[at : at + 1]
        depth += (character in b"([{") - (character in b")]}")
        if depth == 0:
            return at, semicolons
        if character == b";" and depth == 1:
            semicolons.append(at)
        at += 1
    return -1, []
