"""The structural features of a file's CUDA: eleven numbers that say what kind of code it is, for ranking candidates.

They count live code only: kernels that a launch of the file reaches (all of them where the file launches none), and the device
functions that those call. Adding code that nothing launches changes nothing. docs/features.md defines each number.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from cudaperf.engine.analysis.launches import configurations
from cudaperf.engine.analysis.memory_rules import grouped
from cudaperf.engine.analysis.runs import Run, Runs, runs_of
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.analysis.shared_memory import shared_memory
from cudaperf.engine.analysis.warps import WARP, requests
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function
from cudaperf.engine.toolchain.devices import nearest
from cudaperf.engine.toolchain.occupancy import occupancy

ARITHMETIC: Final = frozenset(("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"))
TRANSFERS: Final = ("cudaMemcpy", "cuMemcpy", "cudaMemset")


@dataclass(frozen=True, slots=True)
class Features:
    """See docs/features.md. Fractions are 0 to 1; `coalescing` and `occupancy` are 1 where nothing speaks against it."""

    coalescing: float
    arithmetic_intensity: float
    occupancy: float
    divergence: float
    transfers: int
    atomics: int
    barriers: int
    kernels: int
    threads_per_block: int
    global_accesses: int
    operations: int


def features(model: FileModel, settings: Settings) -> Features:
    """The numbers of one file."""
    launched = {c.kernel for c in configurations(model)} - {None}
    live = [k for k in model.kernels if k in launched] if launched else model.kernels
    runs = [runs_of(model, kernel, settings) for kernel in live]
    first = [run for r in runs if (run := r.first) is not None]
    ideal, touched, bytes_ = _sectors(first)
    functions = {f for kernel in live for f in model.reached(kernel)}
    operations = sum(_operations(f) for f in functions)
    split, branches = _splits(first)
    return Features(
        coalescing=min(1.0, ideal / touched) if touched else 1.0,
        arithmetic_intensity=operations / bytes_ if bytes_ else 0.0,
        occupancy=min((_occupancy(model, r, settings) for r in runs), default=1.0),
        divergence=split / branches if branches else 0.0,
        transfers=sum(_transfers(f) for f in model.functions if f.kind == "host"),
        atomics=sum(len(_sites(run, "atomic")) for run in first),
        barriers=sum(len({(b.start, b.end) for b in run.trace.barriers}) for run in first),
        kernels=len(live),
        threads_per_block=max((prod(r.shapes[0][0]) for r in runs if r.shapes), default=0),
        global_accesses=sum(len(_sites(run, "read", "write")) for run in first),
        operations=operations,
    )


def _sectors(runs: list[Run]) -> tuple[int, int, int]:
    """(sectors at least, sectors touched, bytes a thread asks for) over the global accesses, each once."""
    ideal = touched = bytes_ = 0
    for run in runs:
        for (_, _, _, kind), accesses in grouped(run, "global").items():
            bytes_ += accesses[0].size or 0
            cost = requests(accesses, run.trace.threads) if kind != "atomic" else None
            if cost is not None:
                ideal += max(1, cost.ideal // cost.warps)
                touched += max(1, cost.cost // cost.warps)
    return ideal, touched, bytes_


def _sites(run: Run, *kinds: str) -> set[tuple[int, int, str]]:
    return {(a.start, a.end, a.array) for a in run.trace.accesses if a.space == "global" and a.kind in kinds}


def _operations(function: Function) -> int:
    """Arithmetic operators in the text, compound assignments with them."""
    binary = sum(isinstance(n, ir.Binary) and n.op in ARITHMETIC for n in function.nodes)
    return binary + sum(isinstance(n, ir.Assign) and n.op in ARITHMETIC for n in function.nodes)


def _splits(runs: list[Run]) -> tuple[int, int]:
    """(warps that a branch splits, warps that come to one) in the first block."""
    split = seen = 0
    for run in runs:
        for one in run.trace.splits:
            for begin in range(0, run.trace.threads, WARP):
                active = int(one.active[begin : begin + WARP].sum())
                taken = int(one.taken[begin : begin + WARP].sum())
                seen += active > 0
                split += 0 < taken < active
    return split, seen


def _occupancy(model: FileModel, runs: Runs, settings: Settings) -> float:
    """The theoretical one of the first shape, registers left out."""
    if not runs.shapes:
        return 1.0
    shape, templates = runs.shapes[0]
    memory = shared_memory(model, runs.kernel, templates)
    resident = occupancy(nearest(settings.architecture), prod(shape), 0, memory.static or 0)
    return resident.fraction if resident.blocks else 0.0


def _transfers(host: Function) -> int:
    return sum(isinstance(n, ir.Call) and n.name.startswith(TRANSFERS) for n in host.nodes)
