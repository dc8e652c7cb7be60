"""C names that are words of C++ or CUDA (`new`, `class`, `threadIdx`), renamed before anything reads the user's text.
Those that CUDA's headers declare (`max`, `float2`) too, where the user declares them at file scope.

The file is parsed once more with an underscore behind each of them, so that trees, spans and every text that is made from
them agree; `loops.places.restored` puts the user's names and columns back into what is said about the file. Strings,
character constants, comments (those for cudaperf apart) and #include lines stay as they are.
Not promised: names that only a macro pastes together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from cudaperf.engine.emit.names import KEYWORDS, cuda_names, fresh
from cudaperf.engine.loops.ir import Renamed
from cudaperf.engine.sources.c.syntax import is_system

DECLARATIONS: Final = frozenset(
    """
    VAR_DECL PARM_DECL FIELD_DECL STRUCT_DECL UNION_DECL ENUM_DECL ENUM_CONSTANT_DECL TYPEDEF_DECL FUNCTION_DECL LABEL_STMT
    MACRO_DEFINITION
    """.split()  # noqa: SIM905
)
WORD: Final = re.compile(rb"[A-Za-z_]\w*")
TOKEN: Final = re.compile(
    rb"""//[^\n]*cudaperf:[^\n]* | /\*[^*]*cudaperf:(?:[^*]|\*(?!/))*\*/   # read for the names in it
    | (?P<skip> //(?:\\\r?\n|[^\n])* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | ^[ \t]*\#[ \t]*include[^\n]*
    | \.?\d(?:[eEpP][+-]|[\w.])* )
    | [A-Za-z_]\w*""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)


def reserved_names(unit: Any, texts: Mapping[str, bytes]) -> Renamed:
    """(C++ name, the user's) of the names that these files declare and CUDA C++ reserves."""
    words = {word.decode() for text in texts.values() for word in WORD.findall(text)}
    if not words & (KEYWORDS | cuda_names().keys()):
        return ()
    declared, outer, systems = set[str](), set[str](), set[str]()
    for cursor in unit.cursor.get_children():
        file = cursor.location.file
        if file is None:
            continue
        if file.name not in texts:
            systems.add(cursor.spelling)
        elif cursor.kind.name == "MACRO_DEFINITION":
            declared |= _parameters(cursor) | {cursor.spelling}
        elif cursor.kind.name in DECLARATIONS:
            outer |= _at_file_scope(cursor)
            if words & KEYWORDS:
                declared.update(node.spelling for node in cursor.walk_preorder() if _declares(node))
    found = sorted(((declared & KEYWORDS) | (outer & cuda_names().keys())) - systems)
    return tuple((fresh(f"{name}_", words), name) for name in found)


def _at_file_scope(cursor: Any) -> set[str]:
    """What a declaration there declares; not where C++ takes it beside that of CUDA's headers."""
    if cursor.kind.name == "ENUM_DECL":
        return {cursor.spelling, *(each.spelling for each in cursor.get_children())}
    number = cuda_names().get(cursor.spelling)
    if number and cursor.kind.name == "TYPEDEF_DECL" and cursor.type.get_canonical().spelling == number:
        return set()
    return {cursor.spelling} if _declares(cursor) else set()


def _declares(node: Any) -> bool:
    """A function without a body is another file's: its name is not ours to change."""
    return node.kind.name in DECLARATIONS and (node.kind.name != "FUNCTION_DECL" or node.get_definition() is not None)


def _parameters(macro: Any) -> set[str]:
    tokens = [token.spelling for token in macro.get_tokens()]
    return set(tokens[2 : tokens.index(")")]) if tokens[1:2] == ["("] and ")" in tokens else set()


def files(unit: Any) -> set[str]:
    """The user's own files of a translation unit, headers included."""
    names = {unit.spelling, *(include.include.name for include in unit.get_includes())}
    return {name for name in names if not is_system(name)}


def renamed_text(text: bytes, names: Renamed) -> bytes:
    """The text with the C++ names in place of the user's."""
    spelled = {written.encode(): ours.encode() for ours, written in names}

    def token(match: re.Match[bytes]) -> bytes:
        if match["skip"] is not None:
            return match[0]
        return WORD.sub(lambda word: spelled.get(word[0], word[0]), match[0])

    return TOKEN.sub(token, text)
