"""From an analysed function to its `Task`: plain data that verification, emission and evidence need.

Array extents, access modes, value rules of index arrays, what the function assumes of its arguments, and estimates of its
work. Raises `Refusal` where an array's extent can't be derived.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from cudaperf.engine import size
from cudaperf.engine.loops import ir
from cudaperf.engine.loops.causes import cause
from cudaperf.engine.loops.coverage import fully_written
from cudaperf.engine.loops.extents import Extent, Extents, Unbounded
from cudaperf.engine.loops.layout import layout
from cudaperf.engine.loops.model import bounds_around
from cudaperf.engine.loops.nest import NestStep, Program, RepeatStep, Step, SwapStep, WhenStep, WhileStep
from cudaperf.engine.loops.pinned import pinned
from cudaperf.engine.loops.places import place
from cudaperf.engine.reason import ReasonCode, Refusal
from cudaperf.engine.task import (
    AnyValues,
    ArrayParameter,
    ElementType,
    IndexValues,
    OffsetValues,
    Original,
    Parameter,
    ScalarParameter,
    ScalarType,
    StructField,
    StructType,
    Task,
    ValueRule,
)


def element_type(kind: ir.Type) -> ElementType:
    if isinstance(kind, ir.Scalar):
        return ScalarType(name=kind.name, number=kind.kind, bits=kind.bits, signed=kind.signed)
    fields = tuple(StructField(name=f.name, type=element_type(f.type), offset=f.offset, dims=f.dims) for f in kind.fields)
    return StructType(name=kind.name, fields=fields, size=kind.size)


def describe(
    program: Program,
    original: Original,
    user_assumptions: tuple[str, ...] = (),
    given_extents: Mapping[str, str] | None = None,
    reference: str = "",
) -> Task:
    """The task of a program. `given_extents` come from `assume extent(x) == ...` comments."""
    return _Describer(program, dict(given_extents or {})).task(original, user_assumptions, reference)


class _Describer:
    def __init__(self, program: Program, given: dict[str, str]) -> None:
        self.program = program
        self.function = program.unit.function
        inside = ir.embedded(program.unit)
        self.globals = tuple(v for v in self.function.globals if v.name not in inside)
        self.variables = self.function.parameters + self.globals
        scalars = frozenset(v.name for v in self.variables if not v.is_array)
        self.extents = Extents(program.model, program.space, given, scalars)
        self.swapped = _swapped(program.steps)

    def task(self, original: Original, user_assumptions: tuple[str, ...], reference: str) -> Task:
        arrays = {v.name: self.extent(v) for v in self.variables if v.is_array}
        self.share_swapped(arrays)
        rules, free = self.value_rules(arrays)
        self.check_pinned()
        preconditions = self.extents.precondition_texts()
        work = self.work(self.program.steps)
        requirements = (*self.program.requirements, *self.extents.requirements)
        sized = set().union(
            *(size.names(t) for e in arrays.values() for t in e.texts),
            *(size.names(t) for t in (*requirements, *preconditions, *user_assumptions, work)),
            *_plan_names(self.program.steps),
        )
        parameters = tuple(self.parameter(v, arrays, rules, free, sized) for v in self.function.parameters)
        globals_ = tuple(self.parameter(v, arrays, rules, free, sized) for v in self.globals)
        preamble = self.program.unit.preamble
        return Task(
            name=self.function.name,
            original=original,
            parameters=parameters,
            globals=globals_,
            returns=element_type(self.function.returns) if self.function.returns else None,
            requirements=requirements,
            user_assumptions=tuple(dict.fromkeys((*user_assumptions, *preconditions))),
            reference=reference,
            exact=exact(self.function),
            preamble="\n".join((*preamble.macros, *preamble.types)),
            type_headers=preamble.type_headers,
            nonnull=self.program.unit.nonnull,
            work=work,
            traffic=_traffic(parameters + globals_, frozenset(a.array for a in self.program.model.accesses() if not a.write)),
        )

    def extent(self, variable: ir.Variable) -> Extent:
        try:
            return self.extents.of(variable)
        except Unbounded as error:
            reach = "a test that can't be followed decides" if error.tested else "nothing bounds"
            unit, indices = self.program.unit, getattr(error.access.node, "indices", ())
            tested = indices if error.tested else ()
            why = cause(unit.function, unit.text, indices, (*tested, *bounds_around(error.access)))
            message = (
                f"{reach} how far {variable.name} is accessed here{f', as {why}' if why else ''}; "
                f"say it in a comment: // cudaperf: assume extent({variable.name}) == n (docs/assume.md)"
            )
            raise Refusal(place(unit, ReasonCode.UNBOUNDED, message, error.access.node)) from None

    def check_pinned(self) -> None:
        """Refuse references that are outside their arrays with all but trivial arguments."""
        found = pinned(self.program.model, self.program.space, self.extents.given) if self.extents.preconditions else None
        if found is None:
            return
        when = "here" if found.name is None else f"here whenever {found.name} is above 0"
        hope = "" if found.name is None else f", or say that it is not: // cudaperf: assume {found.name} == 0 (docs/assume.md)"
        message = (
            f"as far as its tests can be followed, {found.access.array} is accessed before its start {when}: "
            f"begin the loop later, compare before subtracting (i >= k){hope}"
        )
        raise Refusal(place(self.program.unit, ReasonCode.UNBOUNDED, message, found.access.node))

    def share_swapped(self, arrays: dict[str, Extent]) -> None:
        """Buffers whose pointers are exchanged must both hold what either needs."""
        for first, second in self.swapped * len(self.swapped):  # along the longest chain of exchanges
            if first in arrays and second in arrays and arrays[first].texts != arrays[second].texts:
                a, b = (" * ".join(f"({t})" for t in arrays[n].texts) for n in (first, second))
                both = Extent((f"max({a}, {b})",), data=arrays[first].data or arrays[second].data)
                arrays[first] = arrays[second] = both

    def value_rules(self, arrays: dict[str, Extent]) -> tuple[dict[str, ValueRule], dict[str, str]]:
        """Values of index arrays, and the free sizes of arrays that only they reach into."""
        rules: dict[str, ValueRule] = {}
        free: dict[str, str] = {}
        bounds = self.loop_bound_arrays()
        for name in bounds:
            rules[name] = OffsetValues(total=f"{name}_total")
        for name, extent in arrays.items():
            if not extent.data and not extent.indexed_by:
                continue
            offsets = [d for d in extent.indexed_by if d in bounds]
            plain = [d for d in extent.indexed_by if d not in bounds]
            if offsets and extent.data:
                free[name] = f"{offsets[0]}_total"
            elif plain and extent.data:
                free[name] = f"{name}_extent"
            high = free.get(name) or (extent.texts[0] if not extent.data else f"{name}_extent")
            untested = set().union(*(size.arrays(text) for text in self.extents.requirements))
            for index in plain:
                low = "-1" if index in self.extents.tested - untested else "0"
                rules.setdefault(index, IndexValues(low=low, high=high))
        self.propagate_totals(arrays, free, bounds)
        return rules, free

    def propagate_totals(self, arrays: dict[str, Extent], free: dict[str, str], bounds: frozenset[str]) -> None:
        """`val[k]` with k below a row pointer is as long as the row pointers' total."""
        for name, extent in arrays.items():
            if name in free or not extent.data:
                continue
            read = {a for t in extent.texts for a in size.arrays(t)}
            offsets = sorted(read & bounds)
            free[name] = f"{offsets[0]}_total" if offsets else f"{name}_extent"

    def loop_bound_arrays(self) -> frozenset[str]:
        """Integer arrays whose elements bound loops."""
        found: set[str] = set()
        atoms = self.program.space.atoms
        for loop in self.program.model.loops.values():
            from cudaperf.engine.loops.poly import condition_atoms

            found |= {atoms.data[a] for a in atoms.closure(condition_atoms(loop.condition)) if a in atoms.data}
        return frozenset(found)

    def parameter(
        self,
        variable: ir.Variable,
        arrays: dict[str, Extent],
        rules: dict[str, ValueRule],
        free: dict[str, str],
        sized: set[str],
    ) -> Parameter:
        kind = element_type(variable.type)
        if not variable.is_array:
            integer = isinstance(variable.type, ir.Scalar) and variable.type.kind == "int"
            return ScalarParameter(
                name=variable.name,
                type=kind,
                role="size" if integer and variable.name in sized else "value",
                declaration=variable.declaration,
                is_global=variable.is_global,
            )
        return ArrayParameter(
            name=variable.name,
            type=kind,
            extents=arrays[variable.name].texts,
            access=self.access(variable),
            declaration=variable.declaration,
            const=variable.const,
            restrict=variable.restrict,
            is_global=variable.is_global,
            values=rules.get(variable.name, AnyValues()),
            free_extent=free.get(variable.name),
        )

    def access(self, variable: ir.Variable) -> Literal["in", "out", "inout"]:
        accesses = [a for a in self.program.model.accesses() if a.array == variable.name]
        if any(variable.name in pair for pair in self.swapped):
            return "inout"
        if not any(a.write for a in accesses):
            return "in"
        iterators = frozenset(v.atom for a in accesses for v in a.statement.loops)
        shape = layout(variable.name, accesses, self.program.space, iterators)
        rows = self.extents.found[variable.name].rows
        return "out" if fully_written(accesses, shape, self.program.space, rows) else "inout"

    # --- work ----------------------------------------------------------------------------------------------------------

    def work(self, steps: tuple[Step, ...]) -> str:
        """Statement instances, as a size expression (an estimate: data-dependent loops count eight passes)."""
        parts: list[str] = []
        for step in steps:
            match step:
                case NestStep(nest):
                    extents = [f"max(0, {loop.range.count})" for loop in nest.band]
                    parts.append(" * ".join([*extents, *self.inner(nest.body)]))
                case RepeatStep():
                    low, high = (step.begin, step.end) if step.step > 0 else (step.end, step.begin)
                    inside = self.work(step.steps)
                    # bounds that follow the repeated variable: the larger of its two ends
                    ends = dict.fromkeys(re.sub(rf"\b{step.var}\b", f"({end})", inside) for end in (low, high))
                    # a pass is at least a block of threads a launch, however little it computes
                    least = [str(256 * len(step.steps))] if size.names(f"{high} - ({low})") else []
                    passes = f"max({', '.join([*least, *ends])})" if len(least) + len(ends) > 1 else f"({inside})"
                    parts.append(f"max(0, ({high}) - ({low})) * {passes}")
                case WhileStep():
                    parts.append(f"8 * ({self.work(step.steps)})")
                case WhenStep():
                    parts.append(self.work(step.steps))
        return " + ".join(dict.fromkeys(p for p in parts if p)) or "1"

    def inner(self, body: tuple[ir.Stmt, ...]) -> list[str]:
        """The trip counts of the deepest chain of loops inside a nest's body."""
        best: list[str] = []
        for statement in body:
            for node in ir.walk(statement):
                if isinstance(node, ir.For | ir.While):
                    chain = [self.trip(node), *self.inner(node.body.statements)]
                    best = max(best, chain, key=len)
        return best

    def trip(self, node: ir.For | ir.While) -> str:
        from cudaperf.engine.loops.bounds import NotExpressible, value_range
        from cudaperf.engine.loops.poly import And

        loop = self.program.model.loops[id(node)]
        chain = [v for s in self.program.model.inside(node)[:1] for v in s.loops]
        condition = And(tuple(v.condition for v in chain))
        others = tuple(v.atom for v in chain if v is not loop)
        try:
            return f"max(0, {value_range(self.program.space, loop.atom, condition, others, self.extents.name).count})"
        except NotExpressible:
            return "8"


def exact(function: ir.Function) -> bool:
    """Whether discrete results depend on floating-point values: then the device must round exactly as the original does."""
    discrete = function.returns is not None and _is_int(function.returns)
    for node in ir.walk(function.body):
        if isinstance(node, ir.Assign) and isinstance(node.target, ir.Load) and _is_int(node.target.type):
            discrete = True
    floats = any(isinstance(getattr(n, "type", None), ir.Scalar) and n.type.kind == "float" for n in ir.walk(function.body))  # type: ignore[attr-defined]
    loops = any(isinstance(n, ir.While) and any(_is_float(x) for x in ir.walk(n.condition)) for n in ir.walk(function.body))
    casts = any(isinstance(n, ir.Cast) and n.type.kind == "int" and _is_float(n.operand) for n in ir.walk(function.body))
    return floats and (discrete or loops or casts)


def _is_int(kind: ir.Type) -> bool:
    return isinstance(kind, ir.Scalar) and kind.kind == "int"


def _is_float(node: ir.Node) -> bool:
    kind = getattr(node, "type", None)
    return isinstance(kind, ir.Scalar) and kind.kind == "float"


def _swapped(steps: tuple[Step, ...]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for step in steps:
        if isinstance(step, SwapStep):
            found.append((step.first, step.second))
        elif isinstance(step, RepeatStep | WhileStep | WhenStep):
            found.extend(_swapped(step.steps))
    return found


def _plan_names(steps: tuple[Step, ...]) -> list[frozenset[str]]:
    """Arguments that launches and host loops depend on."""
    found: list[frozenset[str]] = []
    for step in steps:
        match step:
            case NestStep(nest):
                found += [size.names(t) for loop in nest.band for t in (loop.low, loop.high)]
            case RepeatStep():
                found += [size.names(step.begin), size.names(step.end), *_plan_names(step.steps)]
            case WhenStep():
                found += [size.names(step.condition), *_plan_names(step.steps)]
            case WhileStep():
                found += _plan_names(step.steps)
    return found


def _traffic(parameters: tuple[Parameter, ...], read: frozenset[str]) -> str:
    """Bytes that must move at least once: every array that is read, every array that is written."""
    parts = []
    for p in parameters:
        if isinstance(p, ArrayParameter) and not any(size.arrays(t) for t in p.extents):
            width = p.type.bits // 8 if isinstance(p.type, ScalarType) else p.type.size
            count = " * ".join(f"({t})" for t in p.extents)
            parts.append(f"{width * (2 if p.access == 'inout' and p.name in read else 1)} * {count}")
    return " + ".join(parts) or "0"
