"""Why the host can't know how often a loop runs before a launch, in the words of its bounds."""

from __future__ import annotations

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.causes import cause, through_locals
from cudaperf.engine.loops.conversions import strip_implicit

REST = "pass it as an argument of its own"


def unknown_count(unit: ir.Unit, loop: ir.For) -> str:
    """The message for a loop whose bounds read data, or are computed in ways that are not followed."""
    parts = (("end", loop.bound), ("start", loop.lower), ("step", loop.step))
    for what, bound in parts:
        for load in through_locals(unit.function, bound):
            said = _told(unit, load) if isinstance(load, ir.Load) else None
            if said is not None:
                return f"the {what} of the loop over {loop.var}, {said}; {REST}"
    step = strip_implicit(loop.step)
    if loop.relation in ("<", "<=") and isinstance(step, ir.IntConst) and step.value < 0:
        return f"the loop over {loop.var} counts down until {loop.var} wraps around: count up, and use n - 1 - {loop.var} in it"
    for what, bound in parts:
        why = cause(unit.function, unit.text, (), (bound,))
        if why is not None:
            return f"the host can't compute the {what} of the loop over {loop.var}: {why}"
    return f"how often the loop over {loop.var} runs depends on data, so the host can't size a launch"


def _told(unit: ir.Unit, load: ir.Load) -> str | None:
    """What one read is of, where it is the same for all iterations; None for elements that loops choose."""
    if not all(isinstance(index, ir.IntConst) for index in load.indices) or load.span is None:
        return None
    text = unit.text[load.span.start : load.span.end].decode(errors="replace")
    if any(isinstance(step, str) for step in load.path):
        return f"{text}, is a member of a structure"
    return f"{text}, is read from memory"
