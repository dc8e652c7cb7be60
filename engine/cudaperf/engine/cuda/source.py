"""`Source`: a file's bytes with its lines; byte offsets to lines and columns (from 1, columns in code points) and back."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True)
class Source:
    """`data` is the text in UTF-8; bytes that are not count one column each."""

    path: str
    data: bytes

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line begins."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.data))]

    def text(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "replace")

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) of a byte, both from 1, the column in code points."""
        line = bisect_right(self.starts, offset) - 1
        return line + 1, len(self.data[self.starts[line] : offset].decode("utf-8", "replace")) + 1

    def line(self, number: int) -> str:
        """The text of a line (from 1) without its end."""
        begin = self.starts[number - 1]
        end = self.starts[number] if number < len(self.starts) else len(self.data)
        return self.data[begin:end].decode("utf-8", "replace").rstrip("\r\n")
