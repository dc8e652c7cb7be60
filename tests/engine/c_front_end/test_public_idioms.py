"""Ways of writing that public C is full of, counters and countdowns above all: each function here can move."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudaperf.engine.optimize import list_functions

HELPER = "static double total(const double x[], int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }\n"
FUNCTIONS = {
    "both pointers walk": "void f(float *p, const float *q, int n) { for (int i = 0; i < n; i++) *p++ = 2 * *q++; }",
    "a counter over a nest": "int f(double *out, const double *a, int n, int m) { int k = 0; for (int i = 0; i < n; i++) "
    "for (int j = 0; j < m; j++) out[k++] = a[i * m + j]; return k; }",
    "two variables in a header": "void f(float *p, const float *q, int n) { int i, j; "
    "for (i = 0, j = 0; i < n; ++i, j += 4) p[i] = q[j]; }",
    "blocks of four": "float f(const float *q, unsigned n) { float s = 0; unsigned k = n >> 2U; "
    "while (k > 0U) { s += *q++; s += *q++; s += *q++; s += *q++; k--; } "
    "k = n & 3; while (k > 0U) { s += *q++; k--; } return s; }",
    "a countdown": "void f(float *p, const float *q, unsigned n) { while (n--) { *p++ = 2 * *q++; } }",
    "an unprototyped helper": "static float g() { return 2; }\n"
    "void f(float *x, int n) { for (int i = 0; i < n; i++) x[i] *= g(); }",
    "an array parameter": HELPER + "void f(double out[], int n) { for (int i = 0; i < n; i++) "
    "{ double t[4] = {i, 1, 2, 3}; out[i] = total(t, 4); } }",
    "a branch on !flag": "void f(double *a, int n, int flag) { if (!flag) for (int i = 0; i < n; i++) a[i] = 0; "
    "else for (int i = 0; i < n; i++) a[i] = 1; }",
}


@pytest.mark.parametrize("text", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_it_can_move(tmp_path: Path, text: str) -> None:
    path = tmp_path / "public.c"
    path.write_text(text, encoding="utf-8")
    listed = list_functions(path)
    assert isinstance(listed, tuple)
    assert {f.name: f.reason for f in listed}["f"] is None
