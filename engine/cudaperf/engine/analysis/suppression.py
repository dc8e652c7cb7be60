"""Comments that silence rules: `// cudaperf: ignore[CP101, CP3] reason` (`ignore CP101` too), `ignore` for all,
`ignore-file[...]` for a whole file.

A comment speaks of its own line, or, on a line of its own, of the next line that is not such a comment too. In Python, `#`
comments do the same; beside or above a string they speak of all the CUDA in it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from cudaperf.engine.analysis.finding import RULES
from cudaperf.engine.cuda.embedded import PythonFile
from cudaperf.engine.cuda.source import Source

_ASKS: Final = re.compile(
    rb"\bcudaperf:\s*ignore(?P<file>-file)?(?![\w-])(?:\s*\[(?P<codes>[^\]\r\n]*)\]|\s+(?P<bare>CP\d+(?:\s*,\s*CP\d+)*)\b)?"
)
_TOKEN: Final = re.compile(
    rb"(?P<comment>//(?:\\\r?\n|[^\r\n])*|/\*[\s\S]*?(?:\*/|\Z))"
    rb"|R\"(?P<mark>[^()\\\s]*)\([\s\S]*?\)(?P=mark)\"|\"(?:\\[\s\S]|[^\"\\\n])*\"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
)
_LAST: Final = sys.maxsize


@dataclass(frozen=True, slots=True)
class Suppression:
    """Findings whose code begins with one of `prefixes` and that start on the lines `first` to `last` are not told."""

    prefixes: tuple[str, ...]
    first: int
    last: int

    def covers(self, code: str, line: int) -> bool:
        return self.first <= line <= self.last and code.startswith(self.prefixes)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A comment from line `first` to `last`; `own` where no code shares its lines."""

    prefixes: tuple[str, ...]
    first: int
    last: int
    own: bool
    whole_file: bool


def in_cuda(source: Source) -> tuple[Suppression, ...]:
    """What the comments of CUDA text ask for."""
    if not _ASKS.search(source.data):
        return ()
    comments = ((m.start(), m.end()) for m in _TOKEN.finditer(source.data) if m["comment"] is not None)
    return tuple(_suppressions(list(_asked(source, comments))))


def in_python(source: Source, file: PythonFile) -> tuple[Suppression, ...]:
    """What the `#` comments of a Python file ask for."""
    asked = list(_asked(source, file.comments))
    found = list(_suppressions(asked))
    for one in asked:
        lines = set(_lines(one, asked))
        for text in file.texts:
            if one.own and _line(source, text.statement) in lines:
                found.append(Suppression(one.prefixes, _line(source, text.statement), _line(source, text.literals[-1].end)))
            for each in text.literals:
                first, last = _line(source, each.start), _line(source, each.end)
                if first in lines or last in lines:
                    found.append(Suppression(one.prefixes, first, last))
    return tuple(found)


def _line(source: Source, offset: int) -> int:
    return source.position(offset)[0]


def _asked(source: Source, comments: Iterable[tuple[int, int]]) -> Iterator[_Asked]:
    for start, end in comments:
        for match in _ASKS.finditer(source.data, start, end):
            first, last = source.position(start)[0], source.position(max(end - 1, start))[0]
            begin = source.starts[first - 1]
            stop = source.starts[last] if last < len(source.starts) else len(source.data)
            own = not (source.data[begin:start] + source.data[end:stop]).strip(b" \t\f\v\r\n\\")
            codes = match["codes"] if match["codes"] is not None else match["bare"]
            yield _Asked(_prefixes(codes), first, last, own, match["file"] is not None)


def _prefixes(codes: bytes | None) -> tuple[str, ...]:
    if codes is None:
        return ("",)
    return tuple(code for code in re.split(r"[\s,]+", codes.decode("utf-8", "replace").upper()) if code)


def unknown(suppressions: Iterable[Suppression]) -> list[tuple[int, str]]:
    """(line, code) for what no rule's code begins with, at the first line that a comment speaks of."""
    found = {(s.first, p) for s in suppressions for p in s.prefixes if not any(rule.startswith(p) for rule in RULES)}
    return sorted((line, code) for line, code in found if (line - 1, code) not in found)


def _suppressions(asked: list[_Asked]) -> Iterator[Suppression]:
    for one in asked:
        if one.whole_file:
            yield Suppression(one.prefixes, 1, _LAST)
        else:
            yield from (Suppression(one.prefixes, line, line) for line in _lines(one, asked))


def _lines(one: _Asked, asked: list[_Asked]) -> Iterator[int]:
    """The lines that a comment speaks of."""
    if one.whole_file:
        return
    yield from range(one.first, one.last + 1)
    if one.own:
        below = one.last + 1
        ends = {other.first: other.last for other in asked if other.own}
        while below in ends:
            below = ends[below] + 1
        yield below
