"""Every rule has a page that says what it must, and whose examples are true."""

import re
from pathlib import Path

import pytest

from cudaperf.engine.analysis.finding import RULES, Finding
from cudaperf.engine.analysis.run import check_text
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.source import Source

PAGES = Path(__file__).parents[3] / "docs" / "rules"
SECTIONS = ("Why it matters", "Example", "When it is silent", "Severity", "Data", "Suppressing it", "Known limits")


def page(code: str) -> str:
    return (PAGES / f"{code}.md").read_text(encoding="utf-8")


def examples(code: str, kind: str) -> list[str]:
    return re.findall(rf"```cuda {kind}\n(.*?)```", page(code), re.DOTALL)


def found(text: str, code: str) -> list[Finding]:
    checked = check_text(Source("a.cu", text.encode()), Settings())
    assert (checked.broken, checked.troubles) == ((), ())
    return [f for f in checked.findings if f.code == code]


def test_pages_are_those_of_the_rules() -> None:
    assert {path.stem for path in PAGES.glob("CP*.md")} == set(RULES)


@pytest.mark.parametrize("code", sorted(RULES))
def test_sections(code: str) -> None:
    text = page(code)
    assert text.startswith(f"# {code} {RULES[code].name}\n")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings == list(SECTIONS)
    assert f"ignore[{code}]" in text
    assert str(RULES[code].severity) in text.split("## Severity")[1].split("## Data")[0].lower()


@pytest.mark.parametrize("code", sorted(RULES))
def test_bad_examples_are_found_and_their_data_documented(code: str) -> None:
    assert examples(code, "bad")
    for text in examples(code, "bad"):
        findings = found(text, code)
        assert findings
        documented = set(re.findall(r"^\| `(\w+)` \|", page(code), re.MULTILINE))
        assert {key for f in findings for key in f.data} <= documented


@pytest.mark.parametrize("code", sorted(RULES))
def test_good_examples_are_clean(code: str) -> None:
    assert examples(code, "good")
    for text in examples(code, "good"):
        assert found(text, code) == []


def test_the_index_lists_every_rule() -> None:
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    for code, rule in RULES.items():
        assert f"| [{code}]({code}.md) | {rule.name} | {rule.severity} | {rule.summary} |" in index
