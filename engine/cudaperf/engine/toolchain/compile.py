"""Device code to a cubin with its resource figures, by whichever compiler is here (NVRTC first), cached on disk.

The cache is keyed by the code, the options, the architecture and the compiler, and holds successes only; it lives in
`$CUDAPERF_CACHE`, else `$XDG_CACHE_HOME/cudaperf`, else `~/.cache/cudaperf`. It promises nothing: an unwritable cache is a slow
one. Theoretical occupancy comes from the block sizes that a plan's launches fix.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.extras import install
from cudaperf.engine.plan import Launch, launches
from cudaperf.engine.size import SizeError, evaluate
from cudaperf.engine.toolchain import nvcc, nvrtc, ptxas
from cudaperf.engine.toolchain.devices import Architecture
from cudaperf.engine.toolchain.find import Tool, find_nvcc, find_nvrtc
from cudaperf.engine.toolchain.occupancy import occupancy
from cudaperf.engine.toolchain.ptxas import PtxasReport
from cudaperf.engine.verdict import CompileFailed, KernelResources


class NoCompiler(RuntimeError):
    """Neither NVRTC nor nvcc is here; the message says what would add one."""


@dataclass(frozen=True, slots=True)
class Cubin:
    """Machine code for one architecture, ptxas's figures a kernel, and which compiler made it ("NVRTC 13.0")."""

    code: bytes
    reports: tuple[PtxasReport, ...]
    architecture: int
    compiler: str


@dataclass(frozen=True, slots=True)
class DeviceCompiler:
    """NVRTC or nvcc: what `compile_cubin` will use."""

    tool: Tool
    kind: str

    @property
    def name(self) -> str:
        return f"{self.kind} {self.tool.version}".strip()


def no_compiler() -> str:
    """What to say where `device_compiler` finds none."""
    return f"no CUDA compiler here: {install('compiler')} adds NVRTC"


@lru_cache(maxsize=1)
def device_compiler() -> DeviceCompiler | None:
    """The compiler for device code here, or None; NVRTC needs no host compiler and takes a fifth of nvcc's time."""
    if tool := find_nvrtc():
        return DeviceCompiler(tool, "NVRTC")
    return nvcc_compiler()


@lru_cache(maxsize=1)
def nvcc_compiler() -> DeviceCompiler | None:
    """nvcc where it is here, for machine code that must be what nvcc makes of the emitted files."""
    tool = find_nvcc()
    return DeviceCompiler(tool, "nvcc") if tool else None


def with_prelude(code: str) -> str:
    """The code after what standard headers would define; lines keep their numbers in messages."""
    return f"{_prelude()}{_OWN_LINES}{code}"


_OWN_LINES: Final = '#line 1 "candidate.cu"\n'


@lru_cache(maxsize=1)
def _prelude() -> str:
    return (Path(__file__).parent / "prelude.cuh").read_text(encoding="utf-8")


def compile_cubin(
    code: str, architecture: Architecture, options: Sequence[str] = (), compiler: DeviceCompiler | None = None
) -> Cubin | CompileFailed:
    """Compile device code (with its `cp_*` functions already in it), by `device_compiler()` unless one is given; raises
    `NoCompiler`."""
    compiler = compiler or device_compiler()
    if compiler is None:
        raise NoCompiler(no_compiler())
    key = _key(code, architecture.capability, options, compiler)
    if cached := _read_cache(key, architecture.capability):
        return cached
    compiled = _compile(with_prelude(code), architecture.capability, options, compiler)
    if not compiled.cubin:
        return CompileFailed(log=compiled.log.strip())
    cubin = Cubin(compiled.cubin, ptxas.parse(compiled.log), architecture.capability, compiler.name)
    _write_cache(key, cubin)
    return cubin


def _compile(code: str, capability: int, options: Sequence[str], compiler: DeviceCompiler) -> nvrtc.Compiled:
    if compiler.kind == "NVRTC":
        return nvrtc.load(compiler.tool.path).compile(code, capability, options)
    return nvcc.compile_cubin(compiler.tool.path, code, capability, options)


def cache_folder() -> Path:
    """Where compiled things are kept between runs."""
    if chosen := os.environ.get("CUDAPERF_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cudaperf"


def _key(code: str, capability: int, options: Sequence[str], compiler: DeviceCompiler) -> str:
    parts = (_prelude(), code, str(capability), *options, compiler.name, str(compiler.tool.path))
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()


def _read_cache(key: str, capability: int) -> Cubin | None:
    folder = cache_folder() / "cubin" / key[:2]
    try:
        facts = json.loads((folder / f"{key}.json").read_text(encoding="utf-8"))
        code = (folder / f"{key}.cubin").read_bytes()
        if hashlib.sha256(code).hexdigest() != facts["sha256"]:
            return None
        return Cubin(code, tuple(PtxasReport(**report) for report in facts["reports"]), capability, facts["compiler"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # absent, or damaged: compile again


def _write_cache(key: str, cubin: Cubin) -> None:
    folder = cache_folder() / "cubin" / key[:2]
    facts = {
        "sha256": hashlib.sha256(cubin.code).hexdigest(),
        "reports": [asdict(report) for report in cubin.reports],
        "compiler": cubin.compiler,
    }
    with suppress(OSError):  # a full or read-only disk only costs time
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / f"{key}.cubin", cubin.code)
        replace_file(folder / f"{key}.json", json.dumps(facts).encode())


def replace_file(path: Path, content: bytes) -> None:
    """Put the bytes in place of a file's, whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except OSError:
        os.unlink(name)
        raise


def kernel_resources(candidate: Candidate, cubin: Cubin, architecture: Architecture) -> tuple[KernelResources, ...]:
    """ptxas's figures with theoretical occupancy where the plan's launches of a kernel all have one constant block."""
    return tuple(_resources(candidate, report, architecture) for report in cubin.reports)


def _resources(candidate: Candidate, report: PtxasReport, architecture: Architecture) -> KernelResources:
    shape = _constant_shape([node for node in launches(candidate.plan.steps) if node.kernel == report.kernel])
    shared = report.shared_bytes + (shape[1] if shape else 0)
    result = occupancy(architecture, shape[0], report.registers, shared) if shape else None
    return KernelResources(
        kernel=report.kernel,
        architecture=architecture.capability,
        registers=report.registers,
        shared_bytes=shared,
        spill_bytes=report.spill_stores + report.spill_loads,
        occupancy=result.fraction if result else None,
        limiter=result.limiter if result else None,
        threads=shape[0] if shape else None,
    )


def _constant_shape(nodes: list[Launch]) -> tuple[int, int] | None:
    """(threads a block, dynamic shared bytes) when constant over all launches of the kernel."""
    try:
        shapes = {tuple(evaluate(text, {}) for text in (*node.block, node.shared)) for node in nodes}
    except SizeError:
        return None
    if len(shapes) != 1:
        return None
    x, y, z, shared = shapes.pop()
    return (x * y * z, shared) if x * y * z > 0 and shared >= 0 else None


def resources(candidate: Candidate, architecture: Architecture) -> tuple[KernelResources, ...]:
    """The figures of a candidate's kernels; empty without a compiler or where the code does not compile."""
    if device_compiler() is None:
        return ()
    cubin = compile_cubin(device_text(candidate), architecture, candidate.compile_options)
    return kernel_resources(candidate, cubin, architecture) if isinstance(cubin, Cubin) else ()


_CP_FUNCTION: Final = re.compile(r"\bcp_\w+")


def device_text(candidate: Candidate) -> str:
    """The whole device code of a candidate: the `cp_*` functions that it calls, then its own lines under their own numbers."""
    code = candidate.device_code
    if not _CP_FUNCTION.search(code):
        return code
    from cudaperf.engine.strategies.cp import cp_header

    return f"{cp_header(code)}\n{_OWN_LINES}{code}"
