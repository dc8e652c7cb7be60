"""Where host code looks at errors: cudaGetLastError, macros and functions that call it, and statuses that are used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function

LAST_ERROR: Final = frozenset(("cudaGetLastError", "cudaPeekAtLastError"))
SYNCHRONISING: Final = frozenset(
    ("cudaDeviceSynchronize", "cudaThreadSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy")
)
_NAMED_AS_CHECK: Final = re.compile(r"check|err|assert|safe|verify|expect", re.IGNORECASE)
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_DEEPEST: Final = 4


def checks(model: FileModel, function: Function) -> list[int]:
    """Offsets at which a function looks at the error of earlier work."""
    thrown_away = {call.start for call in discarded(function.body)}
    found: list[int] = []
    for node in function.nodes:
        if isinstance(node, ir.Call | ir.Name):
            name = node.id if isinstance(node, ir.Name) else node.name
            used = name in SYNCHRONISING and isinstance(node, ir.Call) and node.start not in thrown_away
            if used or _looks(name, model, _DEEPEST, called=isinstance(node, ir.Call)):
                found.append(node.start)
    return found


def _looks(name: str, model: FileModel, depth: int, *, called: bool) -> bool:
    """Whether a name leads to a look at the last error; of a name from elsewhere its spelling must say so."""
    if name in LAST_ERROR:
        return True
    if depth == 0:
        return False
    if (macro := model.macros.get(name)) is not None:
        words = set(_WORD.findall(macro.text)) - {name}
        return any(_looks(word, model, depth - 1, called=False) for word in words)
    functions = model.by_name.get(name, ()) if called or depth < _DEEPEST else ()
    if functions:
        inside = {n.name for f in functions for n in f.nodes if isinstance(n, ir.Call)} - {name}
        known = (inner for inner in inside if inner in model.by_name or inner in model.macros or inner in LAST_ERROR)
        return any(_looks(inner, model, depth - 1, called=True) for inner in known)
    return called and not name.startswith("cuda") and _NAMED_AS_CHECK.search(name) is not None


def discarded(body: ir.Expr | ir.Stmt) -> Iterator[ir.Call | ir.Launch]:
    """Calls and launches that are whole statements: their value goes nowhere."""
    for node in ir.walk(body):
        if isinstance(node, ir.Evaluate):
            parts = node.value.parts if isinstance(node.value, ir.Comma) else [node.value]
            yield from (part for part in parts if isinstance(part, ir.Call | ir.Launch))
