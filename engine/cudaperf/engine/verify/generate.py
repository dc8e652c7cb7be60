"""Chooses the input configurations of a task: sizes, distributions, seeds. `verify.values` makes the data of each.

Sizes come from a list of targets (0, 1, 2, small primes, around a warp, unequal and not multiples of 32, multiples of 32, one
size large, all large), each searched until the user's assumptions, the analysis's requirements and the budget for emulation
hold; where no choice within the requirements exists at a target, one outside them is taken (the emitted function must then
fall back), and one such configuration is added where a small one can be found.
Everything is drawn by the counter generator of `verify.values`, so the same call gives the same configurations anywhere.
Not promised: every target where assumptions exclude it; the work of a data-dependent loop is only estimated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from cudaperf.engine import size
from cudaperf.engine.evidence import ConfigurationSpec
from cudaperf.engine.task import (
    ArrayParameter,
    IndexValues,
    OffsetValues,
    PermutationValues,
    ScalarParameter,
    ScalarType,
    Task,
)
from cudaperf.engine.verify.values import extent_texts, inputs, key, mix, requirements_hold

__all__ = ["Limits", "configurations", "inputs", "race_indices", "requirements_hold", "timing_configuration"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of one configuration: statement instances (`work`) and array elements; `race_work` for the race detector's."""

    work: int = 120_000
    elements: int = 400_000
    race_work: int = 1_500
    race_count: int = 3


TIMING_LIMITS: Final = Limits(work=1 << 31, elements=1 << 24)

Sizes = dict[str, int]
Accept = Callable[[Sizes], bool]

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
_PATIENCE: Final = 600
_REPETITIONS: Final = 60
_SCALES: Final = tuple(int(2 ** (22 - step / 3)) + 1 for step in range(60))


def configurations(
    task: Task, seed: int, fixed_sizes: Mapping[str, int] | None = None, limits: Limits | None = None
) -> tuple[ConfigurationSpec, ...]:
    """At least eight configurations (fewer only where the assumptions leave no choice at all), the large ones last.

    `fixed_sizes` are the user's own sizes: they replace the drawn ones in the large configurations where the budget allows.
    """
    search = _Search(task, seed, limits or Limits())
    search.affordable()
    specs: list[tuple[str, Sizes]] = []
    for distribution, pool in _TARGETS:
        found = search.near(pool)
        specs += [(distribution, found)] if found is not None else []
    outside = search.violating()
    specs += [("normal", outside)] if outside is not None else []
    specs += [("structured" if at % 2 else "x100", sizes) for at, sizes in enumerate(search.skewed())]
    specs += [("normal", sizes) for sizes in _some(search.large(fixed_sizes or {}))]
    return tuple(ConfigurationSpec(sizes=s, distribution=d, seed=seed + at) for at, (d, s) in enumerate(specs))


def timing_configuration(
    task: Task, seed: int, fixed_sizes: Mapping[str, int] | None = None, limits: Limits = TIMING_LIMITS
) -> ConfigurationSpec | None:
    """One large configuration for baselines and timing; None where the assumptions leave none."""
    sizes = _Search(task, seed, limits).large(fixed_sizes or {})
    return None if sizes is None else ConfigurationSpec(sizes=sizes, distribution="unit", seed=seed)


def race_indices(task: Task, specs: Iterable[ConfigurationSpec], limits: Limits | None = None) -> tuple[int, ...]:
    """The configurations small enough for the race detector, those with most work first."""
    bounds = limits or Limits()
    search = _Search(task, 0, bounds)
    search.affordable()
    costs = [(search.cost(spec.sizes), at) for at, spec in enumerate(specs) if search.accepts(spec.sizes, True)]
    small = sorted((c for c in costs if 0 < c[0] <= bounds.race_work), key=lambda c: (-c[0], c[1]))
    if not small:
        small = sorted(c for c in costs if c[0] > 0)[:1]
    return tuple(at for _, at in small[: bounds.race_count])


def _some(sizes: Sizes | None) -> list[Sizes]:
    return [] if sizes is None else [sizes]


def drawn_names(task: Task) -> list[str]:
    """Every integer that configurations choose: sizes, free extents, and other integers that conditions mention."""
    texts = [*task.requirements, *task.user_assumptions, task.work]
    texts += [text for p in task.arrays for text in extent_texts(p)]
    texts += [text for p in task.arrays if isinstance(p.values, IndexValues) for text in (p.values.low, p.values.high)]
    texts += [p.values.total for p in task.arrays if isinstance(p.values, OffsetValues)]
    mentioned = frozenset().union(*(size.names(text) for text in texts))
    names = [p.name for p in task.scalars if _is_integer(p) and (p.role == "size" or p.name in mentioned)]
    return names + sorted({p.free_extent for p in task.arrays if p.free_extent} - set(names))


def _is_integer(p: ScalarParameter) -> bool:
    return isinstance(p.type, ScalarType) and p.type.number == "int"


class _Search:
    """Looks for sizes of one task under its conditions."""

    def __init__(self, task: Task, seed: int, limits: Limits) -> None:
        self.task, self.limits = task, limits
        self.names = drawn_names(task)
        self.stream = key(seed, task.name)
        self.scalars = {p.name: p for p in task.scalars}
        self.draws = itertools.count()
        self.in_extents = frozenset().union(*(size.names(text) for p in task.arrays for text in extent_texts(p)))

    # --- conditions ----------------------------------------------------------------------------------------------------

    def _estimate(self, what: str, name: str, argument: int, sizes: Sizes) -> int:
        """What at(...) and top(...) will give, before there is data."""
        rule = self.task.array(name).values
        if isinstance(rule, OffsetValues):
            return self._value(rule.total, sizes)
        if isinstance(rule, IndexValues):
            return self._value(rule.high, sizes)
        return argument if isinstance(rule, PermutationValues) else 100

    def _value(self, text: str, sizes: Sizes) -> int:
        return size.evaluate(text, sizes, lambda what, name, at: self._estimate(what, name, at, sizes))

    def cost(self, sizes: Sizes) -> int:
        """Statement instances, or array elements where these are more or the work is unknown."""
        return max(self._value(self.task.work, sizes), self._elements(sizes))

    def _elements(self, sizes: Sizes) -> int:
        return sum(self._count(p, sizes) for p in self.task.arrays)

    def _count(self, p: ArrayParameter, sizes: Sizes) -> int:
        return math.prod(max(0, self._value(text, sizes)) for text in extent_texts(p))

    def _possible(self, sizes: Sizes) -> bool:
        """Types, known ranges, values that rules can give, the user's assumptions."""
        return (
            all(self._fits(name, value) for name, value in sizes.items())
            and all(self._fillable(p, sizes) for p in self.task.arrays)
            and all(self._value(text, sizes) for text in self.task.user_assumptions)
        )

    def _fits(self, name: str, value: int) -> bool:
        p = self.scalars.get(name)
        if p is None or not isinstance(p.type, ScalarType):
            return value >= 0
        least = -(1 << (p.type.bits - 1)) if p.type.signed else 0
        most = (1 << (p.type.bits - p.type.signed)) - 1
        low, high = (p.low if p.low is not None else least), (p.high if p.high is not None else most)
        return max(least, low) <= value <= min(most, high)

    def _fillable(self, p: ArrayParameter, sizes: Sizes) -> bool:
        if isinstance(p.values, IndexValues) and self._count(p, sizes) > 0:
            return self._value(p.values.low, sizes) < self._value(p.values.high, sizes)
        if isinstance(p.values, OffsetValues):
            total = self._value(p.values.total, sizes)
            return total == 0 or (total > 0 and self._count(p, sizes) > 1)
        return True

    def _required(self, sizes: Sizes) -> bool:
        return all(self._value(text, sizes) for text in self.task.requirements)

    def accepts(self, sizes: Sizes, required: bool | None) -> bool:
        """`required`: whether requirements must hold, must not, or None for either. Undefined arithmetic is a no."""
        try:
            if not self._possible(sizes):
                return False
            if self._elements(sizes) > self.limits.elements or self._value(self.task.work, sizes) > self.limits.work:
                return False
        except size.SizeError:
            return False
        try:
            holds = self._required(sizes)
        except size.SizeError:
            holds = False
        return required is None or holds == required

    # --- searches ------------------------------------------------------------------------------------------------------

    def _draw(self, choices: int) -> int:
        return mix(self.stream + next(self.draws)) % choices

    def _proposals(self, pool: tuple[int, ...], tries: int) -> Iterator[Sizes]:
        """First each name its own entry of the pool; then drawn ones; then some that copy or stretch another's value."""
        yield {name: pool[at % len(pool)] for at, name in enumerate(self.names)}
        for attempt in range(tries):
            sizes = {name: pool[self._draw(len(pool))] for name in self.names}
            if attempt > tries // 8 and len(self.names) > 1:
                self._relate(sizes)
            if attempt > tries // 2:
                sizes = {name: max(0, value + self._draw(9) - 2) for name, value in sizes.items()}
                self._relate(sizes)
            yield sizes

    def _relate(self, sizes: Sizes) -> None:
        for _ in range(1 + self._draw(len(sizes))):
            name, other = (self.names[self._draw(len(self.names))] for _ in range(2))
            value = sizes[other]
            sizes[name] = (value, value, value + 1, value + 3, 2 * value, value // 2, value * value, max(0, value - 1))[
                self._draw(8)
            ]

    def affordable(self) -> None:
        """Raise the budget for a function whose sizes are the program's own, if even its smallest run is over it."""
        if not self.names:
            self.limits = replace(self.limits, work=max(self.limits.work, self.cost({})), elements=1 << 26)

    def near(self, pool: tuple[int, ...]) -> Sizes | None:
        """Sizes near the pool's, within the requirements if any choice is."""
        outside: Sizes | None = None
        for sizes in self._proposals(pool, _PATIENCE if self.names else 0):
            if self.accepts(sizes, True):
                return sizes
            if outside is None and self.accepts(sizes, False):
                outside = sizes
        if outside is not None:
            return outside
        return self.large({})

    def violating(self) -> Sizes | None:
        """A small configuration outside the requirements."""
        if not self.task.requirements or not self.names:
            return None
        return next((s for s in self._proposals((3, 1, 7, 40, 2, 12), _PATIENCE) if self.accepts(s, False)), None)

    def _largest(self, shape: Callable[[int, int], int], fixed: Mapping[str, int], major: str = "") -> Sizes | None:
        """Sizes of this shape at the largest scale accepted, else related ones; `major` stays as shaped."""
        found: list[Sizes] = []
        for related, scale in itertools.product((False, True), _SCALES):
            for attempt in range(60 if related else 8):
                sizes = {name: self._shaped(name, shape(at, scale), attempt) for at, name in enumerate(self.names)}
                kept = {**({major: sizes[major]} if major else {}), **fixed}
                if related and len(sizes) > 1:
                    self._relate(sizes)
                sizes.update(kept)
                if self.accepts(sizes, True):
                    if not related:
                        return sizes
                    found.append(sizes)
                if not attempt and self._hopeless(sizes):
                    break
        return max(found, key=lambda s: (s.get(major, 0), sorted(s.values())), default=None)

    def _shaped(self, name: str, value: int, attempt: int) -> int:
        """A size that is in no extent counts repetitions: it stays small, each is a launch and amplifies rounding."""
        return min(value if name in self.in_extents else _REPETITIONS, value) + (self._draw(5) if attempt else 0)

    def _hopeless(self, sizes: Sizes) -> bool:
        """So far over the budget that related sizes are too."""
        try:
            return self.cost(sizes) > 64 * max(self.limits.work, self.limits.elements)
        except size.SizeError:
            return False

    def large(self, fixed_sizes: Mapping[str, int]) -> Sizes | None:
        """All sizes large, unequal, as far as the budget goes; the user's own sizes where they fit in it."""
        factors = (1.0, 0.77, 1.31, 0.59, 0.91)
        fixed = {name: value for name, value in fixed_sizes.items() if name in self.names}
        for given in (fixed, {}) if fixed else ({},):
            found = self._largest(lambda at, scale: max(1, int(scale * factors[at % 5])), given)
            if found is not None:
                return found
        return None

    def skewed(self) -> Iterator[Sizes]:
        """One size large and the others small, for at most two of the sizes."""
        if len(self.names) < 2:
            return
        for major, name in [(at, name) for at, name in enumerate(self.names) if name in self.in_extents][:2]:
            found = self._largest(lambda at, scale, m=major: scale if at == m else 3 + 2 * at, {}, name)  # type: ignore[misc]
            if found is not None:
                yield found
