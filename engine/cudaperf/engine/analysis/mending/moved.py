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

_BARRIER: Final = re.compile(rb"__syncthreads\s*\(\s*\)\s*;")


def moved(trials: Trials, finding: Finding) -> Fix | None:
    """The fix of a divergent barrier in a kernel."""
    runs = trials.runs
    branch = _branch(runs, finding)
    data = runs.model.source.data
    if branch is None:
        return None
    body = branch.then.body
    held = next(around(runs.kernel, branch.start), None)
    if held is None or held.statement.start_byte != branch.start or len(body) < 2:
        return None
    first = body[0].start == finding.start
    barrier = body[0] if first else body[-1]
    at = branch.start if first else branch.end
    outer = block_with(runs.kernel, branch)
    without_it = ir.Block(branch.then.start, branch.then.end, body[1:] if first else body[:-1])
    emptied = ir.If(branch.start, branch.end, branch.condition, without_it, None)
    pair = [called("__syncthreads", at), emptied] if first else [emptied, called("__syncthreads", at)]
    statements = [new for s in outer.body for new in (pair if s is branch else [s])]
    kernel = with_block(runs.kernel, outer, statements)
    text = "__syncthreads();"
    added = before(data, at, text) if first else behind(data, branch.start, branch.end, text)
    edits: tuple[Edit, ...] = tuple(sorted((added, without(data, barrier.start, barrier.end)), key=lambda e: e.start))
    if not trials.mends(finding, Change(kernel, edits, (at,))):
        return None
    return Fix(f"Move the barrier {'before' if first else 'behind'} the if", edits)


def _branch(runs: Runs, finding: Finding) -> ir.If | None:
    """The `if` without else whose braces the barrier is the first or the last statement in."""
    data = runs.model.source.data
    for node in runs.kernel.nodes:
        if isinstance(node, ir.If) and node.orelse is None and data[node.then.start : node.then.start + 1] == b"{":
            body = node.then.body
            ends = [body[0], body[-1]] if body else []
            if any(s.start == finding.start and _BARRIER.fullmatch(data, s.start, s.end) for s in ends):
                return node
    return None
