"""One configuration at a time: run the original and the reference on it, and settle on values that suit the function.

See `verify.prepare` for the rules. Not promised: that the replacement values are near the ones replaced; sizes are the same.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from cudaperf.engine.evidence import ConfigurationSpec
from cudaperf.engine.size import SizeError
from cudaperf.engine.task import Task
from cudaperf.engine.verify import process
from cudaperf.engine.verify.compare import Expected, as_array, leaf_columns, says_nothing, within
from cudaperf.engine.verify.data import Value, column, leaves, outputs, read_outputs, write_inputs
from cudaperf.engine.verify.generate import smaller
from cudaperf.engine.verify.original import OriginalHazard, OriginalPrograms, run_original
from cudaperf.engine.verify.reference import Columns, read_columns
from cudaperf.engine.verify.values import inputs, requirements_hold

_HEAVY_SECONDS: Final = 2.0
_PATIENCE: Final = 2
_GENTLER: Final = ("positive", "unit", "calm")
_MOSTLY: Final = 0.5
"""The share of an output that may be out of reach before other values are tried."""


@dataclass(frozen=True, slots=True)
class PreparedConfiguration:
    """One configuration ready to run: its input file, and what it must give (`fallback`: through the user's original)."""

    spec: ConfigurationSpec
    input: Path
    expected: Expected
    fallback: bool = False


@dataclass
class Bench:
    """The programs of one task, and what has been learnt about it. `reference` is None where there is none to trust."""

    task: Task
    directory: Path
    deadline: float
    programs: OriginalPrograms
    reference: Path | None
    constants: dict[str, Value]
    notes: list[str] = field(default_factory=list)
    files: int = 0
    kept_not_numbers: bool = False
    stubborn: int = 0  # configurations whose decisions hang on rounding whatever the values

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


@dataclass
class Trial:
    """One attempt: a hazard, or outputs with what speaks against judging by them."""

    hazard: OriginalHazard | None = None
    ready: PreparedConfiguration | None = None
    against: str = ""


def settle(bench: Bench, spec: ConfigurationSpec) -> PreparedConfiguration | OriginalHazard | None:
    """A configuration of these sizes that suits; the hazard that the original has on all values; None to leave it out."""
    first = attempt(bench, spec)
    if first is None or (first.ready is not None and not first.against):
        return first.ready if first else None
    if first.against == "heavy":
        less = smaller(bench.task, spec)
        return settle(bench, less) if less is not None else first.ready
    best = first
    for other in _alternatives(bench, spec, first):
        trial = attempt(bench, other)
        if trial is not None and trial.ready is not None:
            if not trial.against:
                return _replaced(bench, spec, first, trial)
            best = trial if best.ready is None else best
    if first.against == "loose" and (less := smaller(bench.task, spec)) is not None:
        return settle(bench, less)
    bench.stubborn += first.against == "ambiguous"
    if best.ready is not None:
        return _replaced(bench, spec, first, best)
    return first.hazard


def _replaced(bench: Bench, spec: ConfigurationSpec, first: Trial, chosen: Trial) -> PreparedConfiguration | None:
    if first.hazard is not None and chosen.ready is not None:
        where = f" (line {first.hazard.line})" if first.hazard.line else ""
        instead = f"verified on {chosen.ready.spec.distribution} values instead"
        bench.note(f"on {spec.distribution} values the original itself {sentence(first.hazard)}{where}; {instead}")
    return chosen.ready


def sentence(hazard: OriginalHazard) -> str:
    """A hazard as what "the original itself" does."""
    return (
        hazard.message
        if hazard.kind == "memory"
        else f"is undefined: {hazard.message}"
        if hazard.kind == "undefined"
        else (f"fails: {hazard.message}")
    )


def _alternatives(bench: Bench, spec: ConfigurationSpec, first: Trial) -> list[ConfigurationSpec]:
    reseeded = [spec.model_copy(update={"seed": spec.seed + 104_729 * (at + 1)}) for at in range(2)]
    gentler = [spec.model_copy(update={"distribution": d}) for d in _GENTLER if d != spec.distribution]
    if first.hazard is not None:
        return gentler[:1] if first.hazard.kind == "timeout" else gentler
    if first.against == "ambiguous":
        return reseeded + gentler[:1] if bench.stubborn < _PATIENCE else []
    return gentler


def attempt(bench: Bench, spec: ConfigurationSpec) -> Trial | None:
    """Run one configuration; None where its values can't be made, or where the original fails outside the requirements."""
    task = bench.task
    try:
        values = inputs(task, spec, bench.constants)
    except SizeError:
        return None
    fallback = not requirements_hold(task, spec, values)
    stem = bench.directory / f"configuration_{bench.files}"
    bench.files += 1
    source, target = stem.with_suffix(".in"), stem.with_suffix(".out")
    write_inputs(task, source, values)
    for program in (bench.programs.sanitized, bench.programs.plain):
        hazard = run_original(task, program, source, target, bench.deadline)
        if hazard is not None:
            return None if fallback else Trial(hazard)
    found = read_outputs(task, target)
    assert found is not None
    if fallback:
        return Trial(ready=PreparedConfiguration(spec, source, Expected(found, None), True))
    columns, ambiguous, heavy = _columns(bench, source, stem.with_suffix(".ref"), found)
    ready = PreparedConfiguration(spec, source, Expected(found, columns))
    if heavy:
        return Trial(ready=ready, against="heavy")
    return Trial(ready=ready, against=_against(bench, values, found, columns, ambiguous))


def _columns(
    bench: Bench, source: Path, target: Path, found: Mapping[str, Value]
) -> tuple[Mapping[str, Columns] | None, int, bool]:
    """The reference's columns if it agrees with the original about what that computes, ambiguous decisions, too heavy."""
    if bench.reference is None:
        return None, 0, False
    done = process.run([bench.reference, source, target], min(_HEAVY_SECONDS, bench.deadline - time.monotonic()))
    if done.timed_out:
        return None, 0, True
    if done.status != 0:
        bench.note("the reference failed on a configuration; there outputs are compared with the original's own")
        return None, 0, False
    columns = read_columns(bench.task, target)
    if not _faithful(bench.task, found, columns):
        bench.note("the reference does not reproduce the original; outputs are compared with the original's own")
        bench.reference = None
        return None, 0, False
    return columns, int(json.loads(done.stdout)["ambiguous"]), False


def _faithful(task: Task, found: Mapping[str, Value], columns: Mapping[str, Columns]) -> bool:
    """Whether the reference's own column is the original's output: integers exactly, floats within the bound."""
    for name, element, _ in outputs(task):
        original, kinds = as_array(found[name], element), leaves(element)
        if columns[name].own.size != original.size * len(kinds):
            return False
        for at, (_, offset, kind) in enumerate(kinds):
            theirs, own = column(original, offset, kind), columns[name].own[at :: len(kinds)]
            if kind.number == "int":
                if not np.array_equal(theirs.astype(np.int64), own):
                    return False
            elif not within(theirs, own.view(np.float64), columns[name].bound[at :: len(kinds)]):
                return False
    return True


def _against(
    bench: Bench, values: Mapping[str, Value], found: Mapping[str, Value], columns: Mapping[str, Columns] | None, ambiguous: int
) -> str:
    """What speaks against judging by this configuration, in one word; "" for nothing."""
    if _not_numbers(bench.task, found):
        if bench.kept_not_numbers or _not_numbers(bench.task, found) > _MOSTLY:
            return "numbers"
        bench.kept_not_numbers = True
    if ambiguous:
        return "ambiguous"
    return "loose" if columns is not None and _loosest(bench.task, columns) > _MOSTLY else ""


def _loosest(task: Task, columns: Mapping[str, Columns]) -> float:
    """The largest share of an output's floats whose bound says nothing."""
    shares = [0.0]
    for name, element, _ in outputs(task):
        kinds = leaves(element)
        for at, (_, _, kind) in enumerate(kinds):
            if kind.number == "float":
                shares.append(says_nothing(leaf_columns(columns[name], at, len(kinds)), kind))
    return max(shares)


def _not_numbers(task: Task, found: Mapping[str, Value]) -> float:
    """The largest share of NaN or infinity in an output's floats."""
    shares = [0.0]
    for name, element, _ in outputs(task):
        values = as_array(found[name], element)
        for _, offset, kind in leaves(element):
            if kind.number == "float" and values.size:
                shares.append(float(np.mean(~np.isfinite(column(values, offset, kind)))))
    return max(shares)
