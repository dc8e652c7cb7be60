"""Arrays are as long as what the function's tests let through, and no longer: the emitted function copies that much."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from cudaperf.engine import size
from cudaperf.engine.analyse import analyse, offered
from cudaperf.engine.task import ArrayParameter

FOLDER = Path(__file__).resolve().parents[2] / "data" / "c"
GUARDS = FOLDER / "guards.c"


def length(function: str, array: str, path: Path = GUARDS, **sizes: int) -> int:
    task = analyse(path, function).task
    found = next(p for p in task.parameters if isinstance(p, ArrayParameter) and p.name == array)
    return size.evaluate(" * ".join(f"({text})" for text in found.extents), sizes)


@pytest.mark.parametrize(
    ("function", "array", "sizes", "expected"),
    [
        ("left_neighbour", "a", {"n": 10}, 10),
        ("right_neighbour", "a", {"n": 10}, 10),
        ("right_neighbour", "a", {"n": 0}, 0),
        ("cross", "u", {"h": 5, "w": 7}, 35),
        ("run_starts", "a", {"n": 10}, 10),
        ("run_starts", "a", {"n": 1}, 0),
        ("echo", "a", {"n": 10, "delay": 3}, 10),
        ("echo", "a", {"n": 10, "delay": -3}, 13),
        ("shift_by_helper", "b", {"n": 10}, 10),
        ("shift_by_helper", "a", {"n": 10}, 9),
        ("shift_by_flag", "b", {"n": 10}, 10),
        ("smooth_clamped", "a", {"n": 10}, 10),
        ("causal_fir", "a", {"n": 10, "taps": 4}, 10),
        ("causal_fir", "h", {"n": 10, "taps": 4}, 4),
        ("causal_fir", "h", {"n": 3, "taps": 4}, 3),
    ],
)
def test_length(function: str, array: str, sizes: dict[str, int], expected: int) -> None:
    assert length(function, array, **sizes) == expected


@pytest.mark.parametrize("n", [-13, 0, 7, 24, 31])
@pytest.mark.parametrize("m", [-5, 1, 3, 8, 40])
def test_remainders_of_arguments_are_exact(n: int, m: int) -> None:
    rest = max(0, int(math.fmod(n, m)))
    assert length("last_block", "y", FOLDER / "remainders.c", n=n, m=m) == rest
    assert length("tail", "x", FOLDER / "remainders.c", n=n, m=m) == (n if rest else 0)
    assert length("low_bits", "y", FOLDER / "remainders.c", n=n) == n & 1023


def test_no_size_is_excluded() -> None:
    """Nothing is required of n where the tests keep every subscript in its array."""
    for function in ("left_neighbour", "cross", "run_starts", "shift_by_helper", "smooth_clamped"):
        task = analyse(GUARDS, function).task
        assert not task.user_assumptions, function
        assert not any("n <= 0" in text for text in task.requirements), function


def test_a_tested_index_reaches_no_further_than_its_test() -> None:
    """`index[i] < m` bounds the table; negative entries are the function's own business."""
    task = analyse(GUARDS, "look_up").task
    table = next(p for p in task.parameters if isinstance(p, ArrayParameter) and p.name == "table")
    assert "m" in size.names(table.extents[0])
    assert not any("bottom" in text for text in task.requirements)


def schedules(function: str) -> list[str]:
    return [str(o.schedule) for nest in offered(analyse(GUARDS, function)).offers.values() for o in nest]


@pytest.mark.parametrize("function", ["flagged_output", "all_but_one", "below_and_above", "inverted_if"])
def test_no_vector_where_some_iteration_touches_nothing(function: str) -> None:
    assert not any("vector" in schedule for schedule in schedules(function))


@pytest.mark.parametrize("function", ["either_value", "positive_only", "flagged_loop"])
def test_vectors_where_every_iteration_may_touch_its_element(function: str) -> None:
    assert any("vector" in schedule for schedule in schedules(function))
