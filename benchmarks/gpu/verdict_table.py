"""Verdict files of `verdicts.py` as one Markdown table, with the executors' agreement counted. Runs no candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]
"""One candidate: name, good, about, expected, verdicts {executor: verdict as JSON}, as_expected {executor: bool}."""


def merged(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One run with the verdicts of all; where two have a verdict of the same executor, the later file's."""
    rows: dict[str, Row] = {}
    for run in runs:
        for row in run["rows"]:
            known = rows.setdefault(row["name"], {**row, "verdicts": {}, "as_expected": {}})
            known["verdicts"].update(row["verdicts"])
            known["as_expected"].update(row["as_expected"])
    return {
        "date": max(run["date"] for run in runs),
        "runs": [about for run in runs for about in run["runs"]],
        "rows": list(rows.values()),
    }


def words(verdict: Row | None) -> str:
    """A verdict in a few words: its kind and what tells it from others of the kind."""
    if verdict is None:
        return ""
    line = f"line {verdict['line']}" if verdict.get("line") else ""
    row = f"row {verdict['row']}" if "row" in verdict else ""
    return " ".join(filter(None, (verdict["kind"].replace("_", " "), verdict.get("hazard", ""), row, line)))


def passed(row: Row, executor: str) -> bool | None:
    """Whether the executor passed it; None where it has not judged."""
    verdict = row["verdicts"].get(executor)
    return None if verdict is None else verdict["kind"] == "passed"


def hidden(row: Row) -> bool:
    """A wrong candidate that the device alone passes, and that the sanitizers reject."""
    return passed(row, "device") is True and passed(row, "gpu") is False


def counts(rows: Sequence[Row]) -> str:
    """How many were judged as expected, and on how many the executors agree."""
    emulated = [row for row in rows if "emulated" in row["verdicts"]]
    both = [row for row in emulated if "gpu" in row["verdicts"]]
    agree = [row for row in both if passed(row, "gpu") == passed(row, "emulated")]
    lines = [f"{len(rows)} candidates, {sum(row['good'] for row in rows)} of them right."]
    if emulated:
        right = sum(row["as_expected"]["emulated"] for row in emulated)
        lines.append(f"Emulated: {right} of {len(emulated)} as expected.")
    if both:
        names = ", ".join(row["name"] for row in rows if hidden(row))
        lines.append(f"The executors agree on {len(agree)} of {len(both)}.")
        lines.append(f"Passed by the device itself, rejected by the sanitizers on that machine: {names or 'none'}.")
    return "\n".join(lines)


def complaints(rows: Sequence[Row]) -> list[str]:
    """Verdicts that are not as they should be, a line each."""
    found = [
        f"emulated: {row['name']}: {words(row['verdicts']['emulated'])}, expected {' or '.join(row['expected'])}"
        for row in rows
        if not row["as_expected"].get("emulated", True)
    ]
    wrong = [row for row in rows if passed(row, "gpu") not in (None, row["good"])]
    found += [f"gpu: {row['name']}: {words(row['verdicts']['gpu'])}, expected {' or '.join(row['expected'])}" for row in wrong]
    return found


def markdown(run: dict[str, Any]) -> str:
    """The runs, the counts and a table with a line for each candidate."""
    lines = [run["date"], ""]
    for about in run["runs"]:
        devices = ", ".join(f"{name} on {device}" if device else name for name, device in about["devices"].items())
        lines.append(f"- {devices}: `{about['command']}`, {about['seconds']} s in {about['jobs']} processes")
    lines += ["", *counts(run["rows"]).splitlines(), *complaints(run["rows"]), ""]
    lines += [
        "| candidate | what it is | emulated | the device itself | GPU, with sanitizers | agree |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(_line(row) for row in run["rows"])])


def _line(row: Row) -> str:
    verdicts = row["verdicts"]
    agree = ""
    if "gpu" in verdicts and "emulated" in verdicts:
        agree = "yes" if passed(row, "gpu") == passed(row, "emulated") else "**no**"
    cells = [row["name"], row["about"], *(words(verdicts.get(name)) for name in ("emulated", "device", "gpu")), agree]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
