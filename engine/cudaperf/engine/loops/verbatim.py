"""The user's text with small edits: what `loops.printer` uses where most of a statement stays as it was written.

Line ends become \\n, and continuation lines keep their indentation relative to the first. Bytes that are not UTF-8 (in
comments) become replacement characters.
"""

from __future__ import annotations

import re

from cudaperf.engine.loops import ir

Edit = tuple[ir.Node, str]

NUMBER = re.compile(r"(0[xX][\da-fA-F.]+([pP][+-]?\d+)?|\d*\.?\d+\.?([eE][+-]?\d+)?)[uUlLfF]*")
COMMENT = re.compile(r"//(?:\\\r?\n|[^\n])*|/\*.*?\*/", re.DOTALL)


def is_atom(text: str) -> bool:
    """Whether a replacement binds as tightly as an identifier: a name, number, parenthesis, member, subscript or call."""
    if NUMBER.fullmatch(text):
        return True
    head = re.match(r"[A-Za-z_]\w*(::\w+)*", text)
    rest = text[head.end() :] if head else text
    if not head and not text.startswith("("):
        return False
    while rest:
        member = re.match(r"(\.|->)[A-Za-z_]\w*", rest)
        end = member.end() if member else _closing(rest)
        if not end:
            return False
        rest = rest[end:]
        if not head and rest and not rest.startswith((".", "->", "[")):
            return False
    return True


def _closing(text: str) -> int:
    """One past the bracket that closes the one `text` starts with; 0 where there is none."""
    if text[:1] not in ("(", "["):
        return 0
    depth = 0
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth == 0:
            return position + 1
    return 0


def edited(text: bytes, span: ir.Span, edits: list[Edit]) -> str | None:
    """The text at `span` with the edits made; None where an edited node has no place of its own inside it."""
    pieces, at = [], span.start
    once = {e[0].span if isinstance(e[0], ir.Spelled) else id(e[0]): e for e in edits}  # one name for several declarators
    for node, replacement in sorted(once.values(), key=lambda e: e[0].span.start if e[0].span else -1):
        if node.span is None or node.span.start < at or node.span.end > span.end:
            return None
        pieces += [text[at : node.span.start].decode(errors="replace"), _placed(text, node, replacement)]
        at = node.span.end
    return "".join([*pieces, text[at : span.end].decode(errors="replace")]).replace("\r\n", "\n")


def _placed(text: bytes, node: ir.Node, replacement: str) -> str:
    """The replacement as it can stand in the text: a safe operand, or a statement indented as the one it replaces."""
    assert node.span is not None
    if isinstance(node, ir.Stmt):
        if text[node.span.end : node.span.end + 80].lstrip()[:1] in (b",", b")", b";"):
            replacement = replacement.removesuffix(";")  # a clause of a loop's header
        return (replacement or ";").replace("\n", "\n" + line_indent(text, node.span.start))
    if isinstance(node, ir.Spelled):
        return replacement
    return replacement if is_atom(replacement) or _delimited(text, node.span) else f"({replacement})"


def _delimited(text: bytes, span: ir.Span) -> bool:
    """Whether brackets, commas, `=` or `;` on both sides make parentheses needless."""
    head, after = text[max(0, span.start - 80) : span.start], text[span.end : span.end + 80].lstrip()[:1]
    before = head.rstrip()[-2:].decode(errors="replace")
    return after in (b")", b"]", b",", b";") and before[-1:] in ("(", "[", ",", "=") and before not in ("==", "!=", "<=", ">=")


def line_indent(text: bytes, offset: int) -> str:
    """The white space that the line of `offset` begins with."""
    start = text.rfind(b"\n", 0, offset) + 1
    head = text[start:offset].decode(errors="replace")
    return head[: len(head) - len(head.lstrip())]


def dedented(content: str, lead: str) -> list[str]:
    """The lines of a piece of text, its continuation lines without the indentation `lead`."""
    first, *rest = content.split("\n")
    return [first.rstrip(), *((line.removeprefix(lead) if line.startswith(lead) else line.lstrip()).rstrip() for line in rest)]


def comments(text: bytes, start: int, end: int) -> list[str]:
    """The comments between two statements, one entry a line; empty where anything else stands there."""
    gap = text[start:end].decode(errors="replace").replace("\r\n", "\n")
    if COMMENT.sub("", gap).strip(" \t\n;{}"):
        return []
    found = [m for m in COMMENT.finditer(gap) if "\n" in gap[: m.start()]]
    return [line.strip() for m in found for line in m.group().split("\n")]
