"""`cudaperf check`: what it prints, its exit codes, and command lines that can't be read."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest
from check_command import Check

from cudaperf.engine.analysis import workers

KERNEL = "__global__ void k(float *a) {\n    a[0] = BAD;\n}\n"
CLEAN = "__global__ void k(float *a) { a[0] = 1; }\n"


def test_a_finding_has_a_place_a_code_a_message_and_its_line_underlined(run: Check) -> None:
    Path("a.cu").write_text(KERNEL)
    done = run("check", "a.cu")
    assert done.code == 1
    assert done.out.splitlines() == [
        "a.cu:2:12: warning [CP101]: BAD is here",
        "    2 |     a[0] = BAD;",
        "      |            ^~~",
        "a.cu:1:17: note: in this kernel",
        "    1 | __global__ void k(float *a) {",
        "      |                 ^",
        "1 warning in 1 file of 1",
    ]
    assert done.err == ""


@pytest.mark.parametrize(
    ("word", "code"), [("BAD", 1), ("WORSE", 1), ("WORTHY", 0), ("1", 0)], ids=["warning", "error", "hint", "clean"]
)
def test_hints_alone_leave_the_exit_code_0(run: Check, word: str, code: int) -> None:
    Path("a.cu").write_text(KERNEL.replace("BAD", word))
    for form in ("text", "json", "sarif", "github"):
        assert run("check", "a.cu", "--format", form).code == code


def test_wide_characters_and_tabs_keep_the_underline_in_place(run: Check) -> None:
    Path("a.cu").write_text("/* 漢字e\u0301 */\tBAD x;\n", encoding="utf-8")
    done = run("check", "a.cu")
    assert done.heads == ["a.cu:1:12: warning [CP101]"]
    assert done.out.splitlines()[1:3] == ["    1 | /* 漢字e\u0301 */\tBAD x;", "      |            \t^~~"]


def test_long_lines_and_control_characters_stay_readable(run: Check) -> None:
    Path("a.cu").write_text("int a;\f\x1b[31m " + "x" * 100_000 + " BAD " + "y" * 100_000 + "\n")
    _, source, carets, _ = run("check", "a.cu").out.splitlines()
    assert len(source) < 200
    assert "\x1b" not in source
    assert source[carets.index("^") : carets.index("^") + 3] == "BAD"


def test_json_is_a_list_of_findings(run: Check) -> None:
    Path("a.cu").write_text("int é; /* 漢 */ MEND x;\n__global__ void k() {}\n", encoding="utf-8")
    done = run("check", "a.cu", "--format", "json")
    where = {"start": {"line": 1, "column": 16}, "end": {"line": 1, "column": 20}}
    kernel = {"start": {"line": 2, "column": 17}, "end": {"line": 2, "column": 18}}
    assert json.loads(done.out) == [
        {
            "code": "CP401",
            "severity": "warning",
            "message": "MEND is here",
            "path": "a.cu",
            "range": where,
            "related": [{"path": "a.cu", "range": kernel, "message": "in this kernel"}],
            "data": {"architecture": 80, "threads": None},
            "fix": {"title": "write DONE", "safe": True, "edits": [{"range": where, "text": "DONE"}]},
        }
    ]
    Path("a.cu").write_text(CLEAN)
    assert json.loads(run("check", "--format", "json").out) == []


def test_github_commands_are_escaped(run: Check) -> None:
    Path("a,b:c%.cu").write_text("WORTHY\n")
    done = run("check", "--format", "github")
    place = "file=a%2Cb%3Ac%25.cu,line=1,endLine=1,col=1,endColumn=7,title=CP103 vectorizable-access"
    assert done.out == f"::notice {place}::a,b:c%25.cu:1:1: CP103 WORTHY is here\n"


def test_statistics_count_by_rule(run: Check) -> None:
    Path("a.cu").write_text("BAD BAD WORSE\n")
    done = run("check", "--statistics")
    assert done.out.splitlines() == [
        "2  CP101  uncoalesced-access",
        "1  CP301  divergent-barrier",
        "1 error, 2 warnings in 1 file of 1",
    ]
    assert done.code == 1
    assert [row["count"] for row in json.loads(run("check", "--statistics", "--format", "json").out)] == [2, 1]


def test_options_choose_rules_device_and_block(run: Check) -> None:
    Path("a.cu").write_text("BAD WORSE MEND\n")
    assert run("check", "--select", "CP1,CP3", "--ignore", "CP301").heads == ["a.cu:1:1: warning [CP101]"]
    assert run("check", "--ignore", "cp1", "--ignore", "CP3").heads == ["a.cu:1:11: warning [CP401]"]
    (found, *_) = json.loads(run("check", "--arch", "sm_90", "--block", "32,8", "--format", "json").out)
    assert found["data"] == {"architecture": 90, "threads": 32}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "nowhere"),
        (["x" * 5000], "xxx"),
        (["--format", "xml"], "text, json, sarif, github"),
        (["--select", "CP9"], "CP9"),
        (["--ignore", "X"], "'X'"),
        (["--arch", "sm_1"], "known: 75"),
        (["--block", "0"], "1024"),
        (["--block", "64,32"], "1024"),
        (["--block", "two"], "two"),
        (["--config", "nowhere.toml"], "nowhere.toml"),
        (["--stdin-filename", "a.cu"], "--stdin-filename"),
        (["-", "a.cu"], "stdin"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_a_command_line_that_cannot_be_read_is_a_usage_error(run: Check, arguments: list[str], says: str) -> None:
    Path("a.cu").write_text(KERNEL)
    done = run("check", *arguments)
    assert done.code == 2
    assert says in done.err
    assert done.out == ""


def test_stdin_is_checked_under_the_name_it_is_given(run: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    def stdin(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    stdin(KERNEL)
    assert run("check", "-").heads == ["<stdin>:2:12: warning [CP101]"]
    stdin(f'x = """\n{KERNEL}"""\n')
    assert run("check", "-", "--stdin-filename", "sub/a.py").heads == ["sub/a.py:3:12: warning [CP101]"]
    stdin("MEND BAD\n")
    done = run("check", "-", "--fix")
    assert done.out == "DONE BAD\n"
    assert "<stdin>:1:6: warning [CP101]" in done.err


def test_a_fault_in_a_rule_costs_only_its_own_findings(run: Check) -> None:
    Path("a.cu").write_text("BAD CRASH\n")
    Path("b.cu").write_text("BAD\n")
    done = run("check")
    assert done.code == 70
    assert done.heads == ["a.cu:1:1: warning [CP101]", "b.cu:1:1: warning [CP101]"]
    assert "a.cu: internal error" in done.err
    assert "check_command" in done.err  # the family's name
    assert "please report" in done.err
    assert "as asked" in done.err


def test_many_files_are_checked_by_several_processes_in_the_order_of_their_paths(
    run: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(60):
        Path(f"f{number:02}.cu").write_text("BAD CRASH\n" if number == 7 else "BAD\n")
    alone = run("check")
    monkeypatch.setattr(workers, "WORTH_IT", 0)
    monkeypatch.setattr(workers, "_cores", lambda: 2)
    pooled = run("check")
    assert pooled == alone
    assert len(pooled.heads) == 60


def test_a_worker_that_dies_costs_one_file(run: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    from check_command import told_by, words

    from cudaperf.engine.analysis import by_function

    def dies(model, settings):  # type: ignore[no-untyped-def]
        if b"DIE" in model.source.data:
            os._exit(9)
        return words(model, settings)

    monkeypatch.setattr(by_function, "findings", told_by(dies))
    monkeypatch.setattr(workers, "WORTH_IT", 0)
    monkeypatch.setattr(workers, "_cores", lambda: 2)
    for name, text in {"a": "BAD", "b": "DIE", "c": "BAD"}.items():
        Path(f"{name}.cu").write_text(text)
    done = run("check")
    assert done.code == 70
    assert done.heads == ["a.cu:1:1: warning [CP101]", "c.cu:1:1: warning [CP101]"]
    assert "b.cu: internal error" in done.err
