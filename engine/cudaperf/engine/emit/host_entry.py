"""`NAME_cuda`: the drop-in on host pointers, with copies and the way back to the user's own function.

Outputs are copied back only after everything else has succeeded, arrays that are input too last of all; up to there a failure
leaves host memory as it was and the user's function runs instead. A copy back of such an array that fails half-way ends the
process: neither the old nor the new values are there any more.
"""

from __future__ import annotations

import re
from itertools import combinations, zip_longest
from math import prod

from cudaperf.engine.emit import expressions
from cudaperf.engine.emit.expressions import Scope
from cudaperf.engine.emit.host_reads import HostReads
from cudaperf.engine.emit.layout import Layout
from cudaperf.engine.emit.signatures import array_types
from cudaperf.engine.emit.wording import words
from cudaperf.engine.emit.writer import Writer
from cudaperf.engine.reason import Reason, ReasonCode, Refusal
from cudaperf.engine.size import arrays
from cudaperf.engine.task import ArrayParameter, ScalarParameter


def declarations(layout: Layout, fallback: str | None) -> str:
    """The user's function and file-scope variables, as this file refers to them."""
    out = Writer()
    task = layout.task
    if task.original.static and fallback is None:
        message = f"{layout.name} is static: {layout.host_name}, in a file of its own, could not fall back to it"
        raise Refusal(Reason(ReasonCode.UNSUPPORTED, message))
    layout.check_linkage()
    if task.original.static and fallback is not None:
        out(f"/* The original in {task.original.path}, where it is static, for when the GPU can't be used. */")
        out.lines.extend(fallback.strip("\n").splitlines())
    else:
        out(f"/* The original in {task.original.path}, for when the GPU can't be used. */")
        out.sequence(f'extern "C" {layout.returns} {layout.name}(', layout.host_parameters() or ["void"], ");")
    for p in task.globals:
        kind = layout.speller.element(p)
        const = "const " if isinstance(p, ArrayParameter) and p.const else ""
        if const and re.search(rf"\b{p.name}\s*(\[[^\]]*\]\s*)+=", layout.candidate.device_code):
            continue  # its definition stands in the device code
        if isinstance(p, ScalarParameter):
            out(f'extern "C" {kind} {p.name};')
        elif "[" in p.declaration or "*" not in p.declaration:
            out(f'extern "C" {const}{kind} {p.name}[];')
        else:
            out(f'extern "C" {const}{kind} *{p.name};')
    return out.text


class HostEntry:
    """Prints the two host functions of one layout."""

    def __init__(self, layout: Layout, fallback: str | None) -> None:
        self.layout = layout
        self.fallback = fallback if layout.task.original.static else None
        self.task = layout.task
        self.stream = layout.local("stream")
        self.why = layout.local("why")
        self.result = layout.local("result")
        self.copied = layout.local(f"{layout.name}_copied")
        self.bytes = {p.name: layout.local(f"{p.name}_bytes") for p in self.task.arrays}
        self.device = {p.name: layout.local(f"{p.name}_device") for p in self.task.arrays}
        pointers = {p.name: (layout.cpp[p.name], self.bytes[p.name]) for p in self.task.arrays}
        self.scope = Scope(layout.scope.symbols, pointers, layout.scalar_requirements)
        self.unchecked = Scope(layout.scope.symbols, pointers)
        preconditions = Writer(1)
        self._preconditions(preconditions)
        self.preconditions = preconditions.lines
        self.explains = any("cp_require" in line for line in self.preconditions)

    def text(self) -> str:
        return f"{self._copied()}\n{self._wrapper()}"

    # --- copies and the call -------------------------------------------------------------------------------------------

    def _copied(self) -> str:
        out = Writer()
        reason = f"; *{self.why}, if set, is its reason" if self.explains else ""
        out(f"/* Copies in, runs, copies out. An error leaves host memory as it was{reason}. */")
        parameters = self.layout.host_parameters()
        if self.task.returns:
            parameters.append(f"{self.layout.returns} *{self.result}")
        if self.explains:
            parameters.append(f"const char **{self.why}")
        out.sequence(f"static cudaError_t {self.copied}(", parameters, ")")
        with out.block():
            out(f"const cudaStream_t {self.stream} = cudaStreamPerThread;")
            out.lines.extend(self.preconditions)
            self._inputs(out)
            call = [self._argument(p.name) for p in self.layout.variables]
            result = [f"{self._result_device()}.data"] if self.task.returns else []
            out.sequence(f"CP_CHECK({self.layout.device_name}(", [*call, *result, self.stream], "));")
            out(f"CP_CHECK(cudaStreamSynchronize({self.stream}));")
            self._outputs(out)
            out("return cudaSuccess;")
        return out.text

    def _result_device(self) -> str:
        return self.layout.local("result_device")

    def _argument(self, name: str) -> str:
        return f"{self.device[name]}.data" if name in self.device else self.layout.cpp[name]

    def _preconditions(self, out: Writer) -> None:
        for name in self.task.nonnull:
            self._require(out, f"{self.layout.cpp[name]} != nullptr", f"{name} is NULL")
        extents = tuple(extent for p in self.task.arrays for extent in p.extents)
        for name, (sane, _) in self.layout.oversized((*extents, *self.layout.requirements)).items():
            self._require(out, sane, f"{name} is out of range")
        early = [text for text in self.layout.requirements if not arrays(text)]
        for text in early:
            self._require(out, expressions.condition(text, self.unchecked), f"{words(text)} does not hold")
        reads = HostReads(self.layout, self.scope)
        for p in self._by_dependence():
            known = p.model_copy(update={"extents": tuple(reads.named(out, extent) for extent in p.extents)})
            out(f"const size_t {self.bytes[p.name]} = {self._size(known, reads.scope)};")
        for text in self.layout.requirements:
            if text not in early:
                condition = expressions.condition(reads.named(out, text), reads.scope)
                self._require(out, condition, f"{words(text)} does not hold")
        for a, b in combinations(self.task.arrays, 2):
            if a.access != "in" or b.access != "in":
                parts = ", ".join([self.layout.cpp[a.name], self.bytes[a.name], self.layout.cpp[b.name], self.bytes[b.name]])
                self._require(out, f"cp_disjoint({parts})", f"arrays {a.name} and {b.name} overlap")

    def _require(self, out: Writer, condition: str, message: str) -> None:
        quoted = message.replace("\\", "\\\\").replace('"', '\\"')
        out.sequence("CP_CHECK(cp_require(", [condition, f'"{quoted}"', self.why], "));")

    def _by_dependence(self) -> list[ArrayParameter]:
        """Arrays in C order, but those whose data the extents of others read before these."""
        ordered: list[ArrayParameter] = []

        def visit(p: ArrayParameter, path: tuple[str, ...]) -> None:
            if p in ordered:
                return
            for name in sorted(frozenset().union(*(arrays(extent) for extent in p.extents))):
                if name in path:
                    raise Refusal(Reason(ReasonCode.INTERNAL, f"the extent of {p.name} depends on itself"))
                visit(self.task.array(name), (*path, p.name))
            ordered.append(p)

        for p in self.task.arrays:
            visit(p, (p.name,))
        return ordered

    def _size(self, p: ArrayParameter, scope: Scope) -> str:
        numbers = [expressions.constant(extent) for extent in p.extents]
        count, element = expressions.extent(p.extents[0], scope), f"sizeof(*{self.layout.cpp[p.name]})"
        if all(number is not None for number in numbers):
            return expressions.bytes_of(str(prod(max(number or 0, 0) for number in numbers)), element, scope)
        for extent in p.extents[1:]:
            count = f"cp_area({count}, {expressions.extent(extent, scope)})"
        return f"cp_bytes({count}, {element})"

    def _inputs(self, out: Writer) -> None:
        out()
        for p in self.task.arrays:
            out(f"cp_buffer<{self.layout.speller.element(p)}> {self.device[p.name]}({self.stream});")
        if self.task.returns:
            out(f"cp_buffer<{self.layout.returns}> {self._result_device()}({self.stream});")
        for p in self.task.arrays:
            out(f"CP_CHECK({self.device[p.name]}.allocate({self.bytes[p.name]}));")
        if self.task.returns:
            out(f"CP_CHECK({self._result_device()}.allocate(sizeof({self.layout.returns})));")
        for p in self.task.arrays:
            if p.access != "out":
                out(f"CP_CHECK({self.device[p.name]}.upload({self.layout.cpp[p.name]}));")

    def _outputs(self, out: Writer) -> None:
        for p in self.task.arrays:
            if p.access == "out":
                out(f"CP_CHECK({self.device[p.name]}.download({self.layout.cpp[p.name]}));")
        if self.task.returns:
            out(f"CP_CHECK({self._result_device()}.download({self.result}));")
        for p in self.task.arrays:
            if p.access == "inout":
                out(f'cp_finish({self.device[p.name]}.download({self.layout.cpp[p.name]}), "{p.name}");')

    # --- the drop-in ---------------------------------------------------------------------------------------------------

    def _wrapper(self) -> str:
        out = Writer()
        layout, error, said = self.layout, self.layout.local("error"), self.layout.local("said")
        out(f"/* {layout.name}(), on the GPU where that is possible. */")
        out.sequence(f'extern "C" {layout.returns} {layout.host_name}(', layout.host_parameters() or ["void"], ")")
        with out.block():
            arguments = [layout.cpp[p.name] for p in self.task.parameters]
            given = [*arguments, *([f"&{self.result}"] if self.task.returns else [])]
            if self.task.returns:
                out(f"{layout.returns} {self.result}{{}};")
            if self.explains:
                given.append(f"&{self.why}")
                out(f"const char *{self.why} = nullptr;")
            out.sequence(f"const cudaError_t {error} = {self.copied}(", given, ");")
            out(f"if ({error} == cudaSuccess)")
            out(f"    return{f' {self.result}' if self.task.returns else ''};")
            out("(void)cudaStreamSynchronize(cudaStreamPerThread); /* nothing may still read or write host memory */")
            out("(void)cudaGetLastError(); /* dealt with: later launches must not find it */")
            if self.explains:
                out(f"if ({self.why} == nullptr)")
                out(f"    {self.why} = cp_reason({error});")
            out(f"static std::atomic_flag {said} = ATOMIC_FLAG_INIT;")
            out(f"if (!{said}.test_and_set())")
            reason = self.why if self.explains else f"cp_reason({error})"
            out(f'    fprintf(stderr, "cudaperf: {layout.host_name} ran on the CPU: %s\\n", {reason});')
            call = f"{layout.name}({', '.join(self._original_arguments())});"
            out(f"return {call}" if self.task.returns else call)
        return out.text

    def _original_arguments(self) -> list[str]:
        """The parameters as the user's function takes them; a copy of it may have pointers to arrays."""
        names = [self.layout.cpp[p.name] for p in self.task.parameters]
        casts = array_types(self.fallback, self.layout.name) if self.fallback else ()
        return [f"({cast}){name}" if cast else name for name, cast in zip_longest(names, casts[: len(names)])]
