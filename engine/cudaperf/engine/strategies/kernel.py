"""Writing a kernel from a nest: its signature, its arguments in the plan, and the user's statements inside it.

The text of statements is the user's own. What must change is rewritten in place: elements of variable-length arrays become
flat subscripts, and whatever a strategy asks for through `rewrite`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.nest import BandLoop, LoopNest, ScalarStep
from cudaperf.engine.loops.printer import Printer
from cudaperf.engine.plan import Arg, IntArg, PointerArg, ScalarArg
from cudaperf.engine.strategies.kernels.kernel import ConfigurationError, Parameter

Rewrite = Callable[[ir.Node], str | None]


def never(_: ir.Node) -> str | None:
    return None


def cuda_type(kind: ir.Type) -> str:
    """`_Bool` is `bool` in C++; struct tags stay as the user wrote them."""
    return "bool" if kind.name == "_Bool" else kind.name


def iterator_type(node: ir.For) -> str:
    """The type of a loop's variable in a kernel: narrow ones become int, so that threads past the end do not wrap around."""
    return "int" if node.type.bits < 32 else cuda_type(node.type)


def indent(lines: Sequence[str], levels: int = 1) -> list[str]:
    return ["    " * levels + line if line else line for line in lines]


@dataclass(frozen=True, slots=True)
class Source:
    """The user's file and the arrays that kernels name: what is needed to print statements.

    `extents` are element counts of arguments as size expressions, `architecture` the compute capability to write for (90).
    """

    unit: ir.Unit
    arrays: dict[str, ir.Variable]
    extents: dict[str, str] = field(default_factory=dict)
    architecture: int = 90

    def fresh(self, name: str) -> str:
        """The name, with underscores appended until the user's file does not use it."""
        used = _identifiers(self.unit.text)
        while name in used:
            name += "_"
        return name

    def is_flat(self, name: str) -> bool:
        """Whether the array is passed as a plain pointer although it is indexed in several dimensions (C++ has no VLAs)."""
        variable = self.arrays.get(name)
        return (
            variable is not None and len(variable.dims) > 1 and not all(isinstance(d, ir.IntConst) for d in variable.dims[1:])
        )

    def printer(self, rewrite: Rewrite = never) -> Printer:
        printer: Printer

        def combined(node: ir.Node) -> str | None:
            own = rewrite(node)
            if own is not None:
                return own
            if isinstance(node, ir.Load) and self.is_flat(node.array) and node.indices:
                return self.flat_load(node, printer)
            if isinstance(node, ir.Address) and self.is_flat(node.array):
                return f"({node.array} + ({self.flat_index(node.array, node.indices, printer)}))"
            if isinstance(node, ir.PointerDecl) and self.is_flat(node.array):
                return None
            return None

        printer = Printer(self.unit.text, combined)
        return printer

    def flat_load(self, node: ir.Load, printer: Printer) -> str:
        member = "".join(f".{p}" if isinstance(p, str) else f"[{printer.expr(p)}]" for p in node.path)
        return f"{node.array}[{self.flat_index(node.array, node.indices, printer)}]{member}"

    def flat_index(self, array: str, indices: Sequence[ir.Expr], printer: Printer) -> str:
        """Horner's form of a multi-dimensional index: `(i * m + j) * k + l`."""
        dims = self.arrays[array].dims
        text = _factor(printer.expr(indices[0]))
        for d, dim in enumerate(dims[1:], start=1):
            assert dim is not None
            index = printer.expr(indices[d]) if d < len(indices) else "0"
            text = f"{_factor(text)} * {_factor(printer.expr(dim))} + {_term(index)}"
        return text

    def parameter(self, name: str, const: bool, flat: bool = False) -> str:
        """An array parameter's declaration; `flat` makes it a plain pointer whatever its dimensions."""
        variable = self.arrays[name]
        qualifier = "const " if const else ""
        kind = cuda_type(variable.type)
        if len(variable.dims) > 1 and not flat and not self.is_flat(name):
            inner = "".join(f"[{d.value}]" for d in variable.dims[1:] if isinstance(d, ir.IntConst))
            return f"{qualifier}{kind} (*__restrict__ {name}){inner}"
        return f"{qualifier}{kind} *__restrict__ {name}"


@lru_cache(maxsize=8)
def _identifiers(text: bytes) -> frozenset[str]:
    return frozenset(re.findall(r"[A-Za-z_]\w*", text.decode("utf-8", "replace")))


def comparand(text: str) -> str:
    """Text that may stand on either side of a comparison or a sum."""
    return f"({text})" if any(c in text for c in "?<>=&|^,") else text


def is_zero(text: str) -> bool:
    """C text of the constant 0, cast or with a suffix or not."""
    return re.fullmatch(r"(\([a-z_ ]+\))?\s*0[uUlL]*", text) is not None


def operand(text: str) -> str:
    """Text that may stand beside any binary operator."""
    return _factor(text)


def _factor(text: str) -> str:
    simple = text.replace("_", "").isalnum() or (text.startswith("(") and _closes_at_end(text))
    return text if simple else f"({text})"


def _term(text: str) -> str:
    return f"({text})" if any(op in text for op in ("?", "<", ">", "&", "|", "^", "=", ",")) else text


def _closes_at_end(text: str) -> bool:
    depth = 0
    for i, c in enumerate(text):
        depth += {"(": 1, ")": -1}.get(c, 0)
        if depth == 0:
            return i == len(text) - 1
    return False


@dataclass(slots=True)
class Signature:
    """A kernel's parameters and the plan's arguments for them, built side by side."""

    source: Source
    parameters: list[str] = field(default_factory=list)
    args: list[Arg] = field(default_factory=list)
    head: list[str] = field(default_factory=list)

    def scalar(self, name: str, kind: ir.Type) -> None:
        self.parameters.append(f"{cuda_type(kind)} {name}")
        self.args.append(ScalarArg(name=name))

    def integer(self, name: str, value: str, kind: str = "int") -> None:
        self.parameters.append(f"{kind} {name}")
        self.args.append(IntArg(value=value, type=kind))

    def array(self, name: str, const: bool, flat: bool = False) -> None:
        self.parameters.append(self.source.parameter(name, const, flat))
        self.args.append(PointerArg(buffer=name))

    def pointer(self, name: str, kind: str, buffer: str, const: bool) -> None:
        """A buffer of the plan under another name."""
        self.parameters.append(f"{'const ' if const else ''}{kind} *__restrict__ {name}")
        self.args.append(PointerArg(buffer=buffer))

    def input(self, name: str, kind: ir.Type) -> None:
        """A device scalar, read at the kernel's start into a variable of its own name."""
        self.pointer(f"{name}_value", cuda_type(kind), name, const=True)
        self.head.append(f"const {cuda_type(kind)} {name} = *{name}_value;")

    def text(self, name: str, body: Sequence[str], bounds: str = "") -> str:
        """The whole kernel."""
        attribute = f" __launch_bounds__({bounds})" if bounds else ""
        one_line = ", ".join(self.parameters)
        head = f'extern "C" __global__ void{attribute} {name}('
        if len(head) + len(one_line) <= 116:
            opening = f"{head}{one_line})"
        else:
            opening = head + "\n    " + ",\n    ".join(self.parameters) + ")"
        return "\n".join([opening, "{", *indent([*self.head, *body]), "}"])


def signature(
    nest: LoopNest | ScalarStep,
    source: Source,
    skip_arrays: frozenset[str] = frozenset(),
    skip_inputs: frozenset[str] = frozenset(),
) -> Signature:
    """Scalars, arrays, variables of repeat loops and device scalars that a nest needs, in that order."""
    made = Signature(source)
    for name in nest.parameters:
        made.scalar(name, nest.types[name])
    for name in source.arrays:
        if name in nest.reads | nest.writes and name not in skip_arrays:
            made.array(name, const=name not in nest.writes)
    for name in nest.outer:
        made.integer(name, name, cuda_type(nest.types.get(name, ir.INT)))
    for name in nest.inputs:
        if name not in skip_inputs:
            made.input(name, nest.types[name])
    return made


def plain_parameters(nest: LoopNest, source: Source) -> tuple[Parameter, ...] | str:
    """The parameters of a kernel whose texts use arguments alone; why not, where the nest needs more."""
    if nest.guards:
        return "the nest stands under a condition"
    if nest.prologue or nest.inputs:
        return "the nest depends on scalars computed before it"
    made = signature(nest, source)
    return tuple(Parameter(d, a) for d, a in zip(made.parameters, made.args, strict=True))


def shifted(loop: BandLoop, index: str) -> str:
    """C text of a unit-step loop's iterator at position `index` (a simple text) of its range."""
    return (
        index
        if loop.low == "0"
        else f"({index} + {loop.low})"
        if loop.low.lstrip("-").isdigit()
        else f"({loop_start(loop)} + {index})"
    )


def loop_start(loop: BandLoop) -> str:
    """C text of a tight loop's first value: the size expressions of bounds are C for + - * alone."""
    if any(c not in "+-*() " and not (c.isalnum() or c == "_") for c in loop.low):
        raise ConfigurationError(f"the loop over {loop.var} starts at {loop.low}")
    return f"({loop.low})"


def prologue(nest: LoopNest | ScalarStep, printer: Printer, skip: frozenset[str] = frozenset()) -> list[str]:
    """Scalar definitions that every thread repeats (those of `skip` left out), and declarations of private scalars."""
    kept = [s for s in nest.prologue if not defined((s,)) or not defined((s,)) <= skip]
    declared = {n.name for n in kept if isinstance(n, ir.Decl)} | set(nest.parameters)
    lines = [f"{cuda_type(nest.types[n])} {n};" for n in _assigned(kept) if n not in declared]
    for statement in kept:
        lines += printer.statement(statement)
    if isinstance(nest, LoopNest):
        known = defined(kept) | set(nest.parameters)
        lines += [f"{cuda_type(nest.types[name])} {name};" for name in nest.private if name not in known]
    return lines


def guarded(nest: LoopNest, printer: Printer, lines: list[str]) -> list[str]:
    """The lines under the conditions of the branches around the nest."""
    if not nest.guards:
        return lines
    condition = " && ".join(_factor(printer.expr(g)) for g in nest.guards)
    return [f"if ({condition}) {{", *indent(lines), "}"]


def defined(statements: Sequence[ir.Stmt]) -> frozenset[str]:
    """Scalars that the statements declare or set."""
    names = frozenset(n.name for s in statements for n in ir.walk(s) if isinstance(n, ir.Decl | ir.PointerDecl))
    return names | frozenset(_assigned(statements))


def _assigned(statements: Sequence[ir.Stmt]) -> list[str]:
    found = [n.target for s in statements for n in ir.walk(s) if isinstance(n, ir.Assign)]
    return list(dict.fromkeys(t.id for t in found if isinstance(t, ir.Name)))
