"""Apply fixes to a text, round by round, and write files whole.

Of fixes that overlap the first in the text wins; the text is checked again and the rest tried on what it became. A round that
makes the text parse worse is dropped. Everything outside the edits stays byte for byte.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cudaperf.engine.analysis.finding import Edit, Finding, Fix, Fixing
from cudaperf.engine.analysis.report.problem import Trouble

if TYPE_CHECKING:
    from cudaperf.engine.analysis.run import Checked

ROUNDS: Final = 20


def fix_text(
    data: bytes, path: str, check: Callable[[bytes], Checked], fixing: Fixing = "safe"
) -> tuple[bytes, int, tuple[Trouble, ...]]:
    """(the text with every fix in, or every safe one, how many that were, what went wrong)."""
    count, checked = 0, check(data)
    for _ in range(ROUNDS):
        after, applied = apply(data, checked.findings, fixing)
        if after == data:
            return data, count, ()
        rechecked = check(after)
        if len(rechecked.broken) > len(checked.broken):
            return data, count, (Trouble(path, "a fix would have broken the syntax and was left out; please report it", True),)
        data, count, checked = after, count + applied, rechecked
    return data, count, (Trouble(path, f"fixes still wanted more after {ROUNDS} rounds; the rest were left out"),)


def apply(data: bytes, findings: Sequence[Finding], fixing: Fixing = "safe") -> tuple[bytes, int]:
    """(the text after one round, how many fixes went in)."""
    taken: list[Edit] = []
    applied = 0
    newline = _newline(data)
    for fix in dict.fromkeys(f.fix for f in findings if f.fix is not None and (f.fix.safe or fixing == "all")):
        if _fits(fix, taken, len(data)):
            taken += (edit for edit in fix.edits if edit not in taken)
            applied += 1
    for edit in sorted(taken, key=lambda e: (e.start, e.end), reverse=True):
        text = edit.text.replace("\r\n", "\n").replace("\n", newline).encode("utf-8")
        data = data[: edit.start] + text + data[edit.end :]
    return data, applied


def write(path: Path, data: bytes) -> str | None:
    """Put the bytes in place of a file's, whole or not at all; its permissions stay. The reason where that can't be."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        mode = target.stat().st_mode & 0o7777
        temporary.write_bytes(data)
        temporary.chmod(mode)
        temporary.replace(target)
    except OSError as error:
        return f"can't be written: {error.strerror or error}"
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return None


def _newline(data: bytes) -> str:
    """The line end of the text's first line."""
    first = data.find(b"\n")
    return "\r\n" if first > 0 and data[first - 1 : first] == b"\r" else "\n"


def _fits(fix: Fix, taken: list[Edit], size: int) -> bool:
    """Whether a fix's edits are in the text and clear of those taken. The same edit twice is one edit."""
    inside = bool(fix.edits) and all(0 <= edit.start <= edit.end <= size for edit in fix.edits)
    mine = [edit for edit in fix.edits if edit not in taken]
    return inside and not any(_overlap(a, b) for a in mine for b in (*taken, *mine) if a is not b)


def _overlap(a: Edit, b: Edit) -> bool:
    """Insertions at one place overlap too: their order would be a guess."""
    return (a.start < b.end and b.start < a.end) or a.start == b.start
