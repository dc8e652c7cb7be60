"""Do the emulated executor and the GPU agree on the planted candidates, right and wrong? One line each, and a count.

    python benchmarks/gpu/verdicts.py --out DIR [--only WORD,...] [--executors emulated,gpu]

A disagreement is where one executor passes what the other rejects. Races that happen not to show and reads outside a buffer
that do not fault are not found on a GPU, by design: those are the sanitizers' to find, and are counted apart ("not seen on the
GPU"). DIR/verdicts.json has every verdict. The exit status is 1 when the GPU rejects a right candidate, or passes a wrong one
whose expected verdict is not such a hazard.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "engine"), str(ROOT / "tests" / "e2e")]

from planted import Planted, planted  # noqa: E402

from cudaperf.engine.verdict import VERDICT, Verdict  # noqa: E402

SEED = 1
SECONDS = 120.0


def main() -> int:
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    executors = {name: _executor(name) for name in options.executors.split(",")}
    chosen = [p for p in planted() if not options.only or any(word in p.name for word in options.only.split(","))]
    with tempfile.TemporaryDirectory(prefix="cudaperf-verdicts-") as folder:
        rows = [_row(one, executors, Path(folder)) for one in chosen]
    (options.out / "verdicts.json").write_text(json.dumps(rows, indent=1))
    return _summary(rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "gpu-results")))
    parser.add_argument("--only", default="", help="words, one of which a candidate's name must contain")
    parser.add_argument("--executors", default="emulated,gpu")
    return parser.parse_args()


def _executor(name: str) -> Any:
    if name == "gpu":
        from cudaperf.engine.executors.gpu.executor import GpuExecutor

        return GpuExecutor()
    from cudaperf.engine.executors.emulated.executor import EmulatedExecutor

    return EmulatedExecutor()


@lru_cache
def _prepared(task: str, folder: Path) -> Any:
    """The analysed function and its prepared configurations, once a task."""
    from corpus import case

    from cudaperf.engine.analyse import analyse
    from cudaperf.engine.reason import Reason
    from cudaperf.engine.verify.generate import configurations
    from cudaperf.engine.verify.prepare import prepare

    one = case(task)
    analysed = analyse(one.path, one.function, one.arguments)
    specs, place = configurations(analysed.task, SEED), folder / task.replace("::", ".")
    ready = prepare(analysed.task, specs, place, time.monotonic() + SECONDS)
    if isinstance(ready, Reason):
        sys.exit(f"{task}: {ready.message}")
    return ready


def _row(one: Planted, executors: dict[str, Any], folder: Path) -> dict[str, Any]:
    found = {name: _verdict(one, executor, folder) for name, executor in executors.items()}
    row: dict[str, Any] = {
        "name": one.name,
        "good": one.good,
        "about": one.about,
        "expected": [str(e) for e in one.expected],
        "verdicts": {name: VERDICT.dump_python(verdict, mode="json") for name, verdict in found.items()},
        "as_expected": {name: one.accepts(verdict) for name, verdict in found.items()},
    }
    print(f"{one.name:34} " + "  ".join(f"{name}: {_words(verdict):28}" for name, verdict in found.items()), flush=True)
    return row


def _verdict(one: Planted, executor: Any, folder: Path) -> Verdict:
    from cudaperf.engine.emit.cuda import emit
    from cudaperf.engine.reason import Refusal
    from cudaperf.engine.verdict import LaunchFailed
    from cudaperf.engine.verify.verify import verify

    prepared = _prepared(one.task, folder)
    place = folder / executor.name / one.name.replace("/", ".")
    try:
        files = emit(prepared.task, one.candidate, "planted")
    except Refusal as refusal:
        return LaunchFailed(message=refusal.reason.message)
    return verify(prepared, one.candidate, files, executor, place, time.monotonic() + SECONDS)


def _words(verdict: Verdict) -> str:
    return " ".join(filter(None, (verdict.kind, getattr(verdict, "hazard", ""))))


def _unseen(row: dict[str, Any]) -> bool:
    """A wrong candidate that the GPU passes, whose fault is one that only sanitizers see."""
    return not row["good"] and all(e.startswith("hazard") for e in row["expected"]) and _kind(row, "gpu") == "passed"


def _kind(row: dict[str, Any], executor: str) -> str | None:
    verdict = row["verdicts"].get(executor)
    return verdict["kind"] if verdict else None


def _summary(rows: list[dict[str, Any]]) -> int:
    both = [row for row in rows if len(row["verdicts"]) == 2]
    agree = [row for row in both if (_kind(row, "gpu") == "passed") == (_kind(row, "emulated") == "passed")]
    unseen = [row["name"] for row in rows if _unseen(row)]
    wrong = [row["name"] for row in rows if row["good"] != (_kind(row, "gpu") == "passed") and not _unseen(row)]
    missed = [row["name"] for row in rows if not row["as_expected"].get("emulated", True)]
    print(f"\n{len(rows)} candidates; the executors agree on {len(agree)} of {len(both)}")
    print(f"not seen on the GPU (sanitizers see them): {', '.join(unseen) or 'none'}")
    print(f"emulated verdicts that differ from what is expected: {', '.join(missed) or 'none'}")
    if not any("gpu" in row["verdicts"] for row in rows):
        return 0
    print(f"wrong on the GPU: {', '.join(wrong) or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
