"""The whole job on a machine with an NVIDIA GPU: the tests that need one, then the corpus timed at large sizes.

    python benchmarks/gpu/run.py --out DIR [--only WORD,...] [--no-tests] [--baseline-seconds 20]

Installs nothing: what it needs is on PYTHONPATH (`setup.sh` beside this puts carried wheels there). Each function of
`corpus.json` goes through `optimize` on the GPU; then every candidate that passed is timed at the large sizes. Prints a short
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
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "engine"), str(ROOT / "tests" / "e2e")]

SEED = 7
MEASURE_SECONDS = 180.0
SAMPLING_SECONDS = 0.5


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
        rows.append(time_one(item, executor, ceiling, options.baseline_seconds))
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
    parser.add_argument("--no-tests", action="store_true")
    parser.add_argument("--baseline-seconds", type=float, default=20.0, help="time for one CPU baseline; 0 for none")
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


def time_one(item: dict[str, Any], executor: Any, ceiling: dict[str, Any], baseline_seconds: float) -> Row:
    """Optimize one function on the GPU, then time what passed at the given sizes."""
    from corpus import case

    from cudaperf.engine.optimize import optimize
    from cudaperf.engine.result import OptimizeRequest

    one, started = case(item["case"]), time.monotonic()
    result = optimize(OptimizeRequest(one.path, one.function, executor="gpu", arguments=one.arguments), lambda _: None)
    row = Row(item["case"], item["sizes"], str(result.status), limit=item["limit"])
    row.detail = result.reason.message if result.reason else ""
    if result.evidence is not None:
        row.chosen = result.evidence.chosen.candidate.schedule
        with tempfile.TemporaryDirectory(prefix="cudaperf-benchmark-") as folder:
            _large(row, result.evidence, executor, Path(folder), baseline_seconds)
        row.of_limit = _of_limit(row, result.evidence.task, ceiling)
    row.took = time.monotonic() - started
    best = f"{1e3 * row.best['median']:.3f} ms" if row.best else ""
    print(f"{row.case}: {row.status} {best} ({row.took:.1f} s) {row.detail}", flush=True)
    return row


def _large(row: Row, evidence: Any, executor: Any, folder: Path, baseline_seconds: float) -> None:
    """Time every passed candidate, and the CPU, on one large configuration."""
    from cudaperf.engine.verify.baseline import baselines
    from cudaperf.engine.verify.data import write_inputs
    from cudaperf.engine.verify.generate import Limits, inputs, timing_configuration

    task = evidence.task
    spec = timing_configuration(task, SEED, row.sizes, Limits(work=1 << 44, elements=1 << 30))
    if spec is None:
        row.detail = "the assumptions leave no configuration of these sizes"
        return
    row.sizes = dict(spec.sizes)
    write_inputs(task, folder / "large.in", inputs(task, spec))
    passed = [j.candidate for j in (evidence.chosen, *evidence.others) if j.verdict.kind == "passed"]
    timed = [_time_candidate(task, candidate, executor, folder) for candidate in passed]
    row.candidates = sorted(timed, key=lambda each: each.get("median", float("inf")))
    if baseline_seconds > 0:
        found = baselines(task, spec, (), folder / "baselines", time.monotonic() + baseline_seconds)
        row.baselines = {baseline.name: baseline.seconds for baseline in found}


def _time_candidate(task: Any, candidate: Any, executor: Any, folder: Path) -> dict[str, Any]:
    from cudaperf.engine.emit.cuda import emit
    from cudaperf.engine.executors.gpu.executor import Measurement
    from cudaperf.engine.executors.protocol import Job
    from cudaperf.engine.verify.harness import harness_source
    from cudaperf.engine.verify.verify import callee_name

    files, harness = emit(task, candidate, "benchmark"), harness_source(task, callee_name(task))
    job = Job(task, candidate, files, harness, (folder / "large.in",), ())
    deadline = time.monotonic() + MEASURE_SECONDS
    found = executor.measure(job, folder / candidate.digest, 0, deadline, seconds=SAMPLING_SECONDS)
    row = {"strategy": candidate.strategy, "schedule": candidate.schedule}
    if not isinstance(found, Measurement):
        return {**row, "verdict": found.model_dump(mode="json")}
    return {**row, **found.timing.model_dump(mode="json"), "mode": found.mode, "sets": found.sets, "clocks": found.clocks}


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
    print(f"{'function':28} {'kernel ms':>10} {'with copies':>11} {'of limit':>11} {'1 thread':>10}  schedule")
    for row in rows:
        share = f"{row.of_limit:.0%} {row.limit}" if row.of_limit is not None else "-"
        best = row.best or {}
        kernel, whole = _ms(best.get("median")), _ms(best.get("end_to_end"))
        base = _ms(next(iter(row.baselines.values()), None))
        outcome = best.get("schedule", "") if row.status == "verified" else f"{row.status}: {row.detail}"
        print(f"{row.case:28} {kernel:>10} {whole:>11} {share:>11} {base:>10}  {outcome[:60]}")


def _ms(seconds: float | None) -> str:
    return f"{1e3 * seconds:.3f}" if seconds is not None else "-"


if __name__ == "__main__":
    sys.exit(main())
