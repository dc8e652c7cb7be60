"""Progress on stderr: one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from cudaperf.engine.result import Progress, ProgressSink


@contextlib.contextmanager
def shown(quiet: bool) -> Iterator[ProgressSink]:
    """A place to send progress to. `quiet` (a machine reads the result) shows nothing unless stderr is a terminal."""
    if sys.stderr.isatty():
        with _live() as sink:
            yield sink
    else:
        yield _ignore if quiet else _PlainLines()


def _ignore(event: Progress) -> None:
    """Nobody looks."""


def words(event: Progress) -> str:
    count = f" {event.done}/{event.total}" if event.done is not None and event.total else ""
    return f"{event.stage}{count}{': ' if event.detail else ''}{event.detail}"


class _PlainLines:
    """One line an event, repeated words left out."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, event: Progress) -> None:
        line = words(event)
        if line != self._last:
            print(line, file=sys.stderr, flush=True)
        self._last = line


@contextlib.contextmanager
def _live() -> Iterator[ProgressSink]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(20), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("start", total=None)
        yield lambda event: bar.update(task, description=words(event), completed=event.done or 0, total=event.total)
