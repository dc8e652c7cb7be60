"""Building the emitted files with nvcc on a machine without a GPU: they build, and their call falls back to the original."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from test_on_device import GOOD, candidate, job

from cudaperf.engine.executors.gpu import native
from cudaperf.engine.toolchain.find import find_gpu, find_nvcc
from cudaperf.engine.verdict import CompileFailed
from cudaperf.engine.verify.data import FALLBACK

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_nvcc() is None or find_gpu() is not None, reason="needs nvcc, and no GPU"),
]


def test_falls_back_without_a_gpu(tmp_path: Path) -> None:
    one = job(candidate(GOOD), tmp_path, (5, 7))
    deadline = time.monotonic() + 300
    program = native.build(one, tmp_path, 90, deadline)
    assert isinstance(program, native.NativeProgram), program
    assert not program.run_all([(source, tmp_path / f"{source.name}.out") for source in one.inputs], deadline)
    assert program.run(one.inputs[0], tmp_path / "out", 0, deadline) is None
    assert (tmp_path / "out").read_bytes() == FALLBACK
    assert any(why in (tmp_path / "out.log").read_text() for why in ("no NVIDIA driver", "no CUDA-capable device"))
    assert program.seconds(one.inputs[0], deadline) is None


def test_files_that_do_not_build_are_a_failed_compile(tmp_path: Path) -> None:
    one = job(candidate(GOOD.replace("y[i]", "z[i]")), tmp_path, (5,))
    found = native.build(one, tmp_path, 90, time.monotonic() + 300)
    assert isinstance(found, CompileFailed)
    assert "z" in found.log
