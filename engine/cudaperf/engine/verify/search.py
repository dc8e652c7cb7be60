"""Searches sizes for input configurations: within types, the user's assumptions, the analysis's requirements, the budget.

Every draw is of the counter generator, so a search gives the same sizes anywhere. Not promised: the best sizes; and the work of
a data-dependent loop is only estimated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from cudaperf.engine import size
from cudaperf.engine.task import (
    ArrayParameter,
    IndexValues,
    OffsetValues,
    PermutationValues,
    ScalarParameter,
    ScalarType,
    Task,
)
from cudaperf.engine.verify.conditions import Mender, conditions
from cudaperf.engine.verify.distributions import key, mix
from cudaperf.engine.verify.values import extent_texts

Sizes = dict[str, int]

_PATIENCE: Final = 600
_REPETITIONS: Final = 60
_COMMON: Final = 40
_SCALES: Final = tuple(int(2 ** (22 - step / 3)) + 1 for step in range(60))


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of one configuration: statement instances (`work`) and array elements; `race_work` for the race detector's."""

    work: int = 120_000
    elements: int = 400_000
    race_work: int = 6_000
    race_count: int = 3


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


class Search:
    """Looks for sizes of one task under its conditions."""

    def __init__(self, task: Task, seed: int, limits: Limits) -> None:
        self.task, self.limits = task, limits
        self.names = drawn_names(task)
        self.stream = key(seed, task.name)
        self.scalars = {p.name: p for p in task.scalars}
        self.draws = itertools.count()
        self.mentioned = frozenset().union(*(size.names(text) for p in task.arrays for text in extent_texts(p)))
        self.assumed = self._mender(task.user_assumptions)
        self.required = self._mender((*task.user_assumptions, *task.requirements))
        self.in_extents = frozenset(name for name in self.mentioned if self._stretches(name))

    def _mender(self, texts: tuple[str, ...]) -> Mender:
        counts = size.names(self.task.work)
        return Mender(conditions(texts, self.names), self._value, self._draw, self._fits, counts)

    def _stretches(self, name: str) -> bool:
        """Whether arrays grow with a size: one that an extent only asks about ("n if steps > 0 else 0") does not stretch it."""
        common = dict.fromkeys(self.names, _COMMON)
        common = self.assumed.mended(common) or common
        texts = [text for p in self.task.arrays for text in extent_texts(p)]
        try:
            return any(
                self._value(text, common) != self._value(text, {**common, name: value})
                for text in texts
                for value in (common[name] // 2, common[name] * 2)
            )
        except size.SizeError:
            return True

    # --- conditions ----------------------------------------------------------------------------------------------------

    def _estimate(self, what: str, name: str, argument: int, sizes: Sizes) -> int:
        """What at(...) and top(...) will give, before there is data."""
        if what == "bottom":
            return 0
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
        least = self.assumed.mended(dict.fromkeys(self.names, 1)) if self.names else {}
        try:
            if least is not None and self._possible(least) and (not least or self.cost(least) > self.limits.work):
                work = max(self.limits.work, self._value(self.task.work, least))
                self.limits = replace(self.limits, work=work, elements=max(1 << 26, self.limits.elements))
        except size.SizeError:
            return

    def near(self, pool: tuple[int, ...]) -> Sizes | None:
        """Sizes near the pool's, within the requirements if any choice is."""
        outside: Sizes | None = None
        for sizes in self._proposals(pool, _PATIENCE if self.names else 0):
            if self.accepts(sizes, True):
                return self.busier(sizes) if min(pool) > 0 else sizes
            mended = self.required.mended(sizes)
            if mended is not None and self.accepts(mended, True):
                return self.busier(mended) if min(pool) > 0 else mended
            if outside is None and self.accepts(sizes, False):
                outside = sizes
        if outside is not None:
            return outside
        return self.large({})

    def busier(self, sizes: Sizes) -> Sizes:
        """Where no loop runs, with a size of 0 or below raised to what another is, if that makes one run: conditions such as
        `w <= 0 or stride >= w` are easily met by having nothing to do."""
        if not self._idle(sizes):
            return sizes
        for name, to in itertools.product(sizes, sorted({*sizes.values(), 1, 2, 3}, reverse=True)):
            moved = {**sizes, name: to}
            if sizes[name] <= 0 < to and self.accepts(moved, True) and self._value(self.task.work, moved) > 0:
                return moved
        return sizes

    def tested(self, pool: tuple[int, ...]) -> Iterator[Sizes]:
        """Sizes of the pool with loops that run, for each integer that arrays depend on but do not grow with (a flag, `k` of
        `if (i != k) y[i] = 1`), at values that change which elements there are: only there is an access seen that the tests
        keep the original from."""
        base = self.near(pool)
        if base is None or not self.accepts(base, True) or self._idle(base):
            return
        seen = {self._counts(base)}
        for name in (n for n in self.names if n in self.mentioned - self.in_extents):
            others = [value for other, value in base.items() if other in self.in_extents]
            near = [value + by for value in others for by in (-1, 0, 1)]
            for value in dict.fromkeys((0, 1, *near, 2, 3, -1)):
                sizes = {**base, name: value}
                if self.accepts(sizes, True) and (counts := self._counts(sizes)) not in seen:
                    seen.add(counts)
                    yield sizes

    def _idle(self, sizes: Sizes) -> bool:
        return self._value(self.task.work, sizes) <= 0

    def _counts(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(self._count(p, sizes) for p in self.task.arrays)

    def violating(self) -> Sizes | None:
        """A small configuration outside the requirements."""
        if not self.task.requirements or not self.names:
            return None
        for sizes in self._proposals((3, 1, 7, 40, 2, 12), _PATIENCE):
            for tried in (sizes, self.assumed.mended(sizes)):
                if tried is not None and self.accepts(tried, False):
                    return tried
        return None

    def _largest(self, shape: Callable[[int, int], int], fixed: Mapping[str, int], major: str = "") -> Sizes | None:
        """Sizes of this shape at the largest scale accepted, else related ones; `major` stays as shaped."""
        found: list[Sizes] = []
        idle: Sizes | None = None  # no loop runs
        for related, scale in itertools.product((False, True), _SCALES):
            if related and idle is not None:
                return idle
            for attempt in range(60 if related else 8):
                sizes = {name: self._shaped(name, shape(at, scale), attempt) for at, name in enumerate(self.names)}
                kept = {**({major: sizes[major]} if major else {}), **fixed}
                if related and len(sizes) > 1:
                    self._relate(sizes)
                sizes.update(kept)
                if attempt < 8 and not self.accepts(sizes, True):
                    sizes = self.required.mended(sizes, kept) or sizes
                if self.accepts(sizes, True):
                    sizes = sizes if kept else self.busier(sizes)
                    if not related and (kept or self._value(self.task.work, sizes) > 0):
                        return sizes
                    if not related:
                        idle = idle or sizes
                        continue
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
