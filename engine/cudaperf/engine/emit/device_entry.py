"""`NAME_cuda_device`: the launch plan as a function on device pointers and a stream."""

from __future__ import annotations

import re

from cudaperf.engine.emit import expressions
from cudaperf.engine.emit.expressions import Scope
from cudaperf.engine.emit.layout import Layout
from cudaperf.engine.emit.replay import expressions_of, swaps
from cudaperf.engine.emit.spelling import type_name
from cudaperf.engine.emit.steps import Place, needs_grid, print_steps
from cudaperf.engine.emit.writer import Writer
from cudaperf.engine.plan import Repeat, RepeatWhile, Step, Temporary, When
from cudaperf.engine.reason import Reason, ReasonCode, Refusal


def device_entry(layout: Layout) -> str:
    """The definition of the device entry point."""
    body = Writer(1)
    _body(body, layout)
    out = Writer()
    out("/* The launches, in order on `stream`; nothing here waits for them unless a loop depends on their results. */")
    parameters = [*layout.device_parameters(), *_extra(layout)]
    out.sequence(f'extern "C" cudaError_t {layout.device_name}(', parameters, ")")
    with out.block():
        for name in layout.cpp.values():
            if not re.search(rf"\b{name}\b", body.text):
                out(f"(void){name};")
        out.lines.extend(body.lines)
    return out.text


def result_name(layout: Layout) -> str:
    return layout.local("result")


def stream_name(layout: Layout) -> str:
    return layout.local("stream")


def _extra(layout: Layout) -> list[str]:
    result = [f"{layout.returns} *{result_name(layout)}"] if layout.task.returns else []
    return [*result, f"cudaStream_t {stream_name(layout)}"]


def _body(out: Writer, layout: Layout) -> None:
    plan = layout.candidate.plan
    if (layout.task.returns is None) != (plan.result is None):
        raise Refusal(Reason(ReasonCode.INTERNAL, f"the plan of {layout.name} and its C return type disagree on a result"))
    _guards(out, layout)
    buffers = {p.name: layout.cpp[p.name] for p in layout.task.arrays}
    swapped = swaps(plan.steps)
    for temporary in plan.temporaries:
        buffers[temporary.name] = _temporary(out, temporary, layout, swapped)
    place = Place(
        scope=layout.scope,
        buffers=buffers,
        scalars=layout.cpp,
        stream=stream_name(layout),
        taken=layout.taken | {stream_name(layout), result_name(layout)},
        grid=layout.local("grid"),
        device_code=layout.candidate.device_code,
    )
    if needs_grid(plan.steps):
        out(f"dim3 {place.grid};")
    print_steps(out, plan.steps, place)
    if plan.result is not None and buffers[plan.result] != result_name(layout):
        target = result_name(layout)
        parts = [target, buffers[plan.result], f"sizeof(*{target})", "cudaMemcpyDeviceToDevice", place.stream]
        out.sequence("CP_CHECK(cudaMemcpyAsync(", parts, "));")
    out("return cudaSuccess;")


def _guards(out: Writer, layout: Layout) -> None:
    """Sizes for which the plan is not meant."""
    plan = layout.candidate.plan
    texts = (*all_expressions(plan.steps), *(t.count for t in plan.temporaries), *layout.scalar_requirements)
    for _, insane in layout.oversized(texts).values():
        out(f"if ({insane})")
        out("    return cudaErrorInvalidValue;")
    for text in layout.scalar_requirements:
        out(f"if ({expressions.negation(text, Scope(layout.scope.symbols, {}))})")
        out("    return cudaErrorInvalidValue;")


def _temporary(out: Writer, temporary: Temporary, layout: Layout, swapped: frozenset[str]) -> str:
    """Declares one temporary and returns what stands for its pointer; the result needs none where it is written in place."""
    is_result = temporary.name == layout.candidate.plan.result and layout.task.returns is not None
    if is_result and _in_place(temporary, layout, swapped):
        return result_name(layout)
    name = layout.local(f"{temporary.name}_memory") if temporary.name in swapped else _own_name(temporary.name, layout)
    size = expressions.bytes_of(temporary.count, f"sizeof({temporary.type})", layout.scope)
    out(f"cp_buffer<{temporary.type}> {name}({stream_name(layout)});")
    out(f"CP_CHECK({name}.allocate({size}));")
    if temporary.name not in swapped:
        return f"{name}.data"
    pointer = _own_name(temporary.name, layout)
    out(f"{temporary.type} *{pointer} = {name}.data;")
    return pointer


def _in_place(temporary: Temporary, layout: Layout, swapped: frozenset[str]) -> bool:
    assert layout.task.returns is not None
    same = temporary.type == type_name(layout.task.returns)
    return same and expressions.constant(temporary.count) == 1 and temporary.name not in swapped


def _own_name(name: str, layout: Layout) -> str:
    """A temporary's name, unless a parameter, macro or kernel has it."""
    others = layout.taken - {t.name for t in layout.candidate.plan.temporaries}
    clash = name in others or name in set(layout.cpp.values()) or name in (stream_name(layout), result_name(layout))
    return layout.local(f"{name}_") if clash else layout.local(name) if name not in layout.taken else name


def all_expressions(steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Every size expression of the steps and of their bodies."""
    found: list[str] = []
    for step in steps:
        found.extend(expressions_of(step))
        if isinstance(step, Repeat | RepeatWhile | When):
            found.extend(all_expressions(step.body))
    return tuple(found)
