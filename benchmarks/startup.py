"""How long `cudaperf` takes to say something: help, version, doctor. Aim: under 0.3 s each.

Run: python benchmarks/startup.py [repetitions]. Whole processes, the best and the median of the repetitions; the first run of
each warms the disk cache and is left out.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

COMMANDS = (("--help",), ("optimize", "--help"), ("version",), ("doctor",))


def seconds(arguments: tuple[str, ...]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "cudaperf.engine.cli", *arguments], stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print(f"{'command':24} {'best':>8} {'median':>8}")
    for arguments in COMMANDS:
        seconds(arguments)
        samples = [seconds(arguments) for _ in range(repetitions)]
        print(f"cudaperf {' '.join(arguments):15} {min(samples):7.3f}s {statistics.median(samples):7.3f}s")


if __name__ == "__main__":
    main()
