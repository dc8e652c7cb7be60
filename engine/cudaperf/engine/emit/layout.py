"""What everything in one emitted file is called, and what size expressions mean there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.emit import expressions
from cudaperf.engine.emit.expressions import Scope
from cudaperf.engine.emit.intervals import LARGEST
from cudaperf.engine.emit.names import cpp_name, fresh, macros
from cudaperf.engine.emit.spelling import Speller, type_name
from cudaperf.engine.emit.support import FUNCTIONS
from cudaperf.engine.plan import launches
from cudaperf.engine.reason import Reason, ReasonCode, Refusal
from cudaperf.engine.size import arrays, names
from cudaperf.engine.task import ArrayParameter, Parameter, ScalarParameter, ScalarType, Task


@dataclass(frozen=True)
class Layout:
    """One task and candidate with the names that their files use."""

    task: Task
    candidate: Candidate

    @property
    def name(self) -> str:
        """The user's function."""
        return self.task.original.function

    @property
    def host_name(self) -> str:
        return f"{self.name}_cuda"

    @property
    def device_name(self) -> str:
        return f"{self.name}_cuda_device"

    @property
    def variables(self) -> tuple[Parameter, ...]:
        """Parameters in C order, then globals: the parameters of the device function."""
        return self.task.parameters + self.task.globals

    @property
    def returns(self) -> str:
        """The C++ return type of the user's function."""
        return type_name(self.task.returns) if self.task.returns else "void"

    @cached_property
    def speller(self) -> Speller:
        return Speller(self.task)

    @cached_property
    def cpp(self) -> dict[str, str]:
        """Every parameter and global -> its C++ identifier."""
        found = {p.name: cpp_name(p.name, self._fixed) for p in self.variables}
        for p in self.task.globals:
            if found[p.name] != p.name:
                message = f"the file-scope variable {p.name} has a name that CUDA C++ can't refer to"
                raise Refusal(Reason(ReasonCode.UNSUPPORTED, message))
        return found

    @cached_property
    def _fixed(self) -> frozenset[str]:
        """Names of macros and functions in the file."""
        kernels = {launch.kernel for launch in launches(self.candidate.plan.steps)}
        return macros(self.candidate.device_code) | kernels | {self.name, self.host_name, self.device_name} | set(FUNCTIONS)

    @cached_property
    def taken(self) -> frozenset[str]:
        """Names that locals of the emitted functions must not have."""
        return self._fixed | set(self.cpp.values()) | {t.name for t in self.candidate.plan.temporaries}

    def local(self, wanted: str) -> str:
        """A local's name, for one that the file does not use otherwise."""
        return fresh(wanted, self.taken)

    @cached_property
    def scope(self) -> Scope:
        """Integer parameters as size expressions see them."""
        found = {p.name: expressions.symbol(self.cpp[p.name], p.type) for p in self.variables if isinstance(p, ScalarParameter)}
        return Scope({name: symbol for name, symbol in found.items() if symbol is not None}, {}, self.scalar_requirements)

    @cached_property
    def requirements(self) -> tuple[str, ...]:
        """What must hold, each once; those that read arrays can only be checked on the host."""
        return tuple(dict.fromkeys(self.task.requirements + self.task.user_assumptions))

    @property
    def scalar_requirements(self) -> tuple[str, ...]:
        return tuple(text for text in self.requirements if not arrays(text))

    def oversized(self, texts: tuple[str, ...]) -> dict[str, tuple[str, str]]:
        """64-bit parameters that these expressions read -> C++ conditions that they are, and are not, sane sizes."""
        used = frozenset().union(*(names(text) for text in texts))
        found = {}
        for p in self.variables:
            if p.name in used and isinstance(p.type, ScalarType) and p.type.bits == 64:
                limit = f"({'1LL' if p.type.signed else '1ULL'} << {LARGEST.bit_length() - 1})"
                name = self.cpp[p.name]
                low = (f" && {name} >= -{limit}", f" || {name} < -{limit}") if p.type.signed else ("", "")
                found[p.name] = (f"{name} <= {limit}{low[0]}", f"{name} > {limit}{low[1]}")
        return found

    def check_linkage(self) -> None:
        """Refuse file-scope arrays and scalars that no other file can name."""
        for p in self.task.globals:
            if re.search(r"\bstatic\b", p.declaration):
                message = f"{p.name} is static: {self.host_name}, in a file of its own, can't reach it"
                raise Refusal(Reason(ReasonCode.UNSUPPORTED, message))

    def host_parameters(self) -> list[str]:
        """C++ parameters of the host function."""
        return [self.speller.cpp(p, self.cpp[p.name]) for p in self.task.parameters]

    def device_parameters(self, names_in: dict[str, str] | None = None) -> list[str]:
        """C (and C++) parameters of the device function, without result and stream."""
        called = names_in or self.cpp
        return [self._device_parameter(p, called[p.name]) for p in self.variables]

    def _device_parameter(self, p: Parameter, name: str) -> str:
        return self.speller.pointer(p, name) if isinstance(p, ArrayParameter) else f"{self.speller.element(p)} {name}"
