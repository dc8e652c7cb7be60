"""Read ptxas's verbose report (`-v`): registers, shared memory, stack and spills of each kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PtxasReport:
    """One kernel's figures: registers a thread; static shared memory, stack frame and spills in bytes.

    `called_stack_bytes` is the largest frame of a function that ptxas did not inline.
    """

    kernel: str
    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_stores: int
    spill_loads: int
    barriers: int
    called_stack_bytes: int = 0


_ENTRY = re.compile(r"Compiling entry function '([^']+)' for '(sm_\w+)'")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+)(?:\+\d+)? bytes smem")
_BARRIERS = re.compile(r"used (\d+) barriers")


def parse(log: str) -> tuple[PtxasReport, ...]:
    """The reports in the log's order; a kernel without a "Used" line (the compile failed) is left out."""
    parts = _ENTRY.split(log)
    found = (_read(kernel, body) for kernel, body in zip(parts[1::3], parts[3::3], strict=True))
    return tuple(report for report in found if report is not None)


def _read(kernel: str, body: str) -> PtxasReport | None:
    used = _USED.search(body)
    if used is None:
        return None
    frame = _FRAME.search(body)
    stack, stores, loads = (int(frame[i]) for i in (1, 2, 3)) if frame else (0, 0, 0)
    called = [int(other[1]) for other in _FRAME.finditer(body, frame.end())] if frame else []
    line = body[used.start() :].split("\n", 1)[0]
    shared, barriers = _SHARED.search(line), _BARRIERS.search(line)
    return PtxasReport(
        kernel=kernel,
        registers=int(used[1]),
        shared_bytes=int(shared[1]) if shared else 0,
        stack_bytes=stack,
        spill_stores=stores,
        spill_loads=loads,
        barriers=int(barriers[1]) if barriers else 0,
        called_stack_bytes=max(called, default=0),
    )
