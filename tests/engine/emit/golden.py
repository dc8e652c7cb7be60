"""Writes tests/data/emit/ anew: `python tests/engine/emit/golden.py`."""

from __future__ import annotations

from test_emit_texts import DATA, emitted

from cudaperf.engine.emit.account import version
from cudaperf.engine.evidence import EMULATED_CLAIM

if __name__ == "__main__":
    files = emitted("scale", EMULATED_CLAIM)
    (DATA / files.cu_name).write_text(files.cu.replace(version(), "@VERSION@"))
    (DATA / files.header_name).write_text(files.header.replace(version(), "@VERSION@"))
