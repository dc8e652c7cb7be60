"""The `cp_*` device functions (cp.cuh): the text of those that some device code calls, for executors and emitter alike.

A call is a known name followed by `(`, `<` or `{`; other names that begin with `cp_` are the caller's own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

_MARKER = re.compile(r"(?m)^//@ (\w+)\n")
_USE = re.compile(r"\b(cp_\w+)\s*[(<{]")


def cp_header(code: str) -> str:
    """The sections of cp.cuh that `code` needs, callees first; empty when it needs none."""
    sections = _sections()
    needed: set[str] = set()
    pending = [name for name in _USE.findall(code) if name in sections]
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            pending += [used for used in _USE.findall(sections[name]) if used in sections]
    return "\n".join(text for name, text in sections.items() if name in needed)


@lru_cache(maxsize=1)
def _sections() -> dict[str, str]:
    """Name -> text, in the file's order, in which callees come first."""
    parts = _MARKER.split(Path(__file__).with_name("cp.cuh").read_text(encoding="utf-8"))
    return {name: text.strip("\n") + "\n" for name, text in zip(parts[1::2], parts[2::2], strict=True)}
