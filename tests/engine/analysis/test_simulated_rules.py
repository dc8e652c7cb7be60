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

MISSED = {("CP105", "blend"), ("CP304", "two_barriers_a_step"), ("CP304", "own_columns")}
"""Findings that the rules do not make: a cast to a type parameter, and what a loop leaves behind, are not understood."""


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.cu")), ids=lambda p: p.stem)
def test_findings_stand_where_they_are_marked(path: Path) -> None:
    found = findings(path)
    wrong = [o for case in load() if case.file == path.name for o in outcomes(case, found) if o.kind != "true"]
    wrong = [o for o in wrong if o.kind == "false positive" or (o.code, o.kernel) not in MISSED]
    assert not wrong, "\n".join(f"{o.file}:{o.line}: {o.kind}: {o.code} {o.message}" for o in wrong)


UNSEEN = FOLDER.with_name("kernels_unseen")
LEAST = {"precision": 0.75, "recall": 0.75}
"""Below what the rules reach there (docs/measurements/findings.md): a change that costs more than a case or two shows."""


def test_findings_in_kernels_that_the_rules_were_not_made_for() -> None:
    by_code: dict[str, list[str]] = {}
    for path in sorted(UNSEEN.glob("*.cu")):
        found = findings(path)
        for case in load(UNSEEN):
            if case.file == path.name:
                for o in outcomes(case, found):
                    by_code.setdefault(o.code, []).append(o.kind)
    assert by_code.keys() == {"CP101", "CP102", "CP301", "CP302", "CP303", "CP305", "CP306"}
    for code, kinds in by_code.items():
        right = kinds.count("true")
        assert right / (right + kinds.count("false positive")) >= LEAST["precision"], code
        assert right / (right + kinds.count("false negative")) >= LEAST["recall"], code
