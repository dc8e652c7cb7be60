"""Kernels in which thread i reads and writes the elements i of some arrays, straight through, and what each thread does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cudaperf.engine.analysis.kinds import Kind, Kinds
from cudaperf.engine.analysis.thread_ids import definitions, numbers_threads
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
    kinds, known = Kinds(model, kernel), definitions(kernel, model)
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
                if size is None or numbers_threads(index, known) != "x":
                    return None
                if node in stored:
                    writes[name] = size
                if node not in plain:
                    reads[name] = size
    return Elementwise(flops, reads, writes) if writes else None
