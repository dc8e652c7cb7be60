"""CP102: one more element in each row of a shared array, where that spreads the rows over the banks.

Only where every use of the array names one element by all its indices, so that where the rows lie is nobody else's matter; then
it is safe, as far as the kernel's static shared memory is known to stay within a block's. A literal 32 becomes `32 + 1` rather
than 33, which says what the one is for. An index beyond its row, which C++ does not define, is looked for in the runs alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import numpy as np

from cudaperf.engine.analysis.constants import number, values_at
from cudaperf.engine.analysis.finding import Edit, Finding, Fix
from cudaperf.engine.analysis.memory_rules import bank_conflicts
from cudaperf.engine.analysis.mending.changed import block_with, with_block
from cudaperf.engine.analysis.mending.trial import Place, again, place
from cudaperf.engine.analysis.runs import LARGE, Runs
from cudaperf.engine.analysis.shared_memory import shared_memory
from cudaperf.engine.analysis.warps import WORD
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import Function

STATIC_LIMIT: Final = 48 << 10
"""Bytes of static shared memory that a block may have."""
_TIGHT: Final = (ir.Number, ir.Name, ir.Call)
"""What needs no parentheses before a sum's sign."""
_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_COMMENT: Final = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)


def padded(runs: Runs, findings: Iterable[Finding]) -> dict[Place, Fix]:
    """Fixes for a kernel's bank conflicts, by the finding's place."""
    by_array: dict[str, list[Finding]] = {}
    for finding in findings:
        by_array.setdefault(str(finding.data["array"]), []).append(finding)
    known = {place(f) for mine in by_array.values() for f in mine}
    fixes: dict[Place, Fix] = {}
    for name, mine in by_array.items():
        array = _declared(runs, name)
        if array is None:
            continue
        count = max(1, WORD // (array.type.size or WORD))
        trial = again(runs, _with_padding(runs.kernel, array, count))
        safe = _fits(trial)
        left = {place(f) for f in trial.agreed(bank_conflicts, (LARGE,))}
        if safe is None or not left <= known:
            continue
        safe = safe and _same_elements(runs, trial, array, count)
        fix = Fix(
            f"Pad the rows of {name} by {'one element' if count == 1 else f'{count} elements'}", _edits(array, count), safe
        )
        fixes.update((place(f), fix) for f in mine if place(f) not in left)
    return fixes


def _declared(runs: Runs, name: str) -> ir.Declare | None:
    """The kernel's own array of that name, if the kernel takes nothing of it but elements."""
    found = [n for n in runs.kernel.nodes if isinstance(n, ir.Declare) and n.name == name]
    if len(found) != 1 or len(found[0].dims) < 2 or None in found[0].dims:
        return None
    array, word = found[0], name.encode()
    text = _COMMENT.sub(b"", runs.model.text(runs.kernel))
    written = sum(w == word for w in _WORD.findall(text))
    hidden = any(word in _WORD.findall(macro.text.encode()) for macro in runs.model.macros.values())
    plain = array.shared and not array.extern and not array.type.pointers
    return array if plain and not hidden and written == _elements(array, runs.kernel) + 1 else None


def _elements(array: ir.Declare, kernel: Function) -> int:
    """How often an element is named by all its indices; its address may go to an atomic, nowhere else."""
    atomics = {id(n.args[0]) for n in kernel.nodes if isinstance(n, ir.Call) and n.args and n.name.startswith("atomic")}
    taken = (n.target for n in kernel.nodes if isinstance(n, ir.AddressOf) and id(n) not in atomics)
    escaped = {id(n) for target in taken for n in ir.walk(target)}
    indexed = (n for n in kernel.nodes if isinstance(n, ir.Index) and id(n) not in escaped)
    return sum(_depth(n, array.name) == len(array.dims) for n in indexed)


def _depth(node: ir.Expr, name: str) -> int:
    """How many indices an expression gives an array; 0 for another one."""
    count = 0
    while isinstance(node, ir.Index):
        node, count = node.base, count + 1
    return count if isinstance(node, ir.Name) and node.id == name else 0


def _with_padding(kernel: Function, array: ir.Declare, count: int) -> Function:
    *outer, last = array.dims
    assert last is not None
    wider = ir.Binary(last.start, last.end, "+", last, ir.Number(last.end, last.end, count))
    other = ir.Declare(array.start, array.end, array.name, array.type, [*outer, wider], None, shared=True)
    block = block_with(kernel, array)
    return with_block(kernel, block, [other if s is array else s for s in block.body])


def _fits(trial: Runs) -> bool | None:
    """Whether the static shared memory stays within a block's: True, or None where it does not, False where it is not known."""
    sizes = [shared_memory(trial.model, trial.kernel, templates).static for _, templates in trial.shapes]
    known = [size for size in sizes if size is not None]
    return None if any(size > STATIC_LIMIT for size in known) else len(known) == len(sizes)


def _same_elements(runs: Runs, trial: Runs, array: ir.Declare, count: int) -> bool:
    """Whether each access meets the element that it met before, so that no index is beyond its row."""
    size, last = array.type.size, array.dims[-1]
    for at, (_, templates) in enumerate(trial.shapes):
        old, new = runs.run(at, LARGE), trial.run(at, LARGE)
        values = values_at(runs.kernel, runs.model, array.start, templates)
        extent = number(last, runs.model, values) if last is not None else None
        if old is None or new is None or not size or not extent or len(old.trace.accesses) != len(new.trace.accesses):
            return False
        row = extent * size
        for a, b in zip(old.trace.accesses, new.trace.accesses, strict=True):
            if a.array == array.name and a.offset is not None:
                was = np.asarray(a.offset) + (a.base if isinstance(a.base, int) else 0)
                now = np.asarray(b.offset) + (b.base if isinstance(b.base, int) else 0)
                if b.offset is None or (was // row * (row + count * size) + was % row != now).any():
                    return False
    return True


def _edits(array: ir.Declare, count: int) -> tuple[Edit, ...]:
    last = array.dims[-1]
    assert last is not None
    plain = isinstance(last, _TIGHT) or (isinstance(last, ir.Binary) and last.op in "+-*/%")
    if plain:
        return (Edit(last.end, last.end, f" + {count}"),)
    return Edit(last.start, last.start, "("), Edit(last.end, last.end, f") + {count}")
