"""The rule families: each says what its rules find of one function of a file.

A finding may stand elsewhere: in a device function that a kernel calls, or at a launch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cudaperf.engine.analysis.finding import Finding
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.model import FileModel, Function


@dataclass(frozen=True, slots=True)
class Family:
    """`shapes`: of kernels alone, and of their launches only the shapes of blocks matter; what several kernels lead to at one
    place is told once."""

    name: str
    findings: Callable[[FileModel, Function, Settings], list[Finding]]
    shapes: bool = False


Group = tuple[Family, ...]


def groups() -> tuple[Group, Group]:
    """The families that look at the shapes of blocks, and the others."""
    every = families()
    return tuple(f for f in every if f.shapes), tuple(f for f in every if not f.shapes)


def families() -> tuple[Family, ...]:
    """The rule families, imported when first needed."""
    from cudaperf.engine.analysis import arithmetic, host, occupancy, simulated

    return (
        Family("memory and synchronization", simulated.findings, shapes=True),
        Family("occupancy", occupancy.findings),
        Family("arithmetic", arithmetic.findings),
        Family("host", host.findings),
    )
