"""Unsigned values that wrap around below 0 compare above every size: extents, what the host checks, and what it decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudaperf.engine import size
from cudaperf.engine.analyse import analyse
from cudaperf.engine.loops.nest import WhenStep
from cudaperf.engine.task import ArrayParameter, Task

FILE = Path(__file__).resolve().parents[2] / "data" / "c" / "wrap_around.c"


def length(task: Task, array: str, **sizes: int) -> int:
    found = next(p for p in task.parameters if isinstance(p, ArrayParameter) and p.name == array)
    return size.evaluate(" * ".join(f"({text})" for text in found.extents), sizes)


@pytest.mark.parametrize("function", ["lagged", "lagged_size"])
def test_a_lag_reads_what_its_test_lets_through(function: str) -> None:
    task = analyse(FILE, function).task
    assert not task.user_assumptions
    for n, k, expected in ((10, 0, 10), (10, 3, 7), (10, 9, 1), (10, 10, 0), (10, 40, 0), (0, 3, 0)):
        assert length(task, "a", n=n, k=k) == expected, (n, k)


def test_arguments_stay_below_the_upper_half_of_their_type() -> None:
    task = analyse(FILE, "lagged").task
    for n, k, holds in ((10, 3, True), (2**31 - 1, 2**31 - 1, True), (2**31, 0, False), (10, 2**32 - 1, False)):
        assert all(size.evaluate(text, {"n": n, "k": k}) for text in task.requirements) is holds, (n, k)


def test_sizes_of_64_bits_need_no_check() -> None:
    assert not analyse(FILE, "lagged_size").task.requirements


def test_a_stencil_needs_no_more_than_its_image() -> None:
    task = analyse(FILE, "nine_neighbours").task
    assert not task.user_assumptions
    assert length(task, "a", h=5, w=7) == 35


def test_the_host_decides_as_c_does() -> None:
    (step,) = analyse(FILE, "if_close").program.steps
    assert isinstance(step, WhenStep)
    for n, k, taken in ((10, 3, 1), (3, 10, 0), (2000, 1001, 1), (2000, 1000, 0)):
        assert size.evaluate(step.condition, {"n": n, "k": k}) == taken, (n, k)


@pytest.mark.parametrize(
    ("function", "a", "n", "holds"),
    [
        ("between", 10, 2**30, True),
        ("between", 2**32 - 41, 2**32 - 10, False),
        ("between", 2**32 - 1, 10, True),
        ("between_signed", -(2**31), 10 - 2**31, True),
        ("between_signed", 2**31 - 41, 2**31 - 10, False),
        ("between_signed", 2**30, 2**30 + 1000, True),
        ("between_downwards", 1000, 5, True),
        ("between_downwards", 41 - 2**31, 10 - 2**31, False),
    ],
)
def test_no_thread_past_the_end_leaves_the_type(function: str, a: int, n: int, holds: bool) -> None:
    task = analyse(FILE, function).task
    assert all(size.evaluate(text, {"a": a, "n": n}) for text in task.requirements) is holds


def test_loops_that_start_at_a_number_need_no_check() -> None:
    assert not analyse(FILE.with_name("saxpy.c"), "saxpy").task.requirements
    assert not analyse(FILE.with_name("directions.c"), "reverse_copy").task.requirements
