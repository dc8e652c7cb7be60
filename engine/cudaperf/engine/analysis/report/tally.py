"""What a run came to: how many findings of each rule and kind, in how many files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cudaperf.engine.analysis.finding import RULES, Severity
from cudaperf.engine.analysis.report.problem import Report


@dataclass(slots=True)
class Tally:
    """Counts reports as they pass by."""

    files: int = 0
    files_with_findings: int = 0
    fixed: int = 0
    fixable: int = 0
    fixable_unsafely: int = 0
    measured: int = 0
    internal: bool = False
    unreadable: bool = False
    codes: Counter[str] = field(default_factory=Counter)
    severities: Counter[Severity] = field(default_factory=Counter)

    def counted(self, reports: Iterable[Report]) -> Iterator[Report]:
        for report in reports:
            self.files += report.checked
            self.files_with_findings += bool(report.problems)
            self.fixed += report.fixed.count if report.fixed else 0
            self.measured += report.measured
            self.internal |= any(trouble.internal for trouble in report.troubles)
            self.unreadable |= any(trouble.unreadable for trouble in report.troubles)
            for problem in report.problems:
                self.codes[problem.code] += 1
                self.severities[problem.severity] += 1
                self.fixable += problem.fix is not None and problem.fix.safe
                self.fixable_unsafely += problem.fix is not None and not problem.fix.safe
            yield report

    @property
    def problems(self) -> int:
        """Findings of warning or above."""
        return self.severities[Severity.ERROR] + self.severities[Severity.WARNING]

    def sentence(self) -> str:
        """One line for people."""
        mended = f"{_many(self.fixed, 'finding')} fixed; " if self.fixed else ""
        kinds = [_many(self.severities[kind], kind) for kind in Severity if self.severities[kind]]
        measured = f"; {_many(self.measured, 'kernel')} measured by ptxas" if self.measured else ""
        if not self.files and not kinds:
            return "0 files checked: no .cu or .cuh file, nor CUDA in C++ or Python files, is there"
        if not kinds:
            return f"{mended}{_many(self.files, 'file')} checked, no findings{measured}"
        where = f"in {_many(self.files_with_findings, 'file')} of {self.files}"
        return f"{mended}{', '.join(kinds)} {where}{self._fixable()}{measured}"

    def _fixable(self) -> str:
        """How many findings have fixes."""
        safely = f"; --fix mends {self.fixable}" if self.fixable else ""
        others = f" {self.fixable_unsafely} more" if self.fixable else f" mends {self.fixable_unsafely}"
        return f"{safely}{',' if safely else '; --fix'} --unsafe-fixes{others}" if self.fixable_unsafely else safely

    def table(self) -> list[tuple[int, str, str]]:
        """(count, code, the rule's name), the most frequent first."""
        rows = sorted(self.codes.items(), key=lambda row: (-row[1], row[0]))
        return [(count, code, RULES[code].name if code in RULES else "") for code, count in rows]


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
