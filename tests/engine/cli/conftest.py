"""The real command, in a folder of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_command import Command


@pytest.fixture
def cudaperf(tmp_path: Path) -> Command:
    return Command(tmp_path)
