"""CP403: elementwise kernels launched one after the other that one kernel could do, with what the fusion would save.

That a kernel like `y[i] += a * x[i]` is bound by memory is no finding: nothing in it can change that. It becomes one where the
next launch, of the same shape, reads the elements that this one wrote: together they move them through memory for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from cudaperf.engine.analysis.elementwise import Elementwise, elementwise
from cudaperf.engine.analysis.finding import Finding, JsonScalar, Related, Severity
from cudaperf.engine.analysis.launches import Configuration, launches_in
from cudaperf.engine.analysis.wording import plural
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function

LOW: float = 1.0
"""Operations a byte below which a kernel is bound by memory on every architecture here (the lowest balance is several)."""


def findings(model: FileModel, host: Function) -> list[Finding]:
    by_node = {c.node: c for c in launches_in(model, host)}
    pairs = _neighbours(host.body, by_node) if len(by_node) > 1 else ()
    return [f for first, second in pairs if (f := _fusable(model, first, second)) is not None]


def _neighbours(
    body: ir.Block, by_node: dict[ir.Launch | ir.Call, Configuration]
) -> Iterator[tuple[Configuration, Configuration]]:
    """Launches that follow each other in one block with nothing but checks of the last error between."""
    for node in ir.walk(body):
        if isinstance(node, ir.Block):
            launches = [_launch(s, by_node) for s in node.body if not _checks(s)]
            for a, b in pairwise(launches):
                if a is not None and b is not None:
                    yield a, b


def _launch(statement: ir.Stmt, by_node: dict[ir.Launch | ir.Call, Configuration]) -> Configuration | None:
    if isinstance(statement, ir.Evaluate) and isinstance(statement.value, ir.Launch):
        return by_node.get(statement.value)
    return None


def _checks(statement: ir.Stmt) -> bool:
    calls = [n for n in ir.walk(statement) if isinstance(n, ir.Call)]
    return bool(calls) and any(c.name in ("cudaGetLastError", "cudaPeekAtLastError") for c in calls) and len(calls) <= 2


def _fusable(model: FileModel, first: Configuration, second: Configuration) -> Finding | None:
    if first.kernel is None or second.kernel is None or _shape(model, first) != _shape(model, second):
        return None
    one, other = elementwise(model, first.kernel), elementwise(model, second.kernel)
    if one is None or other is None or one.intensity >= LOW or other.intensity >= LOW:
        return None
    written, read = _arguments(first, one.writes), _arguments(second, other.reads)
    shared = [name for name in written if name in read]
    if not shared:
        return None
    saved = sum(read[name] for name in shared)
    flops, moved = one.flops + other.flops, one.bytes + other.bytes
    message = (
        f"{first.name} and {second.name} do {plural(flops, 'operation')} for {moved} bytes an element "
        f"({flops / moved:.2f} a byte); {second.name} reads back {', '.join(shared)}, which {first.name} wrote: "
        f"one kernel would move {moved - saved} bytes"
    )
    related = (
        Related(first.node.start, first.node.end, f"{first.name}: {_told(one)}"),
        Related(second.kernel.name_start, second.kernel.name_end, f"{second.name}: {_told(other)}"),
    )
    data: dict[str, JsonScalar] = {"flops": flops, "bytes": moved, "bytes_fused": moved - saved, "arrays": ", ".join(shared)}
    return Finding("CP403", Severity.HINT, second.node.start, second.node.end, message, related, data)


def _shape(model: FileModel, launch: Configuration) -> tuple[str, ...]:
    """The configuration and the integer arguments as they are spelled; nothing between the launches changes their values."""
    assert isinstance(launch.node, ir.Launch)
    return tuple(model.source.text(e.start, e.end) for e in (*launch.node.config, *_guard(launch)))


def _guard(launch: Configuration) -> list[ir.Expr]:
    """The integer arguments."""
    assert launch.kernel is not None
    args = launch.node.args
    return [a for p, a in zip(launch.kernel.parameters, args, strict=False) if p.type.integer]


def _arguments(launch: Configuration, parameters: dict[str, int]) -> dict[str, int]:
    """Names of the arrays that a launch gives for some parameters, with their bytes an element."""
    assert launch.kernel is not None
    pairs = zip(launch.kernel.parameters, launch.node.args, strict=False)
    return {a.id: parameters[p.name] for p, a in pairs if p.name in parameters and isinstance(a, ir.Name)}


def _told(kernel: Elementwise) -> str:
    return f"{plural(kernel.flops, 'operation')}, {kernel.bytes} bytes an element"
