"""`cudaperf version`."""

from __future__ import annotations

import typer


def version() -> None:
    """Print the version."""
    from cudaperf.engine.version import version as installed

    typer.echo(f"cudaperf {installed()}")
