"""`FileModel`: what a CUDA file holds: functions, launches, constants, structs, and the comments that speak to cudaperf."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.lower import Lowering
from cudaperf.engine.cuda.parameters import Parameter, parameters
from cudaperf.engine.cuda.source import Source
from cudaperf.engine.cuda.types import Types

if TYPE_CHECKING:
    from tree_sitter import Node as Tree
    from tree_sitter import Tree as WholeTree

_WORD = re.compile(rb"[A-Za-z_]\w*")
_SPEAKS = re.compile(rb"cudaperf:")


@dataclass(eq=False)
class Function:
    """`kind` "kernel" for __global__, "device" for __device__ ones, else "host". `listed` holds the parameters."""

    name: str
    kind: Literal["kernel", "device", "host"]
    start: int
    end: int
    name_start: int
    name_end: int
    templates: dict[str, ir.Expr | None]
    type_names: frozenset[str]
    node: Tree = field(repr=False)
    listed: Tree | None = field(repr=False)
    lowering: Lowering = field(repr=False)

    @cached_property
    def parameters(self) -> list[Parameter]:
        return parameters(self.listed, self.lowering)

    @cached_property
    def bounds(self) -> list[ir.Expr]:
        """The arguments of __launch_bounds__."""
        found = next((c for c in self.node.children if c.type == "launch_bounds"), None)
        return [self.lowering.expression(c) for c in found.named_children] if found is not None else []

    @cached_property
    def body(self) -> ir.Block:
        return self.lowering.block(self.node.child_by_field_name("body"))

    @property
    def nodes(self) -> Sequence[ir.Expr | ir.Stmt]:
        """The body's nodes, in the order of the text."""
        return ir.walk(self.body)

    @cached_property
    def launches(self) -> list[ir.Launch]:
        """Every `<<<>>>` in the body, in the order of the text."""
        body = self.node.child_by_field_name("body")
        written = body is not None and body.text is not None and b"<<<" in body.text
        return [n for n in self.nodes if isinstance(n, ir.Launch)] if written else []


@dataclass(slots=True, eq=False)
class Comment:
    """A comment with `cudaperf:` in it; `text` is what follows that."""

    text: str
    start: int
    end: int


@dataclass(slots=True, eq=False)
class Macro:
    """`parameters` is None for a macro without a list of them; `ambiguous` one that is defined twice, differently."""

    parameters: list[str] | None
    text: str
    start: int
    end: int
    ambiguous: bool = False


@dataclass(eq=False)
class FileModel:
    """One file. `constants` are initialized `const`/`constexpr` integers and enumerators at file scope or in structs;
    `variables` is what is declared there. `surroundings` are the ranges of all that the model tells of beside functions."""

    source: Source
    tree: WholeTree = field(repr=False)
    types: Types = field(default_factory=Types)
    functions: list[Function] = field(default_factory=list)
    constants: dict[str, ir.Expr] = field(default_factory=dict)
    macros: dict[str, Macro] = field(default_factory=dict)
    variables: dict[str, ir.Declare] = field(default_factory=dict)
    surroundings: list[tuple[int, int]] = field(default_factory=list)

    @property
    def kernels(self) -> list[Function]:
        return [f for f in self.functions if f.kind == "kernel"]

    @cached_property
    def by_name(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = {}
        for function in self.functions:
            found.setdefault(function.name, []).append(function)
        return found

    def text(self, function: Function) -> bytes:
        """A function's bytes in the file."""
        return self.source.data[function.start : function.end]

    def hosts_naming(self, name: str) -> list[Function]:
        """The host functions in whose text a function's name stands."""
        return self._hosts.get(name, [])

    @cached_property
    def _hosts(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = {}
        for function in self.functions:
            if function.kind == "host":
                words = {word.decode() for word in _WORD.findall(self.text(function))}
                for name in words & self.by_name.keys():
                    found.setdefault(name, []).append(function)
        return found

    def reached(self, kernel: Function) -> Iterator[Function]:
        """A kernel and the file's device functions that it calls, directly or through others."""
        seen, waiting = {kernel}, [kernel]
        while waiting:
            function = waiting.pop()
            yield function
            names = {n.name for n in function.nodes if isinstance(n, ir.Call)}
            found = {f for name in names for f in self.by_name.get(name, ()) if f.kind == "device"} - seen
            seen |= found
            waiting += sorted(found, key=lambda f: f.start)

    def broken(self, function: Function) -> bool:
        """Whether part of a function does not parse."""
        before = bisect_left(self.errors, function.end, key=lambda error: error[0])
        return any(end > function.start for _, end in self.errors[max(0, before - 1) : before])

    @cached_property
    def comments(self) -> list[Comment]:
        """The comments that say `cudaperf: ...`."""
        found = []
        for match in _SPEAKS.finditer(self.source.data):
            node = self.tree.root_node.descendant_for_byte_range(match.start(), match.end())
            if node is not None and node.type == "comment":
                line_end = min(e for e in (*_ends(self.source, match.end()), node.end_byte))
                text = self.source.text(match.end(), line_end).removesuffix("*/").strip()
                found.append(Comment(text, node.start_byte, node.end_byte))
        return found

    @cached_property
    def errors(self) -> list[tuple[int, int]]:
        """The ranges that do not parse."""
        if not self.tree.root_node.has_error:
            return []
        return [(n.start_byte, n.end_byte) for n in _broken(self.tree.root_node)]


def _ends(source: Source, offset: int) -> Iterator[int]:
    """Where the line that holds an offset ends."""
    end = source.data.find(b"\n", offset)
    yield end if end >= 0 else len(source.data)


def _broken(node: Tree) -> Iterator[Tree]:
    for child in node.children:
        if child.type == "ERROR" or child.is_missing:
            yield child
        elif child.has_error:
            yield from _broken(child)
