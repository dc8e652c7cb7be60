"""`optimize`: the main job, from a request to a result. A refusal or a failure is a result too.

Analyse, ask the strategies, then for each candidate: emit, run and judge; choose; record the evidence. On a GPU the fastest
verified candidate is chosen by its time, without one the first verified in the order of a static cost. Nothing of the user's is
written: the result carries texts.
"""

from __future__ import annotations

import math
import re
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cudaperf.engine.analyse import Analysed, analyse, offered
from cudaperf.engine.candidate import Candidate
from cudaperf.engine.claims import generator, gpu_claim, refuse_if_slower, tolerance, toolchain
from cudaperf.engine.emit.account import Account, version
from cudaperf.engine.emit.cuda import emit
from cudaperf.engine.evidence import CHOSEN_BY_MODEL, EMULATED_CLAIM, Baseline, ConfigurationSpec, Evidence, Judged
from cudaperf.engine.executors.protocol import EmittedFiles, Executor, Job
from cudaperf.engine.reason import Reason, ReasonCode, Refusal
from cudaperf.engine.result import (
    CandidateSummary,
    FunctionListing,
    OptimizeRequest,
    OptimizeResult,
    Progress,
    ProgressSink,
    Status,
    describe,
    failure,
    summarise,
)
from cudaperf.engine.schedule import parse as parse_schedule
from cudaperf.engine.strategies.compose import candidates as compose_candidates
from cudaperf.engine.verdict import Hazard, Infrastructure, Passed, TimedOut, Timing, Verdict

if TYPE_CHECKING:
    from cudaperf.engine.verify.prepare import Prepared

SEED = 20260728
BASELINE_SECONDS = 20.0
CPU_ELEMENTS = 1 << 20
GPU_ELEMENTS = 1 << 24
"""Array elements of the configuration that is timed, where the user names no sizes."""
NAMED_ELEMENTS = 1 << 30
"""The most, where the user does."""
LEAST_CHANGING = 2
"""Inputs on which the original must write something."""


def optimize(request: OptimizeRequest, progress: ProgressSink = lambda _: None) -> OptimizeResult:
    """The result for one function."""
    try:
        with tempfile.TemporaryDirectory(prefix="cudaperf-") as directory:
            return _Run(request, progress, Path(directory)).result()
    except Refusal as refusal:
        return failure(refusal.reason)


def list_functions(path: Path, arguments: tuple[str, ...] = ()) -> tuple[FunctionListing, ...] | Reason:
    """Every function of a file with a quick answer: analysed, nothing compiled or run."""
    from cudaperf.engine.sources import c

    found = c.list_functions(str(path), arguments)
    if isinstance(found, Reason):
        return found
    return tuple(FunctionListing(f.name, f.line, f.reason or _quick(path, f.name, arguments)) for f in found)


def _quick(path: Path, function: str, arguments: tuple[str, ...]) -> Reason | None:
    try:
        offered(analyse(path, function, arguments), None)
    except Refusal as refusal:
        return refusal.reason
    return None


@dataclass(frozen=True, slots=True)
class _Tried:
    candidate: Candidate
    files: EmittedFiles
    verdict: Verdict


class _Run:
    """One request: what is shared between its stages."""

    def __init__(self, request: OptimizeRequest, progress: ProgressSink, directory: Path) -> None:
        self.request, self.progress, self.directory = request, progress, directory
        self.deadline = time.monotonic() + request.max_seconds
        stem = re.sub(r'["\\\x00-\x1f]', "_", request.path.stem)  # which an #include can't name
        self.base = f"{stem}.{request.function}"
        self.on_gpu = False

    def result(self) -> OptimizeResult:
        self.progress(Progress("analyse", f"{self.request.path.name}::{self.request.function}"))
        analysed = analyse(self.request.path, self.request.function, self.request.arguments)
        called = {user: ours for ours, user in analysed.unit.renamed}
        sizes = {called.get(name, name): value for name, value in self.request.sizes.items()}
        self.request = replace(self.request, sizes=sizes)
        self.check_sizes(analysed)
        executor = self.executor()
        self.on_gpu = executor.name == "gpu"
        try:
            return self.judged(analysed, executor)
        finally:
            close = getattr(executor, "close", None)
            if close is not None:
                close()

    def check_sizes(self, analysed: Analysed) -> None:
        """Sizes that the user names must be the function's."""
        from cudaperf.engine.verify.search import drawn_names

        known = drawn_names(analysed.task)
        for name in self.request.sizes:
            if name not in known:
                message = f"--size {name}: {self.request.function} has no such size; it has {', '.join(known) or 'none'}"
                raise Refusal(Reason(ReasonCode.USAGE, message))
        spec = self.timing_spec(analysed) if self.request.sizes else None
        for name, value in self.request.sizes.items():
            if self.request.measure and (spec is None or spec.sizes.get(name) != value):
                message = (
                    f"--size {name}={value}: no input of that size can be made: the function's assumptions exclude it, "
                    f"or its arrays would have more than {NAMED_ELEMENTS} elements"
                )
                raise Refusal(Reason(ReasonCode.USAGE, message))

    def judged(self, analysed: Analysed, executor: Executor) -> OptimizeResult:
        candidates = self.candidates(analysed, executor)
        prepared = self.prepared(analysed)
        tried = self.try_all(analysed, prepared, candidates, executor)
        if executor.name == "gpu":
            tried = self.gated(analysed, prepared, self.timed(analysed, tried, executor), executor)
        passed = [t for t in tried if isinstance(t.verdict, Passed)]
        summaries = self.summaries(tried, candidates)
        if not passed:
            reason = self.failed(tried)
            return OptimizeResult(Status.FAILED, reason, executor=executor.name, device=executor.device, candidates=summaries)
        return self.verified(analysed, prepared, passed, tried, executor, summaries)

    # --- stages --------------------------------------------------------------------------------------------------------

    def executor(self) -> Executor:
        from cudaperf.engine.executors.choose import choose

        found = choose(self.request.executor, self.request.arch)
        if isinstance(found, Reason):
            raise Refusal(found)
        return found

    def architecture(self, executor: Executor) -> int:
        from cudaperf.engine.toolchain.devices import default_architecture

        own = getattr(executor, "architecture", None)
        return own.capability if own is not None else default_architecture(self.request.arch).capability

    def candidates(self, analysed: Analysed, executor: Executor) -> list[Candidate]:
        wanted = parse_schedule(self.request.schedule) if self.request.schedule else None
        made = offered(analysed, wanted, self.architecture(executor))
        found = compose_candidates(analysed.program, made, self.request.candidates)
        if self.request.arch is not None or executor.name == "gpu":
            target = self.architecture(executor)
            found = [c.model_copy(update={"architecture": max(c.architecture, target)}) for c in found]
        if analysed.task.exact:
            found = [c.model_copy(update={"compile_options": ("--fmad=false",)}) for c in found]
        return found

    def prepared(self, analysed: Analysed) -> Prepared:
        from cudaperf.engine.loops.places import place
        from cudaperf.engine.verify.generate import configurations, idle
        from cudaperf.engine.verify.prepare import changed_outputs, prepare

        specs = configurations(analysed.task, SEED, self.request.sizes)
        if not specs:
            message = (
                "no input can be made that is small enough to verify with: make the function's sizes arguments, "
                "or define them smaller (-D), or say what holds of its arguments (// cudaperf: assume ..., docs/assume.md)"
            )
            raise Refusal(Reason(ReasonCode.BUDGET, message))
        if all(idle(analysed.task, spec) for spec in specs):
            message = (
                f"no loop of {self.request.function} runs for inputs that its subscripts allow "
                f"({' and '.join(analysed.task.user_assumptions)}); "
                "say what holds in a comment: // cudaperf: assume extent(ARRAY) == n"
            )
            raise Refusal(place(analysed.unit, ReasonCode.UNBOUNDED, message, analysed.unit.function))
        self.progress(Progress("reference", "the original under sanitizers, and its reference in higher precision"))
        prepared = prepare(analysed.task, specs, self.directory / "reference", self.deadline)
        if isinstance(prepared, Reason):
            raise Refusal(_advised(analysed, prepared))
        changing = changed_outputs(prepared)
        if changing < LEAST_CHANGING:
            message = (
                f"only {changing} of {len(prepared.configurations)} inputs that were tried make {self.request.function} write "
                "anything: say what its arguments are like in a comment (// cudaperf: assume mode == 3)"
            )
            raise Refusal(place(analysed.unit, ReasonCode.BUDGET, message, analysed.unit.function))
        return prepared

    def try_all(
        self, analysed: Analysed, prepared: Prepared, candidates: Sequence[Candidate], executor: Executor
    ) -> list[_Tried]:
        """Verify in order of cost: without a GPU until one passes; with one all of them, by their plans."""
        from cudaperf.engine.toolchain.whole import refused_by_nvcc
        from cudaperf.engine.verify.verify import verify

        _whole_files(executor, False)
        tried: list[_Tried] = []
        for number, candidate in enumerate(candidates):
            if tried and time.monotonic() > self.deadline:
                break
            self.progress(Progress("verify", candidate.schedule, number, len(candidates)))
            files = self.emit(analysed, candidate, None)
            place = self.directory / f"candidate{number}"
            with ThreadPoolExecutor(1) as pool:  # nvcc takes as long as a sanitizer's build: beside it, it costs no time
                whole = pool.submit(refused_by_nvcc, candidate, files) if executor.name == "emulated" else None
                verdict = verify(prepared, candidate, files, executor, place, self.deadline)
                if isinstance(verdict, Passed) and whole is not None:
                    verdict = whole.result() or verdict
            if isinstance(verdict, Passed):
                verdict = verdict.model_copy(update={"resources": executor.resources(candidate)})
            tried.append(_Tried(candidate, files, verdict))
            if isinstance(verdict, Passed) and executor.name == "emulated":
                break
        return tried

    def gated(self, analysed: Analysed, prepared: Prepared, tried: list[_Tried], executor: Executor) -> list[_Tried]:
        """The fastest first: its emitted files are built and verified too, also under sanitizers, and timed with copies; the
        next where they fail.

        Candidates that were not the one chosen stand behind it with the times of their plans.
        """
        from cudaperf.engine.verify.gate import verify_gated

        _whole_files(executor, True)
        ranked = sorted((t for t in tried if isinstance(t.verdict, Passed)), key=_seconds)
        others = [t for t in tried if not isinstance(t.verdict, Passed)]
        for number, one in enumerate(ranked):
            self.progress(Progress("build", one.candidate.schedule))
            verdict = verify_gated(
                prepared, one.candidate, one.files, executor, self.directory / f"emitted{number}", self.late_deadline()
            )
            if not isinstance(verdict, Passed):
                others.append(_Tried(one.candidate, one.files, verdict))
                continue
            assert isinstance(one.verdict, Passed)
            verdict = verdict.model_copy(update={"resources": one.verdict.resources, "timing": one.verdict.timing})
            (chosen,) = self.timed(analysed, [_Tried(one.candidate, one.files, verdict)], executor)
            if isinstance(chosen.verdict, Passed):
                return [chosen, *ranked[number + 1 :], *others]
            others.append(chosen)
        return others

    def late_deadline(self) -> float:
        """What has begun may finish: the last gate gets a minute beyond the deadline."""
        return max(self.deadline, time.monotonic() + 60.0)

    def timed(self, analysed: Analysed, tried: list[_Tried], executor: Executor) -> list[_Tried]:
        """Time what passed, on one large configuration; what shows a hazard there has not passed."""
        spec = self.timing_spec(analysed)
        if spec is None:
            return tried
        source = self.directory / "timing.in"
        if not source.exists():
            write_timing_inputs(analysed, spec, source)
        found: list[_Tried] = []
        for number, one in enumerate(tried):
            if isinstance(one.verdict, Passed) and (time.monotonic() < self.deadline or not number):
                self.progress(Progress("time", one.candidate.schedule, number, len(tried)))
                place = self.directory / f"timed{number}"
                outcome = executor.time(self.timing_job(analysed, one, source), place, 0, self.late_deadline())
                one = _with_timing(one, outcome)
            found.append(one)
        return found

    def timing_spec(self, analysed: Analysed) -> ConfigurationSpec | None:
        from cudaperf.engine.verify.generate import Limits, timing_configuration

        if not self.request.measure:
            return None
        elements = NAMED_ELEMENTS if self.request.sizes else GPU_ELEMENTS if self.on_gpu else CPU_ELEMENTS
        return timing_configuration(analysed.task, SEED, self.request.sizes, Limits(work=64 * elements, elements=elements))

    def timing_job(self, analysed: Analysed, one: _Tried, source: Path) -> Job:
        from cudaperf.engine.verify.harness import harness_source
        from cudaperf.engine.verify.verify import callee_name

        harness = harness_source(analysed.task, callee_name(analysed.task))
        return Job(analysed.task, one.candidate, one.files, harness, (source,), ())

    def emit(self, analysed: Analysed, candidate: Candidate, account: Account | None) -> EmittedFiles:
        from cudaperf.engine.strategies.fallback import fallback_text

        fallback = fallback_text(analysed.program) if analysed.task.original.static else None
        return emit(analysed.task, candidate, self.base, account, fallback=fallback)

    # --- outcomes ------------------------------------------------------------------------------------------------------

    def verified(
        self,
        analysed: Analysed,
        prepared: Prepared,
        passed: Sequence[_Tried],
        tried: Sequence[_Tried],
        executor: Executor,
        summaries: tuple[CandidateSummary, ...],
    ) -> OptimizeResult:
        chosen = passed[0]
        assert isinstance(chosen.verdict, Passed)
        chosen_by = "timed on the device" if chosen.verdict.timing is not None else CHOSEN_BY_MODEL
        baselines = self.baselines(analysed)
        refuse_if_slower(chosen.verdict, baselines)
        claim = (
            EMULATED_CLAIM
            if executor.name == "emulated"
            else gpu_claim(executor.device, chosen.verdict, self.timing_spec(analysed))
        )
        files = self.emit(analysed, chosen.candidate, Account(claim, chosen_by))
        outputs = {files.cu_name: files.cu, files.header_name: files.header}
        evidence = Evidence(
            cudaperf=version(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            claim=claim,
            chosen_by=chosen_by,
            task=analysed.task,
            chosen=Judged(candidate=chosen.candidate, verdict=chosen.verdict),
            others=tuple(Judged(candidate=t.candidate, verdict=t.verdict) for t in tried if t is not chosen),
            configurations=prepared.specs,
            tolerance=tolerance(),
            generator=generator(),
            executor=executor.name,
            device=executor.device,
            toolchain=toolchain(),
            checks=chosen.verdict.checks,
            baselines=baselines,
            emitted=outputs,
        )
        seconds = chosen.verdict.timing.median if chosen.verdict.timing else None
        return OptimizeResult(
            Status.VERIFIED,
            outputs=outputs,
            evidence_name=f"{self.base}.evidence.json",
            evidence=evidence,
            claim=claim,
            chosen_by=chosen_by,
            executor=executor.name,
            device=executor.device,
            configurations=chosen.verdict.configurations,
            checks=chosen.verdict.checks,
            baselines={b.name: b.seconds for b in baselines},
            timed_sizes=dict(baselines[0].sizes) if baselines else {},
            speedup={b.name: b.seconds / seconds if seconds else None for b in baselines},
            candidates=summaries,
        )

    def baselines(self, analysed: Analysed) -> tuple[Baseline, ...]:
        """The user's own function on this machine's CPU: one thread, and all cores where the analysis allows it."""
        from cudaperf.engine.pragmas import pragmas
        from cudaperf.engine.verify.baseline import baselines

        spec = self.timing_spec(analysed)
        if spec is None:
            return ()
        self.progress(Progress("baseline", "the original on the CPU"))
        until = min(max(self.deadline, time.monotonic() + 2.0), time.monotonic() + BASELINE_SECONDS)
        return baselines(analysed.task, spec, pragmas(analysed), self.directory / "baselines", until)

    def summaries(self, tried: Sequence[_Tried], candidates: Sequence[Candidate]) -> tuple[CandidateSummary, ...]:
        done = [summarise(Judged(candidate=t.candidate, verdict=t.verdict)) for t in tried]
        rest = [CandidateSummary(c.strategy, c.schedule) for c in candidates[len(tried) :]]
        return (*done, *rest)

    def failed(self, tried: Sequence[_Tried]) -> Reason:
        first = tried[0].verdict if tried else None
        if isinstance(first, Infrastructure):
            return Reason(ReasonCode.INTERNAL, first.message)
        if isinstance(first, TimedOut):
            message = f"verification took longer than {self.request.max_seconds:g} s; --max-seconds allows more"
            return Reason(ReasonCode.BUDGET, message)
        found = describe(first) if first is not None else "none was tried in the time allowed"
        return Reason(ReasonCode.VERIFICATION, f"no candidate passed verification: {found}")


def _advised(analysed: Analysed, reason: Reason) -> Reason:
    """Where subscripts come from elements, of which no assumption can speak, with what else can be done."""
    from cudaperf.engine.loops.causes import indirect
    from cudaperf.engine.verify.prepare import ADVICE

    for array, inner in indirect(analysed.unit.function).items():
        said = any(re.match(rf"extent\(\s*{array}\s*\)", text) for text in analysed.unit.assumptions)
        advice = (
            f"without the assumption on extent({array}) it is made as long as they need"
            if said
            else f"test them in the function, as in if ({inner}[i] >= 0 && {inner}[i] < n)"
        )
        advice = f"; subscripts of {array} come from elements of {inner}, of which no assumption can speak: {advice}"
        return replace(reason, message=reason.message.replace(ADVICE, advice))
    return reason


def write_timing_inputs(analysed: Analysed, spec: ConfigurationSpec, target: Path) -> None:
    from cudaperf.engine.verify.data import write_inputs
    from cudaperf.engine.verify.generate import inputs

    write_inputs(analysed.task, target, inputs(analysed.task, spec))


def _with_timing(tried: _Tried, found: Timing | Hazard | None) -> _Tried:
    """With what timing found; a time that it has already stays where this one could not be taken."""
    if found is None:
        return tried
    if isinstance(found, Hazard):
        return _Tried(tried.candidate, tried.files, found.model_copy(update={"configuration": None}))
    assert isinstance(tried.verdict, Passed)
    return _Tried(tried.candidate, tried.files, tried.verdict.model_copy(update={"timing": found}))


def _seconds(tried: _Tried) -> float:
    """The kernel time of a candidate that passed; last where it was not timed."""
    assert isinstance(tried.verdict, Passed)
    return tried.verdict.timing.median if tried.verdict.timing is not None else math.inf


def _whole_files(executor: Executor, wanted: bool) -> None:
    """Whether a GPU executor builds the emitted files too (the emulation always runs them)."""
    if executor.name == "gpu":
        executor.emitted = wanted  # type: ignore[attr-defined]
