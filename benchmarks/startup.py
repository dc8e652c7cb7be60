"""How long `cudaperf` takes to say something: help, version, doctor. Aim: under 0.3 s each.

Run: python benchmarks/startup.py [repetitions]. Whole processes: the best and the median of the repetitions, and the least
processor time (which a busy machine changes less); the first run of each warms the disk cache and is left out.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

COMMANDS = (("--help",), ("optimize", "--help"), ("version",), ("doctor",))


def measure(arguments: tuple[str, ...]) -> tuple[float, float]:
    """Seconds by the clock, and of the processor."""
    before, start = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "cudaperf.engine.cli", *arguments], stdout=subprocess.DEVNULL, check=False)
    took, after = time.perf_counter() - start, os.times()
    return took, after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print(f"{'command':24} {'best':>8} {'median':>8} {'processor':>10}")
    for arguments in COMMANDS:
        measure(arguments)
        clock, processor = zip(*(measure(arguments) for _ in range(repetitions)), strict=True)
        print(f"cudaperf {' '.join(arguments):15} {min(clock):7.3f}s {statistics.median(clock):7.3f}s {min(processor):9.3f}s")


if __name__ == "__main__":
    main()
