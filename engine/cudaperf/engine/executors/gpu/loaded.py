"""One candidate on one device: run its plan on an input configuration with every guard on.

Inputs go up between canaries, temporaries are poisoned, the plan is interpreted, then canaries and unchanged inputs are checked
and the outputs come back. Judging them is `verify`'s business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cudaperf.engine.executors.gpu.arguments import UnknownType, size_of
from cudaperf.engine.executors.gpu.backend import Backend, DeviceError, Kernel
from cudaperf.engine.executors.gpu.interpret import Interpreter, PlanStopped, refuse, verdict_of
from cudaperf.engine.executors.gpu.memory import POISON, Buffers
from cudaperf.engine.plan import LaunchPlan, launches
from cudaperf.engine.size import Reader, SizeError, evaluate
from cudaperf.engine.task import ElementType, ScalarType, Task
from cudaperf.engine.verdict import Hazard, LaunchFailed, Rejected, Verdict
from cudaperf.engine.verify import data
from cudaperf.engine.verify.data import Value

CHANGED_INPUT_ROW = 11
"""The catalogue's row for a candidate that changes its inputs."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A candidate's kernels in a module on `backend`, with the task and plan they belong to."""

    task: Task
    plan: LaunchPlan
    backend: Backend
    kernels: Mapping[str, Kernel]

    def run(self, inputs: Mapping[str, Value], poison: int = POISON) -> dict[str, Value] | Verdict | None:
        """The outputs by name, what ended the candidate, or None where the task's requirements don't hold (a fall back)."""
        buffers = Buffers(self.backend, poison)
        try:
            if not self._applies(inputs):
                return None
            self.fill(buffers, inputs)
            self.interpreter(self.backend, buffers, inputs).run(self.plan.steps, integers(self.task, inputs))
            self.backend.synchronize()
            if verdict := self._violations(buffers, inputs):
                return verdict
            return self.outputs(buffers, inputs)
        except PlanStopped as stopped:
            return stopped.verdict
        except DeviceError as error:
            return verdict_of(error, "the plan")
        finally:
            _free(buffers)

    def _applies(self, inputs: Mapping[str, Value]) -> bool:
        values = integers(self.task, inputs)
        try:
            return all(evaluate(text, values, reader(inputs)) for text in self.task.requirements)
        except SizeError as error:
            raise refuse(f"requirement: {error}") from error

    def interpreter(self, backend: Backend, buffers: Buffers, inputs: Mapping[str, Value], careful: bool = True) -> Interpreter:
        scalars = {p.name: inputs[p.name] for p in self.task.scalars}
        return Interpreter(self.task, backend, self.kernels, scalars, buffers, self.backend.facts.shared_optin, careful)

    def fill(self, buffers: Buffers, inputs: Mapping[str, Value]) -> None:
        """The task's arrays with their data, the plan's temporaries poisoned; raises `PlanStopped`, `DeviceError`."""
        for array in self.task.arrays:
            content = np.ascontiguousarray(inputs[array.name])
            buffers.add(array.name, content.size, content.dtype.itemsize, content.reshape(-1).view(np.uint8).data)
        values = integers(self.task, inputs)
        for temporary in self.plan.temporaries:
            try:
                count, item = evaluate(temporary.count, values), size_of(temporary.type, self.task)
            except (SizeError, UnknownType) as error:
                raise refuse(f"temporary {temporary.name}: {error}") from error
            if temporary.name in buffers:
                raise refuse(f"temporary {temporary.name} has an array's name")
            buffers.add(temporary.name, max(count, 0), item)

    def _violations(self, buffers: Buffers, inputs: Mapping[str, Value]) -> Verdict | None:
        if broken := buffers.broken_canaries():
            return Hazard(hazard="memory", message="; ".join(broken))
        for array in self.task.arrays:
            if array.access == "in" and buffers.read(buffers.original(array.name)) != _bytes(inputs[array.name]):
                return Rejected(row=CHANGED_INPUT_ROW, detail=f"the input {array.name} was changed")
        return None

    def outputs(self, buffers: Buffers, inputs: Mapping[str, Value]) -> dict[str, Value]:
        """Read back what an output file holds: the caller's arrays are the memory that the names stood for before any swap."""
        found: dict[str, Value] = {}
        for name, element, is_array in data.outputs(self.task):
            if is_array:
                found[name] = np.frombuffer(buffers.read(buffers.original(name)), data.dtype(element))
            else:
                found[name] = self._scalar(name, element, buffers, inputs)
        return found

    def _scalar(self, name: str, element: ElementType, buffers: Buffers, inputs: Mapping[str, Value]) -> Value:
        holder = self.plan.result if name == data.RETURN else name
        if holder is None or (name == data.RETURN and holder not in buffers):
            raise refuse("the plan names no buffer for the return value")
        if holder not in buffers:
            return inputs[name]
        region, kind = buffers[holder], data.dtype(element)
        if region.size < kind.itemsize:
            raise refuse(f"{holder} is too small to hold the value of {name}")
        value = np.frombuffer(self.backend.download(region.address, kind.itemsize), kind)[0]
        return _plain(value, element)


def _plain(value: np.generic, element: ElementType) -> Value:
    if not isinstance(element, ScalarType):
        return value
    return int(value) if element.number == "int" else float(value)


def _free(buffers: Buffers) -> None:
    """After a fault the context is gone and its memory with it."""
    try:
        buffers.free()
    except DeviceError:
        return


def _bytes(value: Value) -> bytes:
    return np.ascontiguousarray(value).tobytes()


def integers(task: Task, inputs: Mapping[str, Value]) -> dict[str, int]:
    """What size expressions may name: every integer scalar."""
    return {p.name: int(inputs[p.name]) for p in task.scalars if isinstance(p.type, ScalarType) and p.type.number == "int"}


def reader(inputs: Mapping[str, Value]) -> Reader:
    """Reads `at`, `top` and `bottom` of size expressions from the input arrays."""

    def read(function: str, array: str, argument: int) -> int:
        content = np.asarray(inputs[array]).reshape(-1)
        if function == "at":
            if not 0 <= argument < content.size:
                raise SizeError(f"at({array}, {argument}) is outside its {content.size} elements")
            return int(content[argument])
        looked = content[: max(argument, 0)]
        if function == "bottom":
            return int(looked.min(initial=0))
        return max(0, int(looked.max(initial=-1)) + 1)

    return read


def load(task: Task, plan: LaunchPlan, backend: Backend, cubin: bytes) -> Loaded | Verdict:
    """Load the machine code and look up every kernel the plan names."""
    names = sorted({node.kernel for node in launches(plan.steps)})
    try:
        module = backend.load(cubin)
    except DeviceError as error:
        return LaunchFailed(message=f"the device does not take the code: {error}")
    kernels = {}
    for name in names:
        try:
            kernels[name] = backend.kernel(module, name)
        except DeviceError as error:
            return LaunchFailed(kernel=name, message=f"no such kernel in the device code: {error}")
    return Loaded(task, plan, backend, kernels)
