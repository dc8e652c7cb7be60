"""CP502: synchronous copies and allocations in a loop of a host function that also launches kernels.

Not told for loops without launches (setting up and freeing buffers), for copies within the device, for what an `if` keeps from
being done on each pass, and for a few bytes that decide whether the loop goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cudaperf.engine.analysis.constants import number, values_at
from cudaperf.engine.analysis.finding import Finding, JsonScalar, Related, Severity
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function

_COPIES: Final = frozenset(
    ("cudaMemcpy", "cudaMemcpyToSymbol", "cudaMemcpyFromSymbol", "cudaMemcpy2D", "cudaMemcpy3D", "cudaMemcpyToArray")
)
_ALLOCATIONS: Final = frozenset(
    (
        "cudaMalloc", "cudaFree", "cudaMallocPitch", "cudaMalloc3D", "cudaMallocHost", "cudaHostAlloc", "cudaFreeHost",
        "cudaHostRegister",
    )
)  # fmt: skip
_FREES: Final = frozenset(("cudaFree", "cudaFreeHost"))
_FLAG: Final = 8
"""Bytes of a scalar."""


def findings(model: FileModel, host: Function) -> list[Finding]:
    return [finding for loop in _outermost(host.body) for finding in _in_loop(model, host, loop)]


def _outermost(node: ir.Expr | ir.Stmt) -> Iterator[ir.Loop]:
    for child in ir.children(node):
        if isinstance(child, ir.Loop):
            yield child
        else:
            yield from _outermost(child)


def _in_loop(model: FileModel, function: Function, loop: ir.Loop) -> Iterator[Finding]:
    """One finding for the copies of a loop nest and one for the allocations, each at the first."""
    copies: list[tuple[ir.Call, ir.Loop]] = []
    allocations: list[tuple[ir.Call, ir.Loop]] = []
    for call, inner in _each_pass(loop, loop):
        if not _launches(inner, model):
            continue
        if call.name in _COPIES and not _within_device(call) and not _decides(call, inner, model, function):
            if not _varies(call.args[2:3], loop):
                copies.append((call, inner))
        elif call.name in _ALLOCATIONS and not _indexed(call) and not _varies(call.args, loop):
            allocations.append((call, inner))
    if copies:
        yield _told(model, copies, "copy", "the host waits for it, and the device for the next launch")
    if any(call.name not in _FREES for call, _ in allocations):
        yield _told(model, allocations, "allocation", "one before the loop can serve every pass")


def _each_pass(node: ir.Expr | ir.Stmt, loop: ir.Loop) -> Iterator[tuple[ir.Call, ir.Loop]]:
    """The calls that every pass makes, with their innermost loop: none under a condition."""
    for child in ir.children(node):
        if isinstance(child, ir.Call):
            yield child, loop
        if isinstance(child, ir.If):  # what is in the condition itself is done: if (cudaMemcpy(...) != cudaSuccess)
            yield from _each_pass(ir.Evaluate(child.start, child.end, child.condition), loop)
        elif not isinstance(child, ir.Switch | ir.Conditional):
            yield from _each_pass(child, child if isinstance(child, ir.Loop) else loop)


def _launches(loop: ir.Loop, model: FileModel) -> bool:
    for node in ir.walk(loop.body):
        if isinstance(node, ir.Launch):
            return True
        if isinstance(node, ir.Call) and any(_has_launch(f) for f in model.by_name.get(node.name, ())):
            return True
    return False


def _has_launch(function: Function) -> bool:
    return function.kind == "host" and any(isinstance(n, ir.Launch) for n in function.nodes)


def _within_device(call: ir.Call) -> bool:
    return any(isinstance(a, ir.Name) and a.id == "cudaMemcpyDeviceToDevice" for a in call.args)


def _indexed(call: ir.Call) -> bool:
    """`cudaMalloc(&buffers[i], ...)`: a buffer of its own for each pass."""
    return bool(call.args) and any(isinstance(n, ir.Index) for n in ir.walk(call.args[0]))


def _varies(args: list[ir.Expr], loop: ir.Loop) -> bool:
    """Whether a size follows the loop, as where a program tries several sizes."""
    changed = {n.target.id for n in ir.walk(loop) if isinstance(n, ir.Assign) and isinstance(n.target, ir.Name)}
    changed |= {n.name for n in ir.walk(loop) if isinstance(n, ir.Declare) and n.type.integer}
    return any(isinstance(n, ir.Name) and n.id in changed for argument in args for n in ir.walk(argument))


def _decides(call: ir.Call, loop: ir.Loop, model: FileModel, function: Function) -> bool:
    """Whether a copy is of a scalar that the loop's condition, or a condition in front of a break or return, reads."""
    place = 1 if call.name in ("cudaMemcpyToSymbol", "cudaMemcpyFromSymbol") else 2
    size_at = 2
    if len(call.args) <= size_at:
        return False
    size = number(call.args[size_at], model, values_at(function, model, call.start))
    if size is None or size > _FLAG:
        return False
    ends = call.args[:place]
    names = {n.id for argument in ends for n in ir.walk(argument) if isinstance(n, ir.Name)}
    read = {n.id for condition in _conditions(loop) for n in ir.walk(condition) if isinstance(n, ir.Name)}
    return bool(names & read)


def _conditions(loop: ir.Loop) -> Iterator[ir.Expr]:
    if loop.condition is not None:
        yield loop.condition
    for node in ir.walk(loop.body):
        if isinstance(node, ir.If) and any(isinstance(n, ir.Jump | ir.Return) for n in ir.walk(node)):
            yield node.condition


def _told(model: FileModel, calls: list[tuple[ir.Call, ir.Loop]], what: str, why: str) -> Finding:
    first, loop = calls[0]
    count = f" (1 of {len(calls)} in it)" if len(calls) > 1 else ""
    message = f"{first.name} on each pass of a loop{count}: {why}"
    others = (Related(call.start, call.end, f"another {what}") for call, _ in calls[1:6])
    related = (Related(loop.start, loop.body.start, "the loop"), *others)
    data: dict[str, JsonScalar] = {"call": first.name, "kind": what, "calls": len(calls)}
    return Finding("CP502", Severity.WARNING, first.start, first.end, message, related, data)
