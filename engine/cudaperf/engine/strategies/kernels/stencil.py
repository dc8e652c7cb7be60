"""2D and 3D stencils through shared memory: a tile with its halo; in 3D the tile marches along z, one plane at a time.

    stencil tile(y:16,x:64) block(256)
    stencil tile(y:8,x:64) block(256) march(z:32)

Only cells that the stencil reads for some output are loaded, so no element outside the array's accessed range is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from cudaperf.engine.plan import SizeExpr
from cudaperf.engine.strategies.kernels.kernel import (
    STATIC_SHARED_LIMIT,
    Kernels,
    KernelText,
    Parameter,
    Writer,
    accumulated,
    require,
    signature,
    size_parameter,
)

Offset = tuple[int, ...]
Read = Callable[[str, Offset], str]
"""(field's name, offset from the output cell) -> text of the element in shared memory."""


@dataclass(frozen=True, slots=True)
class Field:
    """An array read at the constant `offsets` from the output cell, (dy, dx) or (dz, dy, dx).

    `load(*cell)` is the text of the element at a cell, whose coordinates count from the first output cell and may be
    negative (64-bit variables).
    """

    name: str
    type: str
    load: Callable[..., str]
    offsets: tuple[Offset, ...]

    def reach(self, axis: int) -> tuple[int, int]:
        """How far before and after the output cell the offsets go."""
        along = [offset[axis] for offset in self.offsets]
        return max(0, -min(along)), max(0, max(along))


@dataclass(frozen=True, slots=True)
class Stencil:
    """`extents` are the numbers of output cells, (ny, nx) or (nz, ny, nx), x contiguous.

    `body(cell, read)` is the text that computes and stores one output; reads of the fields go through `read`.
    """

    name: str
    fields: tuple[Field, ...]
    extents: tuple[SizeExpr, ...]
    body: Callable[[tuple[str, ...], Read], str]
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class StencilShape:
    """Output cells of a tile along y and x; threads a block; planes a block marches through (3D).

    `resident` blocks are to fit a multiprocessor (it bounds the registers).
    """

    y: int = 16
    x: int = 64
    block: int = 256
    march: int = 32
    resident: int = 1

    def schedule(self, dims: int) -> str:
        march = f" march(z:{self.march})" if dims == 3 else ""
        resident = f" resident({self.resident})" if self.resident > 1 else ""
        return f"stencil tile(y:{self.y},x:{self.x}) block({self.block}){march}{resident}"


def stencil(problem: Stencil, shape: StencilShape) -> Kernels:
    """One kernel; x counts tiles, y (3D) runs of `march` planes."""
    dims = len(problem.extents)
    require(dims in (2, 3), "stencils have two or three dimensions")
    require(len(problem.fields) > 0, "a stencil reads at least one field")
    require(all(field.offsets for field in problem.fields), "a field has at least one offset")
    require(shape.x >= 16 and shape.x & (shape.x - 1) == 0, "x must be a power of two, at least 16")
    require(shape.block % 32 == 0 and 32 <= shape.block <= 1024, "block must be 32 to 1024 threads, whole warps")
    require(shape.block % shape.x == 0 or shape.x % shape.block == 0, "block must be whole rows of the tile")
    require(shape.y * shape.x % shape.block == 0, "a tile must be whole cells a thread")
    used = sum(_bytes(field, shape) for field in problem.fields)
    require(used <= STATIC_SHARED_LIMIT, f"{used} bytes of shared memory; at most {STATIC_SHARED_LIMIT}")
    names = ("cp_nz", "cp_ny", "cp_nx")[3 - dims :]
    sizes = tuple(size_parameter(name, value) for name, value in zip(names, problem.extents, strict=True))
    parameters = (*problem.parameters, *sizes)
    ny, nx = problem.extents[-2:]
    kernel = KernelText(
        name=problem.name,
        text=f"{signature(problem.name, shape.block, parameters, shape.resident)}\n{_body(problem, shape)}",
        parameters=parameters,
        grid=(
            f"ceildiv({ny}, {shape.y}) * ceildiv({nx}, {shape.x})",
            "1" if dims == 2 else f"min(65535, ceildiv({problem.extents[0]}, {shape.march}))",
            "1",
        ),
        block=(str(shape.block), "1", "1"),
    )
    return Kernels((kernel,), shape.schedule(dims))


def _planes(field: Field) -> int:
    """Planes in shared memory: one more than the stencil reads, so that one barrier a plane is enough."""
    return sum(field.reach(0)) + 2 if len(field.offsets[0]) == 3 else 1


def _tile(field: Field, shape: StencilShape) -> tuple[int, int]:
    axis = len(field.offsets[0]) - 2
    return shape.y + sum(field.reach(axis)), shape.x + sum(field.reach(axis + 1))


def _bytes(field: Field, shape: StencilShape) -> int:
    rows, columns = _tile(field, shape)
    return _planes(field) * rows * columns * accumulated(field.type)


def _body(problem: Stencil, shape: StencilShape) -> str:
    write = Writer()
    write("{")
    for field in problem.fields:
        rows, columns = _tile(field, shape)
        planes = f"[{_planes(field)}]" if len(problem.extents) == 3 else ""
        write(f"__shared__ {field.type} cp_tile_{field.name}{planes}[{rows}][{columns}];")
    for field in problem.fields:
        write(f"{field.type} cp_in_{field.name}[{_per_thread(field, shape)}];")
    write(f"const long long cp_across = (cp_nx + {shape.x - 1}) / {shape.x};")
    write(f"const long long cp_y0 = blockIdx.x / cp_across * {shape.y}, cp_x0 = blockIdx.x % cp_across * {shape.x};")
    if len(problem.extents) == 2:
        for field in problem.fields:
            _read_plane(write, field, shape, ("cp_cy", "cp_cx"))
        for field in problem.fields:
            _put_plane(write, field, shape, "")
        write("__syncthreads();")
        _compute(write, problem, shape)
    else:
        _march(write, problem, shape)
    write("}")
    return write.text


def _march(write: Writer, problem: Stencil, shape: StencilShape) -> None:
    """The next plane is on its way to registers while the present one is computed."""
    write(f"const long long cp_jump = (long long)gridDim.y * {shape.march};")
    write(f"for (long long cp_z0 = (long long)blockIdx.y * {shape.march}; cp_z0 < cp_nz; cp_z0 += cp_jump) {{")
    write(f"const long long cp_z1 = cp_z0 + {shape.march} < cp_nz ? cp_z0 + {shape.march} : cp_nz;")
    for field in problem.fields:
        before, after = field.reach(0)
        if before + after:
            write(f"for (int cp_k = 0; cp_k < {before + after}; ++cp_k) {{")
            write(f"const long long cp_cz = cp_z0 - {before} + cp_k;")
            _read_plane(write, field, shape, ("cp_cz", "cp_cy", "cp_cx"))
            _put_plane(write, field, shape, "[cp_k]")
            write("}")
        _read_ahead(write, field, shape, "cp_z0")
    write("for (long long cp_z = cp_z0; cp_z < cp_z1; ++cp_z) {")
    for field in problem.fields:
        before, after = field.reach(0)
        for dz in sorted({offset[0] for offset in field.offsets} | {after}):
            write(f"const int {_slot(field, dz)} = (int)((cp_z - cp_z0 + {before + dz}) % {_planes(field)});")
        _put_plane(write, field, shape, f"[{_slot(field, after)}]")
    write("__syncthreads();")
    write("if (cp_z + 1 < cp_z1) {")
    for field in problem.fields:
        _read_ahead(write, field, shape, "cp_z + 1")
    write("}")
    _compute(write, problem, shape)
    write("}")
    write("__syncthreads();")
    write("}")


def _read_ahead(write: Writer, field: Field, shape: StencilShape, plane: str) -> None:
    write("{")
    write(f"const long long cp_cz = {plane} + {field.reach(0)[1]};")
    _read_plane(write, field, shape, ("cp_cz", "cp_cy", "cp_cx"))
    write("}")


def _slot(field: Field, dz: int) -> str:
    return f"cp_slot_{field.name}_{'m' if dz < 0 else 'p'}{abs(dz)}"


def _per_thread(field: Field, shape: StencilShape) -> int:
    rows, columns = _tile(field, shape)
    return -(-rows * columns // shape.block)


def _cells(write: Writer, field: Field, shape: StencilShape) -> None:
    columns = _tile(field, shape)[1]
    write("#pragma unroll")
    write(f"for (int cp_r = 0; cp_r < {_per_thread(field, shape)}; ++cp_r) {{")
    write(f"const int cp_e = cp_r * {shape.block} + threadIdx.x;")
    write(f"const int cp_ty = cp_e / {columns}, cp_tx = cp_e % {columns};")


def _read_plane(write: Writer, field: Field, shape: StencilShape, cell: tuple[str, ...]) -> None:
    """This thread's cells of a plane with its halo, into registers; 0 where no output reads the cell."""
    axis = len(cell) - 2
    up, left = field.reach(axis)[0], field.reach(axis + 1)[0]
    _cells(write, field, shape)
    write(f"const long long cp_cy = cp_y0 + cp_ty - {up}, cp_cx = cp_x0 + cp_tx - {left};")
    condition = f"cp_ty < {_tile(field, shape)[0]} && ({needed(field.offsets, cell)})"
    write(f"cp_in_{field.name}[cp_r] = {condition} ? ({field.load(*cell)}) : ({field.type})0;")
    write("}")


def _put_plane(write: Writer, field: Field, shape: StencilShape, plane: str) -> None:
    _cells(write, field, shape)
    write(f"if (cp_ty < {_tile(field, shape)[0]}) {{")
    write(f"cp_tile_{field.name}{plane}[cp_ty][cp_tx] = cp_in_{field.name}[cp_r];")
    write("}\n}")


def _compute(write: Writer, problem: Stencil, shape: StencilShape) -> None:
    fields = {field.name: field for field in problem.fields}

    def read(name: str, offset: Offset) -> str:
        field = fields[name]
        axis = len(offset) - 2
        plane = f"[{_slot(field, offset[0])}]" if axis else ""
        y, x = offset[axis] + field.reach(axis)[0], offset[axis + 1] + field.reach(axis + 1)[0]
        return f"cp_tile_{name}{plane}[cp_ty + {y}][cp_tx + {x}]"

    write("#pragma unroll")
    write(f"for (int cp_r = 0; cp_r < {shape.y * shape.x // shape.block}; ++cp_r) {{")
    write(f"const int cp_e = cp_r * {shape.block} + threadIdx.x;")
    write(f"const int cp_ty = cp_e / {shape.x}, cp_tx = cp_e % {shape.x};")
    write("const long long cp_y = cp_y0 + cp_ty, cp_x = cp_x0 + cp_tx;")
    write("if (cp_y < cp_ny && cp_x < cp_nx) {")
    write(problem.body(("cp_z", "cp_y", "cp_x")[3 - len(problem.extents) :], read))
    write("}\n}")


def needed(offsets: Sequence[Offset], cell: tuple[str, ...]) -> str:
    """The condition that some output cell reads `cell`: exact, and short for boxes and stars."""
    dims = len(cell)
    extents = ("cp_nz", "cp_ny", "cp_nx")[3 - dims :]
    low = [min(offset[axis] for offset in offsets) for axis in range(dims)]
    high = [max(offset[axis] for offset in offsets) for axis in range(dims)]
    # the tile starts at the lowest offset, so a box needs only the upper bounds; along z the march keeps to its range
    box = [f"{cell[axis]} < {extents[axis]} + {high[axis]}" for axis in range(dims)]
    box += [f"{cell[axis]} >= {low[axis]}" for axis in range(dims) if low[axis] > 0]
    if len(set(offsets)) == len(list(product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))))):
        return " && ".join(box)
    inside = [f"({cell[axis]} >= 0 && {cell[axis]} < {extents[axis]})" for axis in range(dims)]
    if all(sum(part != 0 for part in offset) <= 1 for offset in offsets) and _centred(low, high):
        return " && ".join(box) + f" && {' + '.join(inside)} >= {dims - 1}"
    return " || ".join(_reads(offset, cell, extents) for offset in sorted(set(offsets)))


def _centred(low: Sequence[int], high: Sequence[int]) -> bool:
    return all(a <= 0 <= b for a, b in zip(low, high, strict=True))


def _reads(offset: Offset, cell: tuple[str, ...], extents: tuple[str, ...]) -> str:
    ranges = (
        f"{name} >= {shift} && {name} < {extent} + {shift}" for name, extent, shift in zip(cell, extents, offset, strict=True)
    )
    return f"({' && '.join(ranges)})"
