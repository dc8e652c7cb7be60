"""C functions as `loops.ir` trees, by libclang.

    unit = load("heat.c", "step")            # ir.Unit, or the Reason why not
    list_functions("heat.c")                 # (FunctionInfo(name, line, reason), ...)

Nothing is compiled or run. libclang is loaded on the first call.
"""

from cudaperf.engine.sources.c.frontend import FunctionInfo, list_functions, load
from cudaperf.engine.sources.c.parse import preprocess
from cudaperf.engine.sources.c.text import place, position

__all__ = ["FunctionInfo", "list_functions", "load", "place", "position", "preprocess"]
