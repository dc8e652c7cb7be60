"""Extents that depend on the data: each element or maximum that they read becomes a local of the host function, once."""

from __future__ import annotations

import ast
import copy

from cudaperf.engine.emit import expressions
from cudaperf.engine.emit.expressions import Scope, Symbol
from cudaperf.engine.emit.intervals import LARGEST, Interval
from cudaperf.engine.emit.layout import Layout
from cudaperf.engine.emit.names import fresh
from cudaperf.engine.emit.simplify import simplified
from cudaperf.engine.emit.writer import Writer
from cudaperf.engine.size import READS, arrays, parse


class HostReads:
    """The locals so far; `scope` knows them."""

    def __init__(self, layout: Layout, scope: Scope) -> None:
        self.layout = layout
        self.scope = scope
        self._names: dict[str, str] = {}

    def named(self, out: Writer, text: str) -> str:
        """The expression with every at(...), top(...) and bottom(...) replaced by a local that has been printed."""
        if not arrays(text):
            return text
        tree = parse(simplified(text, self.scope.facts, extent=not _is_condition(text)))
        return ast.unparse(_Naming(self, out).visit(copy.deepcopy(tree)))

    def local(self, out: Writer, call: ast.Call) -> str:
        """The local that holds this call, whose own arguments are plain."""
        text = ast.unparse(call)
        if text not in self._names:
            function, array = ast.unparse(call.func), ast.unparse(call.args[0])
            kind = "value" if function == "at" else function
            name = fresh(f"{array}_{kind}", self.layout.taken | set(self._names.values()))
            out(f"const long long {name} = {expressions.value(text, self.scope)};")
            low, high = (0 if function == "top" else -LARGEST), (0 if function == "bottom" else LARGEST)
            self.scope = self.scope.with_symbol(name, Symbol(name, Interval(low, high)))
            self._names[text] = name
        return self._names[text]


def _is_condition(text: str) -> bool:
    return isinstance(parse(text), ast.Compare | ast.BoolOp)


class _Naming(ast.NodeTransformer):
    def __init__(self, reads: HostReads, out: Writer) -> None:
        self.reads = reads
        self.out = out

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in READS:
            return ast.Name(id=self.reads.local(self.out, node), ctx=ast.Load())
        return node
