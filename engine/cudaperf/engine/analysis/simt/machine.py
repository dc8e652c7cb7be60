"""The threads that are simulated, and the numbers that parameters stand for."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from cudaperf.engine.analysis.simt.values import Flags, Known, Numbers

Shape = tuple[int, int, int]
GRID: Final = {"x": 10_007, "y": 10_009, "z": 61}
"""gridDim where sizes are large."""
FEWEST: Final = 50
"""Samples below this stand for counts of bits."""
_BOUND: Final = 1_000_003
_PRIMES: Final = (100_003, 200_017, 300_007, 400_009, 500_009, 600_011, 700_001, 800_011, 900_001, 1_000_003)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How integer parameters are chosen: "large" and odd or "aligned" to 1024, beyond everything that the simulated threads
    reach, bounds far beyond factors; or "tight" and "small": some threads of the second or the first block are outside. The
    first parameters are the largest there, as sizes stand before what is part of them. `rows`: by the block's y."""

    kind: str = "large"
    rows: bool = False

    def parameter(self, number: int, shape: Shape, factor: bool) -> int:
        """The parameter of this number; `factor` where something is multiplied by it."""
        scale = 1 if factor else _BOUND
        if self.kind == "large":
            return scale * (_PRIMES[number % len(_PRIMES)] + 2 * (number // len(_PRIMES)))
        if self.kind == "aligned":
            return scale * 1024 * (97 + 12 * number)
        widest = max(shape[1] if self.rows else shape[0], 4)
        size = widest + widest // 2 + (5 if widest > 8 else 0) if self.kind == "tight" else widest - widest // 4 - 1
        return max(size // (1 + number), 3)

    def bits(self, number: int) -> int:
        """The parameter of this number where something is shifted by it."""
        return (8 if self.kind == "aligned" else 3) + number % 3


class Machine:
    """The threads of one block: `index[axis]` holds threadIdx of each, `block` is blockIdx."""

    def __init__(self, shape: Shape, sampling: Sampling, block: Shape = (0, 0, 0)) -> None:
        self.shape, self.sampling = shape, sampling
        self.block: dict[str, int] = dict(zip("xyz", block, strict=True))
        self.threads = prod(shape)
        self.flat: Numbers = np.arange(self.threads, dtype=np.int64)
        parts = (self.flat % shape[0], self.flat // shape[0] % shape[1], self.flat // (shape[0] * shape[1]))
        self.index: dict[str, Known] = {axis: 0 if shape[i] == 1 else parts[i] for i, axis in enumerate("xyz")}
        self.everyone: Flags = np.ones(self.threads, dtype=np.bool_)

    def grid(self, axis: str) -> int:
        """gridDim: more blocks than are simulated."""
        return GRID[axis] if self.sampling.kind in ("large", "aligned") else 2
