"""CUDA inside Python strings: kernels for load_inline, RawKernel, RawModule, SourceModule, _compile_kernel and their like.

Any string that holds CUDA is found, whoever it is passed to, except a template: what an f-string, `%`, `.format`, `Template`,
`.replace` or the text around a piece would put in is not known, so such strings are left out. Byte ranges map back to the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from cudaperf.engine.cuda.literals import Decoded, Literal, decode

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

CUDA: Final = re.compile(rb"__global__|__device__|<<<")
_PLACEHOLDER: Final = re.compile(rb"%\(\w+\)[a-zA-Z]|\$\{?\w|\{%|\{\{\s*[a-zA-Z_][\w.]*\s*\}\}|<%")
_FILLS: Final = frozenset(("format", "format_map", "replace", "substitute", "safe_substitute", "render", "translate"))
_STATEMENTS: Final = re.compile(r".*_statement|module|block|decorated_definition|function_definition|class_definition|lambda")


@dataclass(frozen=True, slots=True)
class Embedded:
    """A string that holds CUDA; `statement` is where the Python statement around it begins."""

    decoded: Decoded
    literals: tuple[Literal, ...]
    statement: int

    @property
    def text(self) -> bytes:
        return self.decoded.text

    def range(self, start: int, end: int) -> tuple[int, int]:
        """The bytes of the file that spell a range of the text."""
        begin = self.decoded.file_start(start)
        return (begin, self.decoded.file_end(end)) if end > start else (begin, begin)

    def respelled(self, start: int, end: int, text: str) -> tuple[int, int, str] | None:
        """An edit of the text as one of the file; None where it crosses literals or its text would need other quotes."""
        begin, stop = self.range(start, end)
        literal = next((each for each in self.literals if each.inner <= begin <= stop <= each.inner_end), None)
        if literal is None or any(quote in text for quote in "'\"") or (literal.bytes and not text.isascii()):
            return None
        if literal.raw:
            unspellable = text.endswith("\\") or ("\n" in text and not literal.triple)
            return None if unspellable else (begin, stop, text)
        escaped = text.replace("\\", "\\\\")
        return begin, stop, escaped if literal.triple else escaped.replace("\n", "\\n")


@dataclass(frozen=True, slots=True)
class PythonFile:
    """The strings that hold CUDA, and the byte ranges of the comments, in the order of the file."""

    texts: tuple[Embedded, ...] = ()
    comments: tuple[tuple[int, int], ...] = ()


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_python
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_python.language()))


def read(data: bytes) -> PythonFile:
    """The CUDA of one Python file. Broken Python gives what can be made out."""
    if not CUDA.search(data):
        return PythonFile()
    strings: list[Node] = []
    comments: list[tuple[int, int]] = []
    templates: set[str] = set()
    for node in _nodes(_parser().parse(data).root_node):
        if node.type == "comment":
            comments.append((node.start_byte, node.end_byte))
        elif node.type in ("string", "concatenated_string"):
            strings.append(node)
        else:
            templates |= _filled(node)
    found = (_embedded(data, node, templates) for node in strings)
    return PythonFile(tuple(each for each in found if each is not None), tuple(comments))


def _nodes(root: Node) -> Iterator[Node]:
    """Every node in the order of the text, those inside strings left out."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if node.type == "concatenated_string":
            waiting.extend(child for child in reversed(node.children) if child.type == "comment")
        elif node.type != "string":
            waiting.extend(reversed(node.children))


def _filled(node: Node) -> set[str]:
    """Names whose value this node fills in as a template."""
    if node.type == "binary_operator" and _word(node.child_by_field_name("operator")) == "%":
        return _names(node.child_by_field_name("left"))
    if node.type == "augmented_assignment" and _word(node.child_by_field_name("operator")) == "%=":
        return _names(node.child_by_field_name("left"))
    if node.type != "call":
        return set()
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    called = _word(function).rpartition(".")[2]
    if called in _FILLS and function is not None:
        return _names(function.child_by_field_name("object"))
    if _takes_template(called) and arguments is not None:
        return set().union(*map(_names, arguments.named_children))
    return set()


def _takes_template(called: str) -> bool:
    return called.endswith("Template") or called in ("sub", "subn", "from_string")


def _names(node: Node | None) -> set[str]:
    """The variable or attribute that an expression reads, the container for one of its elements."""
    while node is not None and node.type in ("parenthesized_expression", "subscript"):
        node = node.child_by_field_name("value") or next(iter(node.named_children), None)
    return {_word(node).rpartition(".")[2]} if node is not None and node.type in ("identifier", "attribute") else set()


def _embedded(data: bytes, node: Node, templates: set[str]) -> Embedded | None:
    if not CUDA.search(data, node.start_byte, node.end_byte):  # an escape inside a marker would hide it
        return None
    parts = [node] if node.type == "string" else [child for child in node.children if child.type == "string"]
    literals = tuple(literal for part in parts if (literal := _literal(data, part)) is not None)
    if len(literals) < len(parts):
        return None
    decoded = decode(data, literals)
    text = decoded.text
    if b"{" not in text or not CUDA.search(text) or _is_template_text(text):
        return None
    statement = _placed(node, text, templates)
    return Embedded(decoded, literals, statement.start_byte) if statement is not None else None


def _literal(data: bytes, node: Node) -> Literal | None:
    """None where the value is not in the file: an f-string, a template string, no end."""
    if not node.children or node.children[0].type != "string_start" or node.children[-1].type != "string_end":
        return None
    opening, closing = node.children[0], node.children[-1]
    start = data[opening.start_byte : opening.end_byte]
    prefix = start.rstrip(b"'\"").lower()
    if b"f" in prefix or b"t" in prefix or closing.is_missing:
        return None
    triple = len(start) - len(prefix) == 3
    inner = (opening.end_byte, closing.start_byte)
    return Literal(node.start_byte, node.end_byte, *inner, raw=b"r" in prefix, bytes=b"b" in prefix, triple=triple)


def _is_template_text(text: bytes) -> bool:
    """Whether the text itself shows placeholders: %(name)s, ${name}, {{ name }}, or all braces doubled for .format."""
    if _PLACEHOLDER.search(text):
        return True
    single = re.sub(rb"\{\{|\}\}", b"", text)
    return b"{{" in text and re.search(rb"[{}]", re.sub(rb"\{[\w.!:\[\]]*\}", b"", single)) is None


def _placed(node: Node, text: bytes, templates: set[str]) -> Node | None:
    """The statement around a string; None for a docstring, a template, or an unfinished piece of a longer text."""
    child, parent = node, node.parent
    while parent is not None and not _STATEMENTS.fullmatch(parent.type):
        if _fills(parent, templates) or (_appends(parent) and not _balanced(text)):
            return None
        child, parent = parent, parent.parent
    if parent is None or not parent.type.endswith("_statement"):
        return child
    return None if parent.type == "expression_statement" and child == node else parent


def _fills(around: Node, templates: set[str]) -> bool:
    """Whether what stands around a string makes it a template."""
    if around.type == "binary_operator":
        return _word(around.child_by_field_name("operator")) == "%"
    if around.type == "attribute":
        return _word(around.child_by_field_name("attribute")) in _FILLS
    if around.type == "call":
        return _takes_template(_word(around.child_by_field_name("function")).rpartition(".")[2])
    if around.type in ("assignment", "augmented_assignment"):
        return bool(_names(around.child_by_field_name("left")) & templates)
    return False


def _appends(around: Node) -> bool:
    if around.type == "binary_operator":
        return _word(around.child_by_field_name("operator")) == "+"
    return around.type == "augmented_assignment"


def _balanced(text: bytes) -> bool:
    return all(text.count(opening) == text.count(closing) for opening, closing in (b"{}", b"()"))


def _word(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""
