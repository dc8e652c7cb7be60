"""Device buffers between canaries: every byte that a kernel should not write is looked at after the plan.

Each buffer has `PAD` canary bytes on both sides, so a write outside it (within `PAD`) is found although nothing crashed. Reads
outside are not: those are the emulated executor's and compute-sanitizer's to find.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cudaperf.engine.executors.gpu.backend import Backend, DeviceError

PAD: Final = 4096
CANARY: Final = 0x3C
"""As a float or double a small number (0.01, 1e-18), so that adding to it or multiplying it shows; a NaN or a huge one would
swallow what is added."""
POISON: Final = 0xFF
"""Every byte of memory nothing has written yet: a NaN as float or double, -1 as an integer."""
OTHER_POISON: Final = 0x7B
"""Other bytes for a rerun, which should make no difference: a huge number, a large integer."""


@dataclass(frozen=True, slots=True)
class Region:
    """One allocation: `address` is the first data byte, between two pads; `size` in bytes, `item` bytes an element."""

    name: str
    address: int
    size: int
    item: int

    @property
    def count(self) -> int:
        return self.size // self.item


class Buffers:
    """The named buffers of one run. `swap` exchanges what names refer to; regions keep the names they were made under."""

    def __init__(self, backend: Backend, poison: int = POISON) -> None:
        self._backend = backend
        self._poison = poison
        self._regions: dict[str, Region] = {}
        self._names: dict[str, Region] = {}

    def add(self, name: str, count: int, item: int, data: bytes | memoryview | None = None) -> Region:
        """Allocate, set canaries, upload `data` or poison; raises `DeviceError` ("out of memory" with the size)."""
        size = count * item
        base = self._allocate(size + 2 * PAD)
        region = Region(name, base + PAD, size, item)
        self._backend.fill(base, CANARY, PAD)
        self._backend.fill(base + PAD + size, CANARY, PAD)
        if data is not None:
            self._backend.upload(region.address, data)
        elif size:
            self._backend.fill(region.address, self._poison, size)
        self._regions[name] = self._names[name] = region
        return region

    def _allocate(self, size: int) -> int:
        try:
            return self._backend.allocate(size)
        except DeviceError as error:
            if error.kind == "out of memory":
                error.args = (f"{error}: {size} bytes asked for",)
            raise

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> Region:
        """What a name refers to now."""
        return self._names[name]

    def original(self, name: str) -> Region:
        """What a name referred to before any swap."""
        return self._regions[name]

    def swap(self, first: str, second: str) -> None:
        self._names[first], self._names[second] = self._names[second], self._names[first]

    def unswap(self) -> None:
        """Names refer to their own regions again, for another run over the same buffers."""
        self._names = dict(self._regions)

    def names(self) -> dict[str, Region]:
        """What each name refers to now."""
        return dict(self._names)

    def rename(self, names: dict[str, Region]) -> None:
        """Make names refer to what `names()` said at another time."""
        self._names = dict(names)

    def restore(self, name: str, source: Region) -> None:
        """Overwrite a buffer's own region with the bytes of another region of the same size."""
        region = self._regions[name]
        if region.size:
            self._backend.copy(region.address, source.address, region.size)

    def read(self, region: Region) -> bytes:
        return self._backend.download(region.address, region.size)

    def broken_canaries(self) -> list[str]:
        """In words, each buffer beside which something was written."""
        found = []
        for region in self._regions.values():
            before = self._backend.download(region.address - PAD, PAD)
            after = self._backend.download(region.address + region.size, PAD)
            if offset := _last_changed(before):
                found.append(f"{region.name}: written {PAD - offset + 1} bytes before its start")
            if offset := _first_changed(after):
                found.append(f"{region.name}: written {offset - 1} bytes past its end")
        return found

    def free(self) -> None:
        for region in self._regions.values():
            self._backend.free(region.address - PAD)
        self._regions.clear()
        self._names.clear()


def _first_changed(pad: bytes) -> int:
    """1 + the index of the first byte that is not the canary, 0 if none."""
    return next((i + 1 for i, byte in enumerate(pad) if byte != CANARY), 0) if pad.strip(bytes([CANARY])) else 0


def _last_changed(pad: bytes) -> int:
    return len(pad.rstrip(bytes([CANARY])))
