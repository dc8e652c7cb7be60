"""What is said of timing samples: the median, and a 95 % bootstrap interval for it. Pure; the same samples, the same answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Summary:
    """Seconds: the median of the samples and the bounds of its 95 % percentile-bootstrap interval."""

    median: float
    low: float
    high: float


def summarize(samples: Sequence[float], resamples: int = 1000, seed: int = 0) -> Summary:
    """At least one sample, every one finite and not negative; else `ValueError`."""
    values = np.asarray(samples, dtype=np.float64)
    if values.size == 0 or not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("timing samples must be finite, not negative, and at least one")
    picks = np.random.default_rng(seed).integers(0, values.size, (resamples, values.size))
    low, high = np.percentile(np.median(values[picks], axis=1), (2.5, 97.5))
    median = float(np.median(values))
    return Summary(median, min(float(low), median), max(float(high), median))
