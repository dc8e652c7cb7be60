"""Collect the names that CUDA C++ declares at global scope, which no C function of the user's can have in a .cu file.

Run from the repository root, with nvcc on PATH, when a CUDA release adds some: .venv/bin/python tools/cuda-names.py
It writes engine/cudaperf/engine/emit/cuda_names.txt: a name a line, `NAME = TYPE` where it is a typedef of a number. Names are
what the compiler that runs here sees: CUDA's headers, those of C that they bring along, and the emulation's.
Not in the list: names that nobody gives a function by chance (`_x`, `cudaMalloc`, `sinf64x`, `make_int2`).
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "engine/cudaperf/engine"
TARGET = ENGINE / "emit/cuda_names.txt"
EMULATION = ENGINE / "executors/emulated/include"
HEADERS = "cuda_runtime.h limits.h math.h stddef.h stdint.h stdio.h stdlib.h string.h atomic"
UNLIKELY = re.compile(
    r"_|cuda([A-Z_]|perf|library)|CU(DA)?[a-z_]|CUDAlog|Cudaperf|make_|surf[1-3C]|tex[1-3C]|pthread_|cookie_|operator\b|\W"
    r"|\w*f(32|64|128)x?(_r)?$|\w+_(unlocked|l|r|ptsz)$"
)
OPEN = {"LINKAGE_SPEC", "UNEXPOSED_DECL"}
NUMBERS = {"BOOL", "CHAR_S", "SCHAR", "UCHAR", "SHORT", "USHORT", "INT", "UINT", "LONG", "ULONG", "LONGLONG", "ULONGLONG"}
NUMBERS |= {"FLOAT", "DOUBLE"}
HEAD = """\
# Names at global scope of an empty .cu file ({release}), and of the emulation: tools/cuda-names.py writes this file.
"""


def main() -> None:
    source = "".join(f"#include <{name}>\n" for name in HEADERS.split())
    names: dict[str, str] = {}
    for macros in ((), ("-D__CUDA_ARCH__=750",)):
        collect(preprocessed(["nvcc", "-E", "-x", "cu", *macros, "-"], source), names)
    collect(preprocessed(["g++", "-E", "-x", "c++", f"-I{EMULATION}", "-"], source), names)
    release = re.search(r"release ([\d.]+)", preprocessed(["nvcc", "--version"], ""))
    assert release is not None
    lines = [f"{name} = {kind}" if kind else name for name, kind in sorted(names.items()) if not UNLIKELY.match(name)]
    TARGET.write_text(HEAD.format(release=f"CUDA {release[1]}") + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} names in {TARGET.relative_to(ROOT)}")


def preprocessed(command: list[str], source: str) -> str:
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def collect(text: str, names: dict[str, str]) -> None:
    """With the type of those that are numbers. libclang need not understand every line of what nvcc's front end reads."""
    from clang import cindex

    arguments = ["-x", "c++", "-std=c++17", "-ferror-limit=0", "-Wno-everything"]
    unit = cindex.Index.create().parse("empty.cu", args=arguments, unsaved_files=[("empty.cu", text)])
    declared(unit.cursor, names)


def declared(cursor: Any, names: dict[str, str]) -> None:
    for child in cursor.get_children():
        if child.kind.name in OPEN:
            declared(child, names)
            continue
        if child.kind.name == "ENUM_DECL":
            declared(child, names)
        canonical = child.type.get_canonical() if child.kind.name == "TYPEDEF_DECL" else None
        number = canonical is not None and canonical.kind.name in NUMBERS
        if child.spelling:
            names.setdefault(child.spelling, canonical.spelling if canonical is not None and number else "")


if __name__ == "__main__":
    main()
