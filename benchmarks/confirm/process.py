"""Programs run with a limit: what outlives it is ended with all its children."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess


def output_of(command: list[str], seconds: float) -> str | None:
    """Both streams of a command; None where it took longer than `seconds`."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True
    ) as child:
        try:
            return child.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            return None
