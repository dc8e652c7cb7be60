"""The options with which a build compiles a CUDA file, from the nearest `compile_commands.json` above it.

Only those that change what the code means or which registers it gets; none that could start another program.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

_PLACES: Final = ("compile_commands.json", "build/compile_commands.json")
_PATHS: Final = {"-I": "-I", "--include-path": "-I", "-isystem": "-I", "--system-include": "-I"}
"""What to write for each option that names a folder, which NVRTC understands too."""
_VALUES: Final = {
    "-D": "-D", "--define-macro": "-D", "-U": "-U", "--undefine-macro": "-U",
    "-std": "-std=", "--std": "-std=", "-maxrregcount": "-maxrregcount=", "--maxrregcount": "-maxrregcount=",
    "-fmad": "-fmad=", "--fmad": "-fmad=", "-rdc": "-rdc=", "--relocatable-device-code": "-rdc=",
}  # fmt: skip
_FLAGS: Final = {
    "-use_fast_math": "-use_fast_math", "--use_fast_math": "-use_fast_math", "-dc": "-rdc=true", "-G": "-G",
    "--device-debug": "-G",
}  # fmt: skip
_RESPONSE: Final = ("--options-file", "-optf")


class Unreadable(ValueError):
    """A database, or a file that it names, that can't be read; the message says which."""


def recorded_options(path: Path) -> tuple[str, ...]:
    """The file's options; none where the nearest database does not have it. Raises `Unreadable`."""
    whole = Path(os.path.abspath(path))
    databases = (folder / name for folder in whole.parents for name in _PLACES)
    database = next((place for place in databases if place.is_file()), None)
    if database is None:
        return ()
    try:
        entry = _entries(database, database.stat().st_mtime_ns).get(os.path.realpath(whole))
        return tuple(_kept(_expanded(*entry), entry[1])) if entry is not None else ()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"{database} can't be read: {error}") from error


@lru_cache(maxsize=8)
def _entries(database: Path, changed: int) -> dict[str, tuple[list[str], Path]]:
    """The words of each CUDA file's command, and the folder that it runs in."""
    found: dict[str, tuple[list[str], Path]] = {}
    for entry in json.loads(database.read_text(encoding="utf-8")):
        if entry["file"].endswith(".cu"):
            folder = Path(database.parent, entry.get("directory", "."))
            words = entry.get("arguments") or shlex.split(entry.get("command", ""))
            found.setdefault(os.path.realpath(folder / entry["file"]), (words, folder))
    return found


def _expanded(words: list[str], folder: Path) -> Iterator[str]:
    """The words, with those of the response files in place of these."""
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _RESPONSE:
            text = Path(folder, value if equals else next(rest, "")).read_text(encoding="utf-8")
            yield from shlex.split(text)
        else:
            yield word


def _kept(words: Iterator[str], folder: Path) -> Iterator[str]:
    for word in words:
        if word in _FLAGS:
            yield _FLAGS[word]
            continue
        name = _option(word)
        if name is None:
            continue
        value = word.removeprefix(name).removeprefix("=") or next(words, "")
        if name in _PATHS:
            yield f"{_PATHS[name]}{Path(folder, value)}"
        else:
            yield f"{_VALUES[name]}{value.replace('gnu++', 'c++') if _VALUES[name] == '-std=' else value}"


def _option(word: str) -> str | None:
    """The option that a word is or begins with: `-IDIR`, `-std=c++17`, `-D` before its value."""
    for name in (*_PATHS, *_VALUES):
        rest = word.removeprefix(name)
        if rest != word and (not rest or rest[0] == "=" or name in ("-I", "-D", "-U", "-isystem")):
            return name
    return None
