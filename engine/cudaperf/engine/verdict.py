"""`Verdict`: what became of a candidate, a tagged union; never a sentinel, never a string to parse."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class _Verdict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Unparsed(_Verdict):
    """Model-written text that the plan parser could not read; byte range in that text."""

    kind: Literal["unparsed"] = "unparsed"
    start: int
    end: int
    message: str


class CompileFailed(_Verdict):
    kind: Literal["compile_failed"] = "compile_failed"
    log: str


class LaunchFailed(_Verdict):
    """The plan broke CUDA's limits or the runtime refused a launch or an API call."""

    kind: Literal["launch_failed"] = "launch_failed"
    kernel: str | None = None
    message: str


class TimedOut(_Verdict):
    kind: Literal["timed_out"] = "timed_out"
    seconds: float
    configuration: int | None = None


class OutOfMemory(_Verdict):
    kind: Literal["out_of_memory"] = "out_of_memory"
    bytes: int | None = None


class Mismatch(_Verdict):
    """An output differs. `index` is the flat element; `error` and `bound` absolute. `what` says in words."""

    kind: Literal["mismatch"] = "mismatch"
    configuration: int
    array: str
    index: int
    got: float
    expected: float
    error: float
    bound: float
    what: str = ""


class Hazard(_Verdict):
    """A sanitizer's or the scheduler's report. `line` counts in the candidate's device code (None if unknown)."""

    kind: Literal["hazard"] = "hazard"
    hazard: Literal["memory", "race", "barrier", "undefined", "initialization"]
    configuration: int | None = None
    line: int | None = None
    other_line: int | None = None
    message: str


class Rejected(_Verdict):
    """A known exploit; `row` is its number in the catalogue."""

    kind: Literal["rejected"] = "rejected"
    row: int
    detail: str


class Infrastructure(_Verdict):
    """Ours, never the candidate's fault."""

    kind: Literal["infrastructure"] = "infrastructure"
    message: str


class KernelResources(_Verdict):
    """ptxas's figures for one kernel; bytes; occupancy is theoretical, 0 to 1, with its limiter.

    `threads` a block, where all launches have the same constant number.
    """

    kernel: str
    architecture: int
    registers: int
    shared_bytes: int
    spill_bytes: int
    occupancy: float | None = None
    limiter: str | None = None
    threads: int | None = None


class Timing(_Verdict):
    """Seconds. `samples` are kernel times (whole plan on the device); `end_to_end` go through the emitted host function."""

    device: str
    median: float
    low: float
    high: float
    samples: tuple[float, ...] = ()
    end_to_end: float | None = None


class ConfigurationResult(_Verdict):
    """One verified input configuration; errors are absolute, for the element with the largest error/bound."""

    sizes: dict[str, int]
    distribution: str
    seed: int
    max_error: float
    bound: float


class Passed(_Verdict):
    """Right on every configuration. `unsanitized` says why the sanitizers, which a device has not, did not run it."""

    kind: Literal["passed"] = "passed"
    configurations: tuple[ConfigurationResult, ...]
    checks: tuple[str, ...]
    timing: Timing | None = None
    resources: tuple[KernelResources, ...] = ()
    unsanitized: str | None = None


Verdict = Annotated[
    Unparsed | CompileFailed | LaunchFailed | TimedOut | OutOfMemory | Mismatch | Hazard | Rejected | Infrastructure | Passed,
    Field(discriminator="kind"),
]
VERDICT: TypeAdapter[Verdict] = TypeAdapter(Verdict)
