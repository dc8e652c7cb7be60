"""Lines of C++ at a depth, and wrapped parameter and argument lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

WIDTH: Final = 120


class Writer:
    """Collects lines; `with writer.block("if (x)"):` braces and indents what is written inside."""

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self._depth = depth

    def __call__(self, line: str = "") -> None:
        self.lines.append("    " * self._depth + line if line else "")

    def sequence(self, head: str, parts: Sequence[str], tail: str) -> None:
        """`head part, part, ... tail`, broken between parts where a line would be longer than `WIDTH`."""
        for number, line in enumerate(wrap(head, parts, tail, WIDTH - 4 * self._depth)):
            self(("    " if number else "") + line)

    @contextmanager
    def block(self, head: str = "", tail: str = "}") -> Iterator[None]:
        self(f"{head} {{" if head else "{")
        self._depth += 1
        yield
        self._depth -= 1
        self(tail)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def wrap(head: str, parts: Sequence[str], tail: str, width: int = WIDTH) -> list[str]:
    """One line where it fits, else lines of as many parts as fit."""
    whole = head + ", ".join(parts) + tail
    if len(whole) <= width or not parts:
        return [whole]
    lines, line = [], head
    for position, part in enumerate(parts):
        piece = part + (tail if position == len(parts) - 1 else ",")
        if line.strip() and len(line) + len(piece) + 1 > width - 4:
            lines.append(line.rstrip())
            line = ""
        line += piece if not line or line == head else f" {piece}"
    return [*lines, line]
