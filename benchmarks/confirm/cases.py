"""The cases, read by the tests' own reader; it needs nothing installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[2]
_READER = str(ROOT / "tests" / "engine" / "analysis")

if TYPE_CHECKING:
    from tests.engine.analysis.kernel_cases import ACCURACY, BY_ARRAY, FOLDER, NAMED, Argument, Case, Decision, Mark, load
else:
    if _READER not in sys.path:
        sys.path.insert(0, _READER)
    from kernel_cases import ACCURACY, BY_ARRAY, FOLDER, NAMED, Argument, Case, Decision, Mark, load

__all__ = ["ACCURACY", "BY_ARRAY", "FOLDER", "NAMED", "ROOT", "Argument", "Case", "Decision", "Mark", "load"]
