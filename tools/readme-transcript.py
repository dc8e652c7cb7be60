"""Run the commands of README's transcript and put what they print there, between the two transcript comments.

Run from the repository root, after a change of what the commands print: .venv/bin/python tools/readme-transcript.py
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = (
    "cudaperf optimize vectors.c",
    "cudaperf optimize heat.c::step --executor emulated",
    "cudaperf optimize filter.c::smooth --executor emulated",
)
PART = re.compile(r"(<!-- transcript -->\n).*?(<!-- end of transcript -->)", re.DOTALL)


def transcript() -> str:
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for source in (ROOT / "examples").glob("*.c"):
            shutil.copy(source, folder)
        for command in COMMANDS:
            program = [sys.executable, "-m", "cudaperf.engine.cli", *command.split()[1:]]
            done = subprocess.run(program, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
            lines += [f"$ {command}", done.stdout.rstrip("\n"), ""]
    return "\n".join(lines).rstrip("\n")


def main() -> None:
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    new, found = PART.subn(lambda match: f"{match[1]}```\n{transcript()}\n```\n{match[2]}", text)
    if found != 1:
        raise SystemExit("README.md should have one pair of transcript comments")
    readme.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
