"""Property tests: the same few examples each time by default, many new ones in the deep profile of `make test-full`."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

SLOW_MACHINES = [HealthCheck.too_slow]
settings.register_profile(
    "sampled", max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=SLOW_MACHINES
)
settings.register_profile("deep", max_examples=500, deadline=None, suppress_health_check=SLOW_MACHINES)
settings.load_profile("sampled")
