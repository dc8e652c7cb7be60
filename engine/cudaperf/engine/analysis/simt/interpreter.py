"""Runs a kernel's body for all simulated threads at once and leaves a `Trace`.

Statements run in order under a mask. A branch on known numbers splits the mask; one on unknown numbers is tried both ways, and
what happens there is marked. Loops run a few rounds: enough to wrap around. Device functions and macros of the file are
entered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from cudaperf.engine.analysis.simt import facts
from cudaperf.engine.analysis.simt.calls import Calls
from cudaperf.engine.analysis.simt.expressions import pointed
from cudaperf.engine.analysis.simt.state import Budget, Mask, OverBudget, Rounds
from cudaperf.engine.analysis.simt.trace import Exit, Leaving, Trace
from cudaperf.engine.analysis.simt.values import (
    LOADED,
    UNIFORM,
    VARYING,
    Based,
    Group,
    Pointer,
    Record,
    Unknown,
    Value,
    is_known,
    loaded,
    merged,
    unknown,
)
from cudaperf.engine.cuda import ir, macros

__all__ = ["Budget", "Interpreter", "OverBudget"]

PLAIN_ROUNDS: Final = 3
BARRIER_ROUNDS: Final = 12
FAR_ROUNDS: Final = 2
FAR_BARRIER_ROUNDS: Final = 3
FAR: Final = 1 << 12
"""How far a loop's variable is from its end where no round is like the last one."""


class Interpreter(Calls):
    """One run; `run` returns the trace. Raises `OverBudget` where it takes too long."""

    def run(self) -> Trace:
        frame, number = self._frame, 0
        uses = facts.uses(self.kernel, self.model)
        for name, default in self.kernel.templates.items():
            value = self._templates.get(name)
            if value is None and default is not None:
                found = self.value(default, self._all())
                value = found if isinstance(found, int) else None
            if value is None and name in uses.extents:
                value = self.machine.shape[0]  # a tile is as wide as the block, if nothing says otherwise
            frame.variables[name] = value if value is not None else UNIFORM
        for parameter in self.kernel.parameters:
            kind = parameter.type
            if kind.pointers:
                rows = [self.value(row, self._all()) for row in parameter.rows]
                dims = (0, *(row if isinstance(row, int) else 0 for row in rows)) if rows else ()
                frame.variables[parameter.name] = Pointer("global", parameter.name, 0, self._sized(pointed(kind)), dims)
            elif kind.integer and kind.name != "bool":
                sample = self._sample(parameter.name, number, uses)
                self.trace.samples[parameter.name] = sample
                frame.variables[parameter.name] = sample
                number += 1
            else:
                frame.variables[parameter.name] = UNIFORM
        self._block(self.kernel.body, self._all())
        return self.trace

    def _sample(self, name: str, number: int, uses: facts.Uses) -> int:
        if name in uses.shifts:
            return self.machine.sampling.bits(number)
        return self.machine.sampling.parameter(number, self.machine.shape, name in uses.factors)

    def _sized(self, kind: ir.CType) -> ir.CType:
        """A type parameter counts as four bytes."""
        if kind.size is None and kind.name in self.kernel.type_names:
            return ir.CType("float", 4, kind.pointers, kind.const)
        return kind

    def _block(self, block: ir.Block, mask: Mask) -> Mask:
        for statement in block.body:
            if mask.empty:
                return mask
            mask = self._statement(statement, mask)
        return mask

    def _statement(self, node: ir.Stmt, mask: Mask) -> Mask:
        self._step()
        match node:
            case ir.Evaluate():
                self._evaluate(node.value, mask)
            case ir.Declare():
                self._declare(node, mask)
            case ir.Block():
                return self._block(node, mask)
            case ir.If():
                return self._if(node, mask)
            case ir.Loop():
                return self._loop(node, mask)
            case ir.Return():
                value = self.value(node.value, mask) if node.value is not None else UNIFORM
                self._frame.returned.append((mask, value))
                if self._depth == 0:
                    self.trace.exits.append(
                        Exit(node.start, node.end, mask.must, mask.may, self._path, len(self.trace.accesses))
                    )
                return Mask(self._nobody, self._nobody)
            case ir.Jump():
                if self._frame.loops and node.kind != "goto":
                    loop = self._frame.loops[-1]
                    (loop.broke if node.kind == "break" else loop.continued).append(mask)
                    self.trace.leavings.append(Leaving(self._path, len(self.trace.accesses), loop.place))
                else:
                    self.trace.complete = False
                return Mask(self._nobody, self._nobody)
            case ir.Switch():
                return self._switch(node, mask)
            case ir.Opaque():
                if self.model.source.data.startswith((b"asm", b"__asm"), node.start):
                    self.doubtful()
                self._opaque(node, mask)
        return mask

    def _evaluate(self, node: ir.Expr, mask: Mask) -> None:
        """A statement. One that is but a name may be a macro that waits."""
        if isinstance(node, ir.Name) and node.id not in self._frame.variables:
            if macros.expression(self.model, node.id) is None and node.id not in self.model.variables:
                self.doubtful()
        elif isinstance(node, ir.Opaque) and self.model.source.data.startswith((b"asm", b"__asm"), node.start):
            self.doubtful()
        self._whole = node
        self.value(node, mask)
        self._whole = None

    def _declare(self, node: ir.Declare, mask: Mask) -> None:
        variables = self._frame.variables
        if node.type.reference and node.dims and node.init is not None:
            array = self.value(node.init, mask)
            variables[node.name] = array if isinstance(array, Pointer) else VARYING
            return
        if node.shared or node.dims:
            dims = [self.value(d, mask) if d is not None else UNIFORM for d in node.dims]
            space = "shared" if node.shared else "local"
            sizes = tuple(d if isinstance(d, int) else 0 for d in dims)
            name = node.name if self._depth == 0 else f"{node.name}@{node.start}"
            if node.type.pointers and node.dims:
                variables[node.name] = VARYING
            else:
                variables[node.name] = Pointer(space, name, 0, self._sized(node.type), sizes)
            if node.shared and not node.dims:
                variables[node.name] = self.memory.scalar(name, node.type)
            if node.init is not None:
                self.value(node.init, mask)
            return
        if node.type.name.endswith(("thread_block", "thread_block_tile", "coalesced_group", "grid_group")):
            block = node.type.name.endswith("thread_block")
            variables[node.name] = Group("block" if block else "grid" if "grid" in node.type.name else "warp")
            return
        if node.init is None:
            struct = self.model.types.struct(node.type.name) if not node.type.pointers else None
            variables[node.name] = Record(dict.fromkeys(struct.fields, VARYING)) if struct else VARYING
            return
        if node.type.reference:
            pointer = self.pointer(node.init, mask)
            if pointer is not None:
                variables[node.name] = self.memory.reference(pointer)
                return
        value = self.value(node.init, mask)
        if node.type.pointers and isinstance(value, Pointer) and node.type.name != "auto":
            value = Pointer(value.space, value.array, value.offset, pointed(node.type), value.dims)
        if node.type.floating and not isinstance(value, Unknown):
            value = unknown(value)
        if node.type.integer and value is LOADED:
            value = self.memory.scattered(node.start)
        variables[node.name] = value

    def _if(self, node: ir.If, mask: Mask) -> Mask:
        """What is known of the condition, part by part, narrows the mask; the rest is tried both ways."""
        taken, open_ = mask, list[Unknown]()
        for part in _conjuncts(node.condition):
            condition = self._condition(part, taken)
            self._note(node)
            if condition is False:
                taken = Mask(self._nobody, self._nobody)
                break
            if isinstance(condition, Unknown):
                open_.append(condition)
            elif not isinstance(condition, bool):
                self._split(part, condition, taken)
                taken = taken & condition
                if taken.empty:
                    break
        if open_ and not taken.empty:
            return self._either(node, taken, mask, unknown(*open_))
        other = Mask(mask.must & ~taken.must, mask.may & ~taken.may) if not taken.empty else mask
        if not taken.empty:
            taken = self._block(node.then, taken)
        if node.orelse is not None and not other.empty:
            other = self._block(node.orelse, other)
        return taken | other

    def _note(self, node: ir.If | ir.Loop) -> None:
        """Remember that threads can part before a barrier, return or warp operation."""
        if self._varied and not self.trace.diverges:
            self.trace.diverges = facts.parts_threads(node, self.model)

    def _either(self, node: ir.If, taken: Mask, mask: Mask, condition: Unknown) -> Mask:
        """Both ways, each as if all threads went it that can."""
        before = dict(self._frame.variables)
        path, varying = self._path, condition.varying
        choice = self._choice(node.condition, condition)
        self._path = (*path, choice)
        first = self._block(node.then, taken)
        after = self._frame.variables
        self._frame.variables = dict(before)
        self._path = (*path, replace(choice, way=0))
        second = self._block(node.orelse, mask) if node.orelse is not None else mask
        self._path = path
        self._merge(after, self._frame.variables, varying, first.empty, second.empty)
        if not varying and first.empty != second.empty:
            return second if first.empty else first  # who goes on does so together
        untouched = mask.must & ~taken.must
        return Mask((first.must | untouched) & second.must, first.may | second.may)

    def _merge(self, a: dict[str, Value], b: dict[str, Value], varying: bool, a_ended: bool, b_ended: bool) -> None:
        """Variables after two ways; one that ended leaves the other's."""
        if a_ended != b_ended:
            self._frame.variables = dict(b if a_ended else a)
            return
        both = dict(a)
        for name, value in a.items():
            other = b.get(name)
            if other is not value:
                both[name] = merged(value, other, varying)
        for name in b.keys() - a.keys():
            both[name] = merged(None, b[name], varying)
        self._frame.variables = both

    def _switch(self, node: ir.Switch, mask: Mask) -> Mask:
        value = self.value(node.value, mask)
        self._frame.loops.append(Rounds((node.start, node.end)))
        rest, fell = mask, Mask(self._nobody, self._nobody)
        if is_known(value) and all(case is None or isinstance(self.value(case, mask), int) for case, _ in node.cases):
            for case, block in node.cases:
                number = self.value(case, mask) if case is not None else None
                here = rest
                if isinstance(number, int):
                    here = rest & np.broadcast_to(np.asarray(value) == number, mask.may.shape)
                    rest = Mask(rest.must & ~here.must, rest.may & ~here.may)
                fell = self._block(block, fell | here)
        else:
            self._cases(node, mask, unknown(value))
            rest = mask
        loop = self._frame.loops.pop()
        out = rest | fell
        for one in loop.broke:
            out = out | one
        if loop.continued and self._frame.loops:
            self._frame.loops[-1].continued.extend(loop.continued)
        return out

    def _cases(self, node: ir.Switch, mask: Mask, value: Unknown) -> None:
        """Every case on trial, each from what was known before; one that the case above falls into goes the same way."""
        path, choice, before = self._path, self._choice(node.value, value), dict(self._frame.variables)
        ends = [] if any(case is None for case, _ in node.cases) else [before]
        fell = True
        for _, block in node.cases:
            if fell:
                self._merge(self._frame.variables, before, value.varying, False, False)
            else:
                ends.append(self._frame.variables)
                self._frame.variables, choice = dict(before), replace(choice, way=choice.way + 1)
            self._path = (*path, choice)
            fell = not self._block(block, mask).empty
        self._path = path
        for end in ends:
            self._merge(self._frame.variables, end, value.varying, False, False)

    def _loop(self, node: ir.Loop, mask: Mask) -> Mask:
        if node.init is not None:
            self._block(node.init, mask)
        rounds, few = (BARRIER_ROUNDS, FAR_BARRIER_ROUNDS) if facts.wraps(node) else (PLAIN_ROUNDS, FAR_ROUNDS)
        loop = Rounds((node.start, node.end))
        self._frame.loops.append(loop)
        self.trace.loops[node.start] = node.end
        out = Mask(self._nobody, self._nobody)
        live, outer, path = mask, self._iteration, self._path
        before: dict[str, Value] | None = None
        varying = False
        for number in range(rounds):
            self._iteration = (*outer, (node.start, number))
            if number == few and self._far(node.condition, live):
                break
            if node.condition is not None and (number > 0 or node.kind != "do"):
                condition = self._condition(node.condition, live, True)
                self._note(node)
                if condition is False:
                    out, live = out | live, Mask(self._nobody, self._nobody)
                    break
                if isinstance(condition, Unknown):
                    if before is not None and (varying or not condition.varying):
                        break
                    before, varying = before or dict(self._frame.variables), condition.varying
                    self._path = (*path, self._choice(node.condition, condition))
                elif not isinstance(condition, bool):
                    self._split(node.condition, condition, live)
                    out, live = out | (live & ~condition), live & condition
                    if live.empty:
                        break
            live = self._block(node.body, live)
            for one in loop.continued:
                live = live | one
            loop.continued.clear()
            if node.step is not None and not live.empty:
                self.value(node.step, live)
            if live.empty:
                break
        self._frame.loops.pop()
        self._iteration, self._path = outer, path
        if before is not None:
            self._merge(self._frame.variables, before, varying, False, False)
        if not live.empty or before is not None:
            self._forget(node)
            if rounds == PLAIN_ROUNDS:
                self.trace.cut.add(node.start)
        out = out | live
        for one in loop.broke:
            out = out | one
        if before is not None:  # threads that may never have entered come out as well
            out = Mask(out.must & mask.must, out.may | mask.may)
        return out

    def _far(self, condition: ir.Expr | None, live: Mask) -> bool:
        """Whether a test of a counter against a bound will hold for many rounds more."""
        if not isinstance(condition, ir.Binary) or condition.op not in ("<", "<=", ">", ">=", "!="):
            return False
        if any(isinstance(n, ir.Index | ir.Call | ir.Assign | ir.Opaque | ir.Member) for n in ir.walk(condition)):
            return False
        left, right = self.value(condition.left, live), self.value(condition.right, live)
        return is_known(left) and is_known(right) and bool(np.min(np.abs(np.asarray(left) - np.asarray(right))) > FAR)

    def _forget(self, node: ir.Loop) -> None:
        """What a loop that was left early assigns is not known afterwards."""
        variables = self._frame.variables
        for name in facts.assigned(node):
            old = variables.get(name)
            if isinstance(old, Pointer):
                variables[name] = Pointer(old.space, old.array, unknown(old), old.type)
            elif isinstance(old, Based) and loaded(old):
                variables[name] = self.memory.scattered(node.start)
            elif old is not None and not isinstance(old, Group):
                variables[name] = unknown(old)


def _conjuncts(node: ir.Expr) -> Iterator[ir.Expr]:
    """The parts of `a && b && c`."""
    if isinstance(node, ir.Binary) and node.op == "&&":
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    else:
        yield node
