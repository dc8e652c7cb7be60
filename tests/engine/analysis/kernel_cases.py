"""The kernels of `tests/data/kernels` as cases: how to run each, what is expected on which line, and what a rule decides there.

That folder's README.md describes the format. Nothing here imports the engine: a machine with a GPU and nothing installed reads
the cases too. An invalid line raises `BadCase` with its file and line. The patterns suit these files, not others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "data" / "kernels"
ACCURACY = ("CP101", "CP102", "CP301", "CP302", "CP303", "CP305", "CP306")
HINTS = ("CP103", "CP104", "CP105", "CP204", "CP304")
KINDS = ("expect", "also", "silent")
CONTENTS = ("", "zero", "below", "perm", "iota", "offsets", "fill")

_ARRAY = re.compile(r"(?P<type>[A-Za-z_]\w*)\[(?P<count>[^\[\]]+)\](?::(?P<contents>[a-z]+)(?:\((?P<value>[^()]+)\))?)?")
_CODES = re.compile(r"(?P<codes>CP\d{3}(?:/CP\d{3})*)(?:@(?P<array>\w+))?(?P<values>(?: \w+=\d+)*)")
_SHAPE = re.compile(r"\d+(?:x\d+){0,2}")
_KERNEL = re.compile(
    r"\b__global__\b[^;{]*?\b(?P<name>\w+)\s*\((?P<parameters>(?:[^(){};]|\([^()]*\))*)\)\s*(?://[^\n]*\s*)?\{"
)
_SHARED = re.compile(r"__shared__\s+\w+\s+(?P<names>[^;]*);")
_POINTER = re.compile(r"\*\s*(?:const\s+)?(?:__restrict__\s+)?(?P<name>\w+)\s*=\s*(?P<value>[^;]*);")
_PATTERNS = {
    "CP301": re.compile(r"__syncthreads\w*\s*\(|\.sync\(\)"),
    "CP303": re.compile(r"__(?:shfl|ballot|any|all|match|reduce)\w*_sync\s*\(|__syncwarp\s*\(|__activemask\s*\("),
    "CP306": re.compile(r"\breturn\s*;"),
}


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

    @property
    def clean(self) -> bool:
        """No warning of memory or synchronization is expected; hints may be."""
        return not any(m.kind == "expect" and set(m.codes) - set(HINTS) for m in self.marks)

    def of(self, code: str, *kinds: str) -> list[Mark]:
        return [m for m in self.marks if code in m.codes and m.kind in kinds]

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(d for code in (*ACCURACY, *HINTS) for d in self._decided(code))

    def _decided(self, code: str) -> Iterator[Decision]:
        expected = [m for m in self.of(code, "expect") if m.codes[0] == code]
        yield from (Decision(self.file, self.kernel, m.line, code, True) for m in expected)
        if code in HINTS:
            if code in self.decides and not expected:
                yield Decision(self.file, self.kernel, self.line, code, False)
            return
        marked = {m.line for m in self.of(code, "expect", "also")}
        silent = {m.line for m in self.of(code, "silent")}
        plain = {n for n, text in enumerate(self._code, self.first) if n >= self.line and self._matters(code, text)}
        for line in sorted((plain | silent) - marked):
            yield Decision(self.file, self.kernel, line, code, False, line not in silent)

    def _matters(self, code: str, text: str) -> bool:
        if code in _PATTERNS:
            return bool(_PATTERNS[code].search(text))
        if code == "CP305":
            return _touches(text, self._global | self._shared, written=True)
        return _touches(text, self._global if code == "CP101" else self._shared)

    def shares(self, line: int) -> bool:
        """Whether a line touches shared memory."""
        return bool(self._shared & set(re.findall(r"\w+", self._code[line - self.first])))

    @cached_property
    def _code(self) -> list[str]:
        return [text.split("//")[0] for text in self.lines]

    @cached_property
    def _shared(self) -> frozenset[str]:
        declared = (re.sub(r"\[[^\]]*\]", "", m["names"]) for m in _SHARED.finditer("\n".join(self._code)))
        return self._derived({name for names in declared for name in re.findall(r"\w+", names)})

    @cached_property
    def _global(self) -> frozenset[str]:
        return self._derived({a.name for a in self.run.arguments if a.number is None})

    def _derived(self, names: set[str]) -> frozenset[str]:
        """With the local pointers that are set from them."""
        found = set(names)
        for match in _POINTER.finditer("\n".join(self._code)):
            if found & set(re.findall(r"\w+", match["value"].split("[")[0])):
                found.add(match["name"])
        return frozenset(found)


def _touches(text: str, names: frozenset[str], *, written: bool = False) -> bool:
    if "__shared__" in text:
        return False
    either = "|".join(sorted(names)) or "(?!)"
    atomic = rf"\batomic\w+\(\s*&?\s*(?:{either})\b"
    if written:
        target = rf"(?:\b(?:{either})\s*\[.*\](?:\.\w+)*|(?:^|[;{{)])\s*\*\s*(?:{either}))"
        return bool(re.search(rf"{target}\s*(?:[-+*/|&^]=|=(?!=)|\+\+|--)|{atomic}", text))
    return bool(re.search(rf"\b(?:{either})\s*\[|(?<![\w)\]\s])\s*\*\s*(?:{either})\b(?!\s*[,)=])|{atomic}", text))


def load(folder: Path = FOLDER) -> list[Case]:
    """All cases, by file and line."""
    return [case for path in sorted(folder.glob("*.cu")) for case in read(path.name, path.read_text(encoding="utf-8"))]


def read(file: str, text: str) -> list[Case]:
    """The cases of one file."""
    lines, previous = text.split("\n"), 0
    cases: list[Case] = []
    for match in _KERNEL.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        last = text.count("\n", 0, text.index("\n}", match.end()) + 1) + 1
        head = [(n, lines[n - 1].strip()) for n in range(previous + 1, line)]
        marks = tuple(mark for n in range(previous + 1, last + 1) for mark in marks_of(file, n, lines[n - 1]))
        names = tuple(re.findall(r"(\w+)\s*(?:,|$)", re.sub(r"\s+", " ", match["parameters"])))
        run = _run(file, match["name"], line, head)
        if names != tuple(a.name for a in run.arguments):
            raise BadCase(file, line, f"the run line gives {[a.name for a in run.arguments]}, the kernel takes {list(names)}")
        decides = tuple(code for n, t in head for code in _decides(file, n, t))
        cases.append(Case(file, match["name"], line, previous + 1, last, run, decides, marks, tuple(lines[previous:last])))
        previous = last
    for n in range(previous + 1, len(lines) + 1):
        for mark in marks_of(file, n, lines[n - 1]):
            raise BadCase(file, mark.line, "a marker behind the last kernel")
    return cases


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
            if match is None or not set(codes) <= {*ACCURACY, *HINTS}:
                raise BadCase(file, number, f"not a marker: {item.strip()!r}")
            values = {k: int(v) for k, v in (pair.split("=") for pair in match["values"].split())}
            yield Mark(number, kind, codes, match["array"], values)


def _decides(file: str, number: int, text: str) -> list[str]:
    codes = text.split()[2:] if text.startswith("// decides:") else []
    if not set(codes) <= set(HINTS):
        raise BadCase(file, number, f"`decides:` takes {', '.join(HINTS)}")
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
