"""Lvalues: the places that expressions name, reading and writing them."""

from __future__ import annotations

from cudaperf.engine.analysis.simt.expressions import Expressions
from cudaperf.engine.analysis.simt.state import Mask
from cudaperf.engine.analysis.simt.values import (
    ITSELF,
    UNIFORM,
    VARYING,
    Pointer,
    Record,
    Value,
    binary,
    unknown,
    varies,
    where,
)
from cudaperf.engine.cuda import ir


class Places(Expressions):
    """Accesses to memory and to registers."""

    def pointer(self, node: ir.Expr, mask: Mask) -> Pointer | None:
        """The place that an lvalue names; None for registers and what is not understood."""
        match node:
            case ir.Name():
                found = self._frame.variables.get(node.id)
                if found is None:
                    declared = self.model.variables.get(node.id)
                    if declared is not None and not declared.type.const:
                        if declared.dims:
                            value = self._name(node, mask)
                            return value if isinstance(value, Pointer) else None
                        return Pointer("shared" if declared.shared else "global", node.id, 0, declared.type, ITSELF)
                return found if isinstance(found, Pointer) and (found.itself or found.space != "global") else None
            case ir.Index():
                base = self.value(node.base, mask)
                index = self.value(node.index, mask)
                return self.memory.indexed(base, index) if isinstance(base, Pointer) else None
            case ir.Member():
                place = self.pointer(node.base, mask)
                return self.memory.member(place, node.field) if place is not None else None
            case ir.Cast():
                return self.pointer(node.value, mask)
            case ir.Conditional() | ir.Comma() | ir.Call():
                self.value(node, mask)
                return None
            case _:
                return None

    def _load(self, node: ir.Index, mask: Mask) -> Value:
        place = self.pointer(node, mask)
        if place is None:
            return VARYING
        if place.row:
            return place  # a row of an array: no access yet
        return self._read(place, node, mask)

    def _read(self, place: Pointer, node: ir.Expr, mask: Mask) -> Value:
        self.access(place, node, "read", mask)
        return self.memory.loaded(place)

    def _member(self, node: ir.Member, mask: Mask) -> Value:
        base = node.base
        held = self._frame.variables.get(base.id) if isinstance(base, ir.Name) else None
        if not isinstance(base, ir.Index) and not isinstance(held, Pointer):
            value = self.value(base, mask)
            if isinstance(value, Record):
                return value.fields.get(node.field, VARYING)
            if not isinstance(value, Pointer):
                return unknown(value)
        place = self.pointer(node, mask)
        if place is None:
            inside = self.pointer(base, mask)
            return UNIFORM if inside is not None and not varies(inside) else VARYING
        if place.row:
            return place
        return self._read(place, node, mask)

    def _assign(self, node: ir.Assign, mask: Mask) -> Value:
        value = self.value(node.value, mask)
        target = node.target
        if isinstance(target, ir.Name) and not self._placed(target):
            old = self._frame.variables.get(target.id)
            if node.op is not None:
                if isinstance(old, Pointer):
                    step = self.memory.element(old) or 0
                    moved = binary(node.op, old.offset, binary("*", value, step))
                    value = Pointer(old.space, old.array, moved if step else VARYING, old.type, old.dims)
                else:
                    value = binary(node.op, old if old is not None else VARYING, value)
            elif isinstance(old, Pointer) and isinstance(value, Pointer):
                value = Pointer(value.space, value.array, value.offset, old.type, value.dims)
            self._frame.variables[target.id] = value if mask.full else where(mask.must, value, old)
            return old if node.after and old is not None else value
        if isinstance(target, ir.Member) and isinstance(target.base, ir.Name):
            record = self._frame.variables.get(target.base.id)
            if isinstance(record, Record):
                old = record.fields.get(target.field)
                new = value if node.op is None else binary(node.op, old if old is not None else VARYING, value)
                fields = {**record.fields, target.field: new if mask.full else where(mask.must, new, old)}
                self._frame.variables[target.base.id] = Record(fields)
                return new
        place = self.pointer(target, mask)
        if place is None:
            return value
        if node.op is not None:
            self.access(place, target, "read", mask, compound=True)
        self.access(place, target, "write", mask, value=value if node.op is None else VARYING, compound=node.op is not None)
        return value

    def _placed(self, target: ir.Name) -> bool:
        """Whether a name stands for memory: a shared or global scalar, or a reference."""
        found = self._frame.variables.get(target.id)
        if found is None:
            return target.id in self.model.variables
        return isinstance(found, Pointer) and found.itself
