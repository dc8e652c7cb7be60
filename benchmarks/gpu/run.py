"""The whole job on a machine with an NVIDIA GPU: the tests that need one, then the corpus timed at large sizes.

    python benchmarks/gpu/run.py --out DIR [--only WORD,...] [--seconds 60] [--no-tests]

Installs nothing: what it needs is on PYTHONPATH (`setup.sh` beside this puts carried wheels there). Prints a short table last;
DIR gets `corpus.json` (every figure), `tests.xml` and `tests.log`. Speed passes or fails nothing; a function that is not
verified, or a failing test, makes the exit status 1. "of limit" is the least traffic (or the multiply-adds) over the kernel
time, as a fraction of what this device reached in a copy (or in cuBLAS's product of the same type) just before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "engine"), str(ROOT / "tests" / "e2e")]


@dataclass
class Row:
    """One function: seconds; `of_limit` a fraction, None where no limit is named or it can't be told."""

    case: str
    sizes: dict[str, int]
    status: str
    detail: str = ""
    strategy: str = ""
    schedule: str = ""
    kernel: float | None = None
    low: float | None = None
    high: float | None = None
    end_to_end: float | None = None
    baselines: dict[str, float] = field(default_factory=dict)
    limit: str | None = None
    of_limit: float | None = None
    took: float = 0.0


def main() -> int:
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    failed = 0 if options.no_tests else run_tests(options.out)
    wanted = [item for item in json.loads(options.corpus.read_text()) if _chosen(item["case"], options.only)]
    device, ceiling = measure_device()
    rows = [time_one(item, ceiling, options.seconds) for item in wanted]
    report = {"device": device, "ceiling": ceiling, "rows": [asdict(row) for row in rows]}
    (options.out / "corpus.json").write_text(json.dumps(report, indent=1))
    show(device, ceiling, rows)
    return 1 if failed or any(row.status != "verified" for row in rows) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "gpu-results")))
    parser.add_argument("--corpus", type=Path, default=Path(__file__).parent / "corpus.json")
    parser.add_argument("--only", default="", help="words, one of which a case's name must contain")
    parser.add_argument("--seconds", type=float, default=60.0, help="time for one function, verification included")
    parser.add_argument("--no-tests", action="store_true")
    return parser.parse_args()


def _chosen(case: str, only: str) -> bool:
    return not only or any(word in case for word in only.split(","))


def run_tests(out: Path) -> int:
    """The tests marked `gpu`, with their report in `out`; pytest's exit status."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", f"--junitxml={out / 'tests.xml'}"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "engine"), os.environ.get("PYTHONPATH", "")])}
    with (out / "tests.log").open("w") as log:
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False)
    print("tests:", (out / "tests.log").read_text().strip().splitlines()[-1:], flush=True)
    return done.returncode


def measure_device() -> tuple[dict[str, Any], dict[str, Any]]:
    """What the device says of itself, and what it reaches."""
    from cudaperf.engine.executors.gpu.executor import GpuExecutor

    executor = GpuExecutor()
    ceiling = executor.ceiling(time.monotonic() + 120)
    executor.close()
    if not isinstance(ceiling, dict):
        sys.exit(f"the device's ceiling can't be measured: {ceiling}")
    return executor.facts, ceiling


def time_one(item: dict[str, Any], ceiling: dict[str, Any], seconds: float) -> Row:
    """Optimize one function of the corpus on the GPU at the given sizes."""
    from corpus import case

    from cudaperf.engine.optimize import optimize
    from cudaperf.engine.result import OptimizeRequest

    one, sizes = case(item["case"]), item["sizes"]
    request = OptimizeRequest(one.path, one.function, executor="gpu", arguments=one.arguments, sizes=sizes, max_seconds=seconds)
    started = time.monotonic()
    result = optimize(request, lambda event: None)
    row = Row(item["case"], sizes, str(result.status), limit=item["limit"], baselines=dict(result.baselines))
    row.took = time.monotonic() - started
    row.detail = result.reason.message if result.reason else ""
    if result.evidence is not None:
        _figures(row, result.evidence, ceiling)
    print(f"{row.case}: {row.status} in {row.took:.1f} s {row.detail}", flush=True)
    return row


def _figures(row: Row, evidence: Any, ceiling: dict[str, Any]) -> None:
    chosen = evidence.chosen
    row.strategy, row.schedule = chosen.candidate.strategy, chosen.candidate.schedule
    timing = getattr(chosen.verdict, "timing", None)
    if timing is None:
        return
    row.kernel, row.low, row.high, row.end_to_end = timing.median, timing.low, timing.high, timing.end_to_end
    row.of_limit = _of_limit(row, evidence.task, ceiling)


def _of_limit(row: Row, task: Any, ceiling: dict[str, Any]) -> float | None:
    from cudaperf.engine.size import SizeError, evaluate

    if row.limit is None or row.kernel is None:
        return None
    try:
        if row.limit == "copy":
            return evaluate(task.traffic, row.sizes) / row.kernel / float(ceiling["copy"])
        flops = 2.0
        for size in row.sizes.values():
            flops *= size
        return flops / row.kernel / float(ceiling["gemm"][row.limit])
    except (SizeError, KeyError):
        return None


def show(device: dict[str, Any], ceiling: dict[str, Any], rows: list[Row]) -> None:
    gemm = ", ".join(
        f"cuBLAS {name} {rate / 1e12:.1f} TFLOP/s at {ceiling['gemm_size']}" for name, rate in ceiling["gemm"].items()
    )
    print(f"\n{device['name']}, driver {device['driver']}, {device['backend']}; copy {ceiling['copy'] / 1e12:.2f} TB/s; {gemm}")
    print(f"{'function':28} {'strategy':14} {'kernel ms':>10} {'with copies':>11} {'of limit':>8}  baselines")
    for row in rows:
        share = f"{row.of_limit:.0%} {row.limit}" if row.of_limit is not None else "-"
        times = ", ".join(f"{name} {1e3 * seconds:.1f}" for name, seconds in row.baselines.items())
        outcome = row.strategy if row.status == "verified" else row.status
        print(f"{row.case:28} {outcome[:14]:14} {_ms(row.kernel):>10} {_ms(row.end_to_end):>11} {share:>8}  {times}")


def _ms(seconds: float | None) -> str:
    return f"{1e3 * seconds:.3f}" if seconds is not None else "-"


if __name__ == "__main__":
    sys.exit(main())
