"""`cudaperf rule CP101`: the page of a rule; `cudaperf rule` lists them."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

import typer


def rule(
    names: Annotated[list[str] | None, typer.Argument(metavar="[CODE]...", help="Such as CP101; none lists all.")] = None,
) -> int:
    """Explain a rule of `cudaperf check`: what it finds, why that matters, and what to do."""
    from cudaperf.engine.analysis.finding import RULES

    if not names:
        for each in RULES.values():
            typer.echo(f"{each.code}  {each.name:22} {each.severity:8} {each.summary}")
        return 0
    typer.echo("\n\n".join(_page(_code(name)) for name in names))
    return 0


def _code(name: str) -> str:
    """A code or a rule's name as its code."""
    from cudaperf.engine.analysis.finding import RULES

    known = {**{code.lower(): code for code in RULES}, **{each.name: each.code for each in RULES.values()}}
    if name.lower() in known:
        return known[name.lower()]
    near = difflib.get_close_matches(name.lower(), known, n=1)
    hint = f"did you mean {known[near[0]]}?" if near else "`cudaperf rule` lists them"
    raise typer.BadParameter(f"no rule is called {name!r}; {hint}")


def _page(code: str) -> str:
    from cudaperf.engine.analysis.finding import RULES

    for folder in page_folders():
        if (folder / f"{code}.md").is_file():
            return (folder / f"{code}.md").read_text(encoding="utf-8").strip()
    each = RULES[code]
    return f"# {each.code}: {each.name}\n\n{each.summary} ({each.severity})"


def page_folders() -> tuple[Path, ...]:
    """Where pages are: beside the rules in an installed package, in docs/ of a source checkout."""
    engine = Path(__file__).resolve().parents[1]
    return engine / "analysis" / "pages", engine.parents[2] / "docs" / "rules"
