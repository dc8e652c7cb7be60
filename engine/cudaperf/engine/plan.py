"""`LaunchPlan`: what the host does, as data.

A candidate carries device code and this small program, never host code. Executors interpret it, `emit.host` prints it as the
body of the user's host function. Expressions are `size` expressions (int64) over the task's integer parameters and the
variables of enclosing `Repeat` nodes. Buffers are named: the task's arrays, and the plan's temporaries.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

SizeExpr = str


class PlanNode(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PointerArg(PlanNode):
    """The device address of `buffer` plus `offset` elements."""

    kind: Literal["pointer"] = "pointer"
    buffer: str
    offset: SizeExpr = "0"


class ScalarArg(PlanNode):
    """A scalar parameter of the task, passed with its own C type (also floats and structs)."""

    kind: Literal["scalar"] = "scalar"
    name: str


class IntArg(PlanNode):
    """An integer computed by the plan; `type` is the kernel parameter's C type ("int", "long long", ...)."""

    kind: Literal["int"] = "int"
    value: SizeExpr
    type: str = "int"


Arg = Annotated[PointerArg | ScalarArg | IntArg, Field(discriminator="kind")]


class Launch(PlanNode):
    """One kernel launch. An empty grid is skipped. `shared` is dynamic shared memory in bytes."""

    kind: Literal["launch"] = "launch"
    kernel: str
    grid: tuple[SizeExpr, SizeExpr, SizeExpr] = ("1", "1", "1")
    block: tuple[SizeExpr, SizeExpr, SizeExpr] = ("1", "1", "1")
    shared: SizeExpr = "0"
    args: tuple[Arg, ...] = ()


class Repeat(PlanNode):
    """`for (var = begin; var < end; var += step)` (`>` when step is negative; step is a non-zero constant)."""

    kind: Literal["repeat"] = "repeat"
    var: str
    begin: SizeExpr
    end: SizeExpr
    step: int = 1
    body: tuple[Step, ...]


class RepeatWhile(PlanNode):
    """Run the body while the int32 at `flag[0]` on the device is non-zero after it, at most `limit` times.

    `first` says whether the flag is tested before the first pass too (while) or not (do-while).
    Reaching `limit` is an error of the run (the executors report TimedOut), never a silent stop.
    """

    kind: Literal["repeat_while"] = "repeat_while"
    flag: str
    first: bool = False
    limit: SizeExpr
    body: tuple[Step, ...]


class When(PlanNode):
    """The body runs if the size expression is non-zero."""

    kind: Literal["when"] = "when"
    condition: SizeExpr
    body: tuple[Step, ...]


class Fill(PlanNode):
    """Set `count` elements of `buffer` from `offset` to zero bytes, or every byte to `byte`."""

    kind: Literal["fill"] = "fill"
    buffer: str
    count: SizeExpr
    offset: SizeExpr = "0"
    byte: int = Field(default=0, ge=0, le=255)


class Copy(PlanNode):
    """Device-to-device copy of `count` elements."""

    kind: Literal["copy"] = "copy"
    target: str
    source: str
    count: SizeExpr
    target_offset: SizeExpr = "0"
    source_offset: SizeExpr = "0"


class Swap(PlanNode):
    """Exchange what two buffer names refer to in the steps that follow (pointers, not data; the caller's arrays stay his)."""

    kind: Literal["swap"] = "swap"
    first: str
    second: str


class LibraryCall(PlanNode):
    """An openly named library operation (e.g. "aten.mm") where a strategy chooses one; shown to the user."""

    kind: Literal["library"] = "library"
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, int | float | str] = {}


Step = Annotated[Launch | Repeat | RepeatWhile | When | Fill | Copy | Swap | LibraryCall, Field(discriminator="kind")]


class Temporary(PlanNode):
    """A device buffer that lives for one run of the plan. `type` is a C scalar type; `count` in elements."""

    name: str
    type: str
    count: SizeExpr


class LaunchPlan(PlanNode):
    """Temporaries, then the steps in order on one stream.

    `result` names the buffer whose element 0 is the C function's return value (None for void).
    """

    temporaries: tuple[Temporary, ...] = ()
    steps: tuple[Step, ...]
    result: str | None = None


Repeat.model_rebuild()
RepeatWhile.model_rebuild()
When.model_rebuild()
LaunchPlan.model_rebuild()


def launches(steps: tuple[Step, ...]) -> list[Launch]:
    """Every launch node, in order, nested ones included."""
    found: list[Launch] = []
    for step in steps:
        if isinstance(step, Launch):
            found.append(step)
        elif isinstance(step, Repeat | RepeatWhile | When):
            found.extend(launches(step.body))
    return found
