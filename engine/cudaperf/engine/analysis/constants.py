"""Values known without running anything: integers, sizes, macros, constants, and a host function's variables at a launch.

`number` and `dim3` say None for whatever is not certain. Conditional compilation is not followed: a name with two meanings
has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from cudaperf.engine.analysis.evaluate import Fuel, Over, Value, Values, evaluate
from cudaperf.engine.analysis.variables import Variable, variables
from cudaperf.engine.cuda import ir, macros
from cudaperf.engine.cuda.model import FileModel, Function

Dims = tuple[int | None, int | None, int | None]

NOTHING: Final[Values] = MappingProxyType({})
_AXES: Final = {"x": 0, "y": 1, "z": 2}
_ONE: Final[Dims] = (1, 1, 1)


def number(expr: ir.Expr, model: FileModel, locals: Values | None = None) -> int | None:
    """The value of an integer expression; `locals` are names that it may use, None for those known to vary."""
    value = evaluate(expr, model, locals if locals is not None else NOTHING)
    return value if isinstance(value, int) else None


def dim3(expr: ir.Expr, model: FileModel, host: Function) -> Dims | None:
    """A grid's or block's extents at a launch; None for an axis, or for all where the expression may be anything."""
    return _At(host, model, expr.start, Fuel()).dims(expr)


def values_at(function: Function, model: FileModel, offset: int, given: Mapping[str, int] = MappingProxyType({})) -> Values:
    """What a function's names are worth at a place in it; `given` are values of template parameters."""
    return Over(LocalsAt(function, model, offset), given)


class LocalsAt(Mapping[str, int | None]):
    """A function's parameters and variables at an offset, each looked at when asked for; "block.x" is a member of a dim3."""

    def __init__(self, function: Function, model: FileModel, offset: int, fuel: Fuel | None = None) -> None:
        self._at = _At(function, model, offset, fuel if fuel is not None else Fuel())
        self._variables = variables(function, model)
        self._offset = offset

    def __getitem__(self, name: str) -> int | None:
        base, _, member = name.partition(".")
        variable = self._variables.resolve(base, self._offset)
        if variable is None:
            raise KeyError(name)
        if not member:
            return self._at.scalar(variable)
        dims = self._at.of_variable(variable)
        return dims[_AXES[member]] if dims is not None and member in _AXES else None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._variables.resolve(name.partition(".")[0], self._offset) is not None

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._variables.all if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _At:
    """Evaluation at one place of a function. `offset` stays the launch's, also inside the text of a macro."""

    def __init__(self, function: Function, model: FileModel, offset: int, fuel: Fuel) -> None:
        self._function, self._model, self._offset, self._fuel = function, model, offset, fuel

    def _before(self, offset: int) -> _At:
        return _At(self._function, self._model, offset, self._fuel)

    def value(self, expr: ir.Expr) -> Value:
        locals = LocalsAt(self._function, self._model, self._offset, self._fuel)
        return evaluate(expr, self._model, locals, self._fuel)

    def whole(self, expr: ir.Expr) -> int | None:
        """As it is when it becomes an integer."""
        value = self.value(expr)
        return int(value) if value is not None else None

    def scalar(self, variable: Variable) -> int | None:
        declared, kind = variable.declared, variable.type
        if declared is None or declared.dims or declared.static or not kind.integer or kind.reference:
            return None
        write = variable.reaching(self._offset)
        if write is None or write.value is None or write.field is not None or self._fuel.steps <= 0:
            return None
        return self._before(write.start).whole(write.value)

    # --- dim3 --------------------------------------------------------------------------------------------------------------

    def dims(self, expr: ir.Expr) -> Dims | None:
        found = self._dims(expr) if self._fuel.enter() else None
        self._fuel.depth -= 1
        return found

    def _dims(self, expr: ir.Expr) -> Dims | None:
        match expr:
            case ir.Call(name="dim3", args=args, receiver=None):
                return self._extents(args)
            case ir.Opaque(parts=[ir.Opaque(parts=[]), ir.Opaque(parts=parts)]):  # dim3{16, 16}, and {16, 16} in a launch
                return self._listed(parts)
            case ir.Opaque(parts=parts):
                return self._listed(parts)
            case ir.Conditional(condition=condition, then=then, orelse=orelse):
                chosen, first, second = self.value(condition), self.dims(then), self.dims(orelse)
                return (first if chosen else second) if chosen is not None else first if first == second else None
            case ir.Name(id=name):
                return self.of_name(name)
            case ir.Cast(type=kind) if not kind.integer:
                return None
            case ir.Number() | ir.Binary() | ir.Unary() | ir.Member() | ir.Cast():
                return self.whole(expr), 1, 1
            case ir.Call() if (found := macros.expression(self._model, expr.name)) is not None and found[0].parameters == []:
                return self.dims(found[1])
            case _:
                value = self.whole(expr)
                return (value, 1, 1) if value is not None else None

    def of_name(self, name: str) -> Dims | None:
        model = self._model
        if name in model.macros:
            found = macros.expression(model, name)
            return self.dims(found[1]) if found is not None and found[0].parameters is None else None
        variable = variables(self._function, model).resolve(name, self._offset)
        if variable is not None:
            return self.of_variable(variable)
        declared = model.variables.get(name)
        if declared is not None and declared.type.name == "dim3":
            return self._initial(declared.init) if declared.type.const and declared.init is not None else None
        if declared is None and name not in model.constants and name not in self._function.templates:
            return None
        value = evaluate(ir.Name(0, 0, name), model, NOTHING, self._fuel)
        return (int(value) if value is not None else None), 1, 1

    def of_variable(self, variable: Variable) -> Dims | None:
        kind, declared = variable.type, variable.declared
        if kind.integer and kind.name != "auto":
            return self.scalar(variable), 1, 1
        if kind.name not in ("dim3", "auto") or kind.pointers or kind.reference or declared is None or declared.dims:
            return None
        x, y, z = (self._axis(variable, axis) for axis in _AXES)
        return x, y, z

    def _axis(self, variable: Variable, axis: str) -> int | None:
        write = variable.reaching(self._offset, axis)
        if write is None or (write.value is None and not write.declares) or self._fuel.steps <= 0:
            return None
        before = self._before(write.start)
        if write.field is not None:
            return before.whole(write.value) if write.value is not None else None
        whole = before._initial(write.value) if write.value is not None else _ONE
        return whole[_AXES[axis]] if whole is not None else None

    def _initial(self, init: ir.Expr) -> Dims | None:
        """`dim3 block(16, 16)` is a comma expression here."""
        return self._extents(init.parts) if isinstance(init, ir.Comma) else self.dims(init)

    def _listed(self, parts: list[ir.Expr | ir.Stmt]) -> Dims | None:
        """The parts of a list between braces; any other opaque expression has something else among its parts."""
        numbers = [p for p in parts if isinstance(p, ir.Number | ir.Name | ir.Binary | ir.Member)]
        return self._extents(list(numbers)) if 1 <= len(numbers) == len(parts) <= 3 else None

    def _extents(self, args: list[ir.Expr]) -> Dims | None:
        if len(args) > 3:
            return None
        if len(args) == 1 and isinstance(args[0], ir.Name | ir.Call):
            return self.dims(args[0]) or (None, 1, 1)
        x, y, z = [*(self.whole(a) for a in args), 1, 1, 1][:3]
        return x, y, z
