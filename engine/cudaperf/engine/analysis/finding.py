"""`Finding`: one problem at a place in a file, with its evidence; and the registry of rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

JsonScalar = str | int | float | bool | None
Data = dict[str, JsonScalar]


class Severity(StrEnum):
    """`ERROR` and `WARNING` set the exit status; `HINT` never does."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that takes part; byte offsets."""

    start: int
    end: int
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes from `start` to `end` by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A mechanical change. `safe` where it can't change what the program computes."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool = False


Fixing = Literal["safe", "all"]
"""Which fixes are applied."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`start` and `end` are byte offsets; `data` holds the evidence as numbers and words, documented on the rule's page."""

    code: str
    severity: Severity
    start: int
    end: int
    message: str
    related: tuple[Related, ...] = ()
    data: Mapping[str, JsonScalar] = field(default_factory=dict)
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """`name` is what a linter calls it ("uncoalesced-access"), `summary` one sentence."""

    code: str
    name: str
    severity: Severity
    summary: str


_W, _H, _E = Severity.WARNING, Severity.HINT, Severity.ERROR

RULES: dict[str, Rule] = {
    rule.code: rule
    for rule in (
        Rule("CP101", "uncoalesced-access", _W, "Neighbouring threads touch global memory far apart."),
        Rule("CP102", "bank-conflict", _W, "Threads of a warp touch different words of one shared-memory bank."),
        Rule("CP103", "vectorizable-access", _H, "A thread's neighbouring elements could move in one wider access."),
        Rule("CP104", "repeated-load", _H, "A loop loads one global address again and again."),
        Rule("CP105", "missing-restrict", _H, "A pointer that is only read lacks const or __restrict__."),
        Rule("CP201", "low-occupancy", _W, "Few warps can be resident, by block size, shared memory or launch bounds."),
        Rule("CP202", "partial-warp", _W, "The block size is no multiple of the warp's 32 threads."),
        Rule("CP203", "small-grid", _W, "The grid has fewer blocks than the device has multiprocessors."),
        Rule("CP204", "dynamic-local-index", _W, "A local array is indexed at run time, so it lives in local memory."),
        Rule("CP301", "divergent-barrier", _E, "Not all threads of a block reach a barrier."),
        Rule("CP302", "shared-race", _E, "Threads write and read one shared element with no barrier between."),
        Rule("CP303", "warp-race", _W, "Lanes of a warp rely on each other's order without __syncwarp, or with a wrong mask."),
        Rule("CP304", "useless-barrier", _H, "A barrier orders no accesses of different threads."),
        Rule("CP305", "conflicting-writes", _E, "Several threads write one address without an atomic."),
        Rule("CP306", "return-before-barrier", _W, "Threads return before a barrier that others wait at."),
        Rule("CP401", "accidental-double", _W, "double arithmetic by accident in float code."),
        Rule("CP402", "divergent-branch", _H, "A branch on the lane index splits warps."),
        Rule("CP403", "low-intensity", _H, "Few operations for each byte of global memory."),
        Rule("CP404", "runtime-division", _H, "Integer division or modulo by a run-time value in an inner loop."),
        Rule("CP501", "unchecked-call", _W, "The error of a launch or runtime call is never looked at."),
        Rule("CP502", "synchronous-in-loop", _W, "A synchronous copy or an allocation inside a loop."),
        Rule("CP503", "launch-over-limits", _E, "A launch configuration over the architecture's limits."),
    )
}
