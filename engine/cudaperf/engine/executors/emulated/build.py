"""Compilers and programs: from a job's emitted files to a program under AddressSanitizer and UBSan, one under ThreadSanitizer.

What does not depend on the candidate (the emulated runtime's object file, precompiled headers) is built once and kept in the
user's cache folder, keyed by the sources, the compiler and the flags. g++ >= 11 is preferred; clang++ works without precompiled
headers (tried with 14: it sees no misaligned copies of vector types, and knows the line of a wild access less often).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from cudaperf.engine.executors.emulated.translate import Untranslatable, translate
from cudaperf.engine.executors.protocol import Job
from cudaperf.engine.verdict import CompileFailed, Infrastructure, TimedOut

Sanitizer = Literal["address", "thread"]

ROOT = Path(__file__).parent
INCLUDE = ROOT / "include"
_COMMON = ("-std=c++17", "-O1", "-g1", "-fno-omit-frame-pointer", "-ffp-contract=off", "-fno-strict-aliasing", "-w")
_SANITIZERS: dict[Sanitizer, tuple[str, ...]] = {
    "address": ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-sanitize=shift-base,vptr"),
    "thread": ("-fsanitize=thread",),
}
_KEEP_SECONDS = 30 * 24 * 3600
NO_COMPILER = "no C++ compiler found: install g++ (Debian/Ubuntu: sudo apt install g++)"
_COMPILERS = ("g++", "g++-14", "g++-13", "g++-12", "g++-11", "clang++")


@dataclass(frozen=True, slots=True)
class Compiler:
    """A host C++ compiler; `version` is the first line of --version."""

    path: str
    version: str

    @property
    def is_clang(self) -> bool:
        return "clang" in self.version


@lru_cache(maxsize=1)
def find_compiler() -> Compiler | None:
    """The host compiler: $CXX if set, else the first of g++ and clang++ that runs."""
    for name in (os.environ.get("CXX", ""), *_COMPILERS):
        path = shutil.which(name) if name else None
        if path is None:
            continue
        shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if shown.returncode == 0:
            return Compiler(path, shown.stdout.splitlines()[0])
    return None


def cache_directory() -> Path:
    """Where prepared files live; a private temporary folder when the user's cache can't be written."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cudaperf" / "emulated"
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="cudaperf-emulated-"))
    return base if os.access(base, os.W_OK) else Path(tempfile.mkdtemp(prefix="cudaperf-emulated-"))


@dataclass(frozen=True, slots=True)
class Prepared:
    """The cached parts for one compiler: `runtime` is an object file, `headers[s]` an include folder for sanitizer s."""

    compiler: Compiler
    runtime: Path
    headers: dict[Sanitizer, Path]


class BuildError(Exception):
    """Our own sources do not compile, or the sanitizers' libraries are missing; the message is for the user."""


def _digest(compiler: Compiler) -> str:
    content = hashlib.sha256(f"{compiler}{_COMMON}{_SANITIZERS}".encode())
    for path in sorted([*INCLUDE.rglob("*.h"), *(ROOT / "runtime").iterdir()]):
        content.update(path.name.encode() + path.read_bytes())
    return content.hexdigest()[:16]


@lru_cache(maxsize=2)
def prepare(compiler: Compiler) -> Prepared:
    """Build, or find in the cache, what all candidates share. Raises `BuildError`."""
    target = cache_directory() / _digest(compiler)
    prepared = Prepared(compiler, target / "runtime.o", {"address": target / "address", "thread": target / "thread"})
    if target.is_dir():
        os.utime(target)
        return prepared
    scratch = Path(tempfile.mkdtemp(prefix="building-", dir=target.parent))
    try:
        _prepare_into(scratch, compiler)
        scratch.rename(target)
        _prune(target)
    except OSError:
        if not target.is_dir():  # another process may have been faster
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return prepared


def _prune(kept: Path) -> None:
    """Remove what other versions prepared and nothing has used for a month."""
    for other in kept.parent.iterdir():
        if other != kept and time.time() - other.stat().st_mtime > _KEEP_SECONDS:
            shutil.rmtree(other, ignore_errors=True)


def _prepare_into(folder: Path, compiler: Compiler) -> None:
    commands = [[compiler.path, *_COMMON, "-c", str(ROOT / "runtime" / "all.cpp"), "-o", str(folder / "runtime.o")]]
    for sanitizer, flags in _SANITIZERS.items():
        (folder / sanitizer).mkdir()
        output = folder / sanitizer / "cudaperf_prelude.h.gch"
        if not compiler.is_clang:
            header = ["-x", "c++-header", str(INCLUDE / "cudaperf_prelude.h"), "-o", str(output)]
            commands.append([compiler.path, *_COMMON, *flags, *header])
    running = [subprocess.Popen(c, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for c in commands]
    logs = [process.communicate()[1] for process in running]
    for process, log in zip(running, logs, strict=True):
        if process.returncode:
            raise BuildError(f"the emulated CUDA runtime does not compile with {compiler.version}: {log.strip()[:2000]}")


@dataclass(frozen=True, slots=True)
class Program:
    """A built program and the sanitizer in it."""

    path: Path
    sanitizer: Sanitizer


class Build:
    """The compilations of one job, started together: `program(sanitizer)` waits for what that program needs."""

    def __init__(self, prepared: Prepared, job: Job, folder: Path, sanitizers: tuple[Sanitizer, ...]) -> None:
        self._prepared = prepared
        self._job = job
        self._folder = folder
        self._began = time.monotonic()
        translated = folder / (job.files.cu_name + ".cpp")
        translated.write_text(translate(job.files.cu, job.files.cu_name))
        (folder / job.files.header_name).write_text(job.files.header)
        harness = folder / "harness.cpp"
        harness.write_text(job.harness)
        self._objects: dict[str, tuple[Path, subprocess.Popen[str]]] = {"harness": self._start(harness, "harness", ())}
        for sanitizer in sanitizers:
            flags = (f"-I{prepared.headers[sanitizer]}", *_SANITIZERS[sanitizer])
            self._objects[sanitizer] = self._start(translated, sanitizer, flags)

    def _start(self, source: Path, name: str, flags: tuple[str, ...]) -> tuple[Path, subprocess.Popen[str]]:
        output = self._folder / f"{name}.o"
        command = [self._prepared.compiler.path, *_COMMON, *flags, f"-I{self._folder}", f"-I{INCLUDE}"]
        log = (self._folder / f"{name}.build.log").open("w")
        # a compiler that is ended leaves its own temporary files behind: they go with the folder
        scratch = {**os.environ, "TMPDIR": str(self._folder)}
        with log:
            process = subprocess.Popen(
                [*command, "-c", str(source), "-o", str(output)],
                stdout=log,
                stderr=log,
                cwd=self._folder,
                env=scratch,
                text=True,
            )
        return output, process

    def program(self, sanitizer: Sanitizer, deadline: float) -> Program | CompileFailed | TimedOut | Infrastructure:
        """The linked program, or why there is none."""
        for name in (sanitizer, "harness"):
            try:
                status = self._objects[name][1].wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                return TimedOut(seconds=time.monotonic() - self._began)
            if status:
                return self._explain(name)
        return self._link(sanitizer)

    def _explain(self, name: str) -> CompileFailed | Infrastructure:
        log = (self._folder / f"{name}.build.log").read_text(errors="replace").replace(f"{self._folder}/", "")
        first = next((line for line in log.splitlines() if "error:" in line), "")
        if name == "harness" or not first:
            return Infrastructure(message=f"the test program does not compile: {log[:4000]}")
        return CompileFailed(log=f"{first}{self._shown(first)}\n{log}"[:8000])

    def _shown(self, error: str) -> str:
        """The text of an error's line: the file is one that the user does not get."""
        place = re.match(rf"{re.escape(self._job.files.cu_name)}:(\d+):", error)
        lines = self._job.files.cu.splitlines()
        return f", at `{lines[int(place[1]) - 1].strip()}`" if place and int(place[1]) <= len(lines) else ""

    def _link(self, sanitizer: Sanitizer) -> Program | CompileFailed | Infrastructure:
        path = self._folder / f"program-{sanitizer}"
        objects = [str(self._prepared.runtime), str(self._objects[sanitizer][0]), str(self._objects["harness"][0])]
        command = [self._prepared.compiler.path, *_SANITIZERS[sanitizer], *objects, "-o", str(path)]
        linked = subprocess.run(command, capture_output=True, text=True, check=False)
        if linked.returncode == 0:
            return Program(path, sanitizer)
        if "cannot find" in linked.stderr:
            return Infrastructure(message=f"the {sanitizer} sanitizer's library is missing: {linked.stderr.strip()[:1000]}")
        return CompileFailed(log=linked.stderr[:8000])

    def stop(self) -> None:
        """End what still compiles."""
        for _, process in self._objects.values():
            if process.poll() is None:
                process.kill()
            process.wait()


def start_build(prepared: Prepared, job: Job, folder: Path, sanitizers: tuple[Sanitizer, ...]) -> Build | CompileFailed:
    """Translate and start compiling."""
    try:
        return Build(prepared, job, folder, sanitizers)
    except Untranslatable as error:
        return CompileFailed(log=f"{job.files.cu_name}: {error}")
