"""Planted candidates: the right ones pass, each wrong one is rejected for its own fault."""

from __future__ import annotations

import re

import pytest
from corpus import cases
from planted import Planted, planted

from cudaperf.engine.plan import launches
from cudaperf.engine.schedule import parse


@pytest.mark.parametrize("one", [pytest.param(p, id=p.name) for p in planted()])
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
