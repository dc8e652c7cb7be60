"""The shared memory of a kernel and of the device functions that it calls: static bytes, and whether it has dynamic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cudaperf.engine.analysis.constants import number, values_at
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """`static` is None where an array's size is not known; `arrays` are the static declarations; `dynamic`: an extern array."""

    static: int | None
    arrays: tuple[ir.Declare, ...]
    dynamic: bool


def shared_memory(
    model: FileModel, kernel: Function, templates: Mapping[str, int], types: Mapping[str, int] | None = None
) -> SharedMemory:
    """`types` are the sizes of types that stand for the kernel's own type parameters."""
    sizes: list[int | None] = []
    arrays: list[ir.Declare] = []
    dynamic = False
    for function in model.reached(kernel):
        given = templates if function is kernel else {}
        for node in function.nodes:
            if isinstance(node, ir.Declare) and node.shared:
                if node.extern or None in node.dims:
                    dynamic = True
                else:
                    arrays.append(node)
                    sizes.append(_bytes(node, function, model, given, types if types and function is kernel else {}))
    known = [size for size in sizes if size is not None]
    return SharedMemory(sum(known) if len(known) == len(sizes) else None, tuple(arrays), dynamic)


def _bytes(
    array: ir.Declare, function: Function, model: FileModel, templates: Mapping[str, int], types: Mapping[str, int]
) -> int | None:
    name = array.type.name
    size = 8 if array.type.pointers else types.get(name) if name in function_types(function) else array.type.size
    values = values_at(function, model, array.start, templates)
    for dim in array.dims:
        extent = number(dim, model, values) if dim is not None else None
        size = size * extent if size is not None and extent is not None and extent >= 0 else None
    return size


def function_types(function: Function) -> set[str]:
    """The names of a template's type parameters: their sizes are not known."""
    from cudaperf.engine.analysis.launches import template_names

    return {name for name in template_names(function) if name is not None and name not in function.templates}
