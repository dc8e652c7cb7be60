"""The version of this program, as its package metadata says."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1)
def version() -> str:
    """For example "0.1.0"; "0+unknown" where the package is on the path without being installed."""
    from importlib import metadata

    try:
        return metadata.version("cudaperf")
    except metadata.PackageNotFoundError:
        return "0+unknown"
