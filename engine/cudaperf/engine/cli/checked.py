"""What `cudaperf check` prints and writes: findings to stdout, what kept something from being looked at to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TextIO

from cudaperf.engine.result import EXIT_INTERNAL, EXIT_USAGE

if TYPE_CHECKING:
    from cudaperf.engine.analysis.report.problem import Fixed, Problem, Report, Trouble
    from cudaperf.engine.analysis.report.text import Piece

Format = Literal["text", "json", "sarif", "github"]

EXIT_FINDINGS: Final = 1
STYLES: Final = {"place": "bold", "error": "bold red", "warning": "bold yellow", "hint": "bold cyan", "note": "bold blue"}


class Output:
    """One run's output in one format. With `diff` the changes are printed and nothing is written; `to_stdin` sends a fixed
    text to stdout and the findings to stderr."""

    def __init__(self, form: Format, *, statistics: bool, diff: bool, to_stdin: bool) -> None:
        from cudaperf.engine.analysis.report.tally import Tally

        self._form, self._statistics, self._diff, self._to_stdin = form, statistics, diff, to_stdin
        self._tally = Tally()
        self._troubles: list[Trouble] = []
        self._failed = False
        self._stream: TextIO | None = None

    def show(self, reports: Iterable[Report]) -> int:
        """Print as the reports come; the exit code."""
        told = self._told(self._tally.counted(reports))
        if self._diff:
            for _ in told:
                pass
            changed = f"{self._tally.fixed} to fix" if self._tally.fixed else "nothing to fix"
            print(f"{changed}", file=sys.stderr)
        elif self._statistics:
            self._print_statistics(told)
        else:
            self._print_findings(told)
        sys.stdout.flush()
        return self.exit_code

    @property
    def exit_code(self) -> int:
        if self._tally.internal:
            return EXIT_INTERNAL
        if self._tally.unreadable or self._failed:
            return EXIT_USAGE
        found = self._tally.fixed if self._diff else self._tally.problems
        return EXIT_FINDINGS if found else 0

    def _told(self, reports: Iterable[Report]) -> Iterator[Report]:
        """Troubles to stderr and fixes to their files, then the report goes on."""
        for report in reports:
            for trouble in report.troubles:
                self._tell(trouble)
            self._store(report)
            yield report

    def _tell(self, trouble: Trouble) -> None:
        self._troubles.append(trouble)
        print(trouble, file=sys.stderr)

    def _store(self, report: Report) -> None:
        if self._diff:
            if report.fixed is not None:
                _print_diff(report.path, report.fixed)
        elif self._to_stdin and report.fixed is not None:
            self._stream = sys.stderr
            sys.stdout.flush()
            sys.stdout.buffer.write(report.fixed.after)
        elif report.fixed is not None:
            from cudaperf.engine.analysis.fixes import write
            from cudaperf.engine.analysis.report.problem import Trouble

            if reason := write(Path(report.path), report.fixed.after):
                self._failed = True
                self._tell(Trouble(report.path, reason, unreadable=True))

    def _print_findings(self, reports: Iterable[Report]) -> None:
        from cudaperf.engine.analysis.report import github, json_format, sarif

        problems = (problem for report in reports for problem in report.problems)
        if self._form == "json":
            self._print(json_format.text(problems))
        elif self._form == "sarif":
            found = list(problems)
            self._print(sarif.text(found, self._troubles))
        elif self._form == "github":
            for problem in problems:
                self._print(github.line(problem))
        else:
            self._print_text(problems)

    def _print_text(self, problems: Iterable[Problem]) -> None:
        from cudaperf.engine.analysis.report import text

        for problem in problems:
            for pieces in text.lines(problem):
                self._print_pieces(pieces)
        self._print(self._tally.sentence())

    def _print_statistics(self, reports: Iterable[Report]) -> None:
        for _ in reports:
            pass
        rows = self._tally.table()
        if self._form == "json":
            self._print(json.dumps([{"code": code, "name": name, "count": count} for count, code, name in rows], indent=2))
            return
        width = max((len(str(count)) for count, _, _ in rows), default=0)
        for count, code, name in rows:
            self._print(f"{count:{width}}  {code}  {name}")
        self._print(self._tally.sentence())

    def _print_pieces(self, pieces: list[Piece]) -> None:
        from cudaperf.engine.analysis.report.text import plain

        if not (self._stream or sys.stdout).isatty():
            self._print(plain(pieces))
            return
        from rich.text import Text

        from cudaperf.engine.cli.show import console

        out = console(stderr=self._stream is not None)
        out.print(Text.assemble(*((text, STYLES.get(style, "")) for text, style in pieces)))

    def _print(self, line: str) -> None:
        print(line, file=self._stream or sys.stdout)


def _print_diff(path: str, fixed: Fixed) -> None:
    import difflib

    name = path.encode("utf-8", "surrogateescape")
    before, after = (text.splitlines(keepends=True) for text in (fixed.before, fixed.after))
    sys.stdout.flush()
    for line in difflib.diff_bytes(difflib.unified_diff, before, after, name, name):
        sys.stdout.buffer.write(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n")
