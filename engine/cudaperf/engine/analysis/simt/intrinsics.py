"""CUDA's own functions, as far as the analyses care: barriers, votes, shuffles, atomics, loads, small arithmetic."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from cudaperf.engine.analysis.simt.values import (
    UNIFORM,
    VARYING,
    Group,
    Known,
    Pointer,
    Record,
    Value,
    binary,
    is_known,
    unknown,
    varies,
    where,
)
from cudaperf.engine.cuda import ir

if TYPE_CHECKING:
    from cudaperf.engine.analysis.simt.expressions import Expressions
    from cudaperf.engine.analysis.simt.state import Mask

_BLOCK_VOTES: Final = frozenset(("__syncthreads_count", "__syncthreads_and", "__syncthreads_or"))
_LOADS: Final = frozenset(("__ldg", "__ldcg", "__ldca", "__ldcs", "__ldlu", "__ldcv", "load_nc"))
_STORES: Final = frozenset(("__stcg", "__stcs", "__stwb", "__stwt"))
_ASYNC: Final = frozenset(("__pipeline_memcpy_async", "memcpy_async"))
_VOTES: Final = ("__ballot_sync", "__any_sync", "__all_sync", "__uni_sync")
_MASKED: Final = ("__shfl", "__activemask", "__match", "__reduce", "__syncwarp", *_VOTES)
_MATH: Final = (
    "sqrt", "rsqrt", "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "pow", "sin", "cos", "tan",
    "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "fabs", "fmin", "fmax", "fma", "floor", "ceil", "round",
    "trunc", "rint", "fmod", "hypot", "erf", "erfc", "cbrt", "isnan", "isinf", "copysign", "sincos", "tgamma", "lgamma",
)  # fmt: skip
_FLOATS: Final = tuple(f"{prefix}{name}f" for prefix in ("", "__") for name in _MATH)
PURE: Final = frozenset((*_MATH, *_FLOATS, "abs", "max", "min", "clock"))
"""Functions that touch no memory of the block's."""
_WAITING: Final = re.compile(r"sync|barrier|wait|arrive|fence|reduce|scan|sort|exchange|shuffle|load|store", re.IGNORECASE)
_CALLED: Final = re.compile(r"\w*(?:sync|barrier|wait|arrive)\w*", re.IGNORECASE)
_GROUPS: Final = {"this_thread_block": "block", "this_grid": "grid", "tiled_partition": "warp", "coalesced_threads": "warp"}


def may_wait(name: str) -> bool:
    """Whether a function that is not known may hold a barrier, by its name."""
    return _WAITING.search(name) is not None


def waits(text: str) -> bool:
    """Whether a macro that is no expression may hold a barrier, by its text."""
    return any(may_wait(word) and not word.startswith(_MASKED) for word in _CALLED.findall(text))


def call(machine: Expressions, node: ir.Call, mask: Mask) -> Value | None:
    """The value of a call to one of them; None for other functions."""
    name = node.name
    if node.receiver is not None:
        return _method(machine, node, mask)
    if name in ("__syncthreads", "__barrier_sync") or name in _BLOCK_VOTES:
        for arg in node.args:
            machine.value(arg, mask)
        machine.barrier(node, mask, name in _BLOCK_VOTES)
        return UNIFORM
    if name == "sync" and len(node.args) == 1:
        return _sync(machine, node, machine.value(node.args[0], mask), mask)
    if name in _GROUPS:
        for arg in node.args:
            machine.value(arg, mask)
        return Group(_GROUPS[name])
    if name.startswith(_MASKED):
        return _warp(machine, node, mask)
    if name.startswith("atomic") and node.args:
        return _atomic(machine, node, mask)
    if name in _LOADS and node.args:
        place = machine.value(node.args[0], mask)
        if isinstance(place, Pointer):
            machine.access(place, node, "read", mask)
            return machine.memory.loaded(place)
        return VARYING
    if name in _STORES and len(node.args) == 2:
        place, value = machine.value(node.args[0], mask), machine.value(node.args[1], mask)
        if isinstance(place, Pointer):
            machine.access(place, node, "write", mask)
        return value
    if name in _ASYNC:
        machine.trace.complete = False
        for arg in node.args:
            machine.value(arg, mask)
        return UNIFORM
    return _arithmetic(machine, node, mask)


def _sync(machine: Expressions, node: ir.Call, group: Value, mask: Mask) -> Value:
    if isinstance(group, Group) and group.kind in ("block", "grid"):
        machine.barrier(node, mask)
    else:
        machine.warp_barrier(node, "sync", mask, None, True)
    return UNIFORM


def _method(machine: Expressions, node: ir.Call, mask: Mask) -> Value:
    assert node.receiver is not None
    group = machine.value(node.receiver, mask)
    values = [machine.value(arg, mask) for arg in node.args]
    if not isinstance(group, Group):
        machine.doubtful()
        return VARYING if varies(group) or any(map(varies, values)) else UNIFORM
    if node.name == "sync":
        return _sync(machine, node, group, mask)
    threads = machine.machine
    if node.name in ("thread_rank", "thread_index"):
        if group.kind == "block":
            return threads.flat if node.name == "thread_rank" else Record(dict(threads.index))
        return threads.flat % 32 if group.kind == "warp" else VARYING
    if node.name in ("size", "num_threads"):
        return threads.threads if group.kind == "block" else 32 if group.kind == "warp" else UNIFORM
    if node.name == "meta_group_rank":
        return threads.flat // 32
    if node.name in ("shfl", "shfl_down", "shfl_up", "shfl_xor", "any", "all", "ballot"):
        return VARYING
    return VARYING


def _warp(machine: Expressions, node: ir.Call, mask: Mask) -> Value:
    values = [machine.value(arg, mask) for arg in node.args]
    takes_mask = node.name.endswith("_sync") or node.name == "__syncwarp"
    argument: Value | None = values[0] if takes_mask and values else 0xFFFFFFFF if node.name == "__syncwarp" else None
    machine.warp_barrier(node, node.name, mask, argument, node.name == "__syncwarp")
    # a vote's outcome is that of the whole warp, whatever its lanes' data
    return VARYING if node.name in _VOTES else unknown(*values, varying=True)


def _atomic(machine: Expressions, node: ir.Call, mask: Mask) -> Value:
    place = machine.value(node.args[0], mask)
    for arg in node.args[1:]:
        machine.value(arg, mask)
    if isinstance(place, Pointer):
        machine.access(place, node, "atomic", mask)
    return VARYING


def _arithmetic(machine: Expressions, node: ir.Call, mask: Mask) -> Value | None:
    name = node.name
    if name in ("min", "max", "umin", "umax") and len(node.args) == 2:
        a, b = (machine.value(arg, mask) for arg in node.args)
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b) if "min" in name else max(a, b)
        if is_known(a) and is_known(b):
            smaller = np.broadcast_to(np.asarray(a) < np.asarray(b), machine.machine.everyone.shape)
            return where(smaller, a, b) if "min" in name else where(smaller, b, a)
        return unknown(a, b)
    if name in ("__mul24", "__umul24") and len(node.args) == 2:
        return binary("*", machine.value(node.args[0], mask), machine.value(node.args[1], mask))
    if name == "__brev" and len(node.args) == 1:
        value = machine.value(node.args[0], mask)
        return _reversed(value) if is_known(value) else unknown(value)
    if name == "abs" and len(node.args) == 1:
        value = machine.value(node.args[0], mask)
        if isinstance(value, int):
            return abs(value)
        return np.abs(value) if isinstance(value, np.ndarray) else unknown(value)
    if name.startswith("make_") and name[-1] in "1234":
        values = [machine.value(arg, mask) for arg in node.args]
        return Record(dict(zip("xyzw", values, strict=False)))
    if name in ("dim3", "int2", "int3", "uint2", "uint3") and node.args:
        return Record(dict(zip("xyz", [machine.value(arg, mask) for arg in node.args], strict=False)))
    if name in ("__threadfence", "__threadfence_block", "__threadfence_system", "printf", "assert", "__trap", "__nanosleep"):
        for arg in node.args:
            machine.value(arg, mask)
        return UNIFORM
    return None


def _reversed(value: Known) -> Known:
    """The 32 bits in the other order."""
    found: Known = 0
    for bit in range(32):
        found = found | ((value >> bit & 1) << (31 - bit))
    return found
