"""From C expressions to polynomials and conditions, under the current values of integer scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.conversions import preserves, strip_implicit
from cudaperf.engine.loops.poly import (
    ONE,
    TRUE,
    And,
    Atoms,
    Compare,
    Condition,
    Derived,
    Or,
    Poly,
    compare,
    condition_atoms,
    negate,
    rename_condition,
)
from cudaperf.engine.loops.quotients import divided, left_over
from cudaperf.engine.loops.wrapping import compared


@dataclass(slots=True)
class Environment:
    """The polynomial value of every integer scalar at the current point of the walk."""

    atoms: Atoms
    values: dict[str, Poly] = field(default_factory=dict)
    iterators: set[str] = field(default_factory=set)
    natural: set[str] = field(default_factory=set)  # iterators and loaded values that are never negative
    helpers: dict[str, ir.Function] = field(default_factory=dict)
    constant: frozenset[str] = frozenset()  # arrays that the function never writes: one place has one value
    loads: dict[tuple[str, tuple[Poly, ...]], Poly] = field(default_factory=dict)

    def varies(self, atom: str) -> bool:
        """Iterators and opaque atoms differ between instances; parameters do not."""
        return atom in self.atoms.conditions or atom in self.iterators

    def nonnegative(self, poly: Poly) -> bool:
        """No negative term; parameters are taken to be sizes, whatever varies must be known to be zero or above."""
        return all(c >= 0 for _, c in poly.terms) and not any(self.varies(a) and a not in self.natural for a in poly.atoms)

    def natural_alone(self, poly: Poly) -> bool:
        """No negative term, and nothing that could be negative, as a parameter that is no size (a shift, say) could."""
        return all(c >= 0 for _, c in poly.terms) and poly.atoms <= self.natural

    def snapshot(self) -> dict[str, Poly]:
        return dict(self.values)

    def restore(self, values: dict[str, Poly]) -> None:
        self.values = dict(values)

    def declare(self, node: ir.Decl) -> None:
        if not node.dims and isinstance(node.type, ir.Scalar) and node.type.kind == "int":
            known = node.init is not None and not isinstance(node.init, tuple)
            self.values[node.name] = to_poly(node.init, self) if known else self.atoms.fresh()  # type: ignore[arg-type]

    def assign(self, node: ir.Assign) -> None:
        target = node.target
        if not isinstance(target, ir.Name) or not isinstance(target.type, ir.Scalar) or target.type.kind != "int":
            return
        value = node.value if node.op is None else ir.Binary(node.op, target, node.value, target.type)
        self.values[target.id] = narrowed(to_poly(value, self), _scalar(value), target.type, self)

    def kill(self, names: Iterable[str]) -> None:
        for name in names:
            self.forget(name)

    def forget(self, name: str) -> None:
        if name in self.values:
            self.values[name] = self.atoms.fresh()

    def enter_loop(
        self,
        body: ir.Block,
        iterator: Poly,
        lower: Poly,
        step: int | None,
        trip: Poly | None,
        bounds: Condition = TRUE,
    ) -> dict[str, Poly]:
        """Set every scalar that the body changes to its value at the start of an iteration.

        A scalar whose net change an iteration is a constant polynomial is a counter: start + change * (iteration number).
        One that is only set to functions of the iterator (`best = i`) has its old value or one of those. Returns the values
        after the loop where they are known (for `leave_loop`). `bounds` is the loop's condition on its iterator.
        """
        after: dict[str, Poly] = {}
        names = sorted(_changed(body) & self.values.keys())
        changes = self.changes(body, names)
        for name in names:
            start, change = self.values[name], changes[name]
            number = None
            if step in (1, -1):
                number = (iterator - lower).scale(step or 1)
            if change is not None and number is not None:
                self.values[name] = start + change * number
                if trip is not None:
                    ran, not_run = compare(trip, ">=", Poly()), compare(trip, "<", Poly())
                    whole = start + change * trip
                    after[name] = whole if trip.is_constant else chosen(whole, start, ran, not_run, self)
            else:
                self.values[name] = after[name] = self.one_of(body, name, start, iterator, bounds)
        return after

    def changes(self, body: ir.Block, names: Sequence[str]) -> dict[str, Poly | None]:
        """What one pass over the body adds to each scalar; all of them (and what the body declares) are unknown meanwhile."""
        before = self.snapshot()
        inner = {n.name for n in ir.walk(body) if isinstance(n, ir.Decl)}
        for name in (*names, *sorted(inner & before.keys())):
            self.values[name] = self.atoms.fresh()
        found = {name: net_change(body, name, self) for name in names}
        self.restore(before)
        return found

    def one_of(self, body: ir.Block, name: str, start: Poly, iterator: Poly, bounds: Condition) -> Poly:
        """The start value, or what some iteration assigned; anything where an assignment is not a function of the iterator."""
        choices: list[tuple[Condition, Poly]] = []
        changed = _changed(body)
        for node in ir.walk(body):
            if not isinstance(node, ir.Assign) or not isinstance(node.target, ir.Name) or node.target.id != name:
                continue
            used = {n.id for n in ir.walk(node.value) if isinstance(n, ir.Name)}
            if node.op is not None or used & changed or not used <= self.values.keys() | self.current(iterator):
                return self.atoms.fresh()
            value = self.with_iterator(iterator, node.value)
            if any(a in self.atoms.conditions for a in value.atoms):
                return self.atoms.fresh()
            earlier = self.atoms.fresh()
            rename = {a: next(iter(earlier.atoms)) for a in iterator.atoms}
            choices.append((rename_condition(bounds, rename), value.rename(rename)))
        return self.atoms.fresh(
            lambda v: Or((Compare(v - start, "="), *(And((where, Compare(v - value, "="))) for where, value in choices)))
        )

    def current(self, iterator: Poly) -> set[str]:
        """Names whose value is the iterator of the loop being entered."""
        return {a.split(".")[0] for a in iterator.atoms}

    def with_iterator(self, iterator: Poly, node: ir.Expr) -> Poly:
        names = self.current(iterator)
        saved = {n: self.values.get(n) for n in names}
        for name in names:
            self.values[name] = iterator
        value = to_poly(node, self)
        for name, old in saved.items():
            if old is None:
                del self.values[name]
            else:
                self.values[name] = old
        return value

    def leave_loop(self, body: ir.Block, after: dict[str, Poly]) -> None:
        for name in _changed(body):
            if name in after:
                self.values[name] = after[name]
            else:
                self.forget(name)

    def merge(self, then_values: dict[str, Poly], when_true: Condition, when_false: Condition) -> None:
        """Join the values after the branches (current values are the else branch's)."""
        for name in list(self.values):
            a, b = then_values.get(name), self.values[name]
            if a is None or a == b:
                continue
            self.values[name] = chosen(a, b, when_true, when_false, self)


def chosen(a: Poly, b: Poly, when_true: Condition, when_false: Condition, env: Environment) -> Poly:
    """`a` where the first condition holds, `b` where the second does; a parameter where all of it is made of parameters."""
    atoms = a.atoms | b.atoms | condition_atoms(when_true)
    if when_true != TRUE and negate(when_true) == when_false and not any(env.varies(x) for x in atoms):
        make = _choice(a, b, when_true, when_false)
        return env.atoms.derive(lambda v: Derived(make(v), a, 1, when_true, b))
    return env.atoms.fresh(_choice(a, b, when_true, when_false), exact=True)


def _choice(a: Poly, b: Poly, when_true: Condition, when_false: Condition) -> Callable[[Poly], Condition]:
    return lambda v: Or((And((when_true, Compare(v - a, "="))), And((when_false, Compare(v - b, "=")))))


def _changed(body: ir.Node) -> frozenset[str]:
    inner = frozenset(n.name for n in ir.walk(body) if isinstance(n, ir.Decl))
    return (
        frozenset(n.target.id for n in ir.walk(body) if isinstance(n, ir.Assign) and isinstance(n.target, ir.Name))
        | frozenset(n.var for n in ir.walk(body) if isinstance(n, ir.For) and not n.declared) - inner
    )


def net_change(body: ir.Block, name: str, env: Environment) -> Poly | None:
    """What one pass over the body adds to the scalar, if that is the same whatever happens; else None."""
    total = Poly()
    for node in body.statements:
        if name not in _changed(ir.Block(statements=(node,))):
            continue
        match node:
            case ir.Assign(target=ir.Name()):
                delta = _increment(node, name, env)
            case ir.Block():
                delta = net_change(node, name, env)
            case ir.For() if node.var != name:
                delta = _loop_change(node, name, env)
            case _:
                delta = None
        if delta is None:
            return None
        total = total + delta
    return total


def _increment(node: ir.Assign, name: str, env: Environment) -> Poly | None:
    """The constant that an assignment adds; None for types in which counting on wraps around soon."""
    if isinstance(node.target.type, ir.Scalar) and node.target.type.bits < 32:
        return None
    if node.op in ("+", "-"):
        delta = to_poly(node.value, env).scale(1 if node.op == "+" else -1)
    elif node.op is None:
        delta = to_poly(node.value, env) - env.values[name]
    else:
        return None
    return delta if is_invariant(delta, env) else None


def _loop_change(node: ir.For, name: str, env: Environment) -> Poly | None:
    inner = net_change(node.body, name, env)
    if inner is None or not inner.is_constant:
        return None
    lower, bound, step = (to_poly(e, env) for e in (node.lower, node.bound, node.step))
    opaque = frozenset(env.atoms.conditions)
    if step != ONE or node.relation not in ("<", "<=") or (lower.atoms | bound.atoms) & opaque:
        return None
    trip = bound - lower + (ONE if node.relation == "<=" else Poly())
    return env.atoms.composite(trip).scale(inner.value)


# --- expressions -------------------------------------------------------------------------------------------------------


def to_poly(node: ir.Expr, env: Environment) -> Poly:
    """The value of an integer expression; what is not polynomial becomes a fresh opaque atom."""
    match node:
        case ir.IntConst():
            return Poly.constant(node.value)
        case ir.Name() if node.id in env.values:
            return env.values[node.id]
        case ir.Unary(op="-") if node.type.signed:
            return -to_poly(node.operand, env)
        case ir.Unary(op="+"):
            return to_poly(node.operand, env)
        case ir.Unary(op="!"):
            return truth(node, env)
        case ir.Cast() if node.type.kind == "int" and _is_int(node.operand):
            return narrowed(to_poly(node.operand, env), _scalar(node.operand), node.type, env)
        case ir.Binary(op="*" | "<<") if _mixes(node):
            return _of_range(node.type, env)
        case ir.Binary():
            return _binary(node, env)
        case ir.Select():
            when_true, when_false = split(node.condition, env)
            a, b = to_poly(node.then, env), to_poly(node.other, env)
            return a if a == b else chosen(a, b, when_true, when_false, env)
        case ir.Load() if isinstance(node.type, ir.Scalar) and node.type.kind == "int":
            return _loaded(node, node.type, env)
        case ir.Call() if node.name in env.helpers and _is_int(node):
            return _called(env.helpers[node.name], node.args, env)
        case ir.Call(name="abs" | "labs", args=(operand,)):
            value = to_poly(operand, env)
            return env.atoms.fresh(lambda v: And((Compare(v - value, ">="), Compare(v + value, ">="))))
        case _:
            return env.atoms.fresh()


def _loaded(node: ir.Load, kind: ir.Scalar, env: Environment) -> Poly:
    """What an element holds; the same atom for the same element of an array that nothing writes."""
    key = (node.array, tuple(to_poly(i, env) for i in node.indices))
    known = env.loads.get(key) if node.array in env.constant and not node.path else None
    if known is not None:
        return known
    loaded = env.atoms.fresh(_range_of(kind), array=node.array)
    if not kind.signed:
        env.natural |= loaded.atoms
    if not node.path:
        env.loads[key] = loaded
    return loaded


def _called(helper: ir.Function, args: Sequence[ir.Expr], env: Environment) -> Poly:
    """What a helper returns, where it computes integers from integers alone."""
    if any(isinstance(n, ir.Load | ir.For | ir.While | ir.Assign) for n in ir.walk(helper.body)):
        return env.atoms.fresh()
    values = {
        p.name: narrowed(to_poly(arg, env), _scalar(arg), p.type, env)
        for p, arg in zip(helper.parameters, args, strict=False)
        if isinstance(p.type, ir.Scalar) and p.type.kind == "int" and not p.is_array
    }
    others = {name: h for name, h in env.helpers.items() if name != helper.name}
    inner = Environment(env.atoms, values, env.iterators, env.natural, others)
    found = _returned(helper.body.statements, inner)
    return env.atoms.fresh() if found is None else found


def _returned(statements: Sequence[ir.Stmt], env: Environment) -> Poly | None:
    """The value that these statements return; None where they are more than tests and returns."""
    for number, node in enumerate(statements):
        match node:
            case ir.Decl():
                env.declare(node)
            case ir.Return(value=value) if value is not None:
                return to_poly(value, env)
            case ir.If():
                when_true, when_false = split(node.condition, env)
                rest = node.other.statements if node.other is not None else statements[number + 1 :]
                a, b = _returned(node.then.statements, env), _returned(rest, env)
                return None if a is None or b is None else chosen(a, b, when_true, when_false, env)
            case _:
                return None
    return None


def _is_int(node: ir.Expr) -> bool:
    kind = getattr(node, "type", None)
    return isinstance(kind, ir.Scalar) and kind.kind == "int"


def _scalar(node: ir.Expr) -> ir.Scalar | None:
    kind = node.type
    return kind if isinstance(kind, ir.Scalar) else None


def narrowed(value: Poly, source: ir.Scalar | None, target: ir.Scalar, env: Environment) -> Poly:
    """A value converted to a type below 32 bits keeps its low bits (wider types are taken to hold what they are given)."""
    if target.bits >= 32 or source is None or preserves(source, target) or _fits(value, target):
        return value
    if target.name == "_Bool":
        when_true, when_false = compare(value, "!=", Poly()), compare(value, "==", Poly())
        return env.atoms.fresh(_choice(ONE, Poly(), when_true, when_false), exact=True)
    return _of_range(target, env) if target.signed else _mask(value, (1 << target.bits) - 1, env)


def _of_range(kind: ir.Scalar, env: Environment) -> Poly:
    """Any value of a type."""
    return _within(_range_of(kind), env)


def _fits(value: Poly, target: ir.Scalar) -> bool:
    low = -(1 << target.bits - 1) if target.signed else 0
    return value.is_constant and low <= value.value < low + (1 << target.bits)


def _mixes(node: ir.Binary) -> bool:
    """A product or shift of unsigned integers that is meant to wrap around: a large constant factor, as in hashes."""
    right, left = strip_implicit(node.right), strip_implicit(node.left)
    if node.type.signed:
        return False
    if node.op == "<<":
        return isinstance(right, ir.IntConst) and right.value >= 16
    return any(isinstance(side, ir.IntConst) and abs(side.value) >= 1 << 16 for side in (left, right))


def _range_of(kind: ir.Scalar) -> Callable[[Poly], Condition]:
    """Values of narrow types are bounded by the type, of unsigned ones from below."""
    if kind.bits <= 16:
        low, high = (-(1 << kind.bits - 1), (1 << kind.bits - 1) - 1) if kind.signed else (0, (1 << kind.bits) - 1)
        return lambda v: And((Compare(v - Poly.constant(low), ">="), Compare(Poly.constant(high) - v, ">=")))
    if kind.signed:
        return lambda _: TRUE
    if kind.bits == 32:
        return lambda v: And((Compare(v, ">="), Compare(Poly.constant((1 << 32) - 1) - v, ">=")))
    return lambda v: Compare(v, ">=")


def _binary(node: ir.Binary, env: Environment) -> Poly:
    left, right = to_poly(node.left, env), to_poly(node.right, env)
    match node.op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return _product(left, right, env)
        case "<<" if right.is_constant and 0 <= right.value < 63:
            return left.scale(1 << right.value)
        case ">>" if right.is_constant and 0 <= right.value < 63:
            return env.atoms.floor_division(left, 1 << right.value, is_invariant(left, env))  # rounds down, as >> does
        case "/" if right.is_constant and right.value > 0:
            return _division(left, right.value, env)
        case "/" if is_invariant(left, env) and is_invariant(right, env):
            return divided(left, right, node.type.signed, env.atoms) or env.atoms.fresh()
        case "%" if right.is_constant and right.value > 0:
            quotient = _division(left, right.value, env)
            return left - quotient.scale(right.value)
        case "%":
            return _remainder(left, right, node.type.signed, env)
        case "&" if right.is_constant and right.value >= 0:
            return _mask(left, right.value, env)
        case "&" if left.is_constant and left.value >= 0:
            return _mask(right, left.value, env)
        case "<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||":
            return truth(node, env)
        case _:
            return env.atoms.fresh()


def truth(node: ir.Expr, env: Environment) -> Poly:
    """1 where an expression holds, 0 where it does not."""
    when_true, when_false = split(node, env)
    if when_true == when_false:  # nothing is known of it
        return env.atoms.fresh(lambda v: And((Compare(v, ">="), Compare(ONE - v, ">="))))
    return env.atoms.fresh(_choice(ONE, Poly(), when_true, when_false), exact=True)


def _remainder(left: Poly, right: Poly, signed: bool, env: Environment) -> Poly:
    """C's `left % right`, a parameter where both are made of parameters."""
    known = _remainder_of(left, right, signed, env.natural_alone(left))
    if not (is_invariant(left, env) and is_invariant(right, env)):
        return env.atoms.fresh(known)
    return left_over(left, right, signed, env.atoms, known) or _within(known, env)


def _within(known: Callable[[Poly], Condition], env: Environment) -> Poly:
    """A number that arguments decide, of which no more than bounds is known: an array need not reach as far as they do."""
    found = env.atoms.fresh(known)
    env.atoms.wide |= found.atoms
    return found


def _remainder_of(left: Poly, right: Poly, signed: bool, natural: bool) -> Callable[[Poly], Condition]:
    """What is known of C's `left % right`: it has the sign of left (`natural`: not negative), and is nearer to 0 than both."""

    def known(v: Poly) -> Condition:
        rising, falling = _between(v, left, right), _between(v, left, -right)
        above = Or((rising, falling)) if signed else rising
        if natural or not signed:
            return above
        below = Or((_between(-v, -left, right), _between(-v, -left, -right)))
        return Or((And((Compare(left, ">="), above)), And((Compare(-left - ONE, ">="), below))))

    return known


def _between(v: Poly, left: Poly, right: Poly) -> Condition:
    """0 <= v <= left and v < right."""
    return And((Compare(v, ">="), Compare(left - v, ">="), Compare(right - v - ONE, ">=")))


def _product(left: Poly, right: Poly, env: Environment) -> Poly:
    """Keeps a loop-invariant factor of several terms whole: i*(n+2) is i times one composite parameter."""
    if left.is_constant or right.is_constant:
        return left * right
    if is_invariant(right, env) and not is_invariant(left, env):
        return left * env.atoms.composite(right)
    if is_invariant(left, env) and not is_invariant(right, env):
        return env.atoms.composite(left) * right
    return left * right


def is_invariant(poly: Poly, env: Environment) -> bool:
    return not any(env.varies(a) for a in poly.atoms)


def _division(poly: Poly, divisor: int, env: Environment) -> Poly:
    """C's truncating division: a floor where the dividend is not negative, else whatever rounds towards zero."""
    invariant = is_invariant(poly, env)
    if env.nonnegative(poly) if invariant else env.natural_alone(poly):
        return env.atoms.floor_division(poly, divisor, invariant)
    if all(c % divisor == 0 for _, c in poly.terms):
        return Poly.of({m: c // divisor for m, c in poly.terms})
    if invariant:
        return env.atoms.derive(lambda q: Derived(_truncated(poly, divisor, q), poly, divisor, truncates=True))
    quotient = env.atoms.fresh(lambda q: _truncated(poly, divisor, q))
    env.atoms.quotients |= quotient.atoms
    return quotient


def _truncated(poly: Poly, divisor: int, quotient: Poly) -> Condition:
    rest = poly - quotient.scale(divisor)
    below = Poly.constant(divisor - 1)
    return Or(
        (
            And((Compare(poly, ">="), Compare(rest, ">="), Compare(below - rest, ">="))),
            And((Compare(-poly - ONE, ">="), Compare(-rest, ">="), Compare(rest + below, ">="))),
        )
    )


def _mask(poly: Poly, mask: int, env: Environment) -> Poly:
    if mask & (mask + 1) == 0:
        return poly - env.atoms.floor_division(poly, mask + 1).scale(mask + 1)
    make = env.atoms.fresh if not is_invariant(poly, env) else partial(_within, env=env)
    return make(lambda v: And((Compare(v, ">="), Compare(Poly.constant(mask) - v, ">="))))


# --- conditions --------------------------------------------------------------------------------------------------------


def split(node: ir.Expr, env: Environment) -> tuple[Condition, Condition]:
    """(holds when the expression is true, holds when it is false): supersets both where it is not affine."""
    match node:
        case ir.Unary(op="!"):
            when_true, when_false = split(node.operand, env)
            return when_false, when_true
        case ir.Binary(op="&&"):
            (t1, f1), (t2, f2) = split(node.left, env), split(node.right, env)
            return And((t1, t2)), Or((f1, f2))
        case ir.Binary(op="||"):
            (t1, f1), (t2, f2) = split(node.left, env), split(node.right, env)
            return Or((t1, t2)), And((f1, f2))
        case ir.Binary(op="<" | "<=" | ">" | ">=" | "==" | "!=") if _is_int(node.left) and _is_int(node.right):
            return compared(node, to_poly(node.left, env), to_poly(node.right, env), env.atoms, env.natural)
        case ir.Binary(op="<" | "<=" | ">" | ">=" | "==" | "!="):
            return TRUE, TRUE
        case ir.Cast() if node.type.kind == "int" and _is_int(node.operand):
            return split(node.operand, env)
        case ir.IntConst():
            return (TRUE, Or()) if node.value else (Or(), TRUE)
        case _ if _is_int(node):
            value = to_poly(node, env)
            return compare(value, "!=", Poly()), compare(value, "==", Poly())
        case _:
            return TRUE, TRUE
