"""The last gate: what the executor says, and on a GPU what the emulation's sanitizers say too.

A device shows only races that happen to show and reads that happen to fault. So a candidate that passed there runs under
AddressSanitizer, UBSan and ThreadSanitizer on the CPU as well, on the same inputs; a fault that they find ends it. Where they
can't run it (no such compiler here, no time left), the device's verdict stands and says what was not looked for.
"""

from __future__ import annotations

from pathlib import Path

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.executors.protocol import EmittedFiles, Executor
from cudaperf.engine.verdict import CompileFailed, Infrastructure, LaunchFailed, OutOfMemory, Passed, TimedOut, Verdict
from cudaperf.engine.verify.prepare import Prepared
from cudaperf.engine.verify.verify import verify


def verify_gated(
    prepared: Prepared, candidate: Candidate, files: EmittedFiles, executor: Executor, directory: Path, deadline: float
) -> Verdict:
    """As `verify`; what a GPU passes goes through the sanitizers too, in a folder of their own."""
    verdict = verify(prepared, candidate, files, executor, directory, deadline)
    if executor.name == "emulated" or not isinstance(verdict, Passed):
        return verdict
    return sanitized(verdict, prepared, candidate, files, executor, directory / "sanitizers", deadline)


def sanitized(
    passed: Passed,
    prepared: Prepared,
    candidate: Candidate,
    files: EmittedFiles,
    executor: Executor,
    directory: Path,
    deadline: float,
) -> Verdict:
    """`passed`, the verdict of the GPU `executor`, with the sanitizers' checks added; or what they found."""
    from cudaperf.engine.executors.emulated import EmulatedExecutor

    emulated = EmulatedExecutor(architecture=getattr(executor, "architecture", None))
    found = verify(prepared, candidate, files, emulated, directory, deadline)
    match found:
        case Passed():
            return passed.model_copy(update={"checks": tuple(dict.fromkeys((*passed.checks, *found.checks)))})
        case Infrastructure() | CompileFailed() | LaunchFailed() | OutOfMemory() | TimedOut():
            return passed.model_copy(update={"unsanitized": _why(found)})
        case _:
            return found


def _why(found: Infrastructure | CompileFailed | LaunchFailed | OutOfMemory | TimedOut) -> str:
    match found:
        case Infrastructure() | LaunchFailed():
            return found.message
        case CompileFailed():
            return "it can't be built for the CPU"
        case OutOfMemory():
            return "no memory for it on the CPU"
        case TimedOut():
            return "no time for it on the CPU"
