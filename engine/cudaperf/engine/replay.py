"""Repeat the verification that an evidence file records, from that file alone, here.

The emitted files are rebuilt as they were verified and judged again on the recorded configurations, against the recorded
original and its reference. The same configuration passes or not; its error may differ in the last digits where another
mathematics library is at work. Replaying compiles and runs the code in the evidence: trust it as you would a Makefile.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cudaperf.engine.reason import Reason, ReasonCode
from cudaperf.engine.result import ExecutorChoice, JsonValue, Progress, ProgressSink, Status, describe, finite, reason_json

if TYPE_CHECKING:
    from cudaperf.engine.evidence import ConfigurationSpec, Evidence
    from cudaperf.engine.executors.protocol import EmittedFiles, Executor
    from cudaperf.engine.verdict import ConfigurationResult, Verdict
    from cudaperf.engine.verify.prepare import Prepared


@dataclass(frozen=True, slots=True)
class Repeated:
    """One configuration, as recorded and as it went now; None where it did not get a result."""

    sizes: dict[str, int]
    distribution: str
    recorded: ConfigurationResult | None
    now: ConfigurationResult | None

    @property
    def same(self) -> bool:
        """Whether it passed again, as recorded."""
        return self.now is not None and self.recorded is not None


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """`status` verified where every configuration passed again; `claim` is the sentence for what was seen now."""

    status: Status
    reason: Reason | None = None
    claim: str = ""
    executor: str | None = None
    device: str | None = None
    configurations: tuple[Repeated, ...] = ()
    checks: tuple[str, ...] = ()


def load(path: Path) -> Evidence | Reason:
    """Read an evidence file."""
    from pydantic import ValidationError

    from cudaperf.engine.evidence import Evidence

    try:
        return Evidence.model_validate_json(path.read_bytes())
    except OSError as error:
        return Reason(ReasonCode.NOT_FOUND, f"{error.strerror or error}")
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return Reason(ReasonCode.USAGE, f"this is not evidence of cudaperf: {f'{place}: ' if place else ''}{first['msg']}")


def replay(evidence: Evidence, choice: ExecutorChoice, max_seconds: float, progress: ProgressSink) -> ReplayResult:
    """Verify again; never raises for what the evidence holds."""
    from cudaperf.engine.executors.choose import choose

    files = emitted_files(evidence)
    if isinstance(files, Reason):
        return ReplayResult(Status.FAILED, files)
    executor = choose(choice)
    if isinstance(executor, Reason):
        return ReplayResult(Status.FAILED, executor)
    with tempfile.TemporaryDirectory(prefix="cudaperf-replay-") as directory:
        return _again(evidence, files, executor, Path(directory), time.monotonic() + max_seconds, progress)


def emitted_files(evidence: Evidence) -> EmittedFiles | Reason:
    """The recorded .cu and .h."""
    from cudaperf.engine.executors.protocol import EmittedFiles

    names = sorted(evidence.emitted)
    cu, header = ([name for name in names if name.endswith(end)] for end in (".cu", ".h"))
    if len(cu) != 1 or len(header) != 1 or any("/" in name for name in names):
        return Reason(
            ReasonCode.USAGE, f"the evidence should hold one .cu and one .h file, not {', '.join(names) or 'nothing'}"
        )
    return EmittedFiles(cu[0], evidence.emitted[cu[0]], header[0], evidence.emitted[header[0]])


def _again(
    evidence: Evidence, files: EmittedFiles, executor: Executor, directory: Path, deadline: float, progress: ProgressSink
) -> ReplayResult:
    from cudaperf.engine.verify.gate import verify_gated
    from cudaperf.engine.verify.prepare import prepare

    progress(Progress("reference", "the original under sanitizers, and its reference in higher precision"))
    prepared = prepare(evidence.task, evidence.configurations, directory / "reference", deadline)
    if isinstance(prepared, Reason):
        return ReplayResult(Status.FAILED, prepared, executor=executor.name, device=executor.device)
    progress(Progress("verify", evidence.chosen.candidate.schedule))
    verdict = verify_gated(prepared, evidence.chosen.candidate, files, executor, directory / "candidate", deadline)
    return _result(evidence, prepared, executor, verdict)


def _result(evidence: Evidence, prepared: Prepared, executor: Executor, verdict: Verdict) -> ReplayResult:
    from cudaperf.engine.claims import unsanitized
    from cudaperf.engine.evidence import EMULATED_CLAIM
    from cudaperf.engine.verdict import Passed

    passed = verdict if isinstance(verdict, Passed) else None
    repeated = _pair(evidence, prepared, passed.configurations if passed else ())
    reason = None if passed else _reason(verdict)
    if passed and not all(each.same for each in repeated):
        reason = Reason(ReasonCode.VERIFICATION, "not every recorded configuration could be repeated here")
    claim = EMULATED_CLAIM if executor.name == "emulated" else f"correct on {executor.device}{unsanitized(passed)}"
    return ReplayResult(
        Status.FAILED if reason else Status.VERIFIED,
        reason,
        "" if reason else claim,
        executor.name,
        executor.device,
        repeated,
        passed.checks if passed else (),
    )


def _pair(evidence: Evidence, prepared: Prepared, results: tuple[ConfigurationResult, ...]) -> tuple[Repeated, ...]:
    """Recorded configurations with the results of the same inputs now."""
    from cudaperf.engine.verdict import Passed

    chosen = evidence.chosen.verdict
    recorded = {_key(c): c for c in chosen.configurations} if isinstance(chosen, Passed) else {}
    now = {_key(c): c for c in results}
    keys = [(_key(spec), spec) for spec in evidence.configurations]
    return tuple(Repeated(spec.sizes, spec.distribution, recorded.get(key), now.get(key)) for key, spec in keys)


def _key(configuration: ConfigurationResult | ConfigurationSpec) -> tuple[object, ...]:
    return tuple(sorted(configuration.sizes.items())), configuration.distribution, configuration.seed


def _reason(verdict: Verdict) -> Reason:
    from cudaperf.engine.verdict import Infrastructure, TimedOut

    words = describe(verdict)
    match verdict:
        case Infrastructure():
            return Reason(ReasonCode.INTERNAL, words)
        case TimedOut():
            return Reason(ReasonCode.BUDGET, f"{words}; --max-seconds allows more")
        case _:
            return Reason(ReasonCode.VERIFICATION, f"{verdict.kind}: {words}")


def to_json(result: ReplayResult) -> dict[str, JsonValue]:
    """The object that `cudaperf replay --json` prints."""
    return {
        "status": result.status.value,
        "reason": reason_json(result.reason) if result.reason else None,
        "claim": result.claim or None,
        "executor": result.executor,
        "device": result.device,
        "configurations": [_repeated_json(each) for each in result.configurations],
        "checks": list[JsonValue](result.checks),
    }


def _repeated_json(each: Repeated) -> JsonValue:
    return {
        "sizes": dict[str, JsonValue](each.sizes),
        "distribution": each.distribution,
        "same": each.same,
        "recorded": _figures(each.recorded),
        "now": _figures(each.now),
    }


def _figures(found: ConfigurationResult | None) -> JsonValue:
    return {"max_error": finite(found.max_error), "bound": finite(found.bound)} if found else None
