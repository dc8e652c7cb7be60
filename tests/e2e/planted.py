"""Loads the planted candidates of tests/data/planted (format: the README there) and matches verdicts with expectations.

Never compiles or runs anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.verdict import Verdict

FOLDER = Path(__file__).resolve().parents[1] / "data" / "planted"
KINDS = frozenset(member.model_fields["kind"].default for member in get_args(get_args(Verdict)[0]))

_EXPECT = re.compile(r"// expect: (\w+)((?: \w+=\S+)*)$")


class PlantedError(ValueError):
    """A candidate file that does not parse."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A verdict's kind, and fields with the text of their values."""

    kind: str
    fields: tuple[tuple[str, str], ...]

    def matches(self, verdict: Verdict) -> bool:
        return verdict.kind == self.kind and all(_field_matches(verdict, *pair) for pair in self.fields)

    def __str__(self) -> str:
        return " ".join([self.kind, *(f"{key}={value}" for key, value in self.fields)])


@dataclass(frozen=True, slots=True)
class Planted:
    """One candidate. `task` is FILE::FUNCTION of the corpus; `about` says what is wrong in words."""

    name: str
    task: str
    candidate: Candidate
    about: str
    expected: tuple[Expected, ...]

    @property
    def good(self) -> bool:
        return self.name.split("/")[1].startswith("good")

    def accepts(self, verdict: Verdict) -> bool:
        return any(e.matches(verdict) for e in self.expected)


@lru_cache(maxsize=1)
def planted() -> tuple[Planted, ...]:
    """Every candidate, good ones first within a task."""
    folders = sorted(path.parent for path in FOLDER.glob("*/task.json"))
    return tuple(p for folder in folders for p in _read_folder(folder))


def _read_folder(folder: Path) -> Iterator[Planted]:
    shared = json.loads((folder / "task.json").read_text())
    for path in sorted(folder.glob("*.cu"), key=lambda p: (not p.stem.startswith("good"), p.stem)):
        own = path.with_suffix(".json")
        changes: dict[str, Any] = json.loads(own.read_text()) if own.exists() else {}
        text = path.read_text()
        candidate = Candidate.model_validate({**shared["candidate"], **changes, "device_code": text})
        about, expected = _header(text, path)
        yield Planted(f"{folder.name}/{path.stem}", shared["task"], candidate, about, expected)


def _header(text: str, path: Path) -> tuple[str, tuple[Expected, ...]]:
    first, *rest = text.split("\n\n", 1)[0].splitlines()
    matches = [_EXPECT.match(line) for line in rest]
    if not matches or not all(matches):
        raise PlantedError(f"{path.name}: expectations stand in the lines below the first, then an empty line")
    return first.removeprefix("// "), tuple(_expected(m[1], m[2], path) for m in matches if m)


def _expected(kind: str, pairs: str, path: Path) -> Expected:
    if kind not in KINDS:
        raise PlantedError(f"{path.name}: {kind} is no kind of verdict")
    return Expected(kind, tuple((key, value) for key, _, value in (pair.partition("=") for pair in pairs.split())))


def _field_matches(verdict: Verdict, key: str, value: str) -> bool:
    keys = ("line", "other_line") if key == "line" else (key,)
    return any(str(getattr(verdict, k, None)) == value for k in keys)
