"""Results as text for people, or as one JSON object for programs.

The answer (verified, refused, failed verification) goes to stdout; what kept the question from being answered (usage, C that
does not compile, a missing device, a fault of ours) goes to stderr.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from cudaperf.engine.cli.excerpt import excerpt
from cudaperf.engine.reason import Reason, ReasonCode
from cudaperf.engine.result import (
    EXIT_FAILED,
    EXIT_REFUSED,
    CandidateSummary,
    FunctionListing,
    JsonValue,
    OptimizeRequest,
    OptimizeResult,
    exit_code,
    is_emitted,
    reason_json,
    to_json,
)

STYLES = {"verified": "bold green", "refused": "bold yellow", "failed": "bold red", "error": "bold red"}


def print_json(value: dict[str, JsonValue]) -> None:
    print(json.dumps(value, indent=2, allow_nan=False), flush=True)


def console(stderr: bool = False) -> Console:
    """Colours on a terminal, the plain text elsewhere; never wraps or guesses at what to highlight."""
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=True)


def result(request: OptimizeRequest, outcome: OptimizeResult, written: Sequence[Path], as_json: bool) -> None:
    """One run of `optimize`."""
    if as_json:
        print_json(to_json(outcome, [str(path.absolute()) for path in written]))
    elif outcome.reason is not None:
        out = console(stderr=exit_code(outcome) not in (EXIT_REFUSED, EXIT_FAILED))
        out.print(reason_text(request.path, outcome.reason))
        for line in _candidate_lines(outcome):
            out.print(line)
    else:
        out = console()
        for text in verified_lines(request, outcome, written):
            out.print(text)


def reason_word(reason: Reason) -> str:
    if reason.code is ReasonCode.VERIFICATION:
        return "failed"
    usage = (ReasonCode.COMPILE, ReasonCode.NOT_FOUND, ReasonCode.USAGE, ReasonCode.UNAVAILABLE, ReasonCode.INTERNAL)
    return "error" if reason.code in usage else "refused"


def reason_text(path: Path, reason: Reason) -> Text:
    """`FILE:LINE:COL: refused [code]: message`, then the line and a caret range where there is a place to blame."""
    place = "".join(f":{number}" for number in (reason.line, reason.column) if number is not None)
    word = reason_word(reason)
    text = Text.assemble((f"{path}{place}: ", "bold"), (f"{word} [{reason.code}]", STYLES[word]), f": {reason.message}")
    shown = excerpt(path, reason)
    if shown is not None:
        text.append(f"\n{shown.source}\n")
        text.append(shown.carets, STYLES[word])
    return text


def listing(path: Path, functions: Sequence[FunctionListing], as_json: bool) -> None:
    """What `optimize FILE` prints."""
    if as_json:
        print_json({"file": str(path.absolute()), "functions": [_listing_json(each) for each in functions]})
        return
    out = console()
    if not functions:
        out.print(f"{path}: no function is defined here")
    width = max((len(each.name) for each in functions), default=0)
    for each in functions:
        out.print(_listing_line(path, each, width))


def _listing_line(path: Path, function: FunctionListing, width: int) -> Text:
    head = f"{path}:{function.line}: {function.name:{width}}  "
    if function.reason is None:
        return Text.assemble(head, ("can move", STYLES["verified"]))
    where = f"line {function.reason.line}: " if function.reason.line is not None else ""
    return Text.assemble(head, ("cannot", STYLES["refused"]), f", because {where}{function.reason.message}")


def _listing_json(function: FunctionListing) -> JsonValue:
    reason: JsonValue = reason_json(function.reason) if function.reason else None
    return {"name": function.name, "line": function.line, "can_move": function.reason is None, "reason": reason}


def verified_lines(request: OptimizeRequest, outcome: OptimizeResult, written: Sequence[Path]) -> Iterable[Text]:
    """The account of a verified result."""
    style = STYLES[outcome.status]
    yield Text.assemble((f"{request.path}::{request.function}: ", "bold"), (outcome.status, style), f": {outcome.claim}")
    if outcome.device:
        yield _row("device", outcome.device)
    yield _row("checked", _checked(outcome))
    sizes = ", ".join(f"{name} = {value}" for name, value in outcome.timed_sizes.items())
    for name, seconds in outcome.baselines.items():
        at = f" at {sizes}" if sizes else ""
        yield _row("baseline", f"{name}: {duration(seconds)}{at}{_ratio(outcome.speedup.get(name))}")
    yield from _candidate_lines(outcome)
    for path in written:
        yield _row("wrote", str(path))
    evidence = next((path for path in written if path.name.endswith(".evidence.json")), None)
    if evidence is not None:
        yield _row("repeat", f"cudaperf replay {shlex.quote(str(evidence))}")


def _row(name: str, text: str) -> Text:
    return Text.assemble(f"  {name:10}", text)


def _checked(outcome: OptimizeResult) -> str:
    shares = [c.max_error / c.bound for c in outcome.configurations if c.bound > 0]
    error = f"; largest error {max(shares):.2g} of its bound" if shares and max(shares) > 0 else "; no difference"
    return f"{len(outcome.configurations)} configurations{error}; {', '.join(outcome.checks)}"


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f" ({ratio:.2f}x)"


def _candidate_lines(outcome: OptimizeResult) -> Iterable[Text]:
    for each in outcome.candidates:
        note = f", emitted ({outcome.chosen_by})" if is_emitted(outcome, each) else ""
        style = STYLES["verified"] if each.verdict == "passed" else ""
        yield Text.assemble(
            _row("candidate", f"{each.schedule}: "), (each.verdict or "not run", style), f"{note}{_figures(each)}"
        )
        if each.detail:
            yield _row("", each.detail)


def _figures(each: CandidateSummary) -> str:
    figures = [
        f"{each.registers} registers" if each.registers is not None else "",
        f"{each.spill_bytes} bytes spilled" if each.spill_bytes else "",
        f"{each.shared_bytes} bytes shared" if each.shared_bytes else "",
        f"occupancy {each.occupancy:.0%}" if each.occupancy is not None else "",
        f"on sm_{each.architecture}" if each.architecture is not None else "",
        duration(each.seconds) if each.seconds is not None else "",
    ]
    known = ", ".join(figure for figure in figures if figure).replace(", on sm_", " on sm_")
    return f"; {known}" if known else ""


def duration(seconds: float) -> str:
    """Three figures in the unit that suits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
