"""`cudaperf rule`, and that its pages and the lazy start-up hold where the package is installed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from check_command import Check

from cudaperf.engine.analysis.finding import RULES
from cudaperf.engine.cli import rule as rule_command

ROOT = Path(__file__).parents[3]


def test_all_rules_are_listed(run: Check) -> None:
    done = run("rule")
    assert done.code == 0
    assert [line.split()[:2] for line in done.out.splitlines()] == [[r.code, r.name] for r in RULES.values()]


def test_a_rule_is_explained_by_its_page(run: Check, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "CP101.md").write_text("# CP101\n\nFar apart: 漢.\n", encoding="utf-8")
    monkeypatch.setattr(rule_command, "page_folders", lambda: (tmp_path / "none", tmp_path))
    for name in ("CP101", "cp101", "uncoalesced-access"):
        assert run("rule", name).out == "# CP101\n\nFar apart: 漢.\n"
    assert RULES["CP102"].summary in run("rule", "CP102").out


def test_a_rule_that_there_is_not(run: Check) -> None:
    done = run("rule", "CP1011")
    assert (done.code, done.out) == (2, "")
    assert "did you mean CP101" in done.err
    assert "`cudaperf rule` lists them" in run("rule", "zzz").err


def test_the_command_line_loads_no_parser() -> None:
    code = (
        "import sys; from cudaperf.engine.cli import main; main(['--help']); main(['rule']);"
        "sys.exit(any(name.startswith('tree_sitter') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_the_wheel_has_the_pages_where_the_command_looks() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    included = {ROOT / source: target for source, target in wheel["force-include"].items()}
    installed, checkout = rule_command.page_folders()
    assert included[checkout] == installed.relative_to(ROOT / "engine").as_posix()
