"""How a run ends early: Ctrl-C, SIGTERM and a closed terminal end every child process and leave no temporary files.

Children are ended when the signal arrives, while they are still known as ours (compilers start processes of their own).
A second signal ends the program at once.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def clean() -> Iterator[None]:
    """While it lasts, temporary files share one folder, removed at the end, and signals end children first."""
    heard = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]  # nohup ignores SIGHUP
    usual = {number: signal.signal(number, _end) for number in heard}
    before = tempfile.tempdir
    try:
        with tempfile.TemporaryDirectory(prefix="cudaperf-", ignore_cleanup_errors=True) as folder:
            tempfile.tempdir = folder
            yield
    finally:
        tempfile.tempdir = before
        for number, handler in usual.items():
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    for other in SIGNALS:
        if signal.getsignal(other) == _end:
            signal.signal(other, signal.SIG_DFL)
    for child in descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(child, signal.SIGKILL)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def descendants(root: int) -> list[int]:
    """The processes below `root`, by /proc (none where there is no /proc)."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = int(status.read_text(errors="replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(status.parent.name))
    found, open_list = [], [root]
    while open_list:
        below = children.get(open_list.pop(), [])
        found += below
        open_list += below
    return found
