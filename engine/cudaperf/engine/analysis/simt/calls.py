"""Calls: CUDA's own functions, macros and device functions of the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cudaperf.engine.analysis.simt import intrinsics
from cudaperf.engine.analysis.simt.expressions import DEEPEST, pointed
from cudaperf.engine.analysis.simt.places import Places
from cudaperf.engine.analysis.simt.state import Frame, Mask
from cudaperf.engine.analysis.simt.values import UNIFORM, VARYING, Pointer, Value, merged, unknown, where
from cudaperf.engine.cuda import ir, macros
from cudaperf.engine.cuda.model import Function

Looked = TypeVar("Looked")


class Calls(Places):
    """What is called is entered where its body is known."""

    def _call(self, node: ir.Call, mask: Mask) -> Value:
        found = intrinsics.call(self, node, mask)
        if found is not None:
            return found
        if (expanded := self._expanded(node)) is not None:
            return self._deeper(lambda: self.value(expanded, mask))
        if node.name in self.kernel.type_names and len(node.args) == 1 and node.receiver is None:
            return unknown(self.value(node.args[0], mask))  # T(1)
        functions = [f for f in self.model.by_name.get(node.name, []) if len(f.parameters) >= len(node.args)]
        if node.receiver is None and len(functions) == 1 and self._depth < DEEPEST:
            return self._enter(functions[0], node, mask)
        whole = self._whole is node
        values = [self.value(arg, mask) for arg in node.args]
        if node.name not in intrinsics.PURE:
            self.trace.complete = False
            shared = any(isinstance(v, Pointer) and v.space == "shared" for v in values)
            named = self.model.macros.get(node.name)
            if named is not None and not named.ambiguous:
                waits = intrinsics.waits(named.text)
            else:
                waits = whole or shared or intrinsics.may_wait(node.name)
            if waits:
                self.doubtful()
        return unknown(*values, varying=not values)

    def pointer(self, node: ir.Expr, mask: Mask) -> Pointer | None:
        if isinstance(node, ir.Call) and (expanded := self._expanded(node)) is not None:
            return self._deeper(lambda: self.pointer(expanded, mask))
        return super().pointer(node, mask)

    def _expanded(self, node: ir.Call) -> ir.Expr | None:
        """What a use of a macro stands for; None for other calls."""
        if node.receiver is not None or node.name not in self.model.macros or self._depth >= DEEPEST:
            return None
        return macros.expanded(self.model, node)

    def _deeper(self, look: Callable[[], Looked]) -> Looked:
        self._depth += 1
        try:
            return look()
        finally:
            self._depth -= 1

    def _enter(self, function: Function, node: ir.Call, mask: Mask) -> Value:
        """A device function of the file."""
        variables: dict[str, Value] = {}
        for (name, default), given in zip(
            function.templates.items(), [*node.templates, *[None] * len(function.templates)], strict=False
        ):
            chosen = given if given is not None else default
            argument = self.value(chosen, mask) if chosen is not None else self.machine.shape[0]
            variables[name] = argument if isinstance(argument, int) else UNIFORM
        for parameter, arg in zip(function.parameters, node.args, strict=False):
            place = self.pointer(arg, mask) if parameter.type.reference else None
            if place is not None:
                variables[parameter.name] = self.memory.reference(place)
                continue
            value = self.value(arg, mask)
            if isinstance(value, Pointer) and parameter.type.pointers and parameter.type.size and not value.dims[1:]:
                value = Pointer(value.space, value.array, value.offset, pointed(parameter.type), value.dims)
            variables[parameter.name] = value
        outer, depth = self._frame, self._depth
        self._frame = Frame(variables)
        self._depth += 1
        try:
            left = self._block(function.body, mask)
            returned = self._frame.returned
        finally:
            self._frame, self._depth = outer, depth
        result: Value | None = None
        for taken, value in reversed(returned):
            result = value if result is None else where(taken.may, value, result)
        if result is None:
            return UNIFORM
        return result if left.empty or len(returned) == 1 else merged(result, VARYING, True)
