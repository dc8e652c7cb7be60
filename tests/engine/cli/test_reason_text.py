"""A reason points at the user's own characters: tabs, wide characters, CRLF and ranges over several lines included."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudaperf.engine.cli.show import reason_text
from cudaperf.engine.reason import Reason, ReasonCode
from cudaperf.engine.result import describe
from cudaperf.engine.verdict import TimedOut


@pytest.mark.parametrize(
    ("line", "columns", "below"),
    [
        ("    a[i] = a[i - 1];", (12, 20), "           ^~~~~~~~"),
        ("\ta[i] = a[i - 1];", (9, 17), "\t       ^~~~~~~~"),
        ("/* 溫度 é */ a[i] = a[i - 1];\r", (19, 27), "                    ^~~~~~~~"),
        ("  return x;", (None, None), "  ^~~~~~~~~"),
        ("  f(x);", (3, None), "  ^"),
    ],
)
def test_carets_stand_below_the_range(tmp_path: Path, line: str, columns: tuple[int | None, int | None], below: str) -> None:
    path = tmp_path / "f.c"
    path.write_bytes(f"// first\n{line}\n// last\n".encode())
    start, end = columns
    text = reason_text(path, Reason(ReasonCode.DEPENDENCE, "because", 2, start, 2 if end else None, end)).plain
    head, source, carets = text.split("\n")
    place = "2" if start is None else f"2:{start}"
    assert head == f"{path}:{place}: refused [dependence]: because"
    assert source == f"    2 | {line.rstrip(chr(13))}"
    assert carets == f"      | {below}"  # a wide character takes two cells


def test_a_range_over_several_lines_is_marked_to_the_end_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text("x = a +\n    b;\n")
    text = reason_text(path, Reason(ReasonCode.UNSUPPORTED, "because", 1, 5, 2, 6)).plain
    assert text.endswith("    1 | x = a +\n      |     ^~~")


@pytest.mark.parametrize("content", [None, "only one line\n"])
def test_a_line_that_is_gone_is_left_out(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "f.c"
    if content is not None:
        path.write_text(content)
    text = reason_text(path, Reason(ReasonCode.COMPILE, "expected ';'", 9, 1)).plain
    assert text == f"{path}:9:1: error [compile]: expected ';'"


def test_a_run_that_never_began_is_not_called_slow() -> None:
    assert describe(TimedOut(seconds=0.0)) == "no time was left for it"
    assert describe(TimedOut(seconds=12.0)) == "not done after 12 s"
