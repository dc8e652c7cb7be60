"""The kernels of `tests/data/kernels` as cases: how to run each, what is expected on which line, and what a rule decides there.

That folder's README.md describes the format. Nothing here imports the engine: a machine with a GPU and nothing installed reads
the cases too. An invalid line raises `BadCase` with its file and line. The patterns suit these files, not others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.engine.analysis import kernel_sites as sites
else:
    import kernel_sites as sites

FOLDER = Path(__file__).parents[2] / "data" / "kernels"
ACCURACY = ("CP101", "CP102", "CP301", "CP302", "CP303", "CP305", "CP306")
NAMED = ("CP103", "CP104", "CP105", "CP201", "CP202", "CP203", "CP204", "CP304")
"""Rules for which only the kernels are marked whose `decides:` line names them."""
HINTS = ("CP103", "CP104", "CP105", "CP304")
LAUNCHED = ("CP201", "CP202", "CP203")
BY_ARRAY = ("CP105", "CP204")
"""Rules that decide about an array where it is declared, several on a line."""
KINDS = ("expect", "also", "silent")
CONTENTS = ("", "zero", "below", "perm", "iota", "offsets", "fill")

_ARRAY = re.compile(r"(?P<type>[A-Za-z_]\w*)\[(?P<count>[^\[\]]+)\](?::(?P<contents>[a-z]+)(?:\((?P<value>[^()]+)\))?)?")
_CODES = re.compile(r"(?P<codes>CP\d{3}(?:/CP\d{3})*)(?:@(?P<array>\w+))?(?P<values>(?: \w+=\d+)*)")
_SHAPE = re.compile(r"\d+(?:x\d+){0,2}")
_KERNEL = re.compile(r"\b__global__\b[^;{]*?\b(?P<name>\w+)\s*\((?P<parameters>(?:[^(){};/]|//[^\n]*)*)\)\s*(?://[^\n]*\s*)?\{")


class BadCase(ValueError):
    """A line that the format does not allow."""

    def __init__(self, file: str, line: int, message: str) -> None:
        super().__init__(f"{file}:{line}: {message}")


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter's value: `number` as written, or an array of `count` elements of `type` with `contents` (and its `value`)."""

    name: str
    number: str | None = None
    type: str = ""
    count: str = ""
    contents: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One launch. `instance` is what stands before `<<<`."""

    instance: str
    block: tuple[int, ...]
    grid: tuple[int, ...]
    shared: int
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A marker: any one of `codes` on `line`."""

    line: int
    kind: str
    codes: tuple[str, ...]
    array: str | None
    values: dict[str, int]


@dataclass(frozen=True, slots=True)
class Decision:
    """A line where a rule must (`expected`) or must not speak; not `measurable` where the answer hangs on data."""

    file: str
    kernel: str
    line: int
    code: str
    expected: bool
    measurable: bool = True
    array: str | None = None


@dataclass(frozen=True)
class Case:
    """A kernel with the lines that belong to it: behind the kernel before (`first`) to its own end (`last`), counted from 1."""

    file: str
    kernel: str
    line: int
    first: int
    last: int
    run: Run
    decides: tuple[str, ...]
    marks: tuple[Mark, ...]
    lines: tuple[str, ...]
    pointers: tuple[tuple[int, str], ...]
    launches: tuple[int, ...]

    @property
    def clean(self) -> bool:
        """No warning is expected; hints may be."""
        return not any(m.kind == "expect" and set(m.codes) - set(HINTS) for m in self.marks)

    def of(self, code: str, *kinds: str) -> list[Mark]:
        return [m for m in self.marks if code in m.codes and m.kind in kinds]

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        codes = (c for c in (*ACCURACY, *NAMED) if c in ACCURACY or c in self.decides)
        return tuple(d for code in codes for d in (self._arrays(code) if code in BY_ARRAY else self._places(code)))

    def owns(self, line: int, code: str) -> bool:
        """Whether what is said of `code` on a line of the file is said of this kernel."""
        return line in (self.line, *self.launches) if code in LAUNCHED else self.first <= line <= self.last

    def _places(self, code: str) -> Iterator[Decision]:
        """Decisions by line: each expected mark, and each line where the code could stand and no mark allows it."""
        expected = [m for m in self.of(code, "expect") if m.codes[0] == code]
        yield from (Decision(self.file, self.kernel, m.line, code, True, array=m.array) for m in expected)
        marked = {m.line for m in self.of(code, "expect", "also")}
        silent = {m.line for m in self.of(code, "silent")}
        for line in sorted((self._sites(code) | silent) - marked):
            yield Decision(self.file, self.kernel, line, code, False, line not in silent)

    def _arrays(self, code: str) -> Iterator[Decision]:
        """Decisions by array: where it is declared, expected if a mark on any line names it."""
        sought = {m.array: m.line for m in self.of(code, "expect")}
        either = {m.array for m in self.of(code, "also")} - set(sought)
        declared = self.pointers if code == "CP105" else sites.local_arrays(self._code, self.first)
        for line, name in declared:
            if name not in either:
                yield Decision(self.file, self.kernel, sought.get(name, line), code, name in sought, array=name)

    def _sites(self, code: str) -> set[int]:
        if code in LAUNCHED:
            return set(self.launches) or ({self.line} if code == "CP201" else set())
        code_lines = sites.in_loops(self._code) if code == "CP104" else self._code
        return {n for n, text in enumerate(code_lines, self.first) if n >= self.line and self._matters(code, text)}

    def _matters(self, code: str, text: str) -> bool:
        if code in sites.PATTERNS:
            return bool(sites.PATTERNS[code].search(text))
        if code == "CP104":
            return sites.loads(text, self._global)
        if code == "CP305":
            return sites.touches(text, self._global | self._shared, written=True)
        return sites.touches(text, self._global if code in ("CP101", "CP103") else self._shared)

    def shares(self, line: int) -> bool:
        """Whether a line touches shared memory."""
        return bool(self._shared & set(re.findall(r"\w+", self._code[line - self.first])))

    @cached_property
    def _code(self) -> list[str]:
        return [text.split("//")[0] for text in self.lines]

    @cached_property
    def _shared(self) -> frozenset[str]:
        return sites.with_pointers(self._code, sites.shared_arrays(self._code))

    @cached_property
    def _global(self) -> frozenset[str]:
        return sites.with_pointers(self._code, {a.name for a in self.run.arguments if a.number is None})


def load(folder: Path = FOLDER) -> list[Case]:
    """All cases, by file and line."""
    return [case for path in sorted(folder.glob("*.cu")) for case in read(path.name, path.read_text(encoding="utf-8"))]


def read(file: str, text: str) -> list[Case]:
    """The cases of one file."""
    lines, previous = text.split("\n"), 0
    marks = [mark for n, line in enumerate(lines, 1) for mark in marks_of(file, n, line)]
    cases: list[Case] = []
    for match in _KERNEL.finditer(text):
        case = _case(file, text, match, previous, marks)
        cases.append(case)
        previous = case.last
    for mark in marks:
        if not any(mark in case.marks for case in cases):
            raise BadCase(file, mark.line, "a marker that belongs to no kernel: behind the last one, or not at a launch")
    return cases


def _case(file: str, text: str, match: re.Match[str], previous: int, marks: list[Mark]) -> Case:
    lines, name = text.split("\n"), match["name"]
    line = text.count("\n", 0, match.start()) + 1
    last = text.count("\n", 0, text.index("\n}", match.end()) + 1) + 1
    head = [(n, lines[n - 1].strip()) for n in range(previous + 1, line)]
    parameters = re.sub(r"//[^\n]*", "", match["parameters"])
    names = tuple(re.findall(r"(\w+)\s*(?:,|$)", re.sub(r"\s+", " ", parameters)))
    run = _run(file, name, line, head)
    if names != tuple(a.name for a in run.arguments):
        raise BadCase(file, line, f"the run line gives {[a.name for a in run.arguments]}, the kernel takes {list(names)}")
    decides = tuple(code for n, t in head for code in _decides(file, n, t))
    opening = text.count("\n", 0, match.start("parameters")) + 1
    pointers = tuple(sites.pointers(parameters, opening))
    own = (tuple(lines[previous:last]), pointers, tuple(sites.launches(lines, name)))
    case = Case(file, name, line, previous + 1, last, run, decides, (), *own)
    return replace(case, marks=tuple(m for m in marks if case.owns(m.line, m.codes[0])))


def marks_of(file: str, number: int, text: str) -> Iterator[Mark]:
    """The markers of one line."""
    for comment in text.split("//")[1:]:
        kind, colon, rest = comment.strip().partition(":")
        if kind not in KINDS or not colon:
            if re.match(r"(expected?|also|silent)\b.*CP\d", comment.strip()):
                raise BadCase(file, number, f"not a marker: {comment.strip()!r}")
            continue
        for item in rest.split(";"):
            match = _CODES.fullmatch(item.strip())
            codes = tuple(match["codes"].split("/")) if match else ()
            if match is None or not set(codes) <= {*ACCURACY, *NAMED}:
                raise BadCase(file, number, f"not a marker: {item.strip()!r}")
            values = {k: int(v) for k, v in (pair.split("=") for pair in match["values"].split())}
            yield Mark(number, kind, codes, match["array"], values)


def _decides(file: str, number: int, text: str) -> list[str]:
    codes = text.split()[2:] if text.startswith("// decides:") else []
    if not set(codes) <= set(NAMED):
        raise BadCase(file, number, f"`decides:` takes {', '.join(NAMED)}")
    return codes


def _run(file: str, kernel: str, line: int, head: list[tuple[int, str]]) -> Run:
    found = [(n, t.removeprefix("// run:").split()) for n, t in head if t.startswith("// run:")]
    if len(found) != 1:
        raise BadCase(file, line, f"{len(found)} run lines above {kernel}")
    ((number, words),) = found
    values = {"as": kernel, "grid": "1", "shared": "0"}
    arguments: list[Argument] = []
    for word in words:
        name, _, value = word.partition("=")
        if not value:
            raise BadCase(file, number, f"not name=value: {word!r}")
        if name in ("block", "grid", "shared", "as") and not arguments:
            values[name] = value
        else:
            arguments.append(_argument(file, number, name, value))
    if not all(_SHAPE.fullmatch(values.get(key, "")) for key in ("block", "grid")) or not values["shared"].isdigit():
        raise BadCase(file, number, "block and grid are shapes like 32x8, shared is a number")
    block, grid = (tuple(map(int, values[key].split("x"))) for key in ("block", "grid"))
    return Run(values["as"], block, grid, int(values["shared"]), tuple(arguments))


def _argument(file: str, number: int, name: str, value: str) -> Argument:
    if re.fullmatch(r"-?\d+(\.\d+)?", value):
        return Argument(name, value)
    match = _ARRAY.fullmatch(value)
    if match is None or (match["contents"] or "") not in CONTENTS:
        raise BadCase(file, number, f"not a number or type[count]:contents: {value!r}")
    return Argument(name, None, match["type"], match["count"], match["contents"] or "", match["value"] or "")
