"""Medians and bootstrap intervals of recorded samples, argument packing, and the comparison of two output files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_plan_interpretation import task

from cudaperf.engine.executors.gpu import arguments
from cudaperf.engine.executors.gpu.backend import classify
from cudaperf.engine.executors.gpu.compare import first_difference
from cudaperf.engine.executors.gpu.statistics import summarize
from cudaperf.engine.task import ScalarType, StructField, StructType
from cudaperf.engine.verdict import Mismatch
from cudaperf.engine.verify import data

RECORDED = (41.2e-6, 41.3e-6, 41.1e-6, 41.2e-6, 58.9e-6, 41.4e-6, 41.2e-6, 41.0e-6, 41.3e-6, 41.2e-6)


def test_one_slow_sample_moves_neither_median_nor_interval_far() -> None:
    summary = summarize(RECORDED)
    assert summary.median == pytest.approx(41.2e-6)
    assert 41.0e-6 <= summary.low <= summary.median <= summary.high < 42e-6
    assert summary == summarize(RECORDED)


@settings(max_examples=50)
@given(st.lists(st.floats(1e-7, 10), min_size=1, max_size=40))
def test_interval_holds_the_median_and_lies_within_the_samples(samples: list[float]) -> None:
    summary = summarize(samples, resamples=100)
    assert min(samples) <= summary.low <= summary.median <= summary.high <= max(samples)


@pytest.mark.parametrize("samples", [(), (1.0, float("nan")), (-1.0,)])
def test_samples_that_are_no_times_are_refused(samples: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="timing samples"):
        summarize(samples)


CHAR = ScalarType(name="char", number="int", bits=8)
DOUBLE = ScalarType(name="double", number="float", bits=64)
PAIR = StructType(
    name="pair", size=16, fields=(StructField(name="c", type=CHAR, offset=0), StructField(name="d", type=DOUBLE, offset=8))
)


def test_arguments_are_packed_at_natural_alignment() -> None:
    pair = np.array((1, 2.0), dtype=data.dtype(PAIR))
    packed = arguments.pack([arguments.integer(-1, "char"), arguments.scalar(pair[()], PAIR), arguments.integer(3, "short")])
    assert (len(packed), packed[0], packed[8], packed[24]) == (26, 255, 1, 3)
    assert np.frombuffer(packed, "f8", 1, 16)[0] == 2.0


def test_unsigned_scalars_keep_their_bits() -> None:
    wide = ScalarType(name="unsigned long", number="int", bits=64, signed=False)
    assert arguments.scalar(2**64 - 1, wide) == (b"\xff" * 8, 8)


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("cuStreamSynchronize failed: an illegal memory access was encountered", "memory"),
        ("cuStreamSynchronize failed: unspecified launch failure", "memory"),
        ("cuMemAlloc failed: out of memory", "out of memory"),
        ("cuLaunchKernel failed: too many resources requested for launch", "launch"),
        ("cuLaunchKernel failed: invalid argument (CUDA_ERROR_INVALID_VALUE)", "launch"),
        ("cuModuleGetFunction failed: named symbol not found", "other"),
    ],
)
def test_driver_messages_by_kind(message: str, kind: str) -> None:
    assert classify(message).kind == kind


def test_outputs_that_differ_in_one_bit_are_found_at_their_element(tmp_path: Path) -> None:
    same, other = np.array([1.0, 0.0, np.nan]), np.array([1.0, -0.0, np.nan])
    for name, values in (("a", same), ("b", same), ("c", other)):
        data.write_outputs(task(), tmp_path / name, {"y": values})
    assert first_difference(task(), tmp_path / "a", tmp_path / "b", 0) is None
    found = first_difference(task(), tmp_path / "a", tmp_path / "c", 0)
    assert isinstance(found, Mismatch)
    assert (found.array, found.index) == ("y", 1)
