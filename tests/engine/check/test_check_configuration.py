"""`cudaperf.toml` and `[tool.cudaperf]`: which one holds, what it sets, and what is said of one that can't be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from check_command import Check

TEXT = "BAD WORSE MEND\n"


def write(name: str, text: str = TEXT) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def codes(run: Check, *arguments: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in json.loads(run("check", "--format", "json", *arguments).out):
        found.setdefault(each["path"], []).append(each["code"])
    return found


def test_the_nearest_configuration_holds(run: Check) -> None:
    write("pyproject.toml", '[tool.cudaperf]\nselect = ["CP1"]\n')
    write("a.cu")
    write("sub/cudaperf.toml", 'ignore = ["CP1", "CP4"]\n')
    write("sub/pyproject.toml", '[tool.cudaperf]\nselect = ["CP4"]\n')
    write("sub/b.cu")
    write("sub/deep/pyproject.toml", "[project]\nname = 'x'\n")
    write("sub/deep/c.cu")
    assert codes(run) == {"a.cu": ["CP101"], "sub/b.cu": ["CP301"], "sub/deep/c.cu": ["CP301"]}
    assert codes(run, "sub/b.cu", "--select", "CP101") == {"sub/b.cu": ["CP101"]}
    assert codes(run, "sub/b.cu", "--ignore", "CP301") == {"sub/b.cu": ["CP101", "CP401"]}


def test_config_replaces_the_nearest(run: Check) -> None:
    write("cudaperf.toml", 'select = ["CP1"]\n')
    write("other/strict.toml", 'select = ["CP3"]\n')
    write("a.cu")
    assert codes(run, "--config", "other/strict.toml") == {"a.cu": ["CP301"]}


def test_the_longer_prefix_wins(run: Check) -> None:
    write("cudaperf.toml", 'select = ["CP101", "CP3", "CP4"]\nignore = ["CP1", "CP301", "CP4"]\n')
    write("a.cu")
    assert codes(run) == {"a.cu": ["CP101"]}


def test_architecture_and_block_reach_the_rules(run: Check) -> None:
    write("a.cu", "BAD\n")
    for setting, seen in {
        'architecture = "sm_90"': (90, None),
        "architecture = 86\nblock = 128": (86, 128),
        "block = [32, 8]": (80, 32),
    }.items():
        write("cudaperf.toml", setting)
        (found,) = json.loads(run("check", "--format", "json").out)
        assert (found["data"]["architecture"], found["data"]["threads"]) == seen


def test_patterns_are_relative_to_the_configuration(run: Check) -> None:
    write(
        "sub/cudaperf.toml",
        'exclude = ["third_party", "gen/*.cu", "**/old.cu"]\n'
        '[per-file-ignores]\n"tests/*" = ["CP1", "CP3"]\n"*.cuh" = ["CP"]\n',
    )
    for name in ("third_party/x.cu", "a/third_party/x.cu", "gen/x.cu", "gen2/x.cu", "tests/t.cu", "tests/in/t.cu", "h.cuh"):
        write(f"sub/{name}")
    write("sub/a/old.cu")
    write("sub/old.cu")
    expected = {"sub/gen2/x.cu": ["CP101", "CP301", "CP401"], "sub/tests/in/t.cu": ["CP401"], "sub/tests/t.cu": ["CP401"]}
    assert codes(run, ".") == codes(run, "sub") == expected
    assert set(codes(run, "sub/gen/x.cu")) == {"sub/gen/x.cu"}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("\nselekt = ['CP1']\n", 2, "unknown setting 'selekt'; known: select"),
        ("select = 'CP1'\n", 1, "select: expected a list of rule codes"),
        ("# x\n\nignore = [1]\n", 3, "ignore: expected a list"),
        ("ignore = ['CP9']\n", 1, "'CP9'"),
        ("architecture = 1.5\n", 1, "architecture: expected"),
        ("architecture = 'sm_12'\n", 1, "known: 75"),
        ("block = true\n", 1, "block: expected"),
        ("select = ['CP']\nblock = [1024, 2]\n", 2, "1024"),
        ("exclude = {}\n", 1, "exclude: expected a list of patterns"),
        ("per-file-ignores = []\n", 1, "expected a table"),
        ("[per-file-ignores]\n'a' = ['CP1']\n'b' = 'CP1'\n", 1, "per-file-ignores"),
        ("select = [\n", 2, "not valid TOML"),
        ("select = ['CP']\nselect = ['CP']\n", 2, "not valid TOML"),
    ],
)
def test_a_setting_that_cannot_be_read_is_told_with_its_line(run: Check, text: str, line: int, says: str) -> None:
    write("a.cu")
    write("cudaperf.toml", text)
    done = run("check")
    assert done.code == 2
    assert done.out == ""
    assert f"cudaperf.toml:{line}: " in done.err
    assert says in done.err
    Path("cudaperf.toml").rename("own.toml")
    named = run("check", "--config", "own.toml")
    assert named.code == 2
    assert f"own.toml:{line}: " in named.err


def test_in_pyproject_only_the_own_table_matters(run: Check) -> None:
    write("a.cu")
    write("pyproject.toml", "[broken\n")
    assert run("check").code == 1
    write("pyproject.toml", "# cudaperf\n[broken\n")
    assert run("check").code == 2
    write("pyproject.toml", '[tool.other]\nselect = 3\n[tool.cudaperf]\n\nselect = ["CP1"]\nextra = 1\n')
    done = run("check")
    assert "pyproject.toml:6: unknown setting 'extra'" in done.err
    write("pyproject.toml", "[tool]\ncudaperf = 3\n")
    assert "pyproject.toml:2: expected a table, not a number" in run("check").err
    write("pyproject.toml", "[project]\n")
    assert "no [tool.cudaperf]" in run("check", "--config", "pyproject.toml").err


def test_a_configuration_that_is_not_utf_8(run: Check) -> None:
    write("a.cu")
    Path("cudaperf.toml").write_bytes(b"# a\nexclude = ['\xff']\n")
    done = run("check")
    assert (done.code, done.out) == (2, "")
    assert "cudaperf.toml:2: this is not UTF-8" in done.err
