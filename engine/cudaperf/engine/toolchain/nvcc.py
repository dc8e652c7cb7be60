"""Drive nvcc: a cubin from device code, ptxas's report of a user's file, and executables from emitted files; time-bounded."""

from __future__ import annotations

import contextlib
import os
import re
import signal
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


def plain_name(path: Path) -> bool:
    """Whether nvcc can be given a file: it runs its parts by a shell, which would execute what some names hold."""
    return re.search(r"[$`\"\\\r\n]", str(path)) is None


def plain_option(option: str) -> bool:
    """As `plain_name`; nvcc escapes quotes in options."""
    return re.search(r"[$`]", option) is None


@dataclass(frozen=True, slots=True)
class Reported:
    """What nvcc and ptxas said of a file, and the files that it was made from; `succeeded` where it compiles."""

    succeeded: bool
    log: str
    depends: tuple[Path, ...] = ()


def report(nvcc: Path, source: Path, folder: Path, capability: int, options: Sequence[str], timeout: float = 300.0) -> Reported:
    """ptxas's report of a user's file as it is; what is made on the way goes to `folder`. The names have to be plain."""
    name, rules = source.absolute(), folder / "depends.d"
    command = [
        str(nvcc), "-cubin", f"-arch=sm_{capability}", "--ptxas-options=-v", "-w",
        "-extended-lambda", "-expt-relaxed-constexpr", "-MMD", "-MF", str(rules),
        *options, str(name), "-o", str(folder / "out.cubin"),
    ]  # fmt: skip
    status, log = _run(command, folder, timeout)
    if status != 0:
        return Reported(False, log)
    text = rules.read_text(encoding="utf-8", errors="surrogateescape").replace("\\\n", " ").partition(" : ")[2]
    found = (re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in re.findall(r"(?:\\.|\S)+", text))
    return Reported(True, log, tuple(path.resolve() for path in map(Path, found) if path != name))


def build(nvcc: Path, sources: Sequence[Path], output: Path, options: Sequence[str] = (), timeout: float = 300.0) -> Built:
    """An executable from .cu and .cpp files (options: `-arch=sm_90`, `-O3`, `-I...`)."""
    if odd := next((source for source in (*sources, output) if not plain_name(source.resolve())), None):
        return Built(None, f"{odd.name} is not passed to nvcc, which has a shell read names: rename it or its folder")
    command = [str(nvcc), *options, *(str(source.resolve()) for source in sources), "-o", str(output.resolve())]
    status, log = _run(command, output.parent, timeout)
    return Built(output if status == 0 else None, log)


def _run(command: list[str], folder: Path, timeout: float) -> tuple[int, str]:
    """The status and both streams. nvcc's own children end with it, by the time or by an interrupt."""
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as child:
        try:
            out, err = child.communicate(timeout=timeout)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return -1, f"nvcc took more than {timeout:.0f} s"
            raise
    return child.returncode, out + err
