"""Theoretical occupancy: how many warps a kernel's resources let reside on a multiprocessor, and what limits them.

The rules are those of NVIDIA's occupancy calculator. It says nothing about achieved occupancy, which only a profiler can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cudaperf.engine.toolchain.devices import MAX_THREADS_PER_BLOCK, WARP, Architecture

Limiter = Literal["warps", "blocks", "registers", "shared memory", "barriers", "does not fit"]


@dataclass(frozen=True, slots=True)
class Occupancy:
    """`fraction` of the possible resident warps (0 to 1); blocks and warps per multiprocessor; the limiting resource."""

    blocks: int
    warps: int
    fraction: float
    limiter: Limiter


def occupancy(architecture: Architecture, threads: int, registers: int, shared: int, barriers: int = 0) -> Occupancy:
    """For a block of `threads`, `registers` a thread, `shared` bytes a block (static and dynamic together) and `barriers`, the
    named ones that ptxas counts.

    A block that cannot be launched at all gives zero blocks and the limiter "does not fit".
    """
    if threads < 1 or registers < 0 or shared < 0:
        raise ValueError(f"threads {threads}, registers {registers}, shared {shared}: threads from 1, the others from 0")
    if not _fits(architecture, threads, registers, shared):
        return Occupancy(0, 0, 0.0, "does not fit")
    warps = -(-threads // WARP)
    limits: dict[Limiter, int] = {
        "warps": architecture.max_warps_per_sm // warps,
        "blocks": architecture.max_blocks_per_sm,
        "registers": _blocks_by_registers(architecture, warps, registers),
        "shared memory": _blocks_by_shared(architecture, shared),
        "barriers": architecture.barriers_per_sm // barriers if barriers else architecture.max_blocks_per_sm,
    }
    limiter = min(limits, key=lambda name: limits[name])
    resident = limits[limiter] * warps
    return Occupancy(limits[limiter], resident, resident / architecture.max_warps_per_sm, limiter)


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _fits(architecture: Architecture, threads: int, registers: int, shared: int) -> bool:
    return (
        threads <= MAX_THREADS_PER_BLOCK
        and registers <= architecture.registers_per_thread
        and registers_of_block(architecture, threads, registers) <= architecture.registers_per_block
        and shared <= architecture.shared_per_block
    )


def registers_of_block(architecture: Architecture, threads: int, registers: int) -> int:
    """What a block takes at `registers` a thread: warps and their registers come in units."""
    warps = _up(-(-threads // WARP), architecture.warp_unit)
    return warps * _registers_per_warp(architecture, registers)


def _registers_per_warp(architecture: Architecture, registers: int) -> int:
    return _up(registers * WARP, architecture.register_unit)


def _blocks_by_registers(architecture: Architecture, warps: int, registers: int) -> int:
    """Registers are handed out a warp at a time, in each of the multiprocessor's four parts separately."""
    if registers == 0:
        return architecture.max_blocks_per_sm
    part = architecture.registers_per_sm // architecture.warp_unit
    return part // _registers_per_warp(architecture, registers) * architecture.warp_unit // warps


def _blocks_by_shared(architecture: Architecture, shared: int) -> int:
    block = _up(shared + architecture.reserved_shared, architecture.shared_unit)
    return architecture.shared_per_sm // block if block else architecture.max_blocks_per_sm
