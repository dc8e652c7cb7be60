"""Writing the user's files: whole or not at all, and never over a file that this program did not write.

All files go to temporary names in the target folder and are renamed when every one is complete.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from cudaperf.engine.reason import Reason, ReasonCode
from cudaperf.engine.result import OptimizeRequest, OptimizeResult

HEAD_BYTES = 2048


def folder(request: OptimizeRequest) -> Path:
    """Where the files go: -o, else beside the source."""
    return request.output_directory if request.output_directory is not None else request.path.parent


def usual_names(request: OptimizeRequest) -> tuple[str, ...]:
    """The names that a run will want to write, known before it starts."""
    stem = f"{request.path.stem}.{request.function}"
    return f"{stem}.cu", f"{stem}.h", f"{stem}.evidence.json"


def texts(result: OptimizeResult) -> dict[str, str]:
    """File names and texts of a verified result, its evidence included."""
    found = dict(result.outputs)
    if result.evidence is not None and result.evidence_name is not None:
        found[result.evidence_name] = result.evidence.model_dump_json(indent=1) + "\n"
    return found


def unwritable(request: OptimizeRequest, names: Iterable[str]) -> Reason | None:
    """Why these names can't be written in the target folder, if so."""
    directory = folder(request)
    existing = next(place for place in (directory, *directory.absolute().parents) if place.exists())
    if not existing.is_dir():
        return Reason(ReasonCode.USAGE, f"{existing} is not a folder")
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass  # permissions alone don't tell: a folder of /proc or a read-only disk takes no file from anybody
    except OSError:
        return Reason(ReasonCode.USAGE, f"can't write to {existing}; -o DIR names another folder")
    for path in (directory / name for name in names):
        if path.is_dir():
            return Reason(ReasonCode.USAGE, f"{path} is a folder")
        if path.exists() and not request.force and not ours(path):
            return Reason(ReasonCode.USAGE, f"{path} was not written by cudaperf; --force overwrites it")
    return None


def ours(path: Path) -> bool:
    """Whether this program wrote the file: its generated-by line, or the keys of evidence."""
    from cudaperf.engine.emit.account import is_generated

    try:
        if path.name.endswith(".json"):
            document = json.loads(path.read_text(encoding="utf-8"))
            return isinstance(document, dict) and {"cudaperf", "claim", "task"} <= document.keys()
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES).decode(errors="replace")
    except (OSError, ValueError):
        return False
    return is_generated(head)


def store(request: OptimizeRequest, contents: Mapping[str, str]) -> tuple[Path, ...] | Reason:
    """Write every file, or none and say why."""
    reason = unwritable(request, contents)
    if reason:
        return reason
    directory = folder(request)
    waiting: dict[Path, Path] = {}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in contents.items():
            temporary = directory / f".{name}.{os.getpid()}.tmp"
            waiting[temporary] = directory / name
            temporary.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
        for temporary, final in waiting.items():
            temporary.replace(final)
    except OSError as error:
        return Reason(ReasonCode.USAGE, f"can't write to {directory}: {error.strerror or error}")
    finally:
        for temporary in waiting:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
    return tuple(waiting.values())
