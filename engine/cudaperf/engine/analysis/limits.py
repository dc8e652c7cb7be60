"""CP503: launches and static shared memory over what the architecture takes: they fail whenever they are reached."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from cudaperf.engine.analysis.block_shapes import known_block, launch_bound
from cudaperf.engine.analysis.constants import Dims
from cudaperf.engine.analysis.finding import Finding, JsonScalar, Related, Severity
from cudaperf.engine.analysis.launches import Configuration, launches_in
from cudaperf.engine.analysis.measured import instances, matching
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.analysis.shared_memory import shared_memory
from cudaperf.engine.analysis.wording import amount
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function
from cudaperf.engine.toolchain.devices import (
    MAX_BLOCK,
    MAX_GRID,
    MAX_THREADS_PER_BLOCK,
    STATIC_SHARED_LIMIT,
    Architecture,
    nearest,
)
from cudaperf.engine.toolchain.occupancy import registers_of_block

SETTERS: Final = frozenset(("cudaFuncSetAttribute", "cuFuncSetAttribute"))


def of_launches(model: FileModel, host: Function, settings: Settings) -> list[Finding]:
    """What the launches of a host function ask for."""
    architecture, found = nearest(settings.architecture), list[Finding]()
    for launch in launches_in(model, host):
        found += [*_block(model, launch), *_grid(launch), *_shared(model, launch, architecture)]
        found += _registers(model, launch, settings, architecture)
    return found


def of_kernel(model: FileModel, kernel: Function) -> list[Finding]:
    """Static shared memory has one limit on every architecture; ptxas refuses more."""
    memory = shared_memory(model, kernel, {})
    if memory.static is not None and memory.static > STATIC_SHARED_LIMIT and memory.arrays:
        place = memory.arrays[0]
        others = [Related(a.start, a.end, "more shared memory") for a in memory.arrays[1:]]
        message = (
            f"{kernel.name} has {amount(memory.static)} of static shared memory, over the {amount(STATIC_SHARED_LIMIT)} that a "
            "kernel may declare; more needs an extern array and cudaFuncSetAttribute"
        )
        return [_finding(place, message, "static_shared", memory.static, STATIC_SHARED_LIMIT, others)]
    return []


def _block(model: FileModel, launch: Configuration) -> Iterator[Finding]:
    if launch.block is None:
        return
    threads = prod(n for n in launch.block if n is not None)
    bound = launch_bound(model, launch.kernel) if launch.kernel is not None else None
    for axis, extent, most in _over(launch.block, MAX_BLOCK):
        message = f"the block's {axis} extent is {extent}, over the limit of {most}: the launch fails"
        yield _finding(launch.block_expr, message, f"block_{axis}", extent, most)
        return
    if threads > MAX_THREADS_PER_BLOCK and all(n is None or n >= 1 for n in launch.block):
        size, most = _spelled(launch.block), MAX_THREADS_PER_BLOCK
        message = f"a block of {size} has {threads} threads, over the limit of {most}: the launch fails"
        yield _finding(launch.block_expr, message, "block_threads", threads, MAX_THREADS_PER_BLOCK)
    elif bound is not None and threads > bound and launch.kernel is not None:
        kernel = launch.kernel
        message = f"a block of {threads} threads is over the {bound} of {kernel.name}'s __launch_bounds__: the launch fails"
        related = [Related(kernel.bounds[0].start, kernel.bounds[0].end, "the bound")]
        yield _finding(launch.block_expr, message, "launch_bounds", threads, bound, related)


def _registers(model: FileModel, launch: Configuration, settings: Settings, architecture: Architecture) -> Iterator[Finding]:
    """Known where a compiler was asked; told where every instance that the launch can mean takes too many."""
    shape = known_block(launch)
    if launch.kernel is None or shape is None or settings.measured is None or not 1 <= prod(shape) <= MAX_THREADS_PER_BLOCK:
        return
    figures = matching(instances(model, launch.kernel, settings.measured), launch.kernel, launch.templates)
    if not figures:
        return
    threads, least, most = prod(shape), min(figures, key=lambda f: f.registers), architecture.registers_per_block
    needed = registers_of_block(architecture, threads, least.registers)
    if needed > most:
        message = (
            f"a block of {threads} threads with {least.registers} registers each takes {needed:,} registers, over the {most:,} "
            f"that a block has on sm_{architecture.capability}: the launch fails; {settings.measured.words(least)}"
        )
        yield _finding(launch.block_expr, message, "registers", needed, most)


def _grid(launch: Configuration) -> Iterator[Finding]:
    for axis, extent, most in _over(launch.grid, MAX_GRID) if launch.grid is not None else ():
        message = f"the grid's {axis} extent is {extent}, over the limit of {most}: the launch fails"
        yield _finding(launch.grid_expr, message, f"grid_{axis}", extent, most)


def _over(dims: Dims, most: tuple[int, int, int]) -> Iterator[tuple[str, int, int]]:
    for axis, extent, limit in zip("xyz", dims, most, strict=True):
        if extent is not None and extent > limit:
            yield axis, extent, limit


def _shared(model: FileModel, launch: Configuration, architecture: Architecture) -> Iterator[Finding]:
    if launch.shared is None or launch.shared <= 0 or launch.shared_expr is None:
        return
    static = shared_memory(model, launch.kernel, launch.templates).static if launch.kernel is not None else None
    total = launch.shared + (static or 0)
    parts = f"{amount(launch.shared)} of dynamic and {amount(static)} of static" if static else f"{amount(total)} of dynamic"
    most = architecture.shared_per_block
    if total > most:
        message = f"{parts} shared memory a block, over the {amount(most)} of sm_{architecture.capability}: the launch fails"
        yield _finding(launch.shared_expr, message, "shared_bytes", total, most)
    elif total > STATIC_SHARED_LIMIT and not _opts_in(model):
        message = (
            f"{parts} shared memory a block: over {amount(STATIC_SHARED_LIMIT)} the launch fails unless cudaFuncSetAttribute "
            f"has raised cudaFuncAttributeMaxDynamicSharedMemorySize for {launch.name}, and nothing in this file does"
        )
        place = launch.shared_expr
        yield _finding(place, message, "dynamic_shared", total, STATIC_SHARED_LIMIT, severity=Severity.WARNING)


def _opts_in(model: FileModel) -> bool:
    names = {n.name for f in model.functions if f.kind == "host" for n in f.nodes if isinstance(n, ir.Call)}
    return any(s in names or any(s in macro.text for macro in model.macros.values()) for s in SETTERS)


def _spelled(dims: Dims) -> str:
    return " x ".join("?" if n is None else str(n) for n in dims if n != 1) or "1"


def _finding(
    place: ir.Node,
    message: str,
    limit: str,
    value: int,
    most: int,
    related: list[Related] | None = None,
    severity: Severity = Severity.ERROR,
) -> Finding:
    data: dict[str, JsonScalar] = {"limit": limit, "value": value, "most": most}
    return Finding("CP503", severity, place.start, place.end, message, tuple(related or ()), data)
