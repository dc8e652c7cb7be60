"""CP501: runtime calls wrapped with what the file checks errors with, and a look at the last error after launches.

Not safe: a check may end the program, where it went on before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cudaperf.engine.analysis.finding import Edit, Fix
from cudaperf.engine.analysis.mending.layout import around, behind
from cudaperf.engine.analysis.mending.wrapper import wrapper
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function

_REST: Final = re.compile(rb"\s*[;,]")


def checking(model: FileModel, function: Function, unchecked: Sequence[ir.Call | ir.Launch]) -> Fix | None:
    """The fix for all of a host function's unchecked calls and launches; None where one of them has no place for it."""
    name = wrapper(model, function)
    if name is None or model.broken(function):
        return None
    edits: list[Edit] = []
    for node in unchecked:
        more = _launch(model, function, node, name) if isinstance(node, ir.Launch) else _call(model, node, name)
        if not more:
            return None
        edits += more
    what = "Check the errors" if len(unchecked) > 1 else "Check the error"
    return Fix(f"{what} with {name}", tuple(edits))


def _call(model: FileModel, call: ir.Call, name: str) -> list[Edit]:
    if _REST.match(model.source.data, call.end) is None:
        return []
    return [Edit(call.start, call.start, f"{name}("), Edit(call.end, call.end, ")")]


def _launch(model: FileModel, function: Function, launch: ir.Launch, name: str) -> list[Edit]:
    placed = next(around(function, launch.start), None)
    if placed is None or placed.statement.start_byte != launch.start or placed.statement.type != "expression_statement":
        return []
    statement = placed.statement
    return [behind(model.source.data, statement.start_byte, statement.end_byte, f"{name}(cudaGetLastError());")]
