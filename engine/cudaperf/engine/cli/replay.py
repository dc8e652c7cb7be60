"""`cudaperf replay FILE.evidence.json`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cudaperf.engine.cli import options
from cudaperf.engine.reason import Reason
from cudaperf.engine.result import EXIT_VERIFIED, Status, reason_exit_code

if TYPE_CHECKING:
    from rich.text import Text

    from cudaperf.engine.replay import Repeated, ReplayResult


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE.evidence.json", help="What cudaperf optimize wrote.")],
    executor: Annotated[str, typer.Option(metavar="auto|emulated|gpu", help="Where to verify.")] = "auto",
    max_seconds: Annotated[float, typer.Option(metavar="SECONDS", help="Bound on the whole run.")] = 300.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")] = False,
) -> int:
    """Repeat a recorded verification here, from the evidence file alone (builds and runs the code in it).

    Exit codes as optimize's: 0 where every configuration passes again.
    """
    choice, seconds = options.executor(executor), options.seconds(max_seconds)
    from cudaperf.engine.cli import show
    from cudaperf.engine.cli.progress import shown
    from cudaperf.engine.replay import ReplayResult, load, to_json
    from cudaperf.engine.replay import replay as repeat

    evidence = load(file)
    if isinstance(evidence, Reason):
        result = ReplayResult(Status.FAILED, evidence)
    else:
        with shown(quiet=as_json) as progress:
            result = repeat(evidence, choice, seconds, progress)
    if as_json:
        show.print_json(to_json(result))
    else:
        _print(file, result)
    return reason_exit_code(result.reason) if result.reason else EXIT_VERIFIED


def _print(file: Path, result: ReplayResult) -> None:
    from rich.text import Text

    from cudaperf.engine.cli import show

    out = show.console(stderr=result.reason is not None and not result.configurations)
    for each in result.configurations:
        out.print(_line(each))
    if result.reason is not None:
        out.print(show.reason_text(file, result.reason))
    else:
        out.print(Text.assemble((f"{file}: ", "bold"), (result.status, show.STYLES["verified"]), f" again: {result.claim}"))


def _line(each: Repeated) -> Text:
    from rich.text import Text

    from cudaperf.engine.cli.show import STYLES

    word, style = ("same", "verified") if each.same else ("different", "failed")
    sizes = ", ".join(f"{name} = {value}" for name, value in each.sizes.items()) or "no sizes"
    line = Text.assemble("  ", (f"{word:9}", STYLES[style]), f" {sizes}, {each.distribution} values: ")
    if each.now is None:
        return line.append("no result now")
    line.append(f"error {each.now.max_error:.3g} within {each.now.bound:.3g}")
    if each.recorded is not None and each.recorded.max_error != each.now.max_error:
        line.append(f" (recorded {each.recorded.max_error:.3g})")
    return line
