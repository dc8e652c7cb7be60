"""How long `cudaperf optimize` takes for each function of examples/, from process start to exit. Aim: under 10 s emulated.

Run: python benchmarks/optimize_latency.py [FILE::FUNCTION ...]. One run each, into a folder that is removed. Processor seconds
are those of all processes started (compilers, sanitizers); on a busy machine they tell more than the seconds passed.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TARGETS = ("heat.c::step", "vectors.c::saxpy", "vectors.c::dot", "matmul.c::matmul", "filter.c::smooth")


def processor_seconds() -> float:
    """What this process's ended children have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(target: str, folder: str) -> tuple[float, float, str]:
    """Seconds, processor seconds, and what became of it."""
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
    start, before = time.perf_counter(), processor_seconds()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    took, used = time.perf_counter() - start, processor_seconds() - before
    answer = json.loads(done.stdout)
    return took, used, answer["status"] if not answer["reason"] else f"{answer['status']} [{answer['reason']['code']}]"


def main() -> None:
    for target in sys.argv[1:] or [str(EXAMPLES / name) for name in TARGETS]:
        with tempfile.TemporaryDirectory() as folder:
            took, used, outcome = measure(target, folder)
        load = os.getloadavg()[0]
        print(f"{took:7.2f} s  {used:7.2f} processor s  load {load:5.2f}  {outcome:24} {target}", flush=True)


if __name__ == "__main__":
    main()
