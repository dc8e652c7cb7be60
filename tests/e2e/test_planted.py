"""Planted candidates: the right ones pass, each wrong one is rejected for its own fault, and both executors agree.

The sampled suite runs one of each kind of fault; the rest is marked `slow`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

import pytest
from corpus import case, cases
from planted import Planted, planted

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.executors.protocol import Job, Outputs
from cudaperf.engine.plan import launches
from cudaperf.engine.reason import Refusal
from cudaperf.engine.schedule import parse
from cudaperf.engine.verdict import LaunchFailed, Passed, Verdict

if TYPE_CHECKING:
    from cudaperf.engine.executors.protocol import Executor
    from cudaperf.engine.verify.prepare import Prepared

SAMPLE = {
    "saxpy/good",
    "saxpy/block_edges_collide",
    "saxpy/read_past_end",
    "saxpy/tail_missed",
    "stencil/divergent_barrier",
    "stencil/missing_barrier",
    "sum/float_accumulator",
    "histogram/plain_merge",
}
SEED = 1
SECONDS = 300.0


def everything() -> list[object]:
    return [pytest.param(p, id=p.name) for p in planted()]


def sampled() -> list[object]:
    return [pytest.param(p, id=p.name, marks=() if p.name in SAMPLE else (pytest.mark.slow,)) for p in planted()]


@pytest.mark.parametrize("one", sampled())
def test_emulated(one: Planted, tmp_path: Path) -> None:
    from cudaperf.engine.executors.emulated import EmulatedExecutor

    verdict = judged(one, EmulatedExecutor(), tmp_path)
    assert one.accepts(verdict), f"{one.about} Expected {' / '.join(map(str, one.expected))}, got {verdict}"


@pytest.mark.gpu
@pytest.mark.parametrize("one", everything())
def test_executors_agree(one: Planted, tmp_path: Path) -> None:
    """The device with the sanitizers behind it passes the right ones and no other, as the emulation does."""
    from cudaperf.engine.executors.gpu.executor import GpuExecutor

    executor = GpuExecutor()
    executor.emitted = False
    verdict = judged(one, executor, tmp_path)
    executor.close()
    assert verdict.kind != "infrastructure", verdict
    assert (verdict.kind == "passed") == one.good, verdict
    if isinstance(verdict, Passed):
        assert verdict.unsanitized is None
        assert {"memory", "race", "barrier"} <= set(verdict.checks)


class LuckyDevice:
    """A GPU on which no race shows and no stray access faults: whatever it is given, it computes what the right one does."""

    name: Literal["emulated", "gpu"] = "gpu"
    device = "a lucky one"

    def __init__(self, right: Candidate) -> None:
        self._right = right

    def run(self, job: Job, directory: Path, deadline: float) -> Outputs | Verdict:
        from cudaperf.engine.emit.cuda import emit
        from cudaperf.engine.executors.emulated import EmulatedExecutor

        right = replace(job, candidate=self._right, files=emit(job.task, self._right, "planted"))
        ran = EmulatedExecutor().run(right, directory / "right", deadline)
        return Outputs(ran.paths, ("emitted",)) if isinstance(ran, Outputs) else ran

    def time(self, job: Job, directory: Path, configuration: int, deadline: float) -> None:
        return None

    def resources(self, candidate: Candidate) -> tuple[()]:
        return ()


@pytest.mark.parametrize("name", ["saxpy/good", "saxpy/block_edges_collide", "dot/wrong_shuffle_mask"])
def test_what_a_device_hides_the_sanitizers_find(name: str, tmp_path: Path) -> None:
    one = next(p for p in planted() if p.name == name)
    right = next(p for p in planted() if p.task == one.task and p.good)
    verdict = judged(one, LuckyDevice(right.candidate), tmp_path)
    assert one.accepts(verdict), verdict
    if isinstance(verdict, Passed):
        assert {"emitted", "memory", "race", "barrier"} <= set(verdict.checks)


def test_a_device_alone_says_that_the_sanitizers_did_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cudaperf.engine.claims import gpu_claim
    from cudaperf.engine.executors.emulated import executor as emulated

    one = next(p for p in planted() if p.name == "saxpy/good")
    device = LuckyDevice(one.candidate)
    ran = device.run(job_of(one), tmp_path / "before", time.monotonic() + SECONDS)
    assert isinstance(ran, Outputs)
    monkeypatch.setattr(device, "run", lambda *_: ran)
    monkeypatch.setattr(emulated, "find_compiler", lambda: None)
    verdict = judged(one, device, tmp_path)
    assert isinstance(verdict, Passed)
    assert verdict.unsanitized
    assert "race" not in verdict.checks
    assert verdict.unsanitized in gpu_claim("a lucky one", verdict, None)


def job_of(one: Planted) -> Job:
    from cudaperf.engine.emit.cuda import emit
    from cudaperf.engine.verify.verify import job

    prepared = prepared_task(one.task)
    return job(prepared, one.candidate, emit(prepared.task, one.candidate, "planted"))


def judged(one: Planted, executor: Executor, directory: Path) -> Verdict:
    from cudaperf.engine.emit.cuda import emit
    from cudaperf.engine.verify.gate import verify_gated

    prepared = prepared_task(one.task)
    try:
        files = emit(prepared.task, one.candidate, "planted")
    except Refusal as refusal:
        return LaunchFailed(message=refusal.reason.message)
    return verify_gated(prepared, one.candidate, files, executor, directory, time.monotonic() + SECONDS)


@pytest.fixture(scope="module", autouse=True)
def _tasks_removed() -> Iterator[None]:
    yield
    prepared_task.cache_clear()
    for folder in _folders:
        folder.cleanup()
    _folders.clear()


_folders: list[TemporaryDirectory[str]] = []


@cache
def prepared_task(name: str) -> Prepared:
    """The task's inputs and expected outputs, made once."""
    from cudaperf.engine.analyse import analyse
    from cudaperf.engine.reason import Reason
    from cudaperf.engine.verify.generate import configurations
    from cudaperf.engine.verify.prepare import prepare

    one = case(name)
    task = analyse(one.path, one.function, one.arguments).task
    folder: TemporaryDirectory[str] = TemporaryDirectory(prefix="cudaperf-planted-")
    _folders.append(folder)
    prepared = prepare(task, configurations(task, SEED), Path(folder.name), time.monotonic() + SECONDS)
    assert not isinstance(prepared, Reason), prepared
    return prepared


@pytest.mark.parametrize("one", everything())
def test_candidate_is_well_formed(one: Planted) -> None:
    code, plan = one.candidate.device_code, one.candidate.plan
    kernels = set(re.findall(r"__global__ void (\w+)\(", code))
    assert {launch.kernel for launch in launches(plan.steps)} <= kernels
    assert str(parse(one.candidate.schedule)) == one.candidate.schedule
    assert one.task in {c.id for c in cases() if c.must_verify}
    assert one.good == (str(one.expected[0]) == "passed")
    for expected in one.expected:
        lines = [int(value) for key, value in expected.fields if key == "line"]
        assert all(code.splitlines()[line - 1].strip() for line in lines)


def test_every_kind_of_fault_is_planted() -> None:
    names = {p.name.split("/")[0] for p in planted()}
    assert names >= {"saxpy", "stencil", "transpose", "dot", "gemm", "histogram", "scan"}
    assert all(any(p.good for p in planted() if p.name.startswith(f"{name}/")) for name in names)
    assert sum(not p.good for p in planted()) >= 24
    assert {e.kind for p in planted() for e in p.expected} >= {"hazard", "mismatch", "timed_out", "launch_failed", "rejected"}
    assert {p.name for p in planted()} >= SAMPLE
