"""`cudaperf optimize FILE::FUNCTION`, and `cudaperf optimize FILE`, which lists the functions."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cudaperf.engine.cli import options
from cudaperf.engine.reason import Reason, ReasonCode
from cudaperf.engine.result import FunctionListing, OptimizeRequest, OptimizeResult, Status, exit_code, failure


def optimize(
    target: Annotated[str, typer.Argument(metavar="FILE[::FUNCTION]", help="A C function; a file alone is listed.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output-dir", metavar="DIR", help="Where to write; created where missing (default: beside FILE)."),
    ] = None,
    arch: Annotated[
        str | None,
        typer.Option(metavar="SM", help="Architecture to compile for: sm_90, 90 or 9.0 (default: the GPU's, else sm_75)."),
    ] = None,
    executor: Annotated[str, typer.Option(metavar="auto|emulated|gpu", help="Where to verify.")] = "auto",
    max_seconds: Annotated[float, typer.Option(metavar="SECONDS", help="Bound on the whole run.")] = 120.0,
    size: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="A size to measure at (repeatable).")] = None,
    schedule: Annotated[str | None, typer.Option(metavar="SCHEDULE", help="Try this schedule only.")] = None,
    include: Annotated[list[str] | None, typer.Option("-I", metavar="DIR", help="Folder of headers (repeatable).")] = None,
    define: Annotated[list[str] | None, typer.Option("-D", metavar="NAME[=VALUE]", help="Macro (repeatable).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that cudaperf did not write.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")] = False,
) -> int:
    """Turn a C function into verified CUDA, or say why it can't or shouldn't move.

    Exit codes: 0 verified, 2 usage or C that does not compile, 3 refused, 4 verification failed, 5 a device or compiler is
    missing.
    """
    path, function = options.target(target)
    request = OptimizeRequest(
        path=path,
        function=function or "",
        output_directory=output,
        arch=options.architecture(arch),
        executor=options.executor(executor),
        max_seconds=options.seconds(max_seconds),
        sizes=options.sizes(size or []),
        schedule=options.schedule(schedule),
        arguments=options.compiler_arguments(include or [], define or []),
        force=force,
    )
    return _list(request, as_json) if function is None else _convert(request, as_json)


def _list(request: OptimizeRequest, as_json: bool) -> int:
    from cudaperf.engine.cli import show

    found = _unreadable(request.path) or _functions(request)
    if isinstance(found, Reason):
        show.result(request, failure(found), (), as_json)
        return exit_code(failure(found))
    show.listing(request.path, found, as_json)
    return 0


def _functions(request: OptimizeRequest) -> tuple[FunctionListing, ...] | Reason:
    from cudaperf.engine.optimize import list_functions

    return list_functions(request.path, request.arguments)


def _convert(request: OptimizeRequest, as_json: bool) -> int:
    from cudaperf.engine.cli import show

    result, written = _run(request, as_json)
    show.result(request, result, written, as_json)
    return exit_code(result)


def _run(request: OptimizeRequest, as_json: bool) -> tuple[OptimizeResult, tuple[Path, ...]]:
    from cudaperf.engine.cli import files
    from cudaperf.engine.cli.progress import shown

    early = _unreadable(request.path) or files.unwritable(request, files.usual_names(request))
    if early:
        return failure(early), ()
    from cudaperf.engine.optimize import optimize as convert

    with shown(quiet=as_json) as progress:
        result = convert(request, progress)
    if result.status is not Status.VERIFIED:
        return replace(result, outputs={}), ()
    written = files.store(request, files.texts(result))
    return (failure(written), ()) if isinstance(written, Reason) else (result, written)


def _unreadable(path: Path) -> Reason | None:
    """Why the source can't be opened, told before anything is loaded."""
    try:
        os.fspath(path).encode("utf-8")
        if path.is_dir():
            return Reason(ReasonCode.NOT_FOUND, "this is a folder; optimize reads one C file: FILE.c::FUNCTION")
        if path.exists() and not path.is_file():
            return Reason(ReasonCode.NOT_FOUND, "this is not a regular file")
        with path.open("rb"):
            return None
    except UnicodeEncodeError:
        return Reason(ReasonCode.NOT_FOUND, "the file's name is not UTF-8, which libclang needs")
    except (OSError, ValueError) as error:
        return Reason(ReasonCode.NOT_FOUND, f"{getattr(error, 'strerror', None) or error}")
