"""Task and candidate to the user's files: `emit(task, candidate, "heat.step")` gives heat.step.cu and heat.step.h as text.

The .cu file holds the candidate's device code verbatim and, printed from its launch plan, two entry points: `NAME_cuda` (same C
signature, host memory, falls back to the user's own function) and `NAME_cuda_device` (device memory and a stream). It needs
nvcc and the CUDA runtime, nothing of this program. What can't be emitted raises `Refusal`.

Not promised: anything about speed or correctness; the comment at the top says only what the given `Account` says.
"""

from __future__ import annotations

import importlib
import importlib.util
import re

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.emit.account import Account, opening
from cudaperf.engine.emit.device_entry import device_entry
from cudaperf.engine.emit.header import header, needs_types, types_macro
from cudaperf.engine.emit.host_entry import HostEntry, declarations
from cudaperf.engine.emit.layout import Layout
from cudaperf.engine.emit.spelling import definition, structs
from cudaperf.engine.emit.support import standard_headers, support
from cudaperf.engine.executors.protocol import EmittedFiles
from cudaperf.engine.reason import Reason, ReasonCode, Refusal
from cudaperf.engine.size import SizeError
from cudaperf.engine.task import Task

_CP_FUNCTION = re.compile(r"\bcp_\w+")


def emit(
    task: Task, candidate: Candidate, base: str, account: Account | None = None, *, fallback: str | None = None
) -> EmittedFiles:
    """The files `base`.cu and `base`.h.

    `fallback` is a C++ definition of the user's function under its own name and with plain pointers as parameters, for an
    original with internal linkage. Only the opening comments depend on `account`.
    """
    layout = Layout(task, candidate)
    cu_name, header_name = f"{base}.cu", f"{base}.h"
    try:
        cu = _cu(layout, cu_name, header_name, account, fallback)
        declared = header(layout, header_name, cu_name, account)
        return EmittedFiles(cu_name=cu_name, cu=cu, header_name=header_name, header=declared)
    except SizeError as error:
        raise Refusal(Reason(ReasonCode.INTERNAL, f"the plan of {layout.name} can't be printed: {error}")) from error


def _cu(layout: Layout, cu_name: str, header_name: str, account: Account | None, fallback: str | None) -> str:
    candidate = layout.candidate
    host = "\n".join([declarations(layout, fallback), device_entry(layout), HostEntry(layout, fallback).text()])
    helpers = support(host, layout.host_name)
    device = _device_text(layout)
    includes = ["<cuda_runtime.h>", *(f"<{name}>" for name in standard_headers(f"{helpers}\n{device}\n{host}"))]
    own = [f'#include "{header_name}"', ""]
    if needs_types(layout):
        own.insert(0, f"#define {types_macro(header_name)}")
    parts = [
        opening(layout.task, candidate, cu_name, account),
        "\n".join(f"#include {name}" for name in includes) + "\n",
        helpers,
        device,
        "\n".join(own),
        host,
    ]
    return "\n".join(part.strip("\n") + "\n" for part in parts if part.strip())


def _device_text(layout: Layout) -> str:
    """The `cp_*` functions that the device code calls, types that only the signature names, the device code."""
    code = layout.candidate.device_code
    used = [p.type for p in layout.variables] + ([layout.task.returns] if layout.task.returns else [])
    absent = [s for s in structs(used) if not re.search(rf"\b{s.name.split()[-1]}\b", code)]
    return "\n".join([*([_cp_header(code)] if _CP_FUNCTION.search(code) else []), *map(definition, absent), code])


def _cp_header(code: str) -> str:
    """The device functions that strategies share; none where all of them write their own."""
    if importlib.util.find_spec("cudaperf.engine.strategies.cp") is None:
        return ""
    return str(importlib.import_module("cudaperf.engine.strategies.cp").cp_header(code))
