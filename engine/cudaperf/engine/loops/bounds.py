"""Parametric bounds as size expressions: from isl's piecewise affine functions to the text that plans and wrappers use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import islpy as isl

from cudaperf.engine.loops.poly import And, Compare, Condition, Derived, Poly
from cudaperf.engine.loops.sets import Space

AtomText = Callable[[str], str]
"""Names an atom in a size expression: parameters by their C name, data maxima as `top(...)`, ..."""


class NotExpressible(Exception):
    """The bound is infinite or depends on something that the host does not know."""


def poly_text(poly: Poly, atom_text: AtomText = str) -> str:
    """A polynomial as a size expression."""
    positive: list[str] = []
    negative: list[str] = []
    for monomial, coefficient in sorted(poly.terms, key=lambda t: (-len(t[0]), t[0])):
        factors = [atom_text(a) for a in monomial]
        size = abs(coefficient)
        text = " * ".join(([str(size)] if size != 1 or not factors else []) + factors)
        (positive if coefficient > 0 else negative).append(text)
    text = " + ".join(positive) or ("0" if not negative else "")
    for part in negative:
        text = f"{text} - {part}" if text else f"-{part}"
    return text


def param_text(name: str, space: Space, atom_text: AtomText) -> str:
    """The size expression of one isl parameter's atom: composites by their definition, products as products."""
    if "*" in name:
        return " * ".join(param_text(part, space, atom_text) for part in name.split("*"))
    derived = space.atoms.derived.get(name)
    if derived is not None:
        return derived_text(derived, lambda a: param_text(a, space, atom_text))
    if name in space.atoms.definitions:
        return f"({poly_text(space.atoms.definitions[name], lambda a: param_text(a, space, atom_text))})"
    return atom_text(name)


def derived_text(derived: Derived, atom_text: AtomText) -> str:
    """A quotient rounds as its definition says; a choice is Python's conditional expression."""
    value = poly_text(derived.poly, atom_text)
    if derived.by is not None:
        by = poly_text(derived.by, atom_text)
        quotient = f"tdiv({value}, {by})"
        return f"({_parenthesised(value)} - {quotient} * {_parenthesised(by)})" if derived.rest else quotient
    if derived.test is None or derived.other is None:
        return f"tdiv({value}, {derived.divisor})" if derived.truncates else f"({_parenthesised(value)} // {derived.divisor})"
    return f"(({value}) if {condition_text(derived.test, atom_text)} else ({poly_text(derived.other, atom_text)}))"


def _parenthesised(text: str) -> str:
    return text if text.replace("_", "").isalnum() else f"({text})"


def condition_text(condition: Condition, atom_text: AtomText) -> str:
    """A condition as a size expression."""
    if isinstance(condition, Compare):
        return f"({poly_text(condition.poly, atom_text)} {'>=' if condition.relation == '>=' else '=='} 0)"
    word = " and " if isinstance(condition, And) else " or "
    parts = [condition_text(p, atom_text) for p in condition.parts]
    return f"({word.join(parts)})" if parts else ("1" if isinstance(condition, And) else "0")


@dataclass(frozen=True, slots=True)
class Range:
    """`[low, high)` covers every value of an atom; `count` is high - low. Size expressions, simplified by isl."""

    low: str
    high: str
    count: str


def value_range(space: Space, atom: str, condition: Condition, local: tuple[str, ...], atom_text: AtomText) -> Range:
    """The range of one atom over a condition (empty if there is no value). Raises `NotExpressible` if it is not bounded."""
    with space.budget():
        points = space.set((atom,), condition, local)
        if points.is_empty():
            return Range("0", "0", "0")
        for bounded in (points.dim_has_upper_bound, points.dim_has_lower_bound):
            if not bounded(isl.dim_type.set, 0):
                raise NotExpressible(atom)
        params = points.params().coalesce()
        low = points.dim_min(0).coalesce().gist(params)
        high = plus(points.dim_max(0), 1).coalesce().gist(params)
        count = high.sub(low).coalesce().gist(params)
        return Range(*(pw_aff_text(value, space, atom_text) for value in (low, high, count)))


def plus(value: Any, number: int) -> Any:
    """A piecewise affine function and a constant."""
    space = isl.LocalSpace.from_space(value.domain().get_space())
    constant = isl.Aff.zero_on_domain(space).set_constant_val(isl.Val.int_from_si(value.get_ctx(), number))
    return value.add(isl.PwAff.from_aff(constant))


def pw_aff_text(value: Any, space: Space, atom_text: AtomText) -> str:
    """A piecewise quasi-affine function of parameters as a size expression, simplified on its own domain."""
    with space.budget():
        build = isl.AstBuild.from_context(value.domain().params())
        return AstText(space, atom_text).text(build.expr_from_pw_aff(value))


def set_text(params: Any, space: Space, atom_text: AtomText) -> str:
    """A set of parameters as a size expression that is non-zero on it."""
    with space.budget():
        params = params.coalesce().gist(_known(params, space)).coalesce()
        universe = isl.Set.universe(params.get_space())
        if params.is_equal(universe):
            return "1"
        build = isl.AstBuild.from_context(universe)
        return AstText(space, atom_text).text(build.expr_from_set(params))


def _known(params: Any, space: Space) -> Any:
    """What holds for the parameters of a set anyway: what derived ones are."""
    names = [params.get_dim_name(isl.dim_type.param, k) for k in range(params.dim(isl.dim_type.param))]
    return (
        Space(space.atoms, context=space.context, names=space.names)
        .set((), And(tuple(space.definitions(space.names[n] for n in names))))
        .params()
    )


_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "//", "fdiv_q": "//", "pdiv_q": "//", "pdiv_r": "%", "zdiv_r": "%",
    "eq": "==", "le": "<=", "lt": "<", "ge": ">=", "gt": ">",
    "and_": "and", "and_then": "and", "or_": "or", "or_else": "or",
}  # fmt: skip


class AstText:
    """Prints isl AST expressions in the grammar of `size`."""

    def __init__(self, space: Space, atom_text: AtomText) -> None:
        self.space, self.atom_text = space, atom_text
        self.names = space.names

    def text(self, expr: Any) -> str:
        kind = expr.get_type()
        if kind == isl.ast_expr_type.int:
            return str(expr.get_val().to_python())
        if kind == isl.ast_expr_type.id:
            return param_text(self.names[expr.get_id().get_name()], self.space, self.atom_text)
        args = [expr.get_op_arg(i) for i in range(expr.get_op_n_arg())]
        return self.operation(expr.get_op_type(), args)

    def operand(self, expr: Any) -> str:
        text = self.text(expr)
        atomic = text.replace("_", "").isalnum() or (text.startswith("(") and text.endswith(")") and text.count("(") == 1)
        return text if atomic else f"({text})"

    def operation(self, op: Any, args: list[Any]) -> str:
        t = isl.ast_expr_op_type
        infix = {getattr(t, name): symbol for name, symbol in _INFIX.items()}
        if op in infix:
            return f" {infix[op]} ".join(self.operand(a) for a in args)
        if op in (t.max, t.min):
            return f"{'max' if op == t.max else 'min'}({', '.join(self.text(a) for a in args)})"
        if op == t.minus:
            return f"-{self.operand(args[0])}"
        if op in (t.cond, t.select):
            return f"{self.operand(args[1])} if {self.operand(args[0])} else {self.operand(args[2])}"
        raise NotExpressible(str(op))
