"""The name of a kernel from its mangled one, as ptxas reports it: scope, name, and the integers among template arguments.

Reads the part of the Itanium encoding that names of kernels use: they are free functions, so that template arguments come last.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Name:
    """`scope` are the namespaces from the outermost, unnamed ones left out, None where the symbol does not say; `literals` the
    integers, enumerators and truth values among the template arguments, in order, None where others are or may be there."""

    scope: tuple[str, ...] | None
    name: str
    literals: tuple[int, ...] | None = ()


class _Strange(Exception):
    """An encoding that is not read here."""


_NUMBER: Final = re.compile(r"\d+")
_STEPS: Final = re.compile(
    r"S(?:[0-9A-Z]*_|[abdiost])"  # a name that came before, or one of std's
    r"|Ut[0-9]*_|_[0-9]|T[0-9]*_|A[0-9]*_|DF[0-9]+[_bx]|Dv[0-9]+_|D[a-z]|[a-zA-Z]"
)
_NESTED: Final = "INJXFZ"
_LAMBDA: Final = "Ul"
_LAMBDAS_NUMBER: Final = re.compile(r"\d*_")
_VALUE: Final = re.compile(r"(n?)(\d+)E")
_ANONYMOUS: Final = "_GLOBAL__N"


def parse(symbol: str) -> Name | None:
    """`_ZN2ns1kILi16EEEvPf` as ns, k and 16; a symbol that is not mangled is a name of its own."""
    if not symbol.startswith("_Z"):
        return Name(None, symbol)
    try:
        return _Reader(symbol, 2).encoding()
    except (_Strange, IndexError):
        return None


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self._text, self._at = text, at

    def encoding(self) -> Name:
        nested = self._taken("N")
        parts: list[str] = []
        while self._peek() in "LS" or self._peek().isdecimal():
            if self._taken("St"):
                parts.append("std")
                continue
            self._taken("L")
            parts.append(self._source_name())
            if not nested:
                break
        scope = tuple(part for part in parts[:-1] if not part.startswith(_ANONYMOUS))
        return Name(scope, parts[-1], self._literals())

    def _literals(self) -> tuple[int, ...] | None:
        try:
            return self._arguments() if self._at < len(self._text) and self._peek() == "I" else ()
        except (_Strange, IndexError):
            return None

    def _peek(self) -> str:
        return self._text[self._at]

    def _taken(self, text: str) -> bool:
        here = self._text.startswith(text, self._at)
        self._at += len(text) if here else 0
        return here

    def _source_name(self) -> str:
        match = _NUMBER.match(self._text, self._at)
        if match is None:
            raise _Strange
        begin, self._at = match.end(), match.end() + int(match[0])
        if self._at > len(self._text):
            raise _Strange
        return self._text[begin : self._at]

    def _arguments(self) -> tuple[int, ...] | None:
        """Those between I, or J of a pack, and its E."""
        self._at += 1
        found: list[int] = []
        plain = True
        while not self._taken("E"):
            if self._peek() == "J":
                inner = self._arguments()
                plain, found = plain and inner is not None, [*found, *(inner or ())]
            elif self._peek() == "L":
                value = self._literal()
                plain, found = plain and value is not None, [*found, *([value] if value is not None else [])]
            else:
                plain &= self._peek() != "X"
                self._step()
        return tuple(found) if plain else None

    def _literal(self) -> int | None:
        """A value: its type, then digits; a function or object has its own mangled name instead."""
        self._at += 1
        if self._taken("_Z"):
            self._until_end()
            return None
        self._step()
        match = _VALUE.match(self._text, self._at)
        if match is None:
            self._until_end()
            return None
        self._at = match.end()
        return -int(match[2]) if match[1] else int(match[2])

    def _step(self) -> None:
        """Over one type or one part of it."""
        if self._peek().isdecimal():
            self._source_name()
        elif self._peek() == "L":
            self._literal()
        elif self._peek() in _NESTED:
            self._at += 1
            self._until_end()
        elif self._taken(_LAMBDA):
            self._until_end()
            match = _LAMBDAS_NUMBER.match(self._text, self._at)
            self._at = match.end() if match else self._at
        else:
            match = _STEPS.match(self._text, self._at)
            if match is None:
                raise _Strange
            self._at = match.end()

    def _until_end(self) -> None:
        while not self._taken("E"):
            self._step()
