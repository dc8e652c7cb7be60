"""The rules on memory and synchronization, on the kernels of tests/data/kernels: each says what is marked, and nothing else.

What the marks say is what a GPU's own tools measured (docs/measurements/findings.md).
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "benchmarks"))

from check_accuracy import findings, outcomes  # noqa: E402
from confirm.cases import FOLDER, load  # noqa: E402


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.cu")), ids=lambda p: p.stem)
def test_findings_stand_where_they_are_marked(path: Path) -> None:
    found = findings(path)
    wrong = [o for case in load() if case.file == path.name for o in outcomes(case, found) if o.kind != "true"]
    assert not wrong, "\n".join(f"{o.file}:{o.line}: {o.kind}: {o.code} {o.message}" for o in wrong)
