"""How types and parameters are spelled: the user's own C declaration for C, plain pointers for C++ and the device.

A typedef or macro that the main file defines for itself is replaced by what it stands for, so that the header compiles
without that file; names from `task.type_headers` and standard headers stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from cudaperf.engine.emit import expressions
from cudaperf.engine.emit.names import IDENTIFIER
from cudaperf.engine.size import SizeError
from cudaperf.engine.task import ArrayParameter, ElementType, Parameter, ScalarParameter, StructType, Task

STDINT: Final = frozenset(
    [f"{u}int{kind}{bits}_t" for u in ("", "u") for kind in ("", "_least", "_fast") for bits in (8, 16, 32, 64)]
    + ["intptr_t", "uintptr_t", "intmax_t", "uintmax_t"]
)
STDDEF: Final = frozenset({"size_t", "ptrdiff_t"})
_TYPE_WORDS: Final = frozenset(
    {"void", "char", "short", "int", "long", "signed", "unsigned", "float", "double", "_Bool", "bool"}
)
_QUALIFIERS: Final = frozenset({"const", "restrict", "__restrict", "__restrict__", "register", "static", "extern"})
_STANDARD: Final = STDINT | STDDEF | _TYPE_WORDS


class Speller:
    """Spells the parameters of one task."""

    def __init__(self, task: Task) -> None:
        self._headers = bool(task.type_headers)
        self._source = task.original.source
        self._parameters = frozenset(p.name for p in task.parameters)

    def element(self, parameter: Parameter) -> str:
        """The C++ type of a scalar or of an array's elements."""
        base = _base(parameter)
        words = IDENTIFIER.findall(base)
        if isinstance(parameter.type, StructType) or not words or any(w not in _STANDARD for w in words):
            return type_name(parameter.type)
        return base.replace("_Bool", "bool")

    def pointer(self, parameter: ArrayParameter, name: str) -> str:
        """`const T *name`, as the device function takes arrays."""
        return f"{'const ' if parameter.const else ''}{self.element(parameter)} *{name}"

    def cpp(self, parameter: Parameter, name: str) -> str:
        """The parameter in C++: arrays as plain pointers, `restrict` as `__restrict__`."""
        if isinstance(parameter, ScalarParameter):
            return f"{self.element(parameter)} {name}"
        qualifier = "__restrict__ " if parameter.restrict else ""
        return self.pointer(parameter, qualifier + name)

    def c(self, parameter: Parameter) -> str:
        """The parameter in C: as the user declared it wherever the header can know the names in it."""
        text = " ".join(parameter.declaration.split())
        if not text or self._known(text, parameter.name):
            return text or self._plain_c(parameter)
        if isinstance(parameter, ScalarParameter):
            return f"{type_name(parameter.type, c=True)} {parameter.name}"
        return self._rewritten(parameter, text) or self._plain_c(parameter)

    def _plain_c(self, parameter: Parameter) -> str:
        kind = type_name(parameter.type, c=True)
        if isinstance(parameter, ScalarParameter):
            return f"{kind} {parameter.name}"
        return f"{'const ' if parameter.const else ''}{kind} *{'restrict ' if parameter.restrict else ''}{parameter.name}"

    def _known(self, text: str, name: str) -> bool:
        return all(word == name or self._knows(word) for word in IDENTIFIER.findall(text))

    def _knows(self, word: str) -> bool:
        if word in _STANDARD or word in _QUALIFIERS or word in self._parameters or word == "struct":
            return True
        tag = re.search(rf"\bstruct\s+{word}\b", self._source) is not None
        return tag or (self._headers and not defines(self._source, word))

    def _rewritten(self, parameter: ArrayParameter, text: str) -> str | None:
        """The declaration with local typedefs and macros replaced; None where that takes more than substitution."""
        head, name, tail = text.rpartition(parameter.name) if "[" not in text else _around(text, parameter.name)
        brackets = re.findall(r"\[([^\]]*)\]", tail)
        if not name or ("*" not in head and not brackets):
            return None
        sizes = self._sizes(parameter, brackets)
        if sizes is None:
            return None
        kind = type_name(parameter.type, c=True)
        base = kind if any(not self._knows(w) for w in IDENTIFIER.findall(_base(parameter))) else _base(parameter)
        const = "const " if parameter.const else ""
        stars = "".join(c for c in head[head.find("*") :] if c in "*()") if "*" in head else ""
        restrict = "restrict " if parameter.restrict and stars else ""
        closing = ")" if "(" in stars else ""
        return f"{const}{base} {stars}{restrict}{parameter.name}{closing}{''.join(f'[{s}]' for s in sizes)}"

    def _sizes(self, parameter: ArrayParameter, brackets: list[str]) -> list[str] | None:
        first = len(parameter.extents) - len(brackets)
        sizes = []
        for position, text in enumerate(brackets):
            if self._known(text, ""):
                sizes.append(text)
                continue
            value = _constant(parameter.extents[first + position]) if first + position >= 0 else None
            if value is None and position + first > 0:
                return None
            sizes.append(str(value) if value is not None and position + first > 0 else "")
        return sizes


def type_name(element: ElementType, *, c: bool = False) -> str:
    """The canonical spelling of a type."""
    return "bool" if element.name == "_Bool" and not c else element.name


def defines(source: str, word: str) -> bool:
    """Whether C text defines a typedef, macro or enumerator of this name (by the look of it)."""
    return any(
        re.search(pattern, source, re.DOTALL)
        for pattern in (
            rf"#[ \t]*define[ \t]+{word}\b",
            rf"\btypedef\b[^;{{}}]*\b{word}\s*;",
            rf"\}}\s*{word}\s*;",
            rf"\benum\b[^;]*\b{word}\b",
        )
    )


def structs(types: Iterable[ElementType]) -> list[StructType]:
    """The struct types among these and inside them, innermost first, each once."""
    found: dict[str, StructType] = {}

    def visit(element: ElementType) -> None:
        if isinstance(element, StructType) and element.name not in found:
            for field in element.fields:
                visit(field.type)
            found.setdefault(element.name, element)

    for element in types:
        visit(element)
    return list(found.values())


def definition(struct: StructType) -> str:
    """A C definition of the struct with the members' canonical types."""
    members = [f"    {type_name(f.type, c=True)} {f.name}{''.join(f'[{d}]' for d in f.dims)};" for f in struct.fields]
    if struct.name.startswith("struct "):
        return "\n".join([f"{struct.name} {{", *members, "};"])
    return "\n".join(["typedef struct {", *members, f"}} {struct.name};"])


def _base(parameter: Parameter) -> str:
    """The type specifiers of the declaration: all words before the name, without qualifiers and declarators."""
    head = _around(parameter.declaration, parameter.name)[0]
    specifiers = re.split(r"[*(]", head, maxsplit=1)[0]
    return " ".join(w for w in re.findall(r"\w+", specifiers) if w not in _QUALIFIERS)


def _around(text: str, name: str) -> tuple[str, str, str]:
    """Before, the name, after; the name is the first whole word that spells it outside brackets."""
    match = re.search(rf"(?<!struct )\b{re.escape(name)}\b", text.split("[", 1)[0])
    if match is None:
        return text, "", ""
    return text[: match.start()], name, text[match.end() :]


def _constant(text: str) -> int | None:
    try:
        return expressions.constant(text)
    except SizeError:
        return None
