"""How often `cudaperf check` is right on the kernels of `tests/data/kernels`: precision and recall of each rule.

Run: python benchmarks/check_accuracy.py [--rule CP302] [--file NAME] [--json FILE]. Prints the false positives and negatives by
file and line, then a table with Wilson 95 % intervals. The kernels' marks are the truth here; `confirm_findings.py` measures
them. A finding stands where a mark is if its own line or that of a related place is marked. Findings without a mark count as
wrong: of CP101, CP102 and CP301 to CP306 but CP304 in all kernels, of the others in those whose `decides:` line names the rule.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.confirm.cases import ACCURACY, BY_ARRAY, FOLDER, NAMED, Case, Mark, load
else:
    from confirm.cases import ACCURACY, BY_ARRAY, FOLDER, NAMED, Case, Mark, load

Z = 1.959964
CODES = (*ACCURACY, *NAMED)


@dataclass(frozen=True, slots=True)
class Found:
    """A finding by lines, its own and those of its related places, and the array that it names."""

    code: str
    line: int
    related: frozenset[int]
    message: str
    array: str | None = None

    def at(self, mark: Mark) -> bool:
        """Whether it stands where a mark of its code is; of rules that decide by array, with the same one."""
        near = mark.line == self.line or mark.line in self.related
        return self.code in mark.codes and near and (self.code not in BY_ARRAY or mark.array in (None, self.array))


@dataclass(frozen=True, slots=True)
class Outcome:
    """`kind` is "true", "false positive" or "false negative"."""

    kind: str
    code: str
    file: str
    line: int
    kernel: str
    message: str = ""


def findings(path: Path) -> list[Found]:
    """What the engine says of one file."""
    from cudaperf.engine.analysis.run import check_text
    from cudaperf.engine.analysis.settings import Settings
    from cudaperf.engine.cuda.source import Source

    data = path.read_bytes()
    checked = check_text(Source(str(path), data), Settings())
    if checked.troubles:
        raise SystemExit(f"{path}: {checked.troubles[0].message}")

    def line(offset: int) -> int:
        return data.count(b"\n", 0, offset) + 1

    def array(data: Mapping[str, object]) -> str | None:
        return str(data["array"]) if "array" in data else None

    return [
        Found(f.code, line(f.start), frozenset(line(r.start) for r in f.related), f.message, array(f.data))
        for f in checked.findings
    ]


def outcomes(case: Case, found: Iterable[Found]) -> list[Outcome]:
    """The findings of a kernel's lines against its marks."""
    mine = [f for f in found if case.owns(f.line, f.code)]
    return [o for code in CODES if code in ACCURACY or code in case.decides for o in _of_code(case, code, mine)]


def _of_code(case: Case, code: str, mine: list[Found]) -> Iterable[Outcome]:
    """Expectations are met first by findings on their lines, then by those that stand at a line marked `also`."""
    expected = [m for m in case.of(code, "expect") if m.codes[0] == code]
    accepted = case.of(code, "expect", "also")
    spare = [f for f in mine if any(f.line == m.line for m in case.of(f.code, "also"))]
    for mark in expected:
        hit = any(f.at(mark) for f in mine)
        instead = next((f for f in spare if f.code in mark.codes and (f.array == mark.array or code not in BY_ARRAY)), None)
        if not hit and instead is not None:
            spare.remove(instead)
        met = hit or instead is not None
        yield Outcome("true" if met else "false negative", code, case.file, mark.line, case.kernel)
    for f in mine:
        if f.code == code and not any(f.at(m) for m in accepted):
            yield Outcome("false positive", code, case.file, f.line, case.kernel, f.message)


def wilson(good: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a proportion."""
    if not total:
        return 0.0, 1.0
    share, z2 = good / total, Z * Z
    centre = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = Z * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total)) / (1 + z2 / total)
    return max(0.0, centre - half), min(1.0, centre + half)


def table(rows: list[Outcome], cases: list[Case]) -> str:
    """Precision and recall of each rule."""
    lines = ["| rule | decisions | expected | found | false positives | missed | precision (95 %) | recall (95 %) |"]
    lines.append("|" + " --- |" * 8)
    for code in CODES:
        kinds = [o.kind for o in rows if o.code == code]
        good, wrong, missed = (kinds.count(k) for k in ("true", "false positive", "false negative"))
        decisions = sum(d.code == code for c in cases for d in c.decisions)
        shares = f"{_share(good, good + wrong)} | {_share(good, good + missed)}"
        lines.append(f"| {code} | {decisions} | {good + missed} | {good} | {wrong} | {missed} | {shares} |")
    return "\n".join(lines)


def _share(good: int, total: int) -> str:
    low, high = wilson(good, total)
    return f"{good / total:.3f} ({low:.3f}-{high:.3f})" if total else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="the kernels")
    parser.add_argument("--rule", default="", help="list the errors of this rule alone")
    parser.add_argument("--file", default="", help="files whose name holds this")
    parser.add_argument("--json", type=Path, help="write every outcome")
    arguments = parser.parse_args()
    cases = [c for c in load(arguments.folder) if arguments.file in c.file]
    found = {name: findings(arguments.folder / name) for name in sorted({c.file for c in cases})}
    rows = [o for case in cases for o in outcomes(case, found[case.file])]
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(o) for o in rows], indent=1) + "\n", encoding="utf-8")
    for kind in ("false positive", "false negative"):
        listed = [o for o in rows if o.kind == kind and o.code.startswith(arguments.rule)]
        print(f"{kind}s: {len(listed)}")
        for o in listed:
            print(f"  {o.file}:{o.line}: {o.code} {o.kernel} {o.message}".rstrip())
    print(table(rows, cases))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
