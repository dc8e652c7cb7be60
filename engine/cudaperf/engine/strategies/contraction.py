"""`contraction`: C(i,j) (op)= sum over k of f(A(i,k)) * g(B(k,j)), found in a nest whatever its loop order and layout.

Recognised shapes of the body, for parallel loops over i and j (and one more, a batch):
- `C[..] += a * b` under the loop over k, inside or outside the loop over j;
- `C[..] = init; for k: C[..] += a * b;`
- `acc = init; for k: acc += a * b; C[..] = expression of acc;`
The kernels are in `kernels.contraction`; which tile is best depends on sizes and device, so several are offered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.bounds import NotExpressible
from cudaperf.engine.loops.conversions import strip_implicit
from cudaperf.engine.loops.nest import BandLoop, LoopNest, NotApplicable, inner_bounds
from cudaperf.engine.loops.poly import ONE
from cudaperf.engine.schedule import NestSchedule
from cudaperf.engine.schedule import parse as parse_schedule
from cudaperf.engine.strategies.access import moves
from cudaperf.engine.strategies.kernel import Signature, Source, operand, shifted
from cudaperf.engine.strategies.kernels.contraction import Contraction, Operand, Output, Tiling, contraction, tiling, tilings
from cudaperf.engine.strategies.kernels.kernel import SIZES, Access, ConfigurationError, Parameter
from cudaperf.engine.strategies.offer import Offer

NAME = "contraction"
_UNITS = {
    "fma": "registers",
    "mma": "fp64 tensor cores",
    "mma16": "fp64 tensor cores",
    "tf32x3": "tf32 tensor cores, each float as the sum of two tf32 values",
}
Text = Callable[..., str]


@dataclass(frozen=True, slots=True)
class Product:
    """What was found: the target, the two loads with the factors around them, the loop over k, how results are stored."""

    target: ir.Load
    k: ir.For
    first: tuple[ir.Load, ir.Expr]
    second: tuple[ir.Load, ir.Expr]
    scale: tuple[ir.Expr, ...]
    negative: bool
    accumulator: str | None
    initial: ir.Expr | None
    stored: ir.Expr | None
    store_op: str | None
    type: ir.Scalar


def offers(nest: LoopNest, source: Source, wanted: NestSchedule | None = None) -> list[Offer] | NotApplicable:
    """One offer a tiling."""
    try:
        product = match(nest)
        problem = _Builder(nest, source, product).problem()
        shapes = [tiling(wanted)] if wanted is not None else tilings(_type_name(product.type), source.architecture)
        return [_offer(nest, problem, shape, product, 0.3 + 0.02 * rank) for rank, shape in enumerate(shapes)]
    except _No as no:
        return NotApplicable(str(no))
    except ConfigurationError as error:
        fitting = tilings(_type_name(product.type), source.architecture)
        return NotApplicable(f"{error}; write one of: {'; '.join(contraction(problem, s).schedule for s in fitting)}")


class _No(Exception):
    """Why the nest is not a contraction."""


def _type_name(kind: ir.Scalar) -> str:
    return kind.name


def _offer(nest: LoopNest, problem: Contraction, shape: Tiling, product: Product, cost: float) -> Offer:
    made = contraction(problem, shape)
    unit = _UNITS[shape.unit]
    account = f"The sum over {product.k.var} is computed in {shape.i} x {shape.j} tiles through shared memory and {unit}."
    schedule = parse_schedule(made.schedule).nests[0]
    return Offer(
        schedule,
        tuple(k.text for k in made.kernels),
        made.steps(),
        account,
        cost,
        made.temporaries,
        made.deterministic,
        max(k.architecture for k in made.kernels),
    )


# --- recognition -------------------------------------------------------------------------------------------------------


def match(nest: LoopNest) -> Product:
    """Raises `_No` with the reason where the nest is something else."""
    if not 2 <= len(nest.threads) <= 3:
        raise _No("a contraction has two parallel loops (three with a batch)")
    if nest.guards or nest.inputs or nest.prologue or any(loop.before for loop in nest.band):
        raise _No("the nest depends on scalars computed before it")
    others = [loop for loop in nest.band if not loop.parallel]
    body = list(nest.body)
    if others:
        if len(others) != 1 or len(body) != 1:
            raise _No("more than one loop accumulates")
        return _in_place(others[0].node, body[0], None)
    loops = [i for i, s in enumerate(body) if isinstance(s, ir.For)]
    if len(loops) != 1:
        raise _No("the body has no single loop that accumulates")
    at = loops[0]
    k = body[at]
    assert isinstance(k, ir.For)
    inner = k.body.statements
    if len(inner) == 1 and isinstance(inner[0], ir.Block):
        inner = inner[0].statements
    if len(inner) != 1:
        raise _No("the inner loop does more than accumulate")
    before, after = body[:at], body[at + 1 :]
    update = inner[0]
    if isinstance(update, ir.Assign) and isinstance(update.target, ir.Name):
        return _through_scalar(k, update, before, after)
    if after or len(before) > 1:
        raise _No("the body does more than accumulate")
    initial: ir.Expr | None = None
    if before:
        start = before[0]
        if not isinstance(start, ir.Assign) or not isinstance(update, ir.Assign) or start.target != update.target:
            raise _No("the body does more than accumulate")
        if start.op is not None:
            if start.op != "*":
                raise _No("the target is changed before the sum in a way that is not scaling")
            initial = ir.Binary(op="*", left=start.target, right=start.value, type=_scalar(start.target.type))
        else:
            initial = start.value
        return _in_place(k, update, initial)
    return _in_place(k, update, None)


def _in_place(k: ir.For, update: ir.Stmt, initial: ir.Expr | None) -> Product:
    if not isinstance(update, ir.Assign) or not isinstance(update.target, ir.Load):
        raise _No("the loop does not accumulate into an array element")
    value, negative = _added(update)
    first, second, scale = _factors(value)
    return Product(update.target, k, first, second, scale, negative, None, initial, None, None, _scalar(update.target.type))


def _through_scalar(k: ir.For, update: ir.Assign, before: Sequence[ir.Stmt], after: Sequence[ir.Stmt]) -> Product:
    assert isinstance(update.target, ir.Name)
    name = update.target.id
    if len(before) != 1 or len(after) != 1:
        raise _No("the body does more than accumulate")
    start, store = before[0], after[0]
    if isinstance(start, ir.Decl) and start.name == name and isinstance(start.init, ir.Node):
        initial: ir.Expr = start.init
    elif isinstance(start, ir.Assign) and start.target == update.target and start.op is None:
        initial = start.value
    else:
        raise _No("the accumulator is not set just before the loop")
    if not isinstance(store, ir.Assign) or not isinstance(store.target, ir.Load):
        raise _No("the sum is not stored in an array")
    value, negative = _added(update)
    first, second, scale = _factors(value)
    kind = _scalar(update.target.type)
    return Product(store.target, k, first, second, scale, negative, name, initial, store.value, store.op, kind)


def _scalar(kind: ir.Type) -> ir.Scalar:
    if not isinstance(kind, ir.Scalar) or kind.name not in SIZES:
        raise _No(f"elements of type {kind.name} have no contraction kernel")
    return kind


def _added(update: ir.Assign) -> tuple[ir.Expr, bool]:
    """(the term that is added, whether it is subtracted)."""
    if update.op in ("+", "-"):
        return update.value, update.op == "-"
    value = strip_implicit(update.value)
    if update.op is None and isinstance(value, ir.Binary) and value.op in ("+", "-"):
        if strip_implicit(value.left) == update.target:
            return value.right, value.op == "-"
        if value.op == "+" and strip_implicit(value.right) == update.target:
            return value.left, False
    raise _No("the inner statement is not a sum")


def _factors(value: ir.Expr) -> tuple[tuple[ir.Load, ir.Expr], tuple[ir.Load, ir.Expr], tuple[ir.Expr, ...]]:
    """The two factors that load memory, each with its load, and the factors that do not."""
    parts = _multiplied(value)
    loading = [(p, [n for n in ir.walk(p) if isinstance(n, ir.Load)]) for p in parts]
    memory = [(loads[0], part) for part, loads in loading if len(loads) == 1]
    if len(memory) != 2 or any(len(loads) > 1 for _, loads in loading):
        raise _No("the summed term is not a product of two loaded factors")
    return memory[0], memory[1], tuple(p for p, loads in loading if not loads)


def _multiplied(node: ir.Expr) -> list[ir.Expr]:
    inner = strip_implicit(node)
    if isinstance(inner, ir.Binary) and inner.op == "*":
        return [*_multiplied(inner.left), *_multiplied(inner.right)]
    return [node]


# --- construction ------------------------------------------------------------------------------------------------------


class _Builder:
    """Turns a matched nest into the kernels' configuration."""

    def __init__(self, nest: LoopNest, source: Source, product: Product) -> None:
        self.nest, self.source, self.product = nest, source, product
        self.signature = Signature(source)
        self.k_loop = nest.model.loops[id(product.k)]
        self.i, self.j, self.batch = self.roles()

    def roles(self) -> tuple[BandLoop, BandLoop, BandLoop | None]:
        """Which parallel loop is whose: i moves the first factor, j the second, a batch both."""
        both: list[BandLoop] = []
        only_first: list[BandLoop] = []
        only_second: list[BandLoop] = []
        for loop in self.nest.threads:
            a, b = (self.moves(load, loop.facts.var.atom) for load, _ in (self.product.first, self.product.second))
            (both if a and b else only_first if a else only_second if b else both).append(loop)
        if len(only_first) != 1 or len(only_second) != 1 or len(both) > 1:
            raise _No("the factors do not share the loops as those of a product do")
        if not all(self.moves(load, self.k_loop.atom) for load, _ in (self.product.first, self.product.second)):
            raise _No("a factor does not depend on the summed index")
        return only_first[0], only_second[0], both[0] if both else None

    def moves(self, load: ir.Load, atom: str) -> bool:
        return moves(self.nest, load, atom) is not None

    def problem(self) -> Contraction:
        nest, product = self.nest, self.product
        if self.k_loop.step != 1 or any(loop.step != 1 for loop in nest.threads):
            raise _No("a loop's step is not one")
        if self.batch is not None and not self.batch.tight:
            raise _No("the batch's bounds depend on other loops")
        for name in nest.parameters:
            self.signature.scalar(name, nest.types[name])
        for name in self.source.arrays:
            if name in nest.reads | nest.writes:
                self.signature.array(name, const=name not in nest.writes, flat=True)
        for name in nest.outer:
            self.signature.integer(name, name)
        k_low, k_count, guards = self.k_bounds()
        a = self.operand(product.first, self.i, self.k_loop.atom, True, k_low, guards)
        b = self.operand(product.second, self.j, self.k_loop.atom, False, k_low, guards)
        parameters = tuple(Parameter(d, arg) for d, arg in zip(self.signature.parameters, self.signature.args, strict=True))
        return Contraction(
            name=nest.name,
            type=product.type.name,
            a=a,
            b=b,
            c=self.output(),
            m=_count(self.i),
            n=_count(self.j),
            k=f"max(0, {k_count})",
            parameters=parameters,
            batches=_count(self.batch) if self.batch else None,
        )

    def k_bounds(self) -> tuple[str, str, dict[str, Text]]:
        """(low, count, guards by the loop that the bounds depend on) of the sum."""
        band = next((b for b in self.nest.band if b.node is self.product.k), None)
        if band is not None and band.tight:
            return band.low, band.range.count, {}
        try:
            found, depends = inner_bounds(self.nest, self.product.k)
        except NotExpressible:
            raise _No("how many terms are summed depends on data") from None
        if not depends:
            return found.low, found.count, {}
        if len(depends) > 1:
            raise _No("how many terms are summed depends on both indices")
        return found.low, found.count, {next(iter(depends)): self.k_guard()}

    def k_guard(self) -> Text:
        node = self.product.k
        relation = node.relation if node.relation != "!=" else "<"

        def guard(row: str, k: str) -> str:
            names = {self.i.var: row, self.j.var: row, node.var: k}
            lower = self.text(node.lower, names)
            return f"{k} >= {operand(lower)} && {k} {relation} {operand(self.text(node.bound, names))}"

        return guard

    def operand(
        self, factor: tuple[ir.Load, ir.Expr], own: BandLoop, k: str, first: bool, k_low: str, guards: dict[str, Text]
    ) -> Operand:
        load, expression = factor
        node = self.product.k

        def at(row: str, depth: str) -> dict[str, str]:
            return {own.var: self.shifted(own, row), node.var: _shift(k_low, depth), **self.batch_name()}

        def index(x: str, y: str) -> str:
            row, depth = (x, y) if first else (y, x)
            return self.flat(load, at(row, depth))

        unit_k = moves(self.nest, load, k) == ONE
        along_k: str = "second" if first else "first"
        other: str = "first" if first else "second"
        guard = guards.get(own.var)

        def guarded(x: str, y: str) -> str:
            assert guard is not None
            row, depth = (x, y) if first else (y, x)
            return guard(self.shifted(own, row), _shift(k_low, depth))

        scaled = first and (self.product.scale or strip_implicit(expression) is not load)
        plain = strip_implicit(expression) is load or expression is load
        transform = None if plain and not scaled else self.transform(load, expression, first)
        return Operand(
            access=Access(load.array, index),
            type=_scalar(load.type).name if isinstance(load.type, ir.Scalar) else "double",
            contiguous=along_k if unit_k else other,  # type: ignore[arg-type]
            transform=transform,
            guard=guarded if guard is not None else None,
        )

    def transform(self, load: ir.Load, expression: ir.Expr, first: bool) -> Callable[[str], str]:
        names = {n.id for n in ir.walk(expression) if isinstance(n, ir.Name)} - self.indices_of(load)
        scale = self.product.scale if first else ()
        names |= {n.id for s in scale for n in ir.walk(s) if isinstance(n, ir.Name)}
        if names & {loop.var for loop in self.nest.band} | names & {self.product.k.var}:
            raise _No("a factor depends on an index outside its subscript")
        printer = self.source.printer(lambda n: "cp_element" if n is load else None)
        text = printer.expr(expression)
        scales = [self.source.printer().expr(s) for s in scale]

        def apply(element: str) -> str:
            inner = text.replace("cp_element", element)
            return " * ".join([*(operand(s) for s in scales), operand(inner)])

        return apply

    @staticmethod
    def indices_of(load: ir.Load) -> set[str]:
        return {n.id for index in load.indices for n in ir.walk(index) if isinstance(n, ir.Name)}

    def output(self) -> Output:
        product = self.product
        target = product.target
        i, j = self.i, self.j

        def names(x: str, y: str) -> dict[str, str]:
            return {i.var: self.shifted(i, x), j.var: self.shifted(j, y), **self.batch_name()}

        guard = None
        loose = [loop for loop in (i, j) if not loop.tight]
        if loose:

            def guard(x: str, y: str) -> str:
                parts = []
                for loop in loose:
                    at = names(x, y)
                    relation = loop.node.relation if loop.node.relation != "!=" else "<"
                    parts.append(f"{at[loop.var]} >= {operand(self.text(loop.node.lower, at))}")
                    parts.append(f"{at[loop.var]} {relation} {operand(self.text(loop.node.bound, at))}")
                return " && ".join(parts)

        unit_j = moves(self.nest, target, j.facts.var.atom) == ONE
        return Output(
            access=Access(target.array, lambda x, y: self.flat(target, names(x, y))),
            type=_scalar(target.type).name,
            epilogue=self.epilogue(),
            contiguous="second" if unit_j else "first",
            guard=guard,
        )

    def epilogue(self) -> Callable[[str, str], str]:
        """What is stored, from the sum of products and the old element."""
        product = self.product

        def total(acc: str, old: str) -> str:
            sign = "-" if product.negative else "+"
            if product.accumulator is None and product.initial is None:
                return f"{old} {sign} {acc}"
            start = self.scalar_text(product.initial, {}, old) if product.initial is not None else "0"
            if start in ("0", "0.0", "0.0f", "0.f", "0."):
                return acc if sign == "+" else f"-{acc}"
            return f"{operand(start)} {sign} {acc}"

        if product.accumulator is None:
            self.scalar_text(product.initial, {}, "old")
            return total
        self.scalar_text(product.stored, {product.accumulator: "acc"}, "old")

        def stored(acc: str, old: str) -> str:
            assert product.stored is not None
            assert product.accumulator is not None
            text = self.scalar_text(product.stored, {product.accumulator: f"({total(acc, old)})"}, old)
            return text if product.store_op is None else f"{old} {product.store_op} ({text})"

        return stored

    def scalar_text(self, node: ir.Expr | None, names: dict[str, str], old: str) -> str:
        """An expression of arguments, the accumulator and the old element."""
        if node is None:
            return "0"
        loops = {loop.var for loop in self.nest.band} | {self.product.k.var}
        for n in ir.walk(node):
            if isinstance(n, ir.Load) and n != self.product.target:
                raise _No("what is stored depends on other memory")
            if isinstance(n, ir.Name) and n.id in loops and not _inside(n, node, self.product.target):
                raise _No("what is stored depends on an index")

        def rewrite(n: ir.Node) -> str | None:
            if isinstance(n, ir.Load) and n == self.product.target:
                return old
            return names.get(n.id) if isinstance(n, ir.Name) else None

        return self.source.printer(rewrite).expr(node)

    # --- texts ---------------------------------------------------------------------------------------------------------

    def shifted(self, loop: BandLoop, index: str) -> str:
        return shifted(loop, index)

    def batch_name(self) -> dict[str, str]:
        return {self.batch.var: shifted(self.batch, "cp_batch")} if self.batch else {}

    def text(self, node: ir.Expr, names: dict[str, str]) -> str:
        return self.source.printer(lambda n: names.get(n.id) if isinstance(n, ir.Name) else None).expr(node)

    def flat(self, load: ir.Load, names: dict[str, str]) -> str:
        if load.path:
            raise _No("a factor is a member of a struct")
        printer = self.source.printer(lambda n: names.get(n.id) if isinstance(n, ir.Name) else None)
        if len(load.indices) == 1:
            return printer.expr(load.indices[0])
        return self.source.flat_index(load.array, load.indices, printer)


def _inside(name: ir.Node, root: ir.Node, target: ir.Load) -> bool:
    return any(n is name for t in ir.walk(root) if isinstance(t, ir.Load) and t == target for n in ir.walk(t))


def _shift(low: str, index: str) -> str:
    if low == "0":
        return index
    if not low.lstrip("-").isdigit():
        raise _No("a loop does not start at a constant")
    return f"({index} + {low})"


def _count(loop: BandLoop) -> str:
    return f"max(0, {loop.range.count})"
