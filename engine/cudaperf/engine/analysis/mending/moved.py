"""CP301: the barrier that stands first or last in an `if` without else, moved out of it.

Not safe: what the barrier is to order may have to move with it.
"""

from __future__ import annotations

import re
from typing import Final

from cudaperf.engine.analysis.finding import Edit, Finding, Fix
from cudaperf.engine.analysis.mending.changed import block_with, called, with_block
from cudaperf.engine.analysis.mending.layout import around, before, behind, without
from cudaperf.engine.analysis.mending.trial import Change, Trials
from cudaperf.engine.analysis.runs import Runs
from cudaperf.engine.cuda import ir

TEXT: Final = "__syncthreads();"
_BARRIER: Final = re.compile(rb"__syncthreads\s*\(\s*\)\s*;")


def moved(trials: Trials, finding: Finding) -> Fix | None:
    """The fix of a divergent barrier in a kernel."""
    runs = trials.runs
    branch = _branch(runs, finding)
    held = next(around(runs.kernel, branch.start), None) if branch is not None else None
    if branch is None or held is None or held.statement.start_byte != branch.start:
        return None
    if len(branch.then.body) == 1:
        change, title = _instead(runs, branch), "Wait whatever the condition says"
    else:
        first = branch.then.body[0].start == finding.start
        change, title = _out(runs, branch, first), f"Move the barrier {'before' if first else 'behind'} the if"
    return Fix(title, change.edits) if change is not None and trials.mends(finding, change) else None


def _out(runs: Runs, branch: ir.If, first: bool) -> Change:
    """The kernel with the first, or the last, statement of a branch before, or behind, it."""
    data, body = runs.model.source.data, branch.then.body
    barrier, at = (body[0], branch.start) if first else (body[-1], branch.end)
    rest = ir.Block(branch.then.start, branch.then.end, body[1:] if first else body[:-1])
    emptied = ir.If(branch.start, branch.end, branch.condition, rest, None)
    added = before(data, at, TEXT) if first else behind(data, branch.start, branch.end, TEXT)
    edits = sorted((added, without(data, barrier.start, barrier.end)), key=lambda e: e.start)
    wait = called("__syncthreads", at)
    return _with(runs, branch, [wait, emptied] if first else [emptied, wait], *edits)


def _instead(runs: Runs, branch: ir.If) -> Change | None:
    """The kernel with the barrier in place of a branch that holds nothing else, and whose condition only looks."""
    text = runs.model.source.data[branch.start : branch.end]
    if b"//" in text or b"/*" in text or any(isinstance(n, ir.Call | ir.Assign | ir.Opaque) for n in ir.walk(branch.condition)):
        return None
    return _with(runs, branch, [called("__syncthreads", branch.start)], Edit(branch.start, branch.end, TEXT))


def _with(runs: Runs, branch: ir.If, statements: list[ir.Stmt], *edits: Edit) -> Change:
    outer = block_with(runs.kernel, branch)
    body = [new for s in outer.body for new in (statements if s is branch else [s])]
    barriers = tuple(s.start for s in statements if isinstance(s, ir.Evaluate))
    return Change(with_block(runs.kernel, outer, body), edits, barriers)


def _branch(runs: Runs, finding: Finding) -> ir.If | None:
    """The `if` without else that the barrier is the first or the last statement of."""
    data = runs.model.source.data
    for node in runs.kernel.nodes:
        if isinstance(node, ir.If) and node.orelse is None and node.then.body:
            ends = (node.then.body[0], node.then.body[-1])
            if any(s.start == finding.start and _BARRIER.fullmatch(data, s.start, s.end) for s in ends):
                return node
    return None
