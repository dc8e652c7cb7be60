"""CP201 low occupancy, CP202 blocks that are no whole warps, CP203 grids too small for the device, from known launches.

Registers are known only to a compiler. Where none was asked (`Settings.measured`) the occupancy here is an upper bound, and
what it says is low is low.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from cudaperf.engine.analysis import small_grid
from cudaperf.engine.analysis.block_shapes import KnownShape, Shape, block_shapes, known_block, launch_bound, possible
from cudaperf.engine.analysis.finding import Edit, Finding, Fix, JsonScalar, Related, Severity
from cudaperf.engine.analysis.launches import Configuration, launches_in, launches_of, type_sizes
from cudaperf.engine.analysis.measured import Figures, instances, matching, worst_of
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.analysis.shared_memory import SharedMemory, shared_memory
from cudaperf.engine.analysis.wording import amount, plural
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function
from cudaperf.engine.toolchain.devices import MAX_THREADS_PER_BLOCK, WARP, Architecture, nearest, reference_device
from cudaperf.engine.toolchain.occupancy import Occupancy, occupancy

LOW: Final = 0.5
VERY_LOW: Final = 0.25


def findings(model: FileModel, function: Function, settings: Settings) -> list[Finding]:
    architecture = nearest(settings.architecture)
    if function.kind == "kernel":
        return _low_occupancy(model, function, settings, architecture)
    if function.kind == "device":
        return []
    launches, device = launches_in(model, function), reference_device(architecture.capability)
    found = [f for launch in launches if (f := _partial_warp(model, launch)) is not None]
    return found + [f for launch in launches if (f := small_grid.finding(model, launch, device)) is not None]


# --- CP201 -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Resident:
    """What resides of a kernel's blocks of one shape. `figures` are those of a compiler, the worst of `instances`."""

    occupancy: Occupancy
    threads: int
    shared: int
    memory: SharedMemory
    figures: Figures | None = None
    instances: tuple[Figures, ...] = ()


def _low_occupancy(model: FileModel, kernel: Function, settings: Settings, architecture: Architecture) -> list[Finding]:
    found: dict[tuple[int, int, int], Finding] = {}
    figures = instances(model, kernel, settings.measured)
    for known in _shapes(model, kernel, settings, bool(figures)):
        resident = _resident(model, kernel, known, matching(figures, kernel, known.templates), architecture)
        if resident is None or _few_blocks(known, architecture):
            continue
        if resident.occupancy.blocks and resident.occupancy.fraction < LOW:
            registers = resident.figures.registers if resident.figures is not None else 0
            key = (resident.threads, resident.shared, registers)
            found.setdefault(key, _told(kernel, known, resident, settings, architecture))
    return list(found.values())


def _shapes(model: FileModel, kernel: Function, settings: Settings, measured: bool) -> Sequence[KnownShape]:
    """Each launch with a known block, shared memory of its own and all; without any, what comments or settings say; of a
    measured kernel else its launch bound, for which its registers were chosen."""
    launched = [(launch, known_block(launch)) for launch in launches_of(model, kernel)]
    shapes = [KnownShape(s, "launch", launch, launch.templates) for launch, s in launched if s is not None and possible(s)]
    shapes = shapes or list(block_shapes(model, kernel, settings).known)
    bound = launch_bound(model, kernel) if measured and not shapes else None
    return (KnownShape((bound, 1, 1), "bound"),) if bound is not None else shapes


def _resident(
    model: FileModel, kernel: Function, known: KnownShape, figures: tuple[Figures, ...], architecture: Architecture
) -> _Resident | None:
    """None where the shared memory of a block is not known."""
    types = type_sizes(model, known.launch) if known.launch is not None else {}
    memory = shared_memory(model, kernel, known.templates, types)
    dynamic = known.launch.shared if known.launch is not None else None if memory.dynamic else 0
    threads = prod(known.shape)
    if dynamic is None or dynamic < 0:
        return None
    if figures:
        each = ((occupancy(architecture, threads, f.registers, f.shared_bytes + dynamic, f.barriers), f) for f in figures)
        worst, of = min(each, key=lambda pair: pair[0].fraction)
        return _Resident(worst, threads, of.shared_bytes + dynamic, memory, of, figures)
    if memory.static is None:
        return None
    bytes_ = memory.static + dynamic
    return _Resident(occupancy(architecture, threads, 0, bytes_), threads, bytes_, memory)


def _few_blocks(known: KnownShape, architecture: Architecture) -> bool:
    """A grid that gives each multiprocessor at most one block: what could reside beside it doesn't matter."""
    grid = known.launch.grid if known.launch is not None else None
    sizes = [n for n in grid if n is not None] if grid is not None else []
    return len(sizes) == 3 and prod(sizes) <= reference_device(architecture.capability).multiprocessors


def _told(kernel: Function, known: KnownShape, resident: _Resident, settings: Settings, architecture: Architecture) -> Finding:
    found = resident.occupancy
    warps = -(-resident.threads // WARP)
    message = (
        f"{_reason(known, resident)}: {plural(found.blocks, 'block')} of {plural(warps, 'warp')} "
        f"{'is' if found.blocks == 1 else 'are'} resident, {found.warps} of {architecture.max_warps_per_sm} warps "
        f"({100 * found.fraction:.0f} %) on sm_{architecture.capability}; limited by {_limit(found, architecture)}; "
        f"{_source(resident, settings)}"
    )
    place: ir.Node | None = known.launch.block_expr if known.launch is not None else None
    arrays = resident.memory.arrays if found.limiter == "shared memory" else ()
    related = [Related(array.start, array.end, "shared memory of each block") for array in arrays]
    if place is not None:
        related.insert(0, Related(kernel.name_start, kernel.name_end, "the kernel"))
    return Finding(
        "CP201",
        Severity.WARNING if found.fraction < VERY_LOW else Severity.HINT,
        place.start if place is not None else kernel.name_start,
        place.end if place is not None else kernel.name_end,
        message,
        tuple(related),
        _data(resident, settings, architecture),
    )


def _reason(known: KnownShape, resident: _Resident) -> str:
    """What a block takes of that which limits it."""
    threads = f"{plural(resident.threads, 'thread')} a block{', its launch bound,' if known.origin == 'bound' else ''}"
    if resident.occupancy.limiter == "shared memory":
        return f"{amount(resident.shared)} of shared memory a block"
    if resident.figures is not None and resident.occupancy.limiter == "registers":
        return f"{threads} with {resident.figures.registers} registers each"
    if resident.figures is not None and resident.occupancy.limiter == "barriers":
        return f"{plural(resident.figures.barriers, 'named barrier')} a block"
    return threads.removesuffix(",")


def _limit(found: Occupancy, architecture: Architecture) -> str:
    if found.limiter == "blocks":
        return f"the {architecture.max_blocks_per_sm} blocks that a multiprocessor takes"
    return "the size of the block" if found.limiter == "warps" else found.limiter


def _source(resident: _Resident, settings: Settings) -> str:
    """Where the figures are from."""
    if resident.figures is None or settings.measured is None:
        return "an estimate that leaves out registers"
    return settings.measured.words(resident.figures) + worst_of(resident.instances)


def _data(resident: _Resident, settings: Settings, architecture: Architecture) -> dict[str, JsonScalar]:
    found, figures = resident.occupancy, resident.figures
    return {
        "occupancy": round(found.fraction, 4),
        "resident_warps": found.warps,
        "max_warps": architecture.max_warps_per_sm,
        "resident_blocks": found.blocks,
        "threads": resident.threads,
        "registers": figures.registers if figures is not None else None,
        "shared_bytes": resident.shared,
        "spill_bytes": figures.spill_bytes if figures is not None else None,
        "limiter": found.limiter,
        "architecture": architecture.capability,
        "measured": figures is not None,
        "compiler": settings.measured.compiler if figures is not None and settings.measured is not None else None,
    }


# --- CP202 -----------------------------------------------------------------------------------------------------------------


def _partial_warp(model: FileModel, launch: Configuration) -> Finding | None:
    shape = known_block(launch)
    if shape is None or prod(shape) % WARP == 0 or prod(shape) > MAX_THREADS_PER_BLOCK or min(shape) < 1 or _one_block(launch):
        return None
    threads = prod(shape)
    whole = -(-threads // WARP) * WARP
    message = (
        f"a block of {plural(threads, 'thread')} takes {plural(whole // WARP, 'warp')} of 32 lanes: "
        f"{whole - threads} of the {whole} lanes never work"
    )
    block = launch.block_expr
    return Finding(
        "CP202",
        Severity.WARNING,
        block.start,
        block.end,
        message,
        data={"threads": threads, "warps": whole // WARP, "idle_lanes": whole - threads},
        fix=_rounded(model, launch, shape, whole),
    )


def _one_block(launch: Configuration) -> bool:
    return launch.grid == (1, 1, 1)


def _rounded(model: FileModel, launch: Configuration, shape: Shape, whole: int) -> Fix | None:
    """The next whole number of warps, where the launch itself holds the number. Not safe: the kernel may count on the size."""
    block = launch.block_expr
    bound = (launch_bound(model, launch.kernel) if launch.kernel is not None else None) or MAX_THREADS_PER_BLOCK
    if not isinstance(block, ir.Number) or not isinstance(block.value, int) or whole > bound or shape[1:] != (1, 1):
        return None
    return Fix(f"Use {whole} threads a block", (Edit(block.start, block.end, str(whole)),))
