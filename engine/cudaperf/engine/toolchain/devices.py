"""The device table: what each compute capability offers and limits, and reference devices with their sizes.

Sources: NVIDIA's CUDA programming guide, appendix "Compute capabilities" (limits per multiprocessor and block), the toolkit's
`cuda_occupancy.h` of CUDA 13.0 (allocation units, blocks per multiprocessor, reserved shared memory), the guide's table of
arithmetic throughput (results per clock and multiprocessor), and NVIDIA's datasheets for the reference devices. Bandwidths
and clocks are datasheet figures: leads for a model, never a measurement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

KIB: Final = 1024
STATIC_SHARED_LIMIT: Final = 48 * KIB
"""Bytes of shared memory that a block may have without opting in, on every architecture here."""
MAX_THREADS_PER_BLOCK: Final = 1024
MAX_BLOCK: Final = (1024, 1024, 64)
MAX_GRID: Final = (2**31 - 1, 65535, 65535)
WARP: Final = 32


@dataclass(frozen=True, slots=True)
class Architecture:
    """Limits of one compute capability (`capability` 90 = 9.0 = sm_90). Shared memory in bytes, registers 32-bit.

    `fp64` classes the double rate: "full" (half of fp32 or better), "slow" (1/32 or 1/64). `fp32_per_clock` and
    `fp64_per_clock` count fused multiply-adds per clock and multiprocessor. `fp64_mma` says whether double tensor steps
    run on tensor cores (elsewhere they compile to slow code), `tf32` and `bf16` whether tensor cores take these types.
    """

    capability: int
    name: str
    max_threads_per_sm: int
    max_blocks_per_sm: int
    shared_per_sm: int
    shared_per_block: int
    reserved_shared: int
    shared_unit: int
    fp32_per_clock: int
    fp64_per_clock: int
    fp64: Literal["full", "slow"]
    fp64_mma: bool
    tf32: bool
    bf16: bool
    registers_per_sm: int = 65536
    registers_per_block: int = 65536
    registers_per_thread: int = 255
    register_unit: int = 256
    warp_unit: int = 4

    @property
    def barriers_per_sm(self) -> int:
        """Named barriers of a multiprocessor by `cuda_occupancy.h`, which counts them from Hopper on; before, no limit."""
        if self.capability < 90:
            return 16 * self.max_blocks_per_sm
        return (1 if self.capability >= 110 else 2) * self.max_blocks_per_sm

    @property
    def max_warps_per_sm(self) -> int:
        return self.max_threads_per_sm // WARP


def _ampere_like(capability: int, name: str, threads: int, blocks: int, shared_kib: int, fp64: int, mma: bool) -> Architecture:
    return Architecture(
        capability=capability,
        name=name,
        max_threads_per_sm=threads,
        max_blocks_per_sm=blocks,
        shared_per_sm=shared_kib * KIB,
        shared_per_block=(shared_kib - 1) * KIB,
        reserved_shared=KIB,
        shared_unit=128,
        fp32_per_clock=64 if capability == 80 else 128,
        fp64_per_clock=fp64,
        fp64="full" if fp64 >= 32 else "slow",
        fp64_mma=mma,
        tf32=True,
        bf16=True,
    )


_TURING: Final = Architecture(
    capability=75,
    name="Turing",
    max_threads_per_sm=1024,
    max_blocks_per_sm=16,
    shared_per_sm=64 * KIB,
    shared_per_block=64 * KIB,
    reserved_shared=0,
    shared_unit=256,
    fp32_per_clock=64,
    fp64_per_clock=2,
    fp64="slow",
    fp64_mma=False,
    tf32=False,
    bf16=False,
)

ARCHITECTURES: Final[dict[int, Architecture]] = {
    architecture.capability: architecture
    for architecture in (
        _TURING,
        _ampere_like(80, "Ampere", 2048, 32, 164, 32, True),
        _ampere_like(86, "Ampere", 1536, 16, 100, 2, False),
        _ampere_like(87, "Ampere (Jetson)", 1536, 16, 164, 2, False),
        _ampere_like(89, "Ada Lovelace", 1536, 24, 100, 2, False),
        _ampere_like(90, "Hopper", 2048, 32, 228, 64, True),
        _ampere_like(100, "Blackwell", 2048, 32, 228, 64, True),
        _ampere_like(103, "Blackwell Ultra", 2048, 32, 228, 2, False),
        _ampere_like(110, "Blackwell (Jetson)", 1536, 24, 228, 2, False),
        _ampere_like(120, "Blackwell (RTX)", 1536, 24, 100, 2, False),
    )
}

DEFAULT_CAPABILITY: Final = 80
"""Without a GPU: the oldest data-centre architecture with every feature class, so that figures err on the cautious side."""


class UnknownArchitecture(ValueError):
    """No such compute capability in the table; the message lists those there are."""


def architecture(capability: int) -> Architecture:
    """The table's row; raises `UnknownArchitecture`."""
    if capability not in ARCHITECTURES:
        raise UnknownArchitecture(f"unknown architecture {capability}; known: {', '.join(map(str, ARCHITECTURES))}")
    return ARCHITECTURES[capability]


def parse_architecture(text: str) -> Architecture:
    """Reads "sm_90", "compute_90", "90", "9.0" or "sm_90a"; raises `UnknownArchitecture`."""
    digits = text.strip().lower().removeprefix("sm_").removeprefix("compute_").rstrip("af").replace(".", "")
    if not digits.isdecimal():
        raise UnknownArchitecture(f"{text!r} is not an architecture: write for instance sm_90")
    return architecture(int(digits))


def nearest(capability: int) -> Architecture:
    """The newest architecture of the table that is not newer: what a device outside the table (sm_88, sm_121) is taken for."""
    below = [known for known in ARCHITECTURES if known <= capability]
    if not below:
        raise UnknownArchitecture(f"compute capability {capability} is older than {min(ARCHITECTURES)}, the oldest supported")
    return ARCHITECTURES[max(below)]


def default_architecture(capability: int | None = None) -> Architecture:
    """What to compile for: the device's own capability where there is one, else sm_80."""
    return architecture(DEFAULT_CAPABILITY) if capability is None else nearest(capability)


@dataclass(frozen=True, slots=True)
class ReferenceDevice:
    """A product to reason about when no device is at hand: bandwidth in bytes/s, L2 in bytes, boost clock in Hz."""

    name: str
    capability: int
    multiprocessors: int
    l2_bytes: int
    bandwidth: float
    clock: float

    def flops(self, bits: Literal[32, 64]) -> float:
        """Peak multiply and add operations a second outside tensor cores."""
        row = architecture(self.capability)
        return 2.0 * (row.fp32_per_clock if bits == 32 else row.fp64_per_clock) * self.multiprocessors * self.clock


_MIB: Final = 1024 * KIB
REFERENCE_DEVICES: Final = (
    ReferenceDevice("Tesla T4", 75, 40, 4 * _MIB, 320e9, 1.590e9),
    ReferenceDevice("A100 SXM 40GB", 80, 108, 40 * _MIB, 1555e9, 1.410e9),
    ReferenceDevice("GeForce RTX 3090", 86, 82, 6 * _MIB, 936e9, 1.695e9),
    ReferenceDevice("A10", 86, 72, 6 * _MIB, 600e9, 1.695e9),
    ReferenceDevice("Jetson AGX Orin 64GB", 87, 16, 4 * _MIB, 204.8e9, 1.300e9),
    ReferenceDevice("GeForce RTX 4090", 89, 128, 72 * _MIB, 1008e9, 2.520e9),
    ReferenceDevice("L4", 89, 58, 48 * _MIB, 300e9, 2.040e9),
    ReferenceDevice("H100 SXM", 90, 132, 50 * _MIB, 3350e9, 1.980e9),
    ReferenceDevice("H200 SXM", 90, 132, 60 * _MIB, 4800e9, 1.980e9),
    ReferenceDevice("B200", 100, 148, 126 * _MIB, 8000e9, 1.965e9),
    ReferenceDevice("B300", 103, 148, 126 * _MIB, 8000e9, 1.920e9),
    ReferenceDevice("Jetson Thor T5000", 110, 20, 32 * _MIB, 273e9, 1.575e9),
    ReferenceDevice("GeForce RTX 5090", 120, 170, 96 * _MIB, 1792e9, 2.407e9),
)


def reference_device(capability: int) -> ReferenceDevice:
    """The first listed product of an architecture."""
    return next(device for device in REFERENCE_DEVICES if device.capability == architecture(capability).capability)
