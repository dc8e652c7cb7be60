"""`cudaperf check --fix` and `--diff`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from check_command import Check, told_by

from cudaperf.engine.analysis import by_function
from cudaperf.engine.analysis.finding import Edit, Finding, Fix, Severity


def test_safe_fixes_are_applied_and_the_rest_is_reported(run: Check) -> None:
    Path("a.cu").write_text("MEND RISKY BAD MEND\n")
    Path("b.cu").write_text("MEND\n")
    done = run("check", "--fix")
    assert Path("a.cu").read_text() == "DONE RISKY BAD DONE\n"
    assert Path("b.cu").read_text() == "DONE\n"
    assert done.heads == ["a.cu:1:6: warning [CP402]", "a.cu:1:12: warning [CP101]"]
    assert "3 findings fixed" in done.out
    assert done.code == 1
    assert sorted(path.name for path in Path().iterdir()) == ["a.cu", "b.cu"]


def test_unsafe_fixes_are_applied_where_asked_for(run: Check) -> None:
    Path("a.cu").write_text("MEND RISKY BAD\n")
    assert "RISKY" in run("check", "--diff").out.split("\n+")[1]
    assert "+DONE SAFE BAD" in run("check", "--diff", "--unsafe-fixes").out
    assert run("check").out.endswith("; --fix mends 1, --unsafe-fixes 1 more\n")
    done = run("check", "--fix", "--unsafe-fixes")
    assert Path("a.cu").read_text() == "DONE SAFE BAD\n"
    assert "2 findings fixed" in done.out
    assert done.heads == ["a.cu:1:11: warning [CP101]"]
    Path("a.cu").write_text("RISKY\n")
    assert run("check").out.endswith("; --fix --unsafe-fixes mends 1\n")
    refused = run("check", "--unsafe-fixes")
    assert refused.code == 2
    assert "--fix or --diff" in refused.err


def test_all_else_stays_byte_for_byte(run: Check) -> None:
    before = b"\xef\xbb\xbfint a; \t\r\nMEND\f\xff\r\n\r\n// \xe6\xbc\xa2 x\rMEND \r\nno end"
    Path("a.cu").write_bytes(before)
    Path("a.cu").chmod(0o640)
    Path("link.cu").symlink_to("a.cu")
    assert run("check", "link.cu", "--fix").code == 0
    assert Path("a.cu").read_bytes() == before.replace(b"MEND", b"DONE")
    assert Path("a.cu").stat().st_mode & 0o777 == 0o640
    assert Path("link.cu").is_symlink()


def test_a_file_without_fixes_is_not_written(run: Check) -> None:
    Path("a.cu").write_text("BAD\n")
    before = Path("a.cu").stat()
    run("check", "--fix")
    after = Path("a.cu").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_fixes_go_on_with_what_fixes_made(run: Check) -> None:
    Path("a.cu").write_text("NEXT;\n")
    done = run("check", "--fix")
    assert Path("a.cu").read_text() == "DONE;\n"
    assert "2 findings fixed" in done.out


def test_suppressed_and_unselected_findings_are_not_fixed(run: Check) -> None:
    text = "MEND // cudaperf: ignore[CP401]\n"
    Path("a.cu").write_text(text + "MEND\n")
    assert run("check", "--fix", "--ignore", "CP4").code == 0
    assert Path("a.cu").read_text() == text + "MEND\n"
    run("check", "--fix")
    assert Path("a.cu").read_text() == text + "DONE\n"


def test_diff_shows_what_fix_does_and_changes_nothing(run: Check) -> None:
    Path("a.cu").write_bytes(b"one\r\nMEND\r\nBAD")
    Path("b.cu").write_text("BAD\n")
    done = run("check", "--diff")
    assert done.code == 1
    assert Path("a.cu").read_bytes() == b"one\r\nMEND\r\nBAD"
    Path("c.diff").write_bytes(done.out.encode())
    subprocess.run(["git", "apply", "--unsafe-paths", "c.diff"], check=True, capture_output=True)
    assert Path("a.cu").read_bytes() == b"one\r\nDONE\r\nBAD"
    clean = run("check", "--diff")
    assert (clean.code, clean.out) == (0, "")


def fixing(monkeypatch: pytest.MonkeyPatch, *fixes: Sequence[tuple[str, str]]) -> None:
    """One finding for each fix: (text, replacement) pairs, as long as all its texts are there."""

    def family(model, settings):  # type: ignore[no-untyped-def]
        for pairs in fixes:
            places = [model.source.data.find(old.encode()) for old, _ in pairs]
            if min(places) >= 0:
                edits = tuple(Edit(at, at + len(old), new) for at, (old, new) in zip(places, pairs, strict=True))
                yield Finding("CP101", Severity.WARNING, places[0], places[0] + 1, "x", fix=Fix("x", edits, safe=True))

    monkeypatch.setattr(by_function, "findings", told_by(family))


def test_of_fixes_that_overlap_the_first_wins(run: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    fixing(monkeypatch, [("bcd", "B")], [("abc", "A")], [("de", "x")], [("fg", "F"), ("hi", "H")])
    Path("a.cu").write_text("abcdefghi\n")
    assert run("check", "--fix").code == 0
    assert Path("a.cu").read_text() == "AxFH\n"


def test_lines_that_a_fix_adds_end_as_the_files_do(run: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    fixing(monkeypatch, [("a;", "b;\nc;\n")])
    Path("a.cu").write_bytes(b"a;\r\n")
    run("check", "--fix")
    assert Path("a.cu").read_bytes() == b"b;\r\nc;\r\n\r\n"


def test_a_fix_that_breaks_the_syntax_is_left_out(run: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    fixing(monkeypatch, [("1", "1 + }")])
    Path("a.cu").write_text("int x = 1;\n")
    done = run("check", "--fix")
    assert Path("a.cu").read_text() == "int x = 1;\n"
    assert "would have broken the syntax" in done.err


def test_fixes_that_never_end_are_stopped(run: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    fixing(monkeypatch, [("a", "aa")])
    Path("a.cu").write_text("a\n")
    done = run("check", "--fix")
    assert set(Path("a.cu").read_text().strip()) == {"a"}
    assert "rounds" in done.err


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ('x = """\n__global__ void k() { MEND; }"""\n', 'x = """\n__global__ void k() { DONE; }"""\n'),
        ('x = "__global__ void k() {\\n MEND; }"\n', 'x = "__global__ void k() {\\n DONE; }"\n'),
        ('x = ("__global__ void k() { ME"\n "ND; }")\n', 'x = ("__global__ void k() { ME"\n "ND; }")\n'),
    ],
)
def test_fixes_in_python_strings(run: Check, text: str, after: str) -> None:
    Path("a.py").write_text(text)
    run("check", "--fix")
    assert Path("a.py").read_text() == after


@pytest.mark.parametrize(
    ("new", "quotes", "spelled"),
    [
        ("b;\nc", '"', "b;\\nc"),
        ("b;\nc", '"""', "b;\nc"),
        ("'\\n'", '"""', None),
        ("/* \\d */ b", '"', "/* \\\\d */ b"),
        ('"', '"', None),
    ],
)
def test_the_text_of_a_fix_is_spelled_for_its_literal(
    run: Check, monkeypatch: pytest.MonkeyPatch, new: str, quotes: str, spelled: str | None
) -> None:
    fixing(monkeypatch, [("MEND", new)])
    text = f"x = {quotes}__global__ void k() {{ MEND; }}{quotes}\n"
    Path("a.py").write_text(text)
    (found,) = json.loads(run("check", "--format", "json").out)
    assert (found["fix"] is None) == (spelled is None)
    run("check", "--fix")
    assert Path("a.py").read_text() == text.replace("MEND", spelled or "MEND")
