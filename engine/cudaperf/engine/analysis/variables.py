"""The variables of a function: where each is visible, and every place that may change it.

Says which write reaches a place in the text; what the written value is comes from `constants`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel, Function

Place = ir.If | ir.Loop | ir.Switch | ir.Block | ir.Opaque
_KEPT = "_cudaperf_variables"
_WRITING = (ir.Assign, ir.AddressOf, ir.Binary, ir.Call)
_PLAIN = (
    *_WRITING,
    ir.Evaluate,
    ir.Return,
    ir.Number,
    ir.Name,
    ir.Builtin,
    ir.Unary,
    ir.Index,
    ir.Member,
    ir.Conditional,
    ir.Cast,
)
_SWAPS = frozenset(("swap", "exchange", "tie"))


@dataclass(frozen=True, slots=True)
class Write:
    """A declaration, an assignment, or a use that may change the variable (then `value` is None).

    `places` are the branches and loops around it, from the outermost; `field` is the member written, None for the whole.
    """

    start: int
    places: tuple[Place, ...]
    value: ir.Expr | None
    field: str | None = None
    declares: bool = False


@dataclass(slots=True, eq=False)
class Variable:
    """A parameter (`declared` is None) or a local variable, visible from `start` to `end`."""

    name: str
    type: ir.CType
    declared: ir.Declare | None
    start: int
    end: int
    writes: list[Write] = field(default_factory=list)

    def reaching(self, offset: int, member: str | None = None) -> Write | None:
        """The one write whose value the variable, or a member of it, has at an offset; None where there is none or several."""
        found: Write | None = None
        relevant = [w for w in self.writes if member is None or w.field in (None, member)]
        for write in relevant:
            if write.start < offset:
                found = write if all(p.start <= offset < p.end for p in write.places) else None
        held = found.places if found is not None else ()
        for write in relevant:
            if write.start >= offset and any(_repeats(p) and p.start <= offset < p.end and p not in held for p in write.places):
                return None
        return found


class Variables:
    """Those of one function."""

    def __init__(self, function: Function, model: FileModel) -> None:
        self._model = model
        self.all: dict[str, list[Variable]] = {}
        for p in function.parameters:
            self._declare(Variable(p.name, p.type, None, function.start, function.end, [Write(p.start, (), None)]))
        self._statements(function.body.body, (), function.end)
        for variables in self.all.values():
            for variable in variables:
                variable.writes.sort(key=lambda w: w.start)

    def resolve(self, name: str, offset: int) -> Variable | None:
        """The variable that a name means at an offset."""
        seen = [v for v in self.all.get(name, ()) if v.start <= offset < v.end]
        return max(seen, key=lambda v: v.start, default=None)

    def _declare(self, variable: Variable) -> None:
        self.all.setdefault(variable.name, []).append(variable)

    def _statements(self, body: Iterable[ir.Expr | ir.Stmt], places: tuple[Place, ...], end: int) -> None:
        for node in body:
            self._visit(node, places, end)

    def _visit(self, node: ir.Expr | ir.Stmt, places: tuple[Place, ...], end: int) -> None:
        if isinstance(node, _PLAIN) and not any(isinstance(n, ir.Opaque) for n in ir.walk(node)):
            for part in ir.walk(node):
                if isinstance(part, _WRITING):
                    self._expression(part, places)
            return
        match node:
            case ir.Declare():
                self._statements(ir.children(node), places, end)
                made = Variable(node.name, node.type, node, node.start, end)
                made.writes.append(Write(node.start, places, node.init, declares=True))
                self._declare(made)
            case ir.Block():
                self._statements(node.body, places, node.end)
            case ir.If():
                self._visit(node.condition, places, end)
                for branch in (node.then, node.orelse):
                    if branch is not None:
                        self._visit(branch, (*places, branch), branch.end)
            case ir.Loop():
                self._statements(node.init.body if node.init else (), places, node.end)
                inside = [n for n in (node.condition, node.step, node.body) if n is not None]
                self._statements(inside, (*places, node), node.end)
            case ir.Switch():
                self._visit(node.value, places, end)
                for _, block in node.cases:
                    self._statements(block.body, (*places, block), node.end)
            case ir.Opaque():
                self._statements(node.parts, (*places, node), node.end)
            case _:
                self._expression(node, places)
                self._statements(ir.children(node), places, end)

    def _expression(self, node: ir.Expr | ir.Stmt, places: tuple[Place, ...]) -> None:
        match node:
            case ir.Assign(target=target, op=op, value=value):
                whole = value if op is None else ir.Binary(node.start, node.end, op, target, value)
                self._write(target, node.start, places, whole)
            case ir.AddressOf(target=target):
                self._write(target, node.start, places, None)
            case ir.Binary(op=">>", left=left, right=right) if _stream(left):
                self._write(right, node.start, places, None)
            case ir.Call(name=name, args=args):
                for i, argument in enumerate(args):
                    if name in _SWAPS or self._by_reference(name, i):
                        self._write(argument, node.start, places, None)

    def _by_reference(self, name: str, position: int) -> bool:
        for function in self._model.by_name.get(name, ()):
            parameters = function.parameters
            if position < len(parameters) and parameters[position].type.reference and not parameters[position].type.const:
                return True
        return False

    def _write(self, target: ir.Expr, start: int, places: tuple[Place, ...], value: ir.Expr | None) -> None:
        member = target.field if isinstance(target, ir.Member) else None
        base = target.base if isinstance(target, ir.Member) else target
        if isinstance(base, ir.Name) and (variable := self.resolve(base.id, start)) is not None:
            variable.writes.append(Write(start, places, value, member))


def variables(function: Function, model: FileModel) -> Variables:
    """Those of one function, collected once and kept with it."""
    found: Variables | None = function.__dict__.get(_KEPT)
    if found is None:
        found = function.__dict__[_KEPT] = Variables(function, model)
    return found


def _repeats(place: Place) -> bool:
    """A range-based for loop is opaque."""
    return isinstance(place, ir.Loop | ir.Opaque)


def _stream(node: ir.Expr) -> bool:
    """`cin >> n`, `in >> a >> b`. To take a shift for one only loses a value."""
    while isinstance(node, ir.Binary) and node.op == ">>":
        node = node.left
    return isinstance(node, ir.Name) and (node.id == "cin" or node.id.endswith(("in", "stream", "file")))
