"""The `.h` file: both entry points for C and C++, with what each pointer is, how large, and what is written.

It compiles without the user's main file and, for the host function, without CUDA's headers: the device function is declared
where those are found. Types that only the main file defines are repeated under a macro that whoever has them already defines.
"""

from __future__ import annotations

import re
import textwrap

from cudaperf.engine.emit.account import Account, comment, header_opening
from cudaperf.engine.emit.device_entry import result_name, stream_name
from cudaperf.engine.emit.layout import Layout
from cudaperf.engine.emit.names import RESERVED
from cudaperf.engine.emit.spelling import STDDEF, STDINT, defines, definition, structs, type_name
from cudaperf.engine.emit.wording import extent_words, listed, words
from cudaperf.engine.emit.writer import Writer
from cudaperf.engine.task import ArrayParameter, ScalarParameter, StructType


def guard(header_name: str) -> str:
    """The include guard's macro."""
    return f"{_prefix(header_name)}_CUDA_H"


def _prefix(header_name: str) -> str:
    """What the header's own macros begin with."""
    word = re.sub(r"[^A-Za-z0-9]", "_", header_name.removesuffix(".h")).upper()
    return word if word[:1].isalpha() else f"CUDAPERF_{word}"


def types_macro(header_name: str) -> str:
    """Defined by whoever includes the header with the user's types already in sight."""
    return f"{_prefix(header_name)}_HAS_TYPES"


def header(layout: Layout, header_name: str, cu_name: str, account: Account | None = None) -> str:
    """The text of the .h file."""
    macro = guard(header_name)
    cuda = f"{_prefix(header_name)}_HAS_CUDA"
    host, device = host_prototype(layout), device_prototype(layout)
    sections = [
        [f"#ifndef {macro}", f"#define {macro}"],
        [f"#include <{name}>" for name in _standard(f"{host} {device}")],
        _cuda_lines(cuda),
        *type_sections(layout, header_name),
        ["#ifdef __cplusplus", 'extern "C" {', "#endif"],
        [*_host_comment(layout).splitlines(), *host.splitlines()],
        [f"#ifdef {cuda}", *_device_comment(layout).splitlines(), *device.splitlines(), "#endif"],
        ["#ifdef __cplusplus", "}", "#endif"],
        ["#endif"],
    ]
    body = "\n\n".join("\n".join(lines) for lines in sections if lines)
    return f"{header_opening(layout.task, header_name, cu_name, account)}{body}\n"


def _cuda_lines(macro: str) -> list[str]:
    """CUDA's types, where the compiler finds their header: plain C that calls the host function can do without."""
    found = ["#if __has_include(<cuda_runtime_api.h>)", "#include <cuda_runtime_api.h>", f"#define {macro}", "#endif"]
    return ["#ifdef __has_include", *found, "#endif"]


def _standard(text: str) -> list[str]:
    words = set(re.findall(r"\w+", text))
    wanted = {"stdbool.h": {"bool"}, "stddef.h": STDDEF, "stdint.h": STDINT}
    return [name for name, names in wanted.items() if words & names]


# --- types -------------------------------------------------------------------------------------------------------------


def type_sections(layout: Layout, header_name: str) -> list[list[str]]:
    """Forward declarations, includes and definitions of the types that the prototypes name."""
    used = _signature_structs(layout)
    sections = [[f"{s.name};" for s in used if _opaque(layout, s)]]
    if needs_types(layout):
        macro = types_macro(header_name)
        local = [s for s in structs(s for s in used if not _opaque(layout, s)) if _is_local(layout, s)]
        lines = [f"/* Define {macro} first where these types are defined already. */", f"#ifndef {macro}"]
        lines += [f"#include {_included(name)}" for name in layout.task.type_headers]
        lines += [line for struct in local for line in definition(struct).splitlines()]
        sections.append([*lines, "#endif"])
    return sections


def _included(name: str) -> str:
    """A header's name as an #include writes it."""
    return name if name[:1] in ("<", '"') else f'"{name}"'


def needs_types(layout: Layout) -> bool:
    """Whether the header brings types that the .cu file has its own text of."""
    used = _signature_structs(layout)
    return bool(layout.task.type_headers) or any(not _opaque(layout, s) for s in used)


def _signature_structs(layout: Layout) -> list[StructType]:
    types = [p.type for p in layout.variables] + ([layout.task.returns] if layout.task.returns else [])
    return list({t.name: t for t in types if isinstance(t, StructType)}.values())


def _opaque(layout: Layout, struct: StructType) -> bool:
    """`struct x;` is enough: the type is tagged and only pointed to."""
    by_value = [p.type for p in layout.variables if isinstance(p, ScalarParameter)] + [layout.task.returns]
    return struct.name.startswith("struct ") and all(t is None or t.name != struct.name for t in by_value)


def _is_local(layout: Layout, struct: StructType) -> bool:
    """Whether no header that the user named can define it."""
    tag = struct.name.removeprefix("struct ")
    source = layout.task.original.source
    return not layout.task.type_headers or defines(source, tag) or re.search(rf"\bstruct\s+{tag}\s*\{{", source) is not None


# --- prototypes --------------------------------------------------------------------------------------------------------


def host_prototype(layout: Layout) -> str:
    """The host function: once where C and C++ agree, else for each."""
    task = layout.task
    c_return = type_name(task.returns, c=True) if task.returns else "void"
    c_form = Writer()
    c_form.sequence(f"{c_return} {layout.host_name}(", [layout.speller.c(p) for p in task.parameters] or ["void"], ");")
    cpp_form = Writer()
    cpp_form.sequence(f"{layout.returns} {layout.host_name}(", layout.host_parameters() or ["void"], ");")
    if not _c_only(c_form.text):
        return c_form.text
    return f"#ifdef __cplusplus\n{cpp_form.text}#else\n{c_form.text}#endif\n"


def _c_only(text: str) -> bool:
    """Whether the C prototype is no C++: restrict, sizes that are parameters or static, reserved names, _Bool;
    or another type than the plain pointers of the C++ one: arrays of arrays."""
    sized = any(not bracket.strip().isdigit() and bracket.strip() for bracket in re.findall(r"\[([^\]]*)\]", text))
    words = set(re.findall(r"\w+", text))
    nested = re.search(r"\]\s*\[|\(\s*\*", text) is not None
    return sized or nested or bool(words & {"restrict", "_Bool", "register"}) or bool(words & _reserved())


def _reserved() -> frozenset[str]:
    return RESERVED - {"bool"}


def device_prototype(layout: Layout) -> str:
    """The device function; its parameters are spelled alike in C and C++."""
    out = Writer()
    result = [f"{layout.returns} *{result_name(layout)}"] if layout.task.returns else []
    parameters = [*layout.device_parameters(), *result, f"cudaStream_t {stream_name(layout)}"]
    out.sequence(f"cudaError_t {layout.device_name}(", parameters, ");")
    return out.text


# --- comments ----------------------------------------------------------------------------------------------------------


def _host_comment(layout: Layout) -> str:
    task, name = layout.task, layout.name
    lines = [f"{name}() of {task.original.path} on the GPU: same arguments, all arrays in host memory.", ""]
    lines += _arrays(layout, task.arrays)
    lost = [p.name for p in task.arrays if p.access == "inout"]
    text = f"Calls {name}() itself, and says so once on stderr, where {_obstacles(layout)} or CUDA fails. "
    text += "Safe to call from several threads."
    if lost:
        verb = "is" if len(lost) == 1 else "are"
        text += f" Should the device be lost while {listed(lost)} {verb} copied back, the process is aborted."
    return comment([*lines, *textwrap.wrap(text, 100)])


def _obstacles(layout: Layout) -> str:
    parts = []
    if layout.task.nonnull:
        parts += [f"{name} is NULL" for name in layout.task.nonnull]
    if layout.requirements:
        verb = "do" if len(layout.requirements) > 1 else "does"
        parts.append(f"{listed([words(text) for text in layout.requirements])} {verb} not hold")
    if len(layout.task.arrays) > 1 and any(p.access != "in" for p in layout.task.arrays):
        parts.append("an array that is written overlaps another")
    return ", ".join(parts) or "there is no GPU"


def _device_comment(layout: Layout) -> str:
    task = layout.task
    lines = [f"The same on device memory: arrays of the sizes above{_device_extras(layout)}.", ""]
    text = f"Work is enqueued on `{stream_name(layout)}`; returns the first CUDA error. "
    needs = [words(text) for text in layout.requirements]
    if len(task.arrays) > 1 and any(p.access != "in" for p in task.arrays):
        needs.append("no array that is written overlaps another")
    if needs:
        text += f"Needs that {listed(needs)}."
    return comment([*lines, *textwrap.wrap(text.strip(), 100)])


def _device_extras(layout: Layout) -> str:
    extra = []
    if layout.task.globals:
        extra.append(f"; file-scope {listed([p.name for p in layout.task.globals])} as parameters too")
    if layout.task.returns:
        extra.append(f"; what {layout.name}() returns is written to *{result_name(layout)}")
    return "".join(extra)


def _arrays(layout: Layout, arrays: tuple[ArrayParameter, ...]) -> list[str]:
    """A line an array: access and extent."""
    if not arrays:
        return []
    access = {"in": "read", "out": "written", "inout": "read and written"}
    width = max(len(p.name) for p in arrays)
    kind = max(len(access[p.access]) for p in arrays)
    lines = []
    for p in arrays:
        extent = extent_words(p.extents, layout.scalar_requirements)
        where = " (file scope)" if p.is_global else ""
        lines.append(f"  {p.name:{width}}  {access[p.access]:{kind}}  {extent}{where}")
    return [*lines, ""]
