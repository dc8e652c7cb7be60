"""What a simulated run keeps: variables, the path of tried branches, intervals between barriers, the trace that it leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from cudaperf.engine.analysis.simt.machine import Machine
from cudaperf.engine.analysis.simt.memory import Memory
from cudaperf.engine.analysis.simt.trace import Access, Barrier, Choice, Path, Split, Trace, WarpCall
from cudaperf.engine.analysis.simt.values import VARYING, Based, Flags, Pointer, Unknown, Value, loaded, varies
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function

MOST_ACCESSES: Final = 4000


class Mask:
    """`must` surely run this, `may` can; the same array where the two do not differ."""

    __slots__ = ("_may", "_must", "may", "must")

    def __init__(self, must: Flags, may: Flags) -> None:
        self.must, self.may = must, may
        self._must = self._may = -1

    def __and__(self, flags: Flags) -> Mask:
        if self.must is self.may:
            both = self.must & flags
            return Mask(both, both)
        return Mask(self.must & flags, self.may & flags)

    def __or__(self, other: Mask) -> Mask:
        if self.must is self.may and other.must is other.may:
            either = self.must | other.must
            return Mask(either, either)
        return Mask(self.must | other.must, self.may | other.may)

    @property
    def count(self) -> int:
        """How many threads can run this."""
        if self._may < 0:
            self._may = int(np.count_nonzero(self.may))
        return self._may

    @property
    def empty(self) -> bool:
        return self.count == 0

    @property
    def full(self) -> bool:
        """Whether all threads surely run this."""
        if self._must < 0:
            self._must = self.count if self.must is self.may else int(np.count_nonzero(self.must))
        return self._must == self.must.size


class OverBudget(Exception):
    """More steps than a kernel's runs may take."""


@dataclass(slots=True)
class Budget:
    """The steps that a kernel's runs may still take: counted, not timed, so that every machine finds the same."""

    steps: int


@dataclass(slots=True)
class Rounds:
    place: tuple[int, int]
    broke: list[Mask] = field(default_factory=list)
    continued: list[Mask] = field(default_factory=list)


@dataclass(slots=True)
class Frame:
    """One function's variables. `returned` holds the masks and values of its returns."""

    variables: dict[str, Value]
    returned: list[tuple[Mask, Value]] = field(default_factory=list)
    loops: list[Rounds] = field(default_factory=list)


class State:
    """One run's state. Raises `OverBudget` where the run takes too long."""

    def __init__(
        self,
        model: FileModel,
        kernel: Function,
        machine: Machine,
        templates: dict[str, int],
        budget: Budget,
    ) -> None:
        self.model, self.kernel, self.machine = model, kernel, machine
        self._budget = budget
        self.trace = Trace(machine.threads)
        self._nobody = np.zeros(machine.threads, dtype=np.bool_)
        self.memory = Memory(machine, model.types)
        self._frame = Frame({})
        self._path: Path = ()
        self._choices = 0
        self._varied = False  # whether threads could differ about the last condition
        self._interval = 0
        self._warp_interval = 0
        self._doubt = 0
        self._whole: ir.Expr | None = None  # the expression that is a statement
        self._iteration: tuple[tuple[int, int], ...] = ()
        self._site: tuple[int, int] | None = None
        self._depth = 0
        self._templates = templates
        self._everyone = Mask(machine.everyone, machine.everyone)

    def _all(self) -> Mask:
        return self._everyone

    def _step(self) -> None:
        self._budget.steps -= 1
        if self._budget.steps < 0:
            raise OverBudget

    def _range(self, node: ir.Node) -> tuple[int, int]:
        return self._site or (node.start, node.end)

    def _choice(self, node: ir.Expr, condition: Unknown) -> Choice:
        """A new choice, its first way."""
        self._choices += 1
        return Choice(self._choices, 1, condition.varying, *self._range(node), condition.data)

    def _split(self, node: ir.Expr, condition: Flags, mask: Mask) -> None:
        self.trace.splits.append(Split(*self._range(node), condition & mask.may, mask.may))

    def access(
        self, place: Pointer, node: ir.Expr, kind: str, mask: Mask, *, value: Value = VARYING, compound: bool = False
    ) -> None:
        """Note an access: `kind` is "read", "write" or "atomic"."""
        if len(self.trace.accesses) >= MOST_ACCESSES:
            self.trace.complete = False
            return
        offset, base = place.offset, 0
        known = offset if isinstance(offset, int | np.ndarray) else None
        if isinstance(offset, Based):
            known, base = offset.known, offset.base  # type: ignore[assignment]
        self.trace.accesses.append(
            Access(
                *self._range(node),
                place.space,  # type: ignore[arg-type]
                place.array,
                known,
                base,
                8 if place.type.pointers else place.type.size,
                kind,  # type: ignore[arg-type]
                mask.must,
                mask.may,
                self._path,
                self._interval,
                self._warp_interval,
                len(self.trace.accesses),
                not varies(value),
                isinstance(value, int),
                compound,
                loaded(offset),
                self._iteration,
                self._doubt,
                place.part,
            )
        )

    def barrier(self, node: ir.Node, mask: Mask, votes: bool = False) -> None:
        """The block's barrier."""
        place, order = self._range(node), len(self.trace.accesses)
        self.trace.barriers.append(Barrier(*place, mask.must, mask.may, self._path, self._interval, order, votes))
        self._interval += 1
        self._warp_interval += 1

    def doubtful(self) -> None:
        """Something that is not understood, and may be a barrier."""
        self._doubt += 1
        self.trace.complete = False

    def warp_barrier(self, node: ir.Node, name: str, mask: Mask, argument: Value | None, orders: bool) -> None:
        """A warp-level operation; `orders` where it orders memory as __syncwarp does."""
        self.trace.warp_calls.append(WarpCall(name, *self._range(node), mask.must, mask.may, self._path, argument))
        if orders:
            self._warp_interval += 1
