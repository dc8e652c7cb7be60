"""What `optimize` is asked and what it answers: plain frozen data between the engine and whoever shows it.

`optimize.optimize(request, progress)` takes an `OptimizeRequest` and gives an `OptimizeResult`; a refusal or a failure is a
result too, never an exception. The engine writes no files of the user's: `outputs` holds texts, the command line (or an
editor) writes them. `exit_code` and `to_json` are the machine contract of docs/json.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from cudaperf.engine.reason import Reason, ReasonCode

if TYPE_CHECKING:
    from cudaperf.engine.evidence import Evidence, Judged
    from cudaperf.engine.verdict import ConfigurationResult, Verdict

ExecutorChoice = Literal["auto", "emulated", "gpu"]
ExecutorName = Literal["emulated", "gpu"]
JsonValue = str | int | float | bool | list["JsonValue"] | dict[str, "JsonValue"] | None

NO_TIME: Final = 0.5
"""Seconds of a run below which it had none to speak of: the deadline came before it."""

EXIT_VERIFIED: Final = 0
EXIT_USAGE: Final = 2
EXIT_REFUSED: Final = 3
EXIT_FAILED: Final = 4
EXIT_UNAVAILABLE: Final = 5
EXIT_INTERNAL: Final = 70
EXIT_INTERRUPTED: Final = 130


class Status(StrEnum):
    """`refused`: the function can't or shouldn't move; `failed`: something went wrong on the way."""

    VERIFIED = "verified"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class OptimizeRequest:
    """One function to convert. `arch` is a compute capability as two digits (90 = sm_90), None for the device's or a default.

    `sizes` fixes size parameters by name for timing; `schedule` is the text of one `Schedule`, None to try several;
    `arguments` are compiler arguments (-I, -D, ...); `max_seconds` bounds the whole run. `output_directory` and `force` are
    for whoever writes the files. At most `candidates` are tried; without `measure` nothing is timed, on the GPU or the CPU.
    """

    path: Path
    function: str
    output_directory: Path | None = None
    arch: int | None = None
    executor: ExecutorChoice = "auto"
    max_seconds: float = 120.0
    sizes: Mapping[str, int] = field(default_factory=dict)
    schedule: str | None = None
    arguments: tuple[str, ...] = ()
    force: bool = False
    candidates: int = 8
    measure: bool = True


@dataclass(frozen=True, slots=True)
class Progress:
    """One event of a run: `stage` is a short name ("read", "analyse", "verify", ...), `detail` the words beside it.

    `done` of `total` where the stage counts its steps, else None.
    """

    stage: str
    detail: str = ""
    done: int | None = None
    total: int | None = None


ProgressSink = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class CandidateSummary:
    """One candidate as shown to the user. `verdict` is a `Verdict.kind`, None where it was not run.

    `registers` and `shared_bytes` are the largest and `occupancy` (0 to 1, theoretical) the smallest over its kernels of more
    than a warp (over all where there is none), for `architecture` (90 = sm_90); `spill_bytes` the largest over all kernels.
    None where no compiler for the architecture was at hand; `seconds` is the median kernel time, None where not timed on a GPU.
    `detail` says what the verdict found ("" when it passed).
    """

    strategy: str
    schedule: str
    verdict: str | None = None
    detail: str = ""
    registers: int | None = None
    shared_bytes: int | None = None
    occupancy: float | None = None
    seconds: float | None = None
    architecture: int | None = None
    spill_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class FunctionListing:
    """One function of a file: `reason` says why it can't move, None when the quick look finds nothing against it."""

    name: str
    line: int
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class OptimizeResult:
    """The outcome of one run. `outputs` maps file names (no folder) to texts; empty unless verified.

    `evidence_name` is the file name for `evidence`. `claim` is the sentence in which the result may be told ("correct on CPU
    emulation; not run on a GPU, speed unknown"). `baselines` in seconds, at `timed_sizes`; `speedup` by baseline, None where
    not timed on a GPU.
    """

    status: Status
    reason: Reason | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)
    evidence_name: str | None = None
    evidence: Evidence | None = None
    claim: str = ""
    chosen_by: str = ""
    executor: ExecutorName | None = None
    device: str | None = None
    configurations: tuple[ConfigurationResult, ...] = ()
    checks: tuple[str, ...] = ()
    baselines: Mapping[str, float] = field(default_factory=dict)
    timed_sizes: Mapping[str, int] = field(default_factory=dict)
    speedup: Mapping[str, float | None] = field(default_factory=dict)
    candidates: tuple[CandidateSummary, ...] = ()


def failure(reason: Reason) -> OptimizeResult:
    """The result that carries only a reason: `refused` or `failed` by its code."""
    failed = reason.code in _EXITS
    return OptimizeResult(Status.FAILED if failed else Status.REFUSED, reason)


def summarise(judged: Judged) -> CandidateSummary:
    """A judged candidate in the few figures that users see."""
    from cudaperf.engine.toolchain.devices import WARP
    from cudaperf.engine.verdict import Passed

    candidate, verdict = judged.candidate, judged.verdict
    passed = verdict if isinstance(verdict, Passed) else None
    every = passed.resources if passed else ()
    resources = [r for r in every if r.threads is None or r.threads > WARP] or every
    occupancies = [r.occupancy for r in resources if r.occupancy is not None]
    return CandidateSummary(
        candidate.strategy,
        candidate.schedule,
        verdict.kind,
        describe(verdict),
        max((r.registers for r in resources), default=None),
        max((r.shared_bytes for r in resources), default=None),
        min(occupancies, default=None),
        passed.timing.median if passed and passed.timing else None,
        max((r.architecture for r in every), default=None),
        max((r.spill_bytes for r in every), default=None),
    )


def describe(verdict: Verdict) -> str:
    """One line on what a verdict found."""
    from cudaperf.engine import verdict as kinds

    match verdict:
        case kinds.Passed():
            return ""
        case kinds.Mismatch(what=what) if what:
            return what
        case kinds.Mismatch(array=array, index=index, got=got, expected=expected):
            return f"{array}[{index}] is {got:.17g} and should be {expected:.17g}"
        case kinds.TimedOut(seconds=seconds):
            return f"not done after {seconds:.3g} s" if seconds >= NO_TIME else "no time was left for it"
        case kinds.OutOfMemory():
            return "ran out of memory"
        case kinds.CompileFailed(log=log):
            return next((line.strip() for line in log.splitlines() if "error" in line), log.strip().split("\n")[0])
        case kinds.Rejected(row=row, detail=detail):
            return f"{detail} (catalogue row {row})"
        case kinds.Unparsed(message=message) | kinds.LaunchFailed(message=message) | kinds.Infrastructure(message=message):
            return message.strip().split("\n")[0]
        case kinds.Hazard(hazard=hazard, message=message, line=line):
            where = f" at line {line} of the device code" if line else ""
            return f"{hazard}{where}: {message.strip().splitlines()[0] if message.strip() else 'no words'}"


_EXITS: Final[Mapping[ReasonCode, int]] = {
    ReasonCode.COMPILE: EXIT_USAGE,
    ReasonCode.NOT_FOUND: EXIT_USAGE,
    ReasonCode.USAGE: EXIT_USAGE,
    ReasonCode.VERIFICATION: EXIT_FAILED,
    ReasonCode.UNAVAILABLE: EXIT_UNAVAILABLE,
    ReasonCode.INTERNAL: EXIT_INTERNAL,
    ReasonCode.INTERRUPTED: EXIT_INTERRUPTED,
}


def reason_exit_code(reason: Reason) -> int:
    """The exit code that a reason stands for; refused where no other is said."""
    return _EXITS.get(reason.code, EXIT_REFUSED)


def exit_code(result: OptimizeResult) -> int:
    """The process exit code of docs/json.md."""
    if result.reason is not None:
        return reason_exit_code(result.reason)
    return EXIT_VERIFIED if result.status is Status.VERIFIED else EXIT_FAILED


def reason_json(reason: Reason) -> dict[str, JsonValue]:
    """`code`, `message`, `line`, and the rest of the range for editors."""
    return {
        "code": reason.code.value,
        "message": reason.message,
        "line": reason.line,
        "column": reason.column,
        "end_line": reason.end_line,
        "end_column": reason.end_column,
    }


def to_json(result: OptimizeResult, outputs: list[str]) -> dict[str, JsonValue]:
    """The object that `--json` prints; `outputs` are the paths that were written."""
    return {
        "status": result.status.value,
        "reason": reason_json(result.reason) if result.reason else None,
        "claim": result.claim or None,
        "chosen_by": result.chosen_by or None,
        "outputs": list[JsonValue](outputs),
        "executor": result.executor,
        "device": result.device,
        "configurations": [
            {
                "sizes": dict[str, JsonValue](c.sizes),
                "distribution": c.distribution,
                "max_error": finite(c.max_error),
                "bound": finite(c.bound),
            }
            for c in result.configurations
        ],
        "checks": list[JsonValue](result.checks),
        "baselines": dict[str, JsonValue](result.baselines),
        "timed_sizes": dict[str, JsonValue](result.timed_sizes),
        "speedup": dict[str, JsonValue](result.speedup),
        "candidates": [_candidate_json(c, is_emitted(result, c)) for c in result.candidates],
    }


def is_emitted(result: OptimizeResult, candidate: CandidateSummary) -> bool:
    """Whether this candidate is the one in the output files."""
    return result.evidence is not None and result.evidence.chosen.candidate.schedule == candidate.schedule


def finite(value: float) -> float | None:
    """JSON has no infinity and no NaN: null."""
    return value if math.isfinite(value) else None


def _candidate_json(candidate: CandidateSummary, emitted: bool) -> dict[str, JsonValue]:
    return {
        "strategy": candidate.strategy,
        "schedule": candidate.schedule,
        "emitted": emitted,
        "verdict": candidate.verdict,
        "detail": candidate.detail or None,
        "registers": candidate.registers,
        "spill_bytes": candidate.spill_bytes,
        "shared_bytes": candidate.shared_bytes,
        "occupancy": candidate.occupancy,
        "architecture": f"sm_{candidate.architecture}" if candidate.architecture is not None else None,
        "seconds": candidate.seconds,
    }
