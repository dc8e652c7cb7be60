"""Option texts to values; what can't be read is a usage error that says what was expected."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import get_args

import typer

from cudaperf.engine.result import ExecutorChoice
from cudaperf.engine.size import INT64_MAX


def target(text: str) -> tuple[Path, str | None]:
    """FILE::FUNCTION or FILE (then None)."""
    path, separator, function = text.rpartition("::")
    if not separator:
        return Path(text), None
    if not path or not re.fullmatch(r"[^\W\d]\w*", function):
        why = "no function is named behind ::" if path and not function else f"{text!r} is neither FILE::FUNCTION nor FILE"
        raise typer.BadParameter(f"{why}; FILE alone lists the functions", param_hint="FILE[::FUNCTION]")
    return Path(path), function


def executor(text: str) -> ExecutorChoice:
    for choice in get_args(ExecutorChoice):
        if text == choice:
            return choice  # type: ignore[no-any-return]
    raise typer.BadParameter(f"{text!r} is none of {', '.join(get_args(ExecutorChoice))}", param_hint="--executor")


def architecture(text: str | None) -> int | None:
    """sm_90, 90 or 9.0 as 90."""
    if text is None:
        return None
    from cudaperf.engine.toolchain.devices import UnknownArchitecture, parse_architecture

    try:
        return parse_architecture(text).capability
    except UnknownArchitecture as error:
        raise typer.BadParameter(str(error), param_hint="--arch") from error


def sizes(texts: list[str]) -> dict[str, int]:
    """NAME=VALUE texts; a name may come once."""
    found: dict[str, int] = {}
    for text in texts:
        match = re.fullmatch(r"([^\W\d]\w*)=(\d+)", text)
        if not match or int(match[2]) > INT64_MAX:
            raise typer.BadParameter(f"expected NAME=VALUE with a whole number, not {text!r}", param_hint="--size")
        if match[1] in found:
            raise typer.BadParameter(f"{match[1]!r} is given twice", param_hint="--size")
        found[match[1]] = int(match[2])
    return found


def schedule(text: str | None) -> str | None:
    """The schedule as it prints."""
    if text is None:
        return None
    from cudaperf.engine.schedule import ScheduleError, parse

    try:
        return str(parse(text))
    except ScheduleError as error:
        raise typer.BadParameter(str(error), param_hint="--schedule") from error


def seconds(value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise typer.BadParameter(f"expected a positive number of seconds, not {value:g}", param_hint="--max-seconds")
    return value


def compiler_arguments(includes: list[str], defines: list[str]) -> tuple[str, ...]:
    """-I folders made absolute (compilers run elsewhere), then -D macros."""
    for define in defines:
        if not re.match(r"[^\W\d]\w*(\([\w\s,.]*\))?(=|$)", define):
            raise typer.BadParameter(f"expected NAME or NAME=VALUE, not {define!r}", param_hint="-D")
    return (*(f"-I{Path(folder).absolute()}" for folder in includes), *(f"-D{define}" for define in defines))
