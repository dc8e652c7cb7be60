"""libclang's cursors as a plain tree with trustworthy spans.

A cursor inside a macro expansion has the extent of the whole invocation, so its extent says little. A `Syntax` node has a
`span` only where the text there is exactly the node: outside any macro; or a macro invocation (or a text that begins or
ends with one) whose tokens all belong to the node. When in doubt there is no span, only `near`, the invocation to point at.
"""

from __future__ import annotations

import bisect
import functools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cudaperf.engine.loops.ir import Span
from cudaperf.engine.sources.c.text import skip

if TYPE_CHECKING:
    from clang import cindex

MACRO_LOCATION = 0x80000000
# of nested cursors: deep trees would end in Python's own limit, also in whoever walks them later
DEEPEST = 150
PREFIXED = ("UNARY_OPERATOR", "CSTYLE_CAST_EXPR")
SYSTEM = ("/usr/include/", "/usr/lib/", "/usr/local/include/")


@dataclass(slots=True, eq=False)
class Syntax:
    """One cursor. `leaves` counts the names and literals below that came from each macro invocation (by its index)."""

    cursor: Any
    kind: str
    start: int
    end: int
    source: Source
    parent: Syntax | None = None
    children: list[Syntax] = field(default_factory=list)
    span: Span | None = None
    near: Span | None = None
    leaves: Counter[int] = field(default_factory=Counter)
    in_macro: bool = False
    ends_in_argument: bool = False

    @property
    def place(self) -> Span | None:
        return self.span or self.near

    @property
    def spelling(self) -> str:
        return str(self.cursor.spelling)

    def walk(self) -> list[Syntax]:
        """The node and all below it, parents first."""
        found = [self]
        for child in self.children:
            found += child.walk()
        return found


@dataclass(frozen=True, slots=True)
class Invocation:
    """A use of a macro in a file's text, not inside another one's arguments."""

    name: str
    span: Span


class Macros:
    """The macro definitions of a translation unit, and the uses of macros by file."""

    def __init__(self, unit: cindex.TranslationUnit) -> None:
        self.definitions: dict[str, list[Any]] = {}
        self._uses: dict[str, list[Invocation]] = {}
        self.order: dict[int, int] = {}
        for index, cursor in enumerate(unit.cursor.get_children()):
            self.order[int(cursor.hash)] = index
            kind = cursor.kind.name
            if kind == "MACRO_DEFINITION":
                self.definitions.setdefault(cursor.spelling, []).append(cursor)
            elif kind == "MACRO_INSTANTIATION":
                self._add(cursor)

    def _add(self, cursor: Any) -> None:
        extent = cursor.extent
        file = extent.start.file
        if file is not None and not file.name.startswith(SYSTEM):
            span = Span(extent.start.offset, extent.end.offset)
            self._uses.setdefault(file.name, []).append(Invocation(cursor.spelling, span))

    def outermost(self, file: str) -> list[Invocation]:
        """The file's uses in order, without those inside the arguments of another."""
        found: list[Invocation] = []
        for use in sorted(self._uses.get(file, ()), key=lambda u: (u.span.start, -u.span.end)):
            if not found or use.span.start >= found[-1].span.end:
                found.append(use)
        return found

    def within(self, file: str, span: Span) -> set[str]:
        """Names of all macros used in a range, those in arguments included."""
        return {u.name for u in self._uses.get(file, ()) if span.start <= u.span.start < span.end}

    def definition(self, name: str) -> Any | None:
        return self.definitions[name][-1] if name in self.definitions else None

    def body(self, name: str) -> tuple[str, ...]:
        """The tokens that a macro is replaced by, not expanded."""
        return _body(self.definition(name))

    def is_plain(self, name: str, depth: int = 0) -> bool:
        """Whether an expansion neither begins nor ends with an operator, so that it can't be torn apart unseen."""
        tokens = self.body(name)
        if depth > 20 or not tokens:
            return depth <= 20
        first, last = tokens[0], tokens[-1]
        if not (first[0] in "(\"'._" or first[0].isalnum()) or not (last[0] in ")]\"'._" or last[0].isalnum()):
            return False
        return all(t not in self.definitions or t == name or self.is_plain(t, depth + 1) for t in {first, last})

    def is_words(self, name: str) -> bool:
        """Whether a macro stands for words alone (`#define real double`)."""
        tokens = self.body(name)
        return bool(tokens) and all(t.replace("_", "a").isalnum() and not t[0].isdigit() for t in tokens)

    def begins_with_parameter(self, name: str) -> bool:
        tokens = self.body(name)
        return bool(tokens) and tokens[0] in _parameters(self.definition(name))


def _tokens(definition: Any | None) -> list[str]:
    if definition is None:
        return []
    return [t.spelling for t in definition.get_tokens() if t.kind.name != "COMMENT"]


def _is_function_like(definition: Any) -> bool:
    from clang import cindex

    return bool(cindex.conf.lib.clang_Cursor_isMacroFunctionLike(definition))


def _parameters(definition: Any | None) -> frozenset[str]:
    if definition is None or not _is_function_like(definition):
        return frozenset()
    tokens = _tokens(definition)
    return frozenset(tokens[2 : tokens.index(")")]) if ")" in tokens else frozenset()


def _body(definition: Any | None) -> tuple[str, ...]:
    tokens = _tokens(definition)
    if definition is not None and _is_function_like(definition) and ")" in tokens:
        return tuple(tokens[tokens.index(")") + 1 :])
    return tuple(tokens[1:])


class Source:
    """One file of the translation unit: its text, its macro uses, and the trees of its functions."""

    def __init__(self, path: str, text: bytes, macros: Macros, is_main: bool) -> None:
        self.path, self.text, self.macros, self.is_main = path, text, macros, is_main
        self.uses = macros.outermost(path)
        self._starts = [u.span.start for u in self.uses]
        self._trees: dict[int, Syntax] = {}

    def tree(self, cursor: Any) -> Syntax:
        """The syntax tree of a function, with spans; grown once."""
        offset = cursor.extent.start.offset
        if offset not in self._trees:
            self._trees[offset] = root = self._grow(cursor, None, 0)
            self._mark(root, root.leaves)
        return self._trees[offset]

    def use_at(self, offset: int) -> int:
        """The index of the macro use that covers an offset, or -1."""
        index = bisect.bisect_right(self._starts, offset) - 1
        return index if index >= 0 and offset < self.uses[index].span.end else -1

    def _grow(self, cursor: Any, parent: Syntax | None, depth: int) -> Syntax:
        if depth > DEEPEST:
            raise RecursionError
        extent = cursor.extent
        node = Syntax(cursor, cursor.kind.name, extent.start.offset, extent.end.offset, self, parent)
        node.in_macro = bool(extent.begin_int_data & MACRO_LOCATION)
        node.ends_in_argument = bool(extent.end_int_data & MACRO_LOCATION)
        node.children = [self._grow(child, node, depth + 1) for child in cursor.get_children()]
        for child in node.children:
            node.leaves.update(child.leaves)
        if not node.children and node.in_macro:
            node.leaves[self.use_at(node.start)] += 1
        return node

    def _mark(self, node: Syntax, totals: Counter[int]) -> None:
        node.span = self._exact(node, totals)
        if node.span is None:
            use = self.use_at(node.start)
            node.near = self.uses[use].span if use >= 0 else Span(node.start, max(node.start, node.end))
        for child in node.children:
            self._mark(child, totals)

    def _exact(self, node: Syntax, totals: Counter[int]) -> Span | None:
        span = Span(node.start, node.end)
        first = self.use_at(node.start) if node.in_macro else -1
        last = self.use_at(node.end - 1) if node.end > node.start else -1
        if node.ends_in_argument or (node.in_macro and (first < 0 or self.uses[first].span.start != node.start)):
            return None
        if (first, last) == (-1, -1):
            return span if node.end > node.start else None
        whole = first == last
        if any(i >= 0 and not self._owns(node, i, totals, whole) for i in {first, last}):
            return None
        if last >= 0 and self.uses[last].span.end != node.end:
            return None
        return span if not whole or self._is_outermost(node, span) else None

    def _owns(self, node: Syntax, use: int, totals: Counter[int], whole: bool) -> bool:
        """Whether all that a macro use expands to lies below the node."""
        name = self.uses[use].name
        if not self.macros.is_plain(name) or self.macros.begins_with_parameter(name):
            return False
        if totals[use] == 0 and (whole or not self.macros.is_words(name)):
            return whole and node.kind in ("CALL_EXPR", "NULL_STMT", "STRING_LITERAL", "CXX_UNARY_EXPR")
        return node.leaves[use] == totals[use] and (whole or node.kind not in PREFIXED or not node.in_macro)

    def _is_outermost(self, node: Syntax, span: Span) -> bool:
        parent = node.parent
        if parent is not None and (parent.start, parent.end) == (span.start, span.end):
            return False
        before = self.text[: span.start].rstrip()[-1:]
        after = self.text[skip(self.text, span.end) :][:1]
        joined = before.isalnum() or before in (b"_", b")", b"]")
        return not (joined and not self._after_keyword(span.start)) and not (after.isalnum() or after in (b"_", b"(", b"["))

    def _after_keyword(self, offset: int) -> bool:
        """Whether what stands before is no operand (a closing parenthesis always counts as one)."""
        word = self.text[max(0, offset - 12) : offset].rstrip().split()[-1:]
        return word in ([b"return"], [b"else"], [b"do"], [b"case"])


@functools.cache
def is_system(path: str) -> bool:
    """Whether a header belongs to the system or the compiler."""
    from cudaperf.engine.sources.c.parse import compiler_includes

    return path.startswith((*SYSTEM, *compiler_includes()))
