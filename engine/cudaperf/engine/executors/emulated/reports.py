"""From what a run left behind (exit status, runtime log, sanitizer reports) to a typed verdict.

Sanitizers speak of lines in the emitted `.cu`; verdicts speak of lines in the candidate's device code, which stands in that
file verbatim. A report without a frame there (host code, or the prepended `cp_*` functions alone) has no line.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

from cudaperf.engine.executors.emulated.process import Finished
from cudaperf.engine.executors.fallback import fell_back
from cudaperf.engine.verdict import (
    Hazard,
    Infrastructure,
    LaunchFailed,
    OutOfMemory,
    Rejected,
    TimedOut,
)

Failure = Hazard | Infrastructure | LaunchFailed | OutOfMemory | Rejected | TimedOut
FELL_BACK, INPUT_CHANGED = 17, 18  # the harness's statuses, see verify.harness
_ADDRESS = re.compile(r"ERROR: (?:Address|Thread)Sanitizer:? ([\w-]+)([^\n]*)")
_RUNTIME_ERROR = re.compile(r"([^\s:]+):(\d+):\d+: runtime error: ([^\n]*)")
_MEMORY_WORDS = ("misaligned", "null pointer", "out of bounds", "insufficient space")
_RACE = re.compile(r"WARNING: ThreadSanitizer: data race[^\n]*\n(.*?)\n==================", re.DOTALL)
_ACCESS = re.compile(r"(?:atomic )?(read|write) of size (\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DeviceLines:
    """Where the device code stands in the emitted file: `before` lines precede it, it has `count` lines (0: not found)."""

    cu_name: str
    before: int
    count: int

    @classmethod
    def locate(cls, cu_name: str, cu: str, device_code: str) -> DeviceLines:
        text = device_code.strip("\n")
        at = cu.find(text) if text else -1
        if at < 0:
            return cls(cu_name, 0, 0)
        skipped = len(device_code) - len(device_code.lstrip("\n"))
        return cls(cu_name, cu.count("\n", 0, at) - skipped, len(device_code.splitlines()))

    def device(self, cu_line: int) -> int | None:
        line = cu_line - self.before
        return line if 1 <= line <= self.count else None

    def first(self, report: str) -> int | None:
        """The device line of the innermost stack frame that has one."""
        return next((line for cu_line in self.cu_lines(report) if (line := self.device(cu_line))), None)

    def cu_lines(self, report: str) -> list[int]:
        """The lines of the emitted file in the report's frames, innermost first."""
        return [int(n) for n in re.findall(rf"(?m)^\s+#\d+ .*?{re.escape(self.cu_name)}:(\d+)", report)]


def judge(finished: Finished, lines: DeviceLines, configuration: int, limit: float) -> Failure | None:
    """None for a run that came back without a complaint."""
    if finished.timed_out:
        return TimedOut(seconds=limit, configuration=configuration)
    if finished.sanitizer_failed_to_start:
        return Infrastructure(message=f"a sanitizer does not start on this machine: {sanitizer_fix()}")
    verdict = _from_events(finished, lines, configuration) or _from_report(finished, lines, configuration)
    return verdict or _from_status(finished, configuration)


def sanitizer_fix() -> str:
    return "its memory layout collides with address randomisation; `sudo sysctl vm.mmap_rnd_bits=28` makes room"


# --- the runtime's own log -----------------------------------------------------------------------------------------------


def _from_events(finished: Finished, lines: DeviceLines, configuration: int) -> Failure | None:
    reported = _ADDRESS.search(finished.stderr) or _RUNTIME_ERROR.search(finished.stderr)
    for event in finished.events:
        match event:
            case ("hazard", kind, line, other, message):
                return _own_hazard(finished, lines, configuration, (kind, int(line), int(other), message))
            case ("infrastructure", message):
                return Infrastructure(message=message)
            case ("error", "2", _, _, message):
                asked = re.match(r"(\d+) bytes", message)
                return OutOfMemory(bytes=int(asked[1]) if asked else None)
            case ("error", _, name, kernel, message):
                return LaunchFailed(kernel=kernel or None, message=f"{name}: {message}")
            case ("changed", size) if finished.status == 0 and not reported and not fell_back(finished.stderr):
                return _changed_input(configuration, f" (a device buffer of {size} bytes)")
            case ("leak", count, size) if finished.status == 0 and not reported:
                return Hazard(
                    hazard="memory",
                    configuration=configuration,
                    message=f"{count} device buffers with {size} bytes are never freed",
                )
    return None


def _changed_input(configuration: int, where: str = "") -> Rejected:
    detail = f"configuration {configuration}: the call changed an array that the original only reads{where}"
    return Rejected(row=11, detail=detail)


def _own_hazard(
    finished: Finished, lines: DeviceLines, configuration: int, event: tuple[str, int, int, str]
) -> Hazard | Infrastructure:
    kind, line, other, message = event
    if kind not in ("memory", "race", "barrier", "undefined", "initialization"):
        return Infrastructure(message=f"unknown hazard {kind}: {message}")
    stacks = re.split(r"CUDAPERF-STACK \w+\n", finished.stderr)
    first = stacks[1] if len(stacks) > 1 else ""
    second = stacks[2] if len(stacks) > 2 else ""
    return Hazard.model_validate(
        {
            "hazard": kind,
            "configuration": configuration,
            "line": lines.device(line) or lines.first(first),
            "other_line": lines.device(other) or lines.first(second),
            "message": message,
        }
    )


# --- sanitizer reports ---------------------------------------------------------------------------------------------------


def _from_report(finished: Finished, lines: DeviceLines, configuration: int) -> Failure | None:
    text = finished.stderr
    if "hard rss limit exhausted" in text:
        return OutOfMemory()
    if match := _RUNTIME_ERROR.search(text):
        return _undefined(match, text, lines, configuration)
    if match := _ADDRESS.search(text):
        return _address(match, finished, lines, configuration)
    if match := _RACE.search(text):
        return _race(match[1], lines, configuration)
    return None


def _undefined(match: re.Match[str], text: str, lines: DeviceLines, configuration: int) -> Hazard:
    message = match[3]
    own = lines.device(int(match[2])) if match[1].endswith(lines.cu_name) else None
    return Hazard(
        hazard="memory" if any(word in message for word in _MEMORY_WORDS) else "undefined",
        configuration=configuration,
        line=own or lines.first(text[match.end() :]),
        message=message,
    )


def _address(match: re.Match[str], finished: Finished, lines: DeviceLines, configuration: int) -> Failure:
    kind = match[1]
    if kind in ("out-of-memory", "allocation-size-too-big", "calloc-overflow", "requested"):
        return OutOfMemory()
    report = finished.stderr[match.end() :]
    stack = re.split(r"\n\s*\n", report, maxsplit=1)[0]
    line = lines.first(stack)
    if kind in ("ABRT", "FPE", "ILL", "TRAP"):
        what = {"ABRT": "the program aborts", "FPE": "an arithmetic exception, such as a division by zero"}
        message = what.get(kind, "the program traps (an unreachable point or a false assumption)")
        return Hazard(hazard="undefined", configuration=configuration, line=line, message=message)
    return Hazard(
        hazard="memory", configuration=configuration, line=line, message=_access_message(kind, finished, lines, stack)
    )


def _access_message(kind: str, finished: Finished, lines: DeviceLines, stack: str) -> str:
    if kind == "stack-overflow":
        return "stack overflow: a thread's local memory is limited to 512 KiB"
    for event in finished.events:
        if event[0] == "access" and len(event) == 5:
            _, access, size, what, where = event
            place = where
            if where == "host code":
                at = lines.cu_lines(stack)
                place = f"host code{f', {lines.cu_name} line {at[0]}' if at else ''}"
            if size == "0":  # a signal: the address is far from everything
                return f"access to an address that is no buffer's ({kind}) in {place}"
            return f"{access} of {size} bytes{f', {what}' if what else ''} ({kind}) in {place}"
    return kind


def _race(report: str, lines: DeviceLines, configuration: int) -> Hazard:
    accesses = re.split(r"(?m)^  (?=Previous)", report)
    first, second = accesses[0], re.split(r"\n\s*\n", accesses[1])[0] if len(accesses) > 1 else ""
    first = re.split(r"\n\s*\n", first)[0]
    space = "device" if "Location is heap block" in report else "shared"
    words = [f"{m[1].lower()} of {m[2]} bytes" if (m := _ACCESS.search(part)) else "access" for part in (first, second)]
    line, other = lines.first(first), lines.first(second)
    return Hazard(
        hazard="race",
        configuration=configuration,
        line=line,
        other_line=other,
        message=f"data race in {space} memory: {words[0]} and {words[1]} by two threads with nothing that orders them",
    )


# --- nothing but an exit status --------------------------------------------------------------------------------------------


def _from_status(finished: Finished, configuration: int) -> Failure | None:
    status = finished.status
    if status in (0, FELL_BACK):  # a fall back without a CUDA error is right where requirements fail: `verify` judges it
        return None
    if status == INPUT_CHANGED:
        return _changed_input(configuration)
    if status == -signal.SIGKILL:
        return Infrastructure(message="the test program was killed from outside, perhaps because the machine ran out of memory")
    if status < 0:
        name = signal.Signals(-status).name
        return Hazard(hazard="memory", configuration=configuration, message=f"the program died of {name} without a report")
    return Infrastructure(message=f"the test program ended with status {status}: {finished.stderr.strip()[-1000:]}")
