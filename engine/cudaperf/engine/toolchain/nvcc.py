"""Drive nvcc: a cubin from device code, and executables from emitted files; time-bounded, each in a folder of its own."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cudaperf.engine.toolchain.nvrtc import Compiled


@dataclass(frozen=True, slots=True)
class Built:
    """An executable, or the log of a build that failed (`path` None)."""

    path: Path | None
    log: str


def compile_cubin(nvcc: Path, code: str, capability: int, options: Sequence[str] = (), timeout: float = 120.0) -> Compiled:
    """`nvcc -cubin`; a timeout is a failed compile that says so."""
    with tempfile.TemporaryDirectory(prefix="cudaperf-") as name:
        folder = Path(name)
        (folder / "candidate.cu").write_text(code, encoding="utf-8")
        command = [
            str(nvcc),
            "-cubin",
            f"-arch=sm_{capability}",
            "--ptxas-options=-v",
            *options,
            "candidate.cu",
            "-o",
            "out.cubin",
        ]
        status, log = _run(command, folder, timeout)
        return Compiled((folder / "out.cubin").read_bytes() if status == 0 else b"", log)


def build(nvcc: Path, sources: Sequence[Path], output: Path, options: Sequence[str] = (), timeout: float = 300.0) -> Built:
    """An executable from .cu and .cpp files (options: `-arch=sm_90`, `-O3`, `-I...`)."""
    command = [str(nvcc), *options, *(str(source.resolve()) for source in sources), "-o", str(output.resolve())]
    status, log = _run(command, output.parent, timeout)
    return Built(output if status == 0 else None, log)


def _run(command: list[str], folder: Path, timeout: float) -> tuple[int, str]:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return -1, f"nvcc took more than {timeout:.0f} s"
    return done.returncode, done.stdout + done.stderr
