"""The `cudaperf` command; `cudaperf --help` lists what it does, docs/json.md is its contract with other programs.

One file a command. Everything heavy (libclang, islpy, compilers) loads when a command needs it. Nothing here decides
anything about code: commands turn options into requests and results into text, files and exit codes.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the process exit code; no exception leaves, and no child process outlives it."""
    import sys

    from cudaperf.engine.cli import ending
    from cudaperf.engine.cli.app import run

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    with ending.clean():
        return run(list(sys.argv[1:] if arguments is None else arguments))
