"""How long `cudaperf check` takes. Aims: the first check of 5,000 lines under 150 ms, a check after an edit of one line under
15 ms, 1,000 files at 50,000 lines a second.

Run: python benchmarks/check.py [FOLDER] [--copies N]. The first part checks the files of FOLDER (tests/data/kernels if none) in
this process, one core, nothing cached, by stage and rule family; processor seconds, the best of three. The second part joins
some 5,000 lines of them to one text, and edits a line at a time: new comments, then statements. The third copies the folder N
times (default 40) and checks the copies through the command on all cores; seconds by the clock.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINES = 5000
EDITS = 40
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "engine"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "tests" / "data" / "kernels")
    parser.add_argument("--copies", type=int, default=40)
    options = parser.parse_args()
    paths = sorted(p for p in options.folder.rglob("*") if p.suffix in (".cu", ".cuh"))
    lines = sum(p.read_bytes().count(b"\n") for p in paths)
    print(f"{len(paths)} files, {lines} lines, one process:")
    for name, seconds in stages(paths):
        print(f"  {name:14} {1e3 * seconds:8.0f} ms")
    edits(paths)
    whole(options.folder, options.copies, lines)


def stages(paths: list[Path]) -> list[tuple[str, float]]:
    """Processor seconds of reading, then of each rule family over fresh models, and their sum."""
    from cudaperf.engine.analysis.families import families
    from cudaperf.engine.analysis.settings import Settings
    from cudaperf.engine.cuda.model import FileModel
    from cudaperf.engine.cuda.reader import read
    from cudaperf.engine.cuda.source import Source

    def models() -> list[FileModel]:
        return [read(Source(str(path), path.read_bytes())) for path in paths]

    best: dict[str, float] = {}
    for _ in range(3):
        start = time.process_time()
        fresh = models()
        took = {"read": time.process_time() - start}
        for family in families():
            start = time.process_time()
            for model in fresh:
                for function in model.functions:
                    family.findings(model, function, Settings())
            took[family.name] = time.process_time() - start
        best = {name: min(best.get(name, seconds), seconds) for name, seconds in took.items()}
    return [*best.items(), ("all", sum(best.values()))]


def edits(paths: list[Path]) -> None:
    """One document in an editor."""
    from cudaperf.engine.analysis.kept import Kept
    from cudaperf.engine.analysis.run import check_text
    from cudaperf.engine.analysis.settings import Settings
    from cudaperf.engine.cuda.source import Source

    lines: list[bytes] = []
    for path in paths:
        lines += path.read_bytes().splitlines(keepends=True) if len(lines) < LINES else []
    kept, settings, draw = Kept(), Settings(), random.Random(1)

    def seconds() -> float:
        source = Source("edited.cu", b"".join(lines))
        start = time.process_time()
        check_text(source, settings, (), kept)
        return time.process_time() - start

    print(f"one text of {len(lines)} lines, edited {EDITS} times:")
    print(f"  first check    {1e3 * seconds():8.0f} ms")
    comments, code = [], []
    for number in range(EDITS):
        lines.insert(draw.randrange(len(lines)), b"// note %d\n" % number)
        comments.append(seconds())
    inside = [i for i, line in enumerate(lines) if re.match(rb"\s+\w.*[a-z\])] = .*;\s*$", line)]
    for at in draw.sample(inside, EDITS):
        lines[at] = lines[at].replace(b";", b" + 1;", 1)
        code.append(seconds())
    for name, took in (("a comment", comments), ("a statement", code)):
        took.sort()
        print(f"  {name:14} {1e3 * took[EDITS // 2]:8.1f} ms (median), {1e3 * took[-1]:.0f} ms at most")


def whole(folder: Path, copies: int, lines: int) -> None:
    """The command over many copies."""
    with tempfile.TemporaryDirectory(prefix="cudaperf-check-") as place:
        for number in range(copies):
            shutil.copytree(folder, Path(place) / str(number))
        start = time.perf_counter()
        command = [sys.executable, "-m", "cudaperf.engine.cli", "check", place, "--statistics"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine")}
        subprocess.run(command, stdout=subprocess.DEVNULL, env=environment, check=False)
        took = time.perf_counter() - start
    cores = len(os.sched_getaffinity(0))
    print(f"{copies} copies, {copies * lines} lines, {cores} cores: {took:.1f} s, {copies * lines / took:,.0f} lines/s")


if __name__ == "__main__":
    main()
