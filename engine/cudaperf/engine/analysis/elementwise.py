"""Kernels in which thread i reads and writes the elements i of some arrays, straight through, and what each thread does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cudaperf.engine.analysis.kinds import Kind, Kinds
from cudaperf.engine.analysis.variables import variables
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function

_FLOATING: Final = (Kind.FLOAT, Kind.SLIPPED, Kind.DOUBLE)


@dataclass(frozen=True, slots=True)
class Elementwise:
    """`reads` and `writes` are parameters with the bytes of an element; `flops` counts + - * / and a call as one each."""

    flops: int
    reads: dict[str, int]
    writes: dict[str, int]

    @property
    def bytes(self) -> int:
        return sum(self.reads.values()) + sum(self.writes.values())

    @property
    def intensity(self) -> float:
        return self.flops / self.bytes


def elementwise(model: FileModel, kernel: Function) -> Elementwise | None:
    """None where a kernel is anything else: loops, shared memory, barriers, atomics, other indices."""
    kinds = Kinds(model, kernel)
    pointers = {p.name: p.type.size for p in kernel.parameters if p.type.pointers == 1}
    reads, writes, flops = dict[str, int](), dict[str, int](), 0
    plain = {node.target for node in kernel.nodes if isinstance(node, ir.Assign) and node.op is None}
    stored = {node.target for node in kernel.nodes if isinstance(node, ir.Assign)}
    for node in kernel.nodes:
        match node:
            case ir.Loop() | ir.Switch() | ir.Opaque() | ir.Launch() | ir.AddressOf() | ir.Declare(shared=True):
                return None
            case ir.Call(name=name):
                if name in model.by_name or name in model.macros or "sync" in name or name.startswith(("atomic", "__shfl")):
                    return None
                flops += 1
            case ir.Binary(op=op) if op in ("+", "-", "*", "/") and kinds.kind(node) in _FLOATING:
                flops += 1
            case ir.Assign(op=op, target=target) if op in ("+", "-", "*", "/") and kinds.kind(target) in _FLOATING:
                flops += 1
            case ir.Index(base=base, index=index):
                name = base.id if isinstance(base, ir.Name) else ""
                size = pointers.get(name)
                if size is None or not _global_index(index, kernel, model):
                    return None
                if node in stored:
                    writes[name] = size
                if node not in plain:
                    reads[name] = size
    return Elementwise(flops, reads, writes) if writes else None


def _global_index(index: ir.Expr, kernel: Function, model: FileModel) -> bool:
    """Whether an index is `blockIdx.x * blockDim.x + threadIdx.x`, or a variable that is."""
    if isinstance(index, ir.Name):
        variable = variables(kernel, model).resolve(index.id, index.start)
        declared = variable.declared if variable is not None and len(variable.writes) == 1 else None
        return declared is not None and declared.init is not None and _global_index(declared.init, kernel, model)
    if isinstance(index, ir.Cast):
        return _global_index(index.value, kernel, model)
    if not isinstance(index, ir.Binary) or index.op != "+":
        return False
    sides = (index.left, index.right)
    thread = any(isinstance(s, ir.Builtin) and s.id == "threadIdx" and s.axis == "x" for s in sides)
    return thread and any(isinstance(s, ir.Binary) and s.op == "*" and _builtins(s) == {"blockIdx", "blockDim"} for s in sides)


def _builtins(product: ir.Binary) -> set[str]:
    inner = (n.value if isinstance(n, ir.Cast) else n for n in (product.left, product.right))
    return {n.id for n in inner if isinstance(n, ir.Builtin) and n.axis == "x"}
