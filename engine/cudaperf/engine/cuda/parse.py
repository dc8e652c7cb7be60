"""Parse CUDA text, incrementally where an older tree is at hand. Parsing never fails: errors are nodes of the tree.

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
    rb"\b__(?:cluster_dims|maxnreg|align|block_size)__\s*\((?:[^()]|\([^()]*\))*\)",
    rb"\b__(?:grid_constant|noinline|forceinline|managed)__\b",
    rb"\b(?:CUDA_CALLABLE|CUDART_CB|__host__)\b",
    rb"\balignas\s*\((?:[^()]|\([^()]*\))*\)",
    rb"\]\s*(?P<keep>__device__|__host__\s+__device__)",
)
_BOUNDS: Final = rb"\b__launch_bounds__\s*\((?P<bounds>[^()]*)\)"
_TOKEN: Final = re.compile(b"|".join((rb"(?P<skip>" + _SKIPPED.replace(rb"\1", rb"\2") + rb")", _BOUNDS, *_BLANKED)))


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language()))


def parse(data: bytes, old: Tree | None = None) -> Tree:
    """The tree of a text; `old`, edited to match, makes it incremental."""
    text = rewritten(data)
    return _parser().parse(text, old) if old is not None else _parser().parse(text)


def rewritten(data: bytes) -> bytes:
    """The text as the grammar takes it: of the same length, lines where they were."""
    return _TOKEN.sub(_replacement, data) if b"__" in data or b"alignas" in data else data


def _replacement(match: re.Match[bytes]) -> bytes:
    whole = match[0]
    if match["skip"] is not None:
        return whole
    if match["bounds"] is not None:
        parts = match["bounds"].split(b",")
        if len(parts) < 3:
            return whole
        third = len(b",".join(parts[2:])) + 1
        head = whole[: match.end("bounds") - match.start() - third]
        return head + b")" + b" " * (len(whole) - len(head) - 1)
    keep = b"]" if match["keep"] is not None else b""
    return keep + re.sub(rb"[^\r\n]", b" ", whole[len(keep) :])
