"""CP404: integer division by a value that only the running kernel knows, on every pass of an inner loop.

Not told for a loop by which threads stride over a grid, once an element; where the divisor is a constant, a macro or a template
parameter, or a parameter of a device function that may become one when it is inlined; and where nothing in the division
changes in the loop, so that the compiler computes it before.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudaperf.engine.analysis.constants import number, values_at
from cudaperf.engine.analysis.finding import Finding, JsonScalar, Related, Severity
from cudaperf.engine.analysis.kinds import Kind, Kinds
from cudaperf.engine.analysis.variables import Variables, variables
from cudaperf.engine.analysis.wording import plural
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function


def findings(model: FileModel, function: Function) -> list[Finding]:
    """One finding for each divisor of a loop, at the first division."""
    found: list[Finding] = []
    if not model.broken(function):
        for loop in _inner_loops(function.body):
            if not _strides(loop, variables(function, model)):
                found += _in_loop(model, function, loop)
    return found


def _inner_loops(body: ir.Block) -> Iterator[ir.Loop]:
    for node in ir.walk(body):
        if isinstance(node, ir.Loop) and not any(isinstance(inner, ir.Loop) for inner in ir.walk(node.body)):
            yield node


def _strides(loop: ir.Loop, known: Variables) -> bool:
    """Whether a loop goes over elements with the step of a block or a grid."""
    if not isinstance(loop.step, ir.Assign):
        return False
    for node in ir.walk(loop.step.value):
        if isinstance(node, ir.Builtin):
            return True
        variable = known.resolve(node.id, node.start) if isinstance(node, ir.Name) else None
        init = variable.declared.init if variable is not None and variable.declared is not None else None
        if init is not None and any(isinstance(n, ir.Builtin) for n in ir.walk(init)):
            return True
    return False


def _in_loop(model: FileModel, function: Function, loop: ir.Loop) -> list[Finding]:
    kinds, known = Kinds(model, function), variables(function, model)
    changed = {name for node in ir.walk(loop) for name in _assigned(node)}
    by_divisor: dict[str, list[ir.Binary]] = {}
    for part in (loop.condition, loop.body, loop.step):
        for node in ir.walk(part) if part is not None else ():
            if isinstance(node, ir.Binary) and node.op in ("/", "%") and _costs(node, model, function, kinds, known, changed):
                by_divisor.setdefault(model.source.text(node.right.start, node.right.end), []).append(node)
    return [_told(model, loop, divisor, divisions) for divisor, divisions in by_divisor.items()]


def _assigned(node: ir.Expr | ir.Stmt) -> Iterator[str]:
    if isinstance(node, ir.Assign) and isinstance(node.target, ir.Name):
        yield node.target.id
    elif isinstance(node, ir.Declare):
        yield node.name
    elif isinstance(node, ir.AddressOf) and isinstance(node.target, ir.Name):
        yield node.target.id


def _costs(node: ir.Binary, model: FileModel, function: Function, kinds: Kinds, known: Variables, changed: set[str]) -> bool:
    if kinds.kind(node.left) is not Kind.INT or kinds.kind(node.right) is not Kind.INT:
        return False
    varies = any((isinstance(n, ir.Name) and n.id in changed) or isinstance(n, ir.Index) for n in ir.walk(node))
    return varies and not _compile_time(node.right, model, function, known, 4)


def _compile_time(expr: ir.Expr, model: FileModel, function: Function, known: Variables, depth: int) -> bool:
    """Whether a divisor may be known to the compiler; a name that is not understood may be."""
    if number(expr, model, values_at(function, model, expr.start)) is not None:
        return True
    names = [n for n in ir.walk(expr) if isinstance(n, ir.Name | ir.Builtin | ir.Call | ir.Opaque | ir.Index | ir.Member)]
    return all(_fixed(name, model, function, known, depth) for name in names)


def _fixed(node: ir.Expr | ir.Stmt, model: FileModel, function: Function, known: Variables, depth: int) -> bool:
    if not isinstance(node, ir.Name):
        return not isinstance(node, ir.Builtin | ir.Index | ir.Member)
    variable = known.resolve(node.id, node.start)
    if variable is None or node.id in model.macros:
        return node.id not in model.variables or node.id in model.constants
    if variable.declared is None:
        return function.kind == "device"
    init = variable.declared.init
    once = depth > 0 and len(variable.writes) == 1
    return once and init is not None and _compile_time(init, model, function, known, depth - 1)


def _told(model: FileModel, loop: ir.Loop, divisor: str, divisions: list[ir.Binary]) -> Finding:
    first = divisions[0]
    different = {model.source.text(d.left.start, d.left.end) for d in divisions}
    count = len(different)
    message = (
        f"{divisor} is known only at run time: {plural(count, 'integer division')} by it on each pass of the loop; "
        f"a division by a constant becomes a multiplication"
    )
    related = (Related(loop.start, loop.body.start, "the loop"),)
    data: dict[str, JsonScalar] = {"divisor": divisor, "divisions": count}
    return Finding("CP404", Severity.HINT, first.start, first.end, message, related, data)
