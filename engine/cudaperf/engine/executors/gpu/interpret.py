"""Interpret a launch plan on a backend: the same steps that `emit.host` prints, as one pass over the nodes.

CUDA's limits are checked before each launch, and copies and fills against their buffers, so that a wrong plan is a
`LaunchFailed` that says what is wrong instead of a lost context. Library calls are not run here.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass

from cudaperf.engine.executors.gpu import arguments
from cudaperf.engine.executors.gpu.backend import Backend, DeviceError, Kernel, Triple
from cudaperf.engine.executors.gpu.memory import Buffers, Region
from cudaperf.engine.plan import Arg, Copy, Fill, IntArg, Launch, LibraryCall, PointerArg, Repeat, RepeatWhile, Step, Swap, When
from cudaperf.engine.size import SizeError, evaluate
from cudaperf.engine.task import Task
from cudaperf.engine.toolchain.devices import MAX_BLOCK, MAX_GRID, MAX_THREADS_PER_BLOCK
from cudaperf.engine.verdict import Hazard, Infrastructure, LaunchFailed, OutOfMemory, TimedOut, Verdict
from cudaperf.engine.verify.data import Value


class PlanStopped(Exception):
    """Carries the verdict that ended the candidate from where it was found to the worker's door."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.kind)
        self.verdict = verdict


def refuse(message: str, kernel: str | None = None) -> PlanStopped:
    return PlanStopped(LaunchFailed(kernel=kernel, message=message))


def verdict_of(error: DeviceError, doing: str, kernel: str | None = None) -> Verdict:
    """What a device error means for the candidate that ran."""
    message = f"{doing}: {error}"
    match error.kind:
        case "memory":
            return Hazard(hazard="memory", message=message)
        case "out of memory":
            return OutOfMemory()
        case "launch":
            return LaunchFailed(kernel=kernel, message=message)
        case _:
            return Infrastructure(message=message)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """Runs steps over `buffers`. `scalars` are the input's scalar values; `careful` waits after each launch, so that a
    fault is put down to its kernel. `shared_optin` is the device's dynamic shared memory limit in bytes."""

    task: Task
    backend: Backend
    kernels: Mapping[str, Kernel]
    scalars: Mapping[str, Value]
    buffers: Buffers
    shared_optin: int
    careful: bool = True

    def run(self, steps: tuple[Step, ...], values: Mapping[str, int]) -> None:
        """`values` are the integers that size expressions may name; raises `PlanStopped`."""
        for step in steps:
            try:
                self._step(step, values)
            except SizeError as error:
                raise refuse(str(error)) from error
            except DeviceError as error:
                raise PlanStopped(verdict_of(error, step.kind)) from error

    def _step(self, step: Step, values: Mapping[str, int]) -> None:
        match step:
            case Launch():
                self._launch(step, values)
            case Repeat():
                self._repeat(step, values)
            case RepeatWhile():
                self._repeat_while(step, values)
            case When():
                if evaluate(step.condition, values):
                    self.run(step.body, values)
            case Fill():
                self._fill(step, values)
            case Copy():
                self._copy(step, values)
            case Swap():
                self._need(step.first), self._need(step.second)
                self.buffers.swap(step.first, step.second)
            case LibraryCall():
                raise refuse(f"library call {step.name}: this executor runs kernels only")

    def _launch(self, step: Launch, values: Mapping[str, int]) -> None:
        grid = self._triple(step.grid, values)
        if min(grid) <= 0:
            return
        block = self._triple(step.block, values)
        shared = evaluate(step.shared, values)
        kernel = self.kernels.get(step.kernel)
        if kernel is None:
            raise refuse(f"no kernel named {step.kernel!r} in the device code", step.kernel)
        self._check_limits(kernel, grid, block, shared)
        packed = arguments.pack(self._argument(arg, values, step.kernel) for arg in step.args)
        try:
            self.backend.launch(kernel, grid, block, shared, packed)
            if self.careful:
                self.backend.synchronize()
        except DeviceError as error:
            raise PlanStopped(verdict_of(error, f"kernel {step.kernel}", step.kernel)) from error

    @staticmethod
    def _triple(texts: Triple | tuple[str, str, str], values: Mapping[str, int]) -> Triple:
        x, y, z = (evaluate(str(text), values) for text in texts)
        return x, y, z

    def _check_limits(self, kernel: Kernel, grid: Triple, block: Triple, shared: int) -> None:
        if any(size > limit for size, limit in zip(grid, MAX_GRID, strict=True)):
            raise refuse(f"grid {grid} is beyond CUDA's limit {MAX_GRID}", kernel.name)
        x, y, z = block
        inside = all(0 < size <= limit for size, limit in zip(block, MAX_BLOCK, strict=True))
        if not inside or x * y * z > MAX_THREADS_PER_BLOCK:
            raise refuse(f"block {block} is beyond CUDA's limits ({MAX_BLOCK}, {MAX_THREADS_PER_BLOCK} threads)", kernel.name)
        if shared < 0 or shared + kernel.static_shared > self.shared_optin:
            raise refuse(f"{shared} + {kernel.static_shared} bytes of shared memory; limit {self.shared_optin}", kernel.name)

    def _argument(self, arg: Arg, values: Mapping[str, int], kernel: str) -> arguments.Argument:
        if isinstance(arg, PointerArg):
            region = self._need(arg.buffer)
            offset = evaluate(arg.offset, values)
            if not 0 <= offset <= region.count:
                raise refuse(f"offset {offset} is outside {arg.buffer} ({region.count} elements)", kernel)
            return arguments.pointer(region.address + offset * region.item)
        if isinstance(arg, IntArg):
            value = evaluate(arg.value, values)
            try:
                return arguments.integer(value, arg.type)
            except (OverflowError, arguments.UnknownType) as error:
                raise refuse(f"argument {arg.value} = {value} as {arg.type}: {error}", kernel) from error
        if arg.name not in self.scalars:
            raise refuse(f"no scalar parameter named {arg.name!r}", kernel)
        element = next(p.type for p in self.task.scalars if p.name == arg.name)
        return arguments.scalar(self.scalars[arg.name], element)

    def _need(self, name: str) -> Region:
        if name not in self.buffers:
            raise refuse(f"no buffer named {name!r}")
        return self.buffers[name]

    def _repeat(self, step: Repeat, values: Mapping[str, int]) -> None:
        if step.step == 0:
            raise refuse("a repeat with step 0")
        for value in range(evaluate(step.begin, values), evaluate(step.end, values), step.step):
            self.run(step.body, {**values, step.var: value})

    def _repeat_while(self, step: RepeatWhile, values: Mapping[str, int]) -> None:
        limit, started = evaluate(step.limit, values), time.monotonic()
        go_on = self._flag(step.flag) if step.first else True
        passes = 0
        while go_on:
            if passes >= limit:
                raise PlanStopped(TimedOut(seconds=time.monotonic() - started))
            self.run(step.body, values)
            passes += 1
            go_on = self._flag(step.flag)

    def _flag(self, name: str) -> bool:
        region = self._need(name)
        if region.size < 4:
            raise refuse(f"the flag {name} holds no int32")
        (value,) = struct.unpack("<i", self.backend.download(region.address, 4))
        return bool(value)

    def _fill(self, step: Fill, values: Mapping[str, int]) -> None:
        address, size = self._span(step.buffer, step.offset, step.count, values)
        if size:
            self.backend.fill(address, step.byte, size)

    def _copy(self, step: Copy, values: Mapping[str, int]) -> None:
        target, size = self._span(step.target, step.target_offset, step.count, values)
        source, other = self._span(step.source, step.source_offset, step.count, values)
        if size != other:
            raise refuse(f"copy between elements of different sizes: {step.source} to {step.target}")
        if size:
            self.backend.copy(target, source, size)

    def _span(self, name: str, offset: str, count: str, values: Mapping[str, int]) -> tuple[int, int]:
        """(address, bytes) of a range inside a buffer; empty for a count of zero or less."""
        region = self._need(name)
        first, number = evaluate(offset, values), max(evaluate(count, values), 0)
        if number and not 0 <= first <= region.count - number:
            raise refuse(f"elements {first} to {first + number} are outside {name} ({region.count} elements)")
        return region.address + first * region.item, number * region.item
