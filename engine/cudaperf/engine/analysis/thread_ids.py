"""Expressions that number the threads of a whole grid: `blockIdx.x * blockDim.x + threadIdx.x`, also through variables."""

from __future__ import annotations

from collections.abc import Mapping

from cudaperf.engine.analysis.variables import variables
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function

Definitions = Mapping[str, ir.Expr]


def definitions(function: Function, model: FileModel) -> Definitions:
    """The variables that are declared with a value and never changed."""
    found = {}
    for name, named in variables(function, model).all.items():
        writes = named[0].writes
        if len(named) == len(writes) == 1 and writes[0].declares and writes[0].value is not None:
            found[name] = writes[0].value
    return found


def numbers_threads(expr: ir.Expr, known: Definitions) -> str | None:
    """The axis along which an expression numbers the grid's threads, each with a number of its own; None for others."""
    match _meant(expr, known):
        case ir.Binary(op="+", left=left, right=right):
            for block, thread in ((left, right), (right, left)):
                axis = _builtin(thread, known, "threadIdx")
                if axis is not None and _offset(block, known, axis):
                    return axis
    return None


def _offset(expr: ir.Expr, known: Definitions, axis: str) -> bool:
    """`blockIdx.x * blockDim.x`."""
    match _meant(expr, known):
        case ir.Binary(op="*", left=left, right=right):
            sides = {(name, _builtin(side, known, name)) for side in (left, right) for name in ("blockIdx", "blockDim")}
            return sides >= {("blockIdx", axis), ("blockDim", axis)}
    return False


def _builtin(expr: ir.Expr, known: Definitions, name: str) -> str | None:
    meant = _meant(expr, known)
    return meant.axis if isinstance(meant, ir.Builtin) and meant.id == name else None


def _meant(expr: ir.Expr, known: Definitions) -> ir.Expr:
    """What a name, or a cast that keeps every thread's number, stands for."""
    for _ in range(len(known) + 4):
        if isinstance(expr, ir.Cast) and expr.type.integer and (expr.type.size or 0) >= 4:
            expr = expr.value
        elif isinstance(expr, ir.Name) and expr.id in known:
            expr = known[expr.id]
        else:
            break
    return expr
