"""Every C function of tests/data/c through the public door: verified, or refused with the right reason on the right line.

The sampled suite runs a fixed handful; the rest is marked `slow`. The same cases run on a device under the marker `gpu`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Literal

import pytest
from corpus import FOLDER, Case, Expectation, cases

from cudaperf.engine.evidence import EMULATED_CLAIM
from cudaperf.engine.reason import ReasonCode
from cudaperf.engine.result import OptimizeRequest, Progress, Status

if TYPE_CHECKING:
    from cudaperf.engine.result import OptimizeResult

SAMPLE = {
    "saxpy::saxpy",
    "jacobi2d::jacobi_sweep",
    "sums::sum",
    "csr::spmv_csr",
    "histogram::histogram256",
    "rgb_to_gray::rgb_to_gray",
    "complex_mul::multiply_spectra",
    "smooth_in_place::smooth",
    "scatter::scatter",
    "logging::scale_verbose",
    "goto_loop::checked_sqrt_sum",
    "tiny::window_taps",
    "linked_list::list_sum",
    "out_of_bounds::colour",
    "out_of_bounds::scale_rows",
    "reserved_words::reserved_names",
    "reserved_words::reserved_in_messages",
    "cuda_names::named_helpers",
    "cuda_names::named_types",
    "cuda_names::named_in_header",
    "cuda_names::named_global",
    "cuda_names::norm",
}
MINIMUM_CONFIGURATIONS = 8


def sampled() -> list[object]:
    return [pytest.param(c, id=c.id, marks=() if c.id in SAMPLE else (pytest.mark.slow,)) for c in cases()]


def all_cases() -> list[object]:
    return [pytest.param(c, id=c.id) for c in cases()]


@pytest.mark.parametrize("case", sampled())
def test_emulated(case: Case) -> None:
    result = optimized(case, "emulated")
    check(case, result)
    if result.status is Status.VERIFIED:
        assert result.claim == EMULATED_CLAIM
        assert {"memory", "race", "barrier"} <= set(result.checks)


@pytest.mark.gpu
@pytest.mark.parametrize("case", all_cases())
def test_on_gpu(case: Case) -> None:
    result = optimized(case, "gpu")
    check(case, result)
    if result.status is Status.VERIFIED:
        assert result.executor == "gpu"
        assert result.device
        assert {"memory", "race", "barrier", "emitted"} <= set(result.checks)


def optimized(case: Case, executor: Literal["emulated", "gpu"]) -> OptimizeResult:
    from cudaperf.engine.optimize import optimize

    def silent(event: Progress) -> None:
        assert event.stage

    tried = 3 if executor == "emulated" else 1  # the benchmark of the GPU tries and times them all
    request = OptimizeRequest(
        case.path,
        case.function,
        executor=executor,
        arguments=case.arguments,
        max_seconds=300.0,
        candidates=tried,
        measure=False,
    )
    return optimize(request, silent)


def check(case: Case, result: OptimizeResult) -> None:
    complaints = [complaint(e, result) for e in case.expected]
    if all(complaints):
        pytest.fail(f"{case.path.name}:{case.line} {case.function}: {' / '.join(filter(None, complaints))}")


def complaint(expected: Expectation, result: OptimizeResult) -> str | None:
    """What is not as expected; None when all is."""
    if expected.code is None:
        return verified_complaint(expected, result)
    reason = result.reason
    if result.status is not Status.REFUSED or reason is None:
        return f"expected a refusal ({expected.code}), got {result.status}: {reason}"
    if reason.code is not expected.code:
        return f"expected {expected.code}, got {reason}"
    if expected.line is not None and reason.line != expected.line:
        return f"expected line {expected.line}, got {reason}"
    if expected.mentions and expected.mentions.lower() not in reason.message.lower():
        return f"expected a message with {expected.mentions!r}, got {reason}"
    return None if not result.outputs else "a refusal must leave no files"


def verified_complaint(expected: Expectation, result: OptimizeResult) -> str | None:
    if result.status is not Status.VERIFIED or result.evidence is None:
        return f"expected verified, got {result.status}: {result.reason}; {[(c.strategy, c.detail) for c in result.candidates]}"
    strategy = result.evidence.chosen.candidate.strategy
    if expected.strategy and expected.strategy not in re.findall(r"\w+", strategy):
        return f"expected the strategy {expected.strategy}, got {strategy}"
    if len(result.configurations) < MINIMUM_CONFIGURATIONS:
        return f"only {len(result.configurations)} configurations"
    return None if result.outputs else "verified, but nothing emitted"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.c")), ids=lambda p: p.name)
def test_corpus_compiles(path: object) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "a host C compiler is needed"
    arguments = next((c.arguments for c in cases() if c.path == path), ())
    command = [compiler, "-std=gnu11", "-Wall", "-Werror", "-fsyntax-only", *arguments, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_expected_lines_exist() -> None:
    for case in cases():
        lines = case.path.read_bytes().decode("utf-8").splitlines()
        for expected in case.expected:
            if expected.line is not None:
                line = lines[expected.line - 1]
                spoken = "cudaperf:" in line or line.split("//")[0].strip(" \t{};")
                assert spoken, f"{case.id}: line {expected.line} holds no code"


def test_corpus_is_large_enough_and_a_third_is_refused() -> None:
    refused = [c for c in cases() if not c.may_verify]
    assert len(cases()) >= 56
    assert len({c.id for c in cases()}) == len(cases())
    assert len(refused) * 4 >= len(cases())
    assert {e.code for c in refused for e in c.expected} >= {
        ReasonCode.DEPENDENCE,
        ReasonCode.SIDE_EFFECT,
        ReasonCode.NOT_PROFITABLE,
        ReasonCode.UNSUPPORTED,
        ReasonCode.UNBOUNDED,
        ReasonCode.ORIGINAL_FAILS,
        ReasonCode.NO_LOOP,
    }


def test_sample_names_cases() -> None:
    assert {c.id for c in cases()} >= SAMPLE
