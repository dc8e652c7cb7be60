"""What the documents list is what the program has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from cudaperf.engine.extras import install
from cudaperf.engine.reason import Reason, ReasonCode
from cudaperf.engine.result import exit_code, failure, to_json

ROOT = Path(__file__).parents[3]


def rows(text: str) -> list[list[str]]:
    """The cells of a document's table rows whose first cell is `code`."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| `")]


def test_reasons_document_lists_exactly_the_codes_with_status_exit_code_and_example() -> None:
    documented = {}
    for code, status, exit_text, meaning, example in rows((ROOT / "docs/reasons.md").read_text()):
        assert len(meaning) > 5
        assert len(example) > 5
        documented[code.strip("`")] = (status, int(exit_text))
    expected = {}
    for code in ReasonCode:
        result = failure(Reason(code, "because"))
        expected[code.value] = (result.status.value, exit_code(result))
    assert documented == expected


def test_json_document_lists_exactly_the_keys() -> None:
    table = (ROOT / "docs/json.md").read_text().partition("## Exit codes")[0]
    documented = {cells[0].strip("`") for cells in rows(table)}
    assert documented == to_json(failure(Reason(ReasonCode.NO_LOOP, "no loop")), []).keys()


def test_links_between_documents_lead_somewhere() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{document.name}: {target}"
        for document in documents
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text())
        if not target.startswith("http") and not (document.parent / target).exists()
    ]
    assert documents
    assert broken == []


def test_extras_are_those_that_the_readme_and_doctor_offer() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"].keys()
    offered = re.findall(r"\[(\w+)\]'", (ROOT / "README.md").read_text())
    offered += re.findall(r"cudaperf\[(\w+)\]", (ROOT / "engine/cudaperf/engine/doctor.py").read_text())
    assert offered
    assert set(offered) <= extras


def test_the_command_that_adds_compilers_is_that_of_the_metadata() -> None:
    assert f"`{install('compiler')}`" in (ROOT / "docs/check.md").read_text()
