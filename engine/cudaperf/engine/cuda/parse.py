"""Parse CUDA text. Parsing never fails: errors are nodes of the tree.

Constructs that the grammar does not know are blanked or rewritten to others of the same length before it sees them, in code
only, never in comments or strings; the tree's offsets are those of the original text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

_SKIPPED: Final = (
    rb"//(?:\\\r?\n|[^\n])*|/\*[\s\S]*?(?:\*/|\Z)|R\"([^()\\\s]*)\([\s\S]*?\)\1\"|"
    rb"\"(?:\\[\s\S]|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'"
)
_BLANKED: Final = (
    rb"__(?:cluster_dims|maxnreg|align|block_size)__\s*\((?:[^()]|\([^()]*\))*\)",
    rb"__(?:grid_constant|noinline|forceinline|managed)__\b",
    rb"(?:CUDA_CALLABLE|CUDART_CB|__host__)\b",
    rb"alignas\s*\((?:[^()]|\([^()]*\))*\)",
    rb"\]\s*(?P<keep>__device__|__host__\s+__device__)",
)
_GROUPED: Final = rb"\([ \t]*(?P<name>[a-z]\w*)[ \t]*\)(?=[ \t]*[-+*&])"
"""`(x) + y`, which the grammar takes for a cast of `+y` to a type x."""
_TYPES: Final = frozenset(
    b"""auto bool char double float half int long number real scalar short signed size uchar uint ulong unsigned ushort
    void""".split()
)
_VECTOR: Final = re.compile(rb"(?:u?(?:char|short|int|long|longlong)|float|double|half|__half)[1-8]\Z")
_BOUNDS: Final = rb"__launch_bounds__\s*\((?P<bounds>[^()]*)\)"
_TOKEN: Final = re.compile(b"|".join((rb"(?P<skip>" + _SKIPPED.replace(rb"\1", rb"\2") + rb")", _BOUNDS, _GROUPED, *_BLANKED)))
_WORD: Final = re.compile(rb"\w")
_UNFINISHED: Final = re.compile(
    rb"(?:\]|\\|__(?:cluster_dims|maxnreg|align|block_size|launch_bounds)__|alignas|__host__)(?:\s|\([^)]*)*\Z"
)
"""The beginning of what may go on in the next line."""


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language()))


def parse(data: bytes) -> Tree:
    """The tree of a text."""
    return parse_rewritten(rewritten(data).text)


def parse_rewritten(text: bytes, old: Tree | None = None) -> Tree:
    """The tree of a text that is rewritten already; `old`, edited to match, makes it incremental."""
    return _parser().parse(text, old) if old is not None else _parser().parse(text)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text as the grammar takes it, of the same length, lines where they were. `spans` are the comments, strings and
    rewritten pieces of more than one line; `open`: what stands behind the text could be part of one of them."""

    text: bytes
    spans: tuple[tuple[int, int], ...]
    open: bool


def rewritten(data: bytes) -> Rewritten:
    """A text that begins in code."""
    spans: list[tuple[int, int]] = []
    reaching, raw = False, 0

    def replaced(match: re.Match[bytes]) -> bytes:
        nonlocal reaching, raw
        token = match[0]
        raw += token.count(b'R"')
        if b"\n" in token:
            spans.append(match.span())
        if match.end() == len(data) and match["skip"] is not None and token.startswith(b"/"):
            reaching = not (token.startswith(b"/*") and len(token) >= 4 and token.endswith(b"*/"))
        return _replacement(match)

    text = _TOKEN.sub(replaced, data)
    return Rewritten(text, tuple(spans), reaching or data.count(b'R"') > raw or _UNFINISHED.search(data[-400:]) is not None)


def _is_value(match: re.Match[bytes]) -> bool:
    """Whether a name in parentheses is a variable: no usual name of a type, and neither a call's argument nor a condition."""
    name, text = match["name"], match.string
    if name in _TYPES or name.endswith((b"_t", b"_type")) or _VECTOR.match(name):
        return False
    before = text[text.rfind(b"\n", 0, match.start()) + 1 : match.start()].rstrip()
    free = not _WORD.match(before[-1:]) and not before.endswith((b"]", b">"))
    return free or before.endswith(b"return")


def _replacement(match: re.Match[bytes]) -> bytes:
    whole = match[0]
    if match["skip"] is not None or _WORD.match(match.string, match.start() - 1, match.start()):
        return whole  # a comment, a string, the end of a longer word
    if match["name"] is not None:
        return b" " + whole[1:-1] + b" " if _is_value(match) else whole
    if match["bounds"] is not None:
        parts = match["bounds"].split(b",")
        if len(parts) < 3:
            return whole
        third = len(b",".join(parts[2:])) + 1
        head = whole[: match.end("bounds") - match.start() - third]
        return head + b")" + b" " * (len(whole) - len(head) - 1)
    keep = b"]" if match["keep"] is not None else b""
    return keep + re.sub(rb"[^\r\n]", b" ", whole[len(keep) :])
