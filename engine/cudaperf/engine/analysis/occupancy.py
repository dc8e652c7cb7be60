"""CP201 low occupancy, CP202 blocks that are no whole warps, CP203 grids too small for the device, from known launches.

Registers are known only to a compiler, so the occupancy here is an upper bound, and what it says is low is low.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from cudaperf.engine.analysis import small_grid
from cudaperf.engine.analysis.block_shapes import KnownShape, Shape, block_shapes, known_block, launch_bound, possible
from cudaperf.engine.analysis.finding import Edit, Finding, Fix, Related, Severity
from cudaperf.engine.analysis.launches import Configuration, configurations, launches_of, type_sizes
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.analysis.shared_memory import SharedMemory, shared_memory
from cudaperf.engine.analysis.wording import amount, plural
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function
from cudaperf.engine.toolchain.devices import MAX_THREADS_PER_BLOCK, WARP, Architecture, nearest, reference_device
from cudaperf.engine.toolchain.occupancy import Occupancy, occupancy

LOW: Final = 0.5
VERY_LOW: Final = 0.25


def findings(model: FileModel, settings: Settings) -> list[Finding]:
    architecture = nearest(settings.architecture)
    found = [f for kernel in model.kernels for f in _low_occupancy(model, kernel, settings, architecture)]
    launches = configurations(model)
    found += [f for launch in launches if (f := _partial_warp(model, launch)) is not None]
    device = reference_device(architecture.capability)
    found += [f for launch in launches if (f := small_grid.finding(model, launch, device)) is not None]
    return found


# --- CP201 -----------------------------------------------------------------------------------------------------------------


def _low_occupancy(model: FileModel, kernel: Function, settings: Settings, architecture: Architecture) -> list[Finding]:
    found: dict[tuple[int, int], Finding] = {}
    for known in _configured(model, kernel, settings):
        types = type_sizes(model, known.launch) if known.launch is not None else {}
        memory = shared_memory(model, kernel, known.templates, types)
        bytes_ = _bytes(memory, known)
        threads = prod(known.shape)
        if bytes_ is None or _few_blocks(known, architecture):
            continue
        resident = occupancy(architecture, threads, 0, bytes_)
        if resident.blocks and resident.fraction < LOW:
            found.setdefault((threads, bytes_), _told(kernel, known, memory, bytes_, resident, architecture))
    return list(found.values())


def _configured(model: FileModel, kernel: Function, settings: Settings) -> Sequence[KnownShape]:
    """Each launch with a known block, shared memory of its own and all; without any, what comments or settings say."""
    launched = [(launch, known_block(launch)) for launch in launches_of(model, kernel)]
    shapes = [KnownShape(s, "launch", launch, launch.templates) for launch, s in launched if s is not None and possible(s)]
    return shapes or block_shapes(model, kernel, settings).known


def _bytes(memory: SharedMemory, known: KnownShape) -> int | None:
    """Static and dynamic shared memory of a block; None where either is not known."""
    given = known.launch.shared if known.launch is not None else None if memory.dynamic else 0
    return memory.static + given if memory.static is not None and given is not None else None


def _few_blocks(known: KnownShape, architecture: Architecture) -> bool:
    """A grid that gives each multiprocessor at most one block: what could reside beside it doesn't matter."""
    grid = known.launch.grid if known.launch is not None else None
    sizes = [n for n in grid if n is not None] if grid is not None else []
    return len(sizes) == 3 and prod(sizes) <= reference_device(architecture.capability).multiprocessors


def _told(
    kernel: Function, known: KnownShape, memory: SharedMemory, bytes_: int, resident: Occupancy, architecture: Architecture
) -> Finding:
    warps = -(-prod(known.shape) // WARP)
    reason = (
        f"{amount(bytes_)} of shared memory a block"
        if resident.limiter == "shared memory"
        else f"{plural(prod(known.shape), 'thread')} a block"
    )
    limit = (
        f"the {architecture.max_blocks_per_sm} blocks that a multiprocessor takes"
        if resident.limiter == "blocks"
        else "the size of the block"
        if resident.limiter == "warps"
        else resident.limiter
    )
    message = (
        f"{reason}: {plural(resident.blocks, 'block')} of {plural(warps, 'warp')} {'is' if resident.blocks == 1 else 'are'} "
        f"resident, {resident.warps} of {architecture.max_warps_per_sm} warps ({100 * resident.fraction:.0f} %) "
        f"on sm_{architecture.capability}; limited by {limit}"
    )
    place: ir.Node | None = known.launch.block_expr if known.launch is not None else None
    arrays = memory.arrays if resident.limiter == "shared memory" else ()
    related = [Related(array.start, array.end, "shared memory of each block") for array in arrays]
    if place is not None:
        related.insert(0, Related(kernel.name_start, kernel.name_end, "the kernel"))
    return Finding(
        "CP201",
        Severity.WARNING if resident.fraction < VERY_LOW else Severity.HINT,
        place.start if place is not None else kernel.name_start,
        place.end if place is not None else kernel.name_end,
        message,
        tuple(related),
        {
            "occupancy": round(resident.fraction, 4),
            "resident_warps": resident.warps,
            "max_warps": architecture.max_warps_per_sm,
            "resident_blocks": resident.blocks,
            "threads": prod(known.shape),
            "shared_bytes": bytes_,
            "limiter": resident.limiter,
            "architecture": architecture.capability,
        },
    )


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
