"""The pip command that installs what an optional extra of this distribution names, as its own metadata says it.

It names the packages themselves: `cudaperf[compiler]` would do for a published release alone.
"""

from __future__ import annotations

import re
from importlib import metadata
from typing import Final

_REQUIREMENT: Final = re.compile(r"""(?P<package>[^;]+?)\s*;.*\bextra\s*==\s*["'](?P<extra>[\w-]+)["']""")


def install(extra: str) -> str:
    """`pip install "nvidia-cuda-nvcc==13.0.*" ...`; the extra's own name where cudaperf runs without being installed."""
    try:
        found = [_REQUIREMENT.fullmatch(text) for text in metadata.requires("cudaperf") or ()]
    except metadata.PackageNotFoundError:
        found = []
    packages = [f'"{match["package"]}"' for match in found if match is not None and match["extra"] == extra]
    return f"pip install {' '.join(packages)}" if packages else f"pip install 'cudaperf[{extra}]'"
