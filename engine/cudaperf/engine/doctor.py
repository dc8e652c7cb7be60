"""What is installed here, what each missing part would add, and the one command that adds it.

Looks at files and asks compilers for their version: milliseconds. Finding a thing does not promise that it works; `deep` also
builds and runs a program under each sanitizer, which takes about a second.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cudaperf.engine.extras import install


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that may be installed. `detail` says which, or why not; `adds` what it is for; `command` what adds it.

    `needed`: `cudaperf optimize` can't do its work without it.
    """

    name: str
    found: bool
    detail: str
    adds: str
    command: str
    needed: bool = False


def examine(deep: bool = False) -> tuple[Part, ...]:
    """Every part, in the order of use."""
    return (
        _python(),
        _module("libclang", "clang.cindex", "reads C", "pip install libclang", needed=True),
        _module("islpy", "islpy", "dependence analysis", "pip install islpy", needed=True),
        *_compilers(deep),
        _found("NVRTC", _nvrtc, _what_nvrtc_adds(), install("compiler")),
        _found(
            "nvcc",
            _nvcc,
            "check --measure on whole files; builds the emitted files, call it by its path",
            install("compiler"),
        ),
        _found("GPU", _gpu, "verification and timing on the device", "an NVIDIA GPU and its driver"),
        _driver_package(),
    )


def complete(parts: tuple[Part, ...]) -> bool:
    """Whether nothing that `optimize` needs is missing."""
    return all(part.found for part in parts if part.needed)


def _python() -> Part:
    version = f"Python {sys.version.split()[0]}"
    system = sys.platform
    detail = f"{version} on {system}" + ("" if system == "linux" else "; optimize needs Linux or WSL")
    return Part("system", system == "linux", detail, "runs cudaperf", "use Linux or WSL", needed=True)


def _module(name: str, module: str, adds: str, command: str, needed: bool = False) -> Part:
    """By looking for the files; importing some of these takes seconds."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        spec = None
    detail = str(Path(spec.origin).parent) if spec and spec.origin else "not installed"
    return Part(name, spec is not None, detail, adds, command, needed)


def _driver_package() -> Part:
    """pycuda is published as source alone and needs CUDA's headers; cuda-bindings does the same work from a wheel."""
    from cudaperf.engine.toolchain.find import find_nvcc

    adds, name = "runs candidates on the GPU", "GPU package"
    command = install("gpu") if find_nvcc() else "pip install cuda-bindings"
    parts = [_module(name, module, adds, command) for module in ("pycuda", "cuda.bindings")]
    return next((part for part in parts if part.found), parts[0])


def _found(name: str, find: Callable[[], str | None], adds: str, command: str) -> Part:
    detail = find()
    return Part(name, detail is not None, detail or "not found", adds, command)


def _compilers(deep: bool) -> Iterator[Part]:
    from cudaperf.engine.toolchain.find import host_compiler

    tool = host_compiler()
    install = "sudo apt-get install g++"
    detail = f"{tool.path} {tool.version}" if tool else "not found"
    yield Part("C++ compiler", tool is not None, detail, "verifies candidates on the CPU", install, needed=True)
    if tool is not None:
        yield _sanitizers_run() if deep else _sanitizer_libraries(tool.path)


def _sanitizer_libraries(compiler: Path) -> Part:
    """The compiler answers with a bare name where it has no such library."""
    missing = []
    for library in ("libasan.so", "libubsan.so", "libtsan.so"):
        answer = subprocess.run([compiler, f"-print-file-name={library}"], capture_output=True, text=True, check=False)
        if "/" not in answer.stdout:
            missing.append(library)
    if missing and "clang" not in compiler.name:  # clang links its own, static
        return _sanitizers(False, f"no {', '.join(missing)} beside {compiler}", "sudo apt-get install g++")
    return _sanitizers(True, f"those of {compiler.name}", "")


def _sanitizers_run() -> Part:
    """The probe's words name the problem and its fix together."""
    from cudaperf.engine.executors.emulated.probe import probe

    problems = probe()
    return _sanitizers(not problems, "; ".join(problems) or "built and ran", "as said above")


def _sanitizers(found: bool, detail: str, command: str) -> Part:
    return Part("sanitizers", found, detail, "memory and race checks of every candidate", command, needed=True)


def _what_nvrtc_adds() -> str:
    if _nvcc() is None:
        return "registers and occupancy (optimize, check --measure), device code for a GPU"
    return "compiles candidates for a GPU in a fifth of nvcc's time"


def _nvrtc() -> str | None:
    from cudaperf.engine.toolchain.find import find_nvrtc

    tool = find_nvrtc()
    return f"{tool.version} ({tool.source}: {tool.path})" if tool else None


def _nvcc() -> str | None:
    from cudaperf.engine.toolchain.find import find_nvcc

    tool = find_nvcc()
    return f"{tool.version} ({tool.source}: {tool.path})" if tool else None


def _gpu() -> str | None:
    from cudaperf.engine.toolchain.find import find_gpu

    gpu = find_gpu()
    return f"{gpu.name} (sm_{gpu.capability}, driver for CUDA {gpu.driver})" if gpu else None
