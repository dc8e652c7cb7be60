"""The C++ `main` around one call: read an input file, call, write an output file (formats: `verify.data`).

    harness INPUT OUTPUT            one call; exit status 0, 17 (fell back), 18 (an input array was changed), 2 (bad file)
    harness INPUT OUTPUT INPUT ...  a call for each pair in turn; ends with the first status that is not 0
    harness INPUT --time N          a warm-up call, then N timed ones, each on restored inputs; prints {"seconds": [...]}

Two kinds of callee:
- `harness_source(task, "step_cuda")`: the emitted host function. The harness defines the user's original as a stub that
  records the fall back and returns zero, and defines the file-scope variables, under the user's own symbol names.
- `original_harness_source(task)`: the user's function, reached through the symbols that `trampoline_source` appends to the
  user's preprocessed C (so `static` functions and variables are reached too). `harness --constants OUTPUT` writes the
  bytes of the `const` arrays among the globals (int64 count + bytes each).

Symbols are bound by assembler labels, so no name of the user's can clash with the harness's own. Every host array is its own
allocation of exactly the extent's size, so a sanitizer sees host code that overruns it.
Not promised: `main` says nothing about a crash inside the callee; the exit status or the sanitizer does.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from cudaperf.engine import size
from cudaperf.engine.task import ArrayParameter, ElementType, Parameter, ScalarType, Task
from cudaperf.engine.verify.data import FALLBACK, FELL_BACK_STATUS, INPUT_CHANGED_STATUS, dtype, outputs
from cudaperf.engine.verify.declarations import Types, task_types

TOO_SMALL_STATUS: Final = 19
"""A file-scope array is smaller than the extent that its accesses need."""

_UNKNOWN_GLOBAL_BYTES: Final = 1 << 26


def _prelude() -> str:
    return (Path(__file__).parent / "cpp" / "harness.hpp").read_text(encoding="utf-8")


def harness_source(task: Task, callee: str) -> str:
    """The harness around an emitted host function named `callee`."""
    types = task_types(task)
    signature = _signature(task, types)
    result = _result(task, types)
    stub = [
        f'extern "C" {result} cp_callee({signature}) asm("{callee}");',
        f'extern "C" {result} cp_original({signature}) asm("{task.original.function}");',
        f"{result} cp_original({signature}) {{ fell_back = 1;{' return {};' if task.returns else ''} }}",
    ]
    variables = [_define_global(p, types) for p in task.globals]
    return "\n".join([_prelude(), *types.definitions, *variables, *stub, _main(task, types, _bind_defined), ""])


def original_harness_source(task: Task) -> str:
    """The harness around the user's own function, linked with `trampoline_source`."""
    types = task_types(task)
    pointer = f'extern "C" {_result(task, types)} (*cudaperf_original)({_signature(task, types)});'
    access = [f'extern "C" void *cudaperf_global_{p.name}(long *bytes, int *is_pointer);' for p in task.globals]
    call = "#define cp_callee cudaperf_original"
    return "\n".join([_prelude(), *types.definitions, pointer, *access, call, _main(task, types, _bind_original), ""])


def trampoline_source(task: Task) -> str:
    """C to append to the user's preprocessed file: the function's and the variables' addresses under names of ours."""
    function = task.original.function
    lines = ["", f'# 1 "cudaperf-trampoline.c"\n__typeof__(&{function}) cudaperf_original = &{function};']
    for p in task.globals:
        pointer = "0"
        if isinstance(p, ArrayParameter):
            pointer = f"__builtin_types_compatible_p(__typeof__({p.name}), __typeof__(&({p.name})[0]))"
        lines.append(
            f"void *cudaperf_global_{p.name}(long *bytes, int *is_pointer) "
            f"{{ *bytes = sizeof({p.name}); *is_pointer = {pointer}; return (void *)&{p.name}; }}"
        )
    return "\n".join([*lines, ""])


def _result(task: Task, types: Types) -> str:
    return "void" if task.returns is None else types.name(task.returns)


def _signature(task: Task, types: Types) -> str:
    return ", ".join(types.name(p.type) + (" *" if isinstance(p, ArrayParameter) else "") for p in task.parameters)


def _define_global(p: Parameter, types: Types) -> str:
    name = types.name(p.type)
    if not isinstance(p, ArrayParameter):
        return f'{name} cp_g_{p.name} asm("{p.name}");'
    if is_pointer_global(p):
        return f'{name} *cp_g_{p.name} asm("{p.name}");'
    return f'{name} cp_g_{p.name}[{_capacity(p)}] asm("{p.name}");'


def is_pointer_global(p: ArrayParameter) -> bool:
    """Whether a file-scope array is a pointer variable, by its declaration's text."""
    return "[" not in p.declaration and "*" in p.declaration


def _capacity(p: ArrayParameter) -> int:
    if any(size.names(text) or size.arrays(text) for text in p.extents):
        return _UNKNOWN_GLOBAL_BYTES // dtype(p.type).itemsize
    count = 1
    for text in p.extents:
        count *= max(1, size.evaluate(text, {}))
    return count


def _bind_defined(p: Parameter) -> str:
    """Makes a variable that this file defines hold what was read."""
    if not isinstance(p, ArrayParameter):
        return f"cp_g_{p.name} = v_{p.name};"
    if is_pointer_global(p):
        return f"cp_g_{p.name} = (decltype(cp_g_{p.name}))v_{p.name}.data;"
    return f"if (v_{p.name}.bytes > sizeof cp_g_{p.name}) return {TOO_SMALL_STATUS}; v_{p.name}.move_to(cp_g_{p.name});"


def _bind_original(p: Parameter) -> str:
    """The same for a variable of the user's file; `const` ones keep their value."""
    find, value = f"long bytes; int is_pointer; void *place = cudaperf_global_{p.name}(&bytes, &is_pointer);", f"v_{p.name}"
    if not isinstance(p, ArrayParameter):
        return f"{{ {find} if (memcmp(place, &{value}, sizeof {value}) != 0) memcpy(place, &{value}, sizeof {value}); }}"
    pointer = f"if (is_pointer) *(void **)place = {value}.data;"
    if p.const:
        return f"{{ {find} {pointer} }}"
    return (
        f"{{ {find} {pointer} else {{ if ((long){value}.bytes > bytes) return {TOO_SMALL_STATUS}; {value}.move_to(place); }} }}"
    )


def _read(p: Parameter, types: Types) -> str:
    name = types.name(p.type)
    if isinstance(p, ArrayParameter):
        return f"Array v_{p.name}; v_{p.name}.read(in, sizeof({name}));"
    if isinstance(p.type, ScalarType):
        return f"{name} v_{p.name} = ({name})take_{'double' if p.type.number == 'float' else 'int'}(in);"
    return f"{name} v_{p.name}; take(in, &v_{p.name}, sizeof v_{p.name});"


def _write_scalar(kind: ElementType, expression: str) -> str:
    if isinstance(kind, ScalarType):
        return f"put_{'double' if kind.number == 'float' else 'int'}(out, {expression});"
    return f"put(out, &{expression}, sizeof {expression});"


def _writes(task: Task, original: bool) -> list[str]:
    lines = []
    scalars = {p.name: p for p in task.globals if not isinstance(p, ArrayParameter)}
    for name, kind, is_array in outputs(task):
        if is_array:
            lines.append(f"v_{name}.write(out);")
        elif name not in scalars:
            lines.append(_write_scalar(kind, "result"))
        elif original:
            load = (
                f"long bytes; int is_pointer; memcpy(&v_{name}, cudaperf_global_{name}(&bytes, &is_pointer), sizeof v_{name});"
            )
            lines.append(f"{{ {load} {_write_scalar(kind, 'v_' + name)} }}")
        else:
            lines.append(_write_scalar(kind, f"cp_g_{name}"))
    return lines


def _main(task: Task, types: Types, bind: Callable[[Parameter], str]) -> str:
    original = bind is _bind_original
    call = f"cp_callee({', '.join(_argument(p, types) for p in task.parameters)});"
    call = f"result = {call}" if task.returns is not None else call
    lines = [
        *(_constants(task, types) if original else []),
        'if (argc < 3) bad("usage: harness INPUT OUTPUT [INPUT OUTPUT]... | harness INPUT --time N");',
        "fell_back = 0;",
        'FILE *in = fopen(argv[1], "rb");',
        'if (!in) bad("can\'t open the input file");',
        *(_read(p, types) for p in task.parameters + task.globals),
        'if (fgetc(in) != EOF) bad("input file too long");',
        "fclose(in);",
        *(bind(p) for p in task.globals),
        *([f"{_result(task, types)} result;"] if task.returns is not None else []),
        *_timing(task, call),
        call,
        *_finish(task, original),
    ]
    return "\n".join(["static int run(int argc, char **argv) {", *(f"    {line}" for line in lines), "}", *_EACH_PAIR])


_EACH_PAIR: Final = (
    "int main(int argc, char **argv) {",
    "    if (argc <= 4) return run(argc, argv);",
    "    int status = 0;",
    "    for (int i = 1; i + 1 < argc && status == 0; i += 2) {",
    "        char *pair[] = {argv[0], argv[i], argv[i + 1], nullptr};",
    "        status = run(3, pair);",
    "    }",
    "    return status;",
    "}",
)


def _timing(task: Task, call: str) -> list[str]:
    return [
        'if (argc == 4 && strcmp(argv[2], "--time") == 0) {',
        "    int count = atoi(argv[3]);",
        '    printf("{\\"seconds\\": [");',
        "    for (int i = -1; i < count; i++) {",
        *(f"        v_{p.name}.restore();" for p in task.arrays if p.access != "in"),
        f"        double begin = now(); {call} double end = now();",
        '        if (i >= 0) printf(i ? ", %.9g" : "%.9g", end - begin);',
        "    }",
        '    printf("]}\\n");',
        f"    return fell_back ? {FELL_BACK_STATUS} : 0;",
        "}",
    ]


def _finish(task: Task, original: bool) -> list[str]:
    """After the call: inputs unchanged, outputs written."""
    return [
        *(f"if (!v_{p.name}.unchanged()) return {INPUT_CHANGED_STATUS};" for p in task.arrays if p.access == "in"),
        'FILE *out = fopen(argv[2], "wb");',
        'if (!out) bad("can\'t create the output file");',
        f'if (fell_back) put(out, "{FALLBACK.decode()}", {len(FALLBACK)});',
        "else {",
        *(f"    {line}" for line in _writes(task, original)),
        "}",
        'if (fclose(out) != 0) bad("can\'t write the output file");',
        *(f"v_{p.name}.release();" for p in task.arrays),
        f"return fell_back ? {FELL_BACK_STATUS} : 0;",
    ]


def _argument(p: Parameter, types: Types) -> str:
    return f"({types.name(p.type)} *)v_{p.name}.data" if isinstance(p, ArrayParameter) else f"v_{p.name}"


def constants(task: Task) -> tuple[Parameter, ...]:
    """The `const` variables among the globals: their values are the program's own."""
    return tuple(p for p in task.globals if _is_constant(p))


def _is_constant(p: Parameter) -> bool:
    if isinstance(p, ArrayParameter):
        return p.const and not is_pointer_global(p)
    return "const" in p.declaration.split()


def _constants(task: Task, types: Types) -> list[str]:
    lines = ['if (argc == 3 && strcmp(argv[1], "--constants") == 0) {', '    FILE *out = fopen(argv[2], "wb");']
    lines.append('    if (!out) bad("can\'t create the output file");')
    for p in constants(task):
        lines.append(f"    {{ long bytes; int is_pointer; void *place = cudaperf_global_{p.name}(&bytes, &is_pointer);")
        lines.append(f"      put_int(out, bytes / (long)sizeof({types.name(p.type)})); put(out, place, bytes); }}")
    return [*lines, "    return fclose(out) != 0;", "}"]
