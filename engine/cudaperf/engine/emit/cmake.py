"""How to build an emitted file: one nvcc line, and CMake lines for an existing target."""

from __future__ import annotations

import shlex
from typing import Final

from cudaperf.engine.candidate import Candidate

_OPTIMIZE: Final = "-O3"


def nvcc_line(candidate: Candidate, cu_name: str) -> str:
    """The command that compiles the file to an object."""
    options = [_OPTIMIZE, f"-arch=sm_{candidate.architecture}", *candidate.compile_options]
    return shlex.join(["nvcc", *options, "-c", cu_name])


def cmake_lines(candidate: Candidate, cu_name: str, target: str = "your_target") -> list[str]:
    """CMake (3.18 or newer) that adds the file to `target`."""
    source = f'"{cu_name}"' if any(c in cu_name for c in ' ;()#"') else cu_name
    lines = ["enable_language(CUDA)", f"target_sources({target} PRIVATE {source})"]
    if candidate.compile_options:
        options = ";".join(candidate.compile_options)
        lines.append(f'set_source_files_properties({source} PROPERTIES COMPILE_OPTIONS "{options}")')
    lines.append(f"set_target_properties({target} PROPERTIES CUDA_ARCHITECTURES {candidate.architecture})")
    return lines
