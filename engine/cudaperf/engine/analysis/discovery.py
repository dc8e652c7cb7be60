"""Which files a run checks, and with which configuration: the paths a user names, folders walked.

Links to folders are not followed. A path that is named is checked whatever its suffix, even where `exclude` has it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cudaperf.engine.analysis.configuration import Configuration, Invalid, Overrides, nearest
from cudaperf.engine.analysis.finding import Fixing
from cudaperf.engine.analysis.report.problem import Trouble
from cudaperf.engine.analysis.run import CUDA_ONLY, PYTHON, Job

SUFFIXES: Final = CUDA_ONLY | PYTHON | {".h", ".hpp", ".hh", ".hxx", ".cpp", ".cc", ".cxx", ".inl"}
SKIPPED: Final = frozenset(
    (".git", ".hg", ".svn", "node_modules", "build", "venv", ".venv", ".tox", ".nox", "__pycache__", "site-packages")
)


@dataclass(slots=True)
class Found:
    """`invalid` are configuration files that keep the run from starting; `troubles` folders that can't be read."""

    jobs: list[Job] = field(default_factory=list)
    invalid: list[Invalid] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)


class Configurations:
    """The configuration of each folder: `given` for all of them, else the nearest one; what the command line sets on top."""

    def __init__(self, given: Configuration | None, overrides: Overrides) -> None:
        self._given = overrides.over(given) if given is not None else None
        self._overrides = overrides
        self._known: dict[str, Configuration] = {}
        self.invalid: dict[Invalid, None] = {}

    def of(self, folder: Path) -> Configuration:
        """Never fails: what can't be read goes to `invalid`, and the defaults stand in."""
        if self._given is not None:
            return self._given
        key = os.path.abspath(folder)
        if key not in self._known:
            found = nearest(Path(key))
            if isinstance(found, Invalid):
                self.invalid[found] = None
                found = Configuration()
            self._known[key] = self._overrides.over(found)
        return self._known[key]


def discover(paths: Sequence[Path], configurations: Configurations, fix: Fixing | None = None) -> Found:
    """The jobs for the paths, each file once, in the order of their paths."""
    found = Found()
    seen: dict[str, Job] = {}
    for path in paths:
        named = not os.path.isdir(path)
        for file in [path] if named else _walk(path, configurations, found.troubles):
            configuration = configurations.of(file.parent)
            job = Job(file, str(file), configuration.settings, configuration.dropped(file), named, fix)
            if named or os.path.abspath(file) not in seen:
                seen[os.path.abspath(file)] = job
    found.jobs = sorted(seen.values(), key=lambda job: job.path.parts)
    found.invalid = list(configurations.invalid)
    return found


def single(name: str, configurations: Configurations, fix: Fixing | None = None) -> Found:
    """The job for a text that is not in a file, under the name that it has or would have."""
    path = Path(name)
    configuration = configurations.of(path.parent)
    job = Job(path, name, configuration.settings, configuration.dropped(path), named=True, fix=fix)
    return Found([job], list(configurations.invalid))


def _walk(top: Path, configurations: Configurations, troubles: list[Trouble]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        troubles.append(Trouble(str(error.filename), f"can't be read: {error.strerror or error}"))

    for folder, below, names in os.walk(top, onerror=unreadable):
        here = Path(folder)
        configuration = configurations.of(here)
        below[:] = sorted(name for name in below if not _skipped(here / name) and not configuration.excludes(here / name))
        for name in sorted(names):
            path = here / name
            if path.suffix in SUFFIXES and not configuration.excludes(path) and _readable_kind(path):
                yield path


def _skipped(folder: Path) -> bool:
    return folder.name in SKIPPED or folder.name.startswith("cmake-build-") or os.path.exists(folder / "pyvenv.cfg")


def _readable_kind(path: Path) -> bool:
    """A file, or a link that leads nowhere (which is told); never a device or pipe."""
    return os.path.isfile(path) or (os.path.islink(path) and not os.path.exists(path))
