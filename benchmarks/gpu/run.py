"""The whole job on a machine with an NVIDIA GPU: the tests that need one, then the corpus timed at large sizes.

    python benchmarks/gpu/run.py --out DIR [--only WORD,...] [--candidates N] [--no-tests]

Installs nothing: what it needs is on PYTHONPATH (`setup.sh` beside this puts carried wheels there). Each function of
`corpus.json` goes through `optimize` on the GPU, its candidates timed at the large sizes. Prints a short
table last; DIR gets `corpus.json` (every figure and sample), `tests.xml` and `tests.log`. Speed passes or fails nothing; a
function that is not verified, or a failing test, makes the exit status 1. "of limit" is the least traffic (or the multiplies
and adds) over the kernel time, as a fraction of what this device reached in a copy (or in cuBLAS's product) just before.
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

SEED = 7
MEASURE_SECONDS = 180.0
OPTIMIZE_SECONDS = 100.0


@dataclass
class Row:
    """One function. `candidates` are those timed at `sizes`, fastest first; seconds throughout; `of_limit` of the fastest."""

    case: str
    sizes: dict[str, int]
    status: str
    detail: str = ""
    chosen: str = ""
    candidates: list[dict[str, Any]] = field(default_factory=list)
    baselines: dict[str, float] = field(default_factory=dict)
    limit: str | None = None
    of_limit: float | None = None
    took: float = 0.0

    @property
    def best(self) -> dict[str, Any] | None:
        return self.candidates[0] if self.candidates else None


def main() -> int:
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    failed = 0 if options.no_tests else run_tests(options.out)
    wanted = [item for item in json.loads(options.corpus.read_text()) if _chosen(item["case"], options.only)]
    executor, ceiling = measure_device()
    rows = []
    for item in wanted:
        rows.append(time_one(item, ceiling, options.candidates))
        report = {"device": executor.facts, "ceiling": ceiling, "rows": [asdict(row) for row in rows]}
        (options.out / "corpus.json").write_text(json.dumps(report, indent=1))
    executor.close()
    show(executor.facts, ceiling, rows)
    return 1 if failed or any(row.status != "verified" for row in rows) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "gpu-results")))
    parser.add_argument("--corpus", type=Path, default=Path(__file__).parent / "corpus.json")
    parser.add_argument("--only", default="", help="words, one of which a case's name must contain")
    parser.add_argument("--candidates", type=int, default=8, help="how many to time, in the order of their static cost")
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
    print("tests:", *(out / "tests.log").read_text().strip().splitlines()[-1:], flush=True)
    return done.returncode


def measure_device() -> tuple[Any, dict[str, Any]]:
    """An executor, and what its device reaches."""
    from cudaperf.engine.executors.gpu.executor import GpuExecutor

    executor = GpuExecutor()
    ceiling = executor.ceiling(time.monotonic() + MEASURE_SECONDS)
    if not isinstance(ceiling, dict):
        sys.exit(f"the device's ceiling can't be measured: {ceiling}")
    return executor, ceiling


def time_one(item: dict[str, Any], ceiling: dict[str, Any], candidates: int) -> Row:
    """Optimize one function on the GPU, its candidates timed at the given sizes."""
    from corpus import case

    from cudaperf.engine.optimize import optimize
    from cudaperf.engine.result import OptimizeRequest

    one, started = case(item["case"]), time.monotonic()
    request = OptimizeRequest(
        one.path,
        one.function,
        executor="gpu",
        arguments=one.arguments,
        sizes=item["sizes"],
        max_seconds=OPTIMIZE_SECONDS,
        candidates=candidates,
    )
    result = optimize(request, lambda _: None)
    row = Row(item["case"], item["sizes"], str(result.status), limit=item["limit"])
    row.detail = result.reason.message if result.reason else ""
    if result.evidence is not None:
        evidence = result.evidence
        row.chosen = evidence.chosen.candidate.schedule
        row.candidates = [_timed(judged) for judged in (evidence.chosen, *evidence.others)]
        row.baselines = {baseline.name: baseline.seconds for baseline in evidence.baselines}
        row.of_limit = _of_limit(row, evidence.task, ceiling)
    row.took = time.monotonic() - started
    best = f"{1e3 * row.best['median']:.3f} ms" if row.best and "median" in row.best else ""
    print(f"{row.case}: {row.status} {best} ({row.took:.1f} s) {row.detail}", flush=True)
    return row


def _timed(judged: Any) -> dict[str, Any]:
    """One candidate's verdict and times."""
    row = {"strategy": judged.candidate.strategy, "schedule": judged.candidate.schedule, "verdict": judged.verdict.kind}
    timing = getattr(judged.verdict, "timing", None)
    return row | timing.model_dump(mode="json") if timing is not None else row


def _of_limit(row: Row, task: Any, ceiling: dict[str, Any]) -> float | None:
    from cudaperf.engine.size import SizeError, evaluate

    if row.limit is None or row.best is None or "median" not in row.best:
        return None
    seconds = float(row.best["median"])
    try:
        if row.limit == "copy":
            return evaluate(task.traffic, row.sizes) / seconds / float(ceiling["copy"])
        return 2.0 * evaluate(_product(row.sizes), {}) / seconds / float(ceiling["gemm"][row.limit])
    except (SizeError, KeyError):
        return None


def _product(sizes: dict[str, int]) -> str:
    return " * ".join(map(str, sizes.values()))


def show(device: dict[str, Any], ceiling: dict[str, Any], rows: list[Row]) -> None:
    order = ceiling["gemm_size"]
    gemm = ", ".join(f"cuBLAS {name} {rate / 1e12:.1f} TFLOP/s at {order}" for name, rate in ceiling["gemm"].items())
    print(f"\n{device['name']}, driver {device['driver']}, {device['backend']}; copy {ceiling['copy'] / 1e12:.2f} TB/s; {gemm}")
    print(f"{'function':28} {'kernel ms':>10} {'with copies':>11} {'of limit':>11} {'1 thread, all':>16}  schedule")
    for row in rows:
        share = f"{row.of_limit:.0%} {row.limit}" if row.of_limit is not None else "-"
        best = row.best or {}
        kernel, whole = _ms(best.get("median")), _ms(best.get("end_to_end"))
        base = " ".join(_ms(seconds) for seconds in row.baselines.values())
        outcome = best.get("schedule", "") if row.status == "verified" else f"{row.status}: {row.detail}"
        print(f"{row.case:28} {kernel:>10} {whole:>11} {share:>11} {base:>16}  {outcome[:60]}")


def _ms(seconds: float | None) -> str:
    return f"{1e3 * seconds:.3f}" if seconds is not None else "-"


if __name__ == "__main__":
    sys.exit(main())
