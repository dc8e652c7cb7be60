"""Correct programs pass every check of the emulated executor with the right numbers."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from emulated_cases import Case, cases, given

from cudaperf.engine.executors.emulated import EmulatedExecutor
from cudaperf.engine.executors.protocol import Outputs

Array = np.ndarray


def _leading(values: Array, n: int) -> Array:
    out = np.zeros(n * n, np.float32)
    out[: len(values)] = values
    return out


def _votes(n: int) -> Array:
    t, a = np.arange(64), given(n).ravel()
    odd = [sum(int(v) % 2 for v in a[w : w + 32]) for w in (0, 32)]
    total = [sum(range(w, w + 32)) for w in (0, 32)]
    wide = np.where(t % 32 < 30, t + 2.5, t + 0.5)
    per_warp = np.repeat(np.array(odd) + np.array(total), 32)
    return per_warp + 100 + 8 + (t ^ 1) + (t // 8 * 8 + 3) + 22 + 1 + 1 + wide + 10


def _mma_f64(n: int) -> Array:
    m, out = given(n), given(n) * 0
    out[:, :8] = m @ m[:, :8]
    out[:8, 8:] = m[:8, :4] @ m[:4, :8] + 1
    return out


def _mma_float(n: int) -> Array:
    m = given(n)
    return np.hstack([m @ m[:, :8], m[:, :8] @ m[:8, :8]])


def _block_functions(n: int) -> Array:
    blocks = given(n).reshape(2, 128)
    sums = np.cumsum(blocks, axis=1)
    return sums + 1000 * blocks.max(axis=1, keepdims=True) + 100000 * sums[:, -1:]


EXPECTED: dict[str, Callable[[int], Array]] = {
    "tiled_transpose": lambda n: given(n).T,
    "block_sums": lambda n: _leading(given(n).sum(axis=1), n),
    "warp_scan": lambda n: np.cumsum(given(n)),
    "histogram": lambda n: _leading(np.bincount(given(n).astype(int).ravel() % 8, minlength=8), n),
    "dynamic_shared": lambda n: given(n)[:, ::-1],
    "vector_loads": lambda n: 2 * given(n),
    "three_dimensions": lambda n: given(n) + np.arange(n * n).reshape(n, n),
    "graph": lambda n: 3 * given(n),
    "last_block_sums": lambda n: _leading(given(n).sum(keepdims=True).ravel(), n),
    "votes": _votes,
    "mma_f64": _mma_f64,
    "mma_float": _mma_float,
    "rounding": lambda n: np.ones(n * n),
    "block_functions": _block_functions,
    "async_copies": lambda n: given(n).reshape(4, 64)[:, ::-1],
}


@pytest.mark.parametrize("case", cases("good"), ids=lambda case: case.name)
def test_correct_program_passes_with_the_right_numbers(case: Case, tmp_path: Path) -> None:
    outcome = EmulatedExecutor().run(case.job(tmp_path), tmp_path / "run", time.monotonic() + 120)
    assert isinstance(outcome, Outputs), outcome
    assert {"memory", "barrier", "race", "initialization"} <= set(outcome.checks)
    for n, path in zip(case.sizes, outcome.paths, strict=True):
        np.testing.assert_array_equal(np.fromfile(path, np.float32), EXPECTED[case.name](n).ravel().astype(np.float32))
