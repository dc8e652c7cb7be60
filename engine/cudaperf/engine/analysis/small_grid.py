"""CP203: a known grid with fewer blocks than the device has multiprocessors, where the kernel could use more.

A kernel could use more blocks where its loops stride over the grid, so that any number of blocks does all the work, or where it
is a plain map whose loop strides over the only block. A kernel with barriers or atomics that is launched with one block is
taken for what it usually is, a last step over few values, and nothing is said.
"""

from __future__ import annotations

from math import prod

from cudaperf.engine.analysis.block_shapes import known_block
from cudaperf.engine.analysis.constants import number, values_at
from cudaperf.engine.analysis.finding import Finding, Related, Severity
from cudaperf.engine.analysis.launches import Configuration
from cudaperf.engine.analysis.variables import variables
from cudaperf.engine.analysis.wording import plural
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function
from cudaperf.engine.toolchain.devices import ReferenceDevice


def finding(model: FileModel, launch: Configuration, device: ReferenceDevice) -> Finding | None:
    blocks, shape, kernel = _blocks(launch), known_block(launch), launch.kernel
    if blocks is None or kernel is None or not 1 <= blocks < device.multiprocessors:
        return None
    loop = _loop(model, kernel, blocks)
    if loop is None or _little_work(model, launch, loop, prod(shape) if shape is not None else 1024, device):
        return None
    how = "" if _by_grid(model, kernel, loop) else " if it counted from blockIdx.x too"
    message = (
        f"the grid has {plural(blocks, 'block')}; "
        f"{device.multiprocessors - blocks} of the {device.multiprocessors} multiprocessors "
        f"of the {device.name} (sm_{device.capability}) have nothing to do"
    )
    return Finding(
        "CP203",
        Severity.WARNING,
        launch.grid_expr.start,
        launch.grid_expr.end,
        message,
        (Related(loop.start, loop.body.start, f"this loop would spread over more blocks{how}"),),
        {"blocks": blocks, "multiprocessors": device.multiprocessors, "device": device.name},
    )


def _blocks(launch: Configuration) -> int | None:
    x, y, z = launch.grid if launch.grid is not None else (None, None, None)
    return x * y * z if x is not None and y is not None and z is not None else None


def _loop(model: FileModel, kernel: Function, blocks: int) -> ir.Loop | None:
    """The outermost loop that any number of blocks could share."""
    if blocks == 1 and _works_together(kernel):
        return None
    loops = [n for n in kernel.nodes if isinstance(n, ir.Loop) and n.kind != "do"]
    for loop in loops:
        if _by_grid(model, kernel, loop):
            return loop
    uses_grid = any(isinstance(n, ir.Builtin) and n.id in ("blockIdx", "gridDim") for n in kernel.nodes)
    if uses_grid or _works_together(kernel) or len(loops) != 1:
        return None
    return loops[0] if _strides_over(model, kernel, loops[0], "blockDim") and _writes_by_index(loops[0]) else None


def _works_together(kernel: Function) -> bool:
    """Barriers, shuffles, atomics or shared memory."""
    for node in kernel.nodes:
        if isinstance(node, ir.Declare) and node.shared:
            return True
        if isinstance(node, ir.Call) and ("sync" in node.name or node.name.startswith(("atomic", "__shfl"))):
            return True
    return False


def _by_grid(model: FileModel, kernel: Function, loop: ir.Loop) -> bool:
    return _strides_over(model, kernel, loop, "gridDim")


def _strides_over(model: FileModel, kernel: Function, loop: ir.Loop, builtin: str) -> bool:
    step = _step(loop)
    return step is not None and step.op == "+" and _mentions(model, kernel, step.value, builtin, 4)


def _step(loop: ir.Loop) -> ir.Assign | None:
    """What advances a loop: a for loop's own step, or the last statement of a while loop, to a variable of its condition."""
    if loop.kind == "for":
        return loop.step if isinstance(loop.step, ir.Assign) else None
    last = loop.body.body[-1] if loop.body.body else None
    step = last.value if isinstance(last, ir.Evaluate) and isinstance(last.value, ir.Assign) else None
    if step is None or loop.condition is None or not isinstance(step.target, ir.Name):
        return None
    tested = {n.id for n in ir.walk(loop.condition) if isinstance(n, ir.Name)}
    return step if step.target.id in tested else None


def _mentions(model: FileModel, kernel: Function, expr: ir.Expr, builtin: str, depth: int) -> bool:
    """Whether a value is made from gridDim or blockDim, through local variables too."""
    known = variables(kernel, model)
    for node in ir.walk(expr):
        if isinstance(node, ir.Builtin) and node.id == builtin:
            return True
        if isinstance(node, ir.Name) and depth and (variable := known.resolve(node.id, node.start)) is not None:
            value = variable.declared.init if variable.declared is not None else None
            if value is not None and _mentions(model, kernel, value, builtin, depth - 1):
                return True
    return False


def _writes_by_index(loop: ir.Loop) -> bool:
    """Whether the body stores to an array element that the loop's variable names."""
    step = _step(loop)
    if step is None or not isinstance(step.target, ir.Name):
        return False
    name = step.target.id
    stores = [n.target for n in ir.walk(loop.body) if isinstance(n, ir.Assign) and isinstance(n.target, ir.Index)]
    return any(isinstance(n, ir.Name) and n.id == name for store in stores for n in ir.walk(store.index))


def _little_work(model: FileModel, launch: Configuration, loop: ir.Loop, threads: int, device: ReferenceDevice) -> bool:
    """Whether the loop's bound is known at this launch, and a block a multiprocessor would be too many."""
    condition = loop.condition
    if not isinstance(condition, ir.Binary) or condition.op not in ("<", "<=") or launch.kernel is None:
        return False
    bound: int | None = number(condition.right, model, dict.fromkeys(p.name for p in launch.kernel.parameters))
    names = [p.name for p in launch.kernel.parameters]
    if isinstance(condition.right, ir.Name) and condition.right.id in names and isinstance(launch.node, ir.Launch):
        place = names.index(condition.right.id)
        given = launch.node.args[place] if place < len(launch.node.args) else None
        bound = number(given, model, values_at(launch.host, model, launch.node.start)) if given is not None else None
    return bound is not None and bound < threads * device.multiprocessors
