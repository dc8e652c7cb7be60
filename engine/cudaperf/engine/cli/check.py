"""`cudaperf check [PATHS]`: findings in CUDA code, with no build, no compile flags and no GPU."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from cudaperf.engine.cli import options
from cudaperf.engine.cli.checked import Format, Output
from cudaperf.engine.result import EXIT_UNAVAILABLE, EXIT_USAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cudaperf.engine.analysis.configuration import Configuration, Overrides
    from cudaperf.engine.analysis.finding import Fixing
    from cudaperf.engine.analysis.report.problem import Report
    from cudaperf.engine.analysis.run import Job
    from cudaperf.engine.toolchain.compile import DeviceCompiler

STDIN = "-"
STDIN_NAME = "<stdin>"


@dataclass(frozen=True, slots=True)
class _Request:
    """What one command line asks for. `stdin_name` is None where files are read."""

    paths: tuple[Path, ...]
    stdin_name: str | None
    config: Path | None
    overrides: Overrides
    fix: Fixing | None


@dataclass(frozen=True, slots=True)
class _Compiler:
    """What --measure compiles with."""

    tool: DeviceCompiler
    options: tuple[str, ...]


def check(
    paths: Annotated[list[str] | None, typer.Argument(metavar="[PATH]...", help="Files and folders, or - for stdin.")] = None,
    select: Annotated[list[str] | None, typer.Option(metavar="CODES", help="Only these rules: CP1,CP203.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="CODES", help="Not these rules.")] = None,
    arch: Annotated[str | None, typer.Option(metavar="SM", help="Architecture: sm_90, 90 or 9.0.")] = None,
    block: Annotated[str | None, typer.Option(metavar="X[,Y[,Z]]", help="Block to assume where none is written.")] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Configuration in place of the nearest.")] = None,
    output: Annotated[str, typer.Option("--format", metavar="|".join(get_args(Format)), help="How to print.")] = "text",
    fix: Annotated[bool, typer.Option("--fix", help="Apply the safe fixes.")] = False,
    unsafe_fixes: Annotated[
        bool, typer.Option("--unsafe-fixes", help="With --fix or --diff: also fixes that may change results.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Print what --fix would change, and change nothing.")] = False,
    statistics: Annotated[bool, typer.Option("--statistics", help="Count findings by rule instead.")] = False,
    measure: Annotated[
        bool,
        typer.Option("--measure", help="Compile .cu files; ptxas's registers, shared memory and spills replace estimates."),
    ] = False,
    include: Annotated[list[str] | None, typer.Option("-I", metavar="DIR", help="Folder of headers for --measure.")] = None,
    define: Annotated[list[str] | None, typer.Option("-D", metavar="NAME[=VALUE]", help="Macro for --measure.")] = None,
    stdin_filename: Annotated[str | None, typer.Option(metavar="NAME", help="What stdin is the text of.")] = None,
) -> int:
    """Find performance and synchronization problems in CUDA code, also in strings of Python files.

    Exit codes: 0 clean (hints aside), 1 findings of warning or above (with --diff: fixes), 2 usage, 5 no compiler to measure.
    """
    named = tuple(paths or ["."])
    request = _Request(
        paths=tuple(map(Path, named)),
        stdin_name=_stdin_name(named, stdin_filename),
        config=config,
        overrides=_overrides(select, ignore, arch, block),
        fix=_fixing(fix or diff, unsafe_fixes),
    )
    out = Output(_format(output), statistics=statistics, diff=diff, to_stdin=request.stdin_name is not None)
    compiler = _compiler(measure, include or [], define or [])
    if isinstance(compiler, int):
        return compiler
    jobs = _jobs(request)
    if jobs is None:
        return EXIT_USAGE
    try:
        with _measured(jobs, compiler) as jobs:
            return out.show(_reports(request, jobs))
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return out.exit_code


def _fixing(asked: bool, unsafe: bool) -> Fixing | None:
    if unsafe and not asked:
        raise typer.BadParameter("it goes with --fix or --diff", param_hint="--unsafe-fixes")
    return ("all" if unsafe else "safe") if asked else None


def _compiler(asked: bool, includes: list[str], defines: list[str]) -> _Compiler | int | None:
    """What --measure compiles with; the exit code, told on stderr, where there is no compiler."""
    if not asked:
        if includes or defines:
            raise typer.BadParameter("they go with --measure; the rules themselves read no headers", param_hint="-I, -D")
        return None
    arguments = options.compiler_arguments(includes, defines)
    from cudaperf.engine.toolchain.resources import no_compiler, resource_compiler

    tool = resource_compiler()
    if tool is None:
        print(f"cudaperf: error: {no_compiler()}", file=sys.stderr)
        return EXIT_UNAVAILABLE
    return _Compiler(tool, arguments)


@contextlib.contextmanager
def _measured(jobs: list[Job], compiler: _Compiler | None) -> Iterator[list[Job]]:
    """The jobs as those that ask the compiler, while its folder for temporary files is there."""
    if compiler is None:
        yield jobs
        return
    import tempfile

    from cudaperf.engine.measure import measurer

    with tempfile.TemporaryDirectory(prefix="cudaperf-", ignore_cleanup_errors=True) as scratch:
        ask = measurer(compiler.tool, compiler.options, Path(scratch))
        yield [replace(job, measure=ask) for job in jobs]


def _reports(request: _Request, jobs: list[Job]) -> Iterable[Report]:
    from cudaperf.engine.analysis import run, workers

    if request.stdin_name is None:
        yield from run.check_paths(jobs)
        return
    with workers.prepared():
        yield run.check_bytes(jobs[0], sys.stdin.buffer.read())


def _jobs(request: _Request) -> list[Job] | None:
    """None where nothing can start; why is on stderr."""
    from cudaperf.engine.analysis.discovery import Configurations, discover, single

    given = _configuration(request.config) if request.config is not None else None
    configurations = Configurations(given, request.overrides)
    if request.stdin_name is not None:
        found = single(request.stdin_name, configurations, request.fix)
    else:
        if missing := [path for path in request.paths if not os.path.lexists(path)]:
            raise typer.BadParameter(f"no such file or folder: {', '.join(map(str, missing))}")
        found = discover(request.paths, configurations, request.fix)
    for invalid in found.invalid:
        print(f"cudaperf: error: {invalid}", file=sys.stderr)
    for trouble in found.troubles:
        print(trouble, file=sys.stderr)
    return None if found.invalid else found.jobs


def _configuration(path: Path) -> Configuration:
    from cudaperf.engine.analysis.configuration import Invalid, load

    found = load(path)
    if isinstance(found, Invalid):
        raise typer.BadParameter(str(found))
    if found is None:
        raise typer.BadParameter(f"{path}: no [tool.cudaperf] table in it", param_hint="--config")
    return found


def _stdin_name(paths: tuple[str, ...], name: str | None) -> str | None:
    if STDIN not in paths:
        if name is not None:
            raise typer.BadParameter("it goes with - as the only path", param_hint="--stdin-filename")
        return None
    if len(paths) > 1:
        raise typer.BadParameter("- is stdin, and goes with no other path")
    return name or STDIN_NAME


def _overrides(select: list[str] | None, ignore: list[str] | None, arch: str | None, block: str | None) -> Overrides:
    from cudaperf.engine.analysis.configuration import Overrides

    return Overrides(_codes(select, "--select"), _codes(ignore, "--ignore"), options.architecture(arch), _block(block))


def _codes(texts: list[str] | None, option: str) -> tuple[str, ...] | None:
    if not texts:
        return None
    from cudaperf.engine.analysis.configuration import selectors

    try:
        return selectors([code for text in texts for code in text.split(",") if code.strip()])
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def _block(text: str | None) -> tuple[int, int, int] | None:
    if text is None:
        return None
    from cudaperf.engine.analysis import configuration

    sizes = text.replace("x", ",").split(",")
    try:
        if not all(size.strip().isdecimal() for size in sizes):
            raise ValueError(f"expected sizes as 256, 32,8 or 8,8,4, not {text!r}")
        return configuration.block([int(size) for size in sizes])
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--block") from error


def _format(text: str) -> Format:
    for choice in get_args(Format):
        if text == choice:
            return choice  # type: ignore[no-any-return]
    raise typer.BadParameter(f"{text!r} is none of {', '.join(get_args(Format))}", param_hint="--format")
