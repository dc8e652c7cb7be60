"""C++ declarations of a task's types, as the harness and the reference need them: named by us, laid out as C did.

Not promised: the user's own type names; only size, offsets and how a value is passed are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cudaperf.engine.task import ElementType, ScalarType, StructType, Task
from cudaperf.engine.verify.data import dtype

_SPELLING = {"_Bool": "bool"}


def scalar_name(kind: ScalarType) -> str:
    """The C++ spelling of a C scalar type."""
    return _SPELLING.get(kind.name, kind.name)


def alignment(kind: ElementType) -> int:
    """Natural alignment in bytes."""
    if isinstance(kind, ScalarType):
        return kind.bits // 8
    return max((alignment(f.type) for f in kind.fields), default=1)


@dataclass
class Types:
    """Names and definitions of the structs met so far, inner ones first."""

    names: dict[str, str] = field(default_factory=dict)
    definitions: list[str] = field(default_factory=list)

    def name(self, kind: ElementType) -> str:
        """How C++ text names the type; a new struct is defined on the way."""
        if isinstance(kind, ScalarType):
            return scalar_name(kind)
        identity = kind.model_dump_json()
        if identity not in self.names:
            self._define(kind, identity)
        return self.names[identity]

    def _define(self, kind: StructType, identity: str) -> None:
        inner = [self.name(f.type) for f in kind.fields]
        name = f"CpStruct{len(self.names)}"
        self.names[identity] = name
        packed = any(f.offset % alignment(f.type) for f in kind.fields) or kind.size % alignment(kind)
        lines = [f"struct {'__attribute__((packed)) ' if packed else ''}{name} {{"]
        at = 0
        for member, type_name in zip(kind.fields, inner, strict=True):
            if packed and member.offset > at:
                lines.append(f"    unsigned char padding_{at}[{member.offset - at}];")
            dims = "".join(f"[{d}]" for d in member.dims)
            lines.append(f"    {type_name} m_{member.name}{dims};")
            at = member.offset + dtype(member.type).itemsize * _count(member.dims)
        if packed and kind.size > at:
            lines.append(f"    unsigned char padding_{at}[{kind.size - at}];")
        checks = [f'static_assert(offsetof({name}, m_{f.name}) == {f.offset}, "layout");' for f in kind.fields]
        self.definitions.append("\n".join([*lines, "};", f'static_assert(sizeof({name}) == {kind.size}, "layout");', *checks]))


def _count(dims: tuple[int, ...]) -> int:
    count = 1
    for dim in dims:
        count *= dim
    return count


def task_types(task: Task) -> Types:
    """The types of every parameter, global and the return value."""
    types = Types()
    for p in task.parameters + task.globals:
        types.name(p.type)
    if task.returns is not None:
        types.name(task.returns)
    return types
