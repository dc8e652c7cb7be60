"""The real command, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

COMMAND = Path(sys.executable).with_name("cudaperf")


@dataclass(frozen=True)
class Command:
    """Runs `cudaperf` in `folder`, as a terminal-less program sees it."""

    folder: Path

    def __call__(self, *arguments: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [COMMAND, *arguments],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def files(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}
