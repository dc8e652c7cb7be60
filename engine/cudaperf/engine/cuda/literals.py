"""Python's string literals, decoded with a map from each byte of their value back to the file.

No prefix that interpolates (f, t) belongs here. An unknown escape keeps its backslash, as in Python.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_ESCAPE: Final = re.compile(
    rb"\\(?:(?P<join>\r\n|\n|\r)|(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{2})|(?P<simple>[\\'\"abfnrtv])"
    rb"|(?P<unicode>u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}\r\n]*\}))"
)
_SIMPLE: Final = dict(zip(b"\\'\"abfnrtv", b"\\'\"\a\b\f\n\r\t\v", strict=True))


@dataclass(frozen=True, slots=True)
class Literal:
    """One literal of a file: byte offsets of the whole (`start`, `end`) and of what its quotes hold (`inner`, `inner_end`)."""

    start: int
    end: int
    inner: int
    inner_end: int
    raw: bool
    bytes: bool
    triple: bool


@dataclass(frozen=True, slots=True)
class Segment:
    """`length` bytes of the value from `at`, spelled by `file_length` bytes of the file from `file`; byte for byte if equal."""

    at: int
    length: int
    file: int
    file_length: int


@dataclass(frozen=True, slots=True)
class Decoded:
    """The value of adjacent literals. Every byte of it belongs to one segment."""

    text: bytes
    segments: tuple[Segment, ...]

    def file_start(self, offset: int) -> int:
        """Where the file spells the byte at an offset; the end of the text for one past it."""
        if offset >= len(self.text):
            return self.file_end(len(self.text))
        segment = self._segment(offset)
        return segment.file + (offset - segment.at if segment.length == segment.file_length else 0)

    def file_end(self, offset: int) -> int:
        """Where the spelling of the byte before an offset ends."""
        segment = self._segment(max(offset - 1, 0))
        if segment.length == segment.file_length:
            return segment.file + offset - segment.at
        return segment.file + (segment.file_length if offset else 0)

    def _segment(self, offset: int) -> Segment:
        return self.segments[bisect_right(self.segments, offset, key=lambda s: s.at) - 1]


def decode(data: bytes, literals: tuple[Literal, ...]) -> Decoded:
    """The concatenation of literals, as Python evaluates it, in UTF-8."""
    text = bytearray()
    segments: list[Segment] = []
    for literal in literals:
        for start, end, value in _pieces(data, literal):
            if value:
                segments.append(Segment(len(text), len(value), start, end - start))
                text += value
    return Decoded(bytes(text), tuple(segments))


def _pieces(data: bytes, literal: Literal) -> Iterator[tuple[int, int, bytes]]:
    """(start, end, value) of each run of plain bytes and each escape."""
    at = literal.inner
    escapes = () if literal.raw else _ESCAPE.finditer(data, literal.inner, literal.inner_end)
    for match in escapes:
        value = _value(match, literal.bytes)
        if value is not None:
            yield at, match.start(), data[at : match.start()]
            yield match.start(), match.end(), value
            at = match.end()
    yield at, literal.inner_end, data[at : literal.inner_end]


def _value(match: re.Match[bytes], in_bytes: bool) -> bytes | None:
    """What an escape stands for; None where it stands for itself."""
    if match["join"] is not None:
        return b""
    if match["simple"] is not None:
        return bytes([_SIMPLE[match["simple"][0]]])
    if match["unicode"] is None:
        number = int(match["octal"], 8) if match["octal"] is not None else int(match["hex"], 16)
        return bytes([number & 0xFF]) if in_bytes else _encoded(chr(number))
    if in_bytes:
        return None
    if match["unicode"].startswith(b"N"):
        try:
            return _encoded(unicodedata.lookup(match["unicode"][2:-1].decode("utf-8", "replace")))
        except KeyError:
            return None
    number = int(match["unicode"][1:], 16)
    return _encoded(chr(number)) if number <= 0x10FFFF else None


def _encoded(character: str) -> bytes:
    return character.encode("utf-8", "replace")
