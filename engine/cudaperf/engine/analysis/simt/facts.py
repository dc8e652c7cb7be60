"""What a kernel's text says whatever the samples are, read once: which loops wait, what they assign, how names are used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from weakref import WeakKeyDictionary

from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function

_KEPT = "_cudaperf_facts"
N = TypeVar("N", bound=ir.Node)
T = TypeVar("T")


def _once(read: Callable[[N], T]) -> Callable[[N], T]:
    """What a function reads in a node, kept as long as the node lives."""
    kept: WeakKeyDictionary[N, T] = WeakKeyDictionary()

    def known(node: N) -> T:
        if node not in kept:
            kept[node] = read(node)
        return kept[node]

    return known


def parts_threads(node: ir.If | ir.Loop, model: FileModel) -> bool:
    """Whether it matters in a branch or loop if only some threads come to it: barriers, returns, warp operations, also of the
    functions that it calls."""
    return _parts(node) or any(name in _waiting(model) for name in _called(node))


@_once
def _parts(node: ir.If | ir.Loop) -> bool:
    return any(isinstance(n, ir.Return | ir.Jump) or _together(n) for n in ir.walk(node))


@_once
def _called(node: ir.If | ir.Loop) -> frozenset[str]:
    return frozenset(n.name for n in ir.walk(node) if isinstance(n, ir.Call))


def _waiting(model: FileModel) -> frozenset[str]:
    """The device functions that hold barriers or warp operations, or reach one that does."""
    known: frozenset[str] | None = model.__dict__.get(_KEPT)
    if known is None:
        device = [f for f in model.functions if f.kind == "device"]
        names = (f.name for f in device if any(_together(n) for g in model.reached(f) for n in g.nodes))
        known = model.__dict__[_KEPT] = frozenset(names)
    return known


def _together(node: ir.Expr | ir.Stmt) -> bool:
    """What threads do together."""
    return isinstance(node, ir.Call) and (_waits(node) or node.name.endswith("_sync"))


@_once
def wraps(node: ir.Loop) -> bool:
    """Whether a loop holds a barrier, or its variable is halved or doubled."""
    return any(_waits(n) or _scales(n) for n in ir.walk(node))


@_once
def assigned(node: ir.Loop) -> tuple[str, ...]:
    """The variables that a loop assigns."""
    targets = (n.target for n in ir.walk(node) if isinstance(n, ir.Assign))
    return tuple(dict.fromkeys(t.id for t in targets if isinstance(t, ir.Name)))


def _waits(node: ir.Expr | ir.Stmt) -> bool:
    return isinstance(node, ir.Call) and (node.name.startswith("__sync") or node.name == "sync")


def _scales(node: ir.Expr | ir.Stmt) -> bool:
    """`s >>= 1`, `d *= 2`."""
    return isinstance(node, ir.Assign) and node.op in ("<<", ">>", "*", "/") and isinstance(node.target, ir.Name)


@dataclass(frozen=True, slots=True)
class Uses:
    """Names that something is multiplied by or that functions of the file get, that count bits in shifts, and that stand in
    the dimensions of shared arrays."""

    factors: frozenset[str]
    shifts: frozenset[str]
    extents: frozenset[str]


def uses(kernel: Function, model: FileModel) -> Uses:
    """How a kernel uses its parameters."""
    known: Uses | None = kernel.__dict__.get(_KEPT)
    if known is not None:
        return known
    factors, shifts, extents = set[str](), set[str](), set[str]()
    for node in kernel.nodes:
        if isinstance(node, ir.Binary) and node.op in ("<<", ">>") and isinstance(node.right, ir.Name):
            shifts.add(node.right.id)
        if (isinstance(node, ir.Binary) and node.op in ("*", "<<")) or (
            isinstance(node, ir.Call) and (node.name in model.by_name or node.name in model.macros)
        ):
            factors |= _mentioned(node)
        elif isinstance(node, ir.Declare) and node.shared:
            extents = extents.union(*(_mentioned(dim) for dim in node.dims if dim is not None))
    found = kernel.__dict__[_KEPT] = Uses(frozenset(factors), frozenset(shifts), frozenset(extents))
    return found


def same_uses(kernel: Function, other: Function) -> None:
    """What is known of a kernel's parameters holds for another that uses them no differently."""
    if _KEPT in kernel.__dict__:
        other.__dict__[_KEPT] = kernel.__dict__[_KEPT]


def _mentioned(node: ir.Expr) -> set[str]:
    return {n.id for n in ir.walk(node) if isinstance(n, ir.Name)}
