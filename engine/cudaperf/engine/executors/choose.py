"""The executor for a choice: "gpu" and "emulated" as asked, "auto" the GPU where one answers."""

from __future__ import annotations

from cudaperf.engine.executors.protocol import Executor
from cudaperf.engine.reason import Reason, ReasonCode
from cudaperf.engine.result import ExecutorChoice


def choose(choice: ExecutorChoice, arch: int | None = None) -> Executor | Reason:
    """`arch` is the compute capability to compile for where no device says it."""
    from cudaperf.engine.toolchain.find import find_gpu

    if choice != "emulated" and find_gpu() is not None:
        executor = _gpu()
        if choice == "gpu" or not isinstance(executor, Reason):
            return executor
    elif choice == "gpu":
        return Reason(ReasonCode.UNAVAILABLE, "no CUDA device is present; --executor emulated verifies on the CPU")
    return _emulated(arch)


def _gpu() -> Executor | Reason:
    from cudaperf.engine.executors.gpu.client import WorkerMissing
    from cudaperf.engine.executors.gpu.executor import GpuExecutor

    try:
        return GpuExecutor()
    except WorkerMissing as missing:
        return Reason(ReasonCode.UNAVAILABLE, str(missing))


def _emulated(arch: int | None) -> Executor | Reason:
    from cudaperf.engine.executors.emulated.build import NO_COMPILER, find_compiler
    from cudaperf.engine.executors.emulated.executor import EmulatedExecutor
    from cudaperf.engine.toolchain.devices import default_architecture

    if find_compiler() is None:
        return Reason(ReasonCode.UNAVAILABLE, NO_COMPILER)
    return EmulatedExecutor(architecture=default_architecture(arch))
