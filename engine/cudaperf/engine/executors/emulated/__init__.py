"""Candidates on the CPU with CUDA's semantics, under sanitizers: correctness without a GPU, never speed."""

from cudaperf.engine.executors.emulated.executor import EmulatedExecutor
from cudaperf.engine.executors.emulated.probe import probe
from cudaperf.engine.executors.emulated.process import Limits

__all__ = ["EmulatedExecutor", "Limits", "probe"]
