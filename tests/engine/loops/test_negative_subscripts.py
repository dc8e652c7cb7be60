"""Subscripts from memory that may be negative: left to the original, unless the function itself tests for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudaperf.engine.analyse import analyse
from cudaperf.engine.task import IndexValues, Task

PLAIN = "void f(int n, const int *idx, const double *t, double *o) { for (int i = 0; i < n; i++) o[i] = t[idx[i]]; }"
TESTED = """
void f(int n, const int *idx, const double *t, double *o)
{
    for (int i = 0; i < n; i++) { int k = idx[i]; if (k < 0) continue; o[i] = t[k]; }
}
"""
UNSIGNED = PLAIN.replace("const int *idx", "const unsigned *idx")


def task(tmp_path: Path, text: str) -> Task:
    path = tmp_path / "f.c"
    path.write_text(text, encoding="utf-8")
    return analyse(path, "f").task


@pytest.mark.parametrize(
    ("text", "required", "low"),
    [
        pytest.param(PLAIN, ("bottom(idx, max(0, n)) >= 0",), "0", id="plain"),
        pytest.param(TESTED, (), "-1", id="tested"),
        pytest.param(UNSIGNED, (), "0", id="unsigned"),
    ],
)
def test_what_is_required_and_drawn(tmp_path: Path, text: str, required: tuple[str, ...], low: str) -> None:
    found = task(tmp_path, text)
    assert found.requirements == required
    values = found.array("idx").values
    assert isinstance(values, IndexValues)
    assert values.low == low
