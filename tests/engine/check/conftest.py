"""The command in-process, in a folder of the test's own, with rules that find words."""

from __future__ import annotations

from pathlib import Path

import pytest
from check_command import Check, Done, crashes, told_by, words

from cudaperf.engine.analysis import by_function
from cudaperf.engine.cli import main


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Check:
    """`cudaperf ARGUMENTS` with the families of this file."""
    monkeypatch.setattr(by_function, "findings", told_by(words, crashes))

    def command(*arguments: str) -> Done:
        code = main(list(arguments))
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return Done(code, captured.out, captured.err)

    return command
