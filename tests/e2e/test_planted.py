"""Planted candidates: the right ones pass, each wrong one is rejected for its own fault, and both executors agree.

The sampled suite runs one of each kind of fault; the rest is marked `slow`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from corpus import case, cases
from planted import Planted, planted

from cudaperf.engine.plan import launches
from cudaperf.engine.reason import Refusal
from cudaperf.engine.schedule import parse
from cudaperf.engine.verdict import LaunchFailed, Verdict

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
    """Both pass it or both reject it; faults that only a sanitizer sees may pass on a device, rightly computed or not."""
    from cudaperf.engine.executors.gpu.executor import GpuExecutor

    verdict = judged(one, GpuExecutor(), tmp_path)
    only_sanitizers = {e.kind for e in one.expected} == {"hazard"}
    assert verdict.kind != "infrastructure", verdict
    assert (verdict.kind == "passed") == one.good or only_sanitizers, verdict


def judged(one: Planted, executor: Executor, directory: Path) -> Verdict:
    from cudaperf.engine.emit.cuda import emit
    from cudaperf.engine.verify.verify import verify

    prepared = prepared_task(one.task)
    try:
        files = emit(prepared.task, one.candidate, "planted")
    except Refusal as refusal:
        return LaunchFailed(message=refusal.reason.message)
    return verify(prepared, one.candidate, files, executor, directory, time.monotonic() + SECONDS)


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
