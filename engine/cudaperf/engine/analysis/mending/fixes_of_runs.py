"""Fixes for what the simulated runs of a kernel show, where the kernel's own text is what is to change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cudaperf.engine.analysis.finding import Finding, Fix
from cudaperf.engine.analysis.mending.barriers import separated
from cudaperf.engine.analysis.mending.idle import removed
from cudaperf.engine.analysis.mending.moved import moved
from cudaperf.engine.analysis.mending.padding import padded
from cudaperf.engine.analysis.mending.trial import Place, Trials, place
from cudaperf.engine.analysis.runs import Runs

_CODES = frozenset(("CP102", "CP301", "CP302", "CP303", "CP304"))


def mended(runs: Runs, findings: list[Finding]) -> list[Finding]:
    """The findings, with fixes where there are any."""
    if not any(f.code in _CODES for f in findings) or runs.model.broken(runs.kernel):
        return findings
    own = [f for f in findings if runs.kernel.start <= f.start < runs.kernel.end]
    fixes: dict[Place, Fix] = {**padded(runs, _of("CP102", own)), **removed(runs, _of("CP304", own))}
    trials = Trials(runs, findings)
    for code, fix_of in (("CP301", moved), ("CP302", separated), ("CP303", separated)):
        for finding in _of(code, own):
            fix = fix_of(trials, finding)
            if fix is not None:
                fixes[place(finding)] = fix
    return [replace(f, fix=fixes[place(f)]) if place(f) in fixes else f for f in findings] if fixes else findings


def _of(code: str, findings: Iterable[Finding]) -> list[Finding]:
    return [f for f in findings if f.code == code]
