"""Reads the corpus of C functions and their expectations (grammar: tests/data/c/README.md).

Says what must come out, never runs anything. A malformed expectation raises `CorpusError` with file and line.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cudaperf.engine.reason import ReasonCode

FOLDER = Path(__file__).resolve().parents[1] / "data" / "c"

_EXPECT = re.compile(r"//\s*expect:\s*(verified|refused)\b\s*(.*)$")
_PAIR = re.compile(r'(\w+)=("[^"]*"|\S+)\s*')
_ARGUMENTS = re.compile(r"//\s*arguments:\s*(.*)$")
_FUNCTION = re.compile(r"(\w+)\s*\(")
_KEYS = {"verified": {"strategy"}, "refused": {"code", "line", "mentions"}}


class CorpusError(ValueError):
    """An expectation that does not parse."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One acceptable outcome. `code` None means verified; `line` None means that any line will do."""

    code: ReasonCode | None = None
    line: int | None = None
    mentions: str | None = None
    strategy: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One function. Any of `expected` will do; `line` is where the definition begins."""

    path: Path
    function: str
    line: int
    expected: tuple[Expectation, ...]
    arguments: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"{self.path.stem}::{self.function}"

    @property
    def must_verify(self) -> bool:
        return all(e.code is None for e in self.expected)

    @property
    def may_verify(self) -> bool:
        return any(e.code is None for e in self.expected)


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    """Every function with an expectation, in the order of file names and lines."""
    return tuple(case for path in sorted(FOLDER.glob("*.c")) for case in _read(path))


def case(name: str) -> Case:
    """The case called FILE::FUNCTION (the file without its suffix)."""
    return next(c for c in cases() if c.id == name)


def _read(path: Path) -> Iterator[Case]:
    lines = path.read_bytes().decode("utf-8").splitlines()
    arguments = tuple(a for line in lines if (m := _ARGUMENTS.match(line)) for a in _absolute(m[1]))
    pending: list[Expectation] = []
    for number, line in enumerate(lines, 1):
        if match := _EXPECT.match(line):
            pending.append(_expectation(match[1], match[2], f"{path.name}:{number}"))
        elif pending and not line.startswith("//"):
            name = _FUNCTION.search(line)
            if name is None:
                raise CorpusError(f"{path.name}:{number}: an expectation stands directly above a definition")
            yield Case(path, name[1], number, tuple(pending), arguments)
            pending = []
    if pending:
        raise CorpusError(f"{path.name}: an expectation at the end of the file")


def _absolute(text: str) -> list[str]:
    return [f"-I{FOLDER / word[2:]}" if word.startswith("-I") else word for word in shlex.split(text)]


def _expectation(outcome: str, text: str, where: str) -> Expectation:
    pairs = {m[1]: m[2].strip('"') for m in _PAIR.finditer(text)}
    if _PAIR.sub("", text) or not pairs.keys() <= _KEYS[outcome]:
        raise CorpusError(f"{where}: cannot read {text!r}")
    if outcome == "verified":
        return Expectation(strategy=pairs.get("strategy"))
    if pairs.get("code") not in list(ReasonCode):
        raise CorpusError(f"{where}: code must be one of {', '.join(ReasonCode)}")
    line = int(pairs["line"]) if "line" in pairs else None
    return Expectation(ReasonCode(pairs["code"]), line, pairs.get("mentions"))
