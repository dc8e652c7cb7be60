"""Do the emulated executor and the GPU agree on the planted candidates, right and wrong? One line each, and a count.

    python benchmarks/gpu/verdicts.py --out DIR [--only WORD,...] [--executors emulated,gpu] [--jobs N] [--seconds S]
    python benchmarks/gpu/verdicts.py --merge A.json [B.json]

DIR/verdicts.json has every verdict. `--merge` runs nothing: it prints the table of such files, of one that was made without a
GPU and one that was made with it. The GPU runs launch plans alone here, built by NVRTC; `--jobs` processes have a GPU worker
each. Its verdict is the one that `optimize` gives: what the device passes goes through the emulation's sanitizers too. What the
device alone says is kept beside it. The exit status is 1 when the GPU rejects a right candidate or passes a wrong one, and when
the emulation gives another verdict than is expected.
"""

from __future__ import annotations

import argparse
import datetime
import json
import multiprocessing
import os
import shlex
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "engine"), str(ROOT / "tests" / "e2e"), str(Path(__file__).parent)]

from planted import Planted, planted  # noqa: E402
from verdict_table import complaints, counts, markdown, merged, words  # noqa: E402

from cudaperf.engine.executors.gpu.client import WorkerMissing  # noqa: E402
from cudaperf.engine.verdict import VERDICT, Verdict  # noqa: E402

SEED = 1
PREPARE_SECONDS = 120.0


@dataclass(frozen=True)
class Work:
    """What a process needs to know besides the candidate: the folder, the executors, the limit of one verdict, processes."""

    folder: Path
    executors: tuple[str, ...]
    seconds: float
    jobs: int


def main() -> int:
    options = _options()
    if options.merge:
        run = merged([json.loads(path.read_text()) for path in options.merge])
        print(markdown(run))
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cudaperf-verdicts-") as folder:
        names = tuple(options.executors.split(","))
        try:
            rows = _rows(options.only, Work(Path(folder), names, options.seconds, options.jobs))
        except WorkerMissing as error:
            sys.exit(f"no GPU here: {error}")
    run = _described(rows, time.monotonic() - started, options.jobs)
    (options.out / "verdicts.json").write_text(json.dumps(run, indent=1))
    print(f"\n{counts(rows)}\n{time.monotonic() - started:.0f} s")
    found = complaints(rows)
    print("\n".join(found))
    return 1 if found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "gpu-results")))
    parser.add_argument("--only", default="", help="words, one of which a candidate's name must contain")
    parser.add_argument("--executors", default="emulated,gpu")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes")
    parser.add_argument("--seconds", type=float, default=60.0, help="what one verdict may take")
    parser.add_argument("--merge", type=Path, nargs="+", default=[], help="verdict files to print as one table")
    return parser.parse_args()


def _described(rows: list[dict[str, Any]], seconds: float, jobs: int) -> dict[str, Any]:
    devices = {name: row["devices"][name] for row in rows for name in row["devices"]}
    command = shlex.join(["python", "benchmarks/gpu/verdicts.py", *sys.argv[1:]])
    about = {"command": command, "seconds": round(seconds), "jobs": jobs, "devices": devices}
    return {"date": datetime.date.today().isoformat(), "runs": [about], "rows": rows}


def _rows(only: str, work: Work) -> list[dict[str, Any]]:
    chosen = [p for p in planted() if not only or any(word in p.name for word in only.split(","))]
    tasks = sorted({p.task for p in chosen})
    with ProcessPoolExecutor(work.jobs, multiprocessing.get_context("spawn")) as pool:
        for message in pool.map(_prepare, tasks, [work] * len(tasks)):
            if message:
                sys.exit(message)
        rows = []
        for row in pool.map(_row, [p.name for p in chosen], [work] * len(chosen)):
            shown = "  ".join(f"{name}: {words(verdict):28}" for name, verdict in row["verdicts"].items())
            print(f"{row['name']:34} {shown} {sum(row['seconds'].values()):5.1f} s", flush=True)
            rows.append(row)
    return rows


# --- in the processes ---------------------------------------------------------------------------------------------------


def _prepare(task: str, work: Work) -> str | None:
    """Make the task's inputs and expected outputs, for all processes; what is wrong if they can't be made."""
    import pickle

    from corpus import case

    from cudaperf.engine.analyse import analyse
    from cudaperf.engine.reason import Reason
    from cudaperf.engine.verify.generate import configurations
    from cudaperf.engine.verify.prepare import prepare

    one = case(task)
    analysed = analyse(one.path, one.function, one.arguments)
    place = work.folder / task.replace("::", ".")
    ready = prepare(analysed.task, configurations(analysed.task, SEED), place, time.monotonic() + PREPARE_SECONDS)
    if isinstance(ready, Reason):
        return f"{task}: {ready.message}"
    (place / "prepared.pickle").write_bytes(pickle.dumps(ready))
    return None


@cache
def _prepared(task: str, folder: Path) -> Any:
    import pickle

    return pickle.loads((folder / task.replace("::", ".") / "prepared.pickle").read_bytes())


@cache
def _executor(name: str, jobs: int) -> Any:
    """This process's own; it ends with the process."""
    if name == "gpu":
        from cudaperf.engine.executors.gpu.executor import GpuExecutor

        executor = GpuExecutor()
        executor.emitted = False
        return executor
    from cudaperf.engine.executors.emulated.executor import EmulatedExecutor

    return EmulatedExecutor(workers=max(1, (os.cpu_count() or 1) // jobs))


def _row(name: str, work: Work) -> dict[str, Any]:
    one = next(p for p in planted() if p.name == name)
    row: dict[str, Any] = {
        "name": one.name,
        "good": one.good,
        "about": one.about,
        "expected": [str(e) for e in one.expected],
        "verdicts": {},
        "as_expected": {},
        "seconds": {},
        "devices": {},
    }
    for kind in work.executors:
        started, executor = time.monotonic(), _executor(kind, work.jobs)
        verdict = _verdict(one, executor, work)
        if kind == "gpu":
            row["verdicts"]["device"] = VERDICT.dump_python(verdict, mode="json")
            verdict = _gated(verdict, one, executor, work)
        row["verdicts"][kind] = VERDICT.dump_python(verdict, mode="json")
        row["as_expected"][kind] = one.accepts(verdict)
        row["seconds"][kind] = round(time.monotonic() - started, 2)
        row["devices"][kind] = executor.device
    return row


def _verdict(one: Planted, executor: Any, work: Work) -> Verdict:
    from cudaperf.engine.emit.cuda import emit
    from cudaperf.engine.reason import Refusal
    from cudaperf.engine.verdict import LaunchFailed
    from cudaperf.engine.verify.verify import verify

    prepared = _prepared(one.task, work.folder)
    place = work.folder / executor.name / one.name.replace("/", ".")
    try:
        files = emit(prepared.task, one.candidate, "planted")
    except Refusal as refusal:
        return LaunchFailed(message=refusal.reason.message)
    return verify(prepared, one.candidate, files, executor, place, time.monotonic() + work.seconds)


def _gated(verdict: Verdict, one: Planted, executor: Any, work: Work) -> Verdict:
    """What the sanitizers add to a pass."""
    from cudaperf.engine.emit.cuda import emit
    from cudaperf.engine.verdict import Passed
    from cudaperf.engine.verify.gate import sanitized

    if not isinstance(verdict, Passed):
        return verdict
    prepared = _prepared(one.task, work.folder)
    files = emit(prepared.task, one.candidate, "planted")
    place = work.folder / "sanitizers" / one.name.replace("/", ".")
    return sanitized(verdict, prepared, one.candidate, files, executor, place, time.monotonic() + work.seconds)


if __name__ == "__main__":
    sys.exit(main())
