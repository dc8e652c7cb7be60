"""Verifies one candidate: its emitted files, run by an executor on every prepared configuration, judged element by element.

Not promised: speed; and anything about inputs outside the configurations and the assumptions that evidence records.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.executors.protocol import EmittedFiles, Executor, Job, Outputs
from cudaperf.engine.size import SizeError
from cudaperf.engine.task import ArrayParameter, Task
from cudaperf.engine.verdict import ConfigurationResult, Infrastructure, LaunchFailed, Mismatch, Passed, Verdict
from cudaperf.engine.verify.compare import Difference, Worst, as_array, compare
from cudaperf.engine.verify.data import FormatError, Value, read_inputs, read_outputs
from cudaperf.engine.verify.harness import harness_source
from cudaperf.engine.verify.prepare import Prepared
from cudaperf.engine.verify.trials import PreparedConfiguration
from cudaperf.engine.verify.values import evaluated_extents

CHECKS: Final = ("values",)


def callee_name(task: Task) -> str:
    """The emitted host function."""
    return f"{task.original.function}_cuda"


def job(prepared: Prepared, candidate: Candidate, files: EmittedFiles) -> Job:
    """What an executor needs to run a candidate on all prepared configurations."""
    return Job(
        task=prepared.task,
        candidate=candidate,
        files=files,
        harness=harness_source(prepared.task, callee_name(prepared.task)),
        inputs=tuple(c.input for c in prepared.configurations),
        race_inputs=prepared.race_inputs,
    )


def verify(
    prepared: Prepared, candidate: Candidate, files: EmittedFiles, executor: Executor, directory: Path, deadline: float
) -> Verdict:
    """Run and judge. The first failed configuration ends it."""
    directory.mkdir(parents=True, exist_ok=True)
    ran = executor.run(job(prepared, candidate, files), directory, deadline)
    return judge(prepared, ran) if isinstance(ran, Outputs) else ran


def judge(prepared: Prepared, ran: Outputs) -> Verdict:
    """The verdict on an executor's output files."""
    if len(ran.paths) != len(prepared.configurations):
        return Infrastructure(message=f"{len(ran.paths)} output files for {len(prepared.configurations)} configurations")
    results = []
    for index, (configuration, path) in enumerate(zip(prepared.configurations, ran.paths, strict=True)):
        found = _judge_one(prepared.task, index, configuration, path)
        if not isinstance(found, ConfigurationResult):
            return found
        results.append(found)
    return Passed(configurations=tuple(results), checks=(*ran.checks, *CHECKS))


def _judge_one(task: Task, index: int, configuration: PreparedConfiguration, path: Path) -> ConfigurationResult | Verdict:
    try:
        got = read_outputs(task, path)
    except (OSError, FormatError) as error:
        return Infrastructure(message=f"configuration {index}: {error}")
    spec = configuration.spec
    if got is None:
        if configuration.fallback:
            return ConfigurationResult(
                sizes=spec.sizes, distribution=spec.distribution, seed=spec.seed, max_error=0.0, bound=0.0
            )
        where = ", ".join(f"{name} = {value}" for name, value in spec.sizes.items())
        return LaunchFailed(message=f"the emitted function fell back to the original although its requirements hold ({where})")
    found = compare(task, configuration.expected, got)
    if isinstance(found, Worst):
        return ConfigurationResult(
            sizes=spec.sizes, distribution=spec.distribution, seed=spec.seed, max_error=found.error, bound=found.bound
        )
    return _mismatch(task, index, configuration, got, found)


def _mismatch(
    task: Task, index: int, configuration: PreparedConfiguration, got: dict[str, Value], found: Difference
) -> Mismatch:
    values = {name: value if np.isfinite(value) else 0.0 for name, value in (("error", found.error), ("bound", found.bound))}
    return Mismatch(
        configuration=index,
        array=found.array,
        index=found.index,
        got=found.got,
        expected=found.expected,
        error=values["error"],
        bound=values["bound"],
        what=_words(task, configuration, got, found),
    )


def _words(task: Task, configuration: PreparedConfiguration, got: dict[str, Value], found: Difference) -> str:
    """The mismatch in a sentence: which element by its subscripts, what it is, what it should be, for which inputs."""
    spec = configuration.spec
    where = ", ".join([*(f"{name} = {value}" for name, value in spec.sizes.items()), f"{spec.distribution} values"])
    place, values = found.array + found.leaf, read_inputs(task, configuration.input)
    array = next((p for p in task.arrays if p.name == found.array), None)
    if array is not None:
        place = f"{found.array}{_subscripts(array, configuration, values, found.index)}{found.leaf}"
        before, after = as_array(values[found.array], array.type), as_array(got[found.array], array.type)
        if found.index < before.size and before[found.index].tobytes() == after[found.index].tobytes():
            return f"{place} was not written: it is still {found.got:.9g}, should be {found.expected:.9g} ({where})"
    return f"{place} is {found.got:.9g}, should be {found.expected:.9g} within {found.bound:.3g} ({where})"


def _subscripts(array: ArrayParameter, configuration: PreparedConfiguration, values: dict[str, Value], index: int) -> str:
    """[row][column] where the extents say so, [element] otherwise."""
    try:
        extents = evaluated_extents(array, configuration.spec, values)
        return "".join(f"[{i}]" for i in np.unravel_index(index, extents))
    except (SizeError, ValueError):
        return f"[{index}]"
