"""What every generator of this package returns: kernel text with its parameters and launch shape.

Units: `grid` and `block` count blocks and threads, `shared` is dynamic shared memory in bytes; all are size expressions over
the names that the caller's own size expressions use. Nothing here looks at a loop nest, and nothing promises that the
caller's element texts are free of dependences.

Names that the generators make up begin with `cp_`; element texts may use any other name that a parameter declares.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from cudaperf.engine.plan import Arg, IntArg, Launch, PointerArg, SizeExpr, Temporary

STATIC_SHARED_LIMIT: Final = 49152
"""Bytes of shared memory a block may have without opting in."""

SIZES: Final = {
    "float": 4,
    "double": 8,
    "int": 4,
    "unsigned int": 4,
    "long": 8,
    "unsigned long": 8,
    "long long": 8,
    "unsigned long long": 8,
}
"""Bytes of each type that the generators accumulate in."""


class ConfigurationError(ValueError):
    """A configuration that no kernel exists for; the message says which bound it breaks."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One kernel parameter: its C declaration ("const double *A") and what the plan passes for it."""

    declaration: str
    argument: Arg


@dataclass(frozen=True, slots=True)
class KernelText:
    """One `extern "C" __global__` kernel.

    `text` is the whole definition (device functions of its own before it). `parameters` are in order. `shared` is dynamic
    shared memory in bytes; above 49152 the launch needs the opt-in attribute. `architecture` is the least compute
    capability (75 = sm_75).
    """

    name: str
    text: str
    parameters: tuple[Parameter, ...]
    grid: tuple[SizeExpr, SizeExpr, SizeExpr]
    block: tuple[SizeExpr, SizeExpr, SizeExpr]
    shared: SizeExpr = "0"
    architecture: int = 75

    def launch(self) -> Launch:
        """The plan node that launches this kernel."""
        arguments = tuple(parameter.argument for parameter in self.parameters)
        return Launch(kernel=self.name, grid=self.grid, block=self.block, shared=self.shared, args=arguments)


@dataclass(frozen=True, slots=True)
class Kernels:
    """Kernels to launch in order on one stream, and the device buffers that they pass values through.

    `schedule` is the text of the nest's schedule; `deterministic` says whether reruns are bit-equal.
    """

    kernels: tuple[KernelText, ...]
    schedule: str
    temporaries: tuple[Temporary, ...] = ()
    deterministic: bool = True

    @property
    def device_code(self) -> str:
        return "\n".join(kernel.text for kernel in self.kernels)

    def steps(self) -> tuple[Launch, ...]:
        return tuple(kernel.launch() for kernel in self.kernels)


@dataclass(frozen=True, slots=True)
class Access:
    """Where an element lives: `pointer` is a C expression, `index(i, k)` the text of its element index (64-bit)."""

    pointer: str
    index: Callable[..., str]

    def element(self, *at: str) -> str:
        """The element as an lvalue."""
        return f"{self.pointer}[{self.index(*at)}]"

    def address(self, *at: str) -> str:
        return f"{self.pointer} + ({self.index(*at)})"


@dataclass
class Writer:
    """Collects lines of C at the current depth; braces are kept in step with the depth."""

    depth: int = 0
    lines: list[str] = field(default_factory=list)

    def __call__(self, text: str) -> None:
        for line in map(str.strip, text.splitlines()):
            self.depth -= line.startswith("}")
            self.lines.append(("    " * self.depth + line) if line and not line.startswith("#") else line)
            self.depth += line.endswith("{")

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def size_parameter(name: str, value: SizeExpr) -> Parameter:
    """A 64-bit size that the kernel guards with."""
    return Parameter(f"long long {name}", IntArg(value=value, type="long long"))


def buffer_parameter(name: str, type_name: str, buffer: str, *, const: bool) -> Parameter:
    """A temporary of the plan; no other parameter points into it."""
    qualifier = "const " if const else ""
    return Parameter(f"{qualifier}{type_name} *__restrict__ {name}", PointerArg(buffer=buffer))


def signature(name: str, threads: int, parameters: tuple[Parameter, ...], resident: int = 1) -> str:
    """The head of a kernel definition, up to its opening brace; `resident` blocks are to fit a multiprocessor."""
    inner = ",\n    ".join(parameter.declaration for parameter in parameters)
    bounds = f"{threads}, {resident}" if resident > 1 else str(threads)
    return f'extern "C" __global__ void __launch_bounds__({bounds})\n{name}(\n    {inner})'


def accumulated(type_name: str) -> int:
    """The size in bytes of a type that generators accumulate in; raises `ConfigurationError` for others."""
    if type_name not in SIZES:
        raise ConfigurationError(f"no kernels accumulate in {type_name!r}; use one of {', '.join(SIZES)}")
    return SIZES[type_name]


def mentions(text: str, name: str) -> bool:
    """Whether `name` stands in the text as a whole identifier."""
    return re.search(rf"\b{name}\b", text) is not None


def require(condition: bool, message: str) -> None:
    """Raise `ConfigurationError(message)` unless the condition holds."""
    if not condition:
        raise ConfigurationError(message)
