"""What every executor offers: run a candidate's emitted files on input files, and time them.

A `Job` is complete: nothing in it refers to the user's repository. Executors write outputs beside the inputs and never judge
them; `verify` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.task import Task
from cudaperf.engine.verdict import Hazard, KernelResources, Timing, Verdict


@dataclass(frozen=True, slots=True)
class EmittedFiles:
    """The user's files as text: `cu_name` ("heat.step.cu") and `header_name` ("heat.step.h")."""

    cu_name: str
    cu: str
    header_name: str
    header: str


@dataclass(frozen=True, slots=True)
class Job:
    """One candidate on several input configurations.

    `harness` is C++ text with `main(argc, argv)`: reads the binary input file argv[1], calls the emitted host function,
    writes the binary output file argv[2] (formats: `verify.data`); its exit status 0 means the call came back, 17 that the
    emitted function fell back to the user's original. `inputs` are the input files in order; `race_inputs` the indices of
    those small enough for the race detector.
    """

    task: Task
    candidate: Candidate
    files: EmittedFiles
    harness: str
    inputs: tuple[Path, ...]
    race_inputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outputs:
    """One output file a configuration, and the names of the checks that were made ("memory", "race", "barrier", ...)."""

    paths: tuple[Path, ...]
    checks: tuple[str, ...]


class Executor(Protocol):
    """Where candidates run."""

    name: Literal["emulated", "gpu"]

    @property
    def device(self) -> str | None:
        """The GPU's name, or None when emulated."""

    def run(self, job: Job, directory: Path, deadline: float) -> Outputs | Verdict:
        """Outputs of every configuration, or the verdict that ended the candidate. `deadline` is time.monotonic()'s."""

    def time(self, job: Job, directory: Path, configuration: int, deadline: float) -> Timing | Hazard | None:
        """Kernel and end-to-end time on one configuration; the hazard that the timed runs showed; None where this executor
        can't decide speed."""

    def resources(self, candidate: Candidate) -> tuple[KernelResources, ...]:
        """Compiled figures where a compiler for the architecture is at hand, else empty."""
