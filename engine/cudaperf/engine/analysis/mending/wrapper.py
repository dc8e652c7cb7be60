"""What a file checks the errors of runtime calls with: `CHECK(cudaMalloc(...));` by a macro or function, its own or a header's.

Known by its use in a statement of that form, or else by its definition. A macro that returns from the function around it is
for functions that have it already.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cudaperf.engine.cuda.model import FileModel, Function, Macro

_CALL: Final = re.compile(rb"cuda[A-Z]\w*\s*\(")
_BEFORE: Final = re.compile(rb"(?:^|[;{})]|\belse)\s*([A-Za-z_]\w*)\s*\(\s*\Z", re.MULTILINE)
_NOT_ERRORS: Final = (b"cudaGetErrorString", b"cudaGetErrorName")
_KEYWORDS: Final = frozenset(
    ("if", "while", "for", "switch", "return", "sizeof", "int", "bool", "void", "auto", "assert", "defined")
)
_LOOKS: Final = re.compile(r"\b(?:cudaSuccess|cudaError_t|cudaGetErrorString)\b")
_LEAVES: Final = re.compile(r"\b(?:return|break|continue|goto|co_return)\b")
_LONGEST: Final = 100
"""Bytes in front of a call that are looked at, and bytes of a call at most in lines."""
_KEPT: Final = "_cudaperf_wrappers"


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """`start` is where it is defined, -1 elsewhere. `leaves`: it returns from where it stands."""

    name: str
    start: int
    leaves: bool


def wrapper(model: FileModel, function: Function) -> str | None:
    """What a function's runtime calls can be wrapped with; None where there is nothing."""
    found: list[_Wrapper] | None = model.__dict__.get(_KEPT)
    if found is None:
        found = model.__dict__[_KEPT] = list(_wrappers(model))
    for one in found:
        here = one.start < function.start and one.name != function.name
        if here and not (one.leaves and one.name.encode() not in model.text(function)):
            return one.name
    return None


def _wrappers(model: FileModel) -> Iterator[_Wrapper]:
    """Those in use, the most frequent first, then those that are only defined."""
    if b"cuda" not in model.source.data:
        return
    used = [name for name, _ in Counter(_used(model.source.data)).most_common()]
    for name in used:
        macro, functions = model.macros.get(name), model.by_name.get(name, [])
        if macro is not None:
            yield from _of_macro(name, macro)
        elif not functions:
            yield _Wrapper(name, -1, False)
        elif _takes_an_error(model, functions):
            yield _Wrapper(name, functions[0].start, False)
    for name, macro in model.macros.items():
        if name not in used and _LOOKS.search(macro.text):
            yield from _of_macro(name, macro)
    for name, functions in model.by_name.items():
        if name not in used and _takes_an_error(model, functions) and _quiet(functions[0]):
            yield _Wrapper(name, functions[0].start, False)


def _used(data: bytes) -> Iterator[str]:
    """The names around runtime calls in statements that are nothing else."""
    for match in _CALL.finditer(data):
        begin = max(0, match.start() - _LONGEST)
        before = _BEFORE.search(data, begin, match.start())
        line = data[data.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        if before is None or b"//" in line or b"#" in line or match[0].startswith(_NOT_ERRORS):
            continue
        name = before[1].decode()
        if name not in _KEYWORDS and not name.startswith("cuda") and _whole(data, match.end()):
            yield name


def _whole(data: bytes, offset: int) -> bool:
    """Whether the call whose arguments begin at an offset is all that its wrapper has, and that ends the statement."""
    depth, end = 1, min(len(data), offset + 10 * _LONGEST)
    while depth and offset < end:
        depth += {40: 1, 41: -1}.get(data[offset], 0)
        offset += 1
    return re.match(rb"\s*\)\s*;", data[offset : offset + _LONGEST]) is not None


def _of_macro(name: str, macro: Macro) -> Iterator[_Wrapper]:
    given = macro.parameters or []
    if len(given) == 1 and not macro.ambiguous and re.search(rf"\b{re.escape(given[0])}\b", macro.text):
        yield _Wrapper(name, macro.start, bool(_LEAVES.search(macro.text)))


def _takes_an_error(model: FileModel, functions: list[Function]) -> bool:
    one = functions[0]
    if len(functions) > 1 or one.kind != "host" or one.templates:
        return False
    if b"cudaError_t" not in model.source.data[one.name_end : one.name_end + _LONGEST]:
        return False
    parameters = one.parameters
    return len(parameters) == 1 and parameters[0].type.name == "cudaError_t" and not parameters[0].type.pointers


def _quiet(function: Function) -> bool:
    """Whether it returns nothing, and so looks at the error itself."""
    kind = function.node.child_by_field_name("type")
    return kind is not None and kind.text == b"void"
