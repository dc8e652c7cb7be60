"""What a kernel's own text says about its block: shared arrays that thread indices run over, loops that step by a constant.

Hints, not facts: they choose among guessed block shapes, and never make a shape known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cudaperf.engine.analysis.constants import number, values_at
from cudaperf.engine.analysis.variables import Variables, variables
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function


@dataclass(slots=True)
class Hints:
    """`most` is the extent that a shared array allows along an axis, `exact` what a loop's step says."""

    most: dict[str, int] = field(default_factory=dict)
    exact: dict[str, int] = field(default_factory=dict)

    def allow(self, shape: tuple[int, int, int]) -> bool:
        extents = dict(zip("xyz", shape, strict=True))
        return all(extents[a] <= n for a, n in self.most.items()) and all(extents[a] == n for a, n in self.exact.items())


def hints(model: FileModel, kernel: Function, templates: Mapping[str, int]) -> Hints:
    found, known = Hints(), variables(kernel, model)
    arrays = {n.name: n for n in kernel.nodes if isinstance(n, ir.Declare) and n.shared and n.dims}
    partly, until = _by_some_threads(kernel, model, known), -1
    for node in kernel.nodes:
        until = max(until, partly.get(node, -1))
        if isinstance(node, ir.Index) and node.start >= until:
            for index, dim in _indexed(node, arrays):
                axis, beyond = _thread_index(index, model, known)
                extent = number(dim, model, values_at(kernel, model, node.start, templates)) if dim is not None else None
                if axis is not None and extent is not None and extent > beyond >= 0:
                    found.most[axis] = min(found.most.get(axis, extent), extent - beyond)
        elif isinstance(node, ir.Loop):
            _step(node, model, kernel, templates, known, found)
    return found


def _by_some_threads(kernel: Function, model: FileModel, known: Variables) -> dict[ir.Expr | ir.Stmt, int]:
    """Branches on the thread index itself (`if (threadIdx.x < 32)`), with their ends: they say nothing about the block."""
    found: dict[ir.Expr | ir.Stmt, int] = {}
    for node in kernel.nodes:
        if isinstance(node, ir.If | ir.Conditional):
            for part in ir.walk(node.condition):
                sides = (part.left, part.right) if isinstance(part, ir.Binary) else ()
                if any(_thread_index(side, model, known)[0] is not None for side in sides):
                    found[node] = node.end
    return found


def _indexed(node: ir.Index, arrays: dict[str, ir.Declare]) -> Iterator[tuple[ir.Expr, ir.Expr | None]]:
    """The outermost index of an access to a shared array with the extent that it runs over."""
    depth, base = 0, node.base
    while isinstance(base, ir.Index):
        depth, base = depth + 1, base.base
    if isinstance(base, ir.Name) and base.id in arrays and depth < len(arrays[base.id].dims):
        yield node.index, arrays[base.id].dims[depth]


def _thread_index(expr: ir.Expr, model: FileModel, known: Variables) -> tuple[str | None, int]:
    """(axis, c) for `threadIdx.axis + c`."""
    if isinstance(expr, ir.Builtin):
        return (expr.axis, 0) if expr.id == "threadIdx" else (None, 0)
    if isinstance(expr, ir.Name) and (variable := known.resolve(expr.id, expr.start)) is not None:
        write = variable.reaching(expr.start)
        once = write is not None and write.value is not None and len(variable.writes) == 1
        if once and write is not None and isinstance(write.value, ir.Builtin | ir.Binary):
            return _thread_index(write.value, model, known)
    if isinstance(expr, ir.Binary) and expr.op == "+":
        for inner, constant in ((expr.left, expr.right), (expr.right, expr.left)):
            if (more := number(constant, model)) is not None:
                axis, beyond = _thread_index(inner, model, known)
                return axis, beyond + more
    return None, 0


def _step(
    loop: ir.Loop, model: FileModel, kernel: Function, templates: Mapping[str, int], known: Variables, found: Hints
) -> None:
    """`for (i = threadIdx.x; ...; i += 256)`, and rows `threadIdx.y + j` of a loop with `j += 8`."""
    if not isinstance(loop.step, ir.Assign) or loop.step.op != "+" or not isinstance(loop.step.target, ir.Name):
        return
    name = loop.step.target.id
    step = number(loop.step.value, model, values_at(kernel, model, loop.start, templates))
    if step is None or step < 2:
        return
    first = (
        next((n for n in ir.walk(loop.init) if isinstance(n, ir.Declare | ir.Assign)), None) if loop.init is not None else None
    )
    start = first.init if isinstance(first, ir.Declare) else first.value if first is not None else None
    if start is not None and (axis := _thread_index(start, model, known)[0]) is not None:
        found.exact.setdefault(axis, step)
        return
    for node in ir.walk(loop.body):
        if isinstance(node, ir.Binary) and node.op == "+":
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(one, ir.Name) and one.id == name and (axis := _thread_index(other, model, known)[0]) is not None:
                    found.exact.setdefault(axis, step)
