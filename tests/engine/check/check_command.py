"""A rule family that finds words, so that what surrounds the rules is tested apart from them.

`BAD` is a warning CP101, `WORSE` an error CP301, `WORTHY` a hint CP103, `MEND` a warning CP401 with a safe fix to `DONE`,
`RISKY` one with an unsafe fix, `NEXT` one whose fix writes `MEND`; `CRASH` ends the family.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cudaperf.engine.analysis.by_function import Found
from cudaperf.engine.analysis.finding import Edit, Finding, Fix, Related, Severity
from cudaperf.engine.analysis.guard import guarded
from cudaperf.engine.analysis.report.problem import Trouble
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.model import FileModel

WORDS = {
    b"BAD": ("CP101", Severity.WARNING, None),
    b"WORSE": ("CP301", Severity.ERROR, None),
    b"WORTHY": ("CP103", Severity.HINT, None),
    b"MEND": ("CP401", Severity.WARNING, Fix("write DONE", (), safe=True)),
    b"NEXT": ("CP401", Severity.WARNING, Fix("write MEND", (), safe=True)),
    b"RISKY": ("CP402", Severity.WARNING, Fix("write SAFE", ())),
}


def words(model: FileModel, settings: Settings) -> list[Finding]:
    found = []
    for match in re.finditer(rb"\b(BAD|WORSE|WORTHY|MEND|NEXT|RISKY)\b", model.source.data):
        code, severity, fix = WORDS[match[1]]
        if fix is not None:
            fix = Fix(fix.title, (Edit(*match.span(), fix.title.split()[-1]),), fix.safe)
        data = {"architecture": settings.architecture, "threads": settings.block[0] if settings.block else None}
        related = tuple(Related(f.name_start, f.name_end, "in this kernel") for f in model.kernels[:1])
        found.append(Finding(code, severity, *match.span(), f"{match[0].decode()} is here", related, data, fix))
    return found


def told_by(*finders: Callable[[FileModel, Settings], Iterable[Finding]]) -> Callable[..., Found]:
    """In place of the rules: these, each over a whole file."""

    def findings(model: FileModel, settings: Settings, *_: object) -> Found:
        answers = [guarded(model.source.path, "a rule", lambda f=f: list(f(model, settings))) for f in finders]  # type: ignore[misc]
        troubles = [answer for answer in answers if isinstance(answer, Trouble)]
        return Found([one for answer in answers if not isinstance(answer, Trouble) for one in answer], troubles)

    return findings


def crashes(model: FileModel, settings: Settings) -> list[Finding]:
    if b"CRASH" in model.source.data:
        raise ValueError("as asked")
    return []


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def heads(self) -> list[str]:
        """The first line of each finding, without its message."""
        return re.findall(r"^(\S[^\n]*?\]): ", self.out, re.MULTILINE)


Check = Callable[..., Done]
