"""Right candidates pass and wrong ones are told at the element: through `prepare` and `verify`, on host code."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from verify_cases import CANDIDATE, HostExecutor, array, assign, at, files, loop, name, number, op, real, size, task, whole

from cudaperf.engine.loops import ir
from cudaperf.engine.task import Task
from cudaperf.engine.verdict import LaunchFailed, Mismatch, Passed, Verdict
from cudaperf.engine.verify.generate import configurations
from cudaperf.engine.verify.prepare import Prepared, prepare
from cudaperf.engine.verify.verify import verify

AT, N = name("i"), name("n")


def axpy() -> Task:
    source = """void axpy(int n, float a, const float *x, float *y) {
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}"""
    value = op("+", op("*", name("a", "float"), at("x", "float", AT)), at("y", "float", AT))
    parameters = (size("n"), number("a", "float"), array("x", "float", "n"), array("y", "float", "n", access="inout"))
    return task(
        "axpy",
        source,
        parameters,
        (loop("i", 0, N, assign(at("y", "float", AT), value)),),
        work="n",
        requirements=("n <= 100000",),
    )


def dot() -> Task:
    source = """float dot(int n, const float *x, const float *y) {
    float s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}"""
    s = name("s", "float")
    product = op("*", at("x", "float", AT), at("y", "float", AT))
    body = (ir.Decl(name="s", type=ir.FLOAT, init=whole(0)), loop("i", 0, N, assign(s, product, "+")), ir.Return(value=s))
    return task("dot", source, (size("n"), array("x", "float", "n"), array("y", "float", "n")), body, "float", work="n")


def heat() -> Task:
    source = """void heat(int n, int steps, double c, double *a, double *b) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            b[i] = a[i] + c * (a[i - 1] - 2.0 * a[i] + a[i + 1]);
        for (int i = 1; i < n - 1; i++)
            a[i] = b[i];
    }
}"""
    left, mid, right = at("a", "double", op("-", AT, whole(1))), at("a", "double", AT), at("a", "double", op("+", AT, whole(1)))
    value = op("+", mid, op("*", name("c", "double"), op("+", op("-", left, op("*", real("2.0"), mid)), right)))
    inner = op("-", N, whole(1))
    body = loop(
        "t",
        0,
        name("steps"),
        loop("i", 1, inner, assign(at("b", "double", AT), value)),
        loop("i", 1, inner, assign(mid, at("b", "double", AT))),
    )
    arrays = (array("a", "double", "n", access="inout"), array("b", "double", "n", access="inout"))
    parameters = (size("n"), size("steps"), number("c", "double"), *arrays)
    return task("heat", source, parameters, (body,), work="n*steps")


def histogram() -> Task:
    source = """void histogram(int n, const unsigned char *x, int *bins) {
    for (int i = 0; i < n; i++)
        bins[x[i]]++;
}"""
    target = at("bins", "int", at("x", "unsigned char", AT))
    parameters = (size("n"), array("x", "unsigned char", "n"), array("bins", "int", "256", access="inout"))
    return task("histogram", source, parameters, (loop("i", 0, N, assign(target, whole(1), "+")),), work="n")


def product() -> Task:
    source = """void product(int n, int m, int k, const float a[n][k], const float b[k][m], float c[n][m]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float s = 0.0f;
            for (int l = 0; l < k; l++) s += a[i][l] * b[l][j];
            c[i][j] = s;
        }
}"""
    j, l_, s = name("j"), name("l"), name("s", "float")
    term = op("*", at("a", "float", AT, l_), at("b", "float", l_, j))
    inner = loop("l", 0, name("k"), assign(s, term, "+"))
    start = ir.Decl(name="s", type=ir.FLOAT, init=real("0.0f"))
    nest = loop("i", 0, N, loop("j", 0, name("m"), start, inner, assign(at("c", "float", AT, j), s)))
    arrays = (array("a", "float", "n", "k"), array("b", "float", "k", "m"), array("c", "float", "n", "m", access="out"))
    return task("product", source, (size("n"), size("m"), size("k"), *arrays), (nest,), work="n*m*k")


TASKS = {"axpy": axpy, "dot": dot, "heat": heat, "histogram": histogram, "product": product}


@cache
def prepared(which: str) -> Prepared:
    made = TASKS[which]()
    assert made.reference
    found = prepare(made, configurations(made, 11), Path(mkdtemp()), time.monotonic() + 60)
    assert isinstance(found, Prepared), found
    return found


def verdict(which: str, code: str, directory: Path) -> Verdict:
    return verify(prepared(which), CANDIDATE, files(f'extern "C" {code}'), HostExecutor(), directory, time.monotonic() + 60)


AXPY = "void axpy_cuda(int n, float a, const float *x, float *y) {{ {} }}"
DOT = "float dot_cuda(int n, const float *x, const float *y) {{ {} }}"
HEAT = "void heat_cuda(int n, int steps, double c, double *a, double *b) {{ {} }}"
HISTOGRAM = "void histogram_cuda(int n, const unsigned char *x, int *bins) {{ {} }}"
PRODUCT = "void product_cuda(int n, int m, int k, const float *a, const float *b, float *c) {{ {} }}"
STEP = "for (int i = 1; i < n - 1; i++) b[i] = {}; for (int i = 1; i < n - 1; i++) a[i] = b[i];"
SPLIT = "int l = 0; for (; l + 1 < k; l += 2) {{ s += a[i*k+l] * b[l*m+j]; t += a[i*k+l+1] * b[(l+1)*m+j]; }}"
CELLS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {{ {} }}"
HALF = "auto h = [](float v) {{ unsigned u; memcpy(&u, &v, 4); u = (u + 0x1000) & ~0x1fffu; memcpy(&v, &u, 4); return v; }};"

RIGHT = {
    "axpy as written": (
        "axpy",
        AXPY,
        "if (n > 100000) return cp_original(n, a, (float *)x, y); for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];",
    ),
    "axpy contracted": (
        "axpy",
        AXPY,
        "if (n > 100000) return cp_original(n, a, (float *)x, y); for (int i = 0; i < n; i++) y[i] = fmaf(a, x[i], y[i]);",
    ),
    "dot as written": ("dot", DOT, "float s = 0; for (int i = 0; i < n; i++) s += x[i] * y[i]; return s;"),
    "dot by 32 lanes": (
        "dot",
        DOT,
        "float p[32] = {}; for (int i = 0; i < n; i++) p[i % 32] = fmaf(x[i], y[i], p[i % 32]);"
        "for (int w = 16; w; w /= 2) for (int i = 0; i < w; i++) p[i] += p[i + w]; return p[0];",
    ),
    "heat contracted": (
        "heat",
        HEAT,
        "for (int t = 0; t < steps; t++) {" + STEP.format("fma(c, a[i-1] + fma(-2.0, a[i], a[i+1]), a[i])") + "}",
    ),
    "histogram": ("histogram", HISTOGRAM, "for (int i = n - 1; i >= 0; i--) bins[x[i]]++;"),
    "product in two halves": (
        "product",
        PRODUCT,
        CELLS.format("float s = 0, t = 0;" + SPLIT.format() + "if (l < k) s += a[i*k+l] * b[l*m+j]; c[i*m+j] = s + t;")
        .replace("{{", "{")
        .replace("}}", "}"),
    ),
}
WRONG = {
    "axpy without its last": ("axpy", AXPY, "for (int i = 0; i < n - 1; i++) y[i] = a * x[i] + y[i];"),
    "axpy with a dropped": ("axpy", AXPY, "for (int i = 0; i < n; i++) y[i] = x[i] + y[i];"),
    "axpy unwritten": ("axpy", AXPY, ""),
    "dot without a term": ("dot", DOT, "float s = 0; for (int i = 1; i < n; i++) s += x[i] * y[i]; return s;"),
    "dot in tf32": (
        "dot",
        DOT,
        HALF.format() + "float s = 0; for (int i = 0; i < n; i++) s += h(x[i]) * h(y[i]); return s;",
    ),
    "heat one step short": (
        "heat",
        HEAT,
        "for (int t = 0; t < steps - 1; t++) {" + STEP.format("a[i] + c * (a[i-1] - 2.0 * a[i] + a[i+1])") + "}",
    ),
    "heat in float": (
        "heat",
        HEAT,
        "for (int t = 0; t < steps; t++) {" + STEP.format("a[i] + (float)c * (float)(a[i-1] - 2.0 * a[i] + a[i+1])") + "}",
    ),
    "histogram off by one": ("histogram", HISTOGRAM, "for (int i = 0; i < n; i++) bins[x[i]]++; if (n > 40) bins[7]--;"),
    "product transposed": (
        "product",
        PRODUCT,
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { float s = 0; for (int l = 0; l < k; l++)"
        " s += a[i*k+l] * b[j*k+l < k*m ? j*k+l : 0]; c[i*m+j] = s; }",
    ),
}


@pytest.mark.parametrize("case", RIGHT)
def test_right_candidate_passes(case: str, tmp_path: Path) -> None:
    which, frame, body = RIGHT[case]
    found = verdict(which, frame.format("@").replace("@", body), tmp_path)
    assert isinstance(found, Passed), found
    assert len(found.configurations) >= 8
    assert all(c.max_error <= c.bound for c in found.configurations)


@pytest.mark.parametrize("case", WRONG)
def test_wrong_candidate_is_told(case: str, tmp_path: Path) -> None:
    which, frame, body = WRONG[case]
    found = verdict(which, frame.format("@").replace("@", body), tmp_path)
    assert isinstance(found, Mismatch), found
    assert found.what


def test_falling_back_is_right_only_where_requirements_fail(tmp_path: Path) -> None:
    made = axpy().model_copy(update={"requirements": ("n < 100",)})
    found = prepare(made, configurations(made, 11), tmp_path / "task", time.monotonic() + 60)
    assert isinstance(found, Prepared)
    assert any(c.fallback for c in found.configurations)
    loop_ = "for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];"
    back = "return cp_original(n, a, (float *)x, y);"
    for body, kind in ((f"if (n >= 100) {back} {loop_}", Passed), (back, LaunchFailed)):
        text = f'extern "C" {AXPY.format("@").replace("@", body)}'
        (tmp_path / kind.__name__).mkdir()
        got = verify(found, CANDIDATE, files(text), HostExecutor(), tmp_path / kind.__name__, time.monotonic() + 60)
        assert isinstance(got, kind), got
