"""CP204: a thread's arrays that are indexed by what is not known when compiling, even with their loops unrolled.

Such an index differs between threads, comes from memory, or follows parameters (other samples lead elsewhere); or a branch that
data decides has set it, and the array is written by it. An index that is not known for other reasons says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cudaperf.engine.analysis.finding import RULES, Data, Finding
from cudaperf.engine.analysis.runs import ALIGNED, Run, Runs
from cudaperf.engine.analysis.simt.trace import Access
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import Function


def in_local_memory(runs: Runs) -> list[Finding]:
    """One finding for each such array, at the first access that shows it."""
    run = runs.first
    if run is None or not any(a.space == "local" for a in run.trace.accesses):
        return []
    other = runs.run(0, ALIGNED)
    if other is None:
        return []
    elsewhere = {(a.start, a.end, a.iteration): a.offset for a in other.trace.accesses if a.space == "local"}
    found: dict[str, Finding] = {}
    for access in run.trace.accesses:
        if access.space != "local" or access.array in found:
            continue
        twin = elsewhere.get((access.start, access.end, access.iteration), access.offset)
        follows = isinstance(access.offset, int) and isinstance(twin, int) and twin != access.offset
        loaded = access.from_data or not isinstance(access.base, int) or access.base != 0
        varies = isinstance(access.offset, np.ndarray) and np.ptp(access.offset[access.may]) > 0
        if varies or loaded or follows or _chosen_by_data(run, access):
            name = access.name
            message = f"{name} is indexed at run time, so it lies in local memory instead of registers"
            data: Data = {"array": name}
            found[access.array] = Finding("CP204", RULES["CP204"].severity, access.start, access.end, message, data=data)
    return list(found.values())


def _chosen_by_data(run: Run, access: Access) -> bool:
    """Whether an element is written whose index a branch has set that looks at an array."""
    if access.offset is not None or access.kind != "write" or not run.trace.complete:
        return False
    kernel = run.runs.kernel
    named = {name for name, place in _indices(kernel) if place == (access.start, access.end)}
    own = {n.name for n in kernel.nodes if isinstance(n, ir.Declare)}
    return bool(named) and named <= own and bool(named & _set_by_data(kernel))


def _indices(kernel: Function) -> Iterator[tuple[str, tuple[int, int]]]:
    """The names in the indices of each element in the text."""
    for node in kernel.nodes:
        part: ir.Expr | ir.Stmt = node
        while isinstance(part, ir.Index):
            yield from ((n.id, (node.start, node.end)) for n in ir.walk(part.index) if isinstance(n, ir.Name))
            part = part.base


def _set_by_data(kernel: Function) -> set[str]:
    """Variables that are set under a test of an array's element, or of a variable that holds one."""
    declared = [n for n in kernel.nodes if isinstance(n, ir.Declare) and n.init is not None]
    held = {d.name for d in declared if isinstance(d.init, ir.Index)}
    found: set[str] = set()
    for node in kernel.nodes:
        if isinstance(node, ir.If) and any(
            isinstance(n, ir.Index) or (isinstance(n, ir.Name) and n.id in held) for n in ir.walk(node.condition)
        ):
            assigned = (n.target for side in (node.then, node.orelse) if side is not None for n in _assignments(side))
            found |= {target.id for target in assigned if isinstance(target, ir.Name)}
    return found


def _assignments(block: ir.Block) -> Iterator[ir.Assign]:
    return (n for n in ir.walk(block) if isinstance(n, ir.Assign))
