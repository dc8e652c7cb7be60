"""Maps of two or three loops in which one thread computes several neighbouring iterations of the slowest one.

What those iterations read in common stays in registers, and more loads are under way at a time. Where fewer iterations are
left, a plain loop in the same kernel computes them. Directives: `map x(j) y(i) block(x:32,y:8) unroll(i:4)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.nest import BandLoop, LoopNest, NotApplicable
from cudaperf.engine.plan import Launch
from cudaperf.engine.strategies.access import starts_inside
from cudaperf.engine.strategies.kernel import Source, comparand, guarded, indent, is_zero, iterator_type, prologue, signature

Axis = Callable[[str, BandLoop, list[str]], list[str]]


def suits(nest: LoopNest) -> NotApplicable | None:
    """Why neighbouring iterations can't share a thread."""
    if len(nest.threads) not in (2, 3) or len(nest.band) != len(nest.threads):
        return NotApplicable("unrolling needs two or three parallel loops")
    if not all(b.tight and b.step == 1 and b.node.type.signed and not b.before for b in nest.band):
        return NotApplicable("unrolling needs plain loops that count up")
    if any(isinstance(n, ir.For | ir.While | ir.Continue) for s in nest.body for n in ir.walk(s)):
        return NotApplicable("unrolling needs a body without loops")
    return None


def kernel(
    nest: LoopNest, source: Source, loops: Sequence[BandLoop], block: Sequence[int], count: int, axis: Axis, bound: str
) -> tuple[str, Launch]:
    """The kernel and its launch; `axis` wraps lines in the iterator of one axis, `bound` is the slow loop's bound as text."""
    slow = loops[-1]
    letter = "xyz"[len(loops) - 1]
    printer, made = source.printer(), signature(nest, source)
    kind, var, first = iterator_type(slow.node), slow.var, source.fresh(f"{slow.var}_first")
    relation = slow.node.relation if slow.node.relation != "!=" else "<"
    body = [line for s in nest.body for line in printer.statement(s)]
    lower = printer.expr(slow.node.lower)
    index = f"{count} * ({kind})(blockIdx.{letter} * blockDim.{letter} + threadIdx.{letter})"
    start = index if is_zero(lower) else f"{comparand(lower)} + {index}"
    step = f"{count} * ({kind})(gridDim.{letter} * blockDim.{letter})"
    lines = [
        f"for ({kind} {first} = {start}; {first} {relation} {comparand(bound)}; {first} += {step}) {{",
        f"    if ({first} + {count - 1} {relation} {comparand(bound)}) {{",
        "        #pragma unroll",
        f"        for ({kind} {var} = {first}; {var} < {first} + {count}; ++{var}) {{",
        *indent(body, 3),
        "        }",
        "    } else {",
        f"        for ({kind} {var} = {first}; {var} {relation} {comparand(bound)}; ++{var}) {{",
        *indent(body, 3),
        "        }",
        "    }",
        "}",
    ]
    for name, loop in zip("xyz", loops[:-1], strict=False):
        lines = axis(name, loop, lines)
    threads = 1
    for extent in block:
        threads *= extent
    text = made.text(nest.name, [*prologue(nest, printer), *guarded(nest, printer, lines)], str(threads))
    grid = []
    for n, (loop, extent) in enumerate(zip(loops, block, strict=True)):
        per_block = extent * (count if loop is slow else 1)
        blocks = f"ceildiv({loop.high if n == 0 and starts_inside(nest, loop) else loop.range.count}, {per_block})"
        grid.append(f"max(0, {blocks})" if n == 0 else f"max(0, min({blocks}, 65535))")
    grid += ["1"] * (3 - len(grid))
    shape = [str(b) for b in block] + ["1"] * (3 - len(block))
    launch = Launch(
        kernel=nest.name, grid=(grid[0], grid[1], grid[2]), block=(shape[0], shape[1], shape[2]), args=tuple(made.args)
    )
    return text, launch
