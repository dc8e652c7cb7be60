"""What a function's text needs in order to compile elsewhere: macros, types, constants and helper functions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.printer import Printer
from cudaperf.engine.sources.c.enumerations import respelled
from cudaperf.engine.sources.c.parse import Translation, preprocess
from cudaperf.engine.sources.c.scope import BIT_BUILTINS, UnitContext
from cudaperf.engine.sources.c.syntax import Syntax, is_system

# words of the language or of our own output, not values
LEFT_OUT = frozenset("NULL bool true false assert isnan isinf isfinite isnormal signbit offsetof NDEBUG restrict".split())  # noqa: SIM905
INFINITE = dict.fromkeys(("INFINITY", "HUGE_VALF"), "((float)(1e308 * 10.0))")
INFINITE |= {"HUGE_VAL": "(1e308 * 10.0)", "NAN": "((float)(1e308 * 10.0 - 1e308 * 10.0))"}
FIXED_WIDTH = re.compile(r"u?int(_least|_fast)?\d+_t|u?intptr_t|u?intmax_t|s?size_t|ptrdiff_t")
DEVICE_BITS = {"popcount": "__popc", "clz": "__clz", "ffs": "__ffs"}
WORDS = re.compile(r"[A-Za-z_]\w*")
SPECIFIERS = re.compile(r"\b(static|extern|inline|__inline__|__inline|__attribute__\s*\(\(.*?\)\))\s*")


class _Preamble:
    """Collects what the trees of a unit mention."""

    def __init__(self, translation: Translation, context: UnitContext, function: ir.Function) -> None:
        self.translation, self.context, self.function = translation, context, function
        self.types: dict[int, Any] = {}
        self.fixed: dict[str, str] = {}
        for tree in context.trees:
            for node in tree.walk():
                self.mention(node)
        for variable in (*self.constants(), *function.globals):
            if variable.name in context.global_cursors:
                self.add_type(context.global_cursors[variable.name].type)

    # --- types ---------------------------------------------------------------------------------------------------------

    def mention(self, node: Syntax) -> None:
        if node.kind in ("VAR_DECL", "PARM_DECL", "FUNCTION_DECL", "CSTYLE_CAST_EXPR"):
            kind = node.cursor.result_type if node.kind == "FUNCTION_DECL" else node.cursor.type
            self.add_type(kind)
        if node.kind == "TYPE_REF" and node.cursor.referenced is not None:
            self.add_type(node.cursor.referenced.type)
        declaration = node.cursor.referenced if node.kind == "DECL_REF_EXPR" else None
        if declaration is not None and declaration.kind.name == "ENUM_CONSTANT_DECL":
            self.add_declaration(declaration.semantic_parent)

    def add_type(self, kind: Any) -> None:
        """A type's declaration with those it is made of."""
        while kind.kind.name in ("POINTER", "CONSTANTARRAY", "INCOMPLETEARRAY", "VARIABLEARRAY"):
            kind = kind.get_pointee() if kind.kind.name == "POINTER" else kind.element_type
        declaration = kind.get_declaration()
        if declaration.kind.is_invalid() or declaration.hash in self.types:
            return
        if FIXED_WIDTH.fullmatch(declaration.spelling) and is_system(declaration.extent.start.file.name):
            canonical = kind.get_canonical().spelling.replace("const ", "")
            self.fixed[declaration.spelling] = f"typedef {canonical} {declaration.spelling};"
            return
        if declaration.kind.name == "TYPEDEF_DECL":
            self.add_type(declaration.underlying_typedef_type)
        for member in kind.get_canonical().get_fields() if kind.get_canonical().kind.name == "RECORD" else ():
            self.add_type(member.type)
        self.add_declaration(declaration)

    def add_declaration(self, declaration: Any) -> None:
        definition = declaration.get_definition() or declaration
        file = definition.extent.start.file
        if file is not None and not is_system(file.name):
            self.types.setdefault(declaration.hash, definition)

    def type_texts(self) -> list[str]:
        """Complete declarations in the order of the file; a struct inside a typedef comes with it."""
        kept: list[Any] = []
        for cursor in sorted(self.types.values(), key=self.order):
            inside = any(encloses(other, cursor) for other in self.types.values() if other is not cursor)
            local = cursor.semantic_parent is not None and cursor.semantic_parent.kind.name == "FUNCTION_DECL"
            if not inside and not local:
                kept.append(cursor)
        return [self.text_of(c) + ";" for c in kept]

    def order(self, cursor: Any) -> int:
        """The place in the translation unit: what a header includes comes before the rest of it."""
        return self.context.macros.order.get(int(cursor.hash), -1)

    def text_of(self, cursor: Any) -> str:
        extent = cursor.extent
        text = respelled(self.context.source_of(extent.start.file.name).text, extent.start.offset, extent.end.offset, [cursor])
        return text.decode(errors="replace").replace("\r\n", "\n").rstrip()

    # --- constants -----------------------------------------------------------------------------------------------------

    def constants(self) -> list[ir.Variable]:
        """File-scope constants: the user's definitions of these are repeated."""
        functions = [self.function, *self.context.helpers.values()]
        found = {g.name: g for f in functions for g in f.globals if g.const and self.is_defined(g)}
        return list(found.values())

    def is_defined(self, variable: ir.Variable) -> bool:
        return self.context.global_cursors[variable.name].is_definition() and (variable.value is not None or variable.is_array)

    def constant_texts(self) -> list[str]:
        texts = []
        for variable in sorted(self.constants(), key=lambda v: self.order(self.context.global_cursors[v.name])):
            text = self.text_of(self.context.global_cursors[variable.name])
            texts.append(f"{text if text.startswith('static') else f'static {text}'};")
        return texts

    # --- macros --------------------------------------------------------------------------------------------------------

    def macro_names(self) -> list[str]:
        """Macros that the text of functions, types and constants uses, and those that they use."""
        cursors = [t.cursor for t in self.context.trees] + list(self.types.values())
        cursors += [self.context.global_cursors[v.name] for v in self.constants()]
        names: set[str] = set()
        for cursor in cursors:
            extent = cursor.extent
            span = ir.Span(extent.start.offset, extent.end.offset)
            for name in self.context.macros.within(extent.start.file.name, span):
                self.close(name, names)
        definitions = self.context.macros.definitions
        users = [n for n in names if n not in LEFT_OUT and n in definitions]
        return sorted(users, key=lambda n: self.order(definitions[n][-1]))

    def close(self, name: str, names: set[str]) -> None:
        if name in names or name not in self.context.macros.definitions:
            return
        names.add(name)
        if self.is_users(name):
            for token in self.context.macros.body(name):
                self.close(token, names)

    def is_users(self, name: str) -> bool:
        file = self.context.macros.definitions[name][-1].extent.start.file
        return file is not None and not is_system(file.name)

    def macro_texts(self) -> list[str]:
        names = self.macro_names()
        values = self.system_values([n for n in names if not self.is_users(n)])
        texts = []
        for name in names:
            if self.is_users(name):
                texts.append(guarded(name, f"#define {self.text_of(self.context.macros.definitions[name][-1])}"))
            elif values.get(name):
                texts.append(guarded(name, f"#define {name} {values[name]}"))
        return texts

    def system_values(self, names: list[str]) -> dict[str, str]:
        """The full expansions of object-like macros of system headers (or -D arguments)."""
        wanted = [n for n in names if n not in INFINITE]
        values = {n: INFINITE[n] for n in names if n in INFINITE}
        if wanted:
            marks = "\n".join(f"cudaperf_value_{i} {name}" for i, name in enumerate(wanted))
            lines = preprocess(self.translation.path, self.translation.arguments, marks).splitlines()
            for line in lines:
                if line.startswith("cudaperf_value_"):
                    mark, _, value = line.partition(" ")
                    name = wanted[int(mark.rsplit("_", 1)[1])]
                    if value.strip() and value.strip() != name:
                        values[name] = without_long_double(value.strip())
        return values

    def compatibility(self) -> list[str]:
        """Macros and typedefs that C text needs in C++ or without headers."""
        text = b" ".join(t.source.text[t.start : t.end] for t in self.context.trees).decode(errors="replace")
        words = set(WORDS.findall(text))
        extra = []
        if "_Bool" in words:
            extra.append("#if defined(__cplusplus) && !defined(_Bool)\n#define _Bool bool\n#endif")
        if "restrict" in words:
            extra.append("#if defined(__cplusplus) && !defined(restrict)\n#define restrict __restrict__\n#endif")
        for name in sorted(words & BIT_BUILTINS):
            extra.append(device_bits(name))
        if self.fixed:
            lines = "\n".join(self.fixed[n] for n in sorted(self.fixed))
            extra.append(f"#ifdef __CUDACC_RTC__\n{lines}\n#endif")
        return [e for e in extra if e]

    # --- helpers -------------------------------------------------------------------------------------------------------

    def helper_texts(self) -> list[str]:
        texts = []
        for tree in self.context.trees:
            helper = self.context.helpers.get(tree.spelling)
            if helper is not None:
                texts.append(helper_text(tree, helper))
        return texts

    # --- headers -------------------------------------------------------------------------------------------------------

    def signature_types(self) -> tuple[list[str], list[str]]:
        """(headers to include, names defined in the .c file itself) of the types in the signature."""
        own = _Preamble.__new__(_Preamble)
        own.translation, own.context, own.types, own.fixed = self.translation, self.context, {}, {}
        root = next(t for t in self.context.trees if t.spelling == self.function.name)
        own.add_type(root.cursor.result_type)
        for parameter in (c for c in root.children if c.kind == "PARM_DECL"):
            own.add_type(parameter.cursor.type)
        headers, local = list[str](), list[str]()
        for cursor in sorted(own.types.values(), key=self.order):
            file = cursor.extent.start.file.name
            if file == self.translation.path:
                local += [cursor.spelling] if cursor.spelling not in local else []
            else:
                header = self.included_as(file)
                headers += [header] if header and header not in headers else []
        return headers, local

    def included_as(self, file: str) -> str | None:
        """The name in the main file's #include that brings a header in."""
        parents = {i.include.name: (i.source.name, i.location.line) for i in self.translation.unit.get_includes()}
        while file in parents:
            source, line = parents[file]
            if source == self.translation.path:
                written = self.translation.text.splitlines()[line - 1].decode(errors="replace")
                found = re.search(r'[<"]([^>"]+)[>"]', written)
                return found.group(1) if found else Path(file).name
            file = source
        return None


def build_preamble(translation: Translation, context: UnitContext, function: ir.Function) -> ir.Preamble:
    """The preamble of a lowered function."""
    found = _Preamble(translation, context, function)
    headers, local = found.signature_types()
    return ir.Preamble(
        macros=(*found.compatibility(), *found.macro_texts()),
        types=(*found.type_texts(), *found.constant_texts()),
        helpers=tuple(found.helper_texts()),
        type_headers=tuple(headers),
        local_types=tuple(local),
    )


def encloses(outer: Any, inner: Any) -> bool:
    """Whether one declaration's text contains the other's."""
    one, other = outer.extent, inner.extent
    if one.start.file is None or other.start.file is None or one.start.file.name != other.start.file.name:
        return False
    size = one.end.offset - one.start.offset > other.end.offset - other.start.offset
    return bool(size and one.start.offset <= other.start.offset and other.end.offset <= one.end.offset)


def guarded(name: str, definition: str) -> str:
    return f"#ifndef {name}\n{definition}\n#endif"


def without_long_double(value: str) -> str:
    """Decimal constants without the suffix of long double, which device code does not have."""
    return re.sub(r"(\d\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)[lL]\b", r"\1", value)


def device_bits(name: str) -> str:
    """The device function for one of gcc's bit builtins."""
    op, size = re.fullmatch(r"__builtin_(popcount|clz|ctz|ffs)(l*)", name).groups()  # type: ignore[union-attr]
    suffix = "ll" if size else ""
    value = f"(__ffs{suffix}(x) - 1)" if op == "ctz" else f"{DEVICE_BITS[op]}{suffix}(x)"
    return f"#if defined(__CUDACC_RTC__) || defined(__CUDA_ARCH__)\n#define {name}(x) {value}\n#endif"


def helper_text(tree: Syntax, helper: ir.Function) -> str:
    """A helper as CUDA C++: its head without storage class, and its body."""
    body = tree.children[-1]
    head = respelled(tree.source.text, tree.start, body.start, [tree.cursor]).decode(errors="replace").replace("\r\n", "\n")
    head = re.sub(r"\brestrict\b", "__restrict__", SPECIFIERS.sub("", head)).strip()
    lines = Printer(tree.source.text).statement(helper.body)
    return f"{' '.join(head.split())} {chr(10).join(lines)}"
