"""What the analysis makes of C functions that it takes: steps, strategies' patterns, extents, requirements, access modes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from loop_programs import unit

from cudaperf.engine import size
from cudaperf.engine.describe import describe
from cudaperf.engine.loops import assume
from cudaperf.engine.loops.nest import (
    LoopNest,
    NestStep,
    Program,
    RepeatStep,
    ScalarStep,
    Step,
    SwapStep,
    WhenStep,
    WhileStep,
    nests,
)
from cudaperf.engine.loops.partition import partition
from cudaperf.engine.task import IndexValues, OffsetValues, Original, Task

ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
NOTHING = Original(path="f.c", function="f", source="", preprocessed="")


def program(text: str) -> Program:
    loaded = unit(text)
    return partition(loaded, assume.parse(loaded.assumptions).conditions)


def task(text: str) -> Task:
    loaded = unit(text)
    assumed = assume.parse(loaded.assumptions)
    return describe(partition(loaded, assumed.conditions), NOTHING, assumed.texts, dict(assumed.extents))


def only_nest(text: str) -> LoopNest:
    found = nests(program(text).steps)
    assert len(found) == 1
    return found[0]


def threads(text: str) -> list[list[str]]:
    return [[loop.var for loop in nest.threads] for nest in nests(program(text).steps)]


def shape(steps: tuple[Step, ...]) -> list[object]:
    """Steps as nested lists of words."""
    found: list[object] = []
    for step in steps:
        match step:
            case NestStep():
                found.append("nest")
            case ScalarStep():
                found.append("scalar")
            case SwapStep():
                found.append("swap")
            case RepeatStep() | WhileStep() | WhenStep():
                found.append([{RepeatStep: "repeat", WhileStep: "while", WhenStep: "when"}[type(step)], *shape(step.steps)])
    return found


# --- scalars -----------------------------------------------------------------------------------------------------------


def test_scalars_set_before_they_are_read_are_private() -> None:
    nest = only_nest("""void f(int n, const double *x, double *restrict y) {
    double t;
    for (int i = 0; i < n; i++) { t = x[i]; y[i] = t * t; }
}""")
    assert nest.private == ("t",)
    assert len(nest.threads) == 1


def test_local_arrays_belong_to_an_iteration() -> None:
    assert threads("""void f(int n, const double *restrict x, double *restrict y) {
    for (int i = 2; i < n - 2; i++) {
        double w[5];
        for (int k = 0; k < 5; k++) w[k] = x[i + k - 2];
        y[i] = w[0] + w[4];
    }
}""") == [["i"]]


def test_arrays_of_the_function_live_on_the_device() -> None:
    made = program("""void f(int n, const double *restrict x, double *restrict y) {
    double t[n];
    for (int i = 0; i < n; i++) t[i] = x[i];
    for (int i = 0; i < n; i++) y[i] = t[n - 1 - i];
}""")
    assert [(a.name, a.count) for a in made.local_arrays] == [("t", "(n)")]
    assert shape(made.steps) == ["nest", "nest"]


def test_local_arrays_have_lengths_that_the_host_computes() -> None:
    text = """void f(int n, float *y) {
        float t[n > 0 ? n : 1][n / 2 + 1];
        for (int i = 0; i < n; i++) t[i][0] = y[i];
        for (int i = 0; i < n; i++) y[i] = t[n - 1 - i][0];
    }"""
    (made,) = program(text).local_arrays
    assert [size.evaluate(made.count, {"n": n}) for n in (0, 1, 8)] == [1, 1, 40]


def test_a_branch_that_may_not_set_a_reduced_scalar_runs_on_the_device() -> None:
    made = program("""double f(int n, int flag, const double *restrict x) {
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i];
    if (flag > 3) s = 0.5;
    return s * 2;
}""")
    assert shape(made.steps) == ["nest", "scalar"]


@pytest.mark.parametrize(
    ("update", "operator"),
    [
        ("s += x[i];", "+"),
        ("s = s - x[i] + 1;", "+"),
        ("s = x[i] * s;", "*"),
        ("if (x[i] > s) s = x[i];", "max"),
        ("s = s < x[i] ? s : x[i];", "min"),
        ("s = s && x[i] > 2;", "&&"),
        ("s ^= x[i] << 1;", "^"),
    ],
)
def test_reductions(update: str, operator: str) -> None:
    nest = only_nest(f"int f(int n, const int *restrict x) {{ int s = 3; for (int i = 0; i < n; i++) {update} return s; }}")
    assert [(r.name, r.op) for r in nest.reductions] == [("s", operator)]


def test_position_of_an_extreme_alone() -> None:
    nest = only_nest("""int f(int n, const double *restrict x) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best])
            best = i;
    return best;
}""")
    assert nest.reductions[0].op == "max"
    assert nest.reductions[0].keyed is not None


# --- subscripts --------------------------------------------------------------------------------------------------------


def test_clamped_neighbours_stay_inside() -> None:
    made = task("""void f(int n, const double *restrict x, double *restrict y) {
    for (int i = 0; i < n; i++) {
        int lo = i > 0 ? i - 1 : 0;
        int hi = i < n - 1 ? i + 1 : n - 1;
        y[i] = x[lo] + x[hi];
    }
}""")
    for n in (0, 1, 2, 9):
        assert size.evaluate(made.array("x").extents[0], {"n": n}) == n


@pytest.mark.parametrize(
    ("loops", "subscript", "count"),
    [
        ("for (int i = 1; i <= n; i++) for (int j = 1; j <= m; j++)", "i * (m + 2) + j", lambda n, m: n * (m + 2) + m + 1),
        (f"{ROWS} for (int k = 0; k < 4; k++)", "(i * m + j) * 4 + k", lambda n, m: 4 * n * m),
        (ROWS, "(n - 1 - i) * m + (m - 1 - j)", lambda n, m: n * m),
        ("for (int i = 0; i < n; i++) for (int j = i; j < n; j++)", "i * n + j", lambda n, m: n * n),
        ("for (int i = 0; i < n; i += 3)", "2 * i + 1", lambda n, m: 2 * (n - 1 - (n - 1) % 3) + 2),
    ],
)  # fmt: skip
def test_delinearised_subscripts(loops: str, subscript: str, count: object) -> None:
    text = f"void f(int n, int m, double *restrict a) {{ {loops} a[{subscript}] = 1.0; }}"
    assert len(threads(text)[0]) == loops.count("for")
    extents = task(text).array("a").extents
    for n, m in ((1, 1), (2, 5), (5, 2), (7, 7)):
        assert size.evaluate(extents[0], {"n": n, "m": m}) == count(n, m)  # type: ignore[operator]


def test_one_array_read_as_matrix_and_as_vector() -> None:
    made = task("""void f(int n, int m, double *restrict a, double *restrict b) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] *= 2.0;
    for (int k = 0; k < n * m; k++)
        b[k] = a[k] + 1.0;
}""")
    for n, m in ((1, 1), (3, 4), (4, 3)):
        assert size.evaluate(made.array("a").extents[0], {"n": n, "m": m}) == n * m


def test_leading_dimension_is_a_requirement() -> None:
    made = task("""void f(int n, int m, int lda, double *restrict a) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * lda + j] *= 2.0;
}""")
    for n, m, lda in ((3, 4, 4), (3, 4, 9), (3, 4, 3), (3, 0, 0), (0, 4, 1)):
        holds = all(size.evaluate(t, {"n": n, "m": m, "lda": lda}) for t in made.requirements)
        assert holds == (m <= lda or n <= 0 or m <= 0), (n, m, lda)


def test_requirements_hold_for_every_step_of_a_host_loop() -> None:
    made = task("""void f(int n, int m, int p, double *restrict a) {
    for (int t = 1; t < n; t++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                a[t * n * p + i * p + j] = a[(t - 1) * n * p + i * p + j] + 1.0;
}""")
    assert made.requirements
    assert not all(size.evaluate(t, {"n": 3, "m": 5, "p": 2}) for t in made.requirements)
    assert all(size.evaluate(t, {"n": 3, "m": 5, "p": 5}) for t in made.requirements)


def test_quotients_round_as_c_does() -> None:
    divided = task("void f(int n, double *restrict a) { for (int i = 0; i <= (n - 3) / 2; i++) a[i] = i; }")
    shifted = task("void f(int n, double *restrict a) { for (int i = 0; i <= ((n - 3) >> 1); i++) a[i] = i; }")
    for n, quotient, shift in ((0, 0, 0), (1, 0, 0), (2, 1, 0), (3, 1, 1), (6, 2, 2), (7, 3, 3)):
        n_is = {"n": n}
        assert size.evaluate(divided.array("a").extents[0], n_is) == (quotient if n != 1 else 0) or n == 1
        assert size.evaluate(shifted.array("a").extents[0], n_is) == shift


def test_sparse_rows() -> None:
    made = task("""void f(int n, const int *restrict ptr, const int *restrict col, const double *restrict val,
        const double *restrict x, double *restrict y) {
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int k = ptr[i]; k < ptr[i + 1]; k++) s += val[k] * x[col[k]];
        y[i] = s;
    }
}""")
    assert size.arrays(made.array("val").extents[0]) == {"ptr"}
    assert "col" in size.arrays(made.array("x").extents[0])
    assert isinstance(made.array("ptr").values, OffsetValues)
    assert isinstance(made.array("col").values, IndexValues)
    assert made.array("y").access == "out"


def test_extents_that_the_user_gives() -> None:
    made = task("""void f(int n, int m, double *restrict a, const int *restrict p, const double *restrict x) {
    // cudaperf: assume extent(x) == n * m
    for (int i = 0; i < n; i++)
        a[i] = x[p[i] * p[i]];
}""")
    assert made.array("x").extents == ("n * m",)


# --- access modes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        ("for (int i = 0; i < n; i++) a[i] = 1;", "out"),
        ("for (int i = 0; i < n; i++) a[n - 1 - i] = 1;", "out"),
        ("for (int i = 0; i < n; i++) if (x[i] > 0) a[i] = 1;", "inout"),
        ("for (int i = 0; i < n; i += 2) a[i] = 1;", "inout"),
        ("for (int i = 0; i < 2 * n; i += 2) { a[i] = 1; a[i + 1] = 2; }", "out"),
        ("for (int i = 0; i < n; i++) a[2 * n - 1 - i] = 1;", "inout"),
        ("for (int i = 0; i < n; i++) a[i] += 1;", "inout"),
        ("for (int i = 0; i < n; i++) x[i] = a[i];", "in"),
        ("if (n < 4) return; for (int i = 0; i < n; i++) a[i] = 1;", "out"),
        ("if (n < 4) return; for (int i = 1; i < n; i++) a[i] = 1;", "inout"),
        ("if (t > 0.5f) for (int i = 0; i < n; i++) a[i] = 1;", "inout"),
        ("for (int i = 0; i < n; i++) if (!(n < 9 && t > 0)) a[i] = 1;", "inout"),
        ("for (int i = 0; i < n; i++) if (i < 5) a[i] = 1; else a[i] = 2;", "out"),
        ("for (int i = 0; i < n; i++) if (i < 5) a[i] = 1; else if (t > 0) a[i] = 2;", "inout"),
    ],
)  # fmt: skip
def test_access(body: str, mode: str) -> None:
    text = f"void f(int n, float t, int *restrict a, int *restrict x) {{\n// cudaperf: assume n >= 1\n{body} }}"
    assert task(text).array("a").access == mode


# --- loops around nests ------------------------------------------------------------------------------------------------


def test_time_loops_swap() -> None:
    made = program("""void f(int n, int steps, double *restrict a, double *restrict b) {
    double *p = a, *q = b;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) q[i] = 0.5 * (p[i - 1] + p[i + 1]);
        double *r = p; p = q; q = r;
    }
}""")
    assert shape(made.steps) == [["repeat", "nest", "swap"]]


@pytest.mark.parametrize(("head", "tail", "first"), [("while (err > 1)", "", True), ("do", "while (err > 1);", False)])
def test_loops_until_convergence(head: str, tail: str, first: bool) -> None:
    made = program(f"""int f(int n, int *restrict x) {{
    int err = 9;
    {head} {{
        err = 0;
        for (int i = 0; i < n; i++) {{ x[i] = x[i] / 2; err += x[i]; }}
    }} {tail}
    return err;
}}""")
    loop = next(s for s in made.steps if isinstance(s, WhileStep))
    assert loop.first is first
    assert "nest" in shape(loop.steps)


def test_a_reduction_put_to_use_by_the_next() -> None:
    made = program("""double f(int n, const double *restrict x) {
    double mean = 0.0, var = 0.0;
    for (int i = 0; i < n; i++) mean += x[i];
    mean /= n;
    for (int i = 0; i < n; i++) var += (x[i] - mean) * (x[i] - mean);
    return var / n;
}""")
    assert shape(made.steps) == ["nest", "scalar", "nest", "scalar"]
    assert nests(made.steps)[1].inputs == ("mean", "var") or nests(made.steps)[1].inputs == ("mean",)


def test_early_return_on_an_argument() -> None:
    made = program("""double f(int n, const double *restrict x) {
    if (n < 2) return 0.0;
    double s = 0.0;
    for (int i = 0; i < n; i++) s += x[i];
    return s / (n - 1);
}""")
    assert shape(made.steps) == [["when", "scalar"], ["when", "nest", "scalar"]]


def test_branches_on_arguments() -> None:
    made = program("""void f(int n, int mode, double *restrict x) {
    if (mode == 1) for (int i = 0; i < n; i++) x[i] = 1.0;
    else for (int i = 0; i < n; i++) x[i] += 2.0;
}""")
    conditions = [s.condition for s in made.steps if isinstance(s, WhenStep)]
    assert [[size.evaluate(c, {"mode": mode}) for c in conditions] for mode in (1, 0)] == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "body",
    [
        "long v = i + 1; int c = 0; while (v != 1) { v = v % 2 ? 3 * v + 1 : v / 2; c++; } y[i] = c;",
        "if (x[i] < 0) continue; y[i] = x[i];",
        "if (x[i] < 0) y[i] = 0; else if (x[i] < 5) y[i] = x[i]; else y[i] = 5;",
    ],
)
def test_iterations_that_differ_in_length_are_independent(body: str) -> None:
    text = f"void f(int n, const int *restrict x, int *restrict y) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    assert threads(text) == [["i"]]


# --- patterns ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "operator", "exclusive"),
    [
        ("s += x[i]; y[i] = s;", "+", False),
        ("y[i] = s; s += x[i];", "+", True),
        ("s = s > x[i] ? s : x[i]; y[i] = s;", "max", False),
        ("s = 3 * s + x[i]; y[i] = s;", "linear", False),
    ],
)
def test_scans(body: str, operator: str, exclusive: bool) -> None:
    nest = only_nest(
        f"void f(int n, const int *restrict x, int *restrict y) {{ int s = 1; for (int i = 0; i < n; i++) {{ {body} }} }}"
    )
    assert nest.scan is not None
    assert (nest.scan.op, nest.scan.exclusive) == (operator, exclusive)


@pytest.mark.parametrize(
    ("value", "factors"),
    [
        ("a[(i - 1) * m + j] + a[i * m + j - 1]", (1, 1)),
        ("a[(i - 1) * m + j + 1] + a[i * m + j - 1]", (2, 1)),
    ],
)
def test_wavefronts(value: str, factors: tuple[int, int]) -> None:
    nest = only_nest(f"""void f(int n, int m, double *restrict a) {{
    for (int i = 1; i < n; i++)
        for (int j = 1; j < m - 1; j++)
            a[i * m + j] = {value};
}}""")
    assert nest.skew is not None
    assert (nest.skew.outer, nest.skew.inner) == factors


def test_remainders_reach_no_further_than_what_is_divided() -> None:
    made = task("void f(int *a, const int *b, int n, int k) { for (int i = 0; i < n; i++) a[i] = b[i % k]; }")
    for n, k, reach in ((10, 4, 4), (4, 10, 4), (10, -4, 4), (4, -10, 4), (0, 3, 0), (1, 1, 1)):
        assert size.evaluate(made.array("b").extents[0], {"n": n, "k": k}) == reach


def test_periodic_neighbours_are_bounded() -> None:
    made = task(
        "void f(int *a, const int *b, int n) { for (int i = 0; i < n; i++) a[i] = b[(i + n - 1) % n] + b[(i + 1) % n]; }"
    )
    assert [size.evaluate(made.array("b").extents[0], {"n": n}) for n in (-1, 0, 1, 2, 61)] == [0, 0, 1, 2, 61]


def test_shifts_may_be_negative() -> None:
    body = "for (int i = 0; i < n; i++) a[i] = b[((i + h) % n + n) % n];"
    rolled = task(f"void f(int *a, const int *b, int n, int h) {{ {body} }}")
    assert [size.evaluate(rolled.array("b").extents[0], {"n": 10, "h": h}) for h in (-25, -10, -3, 0, 7, 30)] == [10] * 6
    halved = task("void f(int *a, const int *b, int n, int h) { for (int i = 0; i < n; i++) a[i] = b[(i + h) / 2 + 5]; }")
    assert [size.evaluate(halved.array("b").extents[0], {"n": 1, "h": h}) for h in (-3, -2, -1, 0, 2)] == [5, 5, 6, 6, 7]


def test_identifiers_may_be_of_any_script() -> None:
    assert threads("void f(float *wert, int länge) { for (int ä = 0; ä < länge; ä++) wert[ä] *= 2; }") == [["ä"]]


def test_kernels_have_names_that_nvcc_takes() -> None:
    loaded = unit("void größe(float *x, int n) { for (int i = 0; i < n; i++) x[i] *= 2; }", "größe")
    assert [nest.name for nest in nests(partition(loaded, ()).steps)] == ["gruf6udfe_k1"]


@pytest.mark.parametrize(
    ("head", "count"),
    [
        ("int i = 0; i < n && i < m; i++", lambda n, m: max(0, min(n, m))),
        ("int i = 0; i <= n && i <= m; i++", lambda n, m: max(0, min(n, m) + 1)),
        ("int i = n; i > m && i > 3; i--", lambda n, m: max(0, n - max(m, 3))),
    ],
)
def test_the_nearer_of_two_ends(head: str, count: Callable[[int, int], int]) -> None:
    made = task(f"void f(int n, int m, float *a) {{ for ({head}) a[i] += 1; }}")
    for n, m in ((5, 9), (9, 5), (0, 4), (4, 0), (7, 7)):
        assert size.evaluate(made.work, {"n": n, "m": m}) == count(n, m), (n, m)
