"""compute-sanitizer over a driver: memory errors, races of shared memory with their lines, barriers that threads miss."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .process import output_of

_PLACE = re.compile(r"(?P<file>[^\s/()]+\.cuh?):(?P<line>\d+)")
_SUMMARY = re.compile(r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard)")


@dataclass(frozen=True, slots=True)
class Report:
    """One message: `severity` and `text` of its first line, `places` the file and line of each access it names."""

    tool: str
    severity: str
    text: str
    places: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """What a tool said of some kernels of a file. `trouble` says why that can't be relied on: a time-out, a tool that fails."""

    tool: str
    file: str
    kernels: tuple[str, ...]
    reports: tuple[Report, ...]
    trouble: str = ""

    @property
    def timed_out(self) -> bool:
        return self.trouble.startswith("timed out")


def check(sanitizer: str, tool: str, program: Path, file: str, kernels: tuple[str, ...], seconds: float) -> Checked:
    """One run of `tool` ("memcheck", "racecheck", "synccheck") over the kernels named."""
    command = [sanitizer, "--tool", tool, "--show-backtrace", "no", "--print-limit", "5000"]
    command += ["--racecheck-report", "analysis"] if tool == "racecheck" else []
    output = output_of([*command, str(program), *kernels], seconds)
    if output is None:
        return Checked(tool, file, kernels, (), f"timed out after {seconds:.0f} s")
    trouble = "" if _SUMMARY.search(output) else output[-400:] or "no summary"
    return Checked(tool, file, kernels, tuple(parse(tool, output)), trouble)


def runs(program: Path, kernels: tuple[str, ...], seconds: float) -> bool:
    """Whether the kernels come to an end without a tool."""
    return output_of([str(program), *kernels], seconds) is not None


def parse(tool: str, output: str) -> Iterator[Report]:
    """The messages of a run. A message begins at a line whose text is not indented and goes on over the indented ones."""
    head, places = "", list[tuple[str, int]]()
    for raw in output.splitlines():
        if not raw.startswith("========="):
            continue
        text = raw[len("=========") :]
        if text.startswith("     ") or not text.strip():
            places += _places(text) if head else []
            continue
        if head:
            yield _report(tool, head, places)
        starts = text.strip()
        head = "" if re.match(r"(COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|LEAK SUMMARY)", starts) else starts
        places = list(_places(text))
    if head:
        yield _report(tool, head, places)


def _places(text: str) -> Iterator[tuple[str, int]]:
    for match in _PLACE.finditer(text):
        yield match["file"], int(match["line"])


def _report(tool: str, head: str, places: list[tuple[str, int]]) -> Report:
    severity = next((word for word in ("error", "warning", "info") if head.lower().startswith(word)), "error")
    return Report(tool, severity, head, tuple(dict.fromkeys(places)))
