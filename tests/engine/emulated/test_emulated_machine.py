"""What is ours, not the candidate's, ends as Infrastructure: a machine where sanitizers can't start, a harness that fails."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from emulated_cases import DATA, load

from cudaperf.engine.executors.emulated import EmulatedExecutor, Limits, build, probe
from cudaperf.engine.executors.emulated.build import Program
from cudaperf.engine.executors.emulated.process import Setting, run
from cudaperf.engine.executors.emulated.reports import DeviceLines, judge
from cudaperf.engine.executors.protocol import Outputs
from cudaperf.engine.verdict import Infrastructure

GOOD = DATA / "good" / "vector_loads.cu"


def test_this_machine_can_emulate() -> None:
    assert probe() == []


def test_sanitizer_that_cannot_map_its_shadow_is_named_with_the_fix(tmp_path: Path) -> None:
    script = tmp_path / "program"
    script.write_text("#!/bin/sh\necho 'FATAL: ThreadSanitizer: unexpected memory mapping 0x5581e7a0c000' >&2\nexit 66\n")
    script.chmod(0o700)
    finished = run(Program(script, "thread"), [], tmp_path / "run", Limits(seconds=10), Setting())
    verdict = judge(finished, DeviceLines("case.cu", 0, 0), 0, 10)
    assert isinstance(verdict, Infrastructure)
    assert "vm.mmap_rnd_bits" in verdict.message


@pytest.mark.parametrize(
    "harness",
    ["int main() { return 3; }", "int main() { return 0; }", "int main() { return missing; }"],
    ids=["status", "no output", "does not compile"],
)
def test_failing_harness_is_not_the_candidates_fault(harness: str, tmp_path: Path) -> None:
    job = replace(load(GOOD).job(tmp_path), harness=harness)
    outcome = EmulatedExecutor().run(job, tmp_path / "run", time.monotonic() + 60)
    assert isinstance(outcome, Infrastructure), outcome


def test_without_a_compiler_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    build.find_compiler.cache_clear()
    try:
        outcome = EmulatedExecutor().run(load(GOOD).job(tmp_path), tmp_path / "run", time.monotonic() + 60)
        problems = probe()
    finally:
        build.find_compiler.cache_clear()
    assert isinstance(outcome, Infrastructure)
    assert "install g++" in outcome.message
    assert problems == [outcome.message]


def test_a_candidate_that_may_differ_between_runs_is_not_compared_with_itself(tmp_path: Path) -> None:
    job = load(DATA / "wrong" / "order_decides.cu").job(tmp_path)
    job = replace(job, candidate=job.candidate.model_copy(update={"deterministic": False}))
    outcome = EmulatedExecutor().run(job, tmp_path / "run", time.monotonic() + 60)
    assert isinstance(outcome, Outputs)
    assert "initialization" not in outcome.checks
