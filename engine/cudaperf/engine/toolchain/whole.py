"""Whether nvcc compiles the emitted files as they are, host part included, at the options that their head names.

The emulation's headers are ours: a name that only CUDA's declare shows here. Success is kept in the cache of `compile`.
Promises nothing where nvcc itself can't work (no host compiler for it, no time): only an error within the files is a failure.
"""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.executors.protocol import EmittedFiles
from cudaperf.engine.toolchain import nvcc
from cudaperf.engine.toolchain.compile import DeviceCompiler, cache_folder, nvcc_compiler
from cudaperf.engine.toolchain.find import host_compiler
from cudaperf.engine.toolchain.resources import Failure, first_error
from cudaperf.engine.verdict import CompileFailed

SECONDS: Final = 60.0


def refused_by_nvcc(candidate: Candidate, files: EmittedFiles) -> CompileFailed | None:
    """What nvcc has against the files; None where it has nothing, or is not here."""
    compiler = nvcc_compiler()
    if compiler is None:
        return None
    options = (f"-arch=sm_{candidate.architecture}", *candidate.compile_options)
    kept = _place(compiler, options, files)
    if kept.exists():
        return None
    with tempfile.TemporaryDirectory(prefix="cudaperf-") as name:
        folder = Path(name)
        (folder / files.cu_name).write_text(files.cu, encoding="utf-8", errors="surrogateescape")
        (folder / files.header_name).write_text(files.header, encoding="utf-8", errors="surrogateescape")
        done = nvcc.build(compiler.tool.path, [folder / files.cu_name], folder / "out.o", ("-w", "-c", *options), SECONDS)
    if done.path is None:
        return _explained(first_error(done.log, Path(files.cu_name)), files, done.log)
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.touch()
    return None


def _explained(found: Failure, files: EmittedFiles, log: str) -> CompileFailed | None:
    """With the line's text: the file is one that the user will not get."""
    text = {"": files.cu, files.header_name: files.header}.get(found.file)
    if text is None or found.line is None:
        return None
    line = text.splitlines()[found.line - 1].strip()
    return CompileFailed(log=f"nvcc does not compile the emitted files: error: {found.message}, at `{line}`\n{log.strip()}")


def _place(compiler: DeviceCompiler, options: tuple[str, ...], files: EmittedFiles) -> Path:
    host = host_compiler()
    facts = (
        compiler.name,
        str(compiler.tool.path),
        str(host),
        *options,
        files.cu_name,
        files.cu,
        files.header_name,
        files.header,
    )
    key = hashlib.sha256("\0".join(facts).encode(errors="replace")).hexdigest()
    return cache_folder() / "whole" / key[:2] / key
