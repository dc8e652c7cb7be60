"""A candidate that never runs is not verified by the original that runs in its place, whichever way that is called."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cudaperf.engine.analyse import analyse, offered
from cudaperf.engine.emit.cuda import emit
from cudaperf.engine.executors.emulated import EmulatedExecutor, build
from cudaperf.engine.executors.gpu import native
from cudaperf.engine.executors.protocol import Job
from cudaperf.engine.plan import Launch
from cudaperf.engine.strategies.compose import candidates
from cudaperf.engine.strategies.fallback import fallback_text
from cudaperf.engine.toolchain.find import find_nvcc
from cudaperf.engine.verdict import LaunchFailed, Passed
from cudaperf.engine.verify.data import FALLBACK
from cudaperf.engine.verify.generate import configurations
from cudaperf.engine.verify.harness import harness_source
from cudaperf.engine.verify.prepare import Prepared, prepare
from cudaperf.engine.verify.verify import verify

TEXT = """void twice(int n, const double *x, double *y)
{
    for (int i = 0; i < n; i++)
        y[i] = 2 * x[i];
}
"""
LINKAGES = pytest.mark.parametrize("linkage", ["", "static "])


class Twice:
    """The function with external or internal linkage, its inputs, and a candidate whose blocks CUDA may refuse."""

    def __init__(self, linkage: str, folder: Path) -> None:
        source = folder / "twice.c"
        source.write_text(linkage + TEXT)
        self.analysed = analyse(source, "twice")
        task = self.analysed.task
        found = prepare(task, configurations(task, 3)[:4], folder, time.monotonic() + 120)
        assert isinstance(found, Prepared), found
        self.prepared = found

    def job(self, fails: bool) -> Job:
        (first,) = candidates(self.analysed.program, offered(self.analysed), 1)
        step = first.plan.steps[0]
        assert isinstance(step, Launch)
        if fails:  # too many threads for any device; the host function finds out before it asks CUDA
            plan = first.plan.model_copy(update={"steps": (step.model_copy(update={"block": ("2048 + 0 * n", "1", "1")}),)})
            first = first.model_copy(update={"plan": plan})
        task = self.analysed.task
        fallback = fallback_text(self.analysed.program) if task.original.static else None
        files = emit(task, first, "twice", fallback=fallback)
        inputs = tuple(c.input for c in self.prepared.configurations)
        return Job(task, first, files, harness_source(task, "twice_cuda"), inputs, ())


@pytest.mark.skipif(build.find_compiler() is None, reason="no host C++ compiler")
@pytest.mark.parametrize("fails", [False, True])
@LINKAGES
def test_emulated(linkage: str, fails: bool, tmp_path: Path) -> None:
    twice = Twice(linkage, tmp_path)
    job = twice.job(fails)
    found = verify(twice.prepared, job.candidate, job.files, EmulatedExecutor(), tmp_path / "run", time.monotonic() + 120)
    assert isinstance(found, LaunchFailed if fails else Passed), found


@pytest.mark.slow
@pytest.mark.skipif(find_nvcc() is None, reason="needs nvcc")
@LINKAGES
def test_native(linkage: str, tmp_path: Path) -> None:
    job = Twice(linkage, tmp_path).job(fails=True)
    program = native.build(job, tmp_path, 90, time.monotonic() + 300)
    assert isinstance(program, native.NativeProgram), program
    assert program.run(job.inputs[-1], tmp_path / "out", 0, time.monotonic() + 60) is None
    assert (tmp_path / "out").read_bytes() == FALLBACK
    assert program.seconds(job.inputs[-1], time.monotonic() + 60) is None
