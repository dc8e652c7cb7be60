"""How long `cudaperf optimize` takes for each function of examples/, from process start to exit. Aim: under 10 s emulated.

Run: python benchmarks/optimize_latency.py [FILE::FUNCTION ...]. One run each, into a folder that is removed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TARGETS = ("heat.c::step", "vectors.c::saxpy", "vectors.c::dot", "matmul.c::matmul", "filter.c::smooth")


def measure(target: str, folder: str) -> tuple[float, str]:
    """Seconds, and what became of it."""
    command = [
        sys.executable,
        "-m",
        "cudaperf.engine.cli",
        "optimize",
        target,
        "-o",
        folder,
        "--executor",
        "emulated",
        "--json",
    ]
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    took = time.perf_counter() - start
    answer = json.loads(done.stdout)
    return took, answer["status"] if not answer["reason"] else f"{answer['status']} [{answer['reason']['code']}]"


def main() -> None:
    for target in sys.argv[1:] or [str(EXAMPLES / name) for name in TARGETS]:
        with tempfile.TemporaryDirectory() as folder:
            took, outcome = measure(target, folder)
        print(f"{took:7.2f}s  {outcome:24} {target}", flush=True)


if __name__ == "__main__":
    main()
