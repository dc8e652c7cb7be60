"""Parse CUDA text. Parsing never fails: errors are nodes of the tree.

Constructs that the grammar does not know are blanked or rewritten to others of the same length before it sees them, in code
only, never in comments or strings; the tree's offsets are those of the original text.
"""

from __future__ import annotations

import re
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
_BOUNDS: Final = rb"__launch_bounds__\s*\((?P<bounds>[^()]*)\)"
_TOKEN: Final = re.compile(b"|".join((rb"(?P<skip>" + _SKIPPED.replace(rb"\1", rb"\2") + rb")", _BOUNDS, *_BLANKED)))
_WORD: Final = re.compile(rb"\w")


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language()))


def parse(data: bytes) -> Tree:
    """The tree of a text."""
    return parse_rewritten(rewritten(data))


def parse_rewritten(text: bytes, old: Tree | None = None) -> Tree:
    """The tree of a text that is rewritten already; `old`, edited to match, makes it incremental."""
    return _parser().parse(text, old) if old is not None else _parser().parse(text)


def closed(text: bytes) -> bool:
    """Whether comments and strings that begin in a stretch of code surely end in it."""
    if b'R"' in text:
        return False
    for match in _TOKEN.finditer(text):
        token = match["skip"]
        if token is not None and token.startswith(b"/") and match.end() == len(text):
            return token.startswith(b"/*") and len(token) >= 4 and token.endswith(b"*/")
    return True


def rewritten(data: bytes) -> bytes:
    """The text as the grammar takes it: of the same length, lines where they were."""
    return _TOKEN.sub(_replacement, data) if b"__" in data or b"alignas" in data else data


def _replacement(match: re.Match[bytes]) -> bytes:
    whole = match[0]
    if match["skip"] is not None or _WORD.match(match.string, match.start() - 1, match.start()):
        return whole  # a comment, a string, the end of a longer word
    if match["bounds"] is not None:
        parts = match["bounds"].split(b",")
        if len(parts) < 3:
            return whole
        third = len(b",".join(parts[2:])) + 1
        head = whole[: match.end("bounds") - match.start() - third]
        return head + b")" + b" " * (len(whole) - len(head) - 1)
    keep = b"]" if match["keep"] is not None else b""
    return keep + re.sub(rb"[^\r\n]", b" ", whole[len(keep) :])
