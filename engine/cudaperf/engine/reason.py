"""Why a function was not converted: a typed reason with the place in the user's file that is to blame.

Front end, loop analysis, strategies and command line all speak this one type. Inside the engine a `Refusal` is raised where
the reason is found and caught at the public door (`optimize`), which returns it as data.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ReasonCode(StrEnum):
    """The enumeration documented in docs/reasons.md; values are part of the `--json` contract."""

    DEPENDENCE = "dependence"  # an iteration needs what another iteration computes
    ALIASING = "aliasing"  # two names may be the same memory
    SIDE_EFFECT = "side_effect"  # I/O, volatile, calls whose effects are unknown
    NOT_PROFITABLE = "not_profitable"  # legal, but too little work to be worth a move
    UNSUPPORTED = "unsupported"  # a construct outside the subset
    UNBOUNDED = "unbounded"  # the extent of an array can't be derived
    BUDGET = "budget"  # analysis or verification ran out of time
    ORIGINAL_FAILS = "original_fails"  # the user's own function misbehaves (sanitizer report, hang)
    NO_LOOP = "no_loop"  # nothing to parallelise
    COMPILE = "compile"  # the file does not compile
    NOT_FOUND = "not_found"  # no such file or function
    USAGE = "usage"  # the command line (or the request) itself is wrong
    UNAVAILABLE = "unavailable"  # an asked-for device or compiler is missing
    VERIFICATION = "verification"  # every candidate failed verification
    INTERNAL = "internal"  # a fault of ours
    INTERRUPTED = "interrupted"  # a signal ended the run


@dataclass(frozen=True, slots=True)
class Reason:
    """A refusal or failure.

    `line` and `column` count from 1 in the user's file (columns in code points); None where no place is to blame.
    `end_line`/`end_column` close the range, exclusive.
    """

    code: ReasonCode
    message: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


class Refusal(Exception):
    """Carries a `Reason` from where it was found to the public door."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.message)
        self.reason = reason
