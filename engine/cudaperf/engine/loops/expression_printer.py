"""Prints expressions; `loops.printer` says by which rules.

Not promised: the same parentheses and spaces as the user's, where an expression has to be printed structurally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.conversions import OVERLOADED, implied, preserves, promote, scalar_of, strip_implicit, usual
from cudaperf.engine.loops.verbatim import Edit, edited, is_atom

Rewrite = Callable[[ir.Node], str | None]

CONDITIONAL, UNARY, POSTFIX, PRIMARY = 3, 14, 15, 16
LEVEL = {"||": 4, "&&": 5, "|": 6, "^": 7, "&": 8, "==": 9, "!=": 9, "<": 10, ">": 10, "<=": 10, ">=": 10}
LEVEL |= {"<<": 11, ">>": 11, "+": 12, "-": 12, "*": 13, "/": 13, "%": 13}
LOGICAL, SHIFT = ("&&", "||"), ("<<", ">>")

SUFFIX = {"unsigned int": "u", "long": "L", "unsigned long": "UL", "long long": "LL", "unsigned long long": "ULL"}


def never(node: ir.Node) -> str | None:
    """The rewrite that changes nothing."""
    return None


def widened(index: ir.Expr) -> ir.Expr:
    """A subscript without the implicit casts that keep its value."""
    inner, outer = scalar_of(strip_implicit(index).type), scalar_of(index.type)
    keeps = inner and outer and inner.kind == "int" and preserves(inner, outer)
    return strip_implicit(index) if keeps else index


def narrows(item: ir.Node, target: ir.Type) -> bool:
    """Whether C++ rejects the implicit conversion of an item of a braced initialiser."""
    if not isinstance(item, ir.Cast) or not item.implicit or not isinstance(target, ir.Scalar):
        return False
    below = scalar_of(strip_implicit(item).type)
    constant = all(isinstance(n, ir.IntConst | ir.FloatConst | ir.Unary | ir.Cast) for n in ir.walk(item))
    return below is not None and not preserves(below, target) and not (constant and below.kind == target.kind)


class ExpressionPrinter:
    """The part of `loops.printer.Printer` that prints expressions."""

    def __init__(self, text: bytes | None = None, rewrite: Rewrite = never) -> None:
        self.text = text
        self.rewrite = rewrite

    # --- the four rules ------------------------------------------------------------------------------------------------

    def expr(self, node: ir.Expr, to: ir.Type | None = None) -> str:
        """The expression as text; an implicit cast to `to`, the type that the context converts to, is left out."""
        if to is not None and isinstance(node, ir.Cast) and node.implicit and node.type == to:
            replaced = self.rewrite(node)
            return self.expr(node.operand) if replaced is None else replaced
        return self._expression(node)[0]

    def _expression(self, node: ir.Expr) -> tuple[str, int]:
        replaced = self.rewrite(node)
        if replaced is not None:
            return replaced, PRIMARY if is_atom(replaced) else 0
        if isinstance(node, ir.Cast) and node.implicit:
            return self.cast(node), UNARY
        verbatim = self.from_text(node)
        if verbatim is not None:
            return verbatim, PRIMARY if is_atom(verbatim) and self._is_leaf(node) else self.level(node)
        return self._structural(node), self.level(node)

    @staticmethod
    def _is_leaf(node: ir.Expr) -> bool:
        return isinstance(node, ir.IntConst | ir.FloatConst | ir.Name)

    def operand(self, node: ir.Expr, level: int) -> str:
        """The expression, in parentheses if it binds less tightly than `level`."""
        text, own = self._expression(node)
        return text if own >= level else f"({text})"

    def edits(self, node: ir.Node) -> Iterator[Edit]:
        """The outermost rewritten nodes below `node`, arguments that need an explicit cast in C++, and types' names."""
        for child in ir.children(node):
            replaced = self.type_name(child.type) if isinstance(child, ir.Spelled) else self.rewrite(child)
            if replaced is None and self._needs_cast(node, child):
                replaced = self.cast(child)  # type: ignore[arg-type]
            if replaced is not None:
                yield child, replaced
            else:
                yield from self.edits(child)

    @staticmethod
    def _needs_cast(parent: ir.Node, child: ir.Node) -> bool:
        if isinstance(parent, ir.Decl) and isinstance(parent.init, tuple):
            return narrows(child, parent.type)
        overloaded = isinstance(parent, ir.Call) and parent.name in OVERLOADED
        return overloaded and isinstance(child, ir.Cast) and child.implicit

    def from_text(self, node: ir.Node) -> str | None:
        """The text at the node's span with all edits in place, if that can be."""
        if self.text is None or node.span is None:
            return None
        return edited(self.text, node.span, list(self.edits(node)))

    # --- expressions ---------------------------------------------------------------------------------------------------

    def _structural(self, node: ir.Expr) -> str:
        match node:
            case ir.IntConst() | ir.FloatConst():
                return self.const(node)
            case ir.Name():
                return self.name(node)
            case ir.Load():
                return self.load(node)
            case ir.Address():
                return self.address(node)
            case ir.Unary():
                return self.unary(node)
            case ir.Binary():
                return self.binary(node)
            case ir.Select():
                return self.select(node)
            case ir.Cast():
                return self.cast(node)
            case ir.Call():
                return self.call(node)

    def level(self, node: ir.Expr) -> int:
        """How tightly the structural text of a node binds."""
        match node:
            case ir.Binary():
                return LEVEL[node.op]
            case ir.Select():
                return CONDITIONAL
            case ir.Unary() | ir.Cast() | ir.Address():
                return UNARY
            case ir.IntConst():
                return PRIMARY if node.value >= 0 and node.type.name in ("int", *SUFFIX) else UNARY
            case ir.FloatConst():
                return UNARY if node.spelling.startswith("-") else PRIMARY
            case ir.Name():
                return PRIMARY
            case _:
                return POSTFIX

    def type_name(self, kind: ir.Type) -> str:
        return kind.name

    def const(self, node: ir.IntConst | ir.FloatConst) -> str:
        if isinstance(node, ir.FloatConst):
            return node.spelling
        suffix = SUFFIX.get(node.type.name, "")
        if node.type.signed and node.type.bits >= 32 and node.value == -(1 << (node.type.bits - 1)):
            return f"(-{-node.value - 1}{suffix} - 1{suffix})"
        cast = "" if suffix or node.type.name == "int" else f"({self.type_name(node.type)})"
        return f"{cast}{node.value}{suffix}"

    def name(self, node: ir.Name) -> str:
        return node.id

    def load(self, node: ir.Load) -> str:
        return node.array + self.subscripts(node.indices) + self.path(node.path)

    def subscripts(self, indices: tuple[ir.Expr, ...]) -> str:
        return "".join(f"[{self.expr(widened(i))}]" for i in indices)

    def path(self, path: tuple[str | ir.Expr, ...]) -> str:
        return "".join(f".{step}" if isinstance(step, str) else self.subscripts((step,)) for step in path)

    def address(self, node: ir.Address) -> str:
        return f"&{node.array}{self.subscripts(node.indices)}"

    def unary(self, node: ir.Unary) -> str:
        text = self.operand(self._promoted(node.operand), UNARY)
        return f"{node.op}({text})" if text.startswith(node.op) and node.op in "+-" else node.op + text

    @staticmethod
    def _promoted(node: ir.Expr) -> ir.Expr:
        inner = scalar_of(strip_implicit(node).type)
        return implied(node, promote(inner)) if inner else node

    def binary(self, node: ir.Binary) -> str:
        level = LEVEL[node.op]
        left, right = self._operands(node)
        return f"{self.operand(left, level)} {node.op} {self.operand(right, level + 1)}"

    def _operands(self, node: ir.Binary) -> tuple[ir.Expr, ir.Expr]:
        """Both operands without the implicit casts that C applies by itself."""
        if node.op in SHIFT:
            return self._promoted(node.left), self._promoted(node.right)
        return (node.left, node.right) if node.op in LOGICAL else self._balanced(node.left, node.right)

    @staticmethod
    def _balanced(left: ir.Expr, right: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
        """Two operands of the usual arithmetic conversions, without the casts that these redo."""
        bare_left, bare_right = strip_implicit(left), strip_implicit(right)
        for one, other in ((bare_left, bare_right), (bare_left, right), (left, bare_right)):
            first, second = scalar_of(one.type), scalar_of(other.type)
            if first and second:
                common = usual(first, second)
                if (one is left or implied(left, common) is one) and (other is right or implied(right, common) is other):
                    return one, other
        return left, right

    def select(self, node: ir.Select) -> str:
        then, other = self._balanced(node.then, node.other)
        condition = self.operand(node.condition, CONDITIONAL + 1)
        return f"{condition} ? {self.expr(then)} : {self.operand(other, CONDITIONAL)}"

    def cast(self, node: ir.Cast) -> str:
        return f"({self.type_name(node.type)}){self.operand(node.operand, UNARY)}"

    def call(self, node: ir.Call) -> str:
        return f"{node.name}({', '.join(self.expr(a) for a in node.args)})"
