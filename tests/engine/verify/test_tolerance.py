"""The derived bound accepts every right way to compute and no wrong one, with room on both sides (decision 001)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from cudaperf.engine.toolchain.find import host_compiler
from cudaperf.engine.verify import reference

SOURCE = Path(__file__).parents[2] / "data" / "verify" / "tolerance.cpp"


def experiments(directory: Path) -> list[dict[str, str | bool | float]]:
    compiler = host_compiler()
    assert compiler is not None
    program = directory / "tolerance"
    headers = Path(reference.__file__).parent / "cpp"
    command = [str(compiler.path), *reference.OPTIONS, f"-I{headers}", str(SOURCE), "-o", str(program), "-lquadmath"]
    subprocess.run(command, check=True, timeout=120)
    done = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60)
    found: list[dict[str, str | bool | float]] = json.loads(done.stdout)
    return found


def test_right_computations_stay_inside_and_wrong_ones_outside(tmp_path: Path) -> None:
    found = experiments(tmp_path)
    outside = [e for e in found if e["right"] and float(e["ratio"]) > reference.TOLERANCE_K / 2]
    inside = [e for e in found if not e["right"] and float(e["ratio"]) < reference.TOLERANCE_K * 2]
    assert len(found) > 50
    assert not outside
    assert not inside
