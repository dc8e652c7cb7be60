"""Where in a kernel's text a rule has something to decide: accesses, loads in loops, parameters, local arrays, launches.

Patterns over lines without their comments, for the files of `tests/data/kernels` (one array to a local declaration, a launch on
one line). Nothing here imports the engine.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

BARRIER = re.compile(r"__syncthreads\w*\s*\(|\.sync\(\)")
PATTERNS = {
    "CP301": BARRIER,
    "CP303": re.compile(r"__(?:shfl|ballot|any|all|match|reduce)\w*_sync\s*\(|__syncwarp\s*\(|__activemask\s*\("),
    "CP304": BARRIER,
    "CP306": re.compile(r"\breturn\s*;"),
}
_SHARED = re.compile(r"__shared__\s+\w+\s+(?P<names>[^;]*);")
_POINTER = re.compile(r"\*\s*(?:const\s+)?(?:__restrict__\s+)?(?P<name>\w+)\s*=\s*(?P<value>[^;]*);")
_LOCAL = re.compile(r"^\s*(?:(?:const|volatile|unsigned)\s+)*(?P<type>\w+)\s+(?P<name>\w+)\s*\[[^;=]*\]\s*(?:=|;)")
_LOOP = re.compile(r"\b(?:for|while)\s*(?=\()|\bdo\b")
_HEAD = re.compile(r"\s*(?:(?:for|while|if)\s*(?=\()|else\b)")
_NO_TYPES = ("return", "else", "goto", "case")


def shared_arrays(code: list[str]) -> set[str]:
    declared = (re.sub(r"\[[^\]]*\]", "", m["names"]) for m in _SHARED.finditer("\n".join(code)))
    return {name for names in declared for name in re.findall(r"\w+", names)}


def with_pointers(code: list[str], names: Collection[str]) -> frozenset[str]:
    """The arrays, and the local pointers that are set from them."""
    found = set(names)
    for match in _POINTER.finditer("\n".join(code)):
        if found & set(re.findall(r"\w+", match["value"].split("[")[0])):
            found.add(match["name"])
    return frozenset(found)


def touches(text: str, names: Collection[str], *, written: bool = False) -> bool:
    if "__shared__" in text:
        return False
    either = "|".join(sorted(names)) or "(?!)"
    atomic = rf"\batomic\w+\(\s*&?\s*(?:{either})\b"
    if written:
        target = rf"(?:\b(?:{either})\s*\[.*\](?:\.\w+)*|(?:^|[;{{)])\s*\*\s*(?:{either}))"
        return bool(re.search(rf"{target}\s*(?:[-+*/|&^]=|=(?!=)|\+\+|--)|{atomic}", text))
    return bool(re.search(rf"\b(?:{either})\s*\[|(?<![\w)\]\s])\s*\*\s*(?:{either})\b(?!\s*[,)=])|{atomic}", text))


def loads(text: str, names: Collection[str]) -> bool:
    """Whether a line reads an array, other than by an atomic; `a[i] += x` reads."""
    either = "|".join(sorted(names)) or "(?!)"
    element, pointee, member = (
        rf"\b(?:{either})\s*\[[^=;]*\](?:\.\w+)*",
        rf"(?:^|[;{{)])\s*\*\s*(?:{either})",
        rf"\b(?:{either})->\w+",
    )
    rest = re.sub(rf"(?:{element}|{pointee}|{member})\s*=(?!=)|\batomic\w+\(\s*&?\s*(?:{either})\b\s*\[?", "", text)
    by_pointer = rf"\b(?:{either})->|\(\*\s*(?:{either})\)|[-+*/,(=<>?:]\s+\*(?:{either})\b"
    return touches(rest, names) or bool(re.search(by_pointer, rest))


def in_loops(code: list[str]) -> list[str]:
    """The lines with everything blank that a loop doesn't do again: its body, condition and step stay."""
    text = "\n".join(code)
    kept = bytearray(len(text) + 1)
    for match in _LOOP.finditer(text):
        start = body = match.end()
        if text[match.start()] != "d":
            body = _closed(text, match.end())
            start = text.index(";", match.end()) if match[0].startswith("for") else match.end()
        end = _statement(text, body)
        kept[start:end] = b"\1" * (end - start)
    return "".join(c if c == "\n" or keep else " " for c, keep in zip(text, kept, strict=False)).split("\n")


def _closed(text: str, start: int) -> int:
    """Behind the bracket that closes the first one from `start` on."""
    depth = 0
    for match in re.compile(r"[(){}]").finditer(text, start):
        depth += 1 if match[0] in "({" else -1
        if not depth:
            return match.end()
    return len(text)


def _statement(text: str, start: int) -> int:
    """Behind the statement that begins at `start`."""
    head = _HEAD.match(text, start)
    if head is not None:
        end = _statement(text, head.end() if "else" in head[0] else _closed(text, head.end()))
        other = re.compile(r"\s*else\b").match(text, end)
        return _statement(text, other.end()) if other and head[0].strip() == "if" else end
    if text[start:].lstrip().startswith("{"):
        return _closed(text, start)
    return text.find(";", start) + 1 or len(text)


def local_arrays(code: list[str], first: int) -> Iterator[tuple[int, str]]:
    """Line and name of each array of a thread."""
    for number, text in enumerate(code, first):
        match = _LOCAL.match(text)
        if match and match["type"] not in _NO_TYPES and not match["type"].startswith("__"):
            yield number, match["name"]


def pointers(parameters: str, line: int) -> Iterator[tuple[int, str]]:
    """Line and name of each parameter that is a pointer; `line` is that of the opening bracket."""
    at = 0
    for parameter in parameters.split(","):
        name = re.search(r"\*[\s\w*]*?(\w+)\s*$", parameter)
        if name:
            yield line + parameters.count("\n", 0, at + name.start()), name[1]
        at += len(parameter) + 1


def launches(lines: list[str], kernel: str) -> list[int]:
    """The lines, counted from 1, that launch a kernel."""
    launch = re.compile(rf"\b{kernel}(?:<[^<>]*>)?\s*<<<")
    return [n for n, text in enumerate(lines, 1) if launch.search(text.split("//")[0])]
