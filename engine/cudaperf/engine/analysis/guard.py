"""A fault of ours costs its own findings in one file, nothing else: exceptions become `Trouble`."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import PurePath
from typing import TypeVar

from cudaperf.engine.analysis.report.problem import Trouble

Answer = TypeVar("Answer")


def guarded(path: str, what: str, job: Callable[[], Answer]) -> Answer | Trouble:
    """What the job answers, or what kept it from that; `what` is the job in words."""
    try:
        return job()
    except RecursionError:
        return Trouble(path, "nested too deeply to look at whole; some rules did not run")
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        detail = f"{type(error).__name__} at {PurePath(place.filename).name}:{place.lineno}: {error}".replace("\n", " ")
        if os.environ.get("CUDAPERF_DEBUG"):
            detail += "\n" + traceback.format_exc()
        return Trouble(path, f"{what} failed; please report it with this file: {detail}", internal=True)
