"""The public door of the C front end: load a function, list a file's functions.

Every failure is a `Reason`; no input, however broken, gives a traceback.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cudaperf.engine.emit.names import why_reserved
from cudaperf.engine.loops import ir
from cudaperf.engine.reason import Reason, ReasonCode, Refusal
from cudaperf.engine.sources.c.functions import Functions, lower_helper, signature, without_places
from cudaperf.engine.sources.c.parse import Translation, parse, read
from cudaperf.engine.sources.c.preamble import build_preamble
from cudaperf.engine.sources.c.scope import UnitContext
from cudaperf.engine.sources.c.syntax import Macros, Source, is_system
from cudaperf.engine.sources.c.text import position, reason_at, restored, written

ASSUME = re.compile(rb"cudaperf:[ \t]*assume\b[ \t]*(.*?)[ \t]*(?=\*/|\n|\r|$)")
TOO_DEEP = Reason(ReasonCode.UNSUPPORTED, "an expression or statement is nested too deeply")


@dataclass(frozen=True, slots=True)
class FunctionInfo:
    """A function defined in a file; `reason` says why it cannot be moved as far as the front end can tell, else None."""

    name: str
    line: int
    reason: Reason | None = None


def load(path: str, function: str, arguments: tuple[str, ...] = ()) -> ir.Unit | Reason:
    """The function and all that it needs, or why not."""
    try:
        with deep_recursion():
            return _File(parse(path, tuple(arguments))).unit(function)
    except Refusal as refusal:
        return refusal.reason
    except RecursionError:
        return TOO_DEEP


def list_functions(path: str, arguments: tuple[str, ...] = ()) -> tuple[FunctionInfo, ...] | Reason:
    """The functions defined in the file, in order."""
    try:
        with deep_recursion():
            file = _File(parse(path, tuple(arguments)))
            return tuple(file.info(cursor) for cursor in file.own.values())
    except Refusal as refusal:
        return refusal.reason
    except RecursionError:
        return TOO_DEEP


@contextlib.contextmanager
def deep_recursion() -> Iterator[None]:
    """Room for the recursion over a tree of the greatest depth, whatever the caller's own depth."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 5000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class _File:
    """A parsed file with its macros and function definitions."""

    def __init__(self, translation: Translation) -> None:
        self.translation = translation
        self.macros = Macros(translation.unit)
        self.main = Source(translation.path, translation.text, self.macros, is_main=True)
        self.definitions: dict[str, Any] = {}
        self.own: dict[str, Any] = {}
        for cursor in translation.unit.cursor.get_children():
            if cursor.kind.name == "FUNCTION_DECL" and cursor.is_definition() and cursor.location.file is not None:
                self._define(cursor)

    def _define(self, cursor: Any) -> None:
        file = cursor.extent.start.file.name
        if not is_system(file):
            self.definitions[cursor.spelling] = cursor
        if file == self.translation.path:
            self.own[cursor.spelling] = cursor

    @functools.cached_property
    def sources(self) -> dict[str, Source]:
        return {self.translation.path: self.main}

    def source(self, path: str) -> Source:
        if path not in self.sources:
            text = self.translation.texts.get(path) or read(path)
            self.sources[path] = Source(path, text, self.macros, is_main=False)
        return self.sources[path]

    def context(self) -> UnitContext:
        context = UnitContext(self.main, self.macros, self.definitions, self.source, renamed=dict(self.translation.renamed))
        context.lower_helper = functools.partial(lower_helper, context)
        return context

    def info(self, cursor: Any) -> FunctionInfo:
        line, _ = position(self.translation.text, cursor.location.offset)
        name = written(cursor.spelling, self.translation.renamed)
        try:
            self.lower(cursor.spelling, self.context())
        except Refusal as refusal:
            return FunctionInfo(name, line, self.restored(refusal.reason))
        except RecursionError:
            return FunctionInfo(name, line, TOO_DEEP)
        return FunctionInfo(name, line)

    def restored(self, reason: Reason) -> Reason:
        """A reason in the user's names and columns."""
        return restored(reason, self.translation.text, self.translation.renamed)

    def lower(self, name: str, context: UnitContext) -> ir.Function:
        root = self.main.tree(self.own[name])
        if not root.children or root.children[-1].kind != "COMPOUND_STMT" or root.span is None:
            at = signature(root).place if not root.in_macro else root.near
            raise Refusal(reason_at(self.main.text, at, ReasonCode.UNSUPPORTED, f"{name} is defined by a macro"))
        if name in context.renamed:
            why = why_reserved(context.renamed[name])
            context.refuse(signature(root), f"{name} {why}, so no function can have that name there: rename it")
        context.active.append(name)
        function = Functions(context).function(root)
        context.trees.append(root)
        self.check_readable(context)
        return function

    def check_readable(self, context: UnitContext) -> None:
        """No function may hold a part that libclang could not read."""
        for tree in context.trees:
            for file, offset, reason in self.translation.errors:
                if file == tree.source.path and tree.start <= offset < tree.end:
                    raise Refusal(replace(reason, code=ReasonCode.UNSUPPORTED))

    def unit(self, name: str) -> ir.Unit:
        try:
            return self._unit({user: ours for ours, user in self.translation.renamed}.get(name, name))
        except Refusal as refusal:
            raise Refusal(self.restored(refusal.reason)) from refusal

    def _unit(self, name: str) -> ir.Unit:
        if name not in self.own:
            raise Refusal(Reason(ReasonCode.NOT_FOUND, self.unknown(name)))
        context = self.context()
        function = self.lower(name, context)
        assumed = [*self.assumed(self.own[name]), *context.assumptions]
        preamble = build_preamble(self.translation, context, function)
        helpers = tuple(
            f if self.definitions[f.name].extent.start.file.name == self.translation.path else without_places(f)
            for f in context.helpers.values()
        )
        return ir.Unit(
            path=self.translation.path,
            text=self.translation.text,
            function=function,
            helpers=helpers,
            preamble=preamble,
            assumptions=tuple(text for text, _ in assumed),
            assumed_at=tuple(span for _, span in assumed),
            arguments=self.translation.arguments,
            nonnull=tuple(context.nonnull),
            renamed=self.translation.renamed,
            written=self.translation.written,
        )

    def unknown(self, name: str) -> str:
        file = Path(self.translation.path).name
        if not self.own:
            return f"no function {name!r} in {file}: it defines none"
        known = [written(each, self.translation.renamed) for each in self.own]
        close = difflib.get_close_matches(name, known, n=1)
        if close:
            others = f" ({len(known) - 1} more: cudaperf optimize {self.translation.path} lists them)" if len(known) > 1 else ""
            return f"no function {name!r} in {file}; the nearest is {close[0]}{others}"
        rest = f" and {len(known) - 12} more: cudaperf optimize {self.translation.path} lists them" if len(known) > 12 else ""
        return f"no function {name!r} in {file}; it has {', '.join(known[:12])}{rest}"

    def assumed(self, cursor: Any) -> list[tuple[str, ir.Span | None]]:
        """The assumptions in comments directly above the function or inside it, each with the place of its comment."""
        text = self.translation.text
        start, end = comment_start(text, cursor.extent.start.offset), cursor.extent.end.offset
        found: list[tuple[str, ir.Span | None]] = []
        for match in ASSUME.finditer(text, start, end):
            span = ir.Span(match.start(), match.end())
            parts = split_commas(match[1].decode(errors="replace"))
            found += [(part, span) for part in parts] if parts else [("", span)]
        return found


def comment_start(text: bytes, offset: int) -> int:
    """Where the comments directly above an offset begin."""
    while True:
        head = text[:offset].rstrip()
        if head.endswith(b"*/") and b"/*" in head:
            offset = head.rindex(b"/*")
            continue
        line = head.rfind(b"\n") + 1
        if not head[line:].lstrip().startswith(b"//"):
            return offset
        offset = line


def split_commas(text: str) -> list[str]:
    """The parts between commas outside brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [p.strip() for p in parts if p.strip()]
