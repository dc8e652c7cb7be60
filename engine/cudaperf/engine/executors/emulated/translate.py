"""A `.cu` file as C++ for the host compiler: launches, shared arrays and launch bounds rewritten, lines kept.

The translation is textual and works on CUDA C++ in the emitter's style; it does not parse C++. Comments and literals are
never touched. Every line of the result has the number it had in the `.cu` file, so that compilers and sanitizers speak of
the user's file. What it can't translate raises `Untranslatable`, with the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


class Untranslatable(Exception):
    """CUDA text outside what the emulation covers."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


@dataclass(frozen=True, slots=True)
class Edit:
    start: int
    end: int
    text: str


_LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_SHARED = re.compile(r"(?:\b(?:extern|static)\s+)?\b__shared__\b[^;]*;")
_ASSEMBLY = re.compile(r"\b(?:asm|__asm__|__asm)\b\s*(?:volatile|__volatile__)?\s*\(")
_LAUNCH_BOUNDS = re.compile(r"\b__launch_bounds__\s*\(")
_KERNEL_NAME = re.compile(r"(?:\s|\b(?:void|__global__|static)\b)*(\w+)\s*\(")
_DECLARATOR = re.compile(r"^(?P<spec>.*[\s*&>])(?P<name>[A-Za-z_]\w*)\s*(?P<dims>(?:\[[^\]]*\]\s*)*)$", re.DOTALL)
_ALIGN = re.compile(r"\b(?:__align__|alignas)\s*\(([^()]*)\)")


def translate(cu: str, name: str) -> str:
    """The C++ text of `cu`; messages about it name the file `name`."""
    mask = mask_literals(cu)
    edits = [*_shared_edits(cu, mask), *_launch_edits(cu, mask), *_noinline_edits(mask), *_assembly_edits(cu, mask)]
    body = _apply(cu, edits)
    footer = "".join(_registrations(cu, mask))
    return f'#include "cudaperf_prelude.h"\n#line 1 "{name}"\n{body}\n{footer}'


def mask_literals(text: str) -> str:
    """`text` with comments and literals blanked, same length and lines."""
    return _LITERAL.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _apply(text: str, edits: list[Edit]) -> str:
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        lost = text.count("\n", edit.start, edit.end) - edit.text.count("\n")
        parts += [text[at : edit.start], edit.text, "\n" * lost]
        at = edit.end
    return "".join([*parts, text[at:]])


def _noinline_edits(mask: str) -> Iterator[Edit]:
    for match in re.finditer(r"\b__noinline__\b", mask):
        if not mask[: match.start()].endswith("(("):
            yield Edit(match.start(), match.end(), "__attribute__((noinline))")


# --- asm("instruction operands;" : outputs : inputs : clobbers) ------------------------------------------------------------


def _assembly_edits(cu: str, mask: str) -> Iterator[Edit]:
    """One PTX instruction becomes a call of its model: `cudaperf_emu::ptx::name(line, outputs..., inputs...)`.

    The name is the instruction's with underscores, and its literal operands.
    """
    for match in _ASSEMBLY.finditer(mask):
        line = _line(cu, match.start())
        close = _matching_paren(mask, match.end() - 1)
        sections = _split(mask, match.end(), close, ":")
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', cu[slice(*sections[0])])).strip()
        instruction = re.fullmatch(r"([a-z][\w.]*)[^;]*;?", text)
        if not instruction:
            raise Untranslatable(line, f"inline assembly must be one PTX instruction: {text!r}")
        name = "_".join([instruction[1].replace(".", "_"), *re.findall(r", (\d+)\b", text)])
        operands = [_operand(cu, part, line) for section in sections[1:3] for part in _split(mask, *section, ",")]
        arguments = ", ".join([str(line), *(operand for operand in operands if operand)])
        yield Edit(match.start(), close + 1, f"::cudaperf_emu::ptx::{name}({arguments})")


def _operand(cu: str, part: tuple[int, int], line: int) -> str:
    text = cu[slice(*part)].strip()
    match = re.fullmatch(r'"[^"]*"\s*\((.*)\)', text, re.DOTALL)
    if text and not match:
        raise Untranslatable(line, f"not an operand of inline assembly: {text}")
    return match[1] if match else ""


def _split(mask: str, start: int, end: int, separator: str) -> list[tuple[int, int]]:
    """The ranges between top-level separators."""
    cuts, depth = [start - 1], 0
    for i in range(start, end):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(mask[i], 0)
        if mask[i] == separator and depth == 0:
            cuts.append(i)
    return [(a + 1, b) for a, b in zip(cuts, [*cuts[1:], end], strict=True)]


# --- kernel<<<...>>>(...) ----------------------------------------------------------------------------------------------


def _launch_edits(cu: str, mask: str) -> Iterator[Edit]:
    at = mask.find("<<<")
    while at >= 0:
        end = _find_close(mask, at + 3, cu)
        start = _kernel_start(mask, at)
        kernel = cu[start:at].strip()
        name = re.split(r"\s*<", kernel)[0]
        yield Edit(start, at + 3, f'::cudaperf_emu::launch("{name}", {_line(cu, start)}, ')
        yield Edit(end, end + 3, f")({kernel})")
        at = mask.find("<<<", end)


def _find_close(mask: str, at: int, cu: str) -> int:
    depth = 0
    for i in range(at, len(mask)):
        if mask[i] in "([{":
            depth += 1
        elif mask[i] in ")]}":
            depth -= 1
        elif depth == 0 and mask.startswith(">>>", i):
            return i
    raise Untranslatable(_line(cu, at), "<<< without >>>")


def _kernel_start(mask: str, at: int) -> int:
    """Where the kernel's name before `<<<` begins; it may have template arguments and a namespace."""
    i = at
    while mask[i - 1].isspace():
        i -= 1
    if mask[i - 1] == ">":
        depth = 0
        while i > 0:
            i -= 1
            depth += {">": 1, "<": -1}.get(mask[i], 0)
            if depth == 0:
                break
    match = re.search(r"[\w:]+\s*$", mask[:i])
    if not match:
        raise Untranslatable(_line(mask, at), "<<< without a kernel's name before it")
    return match.start()


# --- __shared__ --------------------------------------------------------------------------------------------------------


def _shared_edits(cu: str, mask: str) -> Iterator[Edit]:
    for match in _SHARED.finditer(mask):
        line = _line(cu, match.start())
        text = " ".join(mask[match.start() : match.end() - 1].split())
        extern = bool(re.search(r"\bextern\b", text))
        text = re.sub(r"\b(?:extern|static|__shared__)\b", " ", _ALIGN.sub(" ", text)).strip()
        inside = _inside_function(mask, match.start())
        if "=" in text or "(" in re.sub(r"\[[^\]]*\]", "", text):
            raise Untranslatable(line, f"a shared variable can't have this declarator: {text}")
        if not extern and not inside:
            raise Untranslatable(line, "__shared__ variables outside of a function are not emulated")
        yield Edit(match.start(), match.end(), "".join(_shared_declarations(text, line, extern, inside)))


def _shared_declarations(text: str, line: int, extern: bool, inside: bool) -> Iterator[str]:
    spec = ""
    for position, part in enumerate(_split_commas(text)):
        match = _DECLARATOR.match(part.strip() if position == 0 else f"{spec} {part.strip()}")
        if not match:
            raise Untranslatable(line, f"a shared variable can't have this declarator: {part.strip()}")
        spec, name, dims = match["spec"].strip(), match["name"], match["dims"].strip()
        yield (_dynamic if extern else _static)(spec, name, dims, line, inside)


def _static(spec: str, name: str, dims: str, line: int, inside: bool) -> str:
    kind = f"cudaperf_{name}_t"
    place = f'::cudaperf_emu::shared_array(&cudaperf_{name}_slot, sizeof({kind}), alignof({kind}), "{name}", {line})'
    return (
        f"typedef {spec} {kind}{dims}; static ::cudaperf_emu::Slot cudaperf_{name}_slot; {kind} &{name} = *({kind} *){place};"
    )


def _dynamic(spec: str, name: str, dims: str, line: int, inside: bool) -> str:
    if not re.match(r"\[\s*\]", dims):
        raise Untranslatable(line, f"extern __shared__ needs an array without a size: {name}")
    rest = dims[dims.index("]") + 1 :].strip()
    kind = f"cudaperf_{name}_t"
    if inside:
        return f"typedef {spec} {kind}{rest}; {kind} *{name} = ({kind} *)::cudaperf_emu::dynamic_shared();"
    return f"typedef {spec} {kind}{rest}; static const ::cudaperf_emu::DynamicShared<{kind}> {name};"


def _split_commas(text: str) -> list[str]:
    """Top-level commas (template arguments and brackets protected)."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += {"<": 1, "[": 1, "(": 1, ">": -1, "]": -1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def _inside_function(mask: str, at: int) -> bool:
    """Whether some open brace before `at` belongs to more than a namespace or an extern "C" block."""
    stack: list[bool] = []
    for match in re.finditer(r"[{}]", mask[:at]):
        if match[0] == "}":
            if stack:
                stack.pop()
            continue
        head = re.split(r"[;{}]", mask[: match.start()])[-1]
        stack.append(not re.fullmatch(r"(?:\s*#[^\n]*\n)*\s*(?:(?:inline\s+)?namespace(?:\s+[\w:]+)?|extern)\s*", head))
    return any(stack)


# --- what the runtime must know before the first launch ------------------------------------------------------------------


def _registrations(cu: str, mask: str) -> Iterator[str]:
    if '"cp.async' in cu:
        yield "static const ::cudaperf_emu::UsesCopies cudaperf_uses_copies;\n"
    for number, match in enumerate(_LAUNCH_BOUNDS.finditer(mask)):
        close = _matching_paren(mask, match.end() - 1)
        found = _KERNEL_NAME.match(mask, close + 1)
        head = re.split(r"[;}]", mask[: match.start()])[-1]
        if not found or "template" in head or re.search(r"#\s*define[^\n]*$", mask[: match.start()]):
            continue
        threads = _split_commas(cu[match.end() : close])[0]
        yield f"static const ::cudaperf_emu::Bounds cudaperf_bounds_{number}((const void *)(&{found[1]}), ({threads}));\n"


def _matching_paren(mask: str, at: int) -> int:
    depth = 0
    for i in range(at, len(mask)):
        depth += {"(": 1, ")": -1}.get(mask[i], 0)
        if depth == 0:
            return i
    raise Untranslatable(_line(mask, at), "( without )")
