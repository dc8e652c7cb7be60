"""The preamble holds all that the emitted text needs, and compiles as C++ without the user's files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.printer import Printer
from cudaperf.engine.sources.c import load

HEADER = """#ifndef LIB_H
#define LIB_H
#include "deep.h"
#define CLAMP(x, lo, hi) MIN(MAX(x, lo), hi)
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
typedef struct { vec at; real mass[AXES]; } body;
static inline real norm(vec v) { return v.x * v.x + v.y * v.y; }
#endif
"""
DEEP = """#define AXES 3
typedef float real;
typedef struct vec { real x, y; } vec;
enum mode { SLOW, FAST = 4 };
"""
MAIN = """#include "lib.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define UNUSED 1
#define STEP \\
  (HALF * 2) // twice
#define HALF 0.5
typedef struct local { uint8_t level; } local;
static const double gain = STEP;
const int table[3] = {AXES, 2, INT_MAX};
static real pull(const body *restrict b, int k) { return norm(b[k].at) * b[k].mass[AXES - 1]; }
void f(body *b, size_t n, local *l, uint64_t *bits, float x) {
  for (size_t i = 0; i < n; i++) {
    _Bool on = b[i].mass[0] > FLT_MAX || l[i].level == FAST;
    b[i].mass[1] = CLAMP(pull(b, i), 0, gain) + on + sqrt(x) + M_PI;
    bits[i] = __builtin_popcountll(bits[i]) + table[2] + SCALE;
    b[i].mass[2] = isinf(b[i].mass[0]) ? -INFINITY : NAN;
  }
}
"""


@pytest.fixture
def unit(tmp_path: Path) -> ir.Unit:
    for name, text in {"lib.h": HEADER, "deep.h": DEEP, "f.c": MAIN}.items():
        (tmp_path / name).write_text(text)
    found = load(str(tmp_path / "f.c"), "f", ("-DSCALE=7",))
    assert isinstance(found, ir.Unit), found
    return found


def test_macros_in_order_with_guards_and_system_ones_by_value(unit: ir.Unit) -> None:
    macros = "\n".join(unit.preamble.macros)
    assert "#ifndef MAX\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n#endif" in macros
    assert "#define SCALE 7" in macros
    assert "#define M_PI 3.14159265358979323846" in macros
    assert "#define INT_MAX 0x7fffffff" in macros
    assert "UNUSED" not in macros
    assert macros.index("define AXES") < macros.index("define CLAMP") < macros.index("define STEP")


def test_types_and_constants_follow_their_dependences(unit: ir.Unit) -> None:
    types = unit.preamble.types
    heads = [t.split("{")[0].split("=")[0].strip() for t in types]
    assert heads == [
        "typedef float real;",
        "typedef struct vec",
        "enum mode",
        "typedef struct",
        "typedef struct local",
        "static const double gain",
        "static const int table[3]",
    ]


def test_signature_types_are_told_by_header_or_name(unit: ir.Unit) -> None:
    assert unit.preamble.type_headers == ("lib.h",)
    assert unit.preamble.local_types == ("local",)


def test_helpers_of_headers_have_no_places_in_the_file(unit: ir.Unit) -> None:
    norm, pull = unit.helpers
    assert all(node.place is None for node in ir.walk(norm.body))
    assert pull.body.span is not None
    assert unit.preamble.helpers[0] == "real norm_(vec v) { return v.x * v.x + v.y * v.y; }"


@pytest.mark.parametrize(
    "headers", ["", "#include <math.h>\n#include <cfloat>\n#include <climits>\n#include <cstdint>\n#include <cstddef>\n"]
)
def test_it_compiles_as_cpp(tmp_path: Path, unit: ir.Unit, headers: str) -> None:
    """Without any header as in run-time compilation, and after the usual ones."""
    runtime = (
        "#define __CUDACC_RTC__\nextern int __popcll(unsigned long long); double sqrt(double);\nbool isinf(float);\n"
        if not headers
        else ""
    )
    preamble = "\n".join((*unit.preamble.macros, *unit.preamble.types, *unit.preamble.helpers))
    body = "\n".join(Printer(unit.text).statement(unit.function.body))
    parameters = ", ".join(p.declaration for p in unit.function.parameters)
    path = tmp_path / "f.cpp"
    path.write_text(f"{headers}{runtime}{preamble}\nvoid f({parameters})\n{body}\n")
    done = subprocess.run(["g++", "-std=c++17", "-fsyntax-only", "-w", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "sqrt((double)x)" in body
