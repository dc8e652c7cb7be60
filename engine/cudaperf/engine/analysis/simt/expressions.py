"""Expressions for all simulated threads: values, and the accesses and assignments that happen in them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Final

import numpy as np

from cudaperf.engine.analysis.simt.state import Mask, State
from cudaperf.engine.analysis.simt.values import (
    LOADED,
    UNIFORM,
    VARYING,
    Flags,
    Pointer,
    Unknown,
    Value,
    as_numbers,
    binary,
    is_known,
    merged,
    unknown,
    varies,
    where,
)
from cudaperf.engine.cuda import ir, macros

DEEPEST: Final = 6
"""How far functions and macros are entered."""


_METHODS: Final[dict[type, str]] = {
    ir.Name: "_name",
    ir.Builtin: "_builtin",
    ir.Binary: "_binary",
    ir.Unary: "_unary",
    ir.Assign: "_assign",
    ir.Index: "_load",
    ir.Member: "_member",
    ir.Conditional: "_conditional",
    ir.Cast: "_cast",
    ir.AddressOf: "_address",
    ir.Call: "_call",
    ir.Comma: "_comma",
    ir.Opaque: "_inner",
}


class Expressions(State):
    """`value` and `pointer` for every kind of expression."""

    _methods: ClassVar[dict[type, Callable[[Any, Any, Mask], Value]]] = {}

    def __init_subclass__(cls) -> None:
        cls._methods = {kind: getattr(cls, name) for kind, name in _METHODS.items()}

    @abstractmethod
    def _call(self, node: ir.Call, mask: Mask) -> Value: ...

    @abstractmethod
    def _assign(self, node: ir.Assign, mask: Mask) -> Value: ...

    @abstractmethod
    def _load(self, node: ir.Index, mask: Mask) -> Value: ...

    @abstractmethod
    def _member(self, node: ir.Member, mask: Mask) -> Value: ...

    @abstractmethod
    def _read(self, place: Pointer, node: ir.Expr, mask: Mask) -> Value: ...

    @abstractmethod
    def pointer(self, node: ir.Expr, mask: Mask) -> Pointer | None:
        """The place that an lvalue names; None for registers and what is not understood."""

    @abstractmethod
    def _statement(self, node: ir.Stmt, mask: Mask) -> Mask:
        """Run a statement; the threads that go on behind it."""

    @abstractmethod
    def _block(self, block: ir.Block, mask: Mask) -> Mask: ...

    def value(self, node: ir.Expr, mask: Mask) -> Value:
        """What an expression yields; accesses and assignments in it happen."""
        if isinstance(node, ir.Name):
            found = self._frame.variables.get(node.id)
            if found is not None and not isinstance(found, Pointer):
                return found
        elif isinstance(node, ir.Number):
            return node.value if isinstance(node.value, int) else UNIFORM
        self._step()
        method = self._methods.get(type(node))
        return method(self, node, mask) if method is not None else VARYING

    def _address(self, node: ir.AddressOf, mask: Mask) -> Value:
        return self.pointer(node.target, mask) or VARYING

    def _comma(self, node: ir.Comma, mask: Mask) -> Value:
        values = [self.value(part, mask) for part in node.parts]
        return values[-1] if values else UNIFORM

    def _inner(self, node: ir.Opaque, mask: Mask) -> Value:
        self._opaque(node, mask)
        return VARYING

    def _opaque(self, node: ir.Opaque, mask: Mask) -> None:
        for part in node.parts:
            if isinstance(part, ir.Expr):
                self.value(part, mask)
            else:
                self._statement(part, mask)

    def _name(self, node: ir.Name, mask: Mask) -> Value:
        found = self._frame.variables.get(node.id)
        if found is not None:
            if isinstance(found, Pointer) and found.itself:
                return self._read(found, node, mask)
            return found
        if node.id == "warpSize":
            return 32
        if (constant := self.model.constants.get(node.id)) is not None:
            return self.value(constant, mask)
        if (macro := macros.expression(self.model, node.id)) is not None and self._depth < DEEPEST:
            return self._inside(node, macro[1], mask)
        declared = self.model.variables.get(node.id)
        if declared is not None and declared.dims:
            dims = tuple(
                d if isinstance(d, int) else 0 for d in (self.value(x, mask) if x is not None else 0 for x in declared.dims)
            )
            return Pointer("shared" if declared.shared else "global", node.id, 0, declared.type, dims)
        return UNIFORM

    def _inside(self, site: ir.Expr, inner: ir.Expr, mask: Mask) -> Value:
        """The expression of a macro, whose accesses stand at the macro's use."""
        outer = self._site
        self._site = outer or (site.start, site.end)
        self._depth += 1
        try:
            return self.value(inner, mask)
        finally:
            self._site = outer
            self._depth -= 1

    def _builtin(self, node: ir.Builtin, mask: Mask) -> Value:
        machine = self.machine
        match node.id:
            case "threadIdx":
                self.trace.thread_axes.add(node.axis)
                return machine.index[node.axis]
            case "blockIdx":
                self.trace.block_axes.add(node.axis)
                return machine.block[node.axis]
            case "blockDim":
                return machine.shape["xyz".index(node.axis)]
            case _:
                return machine.grid(node.axis)

    def _binary(self, node: ir.Binary, mask: Mask) -> Value:
        left = self.value(node.left, mask)
        if node.op in ("&&", "||"):
            return self._logical(node, left, mask)
        right = self.value(node.right, mask)
        pointer, number = (left, right) if isinstance(left, Pointer) else (right, left)
        if isinstance(pointer, Pointer) and not isinstance(number, Pointer) and node.op in ("+", "-"):
            step = self.memory.element(pointer)
            if step is None:
                return Pointer(pointer.space, pointer.array, VARYING, pointer.type)
            moved = binary("*", number, step)
            return Pointer(pointer.space, pointer.array, binary(node.op, pointer.offset, moved), pointer.type, pointer.dims)
        return binary(node.op, left, right)

    def _logical(self, node: ir.Binary, left: Value, mask: Mask) -> Value:
        """The right side happens where the left one lets it."""
        wants = node.op == "&&"
        if isinstance(left, int):
            if bool(left) != wants:
                return int(bool(left))
            right = self.value(node.right, mask)
            return binary("!=", right, 0) if not isinstance(right, Pointer) else UNIFORM
        if isinstance(left, np.ndarray):
            flags = left != 0
            right = self.value(node.right, mask & (flags if wants else ~flags))
            if is_known(right):
                other = np.asarray(right) != 0
                return as_numbers(flags & other if wants else flags | other)
            return unknown(left, right)
        path, self._path = self._path, (*self._path, self._choice(node.left, unknown(left)))
        right = self.value(node.right, mask)
        self._path = path
        return unknown(left, right)

    def _unary(self, node: ir.Unary, mask: Mask) -> Value:
        value = self.value(node.operand, mask)
        if isinstance(value, int):
            return {"-": -value, "~": ~value, "!": int(value == 0), "+": value}.get(node.op, UNIFORM)
        if isinstance(value, np.ndarray):
            match node.op:
                case "-":
                    return binary("-", 0, value)
                case "~":
                    return binary("^", value, -1)
                case "!":
                    return as_numbers(value == 0)
                case "+":
                    return value
        return unknown(value)

    def _conditional(self, node: ir.Conditional, mask: Mask) -> Value:
        condition = self._condition(node.condition, mask)
        if isinstance(condition, bool):
            return self.value(node.then if condition else node.orelse, mask)
        if isinstance(condition, Unknown):
            values, path, choice = [], self._path, self._choice(node.condition, condition)
            for way, part in ((1, node.then), (0, node.orelse)):
                self._path = (*path, replace(choice, way=way))
                values.append(self.value(part, mask))
            self._path = path
            return merged(values[0], values[1], condition.varying)
        then = self.value(node.then, mask & condition)
        return where(condition, then, self.value(node.orelse, mask & ~condition))

    def _condition(self, node: ir.Expr, mask: Mask, loop: bool = False) -> bool | Flags | Unknown:
        """True or False for all, flags by thread, or unknown. A test of parameters for equality can go either way."""
        value = self.value(node, mask)
        self._varied = varies(value)
        if isinstance(value, int):
            if not loop and not self._constant(node) and _equality(node):
                return UNIFORM
            return value != 0
        if isinstance(value, np.ndarray):
            flags: Flags = value != 0
            holding = int(np.count_nonzero(flags & mask.may))
            return flags if 0 < holding < mask.count else holding > 0
        return unknown(value)

    def _constant(self, node: ir.Expr) -> bool:
        """Whether an expression has no sampled number in it."""
        return not any(isinstance(n, ir.Name) and n.id in self.trace.samples for n in ir.walk(node))

    def _cast(self, node: ir.Cast, mask: Mask) -> Value:
        value = self.value(node.value, mask)
        if isinstance(value, Pointer):
            return Pointer(value.space, value.array, value.offset, pointed(node.type), ()) if node.type.pointers else VARYING
        if node.type.floating:
            return unknown(value)
        if node.type.integer and value is LOADED:
            return self.memory.scattered(node.start)
        return value


def pointed(kind: ir.CType) -> ir.CType:
    """What a pointer's elements are."""
    return ir.CType(kind.name, kind.size, max(kind.pointers - 1, 0), kind.const)


def _equality(node: ir.Expr) -> bool:
    """A test for equality, or of a number by itself: what sampled numbers would always answer the same way."""
    match node:
        case ir.Binary(op="&&" | "||"):
            return _equality(node.left) or _equality(node.right)
        case ir.Unary(op="!"):
            return True
        case ir.Binary():
            return node.op in ("==", "!=", "&", "%")
        case _:
            return True
