"""What the partition of a function knows while it walks: where scalars live, which loops the host runs, what the host can say.

Base of `ScalarCode`, `Bands` and the partition itself: each adds the steps of one kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.bounds import NotExpressible, condition_text, param_text, poly_text
from cudaperf.engine.loops.convert import Environment, to_poly
from cudaperf.engine.loops.model import Model
from cudaperf.engine.loops.nest import LocalArray
from cudaperf.engine.loops.places import place
from cudaperf.engine.loops.poly import Poly
from cudaperf.engine.loops.scalars import always_assigned, exposed
from cudaperf.engine.loops.sets import Space
from cudaperf.engine.loops.trees import defines, used_names
from cudaperf.engine.loops.wrapping import compared, wraps
from cudaperf.engine.reason import ReasonCode, Refusal


@dataclass(slots=True)
class State:
    """`pure` holds scalar definitions from arguments alone, in order; `device` the scalars that live in device memory now,
    `carried` those that must (a host loop passes them on), `scalars` all that ever do. `repeats` maps the iterators of host
    loops to their variables; `after` are the statements that follow the current one, innermost block last."""

    unit: ir.Unit
    model: Model
    space: Space
    pure: list[ir.Stmt] = field(default_factory=list)
    device: set[str] = field(default_factory=set)
    carried: set[str] = field(default_factory=set)
    scalars: dict[str, ir.Type] = field(default_factory=dict)
    arrays: list[LocalArray] = field(default_factory=list)
    types: dict[str, ir.Type] = field(default_factory=dict)
    repeats: dict[str, str] = field(default_factory=dict)  # atom of an enclosing host loop -> its variable
    guards: tuple[ir.Expr, ...] = ()
    requirements: list[object] = field(default_factory=list)
    after: list[tuple[ir.Stmt, ...]] = field(default_factory=list)
    held: frozenset[str] = frozenset()  # device scalars before the pending statements
    count: int = 0
    result: str | None = None

    def refusal(self, code: ReasonCode, message: str, node: ir.Node | None) -> Refusal:
        return Refusal(place(self.unit, code, message, node))

    def name(self, suffix: str = "") -> str:
        self.count += 1
        function = "".join(c if c.isascii() else f"u{ord(c):x}" for c in self.unit.function.name)  # nvcc: kernels in ASCII
        return f"{function}_{suffix or 'k'}{self.count}"

    def host_atom(self, atom: str) -> str:
        """Names of what the host knows: arguments and the variables of its own loops."""
        if atom in self.repeats:
            return self.repeats[atom]
        if any(v.name == atom and not v.is_array for v in self.unit.function.parameters + self.unit.function.globals):
            return atom
        raise NotExpressible(atom)

    def slice(self, needed: frozenset[str]) -> tuple[ir.Stmt, ...]:
        """The pure statements that define the needed names, in order, with what they need in turn."""
        want, kept = set(needed) - set(self.repeats.values()), list[ir.Stmt]()
        for node in reversed(self.pure):
            if defines(node) & want or (isinstance(node, ir.Decl | ir.PointerDecl) and node.name in want):
                kept.append(node)
                want |= used_names((node,)) - set(self.repeats.values())
        return tuple(reversed(kept))

    def pitches(self, arrays: frozenset[str]) -> frozenset[str]:
        """Scalars in the inner dimensions of arrays, which flat subscripts multiply with."""
        function = self.unit.function
        dims = [d for v in function.parameters + function.globals if v.name in arrays for d in v.dims[1:] if d is not None]
        for node in ir.walk(function.body):
            if isinstance(node, ir.Decl) and node.name in arrays:
                dims.extend(node.dims[1:])
        return used_names(tuple(ir.Return(value=d) for d in dims))

    def parameters_in(self, names: frozenset[str]) -> tuple[str, ...]:
        inside = ir.embedded(self.unit)
        scalars = [v.name for v in self.unit.function.parameters + self.unit.function.globals if not v.is_array]
        return tuple(n for n in scalars if n in names and n not in inside)

    def outer_in(self, names: frozenset[str]) -> tuple[str, ...]:
        return tuple(v for v in self.repeats.values() if v in names)

    def host_names(self) -> dict[str, str]:
        variables = self.unit.function.parameters + self.unit.function.globals
        return {v.name: v.name for v in variables if not v.is_array} | self.repeats

    def live(self) -> frozenset[str]:
        """Scalars that code after the current statement may read before setting them."""
        names = frozenset(self.types)
        found: set[str] = set()
        for name in names:
            for rest in reversed(self.after):
                if exposed(rest, name) is not None:
                    found.add(name)
                    break
                if always_assigned(rest, name):
                    break
        return frozenset(found)

    def host_condition(self, node: ir.Expr, at: ir.Node) -> str | None:
        """A size expression for a condition on integer arguments, None where the host can't decide it."""
        env = Environment(self.model.atoms, dict(self.model.values[id(at)]))
        return self.condition_text(node, env)

    def host_int(self, node: ir.Expr, at: ir.Node) -> str | None:
        env = Environment(self.model.atoms, dict(self.model.values[id(at)]))
        return self.host_poly(to_poly(node, env))

    def host_poly(self, poly: Poly) -> str | None:
        if any(self.space.is_opaque(a) for a in poly.atoms):
            return None
        try:
            return poly_text(poly, lambda a: param_text(a, self.space, self.host_atom))
        except NotExpressible:
            return None

    def condition_text(self, node: ir.Expr, env: Environment) -> str | None:
        match node:
            case ir.Binary(op="&&" | "||" as op):
                parts = [self.condition_text(node.left, env), self.condition_text(node.right, env)]
                if parts[0] is None or parts[1] is None:
                    return None
                return f"({parts[0]}) {'and' if op == '&&' else 'or'} ({parts[1]})"
            case ir.Unary(op="!"):
                inner = self.condition_text(node.operand, env)
                return None if inner is None else f"0 if ({inner}) else 1"
            case ir.Binary(op="<" | "<=" | ">" | ">=" | "==" | "!=" as op):
                sides = [self.int_text(side, env) for side in (node.left, node.right)]
                return None if None in sides else self.wrapped_text(node, env) or f"{sides[0]} {op} {sides[1]}"
            case ir.Cast():
                return self.condition_text(node.operand, env)
            case _:
                value = self.int_text(node, env)
                return None if value is None else f"{value} != 0"

    def wrapped_text(self, node: ir.Binary, env: Environment) -> str | None:
        """A comparison of unsigned integers that may have wrapped around."""
        left, right, atoms = to_poly(node.left, env), to_poly(node.right, env), self.model.atoms
        natural = {atom for atom, name in self.repeats.items() if not getattr(self.types.get(name), "signed", True)}
        if not wraps(node, left, right, atoms, natural):
            return None
        holds, _ = compared(node, left, right, atoms, natural)
        return condition_text(holds, lambda a: param_text(a, self.space, self.host_atom))

    def int_text(self, node: ir.Expr, env: Environment) -> str | None:
        kind = getattr(node, "type", None)
        if not isinstance(kind, ir.Scalar) or kind.kind != "int":
            return None
        return self.host_poly(to_poly(node, env))
