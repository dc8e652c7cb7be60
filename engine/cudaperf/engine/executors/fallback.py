"""Whether an emitted function did its work on the CPU, by what it said on stderr.

The harness stands in for an original that other files can call, and sees the call itself. A static original is copied into the
.cu file, where only the message tells; without this look a candidate that always fails would be compared with itself.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from cudaperf.engine.verify.data import FALLBACK

_SAID: Final = re.compile(r"cudaperf: \w+ ran on the CPU: ")


def fell_back(stderr: str) -> bool:
    """Whether the program's messages say so."""
    return _SAID.search(stderr) is not None


def note_fallback(stderr: str, output: Path) -> None:
    """Turn the output file into the one that says so, if the messages do."""
    if output.exists() and fell_back(stderr):
        output.write_bytes(FALLBACK)
