"""The device code of a CUDA file, for a compiler that takes nothing else: host functions and their headers blanked out.

Lines keep their numbers. What else a host compiler would need (objects of host types at file scope) stays, and may not compile.
"""

from __future__ import annotations

import re
from typing import Final

from cudaperf.engine.cuda.model import FileModel, Function

_INCLUDE: Final = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*<([a-z_]+)>", re.MULTILINE)
"""Headers of C++'s standard library: those with no suffix."""
_NOT_BLANK: Final = re.compile(rb"[^\r\n]")


def device_code(model: FileModel) -> str:
    """The file's text with blanks in place of what is the host's alone."""
    text = bytearray(model.source.data)
    for function in model.functions:
        if function.kind == "host" and not _constant(model, function):
            _blank(text, *_extent(function))
    for match in _INCLUDE.finditer(bytes(text)):
        _blank(text, *match.span())
    return text.decode("utf-8", errors="replace")


def _constant(model: FileModel, function: Function) -> bool:
    """A constexpr function, which device code may call."""
    return b"constexpr" in model.source.data[function.start : function.name_start]


def _extent(function: Function) -> tuple[int, int]:
    parent = function.node.parent
    whole = parent if parent is not None and parent.type == "template_declaration" else function.node
    return whole.start_byte, whole.end_byte


def _blank(text: bytearray, start: int, end: int) -> None:
    text[start:end] = _NOT_BLANK.sub(b" ", bytes(text[start:end]))
