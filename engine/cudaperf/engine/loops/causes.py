"""What the analysis can't follow in an expression, in the user's words: products and quotients of variables, floating point.

A subscript may multiply a loop's variable by an argument (`i * n + j`), a test or a loop's bound may not. Locals are looked
through. Not promised: the only cause, where there are several.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.printer import Printer


def cause(function: ir.Function, text: bytes, subscripts: Sequence[ir.Expr], others: Iterable[ir.Expr] = ()) -> str | None:
    """A clause such as `i * (i + 1) multiplies variables`, of the worst part of the expressions; `others` are tests, bounds of
    loops, or whatever else may not multiply at all."""
    search = _Search(function)
    found = [f for node in subscripts for f in search.reasons(node, True)]
    found += [f for node in others for f in search.reasons(node, False)]
    if not found:
        return None
    _, part, why = min(found, key=lambda f: f[0])
    own = text[part.span.start : part.span.end].decode("utf-8", "replace") if part.span else Printer().expr(part)
    return f"{' '.join(own.split())} {why}"


class _Search:
    """Looks through the locals of one function."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.loops = {n.var for n in ir.walk(function.body) if isinstance(n, ir.For)}

    def reasons(self, node: ir.Expr, plain: bool, seen: frozenset[str] = frozenset()) -> Iterator[tuple[int, ir.Expr, str]]:
        """(rank, part, clause); `plain` says that a product with an argument is followed here."""
        why = self.reason(node, plain)
        if why is not None:
            yield why[0], node, why[1]
        if isinstance(node, ir.Name) and node.id not in seen:
            values = list(values_of(self.function.body, node.id))
            for value in values:
                yield from self.reasons(value, plain and len(values) == 1, seen | {node.id})
        for child in () if isinstance(node, ir.Load) else ir.children(node):
            yield from self.reasons(child, plain and not isinstance(node, ir.Select), seen)  # type: ignore[arg-type]

    def reason(self, node: ir.Expr, plain: bool) -> tuple[int, str] | None:
        match node:
            case ir.Binary(op="*") if self.varies(node.left) and self.varies(node.right):
                return 0, "multiplies variables"
            case ir.Binary(op="/" | "%") if self.varies(node.left) and not _constant(node.right):
                return 1, "divides by a variable"
            case ir.Cast() if node.type.kind == "int" and _is_float(node.operand):
                return 2, "is computed in floating point"
            case ir.Binary(op="*") if (
                not plain and self.varies(node) and not _constant(node.left) and not _constant(node.right)
            ):
                return 3, "multiplies variables"
            case ir.Binary(op="/") if not plain and not node.type.signed and not _constant(node.right):
                return 4, "divides what may have wrapped around below 0"
            case ir.Name(id=name) if _counts(self.function.body, name):
                return 5, "counts what is not known beforehand"
        return None

    def varies(self, node: ir.Expr) -> bool:
        """Whether a loop's variable is in it."""
        return any(isinstance(part, ir.Name) and part.id in self.loops for part in through_locals(self.function, node))


def through_locals(function: ir.Function, node: ir.Expr, seen: frozenset[str] = frozenset()) -> Iterator[ir.Node]:
    """The parts of an expression, and those of the values of locals that are set once."""
    for part in ir.walk(node):
        yield part
        if isinstance(part, ir.Name) and part.id not in seen:
            values = list(values_of(function.body, part.id))
            if len(values) == 1:
                yield from through_locals(function, values[0], seen | {part.id})


def indirect(function: ir.Function) -> dict[str, str]:
    """Arrays whose subscripts come from elements of another array, each with that one."""
    found: dict[str, str] = {}
    for access in ir.walk(function.body):
        if isinstance(access, ir.Load | ir.Address):
            parts = (part for index in access.indices for part in through_locals(function, index))
            inner = [part.array for part in parts if isinstance(part, ir.Load) and part.array != access.array]
            if inner:
                found[access.array] = inner[0]
    return found


def values_of(body: ir.Block, name: str) -> Iterator[ir.Expr]:
    """What a local is set to."""
    for node in ir.walk(body):
        match node:
            case ir.Decl(name=found, init=value) if found == name and not isinstance(value, tuple) and value is not None:
                yield value
            case ir.Assign(target=ir.Name(id=found), value=value) if found == name:
                yield value


def _counts(body: ir.Block, name: str) -> bool:
    steps = (n for n in ir.walk(body) if isinstance(n, ir.Assign) and n.op in ("+", "-"))
    return any(isinstance(step.target, ir.Name) and step.target.id == name for step in steps)


def _constant(node: ir.Expr) -> bool:
    return not any(isinstance(part, ir.Name | ir.Load | ir.Call) for part in ir.walk(node))


def _is_float(node: ir.Expr) -> bool:
    return isinstance(node.type, ir.Scalar) and node.type.kind == "float"
