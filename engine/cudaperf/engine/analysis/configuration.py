"""What a project sets for `check`: the nearest `cudaperf.toml` above a file, or `pyproject.toml` with `[tool.cudaperf]`.

A setting that can't be read is an `Invalid` with its file and line; nothing is guessed. Patterns are relative to the file's
folder; `*` also matches `/`, and a pattern without `/` is compared with each part of a path.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Final

from cudaperf.engine.analysis.finding import RULES
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.toolchain.devices import MAX_BLOCK, MAX_THREADS_PER_BLOCK, UnknownArchitecture, parse_architecture

NAMES: Final = ("cudaperf.toml", "pyproject.toml")
_TABLE: Final = ("tool", "cudaperf")
_KEY: Final = r"(?:\"[^\"]*\"|'[^']*'|[\w-]+)"
_HEADER: Final = re.compile(rf"\s*\[\[?\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*\]")
_ASSIGNED: Final = re.compile(rf"\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*=")


@dataclass(frozen=True, slots=True)
class Invalid:
    """A configuration file that can't be used. `line` is None where no line is to blame."""

    path: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.path}{f':{self.line}' if self.line is not None else ''}: {self.message}"


@dataclass(frozen=True, slots=True)
class Configuration:
    """`folder` is what patterns are relative to (None: the working directory)."""

    settings: Settings = field(default_factory=Settings)
    exclude: tuple[str, ...] = ()
    folder: Path | None = None

    def excludes(self, path: Path) -> bool:
        """Whether a file or folder is not to be looked at."""
        return any(matches(pattern, self._relative(path)) for pattern in self.exclude)

    def dropped(self, path: Path) -> tuple[str, ...]:
        """The codes and prefixes that `per-file-ignores` takes from a file."""
        relative = self._relative(path)
        rows = self.settings.per_file_ignores.items()
        return tuple(code for pattern, codes in rows if matches(pattern, relative) for code in codes)

    def _relative(self, path: Path) -> PurePosixPath:
        absolute, folder = os.path.abspath(path), os.path.abspath(self.folder or ".")
        inside = absolute.startswith(folder.rstrip(os.sep) + os.sep)
        return PurePosixPath(PurePath(os.path.relpath(absolute, folder) if inside else absolute.lstrip(os.sep)).as_posix())


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line sets in place of the configuration; None leaves it. `select` also replaces `ignore`."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    architecture: int | None = None
    block: tuple[int, int, int] | None = None

    def over(self, configuration: Configuration) -> Configuration:
        settings = configuration.settings
        if self.select is not None:
            settings = replace(settings, select=self.select, ignore=())
        if self.ignore is not None:
            settings = replace(settings, ignore=self.ignore)
        if self.architecture is not None:
            settings = replace(settings, architecture=self.architecture)
        if self.block is not None:
            settings = replace(settings, block=self.block)
        return replace(configuration, settings=settings)


def matches(pattern: str, path: PurePosixPath) -> bool:
    """Whether a pattern names a path or a folder above it."""
    pattern = pattern.removeprefix("./").rstrip("/")
    if "/" not in pattern:
        return any(fnmatchcase(part, pattern) for part in path.parts)
    shorter = pattern.removeprefix("**/").lstrip("/")
    return any(fnmatchcase(str(each), p) for each in (path, *path.parents) for p in (pattern, shorter))


def nearest(folder: Path) -> Configuration | Invalid:
    """The configuration that holds in a folder: of it or the nearest above; the defaults where there is none."""
    place = Path(os.path.abspath(folder))
    for above in (place, *place.parents):
        for name in NAMES:
            if os.path.isfile(above / name) and (found := load(above / name)) is not None:
                return found
    return Configuration()


def load(path: Path) -> Configuration | Invalid | None:
    """One file; None for a `pyproject.toml` that does not speak to cudaperf."""
    shown = _shown(path)
    table = _TABLE if path.name == "pyproject.toml" else ()
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if table and "cudaperf" not in text:
            return None
        document: Any = tomllib.loads(text.replace("\r\n", "\n"))
    except OSError as error:
        return Invalid(shown, None, f"can't be read: {error.strerror or error}")
    except UnicodeDecodeError as error:
        return Invalid(shown, error.object[: error.start].count(b"\n") + 1, "this is not UTF-8")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        where = re.search(r"\s*\(at (?:line (\d+), column \d+|end of document)\)", str(error))
        message = str(error)[: where.start()] if where else str(error)
        line = int(where[1] or text.count("\n") + 1) if where else None
        return Invalid(shown, line, f"not valid TOML: {message}")
    for key in table:
        document = document.get(key) if isinstance(document, dict) else None
    if document is None:
        return None
    try:
        return replace(_read(document, table), folder=path.absolute().parent)
    except _Wrong as wrong:
        return Invalid(shown, _line(text, wrong.keys), wrong.message)


def _shown(path: Path) -> str:
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


class _Wrong(Exception):
    def __init__(self, keys: tuple[str, ...], message: str) -> None:
        super().__init__(message)
        self.keys, self.message = keys, message


def _read(table: object, keys: tuple[str, ...]) -> Configuration:
    if not isinstance(table, dict):
        raise _Wrong(keys, f"expected a table, not {_kind(table)}")
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _READERS:
            raise _Wrong((*keys, key), f"unknown setting {key!r}; known: {', '.join(_READERS)}")
        try:
            values[key.replace("-", "_")] = _READERS[key](value)
        except ValueError as error:
            raise _Wrong((*keys, key), f"{key}: {error}") from error
    return Configuration(exclude=values.pop("exclude", ()), settings=Settings(**values))


def selectors(value: object) -> tuple[str, ...]:
    """Rule codes or their prefixes."""
    return tuple(selector(code) for code in _strings(value, 'rule codes, as ["CP1", "CP203"]'))


def selector(code: str) -> str:
    """One code or prefix; raises ValueError where no rule has it."""
    upper = code.strip().upper()
    if not upper or not any(rule.startswith(upper) for rule in RULES):
        raise ValueError(f"no rule's code begins with {code!r}; `cudaperf rule` lists them")
    return upper


def architecture(value: object) -> int:
    """ "sm_80" or 80 as 80."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f'expected an architecture, as "sm_80" or 80, not {_kind(value)}')
    try:
        return parse_architecture(str(value)).capability
    except UnknownArchitecture as error:
        raise ValueError(str(error)) from error


def block(value: object) -> tuple[int, int, int]:
    """256 or [32, 8] as three sizes; raises ValueError over CUDA's limits."""
    sizes = value if isinstance(value, list) else [value]
    if not 1 <= len(sizes) <= 3 or not all(isinstance(size, int) and not isinstance(size, bool) for size in sizes):
        raise ValueError("expected a number of threads, as 256, or up to three sizes, as [32, 8]")
    x, y, z = (*sizes, 1, 1)[:3]
    if min(x, y, z) < 1 or x * y * z > MAX_THREADS_PER_BLOCK or any(n > m for n, m in zip((x, y, z), MAX_BLOCK, strict=True)):
        raise ValueError(f"a block holds 1 to {MAX_THREADS_PER_BLOCK} threads, at most {MAX_BLOCK[2]} of them along z")
    return x, y, z


def _per_file(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ValueError(f'expected a table of patterns, as "tests/*" = ["CP5"], not {_kind(value)}')
    return {pattern: selectors(codes) for pattern, codes in value.items()}


def _strings(value: object, wanted: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"expected a list of {wanted}, not {_kind(value)}")
    return tuple(value)


_READERS: Final[Mapping[str, Callable[[object], object]]] = {
    "select": selectors,
    "ignore": selectors,
    "per-file-ignores": _per_file,
    "architecture": architecture,
    "block": block,
    "exclude": lambda value: _strings(value, 'patterns, as ["third_party/*"]'),
}


def _kind(value: object) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "a string", dict: "a table"}
    return kinds.get(type(value), "a list of other values" if isinstance(value, list) else "a date")


def _line(text: str, keys: tuple[str, ...]) -> int | None:
    """The line that sets a key, or the nearest table above it."""
    header: tuple[str, ...] = ()
    best: tuple[int, int | None] = (0, None)
    for number, line in enumerate(text.split("\n"), start=1):
        if head := _HEADER.match(line):
            header = found = _parts(head[1])
        elif assigned := _ASSIGNED.match(line):
            found = (*header, *_parts(assigned[1]))
        else:
            continue
        common = len(found) if found == keys[: len(found)] else len(keys) if found[: len(keys)] == keys else 0
        if common > best[0]:
            best = (common, number)
    return best[1]


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_KEY, dotted))
