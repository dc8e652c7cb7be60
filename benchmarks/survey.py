"""What CudaPerf says of C that it was not written for: every function with a loop in the folders given, and why not.

Run: python benchmarks/survey.py FOLDER ... [--exclude GLOB] [--seconds 20] [--json FILE] [-- -I DIR -D NAME ...].
Functions are analysed as the listing of `cudaperf optimize FILE` does; nothing is compiled for a device or run, so "can move"
says that candidates exist and not that one was verified. Each file is analysed in a child process that says which function it
is at: one that dies or takes too long costs that function, not the rest. Both are bugs and are counted as such.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cudaperf.engine.reason import Reason

LOOPS = {"FOR_STMT", "WHILE_STMT", "DO_STMT"}
START_SECONDS = 90.0
"""For a child to start, parse and lower a whole file, on a busy machine."""
MESSAGES = 12
NAMES = (
    (re.compile(r"line \d+"), "line N"),
    (re.compile(r"\w+\[.*?\](\[.*?\])*"), "A[..]"),
    (re.compile(r"\b[\w.>-]+\("), "f("),
    (re.compile(r"\b\d+\b"), "N"),
    (re.compile(r"^\S+ (?=is |may |has |was |would |holds |depends |keeps |reads )"), "X "),
    (re.compile(r"'[^']*'"), "'..'"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One function, or one file (no `function`) that does not parse. `outcome`: moves, refused, crash, timeout or file."""

    file: str
    function: str
    loops: int
    outcome: str
    code: str = ""
    message: str = ""
    line: int | None = None
    strategies: tuple[str, ...] = ()
    seconds: float = 0.0


# --- the child: one line of JSON before and after each function -----------------------------------------------------------


def child(path: str, done: int, arguments: tuple[str, ...]) -> None:
    """Analyse the functions of a file from number `done` on."""
    from cudaperf.engine.reason import Reason
    from cudaperf.engine.sources import c

    found = c.list_functions(path, arguments)
    if isinstance(found, Reason):
        say({"outcome": "file", "code": found.code, "message": found.message, "line": found.line})
        return
    loops = loop_counts(path, arguments)
    for info in found[done:]:
        say({"begin": info.name, "loops": loops.get(info.name, 0)})
        start = time.perf_counter()
        answer = answered(path, info.name, info.reason, arguments)
        say({**answer, "seconds": round(time.perf_counter() - start, 3)})
    say({"outcome": "end"})


def answered(path: str, function: str, known: Reason | None, arguments: tuple[str, ...]) -> dict[str, object]:
    from cudaperf.engine.analyse import analyse, offered
    from cudaperf.engine.reason import Refusal

    try:
        if known is not None:
            raise Refusal(known)
        made = offered(analyse(Path(path), function, arguments))
    except Refusal as refusal:
        reason = refusal.reason
        return {"outcome": "refused", "code": reason.code, "message": reason.message, "line": reason.line}
    return {"outcome": "moves", "strategies": [offers[0].schedule.strategy for offers in made.offers.values()]}


def loop_counts(path: str, arguments: tuple[str, ...]) -> dict[str, int]:
    """How many loops each function of the file holds."""
    from cudaperf.engine.sources.c.parse import parse

    counts: dict[str, int] = {}
    for cursor in parse(path, arguments).unit.cursor.get_children():
        file = cursor.extent.start.file
        if cursor.kind.name == "FUNCTION_DECL" and cursor.is_definition() and file and file.name == path:
            counts[cursor.spelling] = sum(c.kind.name in LOOPS for c in cursor.walk_preorder())
    return counts


def say(what: dict[str, object]) -> None:
    print(json.dumps(what), flush=True)


# --- the parent -----------------------------------------------------------------------------------------------------------


def survey(path: Path, seconds: float, arguments: list[str]) -> Iterator[Row]:
    """The rows of one file; a child is started again after a function that killed it or ran too long."""
    done, again = 0, True
    while again:
        again = False
        for row in one_child(path, done, seconds, arguments):
            yield row
            done += 1
            again = row.outcome in ("crash", "timeout") and row.function != ""


def one_child(path: Path, done: int, seconds: float, arguments: list[str]) -> Iterator[Row]:
    command = [sys.executable, __file__, "--child", str(path), str(done), "--", *arguments]
    with tempfile.TemporaryFile() as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as process:
        at: dict[str, Any] = {"begin": "", "loops": 0}
        for said in lines(process, START_SECONDS, seconds):
            if "begin" in said:
                at = said
            elif said["outcome"] == "end":
                return
            else:
                yield Row(str(path), at["begin"], at["loops"], **said)
                if said["outcome"] == "file":
                    return
        outcome = "timeout" if process.poll() is None else "crash"
        process.kill()
        errors.seek(0)
        message = errors.read().decode(errors="replace").strip().splitlines()[-1:]
        yield Row(str(path), at["begin"], at["loops"], outcome, message="".join(message))


def lines(process: subprocess.Popen[bytes], first: float, seconds: float) -> Iterator[dict[str, Any]]:
    """What the child says, until it ends or stays silent for longer than it may."""
    assert process.stdout is not None
    descriptor, kept = process.stdout.fileno(), b""
    limit = first
    while select.select([descriptor], [], [], limit)[0]:
        found = os.read(descriptor, 1 << 16)
        if not found:
            process.wait()
            return
        *whole, kept = (kept + found).split(b"\n")
        yield from (json.loads(line) for line in whole)
        limit = seconds


# --- the tally ------------------------------------------------------------------------------------------------------------


def report(rows: list[Row], files: int) -> None:
    broken = [r for r in rows if r.outcome == "file"]
    functions = [r for r in rows if r.function]
    looping = [r for r in functions if r.loops]
    print(f"\n{files} files, {files - len(broken)} parse; {len(functions)} functions, {len(looping)} with loops")
    counts = collections.Counter(r.outcome for r in looping)
    straight = sum(r.outcome in ("crash", "timeout") for r in rows if not r.loops)
    print(
        f"with loops: {counts['moves']} can move, {counts['refused']} refused, {counts['crash']} crash, "
        f"{counts['timeout']} timeout; without loops: {straight} crash or timeout"
    )
    moving = collections.Counter(" + ".join(sorted(set(r.strategies))) for r in looping if r.outcome == "moves")
    for strategy, number in moving.most_common():
        print(f"  moves by {strategy:30} {number:5}")
    refused = [r for r in looping if r.outcome == "refused"]
    for code, number in collections.Counter(r.code for r in refused).most_common():
        print(f"  refused as {code:28} {number:5}")
        kinds = collections.Counter(kind(r.message) for r in refused if r.code == code)
        for message, times in kinds.most_common(MESSAGES):
            print(f"    {times:5}  {message}")
    for row in [*broken, *(r for r in rows if r.outcome in ("crash", "timeout"))]:
        print(f"  {row.outcome}: {row.file}::{row.function}: {row.message}")


def kind(message: str) -> str:
    """A message without its names and numbers."""
    for pattern, instead in NAMES:
        message = pattern.sub(instead, message)
    return message[:150]


def main() -> None:
    arguments, _, passed = (list(part) for part in _split(sys.argv[1:]))
    if arguments[:1] == ["--child"]:
        child(arguments[1], int(arguments[2]), tuple(passed))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--exclude", action="append", default=[], help="a glob of file names to leave out")
    parser.add_argument("--seconds", type=float, default=20.0, help="a function's analysis may take")
    parser.add_argument("--json", type=Path, help="write every function's row, one a line")
    options = parser.parse_args(arguments)
    paths = [p.resolve() for folder in options.folders for p in (sorted(folder.rglob("*.c")) if folder.is_dir() else [folder])]
    paths = [p for p in paths if not any(p.match(glob) for glob in options.exclude)]
    rows: list[Row] = []
    for number, path in enumerate(paths):
        print(f"\r{number + 1}/{len(paths)} {path.name:40.40}", end="", file=sys.stderr, flush=True)
        rows += survey(path, options.seconds, passed)
    print(file=sys.stderr)
    if options.json:
        options.json.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")
    report(rows, len(paths))


def _split(words: list[str]) -> tuple[list[str], list[str], list[str]]:
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at : at + 1], words[at + 1 :]


if __name__ == "__main__":
    main()
