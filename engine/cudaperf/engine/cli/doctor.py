"""`cudaperf doctor`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cudaperf.engine.result import EXIT_UNAVAILABLE

if TYPE_CHECKING:
    from cudaperf.engine.doctor import Part


def doctor(
    deep: Annotated[bool, typer.Option("--deep", help="Also build and run a program under each sanitizer.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")] = False,
) -> int:
    """Say what is installed, what each missing part would add, and the command that adds it.

    Exit code 5 where something is missing that optimize can't do without, else 0.
    """
    from cudaperf.engine.doctor import complete, examine

    parts = examine(deep)
    ready = complete(parts)
    if as_json:
        from cudaperf.engine.cli.show import print_json

        print_json({"ready": ready, "parts": [asdict(part) for part in parts]})
    else:
        _print(parts, ready)
    return 0 if ready else EXIT_UNAVAILABLE


def _print(parts: tuple[Part, ...], ready: bool) -> None:
    from rich.text import Text

    from cudaperf.engine.cli.show import STYLES, console

    out = console()
    for part in parts:
        word, style = ("yes", "verified") if part.found else ("MISSING", "failed") if part.needed else ("no", "refused")
        line = Text.assemble(f"{part.name:13} ", (f"{word:8}", STYLES[style]), part.detail)
        if not part.found:
            line.append(f"\n{'':22}adds: {part.adds}\n{'':22}get it: {part.command}")
        out.print(line)
    out.print(
        "\ncudaperf optimize works here." if ready else "\ncudaperf optimize can't work here until MISSING parts are added."
    )
