"""The steps of a launch plan as host code: launches, loops, fills, copies and pointer swaps on one stream.

Every CUDA call is checked. Not promised: library calls, which plain CUDA C++ has no counterpart for, are refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from cudaperf.engine.emit import expressions, replay, signatures
from cudaperf.engine.emit.expressions import Scope, Symbol
from cudaperf.engine.emit.intervals import Interval
from cudaperf.engine.emit.names import fresh
from cudaperf.engine.emit.writer import Writer
from cudaperf.engine.plan import (
    Arg,
    Copy,
    Fill,
    IntArg,
    Launch,
    LibraryCall,
    PointerArg,
    Repeat,
    RepeatWhile,
    ScalarArg,
    Step,
    Swap,
    When,
)
from cudaperf.engine.reason import Reason, ReasonCode, Refusal

_STATIC_SHARED: Final = 49152
_BITS: Final = {"char": 8, "signed char": 8, "short": 16, "int": 32, "int32_t": 32}
_UNSIGNED: Final = {"unsigned char": 8, "unsigned short": 16, "unsigned int": 32, "unsigned": 32, "uint32_t": 32}
_WIDE: Final = frozenset({"long", "long long", "int64_t", "ptrdiff_t"})
_WIDE_UNSIGNED: Final = frozenset({"unsigned long", "unsigned long long", "uint64_t", "size_t"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where steps are printed: what names mean, what buffers and scalars are called, the stream, names not to reuse.

    `looping` is true inside every loop: only outermost ones are recorded as graphs.
    """

    scope: Scope
    buffers: Mapping[str, str]
    scalars: Mapping[str, str]
    stream: str
    taken: frozenset[str]
    grid: str
    device_code: str
    looping: bool = False


def print_steps(out: Writer, steps: tuple[Step, ...], place: Place) -> None:
    """Print the steps in order."""
    for step in steps:
        _print(out, step, place)


def _print(out: Writer, step: Step, place: Place) -> None:
    match step:
        case Launch():
            _launch(out, step, place)
        case Repeat():
            _repeat(out, step, place)
        case RepeatWhile():
            _repeat_while(out, step, place)
        case When():
            with out.block(f"if ({expressions.condition(step.condition, place.scope)})"):
                print_steps(out, step.body, place)
        case Fill():
            _fill(out, step, place)
        case Copy():
            _copy(out, step, place)
        case Swap():
            out(f"std::swap({place.buffers[step.first]}, {place.buffers[step.second]});")
        case LibraryCall():
            message = f"the library call {step.name} has no counterpart in the emitted CUDA C++"
            raise Refusal(Reason(ReasonCode.UNSUPPORTED, message))


# --- launches ----------------------------------------------------------------------------------------------------------


def constant_shape(shape: tuple[str, str, str]) -> tuple[int, int, int] | None:
    """A grid or block whose three sizes are numbers."""
    x, y, z = (expressions.constant(text) for text in shape)
    return None if x is None or y is None or z is None else (x, y, z)


def _launch(out: Writer, node: Launch, place: Place) -> None:
    grid = constant_shape(node.grid)
    if grid and min(grid) <= 0:
        return
    _check(node, grid)
    for argument in node.args:
        _fits(out, argument, place)
    if grid:
        _enqueue(out, node, _dim3(grid), place)
        return
    out(f"CP_CHECK(cp_grid(&{place.grid}, {_shape(node.grid, place.scope)}));")
    with out.block(f"if ({place.grid}.x > 0)"):
        _enqueue(out, node, place.grid, place)


def _check(node: Launch, grid: tuple[int, int, int] | None) -> None:
    """Refuse what CUDA never allows."""
    block = constant_shape(node.block)
    bad_grid = grid and (grid[0] > 2**31 - 1 or grid[1] > 65535 or grid[2] > 65535)
    bad_block = block and (
        min(block) < 1 or max(block[0], block[1]) > 1024 or block[2] > 64 or block[0] * block[1] * block[2] > 1024
    )
    if bad_grid or bad_block:
        message = f"kernel {node.kernel} exceeds CUDA's limits: grid {node.grid}, block {node.block}"
        raise Refusal(Reason(ReasonCode.INTERNAL, message))


def _enqueue(out: Writer, node: Launch, grid: str, place: Place) -> None:
    block_shape = constant_shape(node.block)
    block = _dim3(block_shape) if block_shape else fresh("block", place.taken)
    if not block_shape:
        out(f"dim3 {block};")
        out(f"CP_CHECK(cp_block(&{block}, {_shape(node.block, place.scope)}));")
    shared = _shared(out, node, place)
    casts = signatures.array_types(place.device_code, node.kernel)
    arguments = [argument(arg, place, cast) for arg, cast in zip_longest(node.args, casts[: len(node.args)])]
    out.sequence(f"{node.kernel}<<<{grid}, {block}, {shared}, {place.stream}>>>(", arguments, ");")
    out("CP_CHECK(cudaGetLastError());")


def _shared(out: Writer, node: Launch, place: Place) -> str:
    size = expressions.constant(node.shared)
    if size is not None and size <= _STATIC_SHARED:
        return str(size)
    text = str(size) if size is not None else fresh("shared", place.taken)
    if size is None:
        out(f"const size_t {text} = cp_bytes({expressions.value(node.shared, place.scope)}, 1);")
    allow = f"CP_CHECK(cudaFuncSetAttribute({node.kernel}, cudaFuncAttributeMaxDynamicSharedMemorySize, "
    cast = text if size is not None else f"(int){text}"
    if size is None:
        with out.block(f"if ({text} > {_STATIC_SHARED})"):
            out(f"{allow}{cast}));")
    else:
        out(f"{allow}{cast}));")
    return text


def _shape(shape: tuple[str, str, str], scope: Scope) -> str:
    """Arguments of cp_grid and cp_block; trailing ones are their defaults."""
    used = max([1] + [k + 1 for k, text in enumerate(shape) if expressions.constant(text) != 1])
    return ", ".join(expressions.extent(text, scope) for text in shape[:used])


def _dim3(shape: tuple[int, int, int]) -> str:
    used = max([1] + [k + 1 for k, size in enumerate(shape) if size != 1])
    return str(shape[0]) if used == 1 else f"dim3({', '.join(map(str, shape[:used]))})"


# --- arguments ---------------------------------------------------------------------------------------------------------


def argument(arg: Arg, place: Place, array_type: str | None = None) -> str:
    """One kernel argument; `array_type` is the parameter's type where it is a pointer to arrays."""
    match arg:
        case PointerArg():
            pointer = address(arg.buffer, arg.offset, place)
            return f"({array_type}){_grouped(pointer)}" if array_type else pointer
        case ScalarArg():
            return place.scalars[arg.name]
        case IntArg():
            return _integer(arg, place.scope)


def _grouped(pointer: str) -> str:
    return f"({pointer})" if " " in pointer else pointer


def address(buffer: str, offset: str, place: Place) -> str:
    """`buffer + offset`."""
    pointer = place.buffers[buffer]
    return pointer if expressions.constant(offset) == 0 else f"{pointer} + {expressions.term(offset, place.scope)}"


def _range(kind: str) -> Interval | None:
    """What a kernel parameter type holds; None for signed 64-bit."""
    if kind in _WIDE:
        return None
    if kind in _WIDE_UNSIGNED:
        return Interval(0, 2**63 - 1)
    if kind in _UNSIGNED:
        return Interval(0, 2 ** _UNSIGNED[kind] - 1)
    bits = _BITS.get(kind, 32)
    return Interval(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _integer(arg: IntArg, scope: Scope) -> str:
    """The value, cast where it is computed in another type."""
    number = expressions.constant(arg.value)
    if number is not None and abs(number) < 2**31:
        return str(number)
    known = scope.symbols.get(arg.value.strip())
    holds = _range(arg.type)
    if (
        known is not None
        and known.bits <= 64
        and (holds is None or known.range.within(holds))
        and (known.bits < 64 or holds is None)
    ):
        return known.text
    if holds is None:
        return expressions.value(arg.value, scope)
    return f"({arg.type}){expressions.operand(arg.value, scope)}"


def _fits(out: Writer, arg: Arg, place: Place) -> None:
    """A value that the kernel's parameter type might not hold is checked before the launch."""
    if not isinstance(arg, IntArg):
        return
    holds = _range(arg.type)
    if holds is None or arg.type in _WIDE_UNSIGNED or expressions.bounds(arg.value, place.scope).within(holds):
        return
    out(f"if (!cp_fits<{arg.type}>({expressions.value(arg.value, place.scope)}))")
    out("    return cudaErrorInvalidValue;")


# --- loops -------------------------------------------------------------------------------------------------------------


def _repeat(out: Writer, node: Repeat, place: Place) -> None:
    passes = None if place.looping else replay.period(node)
    inside = dataclasses.replace(place, looping=True)
    if passes is not None:
        _replayed(out, node, passes, inside)
        return
    var = fresh(node.var, place.taken)
    begin, end = expressions.bounds(node.begin, place.scope), expressions.bounds(node.end, place.scope)
    low, high = (begin.low, end.high - 1) if node.step > 0 else (end.low + 1, begin.high)
    ranges = Interval(low, max(low, high))
    inside = dataclasses.replace(
        inside, scope=place.scope.with_symbol(node.var, Symbol(var, ranges)), taken=place.taken | {var}
    )
    start = expressions.value(node.begin, place.scope)
    limit = expressions.comparable(node.end, place.scope)
    advance = {1: f"{var}++", -1: f"{var}--"}.get(node.step, f"{var} {'+' if node.step > 0 else '-'}= {abs(node.step)}")
    with out.block(f"for (long long {var} = {start}; {var} {'<' if node.step > 0 else '>'} {limit}; {advance})"):
        print_steps(out, node.body, inside)


def _replayed(out: Writer, node: Repeat, passes: int, place: Place) -> None:
    """The passes as a lambda that `cp_repeat` runs or records."""
    name = fresh("pass", place.taken)
    queue = fresh("queue", place.taken)
    inside = dataclasses.replace(place, stream=queue, taken=place.taken | {name, queue})
    comment = "all alike but for the pointers swapped" if passes > 1 else "all alike"
    with out.block():
        out(f"/* The passes over {node.var}, {comment}. */")
        with out.block(f"const auto {name} = [&](cudaStream_t {queue}) -> cudaError_t", "};"):
            if needs_grid(node.body, looping=True):
                out(f"dim3 {place.grid};")
            print_steps(out, node.body, inside)
            out("return cudaSuccess;")
        out(f"CP_CHECK(cp_repeat({_trips(node, place.scope)}, {passes}, {place.stream}, {name}));")


def _trips(node: Repeat, scope: Scope) -> str:
    """How often the body runs (not positive: never)."""
    low, high = (node.begin, node.end) if node.step > 0 else (node.end, node.begin)
    span = high if expressions.constant(low) == 0 else f"({high}) - ({low})"
    return expressions.value(span if abs(node.step) == 1 else f"ceildiv({span}, {abs(node.step)})", scope)


def _repeat_while(out: Writer, node: RepeatWhile, place: Place) -> None:
    more, runs = fresh("more", place.taken), fresh("passes", place.taken)
    inside = dataclasses.replace(place, looping=True, taken=place.taken | {more, runs})
    with out.block():
        out(f"int {more} = 1; /* the flag that the last pass left on the device */")
        out(f"long long {runs} = 0;")
        if node.first:
            _read_flag(out, node, more, place)
        with out.block(f"while ({more} != 0)"):
            out(f"if ({runs}++ >= {expressions.comparable(node.limit, place.scope)})")
            out("    return cudaErrorLaunchTimeout;")
            print_steps(out, node.body, inside)
            _read_flag(out, node, more, inside)


def _read_flag(out: Writer, node: RepeatWhile, more: str, place: Place) -> None:
    flag = place.buffers[node.flag]
    out(f"CP_CHECK(cudaMemcpyAsync(&{more}, {flag}, sizeof({more}), cudaMemcpyDeviceToHost, {place.stream}));")
    out(f"CP_CHECK(cudaStreamSynchronize({place.stream}));")


def needs_grid(steps: tuple[Step, ...], *, looping: bool = False) -> bool:
    """Whether launches of these steps compute a grid in the enclosing function (recorded passes have a grid of their own)."""
    for step in steps:
        if isinstance(step, Launch) and constant_shape(step.grid) is None:
            return True
        if isinstance(step, Repeat) and (looping or replay.period(step) is None) and needs_grid(step.body, looping=True):
            return True
        if isinstance(step, When) and needs_grid(step.body, looping=looping):
            return True
        if isinstance(step, RepeatWhile) and needs_grid(step.body, looping=True):
            return True
    return False


# --- memory ------------------------------------------------------------------------------------------------------------


def _size(count: str, buffer: str, place: Place) -> str:
    return expressions.bytes_of(count, f"sizeof(*{place.buffers[buffer]})", place.scope)


def _fill(out: Writer, node: Fill, place: Place) -> None:
    start = address(node.buffer, node.offset, place)
    out(f"CP_CHECK(cudaMemsetAsync({start}, {node.byte}, {_size(node.count, node.buffer, place)}, {place.stream}));")


def _copy(out: Writer, node: Copy, place: Place) -> None:
    parts = [
        address(node.target, node.target_offset, place),
        address(node.source, node.source_offset, place),
        _size(node.count, node.target, place),
        "cudaMemcpyDeviceToDevice",
        place.stream,
    ]
    out.sequence("CP_CHECK(cudaMemcpyAsync(", parts, "));")
