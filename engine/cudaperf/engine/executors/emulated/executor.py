"""`EmulatedExecutor`: a candidate's emitted files on the CPU, with CUDA's semantics, under sanitizers.

Every input runs under AddressSanitizer and UBSan; the inputs named for races run under ThreadSanitizer in two orders; then
all run again with other bytes in unwritten memory and the threads in another order, where a deterministic candidate must give
the same bytes. The first complaint, by input, becomes the verdict. Correctness only: nothing here says how fast a GPU would be.

Not promised: races between streams and host code (work is deferred until something waits for it, so a missing wait shows as
wrong output instead), fences between blocks beyond "fence, then atomic", and races between threads of blocks that are far
apart (see runtime/scheduler.cpp).
"""

from __future__ import annotations

import filecmp
import os
import shutil
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Literal

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.executors.emulated.build import (
    NO_COMPILER,
    Build,
    BuildError,
    Prepared,
    Program,
    Sanitizer,
    find_compiler,
    prepare,
    start_build,
)
from cudaperf.engine.executors.emulated.process import Finished, Limits, Setting, run
from cudaperf.engine.executors.emulated.reports import DeviceLines, Failure, judge
from cudaperf.engine.executors.fallback import note_fallback
from cudaperf.engine.executors.protocol import Job, Outputs
from cudaperf.engine.toolchain.devices import Architecture, default_architecture, nearest
from cudaperf.engine.verdict import CompileFailed, Hazard, Infrastructure, KernelResources, TimedOut, Timing, Verdict

_OTHER_POISON = 0x7B
_SECOND_RUN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a program: on which input, as what (the files' name), how the device behaves."""

    program: Program
    configuration: int
    name: str
    setting: Setting


class EmulatedExecutor:
    """See `executors.protocol.Executor`. `workers` programs run side by side."""

    name: Literal["emulated", "gpu"] = "emulated"

    def __init__(
        self, limits: Limits | None = None, architecture: Architecture | None = None, workers: int | None = None
    ) -> None:
        self._architecture = architecture or default_architecture()
        self._workers = workers or min(4, os.cpu_count() or 1)
        self._limits = limits or Limits.for_machine(workers=self._workers)

    @property
    def device(self) -> str | None:
        return None

    def run(self, job: Job, directory: Path, deadline: float) -> Outputs | Verdict:
        compiler = find_compiler()
        if compiler is None:
            return Infrastructure(message=NO_COMPILER)
        directory.mkdir(parents=True, exist_ok=True)
        try:
            prepared = prepare(compiler)
        except (BuildError, OSError) as error:
            return Infrastructure(message=str(error))
        return _Session(self, prepared, job, directory.resolve(), deadline).run()

    def time(self, job: Job, directory: Path, configuration: int, deadline: float) -> Timing | None:
        return None

    def resources(self, candidate: Candidate) -> tuple[KernelResources, ...]:
        """For the architecture that the head of the files names."""
        from cudaperf.engine.toolchain import compile

        return compile.resources(candidate, nearest(candidate.architecture))

    @property
    def limits(self) -> Limits:
        return self._limits

    @property
    def workers(self) -> int:
        return self._workers

    @property
    def setting(self) -> Setting:
        return Setting(architecture=self._architecture.capability, shared_optin=self._architecture.shared_per_block)


class _Session:
    """One `run`: the builds, then the passes over the inputs."""

    def __init__(self, executor: EmulatedExecutor, prepared: Prepared, job: Job, directory: Path, deadline: float) -> None:
        self._executor = executor
        self._prepared = prepared
        self._job = job
        self._directory = directory
        self._deadline = deadline
        self._stop = Event()
        self._seconds: dict[int, float] = {}
        self._lines = DeviceLines.locate(job.files.cu_name, job.files.cu, job.candidate.device_code)

    def run(self) -> Outputs | Verdict:
        sanitizers: tuple[Sanitizer, ...] = ("address", "thread") if self._job.race_inputs else ("address",)
        folder = self._directory / "build"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        build = start_build(self._prepared, self._job, folder, sanitizers)
        if isinstance(build, CompileFailed):
            return build
        try:
            with ThreadPoolExecutor(self._executor.workers) as pool:
                return self._passes(build, pool)
        finally:
            build.stop()

    def _passes(self, build: Build, pool: ThreadPoolExecutor) -> Outputs | Verdict:
        address = build.program("address", self._deadline)
        if not isinstance(address, Program):
            return address
        every = range(len(self._job.inputs))
        runs = [Run(address, i, f"output{i}", self._executor.setting) for i in every]
        if failure := self._first_failure(runs, pool):
            return failure
        checks: tuple[str, ...] = ("memory", "undefined", "barrier")
        if self._job.race_inputs:
            thread = build.program("thread", self._deadline)
            if not isinstance(thread, Program):
                return thread
            if failure := self._races(thread, pool):
                return failure
            checks = (*checks, "race")
        if self._job.candidate.deterministic:
            if failure := self._second_look(address, pool):
                return failure
            checks = (*checks, "initialization")
        return Outputs(tuple(self._directory / f"output{i}" for i in every), checks)

    def _races(self, program: Program, pool: ThreadPoolExecutor) -> Failure | None:
        orders = ("ascending", "descending")
        runs = [
            Run(program, i, f"race{i}-{order}", replace(self._executor.setting, order=order))
            for i in self._job.race_inputs
            for order in orders
        ]
        return self._first_failure(runs, pool)

    def _second_look(self, program: Program, pool: ThreadPoolExecutor) -> Failure | None:
        """Other bytes in memory that nobody wrote, other thread order: a deterministic candidate's output stays the same."""
        setting = replace(self._executor.setting, poison=_OTHER_POISON, order="shuffled")
        quick = [i for i in range(len(self._job.inputs)) if self._seconds[i] < _SECOND_RUN_SECONDS]
        runs = [Run(program, i, f"second{i}", setting) for i in quick]
        if failure := self._first_failure(runs, pool):
            return failure
        differing = next((i for i in quick if not self._same(i, f"second{i}")), None)
        return None if differing is None else self._explain_difference(program, differing)

    def _same(self, configuration: int, name: str) -> bool:
        return filecmp.cmp(self._directory / f"output{configuration}", self._directory / name, shallow=False)

    def _explain_difference(self, program: Program, configuration: int) -> Failure:
        """Which of the two changes made the difference."""
        third = Run(program, configuration, f"third{configuration}", replace(self._executor.setting, poison=_OTHER_POISON))
        if failure := self._run(third):
            return failure
        if self._same(configuration, third.name):
            return Hazard(
                hazard="race",
                configuration=configuration,
                message="the output depends on the order in which threads run, and the candidate claims to be deterministic",
            )
        return Hazard(
            hazard="initialization",
            configuration=configuration,
            message="the output depends on memory that was never written (device buffers or shared arrays)",
        )

    def _first_failure(self, runs: Iterable[Run], pool: ThreadPoolExecutor) -> Failure | None:
        """The verdict of the first run, in order, that fails; later ones are not started any more."""
        self._stop.clear()
        futures = [pool.submit(self._run, run) for run in runs]
        for future in futures:
            if failure := future.result():
                self._stop.set()
                for other in futures:
                    other.cancel()
                return failure
        return None

    def _run(self, run_: Run) -> Failure | None:
        if self._stop.is_set():
            return None
        limits = self._executor.limits
        seconds = min(limits.seconds, self._deadline - time.monotonic())
        if seconds <= 0:
            return TimedOut(seconds=0.0, configuration=run_.configuration)
        limits = replace(limits, seconds=seconds)
        output = self._directory / run_.name
        output.unlink(missing_ok=True)
        arguments = [str(self._job.inputs[run_.configuration].resolve()), str(output)]
        finished = run(run_.program, arguments, output, limits, run_.setting, self._stop)
        self._seconds.setdefault(run_.configuration, finished.seconds)
        note_fallback(finished.stderr, output)
        return judge(finished, self._lines, run_.configuration, seconds) or _wrote(finished, output)


def _wrote(finished: Finished, output: Path) -> Infrastructure | None:
    if output.exists():
        return None
    return Infrastructure(message=f"the test program wrote no output: {finished.stderr.strip()[-500:]}")
