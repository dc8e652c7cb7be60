"""Everything about a task that does not depend on a candidate: suitable inputs, the original's outputs, the reference, bounds.

Each configuration is run through the original under sanitizers, plainly, and through the reference. One that does not suit the
function is replaced by others of the same sizes (positive values, smaller ones, another seed): where the original misbehaves
on those values, where its outputs are not numbers (one such configuration is kept), where a decision hangs on rounding, or
where the bound would say nothing. Sizes of at most two at which the original itself misbehaves are left out, with a note. If
the original misbehaves on every choice, that is the answer: a `Reason` with the user's line.
Needs only the `Task` (its preprocessed source and reference), so a replay elsewhere is the same call.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cudaperf.engine.evidence import ConfigurationSpec
from cudaperf.engine.reason import Reason, ReasonCode
from cudaperf.engine.task import ArrayParameter, Task
from cudaperf.engine.toolchain.find import host_compiler
from cudaperf.engine.verify import process
from cudaperf.engine.verify.compare import as_array
from cudaperf.engine.verify.data import outputs, read_inputs
from cudaperf.engine.verify.generate import Limits, race_indices
from cudaperf.engine.verify.original import OriginalHazard, OriginalPrograms, build, no_compiler, program_constants, too_long
from cudaperf.engine.verify.reference import OPTIONS, program_source
from cudaperf.engine.verify.trials import Bench, PreparedConfiguration, sentence, settle

MINIMUM: Final = 8
ADVICE: Final = "; if its inputs are never like this, say so: // cudaperf: assume ... (docs/assume.md)"
"""What a refusal says where the original fails."""
_REFILL: Final = ("unit", "positive", "normal", "structured", "negated", "positive x0.01", "ties")


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `verify` needs besides a candidate. `notes` are sentences for the user about what was replaced or left out."""

    task: Task
    configurations: tuple[PreparedConfiguration, ...]
    race_inputs: tuple[int, ...]
    notes: tuple[str, ...] = ()
    reference: bool = True

    @property
    def specs(self) -> tuple[ConfigurationSpec, ...]:
        return tuple(c.spec for c in self.configurations)


def prepare(
    task: Task, specs: Sequence[ConfigurationSpec], directory: Path, deadline: float, limits: Limits | None = None
) -> Prepared | Reason:
    """Build and run the original and the reference in `directory` (kept: candidates read the input files there)."""
    directory.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(1) as pool:
        building = pool.submit(_build_reference, task, directory, deadline)
        programs = build(task, directory, deadline)
        reference = building.result()
    for built in (programs, reference):
        if isinstance(built, Reason):
            return built
    assert isinstance(programs, OriginalPrograms)
    assert not isinstance(reference, Reason)
    fixed = program_constants(task, programs.plain, directory / "constants.bin", deadline)
    if isinstance(fixed, Reason):
        return fixed
    bench = Bench(task, directory, deadline, programs, reference, fixed)
    if task.reference and reference is None:
        bench.note("the reference could not be compiled; outputs are compared with the original's own")
    return _collect(bench, specs, limits)


def _build_reference(task: Task, directory: Path, deadline: float) -> Path | Reason | None:
    if not task.reference:
        return None
    compiler = host_compiler()
    if compiler is None:
        return no_compiler()
    source, program = directory / "reference.cpp", directory / "reference"
    source.write_text(program_source(task), encoding="utf-8")
    for extra in (["-lquadmath"], ["-DCP_NO_QUAD"]):
        done = process.run([compiler.path, *OPTIONS, source, "-o", program, *extra], deadline - time.monotonic())
        if done.status == 0:
            return program
        if done.timed_out:
            return too_long("compiling the reference")
    return None


def _collect(bench: Bench, specs: Sequence[ConfigurationSpec], limits: Limits | None) -> Prepared | Reason:
    accepted: list[PreparedConfiguration] = []
    hazards: list[tuple[ConfigurationSpec, OriginalHazard]] = []
    for spec in itertools.chain(specs, _refills(accepted)):
        if time.monotonic() > bench.deadline:
            return too_long("running the original")
        found = settle(bench, spec)
        if isinstance(found, OriginalHazard) and found.kind == "timeout" and time.monotonic() > bench.deadline:
            return too_long("running the original")
        if isinstance(found, PreparedConfiguration):
            accepted.append(found)
        elif found is not None and not _degenerate(bench.task, spec):
            return _blame(bench.task, spec, found)
        elif found is not None:
            hazards.append((spec, found))
            bench.note(f"not run with {_sizes(spec)}: the original itself {sentence(found)}")
    if not accepted and hazards:
        return _blame(bench.task, *hazards[0])
    if not accepted:
        return Reason(ReasonCode.VERIFICATION, "no input configuration satisfies the function's assumptions")
    races = race_indices(bench.task, [c.spec for c in accepted], limits)
    return Prepared(bench.task, tuple(accepted), races, tuple(bench.notes), bench.reference is not None)


def _refills(accepted: list[PreparedConfiguration]) -> Iterator[ConfigurationSpec]:
    """More of the sizes that worked, while there are too few. Lazy: read when all others are settled."""
    for attempt in range(2 * MINIMUM):
        sound = [c for c in accepted if not c.fallback]
        if len(accepted) >= MINIMUM or not sound:
            return
        base = sound[attempt % len(sound)].spec
        yield base.model_copy(
            update={"distribution": _REFILL[attempt % len(_REFILL)], "seed": base.seed + 7919 * (attempt + 1)}
        )


def _degenerate(task: Task, spec: ConfigurationSpec) -> bool:
    """Whether a size is so small that failing there is not held against the function."""
    return any(spec.sizes.get(p.name, 3) <= 2 for p in task.sizes) or any(value <= 0 for value in spec.sizes.values())


def _sizes(spec: ConfigurationSpec) -> str:
    return ", ".join(f"{name} = {value}" for name, value in spec.sizes.items()) or "these values"


def _blame(task: Task, spec: ConfigurationSpec, hazard: OriginalHazard) -> Reason:
    """The user's own function is at fault (or, for `input` and `extent`, our picture of it)."""
    if hazard.kind in ("input", "extent"):
        return Reason(ReasonCode.INTERNAL, hazard.message, hazard.line)
    where = f"with {_sizes(spec)} and {spec.distribution} values"
    advice = ADVICE if hazard.kind != "timeout" else ""
    return Reason(
        ReasonCode.ORIGINAL_FAILS, f"{task.original.function} itself {sentence(hazard)} ({where}){advice}", hazard.line
    )


def changed_outputs(prepared: Prepared) -> int:
    """On how many configurations the original changes an array, or gives a number back. A function that leaves everything as it
    was has not been exercised."""
    arrays = [
        p for p in (*prepared.task.parameters, *prepared.task.globals) if isinstance(p, ArrayParameter) and p.access != "in"
    ]
    if len(arrays) < len(outputs(prepared.task)):
        return len(prepared.configurations)
    return sum(any(_changed(prepared, c, p) for p in arrays) for c in prepared.configurations if not c.fallback)


def _changed(prepared: Prepared, configuration: PreparedConfiguration, array: ArrayParameter) -> bool:
    before = as_array(read_inputs(prepared.task, configuration.input)[array.name], array.type)
    return before.tobytes() != as_array(configuration.expected.original[array.name], array.type).tobytes()
