"""CP501: launches and runtime calls whose error a function never looks at, told once a function."""

from __future__ import annotations

from typing import Final

from cudaperf.engine.analysis.error_checks import checks, discarded
from cudaperf.engine.analysis.finding import Finding, JsonScalar, Related, Severity
from cudaperf.engine.analysis.mending.checked_calls import checking
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function

_CALLS: Final = frozenset(
    (
        "cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc", "cudaMallocPitch", "cudaMalloc3D",
        "cudaMallocArray", "cudaMallocAsync", "cudaHostRegister", "cudaMemcpy", "cudaMemcpyAsync", "cudaMemcpy2D",
        "cudaMemcpy2DAsync", "cudaMemcpy3D", "cudaMemcpyToSymbol", "cudaMemcpyFromSymbol", "cudaMemcpyToSymbolAsync",
        "cudaMemcpyFromSymbolAsync", "cudaMemcpyPeer", "cudaMemset", "cudaMemsetAsync", "cudaMemset2D", "cudaMemPrefetchAsync",
        "cudaDeviceSynchronize", "cudaThreadSynchronize", "cudaStreamSynchronize", "cudaStreamCreate",
        "cudaStreamCreateWithFlags", "cudaLaunchKernel", "cudaLaunchCooperativeKernel", "cudaFuncSetAttribute",
        "cudaSetDevice", "cudaGraphLaunch", "cudaGraphInstantiate",
    )
)  # fmt: skip
"""Calls whose failure makes what follows wrong. Frees, destroys, events and profiling are left out."""


def findings(model: FileModel, host: Function) -> list[Finding]:
    finding = _finding(model, host)
    return [finding] if finding is not None else []


def _finding(model: FileModel, function: Function) -> Finding | None:
    """Launches count where no look at errors follows, calls where there is none in the whole function."""
    looks = checks(model, function)
    nodes = [n for n in discarded(function.body) if isinstance(n, ir.Launch) or _counts(n, model)]
    last = max(looks, default=-1)
    late = [n for n in nodes if isinstance(n, ir.Launch) and last < n.start and not _looped(function, n, looks)]
    unchecked = late if looks else nodes
    if not unchecked or _checked_by_callers(model, function):
        return None
    first = unchecked[0]
    launches = sum(isinstance(n, ir.Launch) for n in unchecked)
    calls = len(unchecked) - launches
    kinds = ((launches, "launch", "launches"), (calls, "runtime call", "runtime calls"))
    counted = " and ".join(f"{n} {one if n == 1 else many}" for n, one, many in kinds if n)
    what = f"the launch of {first.kernel}" if isinstance(first, ir.Launch) else first.name
    message = f"the error of {what} is never looked at; {function.name} has {counted} without a check"
    if launches and not calls:
        message += " (cudaGetLastError after a launch says whether it started)"
    related = tuple(Related(n.start, n.end, "unchecked too") for n in unchecked[1:3])
    data: dict[str, JsonScalar] = {"function": function.name, "calls": calls, "launches": launches}
    fix = checking(model, function, unchecked)
    return Finding("CP501", Severity.WARNING, first.start, first.end, message, related, data, fix)


def _counts(call: ir.Call, model: FileModel) -> bool:
    return call.receiver is None and call.name in _CALLS and call.name not in model.macros and call.name not in model.by_name


def _looped(function: Function, launch: ir.Launch, looks: list[int]) -> bool:
    """Whether a look stands in a loop around the launch: the next pass sees the error."""
    loops = [n for n in function.nodes if isinstance(n, ir.Loop) and n.start <= launch.start < n.end]
    return any(loop.start <= look < loop.end for loop in loops for look in looks)


def _checked_by_callers(model: FileModel, function: Function) -> bool:
    """Whether every function of the file that calls this one looks at errors after the call."""
    found = False
    for caller in model.hosts_naming(function.name):
        if caller is function:
            continue
        calls = [n for n in caller.nodes if isinstance(n, ir.Call) and n.name == function.name]
        if calls:
            found = True
            last = max(checks(model, caller), default=-1)
            if last < calls[0].start:
                return False
    return found
