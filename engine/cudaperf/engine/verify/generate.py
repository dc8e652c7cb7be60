"""Chooses the input configurations of a task: sizes, distributions, seeds. `verify.values` makes the data of each.

Sizes come from a list of targets (0, 1, 2, small primes, around a warp, unequal and not multiples of 32, multiples of 32, one
size large, all large; values of tested integers for which arrays differ in length), each searched until the user's
assumptions, the analysis's requirements and the budget for emulation hold; where no choice within the requirements exists at a
target, one outside them is taken (the emitted function must then fall back), and one such configuration is added where a small
one can be found.
Everything is drawn by the counter generator of `verify.values`, so the same call gives the same configurations anywhere.
Not promised: every target where assumptions exclude it; the work of a data-dependent loop is only estimated.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from cudaperf.engine import size
from cudaperf.engine.evidence import ConfigurationSpec
from cudaperf.engine.task import Task
from cudaperf.engine.verify.search import Limits, Search, Sizes
from cudaperf.engine.verify.values import inputs, requirements_hold

__all__ = ["Limits", "configurations", "idle", "inputs", "race_indices", "requirements_hold", "smaller", "timing_configuration"]


TIMING_LIMITS: Final = Limits(work=1 << 31, elements=1 << 24)

_TARGETS: Final[tuple[tuple[str, tuple[int, ...]], ...]] = (
    ("normal", (61, 67, 45, 97, 53)),
    ("normal", (0,)),
    ("ties", (1,)),
    ("normal", (2,)),
    ("negated", (5, 7, 3, 11, 13)),
    ("x100", (31, 33, 37, 29)),
    ("ties", (129, 100, 71, 47)),
    ("structured", (64, 32, 128, 96)),
    ("x0.01", (1, 2, 0)),
    ("wide", (19, 23, 41, 17)),
)
_SMALL: Final = 16
_TESTED: Final = (48, 64, 32, 80, 96)
_TESTS: Final = 6
"""Configurations at most in which integers that are only tested switch parts of the function on and off: of sizes that what is
done in groups divides, so that a group too many shows."""


def idle(task: Task, spec: ConfigurationSpec) -> bool:
    """Whether no statement of a loop runs on this configuration, as far as its sizes say."""
    try:
        return size.evaluate(task.work, spec.sizes) <= 0
    except size.SizeError:
        return False


def configurations(
    task: Task, seed: int, fixed_sizes: Mapping[str, int] | None = None, limits: Limits | None = None
) -> tuple[ConfigurationSpec, ...]:
    """At least eight configurations (fewer only where the assumptions leave no choice at all), the large ones last.

    `fixed_sizes` are the user's own sizes: they replace the drawn ones in the large configurations where the budget allows.
    """
    search = Search(task, seed, limits or Limits())
    search.affordable()
    specs: list[tuple[str, Sizes]] = []
    for distribution, pool in _TARGETS:
        found = search.near(pool)
        specs += [(distribution, found)] if found is not None else []
    specs += [("positive", sizes) for sizes in itertools.islice(search.tested(_TESTED), _TESTS)]
    outside = search.violating()
    specs += [("normal", outside)] if outside is not None else []
    specs += [("structured", sizes) for sizes in _some(_crowded(task, seed, search.limits))]
    specs += [("structured" if at % 2 else "x100", sizes) for at, sizes in enumerate(search.skewed())]
    specs += [("normal", sizes) for sizes in _some(search.large(fixed_sizes or {}))]
    return tuple(ConfigurationSpec(sizes=s, distribution=d, seed=seed + at) for at, (d, s) in enumerate(specs))


def timing_configuration(
    task: Task, seed: int, fixed_sizes: Mapping[str, int] | None = None, limits: Limits = TIMING_LIMITS
) -> ConfigurationSpec | None:
    """One large configuration for baselines and timing; None where the assumptions leave none."""
    sizes = Search(task, seed, limits).large(fixed_sizes or {})
    return None if sizes is None else ConfigurationSpec(sizes=sizes, distribution="unit", seed=seed)


def smaller(task: Task, spec: ConfigurationSpec) -> ConfigurationSpec | None:
    """The same configuration with its large sizes halved, where the conditions allow that."""
    search = Search(task, spec.seed, replace(Limits(), work=1 << 62, elements=1 << 62))
    halved = {name: value // 2 if value > _SMALL else value for name, value in spec.sizes.items()}
    for sizes in (halved, *({**spec.sizes, name: halved[name]} for name in halved)):
        if sizes != spec.sizes and search.accepts(sizes, True):
            return spec.model_copy(update={"sizes": sizes})
    return None


def race_indices(task: Task, specs: Iterable[ConfigurationSpec], limits: Limits | None = None) -> tuple[int, ...]:
    """The configurations small enough for the race detector, those with most work first."""
    bounds = limits or Limits()
    search = Search(task, 0, bounds)
    search.affordable()
    costs = [(search.cost(spec.sizes), at) for at, spec in enumerate(specs) if search.accepts(spec.sizes, True)]
    small = sorted((c for c in costs if 0 < c[0] <= bounds.race_work), key=lambda c: (-c[0], c[1]))
    if not small:
        small = sorted(c for c in costs if c[0] > 0)[:1]
    return tuple(at for _, at in small[: bounds.race_count])


def _crowded(task: Task, seed: int, limits: Limits) -> Sizes | None:
    """As large as the race detector takes, and repeated twice: several blocks, so that races between blocks can show."""
    bound = limits.race_work
    search = Search(task, seed, replace(limits, work=min(limits.work, bound), elements=min(limits.elements, bound)))
    repeated = {} if not search.in_extents else {name: 2 for name in search.names if name not in search.in_extents}
    return search.large(repeated)


def _some(sizes: Sizes | None) -> list[Sizes]:
    return [] if sizes is None else [sizes]
