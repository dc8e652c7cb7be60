"""The commands, and what happens to every error that leaves one: a message and an exit code, never a traceback.

CUDAPERF_DEBUG=1 shows the traceback of an internal error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from cudaperf.engine.cli.check import check
from cudaperf.engine.cli.doctor import doctor
from cudaperf.engine.cli.optimize import optimize
from cudaperf.engine.cli.replay import replay
from cudaperf.engine.cli.rule import rule
from cudaperf.engine.cli.version import version
from cudaperf.engine.reason import Reason, ReasonCode
from cudaperf.engine.result import EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_USAGE


def _show_version(asked: bool) -> None:
    if asked:
        version()
        raise typer.Exit()


app = typer.Typer(
    name="cudaperf",
    help="Turn C functions into verified CUDA.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _options(
    show: Annotated[bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version.")] = False,
) -> None:
    """Turn C functions into verified CUDA."""


for command in (optimize, check, rule, replay, doctor, version):
    app.command()(command)


def run(arguments: Sequence[str]) -> int:
    """One command line; returns the exit code."""
    as_json = "--json" in arguments
    try:
        code = app(args=list(arguments) or ["--help"], standalone_mode=False, prog_name="cudaperf")
    except typer.TyperException as error:
        return _usage(error, as_json)
    except (KeyboardInterrupt, typer.Abort):
        code = EXIT_INTERRUPTED
    except Exception as error:
        if os.environ.get("CUDAPERF_DEBUG"):
            raise
        return _internal(error, as_json)
    if code == EXIT_INTERRUPTED:
        print("cudaperf: interrupted; nothing was written", file=sys.stderr)
        _print_failure(Reason(ReasonCode.INTERRUPTED, "interrupted; nothing was written"), as_json)
    return code if isinstance(code, int) else 0


def _usage(error: typer.TyperException, as_json: bool) -> int:
    message = error.format_message()
    print(f"cudaperf: error: {message}\nTry 'cudaperf --help' or 'cudaperf COMMAND --help'.", file=sys.stderr)
    _print_failure(Reason(ReasonCode.USAGE, message), as_json)
    return EXIT_USAGE


def _internal(error: Exception, as_json: bool) -> int:
    message = f"{type(error).__name__}: {error}".replace("\n", " ")
    print(
        f"cudaperf: internal error: {message}\n"
        "This is a fault of cudaperf. Please report it with the source file and what CUDAPERF_DEBUG=1 prints.",
        file=sys.stderr,
    )
    _print_failure(Reason(ReasonCode.INTERNAL, message), as_json)
    return EXIT_INTERNAL


def _print_failure(reason: Reason, as_json: bool) -> None:
    if not as_json:
        return
    from cudaperf.engine.cli.show import print_json
    from cudaperf.engine.result import failure, to_json

    print_json(to_json(failure(reason), []))
