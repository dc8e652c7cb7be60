"""What a compiler says of a file's kernels: registers, shared memory, spills. Data that is handed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node as Tree

    from cudaperf.engine.analysis.finding import Finding
    from cudaperf.engine.cuda.model import FileModel, Function


@dataclass(frozen=True, slots=True)
class Figures:
    """ptxas's figures of one kernel, or of one instance of a template: registers and local bytes a thread, shared bytes and
    named barriers a block; spills are bytes stored and loaded.

    `scope` are its namespaces, unnamed ones left out, None where not known; `literals` the integers among the template's
    arguments, None where there are values of other kinds. `local_bytes` count the functions that it calls.
    """

    scope: tuple[str, ...] | None
    name: str
    literals: tuple[int, ...] | None
    registers: int
    shared_bytes: int
    local_bytes: int
    spill_bytes: int
    barriers: int


@dataclass(frozen=True, slots=True)
class Measured:
    """The kernels of one file as `compiler` made them for `architecture` (90 = sm_90)."""

    architecture: int
    compiler: str
    kernels: tuple[Figures, ...]

    def words(self, figures: Figures) -> str:
        """Where a finding's figures are from."""
        spills = f", {figures.spill_bytes:,} bytes of spills" if figures.spill_bytes else ", no spills"
        return (
            f"measured by ptxas for sm_{self.architecture}: {figures.registers} registers, "
            f"{figures.shared_bytes:,} bytes of static shared memory{spills}"
        )


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """Why a file has no figures."""

    why: str


Measure = Callable[[Path, bytes, int], Measured | Unmeasured | None]
"""(a file, its text, an architecture) to what a compiler says of it; None where there is nothing to compile."""


def instances(model: FileModel, kernel: Function, measured: Measured | None) -> tuple[Figures, ...]:
    """The figures of a kernel, of each instance where it is a template; none where another kernel could be meant."""
    if measured is None:
        return ()
    scope = scope_of(kernel)
    others = [f for f in model.by_name.get(kernel.name, ()) if f.kind == "kernel" and f is not kernel]
    if any(scope_of(other) == scope for other in others):
        return ()
    named = (f for f in measured.kernels if f.name == kernel.name)
    return tuple(f for f in named if f.scope == scope or (f.scope is None and not others))


def matching(figures: tuple[Figures, ...], kernel: Function, templates: Mapping[str, int]) -> tuple[Figures, ...]:
    """Of a template's instances those with these arguments, where all of its values are known; else all."""
    values = tuple(templates[name] for name in kernel.templates if name in templates)
    if not values or len(values) < len(kernel.templates):
        return figures
    return tuple(f for f in figures if f.literals == values) or figures


def worst_of(figures: tuple[Figures, ...]) -> str:
    """What to add where the figures are those of one instance of several."""
    return f" (the worst of {len(figures)} instances)" if len(figures) > 1 else ""


def scope_of(kernel: Function) -> tuple[str, ...]:
    """The namespaces around a kernel, from the outermost, unnamed ones left out."""
    found: list[str] = []
    above: Tree | None = kernel.node.parent
    while above is not None:
        name = above.child_by_field_name("name") if above.type == "namespace_definition" else None
        if name is not None and name.text is not None:
            found[:0] = [part.strip() for part in name.text.decode(errors="replace").split("::")]
        above = above.parent
    return tuple(found)


def confirmed(finding: Finding, figures: tuple[Figures, ...], measured: Measured | None) -> Finding | None:
    """A finding of arrays in local memory (CP204) with what the compiler says; None where it put nothing there."""
    if finding.code != "CP204" or not figures or measured is None:
        return finding
    most = max(figures, key=lambda f: f.local_bytes)
    if most.local_bytes == 0:
        return None
    spills = f", {most.spill_bytes:,} bytes of spills" if most.spill_bytes else ""
    told = f"measured by ptxas for sm_{measured.architecture}: {most.local_bytes:,} bytes of local memory a thread{spills}"
    told += worst_of(figures)
    data = {
        **finding.data,
        "local_bytes": most.local_bytes,
        "spill_bytes": most.spill_bytes,
        "architecture": measured.architecture,
        "measured": True,
        "compiler": measured.compiler,
    }
    return replace(finding, message=f"{finding.message}; {told}", data=data)
