"""One measurement at a time on this machine's device, across processes: a file lock, waited for until the deadline."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_POLL_SECONDS: Final = 0.05


@contextmanager
def device_lease(deadline: float) -> Iterator[bool]:
    """Yields whether the lease was got before `deadline` (of `time.monotonic`); measures may be disturbed where it was not."""
    path = Path(tempfile.gettempdir()) / f"cudaperf-device0-{os.getuid()}.lock"
    with path.open("w") as file:
        got = _lock(file.fileno(), deadline)
        yield got


def _lock(descriptor: int, deadline: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_SECONDS)
        else:
            return True
