"""`scan`: prefix sums, running extremes and linear recurrences, in three launches (see `kernels.scan`).

Directives: `scan(sum) block(256) items(16) blocks(1024)`.
"""

from __future__ import annotations

from dataclasses import dataclass

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.nest import LoopNest, NotApplicable
from cudaperf.engine.loops.scans import ScanPattern
from cudaperf.engine.schedule import NestSchedule
from cudaperf.engine.schedule import parse as parse_schedule
from cudaperf.engine.strategies.kernel import Source, cuda_type, defined, is_zero, operand, signature
from cudaperf.engine.strategies.kernels.kernel import SIZES, ConfigurationError, Parameter
from cudaperf.engine.strategies.kernels.scan import Scan, ScanShape
from cudaperf.engine.strategies.kernels.scan import scan as scan_kernels
from cudaperf.engine.strategies.offer import Offer

NAME = "scan"
SHAPES = (ScanShape(128, 16, 4096), ScanShape(256, 8, 1024), ScanShape(128, 8, 4096))


def offers(nest: LoopNest, source: Source, wanted: NestSchedule | None = None) -> list[Offer] | NotApplicable:
    """One offer a launch shape."""
    pattern = nest.scan
    if pattern is None:
        return NotApplicable("the loop carries no running value that a scan computes")
    kind = cuda_type(pattern.carried.type)
    if kind not in SIZES:
        return NotApplicable(f"there is no scan of elements of type {kind}")
    if nest.guards:
        return NotApplicable("the loop stands under a condition")
    problem = _Texts(nest, source, pattern).problem()
    if isinstance(problem, NotApplicable):
        return problem
    found: list[Offer] = []
    because = "no shape fits"
    for shape in SHAPES:
        try:
            made = scan_kernels(problem, shape)
        except ConfigurationError as error:
            because = str(error)
            continue
        schedule = parse_schedule(made.schedule).nests[0]
        if wanted is not None and str(schedule) != str(wanted):
            continue
        account = "The running value is computed by a scan in three launches; sums are associated differently from the loop."
        kernels = tuple(k.text for k in made.kernels)
        found.append(Offer(schedule, kernels, made.steps(), account, 1.0 + 0.01 * len(found), made.temporaries))
    return found or NotApplicable(because)


@dataclass(slots=True)
class _Texts:
    """The texts of elements and stores, with the loop's variable replaced by the scan's index."""

    nest: LoopNest
    source: Source
    pattern: ScanPattern

    def problem(self) -> Scan | NotApplicable:
        nest, pattern = self.nest, self.pattern
        loop = nest.band[0]
        name = pattern.carried.id if isinstance(pattern.carried, ir.Name) else None
        skip = frozenset({name}) if name else frozenset()
        made = signature(nest, self.source, skip_inputs=skip)
        if made.head or any(not (defined((s,)) <= skip) for s in nest.prologue):
            return NotApplicable("the loop depends on scalars computed before it")
        finish = None
        if name is not None:
            made.pointer(f"{name}_value", cuda_type(pattern.carried.type), name, const=False)
            finish = lambda value: f"*{name}_value = {value};"  # noqa: E731
        if not loop.tight:
            return NotApplicable("the loop's bounds depend on data")
        count = f"max(0, {loop.range.count})"
        parameters = tuple(Parameter(d, a) for d, a in zip(made.parameters, made.args, strict=True))
        return Scan(
            name=nest.name,
            type=cuda_type(pattern.carried.type),
            op=pattern.op,
            element=self.element,
            store=self.store,
            length=count,
            parameters=parameters,
            factor=self.factor if pattern.factor is not None else None,
            initial=self.initial(name),
            exclusive=pattern.exclusive,
            finish=finish,
        )

    def text(self, node: ir.Expr, index: str, names: dict[str, str] | None = None) -> str:
        loop = self.nest.band[0]
        lower = self.source.printer().expr(loop.node.lower)
        at = f"({index})" if is_zero(lower) else f"({operand(lower)} + ({index}))"
        table = {loop.var: at, **(names or {})}
        return self.source.printer(lambda n: table.get(n.id) if isinstance(n, ir.Name) else None).expr(node)

    def element(self, index: str) -> str:
        text = self.text(self.pattern.element, index)
        return f"-({text})" if self.pattern.negative else text

    def factor(self, index: str) -> str:
        assert self.pattern.factor is not None
        return self.text(self.pattern.factor, index)

    def store(self, index: str, value: str) -> str:
        pattern = self.pattern
        if pattern.store is None:
            assert isinstance(pattern.carried, ir.Load)
            return f"{self.text(pattern.carried, index)} = {value};"
        assert isinstance(pattern.carried, ir.Name)
        stored = self.text(pattern.store.value, index, {pattern.carried.id: f"({value})"})
        return f"{self.text(pattern.store.target, index)} = {stored};"

    def initial(self, name: str | None) -> str:
        """The running value before the loop."""
        pattern = self.pattern
        if name is None:
            assert pattern.previous is not None
            return self.text(pattern.previous, "0")
        for statement in reversed(self.nest.prologue):
            value = statement.init if isinstance(statement, ir.Decl) else getattr(statement, "value", None)
            if isinstance(value, ir.Node):
                return self.source.printer().expr(value)  # type: ignore[arg-type]
        return name if name in self.nest.parameters else f"*{name}_value"
