"""`reduction`: scalars reduced over all iterations of a nest, in two deterministic passes.

Each thread runs the user's own statements on accumulators of its own (they keep their names), starting from the operator's
identity; the block's threads are merged by shuffles, the blocks by a second kernel of one block, which also merges in the
value that the scalar had before the loop. Directives: `reduction block(256) blocks(2048)`.

Innermost loop on the threads of a warp, the next outer one over warps and blocks; loops between stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.model import assigned
from cudaperf.engine.loops.nest import BandLoop, LoopNest, NotApplicable
from cudaperf.engine.loops.printer import Printer
from cudaperf.engine.loops.scalars import Reduction
from cudaperf.engine.plan import IntArg, Launch, Temporary
from cudaperf.engine.schedule import Directive, NestSchedule
from cudaperf.engine.strategies.kernel import (
    Signature,
    Source,
    comparand,
    cuda_type,
    defined,
    guarded,
    indent,
    is_zero,
    iterator_type,
    prologue,
    signature,
)
from cudaperf.engine.strategies.kernels import accumulate
from cudaperf.engine.strategies.kernels.accumulate import Accumulator, Reduced
from cudaperf.engine.strategies.kernels.kernel import SIZES, Writer
from cudaperf.engine.strategies.map import condition, own_header
from cudaperf.engine.strategies.offer import Offer

NAME = "reduction"
SHAPES = ((256, 1024), (512, 1024), (256, 4096))
BITWISE = ("&", "|", "^")


def offers(nest: LoopNest, source: Source, wanted: NestSchedule | None = None) -> list[Offer] | NotApplicable:
    """One offer a launch shape."""
    if nest.threads or not nest.reductions:
        return NotApplicable("the nest reduces no scalar over all its loops")
    if nest.array_reductions:
        return NotApplicable(f"the nest also accumulates into the array {nest.array_reductions[0]}")
    problem = _unsuitable(nest)
    if problem is not None:
        return NotApplicable(problem)
    shapes: Sequence[tuple[int, int]] = SHAPES
    if wanted is not None:
        shapes = ((_number(wanted, "block", 256), _number(wanted, "blocks", 1024)),)
        if shapes[0][0] % 32 or not 32 <= shapes[0][0] <= 1024 or not 1 <= shapes[0][1] <= 65535:
            return NotApplicable("block must be 32 to 1024 threads in whole warps, blocks 1 to 65535")
    return [_offer(nest, source, block, blocks, 1.0 + 0.01 * k) for k, (block, blocks) in enumerate(shapes)]


def _number(wanted: NestSchedule, name: str, default: int) -> int:
    directive = wanted.get(name)
    text = directive.args[0][0] if directive and directive.args else ""
    return int(text) if text.isdigit() else default


def _unsuitable(nest: LoopNest) -> str | None:
    for reduction in nest.reductions:
        kind = nest.types[reduction.name]
        if kind.name not in SIZES or (reduction.op in BITWISE and kind.name in ("float", "double")):
            return f"{reduction.name} is of type {kind.name}, which has no reduction kernel"
        if reduction.keyed is not None and reduction.keyed[0].type.name not in SIZES:
            return f"elements of type {reduction.keyed[0].type.name} have no reduction kernel"
        stored = [*reduction.companions, *([reduction.name] if reduction.keyed is not None else [])]
        if any(not _recomputed(nest, _companion_value(reduction, c)) for c in stored):
            return f"the position kept with {reduction.name} is not a function of the loop's indices"
        if positional(reduction) and len(nest.band) > 2:
            return f"the position kept with {reduction.name} is one of more than two loops"
    if nest.array_reductions:
        return "the nest also accumulates into an array"
    return None


def _recomputed(nest: LoopNest, value: ir.Expr | None) -> bool:
    """Whether the last thread can evaluate a position from the iterators and what every thread knows."""
    known = {*nest.parameters, *nest.outer, *nest.inputs} | defined(nest.prologue)
    known = (known - assigned(nest.root)) | {loop.var for loop in nest.band}
    return value is not None and all(n.id in known - results(nest) for n in ir.walk(value) if isinstance(n, ir.Name))


def _companion_value(reduction: Reduction, name: str) -> ir.Expr | None:
    for node in ir.walk(reduction.updates[0]):
        if isinstance(node, ir.Assign) and isinstance(node.target, ir.Name) and node.target.id == name:
            loads = any(isinstance(n, ir.Load | ir.Call) for n in ir.walk(node.value))
            return None if loads else node.value
    return None


# --- accumulators ------------------------------------------------------------------------------------------------------


def accumulators(nest: LoopNest) -> list[Accumulator]:
    """One a reduction; arg-extremes carry their position as an iteration number."""
    made = []
    for reduction in nest.reductions:
        op: accumulate.Op = reduction.op
        if positional(reduction):
            op = "argmax" if op == "max" else "argmin"
        made.append(Accumulator(value_type(nest, reduction), op, lambda *_: "0", ties="first" if reduction.strict else "last"))
    return made


def positional(reduction: Reduction) -> bool:
    """An extreme that is kept with its position, or as its position alone."""
    return bool(reduction.companions) or reduction.keyed is not None


def value_type(nest: LoopNest, reduction: Reduction) -> str:
    """The type that is compared or summed."""
    return cuda_type(reduction.keyed[0].type if reduction.keyed is not None else nest.types[reduction.name])


def value_name(reduction: Reduction, n: int) -> str:
    """The variable that holds a thread's value so far."""
    return f"cp_{n}_value" if reduction.keyed is not None else reduction.name


def identity(reduction: Reduction, kind: str) -> str:
    return accumulate.identity(reduction.op, kind)


# --- kernels -----------------------------------------------------------------------------------------------------------


def _offer(nest: LoopNest, source: Source, block: int, blocks: int, cost: float) -> Offer:
    made = accumulators(nest)
    grid = _grid(nest, block, blocks)
    partial = _partial(nest, source, made, block)
    final = _final(nest, source, made, block)
    buffers = _buffers(nest, made)
    kernels, steps = [], []
    for name, (kernel, body), shape in ((f"{nest.name}_partial", partial, grid), (nest.name, final, "1")):
        for buffer, kind in buffers:
            kernel.pointer(f"cp_p{buffer.removeprefix(nest.name + '_')}", kind, buffer, const=name == nest.name)
        if name == nest.name:
            kernel.parameters.append("int cp_count")
            kernel.args.append(IntArg(value=grid, type="int"))
            for reduction in nest.reductions:
                for scalar in (reduction.name, *reduction.companions):
                    kernel.pointer(f"{scalar}_value", cuda_type(nest.types[scalar]), scalar, const=False)
        kernels.append(kernel.text(name, body, str(block)))
        steps.append(Launch(kernel=name, grid=(shape, "1", "1"), block=(str(block), "1", "1"), args=tuple(kernel.args)))
    names = ", ".join(r.name for r in nest.reductions)
    schedule = NestSchedule(
        (Directive(NAME), Directive("block", ((str(block), None),)), Directive("blocks", ((str(blocks), None),)))
    )
    account = f"The reduction of {names} runs in two passes whose order is fixed, so that reruns are bit-equal."
    temporaries = tuple(Temporary(name=b, type=k, count=str(blocks)) for b, k in buffers)
    return Offer(schedule, tuple(kernels), tuple(steps), account, cost, temporaries)


def _buffers(nest: LoopNest, made: Sequence[Accumulator]) -> list[tuple[str, str]]:
    found = []
    for n, accumulator in enumerate(made):
        found.append((f"{nest.name}_{n}", accumulator.type))
        if accumulator.positional:
            found.append((f"{nest.name}_{n}_at", "long long"))
    return found


def _grid(nest: LoopNest, block: int, blocks: int) -> str:
    """Enough blocks for the outer loop's iterations (one-dimensional nests: eight elements a thread), at least one."""
    first = nest.band[0]
    extent = first.range.count
    per_block = block * 8 if len(nest.band) == 1 else block // 32
    return f"max(1, min(ceildiv({extent}, {per_block * abs(first.step)}), {blocks}))"


def _partial(nest: LoopNest, source: Source, made: Sequence[Accumulator], block: int) -> tuple[Signature, list[str]]:
    printer = _printer(nest, source)
    own = results(nest)
    kernel = signature(nest, source, skip_inputs=own)
    _bases(nest, kernel)
    lines = prologue(nest, printer, skip=own)
    for n, reduction in enumerate(nest.reductions):
        kind = value_type(nest, reduction)
        lines.append(f"{kind} {value_name(reduction, n)} = {identity(reduction, kind)};")
        if positional(reduction):
            lines.append(f"long long cp_{n}_at = -1;")
    lines += guarded(nest, printer, _loops(nest, printer, block))
    write = Writer()
    for n, (reduction, accumulator) in enumerate(zip(nest.reductions, made, strict=True)):
        write(f"{accumulator.type} cp_{n} = {value_name(reduction, n)};")
    accumulate.reduce_block(write, made, block)
    write("if (threadIdx.x == 0) {")
    accumulate.save(write, made, lambda name: f"cp_p{name}[blockIdx.x]")
    write("}")
    return kernel, [*lines, *write.text.splitlines()]


def results(nest: LoopNest) -> frozenset[str]:
    """The scalars that the nest's reductions set."""
    return frozenset(r.name for r in nest.reductions) | frozenset(c for r in nest.reductions for c in r.companions)


def _loops(nest: LoopNest, printer: Printer, block: int) -> list[str]:
    """The band with its innermost loop strided over threads; one-dimensional nests stride over the whole grid."""
    inner = [line for s in nest.body for line in printer.statement(s)]
    last = len(nest.band) - 1
    for depth in range(last, -1, -1):
        loop = nest.band[depth]
        inner = [*(line for s in loop.before for line in printer.statement(s)), *inner] if depth < last else inner
        if last == 0:
            header = strided(loop, printer, f"blockIdx.x * {block} + threadIdx.x", f"gridDim.x * {block}")
        elif depth == last:
            header = strided(loop, printer, "threadIdx.x % 32", "32")
        elif depth == 0:
            warps = block // 32
            header = strided(loop, printer, f"blockIdx.x * {warps} + threadIdx.x / 32", f"gridDim.x * {warps}")
        else:
            header = own_header(loop, printer)
        unrolled = ["#pragma unroll 8"] if depth == last and _simple(nest.body) else []
        inner = [*unrolled, f"{header} {{", *indent(inner), "}"]
    return inner


def _simple(body: Sequence[ir.Stmt]) -> bool:
    """Several iterations in flight help a body without loops of its own."""
    return not any(isinstance(n, ir.For | ir.While) for s in body for n in ir.walk(s))


def strided(loop: BandLoop, printer: Printer, start: str, stride: str) -> str:
    """A `for` header that takes every `stride`-th iteration from the `start`-th on."""
    kind = iterator_type(loop.node)
    wide = kind in ("long", "long long", "unsigned long", "unsigned long long")
    begin = f"({kind})({start})" if not wide else f"({kind})({start.replace('blockIdx.x', f'({kind})blockIdx.x')})"
    scale = "" if abs(loop.step) == 1 else f"{abs(loop.step)} * "
    sign = "+" if loop.step > 0 else "-"
    lower = printer.expr(loop.node.lower)
    first = f"{scale}{begin}" if is_zero(lower) and loop.step > 0 else f"{comparand(lower)} {sign} {scale}{begin}"
    return f"for ({kind} {loop.var} = {first}; {condition(loop, printer)}; {loop.var} {sign}= {scale}({kind})({stride}))"


def _final(nest: LoopNest, source: Source, made: Sequence[Accumulator], block: int) -> tuple[Signature, list[str]]:
    printer = source.printer()
    keyed = frozenset(r.keyed[0].array for r in nest.reductions if r.keyed is not None)
    kernel = signature(nest, source, frozenset(source.arrays) - keyed, results(nest))
    _bases(nest, kernel)
    write = Writer()
    accumulate.declare(write, made)
    write(f"for (int cp_i = threadIdx.x; cp_i < cp_count; cp_i += {block}) {{")
    accumulate.merge(write, made, lambda n: Reduced(f"cp_p{n}[cp_i]", f"cp_p{n}_at[cp_i]"))
    write("}")
    accumulate.reduce_block(write, made, block)
    inner = _starts(nest, printer)
    for n, reduction in enumerate(nest.reductions):
        inner += _store(nest, reduction, n, printer)
    lines = [*write.text.splitlines(), "if (threadIdx.x == 0) {", *indent(inner), "}"]
    return kernel, lines


def _starts(nest: LoopNest, printer: Printer) -> list[str]:
    """The values before the loop: from the definitions that depend on arguments alone, else from device memory."""
    known = defined(nest.prologue) | frozenset(nest.parameters)
    lines = prologue(nest, printer)
    for name in sorted(results(nest) - known):
        lines.append(f"{cuda_type(nest.types[name])} {name} = *{name}_value;")
    return lines


def _store(nest: LoopNest, reduction: Reduction, n: int, printer: Printer) -> list[str]:
    name = reduction.name
    symbol = ("<" if reduction.op == "min" else ">") + ("" if reduction.strict else "=")
    match reduction.op:
        case "min" | "max" if reduction.keyed is not None:
            store = next(s for s in ir.walk(reduction.updates[0]) if isinstance(s, ir.Assign))
            lines = [*_positions(nest, n), f"{name} = {printer.expr(store.value)};"]
            old = printer.expr(reduction.keyed[1])
            return [f"if (cp_{n}_at >= 0 && cp_{n} {symbol} {old}) {{", *indent(lines), "}", f"*{name}_value = {name};"]
        case "min" | "max" if reduction.companions:
            lines = [f"{name} = cp_{n};", *_positions(nest, n)]
            for companion in reduction.companions:
                value = _companion_value(reduction, companion)
                assert value is not None
                lines.append(f"{companion} = {printer.expr(value)};")
            stores = [f"*{c}_value = {c};" for c in reduction.companions]
            return [
                f"if (cp_{n}_at >= 0 && cp_{n} {symbol} {name}) {{",
                *indent(lines),
                "}",
                f"*{name}_value = {name};",
                *stores,
            ]
        case "min" | "max":
            symbol = "<" if reduction.op == "min" else ">"
            return [f"*{name}_value = cp_{n} {symbol} {name} ? cp_{n} : {name};"]
        case _:
            return [f"*{name}_value = {name} {reduction.op} cp_{n};"]


def _positions(nest: LoopNest, n: int) -> list[str]:
    """The iterators of the winning iteration, from its number."""
    lines = []
    for depth, loop in enumerate(nest.band):
        shift = 31 * (len(nest.band) - 1 - depth)
        number = f"cp_{n}_at" if shift == 0 else f"(cp_{n}_at >> {shift})"
        if depth:
            number = f"({number} & 0x7fffffff)"
        kind = iterator_type(loop.node)
        lines.append(f"const {kind} {loop.var} = {_base(loop)} {'+' if loop.step > 0 else '-'} ({kind}){number};")
    return lines


def _printer(nest: LoopNest, source: Source) -> Printer:
    """Updates of an extreme with its position record the iteration's number instead of the position."""
    plain = source.printer()
    updates = {id(r.updates[0]): (n, r) for n, r in enumerate(nest.reductions) if positional(r)}

    def rewrite(node: ir.Node) -> str | None:
        found = updates.get(id(node))
        if found is None or not isinstance(node, ir.If):
            return None
        n, reduction = found
        if reduction.keyed is not None:
            new, old = reduction.keyed
            mine = value_name(reduction, n)
            test = source.printer(lambda x: mine if x is old else None).expr(node.condition)
            return f"if ({test}) {{\n    {mine} = {plain.expr(new)};\n    cp_{n}_at = {_number_of(nest)};\n}}"
        value = next(
            a.value
            for a in node.then.statements
            if isinstance(a, ir.Assign) and isinstance(a.target, ir.Name) and a.target.id == reduction.name
        )
        at = _number_of(nest)
        return f"if ({plain.expr(node.condition)}) {{\n    {reduction.name} = {plain.expr(value)};\n    cp_{n}_at = {at};\n}}"

    return source.printer(rewrite)


def _number_of(nest: LoopNest) -> str:
    """Iterations in program order as one number: 31 bits a loop."""
    parts = []
    for depth, loop in enumerate(nest.band):
        shift = 31 * (len(nest.band) - 1 - depth)
        number = f"({loop.var} - {_base(loop)})" if loop.step > 0 else f"({_base(loop)} - {loop.var})"
        parts.append(f"((long long){number} << {shift})" if shift else number)
    return " | ".join(parts)


def _base(loop: BandLoop) -> str:
    """The iterator's first value over all iterations, a literal or a parameter of the kernel."""
    low = loop.low if loop.step > 0 else None
    return low if low is not None and low.isdigit() else f"{loop.var}_first"


def _bases(nest: LoopNest, kernel: Signature) -> None:
    """The parameters that numbers of iterations start from."""
    for loop in nest.band if any(positional(r) for r in nest.reductions) else ():
        if _base(loop) == f"{loop.var}_first":
            first = loop.low if loop.step > 0 else f"({loop.high}) - 1"
            kernel.integer(f"{loop.var}_first", first, iterator_type(loop.node))
