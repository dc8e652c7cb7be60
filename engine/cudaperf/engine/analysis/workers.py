"""The same function over many files: in this process where they are few, on all cores where that pays.

A worker that dies (a crash below Python) costs the file it was at; the others are checked.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Final

from cudaperf.engine.analysis.report.problem import Report, Trouble

if TYPE_CHECKING:
    from cudaperf.engine.analysis.run import Job

WORTH_IT: Final = 400_000
"""Bytes of source below which starting processes takes longer than it saves."""
RECURSION: Final = 6000
"""Python frames: enough for expressions of a thousand terms, within the stack of a main thread."""
GARBAGE: Final = 100_000
"""Objects between two looks for garbage; a file's model is one piece of it."""
_PARTS: Final = 8

Work = Callable[["Job"], Report]


def spread(work: Work, jobs: Sequence[Job], worth: int = WORTH_IT) -> Iterator[Report]:
    """The report of each job, in order; in several processes from `worth` bytes of source on."""
    cores = _cores()
    if cores > 1 and len(jobs) > 1 and sum(map(_size, jobs)) >= worth:
        yield from _pooled(work, jobs, cores)
    else:
        with prepared():
            yield from map(work, jobs)


@contextlib.contextmanager
def prepared() -> Iterator[None]:
    """While it lasts, recursion may go as deep as generated code needs, and garbage is looked for less often. For main threads:
    others have smaller stacks."""
    limit, thresholds = sys.getrecursionlimit(), gc.get_threshold()
    _prepare()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        gc.set_threshold(*thresholds)


def _prepare() -> None:
    sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION))
    gc.set_threshold(GARBAGE, *gc.get_threshold()[1:])


def _pooled(work: Work, jobs: Sequence[Job], cores: int) -> Iterator[Report]:
    size = max(1, min(50, len(jobs) // (cores * _PARTS)))
    chunks = [jobs[at : at + size] for at in range(0, len(jobs), size)]
    pool = _pool(min(cores, len(chunks)))
    try:
        waiting = [pool.submit(_each, work, chunk) for chunk in chunks]
        for chunk, future in zip(chunks, waiting, strict=True):
            yield from _received(work, chunk, future)
    finally:
        pool.shutdown(cancel_futures=True)


def _received(work: Work, chunk: Sequence[Job], future: Future[list[Report]]) -> Iterator[Report]:
    try:
        reports = future.result()
    except BrokenProcessPool:
        reports = [_alone(work, job) for job in chunk]
    yield from reports


def _alone(work: Work, job: Job) -> Report:
    """One job in a process of its own, after a pool broke."""
    try:
        with _pool(1) as pool:
            return pool.submit(work, job).result()
    except BrokenProcessPool:
        message = "the process that checked this file died; please report it with this file"
        return Report(job.shown, troubles=(Trouble(job.shown, message, internal=True),), checked=False)


def _each(work: Work, chunk: Sequence[Job]) -> list[Report]:
    return [work(job) for job in chunk]


def _pool(workers: int) -> ProcessPoolExecutor:
    method = "fork" if sys.platform == "linux" else "spawn"
    return ProcessPoolExecutor(workers, multiprocessing.get_context(method), _begin)


def _begin() -> None:
    """A worker dies of signals without a word; the process that started it speaks."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    _prepare()


def _size(job: Job) -> int:
    try:
        return job.path.stat().st_size
    except (OSError, ValueError):
        return 0


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
