"""What the texts of kernels say, where that is what makes them right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudaperf.engine.analyse import analyse, offered

FOLDER = Path(__file__).resolve().parents[2] / "data" / "c"


def kernels(file: str, function: str) -> list[str]:
    made = offered(analyse(FOLDER / file, function)).offers.values()
    return [text for offers in made for offer in offers for text in offer.kernels]


@pytest.mark.parametrize(
    ("function", "pointers"),
    [
        ("skip_header", "p"),
        ("two_halves", "uv"),
        ("backwards_from_end", "p"),
        ("planar_to_packed", "uv"),
        ("several_ways", "qpr"),
    ],
)
def test_pointers_that_are_set_before_the_loops_are_not_named(function: str, pointers: str) -> None:
    found = kernels("planes.c", function)
    assert found
    assert not any(re.search(rf"\b[{pointers}]\b", text) for text in found)


@pytest.mark.parametrize("function", ["fill_backwards", "every_third_long"])
def test_the_number_of_a_thread_is_one_operand(function: str) -> None:
    """`n - 1 - a * b + c` would count up from the wrong place."""
    for text in kernels("directions.c", function):
        assert "((long)blockIdx.x * blockDim.x + threadIdx.x)" in text
