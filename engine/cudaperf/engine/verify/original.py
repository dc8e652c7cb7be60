"""The user's own function, compiled from its preprocessed source: under sanitizers, plainly, and for exact comparison.

`build` makes two programs around `harness.original_harness_source`: one with AddressSanitizer and UBSan (undefined integer
arithmetic and float-to-int overflow included), one plain (`-O2 -ffp-contract=off`) whose outputs are "what the function
computes". Compiler line markers stay in the text, so reports name the user's own lines.
Not promised: findings in code that the chosen inputs do not reach; uninitialised reads.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from cudaperf.engine.reason import Reason, ReasonCode
from cudaperf.engine.task import ArrayParameter, Task
from cudaperf.engine.verify import process
from cudaperf.engine.verify.data import INPUT_CHANGED_STATUS, Value, dtype
from cudaperf.engine.verify.harness import TOO_SMALL_STATUS, constants, original_harness_source, trampoline_source

RUN_SECONDS: Final = 4.0
SANITIZERS: Final = ("-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined,float-cast-overflow")
PLAIN: Final = ("-O2", "-ffp-contract=off")
_ENVIRONMENT: Final = {
    "ASAN_OPTIONS": "detect_leaks=0:exitcode=99:detect_stack_use_after_return=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=99",
}


@dataclass(frozen=True, slots=True)
class OriginalHazard:
    """What the user's function did wrong on one input; `line` in the user's file, None where no report named it."""

    kind: Literal["memory", "undefined", "timeout", "crash", "extent", "input"]
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class OriginalPrograms:
    """Executables that take INPUT OUTPUT."""

    sanitized: Path
    plain: Path


def c_compiler() -> str | None:
    """$CC, gcc, clang or cc, the first that is installed."""
    for name in filter(None, (os.environ.get("CC"), "gcc", "clang", "cc")):
        if shutil.which(name):
            return name
    return None


UNRESOLVED = ("-no-pie", "-Wl,--unresolved-symbols=ignore-all")
"""Other functions of the file may call what other files define: they are linked along, and never called."""


def no_compiler() -> Reason:
    message = "no C compiler found; install gcc (Debian and Ubuntu: apt install gcc g++)"
    return Reason(ReasonCode.UNAVAILABLE, message)


def language_options(task: Task) -> list[str]:
    """The -std option that the user's file was parsed with; a `main` in it must not be ours."""
    return [*(a for a in task.original.arguments if a.startswith("-std")), "-w", "-Dmain=cudaperf_user_main"]


def compile_program(
    task: Task, source: str, output: Path, options: tuple[str, ...], deadline: float, compiler: str
) -> process.Completed:
    """Compile `source` (the user's preprocessed C with the trampoline) with the harness beside it into `output`."""
    unit = output.with_suffix(".c")
    unit.write_text(source + trampoline_source(task), encoding="utf-8")
    object_file, harness = output.with_suffix(".o"), output.parent / "original_harness.o"
    steps: list[list[str | Path]] = []
    if not harness.exists():
        text = harness.with_suffix(".cpp")
        text.write_text(original_harness_source(task), encoding="utf-8")
        steps.append([compiler, "-w", "-O1", "-c", text, "-o", harness])
    steps.append([compiler, *language_options(task), *options, "-c", unit, "-o", object_file])
    flags = [o for o in options if o.startswith("-f")]
    steps.append([compiler, *flags, *UNRESOLVED, harness, object_file, "-o", output, "-lm"])
    done = process.Completed(0, "", "", 0.0)
    for step in steps:
        done = process.run(step, deadline - time.monotonic())
        if done.status != 0:
            break
    return done


def too_long(what: str) -> Reason:
    """The time that the whole run may take is over."""
    return Reason(ReasonCode.BUDGET, f"{what} took longer than the time allowed; --max-seconds allows more")


def build(task: Task, directory: Path, deadline: float) -> OriginalPrograms | Reason:
    """Both programs, in `directory`."""
    compiler = c_compiler()
    if compiler is None:
        return no_compiler()
    programs = OriginalPrograms(directory / "original_sanitized", directory / "original_plain")
    sanitizers = (*SANITIZERS, "-fno-sanitize-recover=all")
    for output, options in ((programs.sanitized, sanitizers), (programs.plain, PLAIN)):
        done = compile_program(task, task.original.preprocessed, output, options, deadline, compiler)
        if done.timed_out:
            return too_long("compiling the original")
        if done.status != 0:
            return _compile_reason(task, done.stderr)
    return programs


def _compile_reason(task: Task, log: str) -> Reason:
    found = re.search(re.escape(task.original.path) + r":(\d+):(?:\d+:)? error: (.*)", log)
    if found:
        return Reason(ReasonCode.COMPILE, found[2], int(found[1]))
    return Reason(ReasonCode.COMPILE, f"the original does not compile by itself: {log.strip()[:400]}")


def run_original(task: Task, program: Path, source: Path, target: Path, deadline: float) -> OriginalHazard | None:
    """Run one of the programs on one input file; None when it came back cleanly."""
    limit = min(RUN_SECONDS, deadline - time.monotonic())
    done = process.run([program, source, target], limit, _ENVIRONMENT)
    function = task.original.function
    if done.status == 0:
        return None
    if done.status is None:
        return OriginalHazard("timeout", f"{function} did not return within {limit:.0f} s")
    if done.status == INPUT_CHANGED_STATUS:
        return OriginalHazard("input", f"{function} writes an array that the analysis took for read-only")
    if done.status == TOO_SMALL_STATUS:
        return OriginalHazard("extent", "a file-scope array is smaller than the accesses to it")
    return read_report(task, done)


def program_constants(task: Task, program: Path, target: Path, deadline: float) -> dict[str, Value] | Reason:
    """The values of `const` file-scope variables, from a program built by `compile_program`."""
    wanted = constants(task)
    if not wanted:
        return {}
    done = process.run([program, "--constants", target], deadline - time.monotonic())
    if done.status != 0:
        return Reason(ReasonCode.INTERNAL, f"reading the file's constants failed: {done.stderr.strip()[:200]}")
    raw, at, found = target.read_bytes(), 0, dict[str, Value]()
    for p in wanted:
        count, kind = int.from_bytes(raw[at : at + 8], "little"), dtype(p.type)
        values = np.frombuffer(raw, kind, count, at + 8).copy()
        found[p.name] = values if isinstance(p, ArrayParameter) else values[0].item()
        at += 8 + count * kind.itemsize
    return found


_WORDS: Final = {
    "heap-buffer-overflow": "outside an array",
    "global-buffer-overflow": "outside a file-scope array",
    "stack-buffer-overflow": "outside a local array",
    "dynamic-stack-buffer-overflow": "outside a local array",
    "stack-overflow": "more stack than there is",
    "SEGV": "an invalid address",
}


def read_report(task: Task, done: process.Completed) -> OriginalHazard:
    """A sanitizer's report in one sentence, with the innermost line of the user's file."""
    name = re.escape(task.original.path)
    undefined = re.search(rf"(?:^|/){name}:(\d+)(?::\d+)?: runtime error: (.*)", done.stderr, re.MULTILINE)
    if undefined:
        return OriginalHazard("undefined", undefined[2].strip(), int(undefined[1]))
    frame = re.search(rf"#\d+ .*?(?:\s|/){name}:(\d+)", done.stderr)
    line = int(frame[1]) if frame else None
    found = re.search(r"ERROR: AddressSanitizer: ([\w-]+)", done.stderr)
    if found:
        action = re.search(r"^(READ|WRITE) of size (\d+)", done.stderr, re.MULTILINE)
        verb = {"READ": "reads", "WRITE": "writes"}[action[1]] if action else "touches"
        return OriginalHazard("memory", f"{verb} {_WORDS.get(found[1], found[1])} ({found[1]})", line)
    other = re.search(r"runtime error: (.*)", done.stderr)
    if other:
        return OriginalHazard("undefined", other[1].strip(), line)
    how = f"signal {-done.status}" if done.status is not None and done.status < 0 else f"exit status {done.status}"
    return OriginalHazard("crash", f"{task.original.function} ended with {how}: {done.stderr.strip()[-200:]}", line)
