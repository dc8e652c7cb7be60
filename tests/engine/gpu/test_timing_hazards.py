"""A hazard that only timing shows: the candidate has not passed, and the next one is chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.executors import choose
from cudaperf.engine.executors.emulated.executor import EmulatedExecutor
from cudaperf.engine.executors.protocol import Job, Outputs
from cudaperf.engine.optimize import optimize
from cudaperf.engine.result import OptimizeRequest, OptimizeResult, Status
from cudaperf.engine.verdict import Hazard, KernelResources, Timing, Verdict

SOURCE = "void f(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= 2.0f; }\n"


class Device:
    """Runs like the emulation; what timing finds is scripted: a schedule's first and second timing, or none for a time."""

    name: Literal["emulated", "gpu"] = "gpu"
    device: str | None = "scripted"
    emitted = True

    def __init__(self, hazards: set[tuple[int, bool]]) -> None:
        self.hazards, self.seen = hazards, list[str]()
        self.inner = EmulatedExecutor()

    def run(self, job: Job, directory: Path, deadline: float) -> Outputs | Verdict:
        return self.inner.run(job, directory, deadline)

    def time(self, job: Job, directory: Path, configuration: int, deadline: float) -> Timing | Hazard | None:
        schedule = job.candidate.schedule
        if schedule not in self.seen:
            self.seen.append(schedule)
        number = self.seen.index(schedule)
        if (number, self.emitted) in self.hazards:
            return Hazard(hazard="race", configuration=0, message="a timed run's outputs differ from an untimed run's")
        seconds = 1e-9 * (1 + number)
        return Timing(device="scripted", median=seconds, low=seconds, high=seconds, samples=(seconds,), end_to_end=1e-9)

    def resources(self, candidate: Candidate) -> tuple[KernelResources, ...]:
        return ()


def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hazards: set[tuple[int, bool]]) -> OptimizeResult:
    (tmp_path / "f.c").write_text(SOURCE)
    monkeypatch.setattr(choose, "choose", lambda *_: Device(hazards))
    return optimize(OptimizeRequest(tmp_path / "f.c", "f", candidates=2))


@pytest.mark.parametrize("emitted", [False, True], ids=["plan", "emitted files"])
def test_a_hazard_in_timing_leaves_the_choice_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, emitted: bool
) -> None:
    found = result(tmp_path, monkeypatch, {(0, emitted)})
    assert found.status is Status.VERIFIED
    assert found.evidence is not None
    (other,) = found.evidence.others
    assert isinstance(other.verdict, Hazard)
    assert other.candidate.schedule != found.evidence.chosen.candidate.schedule
    assert found.chosen_by == "timed on the device"


def test_a_hazard_in_every_timing_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = result(tmp_path, monkeypatch, {(0, False), (1, False)})
    assert found.status is Status.FAILED
    assert found.reason is not None
    assert "timed run" in found.reason.message
