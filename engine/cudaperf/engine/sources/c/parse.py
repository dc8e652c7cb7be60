"""Parse a C file with libclang, with the arguments that its build uses.

Arguments come from the caller or, when there are none, from the nearest `compile_commands.json` above the file. Only those
that change what the text means are used (-I, -D, -U, -std, -isystem, -iquote, -include). Everything is in-process except one
call of the host's C compiler for the folder of its own headers.
"""

from __future__ import annotations

import ctypes
import functools
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudaperf.engine.loops.ir import Renamed
from cudaperf.engine.reason import Reason, ReasonCode, Refusal
from cudaperf.engine.sources.c.reserved import files, renamed_text, reserved_names
from cudaperf.engine.sources.c.text import position

if TYPE_CHECKING:
    from clang import cindex

NO_COMPILER = "no C compiler found: install gcc or clang"
JOINED = ("-I", "-D", "-U", "-isystem", "-iquote", "-include")
PATHS = ("-I", "-isystem", "-iquote")
NOT_C = {".cc", ".cpp", ".cxx", ".c++", ".cu", ".cuh", ".hpp", ".py", ".o", ".so", ".a"}
CUDA = {".cu", ".cuh"}
# glibc's <math.h> spells isnan and friends as builtins only for compilers that claim to be at least gcc 4.4
FIXED = ("-x", "c", "-fgnuc-version=4.8.0", "-ferror-limit=0", "-Wno-everything")


@dataclass(frozen=True, slots=True)
class Translation:
    """A parsed file. `unit` is libclang's translation unit, `text` the main file's bytes.

    `errors` are (file, offset, reason) of what libclang could not read although the host's compiler can (intrinsics).
    Where names had to be `renamed`, `texts` are the files as parsed, `text` among them, and `written` is the one on disk.
    """

    path: str
    text: bytes
    arguments: tuple[str, ...]
    unit: cindex.TranslationUnit
    errors: tuple[tuple[str, int, Reason], ...] = ()
    renamed: Renamed = ()
    texts: Mapping[str, bytes] = field(default_factory=dict)
    written: bytes | None = None


def parse(path: str, arguments: tuple[str, ...] = ()) -> Translation:
    """The parsed file; raises `Refusal` where it can't be read or does not compile."""
    text = _read_c(path)
    used = tuple(arguments) or recorded_arguments(Path(path))
    unit = _index(path, used)
    errors = [d for d in unit.diagnostics if d.severity >= 3 and not _is_compilers(d)]
    if errors and not (len(errors) < unit_errors(unit) and _compiles(path, used)):
        raise Refusal(_compile_error(path, text, unit, errors[0]))
    located = [
        (d.location.file.name, d.location.offset, _compile_error(path, text, unit, d)) for d in errors if d.location.file
    ]
    found = Translation(path, text, used, unit, tuple(located))
    return found if errors else _without_reserved(found)


def _without_reserved(found: Translation) -> Translation:
    """The same, parsed again with other names for those that CUDA C++ reserves."""
    texts = {file: found.text if file == found.path else read(file) for file in files(found.unit)}
    names = reserved_names(found.unit, texts)
    if not names:
        return found
    texts = {file: renamed_text(text, names) for file, text in texts.items()}
    unit = _index(found.path, found.arguments, texts)
    if any(d.severity >= 3 and not _is_compilers(d) for d in unit.diagnostics):
        return found
    return replace(found, unit=unit, text=texts[found.path], renamed=names, texts=texts, written=found.text)


def unit_errors(unit: Any) -> int:
    return sum(d.severity >= 3 for d in unit.diagnostics)


def _compiles(path: str, arguments: tuple[str, ...]) -> bool:
    """Whether the host's own compiler accepts the file."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return False
    command = [compiler, "-fsyntax-only", "-w", "-x", "c", *arguments, path]
    return subprocess.run(command, capture_output=True, check=False, timeout=120).returncode == 0


def _is_compilers(diagnostic: Any) -> bool:
    """Whether an error lies in the compiler's own headers: gcc's intrinsics use builtins that libclang does not know."""
    file = diagnostic.location.file
    return file is not None and file.name.startswith(compiler_includes())


def read(path: str) -> bytes:
    """A file's bytes; raises `Refusal` where it can't be read (any more)."""
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        detail = getattr(error, "strerror", None) or str(error)
        raise Refusal(Reason(ReasonCode.NOT_FOUND, f"cannot read {path}: {detail}")) from error


def _read_c(path: str) -> bytes:
    text = read(path)
    if Path(path).suffix.lower() in NOT_C:
        is_cuda = Path(path).suffix.lower() in CUDA
        advice = f": cudaperf check {path} looks at CUDA" if is_cuda else ""
        raise Refusal(Reason(ReasonCode.UNSUPPORTED, f"{Path(path).name} is not a C file{advice}"))
    if b"\0" in text:
        raise Refusal(Reason(ReasonCode.COMPILE, f"{Path(path).name} is a binary file, not C source"))
    return text


def _index(path: str, arguments: tuple[str, ...], texts: Mapping[str, bytes] | None = None) -> cindex.TranslationUnit:
    """`texts` stand in for files on disk."""
    from clang import cindex

    standard = () if any(a.startswith("-std") for a in arguments) else ("-std=gnu17",)
    includes = [item for folder in compiler_includes() for item in ("-isystem", folder)]
    detailed = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    used = [*FIXED, *standard, *arguments, *includes]
    unsaved = [(file, text.decode("utf-8", "surrogateescape")) for file, text in (texts or {}).items()]
    try:
        return cindex.Index.create().parse(path, args=used, unsaved_files=unsaved, options=detailed)
    except cindex.TranslationUnitLoadError as error:
        read(path)
        raise Refusal(Reason(ReasonCode.COMPILE, f"{Path(path).name} cannot be parsed as C")) from error


def _compile_error(path: str, text: bytes, unit: Any, diagnostic: Any) -> Reason:
    location = diagnostic.location
    if diagnostic.spelling.endswith("file not found") and not compiler_includes():
        return Reason(ReasonCode.UNAVAILABLE, f"{NO_COMPILER} (it brings C's own headers: {diagnostic.spelling})")
    said = diagnostic.spelling
    if said.endswith("file not found"):
        said += "; name its folder with -I, or let the build write compile_commands.json"
    if location.file is None:
        return Reason(ReasonCode.COMPILE, said)
    if location.file.name == path:
        line, column = position(text, location.offset)
        return Reason(ReasonCode.COMPILE, said, line, column)
    message = f"{location.file.name}:{location.line}: {said}"
    for include in unit.get_includes():
        if include.depth == 1 and include.include.name == location.file.name:
            return Reason(ReasonCode.COMPILE, message, include.location.line, 1)
    return Reason(ReasonCode.COMPILE, message)


@functools.cache
def compiler_includes() -> tuple[str, ...]:
    """The folders of the host compiler's own headers (stddef.h), which libclang does not carry."""
    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        return ()
    done = subprocess.run([compiler, "-print-file-name=include"], capture_output=True, text=True, check=False, timeout=20)
    folder = done.stdout.strip()
    return (folder,) if done.returncode == 0 and Path(folder).is_absolute() else ()


def recorded_arguments(path: Path) -> tuple[str, ...]:
    """The file's arguments in the nearest compile_commands.json above it; none if there is no entry."""
    path = path.resolve()
    for folder in path.parents:
        for database in (folder / "compile_commands.json", folder / "build" / "compile_commands.json"):
            if database.is_file():
                return _entry(database, path)
    return ()


def _entry(database: Path, path: Path) -> tuple[str, ...]:
    try:
        entries = json.loads(database.read_text(encoding="utf-8"))
        for entry in entries:
            folder = Path(database.parent, entry.get("directory", "."))
            if Path(folder, entry["file"]).resolve() == path:
                words = entry.get("arguments") or shlex.split(entry.get("command", ""))
                return meaningful(words, folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refusal(Reason(ReasonCode.COMPILE, f"{database} cannot be read: {error}")) from error
    return ()


def meaningful(words: list[str], folder: Path) -> tuple[str, ...]:
    """The arguments of a compiler call that change what the source means, with absolute paths."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        flag = next((f for f in JOINED if word.startswith(f)), None)
        if word.startswith("-std=") or word == "-ansi":
            kept.append(word)
        elif flag is not None:
            value = word.removeprefix(flag) or next(rest, "")
            kept += [flag, str(Path(folder, value))] if flag in PATHS else [flag, value]
    return tuple(kept)


def preprocess(path: str, arguments: tuple[str, ...] = (), extra: str = "", markers: bool = False) -> str:
    """The file after the host's preprocessor, followed by `extra` expanded with the same macros.

    With `markers` the compiler's line markers stay, files by their base names, so that messages about the text name the
    user's own lines.
    """
    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        raise Refusal(Reason(ReasonCode.UNAVAILABLE, NO_COMPILER))
    used = tuple(arguments) or recorded_arguments(Path(path))
    command = [compiler, "-E", *([] if markers else ["-P"]), "-x", "c", *used, "-include", str(Path(path).resolve()), "-"]
    try:
        done = subprocess.run(
            command, input=f"{extra}\n", capture_output=True, text=True, errors="replace", check=False, timeout=60
        )
    except subprocess.TimeoutExpired as error:
        raise Refusal(Reason(ReasonCode.COMPILE, f"{Path(path).name} takes longer than a minute to preprocess")) from error
    if done.returncode:
        read(path)
        raise Refusal(Reason(ReasonCode.COMPILE, done.stderr.strip().splitlines()[0] if done.stderr else "does not preprocess"))
    return re.sub(r'^(# \d+ ")(?:\\.|[^"\\\n])*/', r"\1", done.stdout, flags=re.MULTILINE)


# --- what the binding of libclang 18 leaves out ------------------------------------------------------------------------


@functools.cache
def library() -> Any:
    """libclang with the signatures of the functions that its Python binding does not declare."""
    from clang import cindex

    lib = cindex.conf.lib
    for name in ("clang_getCursorBinaryOperatorKind", "clang_getCursorUnaryOperatorKind", "clang_Cursor_hasAttrs"):
        function = getattr(lib, name)
        function.argtypes, function.restype = [cindex.Cursor], ctypes.c_int
    lib.clang_Cursor_Evaluate.argtypes, lib.clang_Cursor_Evaluate.restype = [cindex.Cursor], ctypes.c_void_p
    results: dict[str, Any] = {"getKind": ctypes.c_int, "isUnsignedInt": ctypes.c_uint, "getAsUnsigned": ctypes.c_ulonglong}
    results |= {"getAsLongLong": ctypes.c_longlong, "getAsDouble": ctypes.c_double, "dispose": None}
    for name, kind in results.items():
        function = getattr(lib, f"clang_EvalResult_{name}")
        function.argtypes, function.restype = [ctypes.c_void_p], kind
    lib.clang_Cursor_getVarDeclInitializer.argtypes = [cindex.Cursor]
    lib.clang_Cursor_getVarDeclInitializer.restype = cindex.Cursor
    return lib


def evaluate(cursor: cindex.Cursor) -> int | float | None:
    """The value of a constant expression, or None."""
    lib = library()
    result = lib.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        kind = lib.clang_EvalResult_getKind(result)
        if kind == 1:
            unsigned = lib.clang_EvalResult_isUnsignedInt(result)
            return int((lib.clang_EvalResult_getAsUnsigned if unsigned else lib.clang_EvalResult_getAsLongLong)(result))
        return float(lib.clang_EvalResult_getAsDouble(result)) if kind == 2 else None
    finally:
        lib.clang_EvalResult_dispose(result)
