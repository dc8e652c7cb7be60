"""What ptxas says of the kernels of a user's own file, compiled as it is by nvcc, or its device code alone by NVRTC.

Answers are kept in the cache of `compile`, keyed by the text, the architecture, the options and the compiler, with the headers
that nvcc read; successes only. A header that a change would put in another's place is not noticed.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from cudaperf.engine.extras import install
from cudaperf.engine.toolchain import nvcc, nvrtc, ptxas
from cudaperf.engine.toolchain.compile import DeviceCompiler, cache_folder, nvcc_compiler, replace_file, with_prelude
from cudaperf.engine.toolchain.find import find_nvrtc, host_compiler
from cudaperf.engine.toolchain.ptxas import PtxasReport

VERSION: Final = "1"
"""Of what is kept; another one is not read."""


def no_compiler() -> str:
    """What to say where `resource_compiler` finds none."""
    return f"--measure needs nvcc or NVRTC, and neither is here: {install('compiler')} adds both"


@dataclass(frozen=True, slots=True)
class Unit:
    """One file to compile for `capability` (90 = sm_90). `text` is what it holds, which need not be what is on disk.

    `device` and `names` are for a compiler of device code alone: that code, and the instances of templates that launches want.
    """

    path: Path
    text: bytes
    capability: int
    options: tuple[str, ...] = ()
    device: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """The first thing that a compiler has against a file, at `line` of `file` where it says so ("" is the file itself)."""

    message: str
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        place = f"{self.file}:" if self.file else "line "
        return f"{place}{self.line}: {self.message}" if self.line is not None else self.message


def resource_compiler() -> DeviceCompiler | None:
    """nvcc, which reads whole files, where it has the host compiler that it needs; else NVRTC."""
    tool = find_nvrtc()
    whole = nvcc_compiler()
    if whole is not None and (tool is None or host_compiler() is not None):
        return whole
    return DeviceCompiler(tool, "NVRTC") if tool is not None else None


def resources(unit: Unit, compiler: DeviceCompiler, scratch: Path | None = None) -> tuple[PtxasReport, ...] | Failure:
    """ptxas's report of each kernel; a file that does not compile is a `Failure`. Temporary files go below `scratch`."""
    place = _place(unit, compiler)
    if (kept := _read(place)) is not None:
        return kept
    with tempfile.TemporaryDirectory(prefix="cudaperf-", dir=scratch) as name:
        done = _nvcc(unit, compiler, Path(name)) if compiler.kind == "nvcc" else _nvrtc(unit, compiler)
    if not done.succeeded:
        return first_error(done.log, unit.path)
    reports = ptxas.parse(done.log)
    _write(place, reports, done.depends)
    return reports


def _nvcc(unit: Unit, compiler: DeviceCompiler, folder: Path) -> nvcc.Reported:
    """The file where it lies, so that what it includes is found; a text that is not there, or a name that a shell would expand,
    elsewhere, with a link to the folder that it is from."""
    source, options = unit.path, unit.options
    if unsafe := next((option for option in options if not nvcc.plain_option(option)), None):
        return nvcc.Reported(False, f"{unsafe} can't be passed: nvcc would have a shell expand it")
    if not nvcc.plain_name(source.absolute()) or not _holds(source, unit.text):
        source = folder / _COPY
        source.write_bytes(unit.text)
        (folder / "beside").symlink_to(unit.path.absolute().parent, target_is_directory=True)
        options = (f"-I{folder / 'beside'}", *options)
    return nvcc.report(compiler.tool.path, source, folder, unit.capability, options)


_COPY: Final = "copy.cu"


def _holds(path: Path, text: bytes) -> bool:
    try:
        return path.read_bytes() == text
    except (OSError, ValueError):
        return False


def _nvrtc(unit: Unit, compiler: DeviceCompiler) -> nvcc.Reported:
    """With the instances, or where they can't be named without them."""
    options = (f"-I{unit.path.absolute().parent}", *unit.options, *_headers(compiler), "-default-device", "-w")
    library, code = nvrtc.load(compiler.tool.path), _STD + with_prelude(unit.device)
    done = library.compile(code, unit.capability, options, unit.names)
    if _CLASH in done.log and not done.cubin:
        code = _STD + _TYPEDEF.sub("", with_prelude("")) + unit.device
        done = library.compile(code, unit.capability, options, unit.names)
    if unit.names and not done.cubin:
        done = library.compile(code, unit.capability, options)
    return nvcc.Reported(bool(done.cubin), done.log)


_STD: Final = "namespace std {}\n"
"""For `using namespace std` in files whose host headers are left out."""
_CLASH: Final = "invalid redeclaration of type name"
_TYPEDEF: Final = re.compile(r"^typedef .*;$", re.MULTILINE)
"""The prelude's integer types, which CUDA's C++ library also makes."""


def _headers(compiler: DeviceCompiler) -> tuple[str, ...]:
    """CUDA's own, where they lie beside the library."""
    folder = compiler.tool.path.parent.parent / "include"
    return tuple(f"-I{each}" for each in (folder, folder / "cccl") if each.is_dir())


# --- errors ----------------------------------------------------------------------------------------------------------------

_ERRORS: Final = (
    re.compile(r"^(?P<file>[^\n(]+)\((?P<line>\d+)\): (?:catastrophic )?error(?: #\S+)?: (?P<text>.*)$", re.MULTILINE),
    re.compile(r"^(?P<file>[^\n:]+):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<text>.*)$", re.MULTILINE),
    re.compile(r"\b(?:error|fatal)\s*: (?P<text>.*)$", re.MULTILINE | re.IGNORECASE),
)
_OWN_NAMES: Final = ("candidate.cu", _COPY)


def first_error(log: str, path: Path) -> Failure:
    """The error that stands first in a compiler's log."""
    found = [match for pattern in _ERRORS if (match := pattern.search(log)) is not None]
    if not found:
        return Failure(next((line.strip() for line in log.splitlines() if line.strip()), "the compiler fails without a word"))
    first = min(found, key=lambda match: (match.start(), -len(match.groupdict())))
    groups = first.groupdict()
    name = Path(groups.get("file", "")).name
    line = int(groups["line"]) if groups.get("line") else None
    return Failure(first["text"].strip(), "" if name in (path.name, *_OWN_NAMES) else name, line)


# --- the cache -------------------------------------------------------------------------------------------------------------


def _place(unit: Unit, compiler: DeviceCompiler) -> Path:
    source = unit.text if compiler.kind == "nvcc" else unit.device.encode(errors="replace")
    facts = (
        VERSION,
        compiler.name,
        str(compiler.tool.path),
        str(unit.capability),
        *unit.options,
        *unit.names,
        str(unit.path.absolute()),
    )
    key = hashlib.sha256("\0".join(facts).encode(errors="replace") + b"\0" + source).hexdigest()
    return cache_folder() / "resources" / key[:2] / f"{key}.json"


def _read(place: Path) -> tuple[PtxasReport, ...] | None:
    try:
        facts = json.loads(place.read_text(encoding="utf-8"))
        if any(_digest(Path(path)) != digest for path, digest in facts["depends"].items()):
            return None
        return tuple(PtxasReport(**report) for report in facts["reports"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # absent, damaged, or a header is gone: compile again


def _write(place: Path, reports: tuple[PtxasReport, ...], depends: tuple[Path, ...]) -> None:
    with suppress(OSError, ValueError):  # a full or read-only disk, or a name that is not UTF-8, only costs time
        kept = {str(path): _digest(path) for path in depends}
        place.parent.mkdir(parents=True, exist_ok=True)
        facts = {"reports": [asdict(report) for report in reports], "depends": kept}
        replace_file(place, json.dumps(facts).encode())


def _digest(path: Path) -> str:
    status = path.stat()
    return _digested(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4096)
def _digested(path: Path, changed: int, size: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
