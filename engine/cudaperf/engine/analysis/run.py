"""From a text to its findings: CUDA or Python, suppressed ones left out, and no exception of a rule let through.

`check_text` is for whoever holds a text (an editor too) and keeps byte offsets; `check_file` reads one file, `check_paths`
many, on all cores where there is enough to do.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Final

from cudaperf.engine.analysis import by_function, suppression
from cudaperf.engine.analysis.finding import RULES, Edit, Finding, Fixing
from cudaperf.engine.analysis.guard import guarded
from cudaperf.engine.analysis.kept import Kept
from cudaperf.engine.analysis.measured import Measure, Unmeasured
from cudaperf.engine.analysis.report.problem import Fixed, Report, Trouble, located
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.analysis.suppression import Suppression, unknown
from cudaperf.engine.cuda import embedded
from cudaperf.engine.cuda.model import FileModel
from cudaperf.engine.cuda.reader import read as read_model
from cudaperf.engine.cuda.reparse import parsed
from cudaperf.engine.cuda.source import Source

BOM: Final = b"\xef\xbb\xbf"
PYTHON: Final = frozenset((".py", ".pyi", ".pyw"))
CUDA_ONLY: Final = frozenset((".cu", ".cuh"))
_SNIFFED: Final = 8192
MUCH: Final = 3
"""One part of so many of a text that does not parse is told, where the text has more than a few bytes."""
FEW: Final = 32


@dataclass(frozen=True, slots=True)
class Checked:
    """Findings at byte offsets of the text, in its order. `broken` are the places that do not parse."""

    findings: tuple[Finding, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    broken: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """One file to check. `shown` is its name in reports; `dropped` are codes that per-file-ignores takes; `named` where the
    user named it, rather than a folder that holds it. `measure` asks a compiler about the file, where the user wants that."""

    path: Path
    shown: str
    settings: Settings
    dropped: tuple[str, ...] = ()
    named: bool = False
    fix: Fixing | None = None
    measure: Measure | None = None


def check_text(source: Source, settings: Settings, dropped: tuple[str, ...] = (), kept: Kept | None = None) -> Checked:
    """The findings of one text. Python by the suffix of its path; `kept` is what the same document's checks before left, and
    what this one leaves."""
    if PurePath(source.path).suffix in PYTHON:
        checked, silent = _check_python(source, settings, dropped, kept)
    else:
        checked, silent = _check_cuda(source, settings, dropped, kept)
    told = (Trouble(source.path, what) for what in _told_of(source, checked, silent))
    return replace(checked, troubles=(*checked.troubles, *told))


def check_file(job: Job) -> Report:
    """Read one file and check it. What keeps it from being read is told in the report."""
    try:
        if os.path.exists(job.path) and not os.path.isfile(job.path):
            return _unread(job, "this is not a regular file")
        data = job.path.read_bytes()
    except (OSError, ValueError) as error:
        return _unread(job, f"can't be read: {getattr(error, 'strerror', None) or error}")
    if not job.named and job.path.suffix not in CUDA_ONLY and not embedded.CUDA.search(data):
        return Report(job.shown, checked=False)
    return check_bytes(job, data)


def check_bytes(job: Job, data: bytes) -> Report:
    """Check, and where the job says so fix, what a file holds."""
    report = guarded(job.shown, "checking it", lambda: _report(job, data))
    return Report(job.shown, troubles=(report,), checked=False) if isinstance(report, Trouble) else report


def _report(job: Job, data: bytes) -> Report:
    if problem := _not_text(data):
        return Report(job.shown, troubles=(Trouble(job.shown, problem),), checked=False)
    bom, text = (BOM, data[len(BOM) :]) if data.startswith(BOM) else (b"", data)
    fixed: Fixed | None = None
    troubles: tuple[Trouble, ...] = ()
    if job.fix is not None:
        from cudaperf.engine.analysis.fixes import fix_text

        after, count, troubles = fix_text(text, job.shown, lambda data: _checked(job, data), job.fix)
        if count:
            fixed, text = Fixed(data, bom + after, count), after
    job, told, measured = _measured(job, text)
    source, checked = Source(job.shown, text), _checked(job, text)
    problems = tuple(located(finding, source, job.shown) for finding in checked.findings)
    return Report(job.shown, problems, (*troubles, *told, *checked.troubles), fixed=fixed, measured=measured)


def _measured(job: Job, text: bytes) -> tuple[Job, tuple[Trouble, ...], int]:
    """The job with what a compiler says of the text in its settings, why it says nothing, and of how many kernels it speaks."""
    found = job.measure(job.path, text, job.settings.architecture) if job.measure is not None else None
    if isinstance(found, Unmeasured):
        return job, (Trouble(job.shown, f"not measured, figures are estimates: {found.why}"),), 0
    if found is None:
        return job, (), 0
    kernels = {(figures.scope, figures.name) for figures in found.kernels}
    return replace(job, settings=replace(job.settings, measured=found)), (), len(kernels)


def check_paths(jobs: Sequence[Job]) -> Iterator[Report]:
    """The report of each job, in their order."""
    from cudaperf.engine.analysis.workers import WORTH_IT, spread

    return spread(check_file, jobs, 0 if any(job.measure is not None for job in jobs) else WORTH_IT)


def _checked(job: Job, text: bytes) -> Checked:
    return check_text(Source(job.shown, text), job.settings, job.dropped)


def _unread(job: Job, why: str) -> Report:
    return Report(job.shown, troubles=(Trouble(job.shown, why, unreadable=job.named),), checked=False)


def _not_text(data: bytes) -> str | None:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "not checked: this is UTF-16; cudaperf reads UTF-8"
    return "not checked: this is a binary file" if b"\0" in data[:_SNIFFED] else None


Silent = Sequence[Suppression]


def _check_cuda(source: Source, settings: Settings, dropped: tuple[str, ...], kept: Kept | None) -> tuple[Checked, Silent]:
    modelled = guarded(source.path, "the model of the file", lambda: _model(source, kept))
    if isinstance(modelled, Trouble):
        return Checked(troubles=(modelled,)), ()
    found = by_function.findings(modelled, settings, kept)
    silent = suppression.in_cuda(source)
    codes = {code for code in RULES if settings.wants(code) and not code.startswith(dropped)}
    wanted = (f for f in found.findings if f.code in codes)
    told = [f for f in wanted if not _covered(source, f, silent)]
    errors = guarded(source.path, "the list of syntax errors", lambda: modelled.errors)
    return Checked(_ordered(told), _distinct(found.troubles), tuple(errors) if isinstance(errors, list) else ()), silent


def _told_of(source: Source, checked: Checked, silent: Silent) -> Iterator[str]:
    """What its author should know of a text beside the findings."""
    for line, code in unknown(silent):
        yield f"line {line}: no rule's code begins with {code!r}, so this silences nothing"
    if len(source.data) > FEW and sum(end - start for start, end in checked.broken) * MUCH > len(source.data):
        line = source.position(checked.broken[0][0])[0]
        yield f"much of it does not parse as CUDA, from line {line} on: findings may be missing"


def _model(source: Source, kept: Kept | None) -> FileModel:
    if kept is None:
        return read_model(source)
    kept.parsed = parsed(source.data, kept.parsed)
    return read_model(source, kept.parsed.tree)


def _check_python(source: Source, settings: Settings, dropped: tuple[str, ...], kept: Kept | None) -> tuple[Checked, Silent]:
    file = embedded.read(source.data)
    silent = suppression.in_python(source, file)
    found: list[Finding] = []
    troubles: list[Trouble] = []
    broken: list[tuple[int, int]] = []
    for number, text in enumerate(file.texts):
        part = kept.part(number) if kept is not None else None
        inside, _ = _check_cuda(Source(source.path, text.text), settings, dropped, part)
        broken += (text.range(start, end) for start, end in inside.broken)
        troubles += inside.troubles
        mapped = (_mapped(finding, text) for finding in inside.findings)
        found += (finding for finding in mapped if not _covered(source, finding, silent))
    return Checked(_ordered(found), _distinct(troubles), tuple(broken)), silent


def _covered(source: Source, finding: Finding, silent: Silent) -> bool:
    return bool(silent) and any(one.covers(finding.code, source.position(finding.start)[0]) for one in silent)


def _mapped(finding: Finding, text: embedded.Embedded) -> Finding:
    """A finding in a string as one in the file around it; a fix that can't be spelled there is left out."""
    start, end = text.range(finding.start, finding.end)
    related = []
    for each in finding.related:
        first, last = text.range(each.start, each.end)
        related.append(replace(each, start=first, end=last))
    fix = finding.fix
    if fix is not None:
        edits = [text.respelled(edit.start, edit.end, edit.text) for edit in fix.edits]
        spelled = tuple(Edit(*edit) for edit in edits if edit is not None)
        fix = replace(fix, edits=spelled) if len(spelled) == len(edits) else None
    return replace(finding, start=start, end=end, related=tuple(related), fix=fix)


def _ordered(findings: list[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda f: (f.start, f.end, f.code)))


def _distinct(troubles: list[Trouble]) -> tuple[Trouble, ...]:
    return tuple(dict.fromkeys(troubles))
