"""What a strategy offers for one nest, and the protocol that all strategies follow.

A strategy is a module with `NAME` and `offers(nest, wanted)`: every offer that it has for the nest, best first by its own
static cost; or `NotApplicable` with the reason. With `wanted` (a parsed schedule) it gives exactly that one or says why not.
"""

from __future__ import annotations

from dataclasses import dataclass

from cudaperf.engine.plan import Step, Temporary
from cudaperf.engine.schedule import NestSchedule


@dataclass(frozen=True, slots=True)
class Offer:
    """Kernels and plan steps that compute one nest.

    `cost` is a static estimate, lower is better, comparable between offers of one nest only: seconds for a large problem on
    a nominal device. `account` is one sentence for the user about what was done.
    """

    schedule: NestSchedule
    kernels: tuple[str, ...]
    steps: tuple[Step, ...]
    account: str
    cost: float
    temporaries: tuple[Temporary, ...] = ()
    deterministic: bool = True
    architecture: int = 75
