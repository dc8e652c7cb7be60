"""`Schedule`: the printable, parseable name of what a strategy did.

Grammar: nests are separated by `;`, directives by spaces, arguments by commas:

    tile(i:32,j:8) shared(A) vector(4) unroll(k:8); grid_reduce(s) block(256)

Each directive has a name and arguments, each argument a key and an optional value. `str(parse(text)) == text` for every
text that `str` printed. What a directive means is the business of the strategy that reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


class ScheduleError(ValueError):
    """The text is not a schedule; the message says where."""


@dataclass(frozen=True, slots=True)
class Directive:
    """`name(key:value,...)`; a value is an int, a name or None."""

    name: str
    args: tuple[tuple[str, int | str | None], ...] = ()

    def __str__(self) -> str:
        inner = ",".join(key if value is None else f"{key}:{value}" for key, value in self.args)
        return f"{self.name}({inner})" if self.args else self.name

    def value(self, key: str) -> int | str | None:
        return dict(self.args).get(key)


@dataclass(frozen=True, slots=True)
class NestSchedule:
    """The directives of one loop nest, the strategy's own name first (`map`, `stencil`, `contraction`, ...)."""

    directives: tuple[Directive, ...]

    def __str__(self) -> str:
        return " ".join(map(str, self.directives))

    @property
    def strategy(self) -> str:
        return self.directives[0].name

    def get(self, name: str) -> Directive | None:
        return next((d for d in self.directives if d.name == name), None)


@dataclass(frozen=True, slots=True)
class Schedule:
    """One `NestSchedule` a loop nest, in program order."""

    nests: tuple[NestSchedule, ...]

    def __str__(self) -> str:
        return "; ".join(map(str, self.nests))


_DIRECTIVE = re.compile(r"\s*([A-Za-z_]\w*)(?:\(([^()]*)\))?")
_ARG = re.compile(r"\s*([A-Za-z_0-9]\w*)\s*(?::\s*(-?\w+)\s*)?$")


def parse(text: str) -> Schedule:
    """Read a schedule; raises `ScheduleError` naming the offending part."""
    return Schedule(tuple(_parse_nest(part) for part in text.split(";")))


def _parse_nest(text: str) -> NestSchedule:
    directives, at = [], 0
    while text[at:].strip():
        match = _DIRECTIVE.match(text, at)
        if not match:
            raise ScheduleError(f"expected a directive such as tile(i:32) at {text[at:].strip()!r}")
        directives.append(Directive(match[1], _parse_args(match[2])))
        at = match.end()
    if not directives:
        raise ScheduleError("empty schedule")
    return NestSchedule(tuple(directives))


def _parse_args(text: str | None) -> tuple[tuple[str, int | str | None], ...]:
    if text is None or not text.strip():
        return ()
    return tuple(_parse_arg(part) for part in text.split(","))


def _parse_arg(text: str) -> tuple[str, int | str | None]:
    match = _ARG.match(text)
    if not match:
        raise ScheduleError(f"expected NAME or NAME:VALUE, not {text.strip()!r}")
    value = match[2]
    if value is None:
        return match[1], None
    return match[1], int(value) if re.fullmatch(r"-?\d+", value) else value
