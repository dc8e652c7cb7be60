"""What a simulated run leaves behind: accesses, barriers and returns, each with the threads that took part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from cudaperf.engine.analysis.simt.values import Flags, Known, Value


@dataclass(frozen=True, slots=True)
class Choice:
    """A branch that was taken on trial, because its condition, at `start` to `end`, is not known. `way`: which one, 1 or 0, or
    the number of the case. `varying`: threads may differ about it; `data`: they do, as the data does."""

    id: int
    way: int
    varying: bool
    start: int = 0
    end: int = 0
    data: bool = False


Path = tuple[Choice, ...]


@dataclass(slots=True, eq=False)
class Access:
    """`offset` and `base` in bytes from the array's start (None: not known); `size` None where the type is not known.

    `must` are the threads that surely do it, `may` those that can. `interval` counts the block's barriers before it,
    `warp_interval` also __syncwarp, `doubt` what may be a barrier, as it is not understood. `uniform` says that all threads
    of a block write the same value, `constant` that all do. `part` is (offset, size of the whole) of a vector's member.
    """

    start: int
    end: int
    space: Literal["global", "shared", "local"]
    array: str
    offset: Known | None
    base: Known
    size: int | None
    kind: Literal["read", "write", "atomic"]
    must: Flags
    may: Flags
    path: Path
    interval: int
    warp_interval: int
    order: int
    uniform: bool = False
    constant: bool = False
    compound: bool = False
    from_data: bool = False
    iteration: tuple[tuple[int, int], ...] = ()
    doubt: int = 0
    part: tuple[int, int] | None = None

    @property
    def writes(self) -> bool:
        return self.kind != "read"

    @property
    def name(self) -> str:
        """The array as the text has it, also in a function that was entered."""
        return self.array.partition("@")[0]


@dataclass(slots=True, eq=False)
class Barrier:
    """A barrier of the block, reached by `may` at most and `must` at least; `votes` where it also yields a value.
    `order` counts the accesses before it, as everywhere."""

    start: int
    end: int
    must: Flags
    may: Flags
    path: Path
    interval: int
    order: int
    votes: bool = False


@dataclass(slots=True, eq=False)
class Exit:
    """A return from the kernel."""

    start: int
    end: int
    must: Flags
    may: Flags
    path: Path
    order: int


@dataclass(slots=True, eq=False)
class Leaving:
    """A break or continue out of the rest of a loop at `loop`."""

    path: Path
    order: int
    loop: tuple[int, int]


@dataclass(slots=True, eq=False)
class WarpCall:
    """A warp-level operation and its mask argument (None where it is not known)."""

    name: str
    start: int
    end: int
    must: Flags
    may: Flags
    path: Path
    mask: Value | None


@dataclass(slots=True, eq=False)
class Split:
    """A branch whose condition is known and differs between lanes of one warp."""

    start: int
    end: int
    taken: Flags
    active: Flags


@dataclass(eq=False)
class Trace:
    """One block of `threads` threads.

    `complete` is False where something that matters was not understood. `diverges`: a test that can differ between threads
    stands before a barrier, return or warp operation, whatever it says on these samples. `samples` are the numbers that
    parameters stood for; `loops` the loops' starts and ends, `cut` the starts of those without barriers that were left after a
    few rounds; `thread_axes` and `block_axes` the axes of threadIdx and blockIdx that were looked at.
    """

    threads: int
    accesses: list[Access] = field(default_factory=list)
    barriers: list[Barrier] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    leavings: list[Leaving] = field(default_factory=list)
    warp_calls: list[WarpCall] = field(default_factory=list)
    splits: list[Split] = field(default_factory=list)
    samples: dict[str, int] = field(default_factory=dict)
    complete: bool = True
    diverges: bool = False
    cut: set[int] = field(default_factory=set)
    loops: dict[int, int] = field(default_factory=dict)
    thread_axes: set[str] = field(default_factory=set)
    block_axes: set[str] = field(default_factory=set)
