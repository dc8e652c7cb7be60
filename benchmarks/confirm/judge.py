"""Expectations beside measurements: for each decision what the hardware says, and whether the two agree.

The tools cannot see everything. Writes of several threads to one global address, shuffles with a wrong mask, and barriers whose
missing threads have exited stay "reasoning": `hardware` is None for them.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from dataclasses import dataclass, field

from .cases import ACCURACY, Case, Decision
from .profile import Access
from .sanitize import Checked

SECTORS = 2.5
"""From this ratio of touched to needed sectors on, an access counts as uncoalesced (the README of the kernels says so)."""
WAVEFRONTS = 2.0
"""The same of wavefronts; expected conflicts are of three ways or more, and loops mix degrees."""
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything the tools said. `hung` are kernels that did not end."""

    lines: dict[Place, Access] = field(default_factory=dict)
    races: tuple[tuple[Place, ...], ...] = ()
    synchronization: frozenset[str] = frozenset()
    checked: frozenset[tuple[str, str]] = frozenset()
    hung: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Answer:
    """`hardware` is None where no tool can tell, `how` says which tool told or why none did."""

    decision: Decision
    hardware: bool | None
    how: str

    @property
    def agree(self) -> bool | None:
        return None if self.hardware is None else self.hardware == self.decision.expected

    def row(self) -> dict[str, str | int | bool | None]:
        d = self.decision
        return {
            "file": d.file,
            "kernel": d.kernel,
            "line": d.line,
            "rule": d.code,
            "expected": d.expected,
            "hardware": self.hardware,
            "agree": self.agree,
            "how": self.how,
        }


def measured(lines: dict[Place, Access], checks: Iterable[Checked], cases: list[Case], hung: Iterable[str]) -> Measured:
    """The tools' output in one place, races and barriers by kernel."""
    races, synchronization, checked = [], set[str](), set[tuple[str, str]]()
    for check in checks:
        if not check.trouble:
            checked |= {(check.tool, kernel) for kernel in check.kernels}
        if check.tool == "racecheck":
            races += [r.places for r in check.reports if r.places and r.severity != "info"]
        if check.tool == "synccheck":
            reported = {place for r in check.reports for place in r.places}
            of_lines = {c.kernel for c in cases if any(c.file == f and c.first <= n <= c.last for f, n in reported)}
            alone = set(check.kernels) if len(check.kernels) == 1 and (check.reports or check.timed_out) else set()
            synchronization |= of_lines | alone
    return Measured(lines, tuple(races), frozenset(synchronization), frozenset(checked), frozenset(hung))


def answers(cases: list[Case], found: Measured) -> list[Answer]:
    """One for each decision of the accuracy rules."""
    return [answer(case, d, found) for case in cases for d in case.decisions if d.code in ACCURACY]


def answer(case: Case, decision: Decision, found: Measured) -> Answer:
    if not decision.measurable:
        return Answer(decision, None, "depends on data: the rule keeps quiet whatever is measured")
    match decision.code:
        case "CP101":
            return _counted(decision, found)
        case "CP102":
            return _counted(decision, found)
        case "CP301":
            return _barrier(case, decision, found)
        case "CP302":
            return _race(case, decision, found)
        case "CP303" | "CP305" if case.shares(decision.line):
            return _race(case, decision, found)
        case "CP305":
            return Answer(decision, None, "reasoning: no tool sees writes of several threads to one global address")
        case "CP303":
            return (
                _barrier(case, decision, found) if case.kernel in found.synchronization else Answer(decision, None, "reasoning")
            )
        case _:
            return Answer(decision, None, "reasoning: threads that have exited count as arrived")


def _counted(decision: Decision, found: Measured) -> Answer:
    access = found.lines.get((decision.file, decision.line))
    if decision.code == "CP101":
        if access is None or not access.ideal_sectors:
            return Answer(decision, None, "not seen: no global access counted on this line")
        text = f"{access.sectors:.2f} times the sectors, {access.executed:.1f} a request"
        return Answer(decision, access.sectors >= SECTORS, text)
    if access is None or not access.ideal_wavefronts:
        return Answer(decision, None, "not seen: no shared access counted on this line")
    return Answer(decision, access.wavefronts >= WAVEFRONTS, f"{access.wavefronts:.2f} times the wavefronts")


def _race(case: Case, decision: Decision, found: Measured) -> Answer:
    if ("racecheck", case.kernel) not in found.checked:
        return Answer(decision, None, "racecheck did not come to an end")
    here = (decision.file, decision.line)
    marked = {(case.file, m.line) for m in case.marks if m.kind in ("expect", "also")}
    if decision.expected:
        others = {(case.file, m.line) for m in case.of(decision.code, "also")} | {here}
        hit = any(others & set(places) for places in found.races)
        return Answer(decision, hit, "racecheck: reported" if hit else "racecheck: nothing reported")
    reported = [places for places in found.races if here in places]
    if any(not marked & set(places) for places in reported):
        return Answer(decision, True, f"racecheck: reported {reported[0]}")
    return Answer(decision, False, "racecheck: only with a line that is marked" if reported else "racecheck: nothing reported")


def _barrier(case: Case, decision: Decision, found: Measured) -> Answer:
    if case.kernel in found.hung | found.synchronization:
        how = "the kernel hangs" if case.kernel in found.hung else "synccheck: reported for this kernel"
        marked = any(case.of(code, "expect") for code in ("CP301", "CP303", "CP306"))
        if marked and not decision.expected:
            return Answer(decision, None, f"reasoning: {how}, at one of its marks or here")
        return Answer(decision, True, how)
    if decision.expected:
        return Answer(decision, None, "reasoning: synccheck reports nothing once the other threads have exited")
    if ("synccheck", case.kernel) not in found.checked:
        return Answer(decision, None, "synccheck did not come to an end")
    return Answer(decision, False, "synccheck: nothing reported")


def table(rows: list[Answer]) -> str:
    """Counts by rule; the contradictions below."""
    counts: dict[str, collections.Counter[str]] = {code: collections.Counter() for code in ACCURACY}
    for row in rows:
        seen = row.how.startswith("not seen")
        kind = {True: "agree", False: "contradicted", None: "not seen" if seen else "reasoning"}[row.agree]
        counts[row.decision.code][f"{'expected' if row.decision.expected else 'none'} {kind}"] += 1
    names = [f"{e} {k}" for e in ("expected", "none") for k in ("agree", "contradicted", "reasoning", "not seen")]
    out = ["| rule | " + " | ".join(names) + " |", "|" + " --- |" * (len(names) + 1)]
    out += [f"| {code} | " + " | ".join(str(counts[code][name]) for name in names) + " |" for code in ACCURACY]
    wrong = [f"{r.decision.file}:{r.decision.line}: {r.decision.code}: {r.decision.kernel}: "
             f"expected {r.decision.expected}, but {r.how}" for r in rows if r.agree is False]  # fmt: skip
    return "\n".join([*out, "", f"contradicted: {len(wrong)}", *wrong])
