"""Programs with a known fault each: the emulated executor names the kind of fault and the line of the device code."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from emulated_cases import Case, cases

from cudaperf.engine.executors.emulated import EmulatedExecutor, Limits
from cudaperf.engine.executors.protocol import Outputs
from cudaperf.engine.verdict import Hazard


@pytest.mark.parametrize("case", cases("wrong"), ids=lambda case: case.name)
def test_fault_is_named_at_its_line(case: Case, tmp_path: Path) -> None:
    limits = Limits(seconds=1.0 if case.verdict == "timed_out" else 60.0)
    verdict = EmulatedExecutor(limits).run(case.job(tmp_path), tmp_path / "run", time.monotonic() + 120)
    assert not isinstance(verdict, Outputs), "the fault went unseen"
    assert verdict.kind == case.verdict, verdict
    if isinstance(verdict, Hazard):
        assert verdict.hazard == case.hazard, verdict
        assert verdict.configuration == 0
        found = {verdict.line, verdict.other_line} - {None}
        expected = {case.line, case.other} - {None}
        assert found == expected, verdict
