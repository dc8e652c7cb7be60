"""Whether two output files of one configuration hold the same bits, padding of structs aside."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from cudaperf.engine.task import Task
from cudaperf.engine.verdict import Infrastructure, Mismatch, Verdict
from cudaperf.engine.verify import data

WHAT: Final = "the emitted program and the interpreted plan differ"


def first_difference(task: Task, emitted: Path, planned: Path, configuration: int) -> Verdict | None:
    """None when equal; else a `Mismatch` at the first element (got: the emitted program's value, expected: the plan's).

    None too where one of them fell back: judging that is `verify`'s business.
    """
    got, expected = data.read_outputs(task, emitted), data.read_outputs(task, planned)
    if got is None or expected is None:
        return None
    for name, element, _ in data.outputs(task):
        kind = data.dtype(element)
        left, right = (np.atleast_1d(np.asarray(side[name], dtype=kind)) for side in (got, expected))
        if left.size != right.size:
            return Infrastructure(message=f"{name} has {left.size} and {right.size} elements")
        for path, offset, scalar in data.leaves(element):
            a, b = data.column(left, offset, scalar), data.column(right, offset, scalar)
            bits = f"u{a.dtype.itemsize}"
            if (different := np.flatnonzero(a.copy().view(bits) != b.copy().view(bits))).size:
                at = int(different[0])
                return _mismatch(configuration, name + path, at, float(a[at]), float(b[at]))
    return None


def _mismatch(configuration: int, array: str, index: int, got: float, expected: float) -> Mismatch:
    return Mismatch(
        configuration=configuration,
        array=array,
        index=index,
        got=got,
        expected=expected,
        error=abs(got - expected),
        bound=0.0,
        what=WHAT,
    )
