"""One-thread kernels: scalar code between nests, and conditions of loops that run until convergence."""

from __future__ import annotations

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.nest import ScalarStep
from cudaperf.engine.plan import Launch
from cudaperf.engine.strategies.kernel import Source, cuda_type, defined, prologue, signature


def scalar_kernel(step: ScalarStep, source: Source) -> tuple[str, Launch]:
    """The kernel's text and its launch. Device scalars that it sets are written back at its end."""
    printer = source.printer()
    outputs = frozenset(step.outputs)
    made = signature(step, source, skip_inputs=outputs)
    for name in step.outputs:
        made.pointer(f"{name}_value", cuda_type(step.types[name]), name, const=False)
    known = defined(step.prologue) | {s.name for s in step.statements if isinstance(s, ir.Decl)}
    lines = prologue(step, printer)
    for name in step.outputs:
        if name not in known:
            start = f" = *{name}_value" if name in step.inputs else ""
            lines.append(f"{cuda_type(step.types[name])} {name}{start};")
    for statement in step.statements:
        lines += [] if _trivial(statement) else printer.statement(statement)
    lines += [f"*{name}_value = {name};" for name in step.outputs]
    return made.text(step.name, lines, "1"), Launch(kernel=step.name, args=tuple(made.args))


def _trivial(statement: ir.Stmt) -> bool:
    """`x = x`: a value known from arguments moves to device memory."""
    return isinstance(statement, ir.Assign) and statement.op is None and statement.target == statement.value
