"""Markers of the end-to-end tests: `slow` is left to `make test-full`, `gpu` needs an NVIDIA device."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: not part of the sampled suite")
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU")
