"""The user's own function as C++ text, for emitted files whose original has internal linkage."""

from __future__ import annotations

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.nest import Program
from cudaperf.engine.strategies.compose import source_of
from cudaperf.engine.strategies.kernel import cuda_type, indent


def fallback_text(program: Program) -> str:
    """A definition under the user's own name, pointers plain."""
    function, source = program.unit.function, source_of(program)
    printer = source.printer()
    parameters = []
    for variable in function.parameters:
        if variable.is_array:
            parameters.append(source.parameter(variable.name, variable.const))
        else:
            parameters.append(f"{cuda_type(variable.type)} {variable.name}")
    returns = cuda_type(function.returns) if function.returns is not None else "void"
    body = printer.block(ir.Block(statements=function.body.statements))
    return "\n".join([f"static {returns} {function.name}({', '.join(parameters)})", "{", *indent(body), "}"])
