"""Every kind of obstacle once: the code, the line and the words of the refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudaperf.engine.analyse import analyse, offered
from cudaperf.engine.reason import Refusal

ASSUMED = """// here: cudaperf: assume ...
void f(int n, float a, double *restrict x, const int *restrict k) {
    for (int i = 0; i < n; i++)
        x[i] = a * k[i];
}"""

CASES = {
    "flow": (
        """void f(int n, double *restrict a) {
    for (int i = 2; i < n; i++)
        a[i] = a[i] * a[i - 2] * a[i - 1];  // here
}""",
        "dependence",
        "a[i] reads a[i - 2] written by the iteration 2 before of the loop over i",
    ),
    "output": (
        """void f(int n, double *restrict a, const double *restrict x) {
    for (int i = 0; i < n; i++)
        a[i / 2] = x[i];  // here
}""",
        "dependence",
        "a[i / 2] is written by more than one iteration of the loop over i",
    ),
    "anti": (
        """void f(int n, double *restrict a) {
    for (int i = 0; i < n - 1; i++)
        a[i] = a[i + 1] * 2.0;  // here
}""",
        "dependence",
        "a[i] overwrites a[i + 1] read by the previous iteration of the loop over i",
    ),
    "index array": (
        """void f(int n, double *restrict a, const int *restrict p) {
    for (int i = 0; i < n; i++)
        a[p[i]] = 1.0;  // here
}""",
        "dependence",
        "nothing shows that the subscripts differ",
    ),
    "unknown distance": (
        """void f(int n, int k, float *x) {
    for (int i = 0; i < n; i++)
        x[i] = x[i + k];  // here
}""",
        "dependence",
        "where they never meet, say so: // cudaperf: assume k >= n (docs/assume.md)",
    ),
    "length from data": (
        """void f(int n, const int *k, float *y) {
    float t[k[0]];  // here
    for (int i = 0; i < n; i++)
        t[i] = y[i];
    for (int i = 0; i < n; i++)
        y[i] = t[n - 1 - i];
}""",
        "unsupported",
        "the host can't compute the length of t before the loops run",
    ),
    "carried scalar": (
        """double f(int n, const double *restrict x) {
    double s = 0.0;
    for (int i = 0; i < n; i++)
        s = x[i] - s * s;  // here
    return s;
}""",
        "dependence",
        "s carries a value from one iteration of the loop over i to the next",
    ),
    "last value": (
        """double f(int n, const double *restrict x, double *restrict y) {
    double t = 0.0;
    for (int i = 0; i < n; i++) {
        t = x[i] * 2.0;  // here
        y[i] = t;
    }
    return t;
}""",
        "dependence",
        "the last value of t is used after the loop over i",
    ),
    "value of the loop's variable": (
        """int f(int n, int *restrict y) {
    int i;
    for (i = 0; i < n; i += 3)  // here
        y[i] = 1;
    return i;
}""",
        "unsupported",
        "the value of i after the loop is needed",
    ),
    "step that each iteration computes": (
        """void f(int n, int *restrict y) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        int t = y[i];
        y[i] = s;  // here
        s += t;
    }
}""",
        "dependence",
        "s carries a value from one iteration of the loop over i to the next",
    ),
    "sum that truncates": (
        """int f(int n, const float *restrict x) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += x[i];  // here
    return s;
}""",
        "dependence",
        "s carries a value from one iteration of the loop over i to the next",
    ),
    "position read inside": (
        """void f(int n, const float *restrict x, int *restrict y) {
    float best = x[0];
    int at = 0;
    for (int i = 0; i < n; i++) {
        if (x[i] > best) {
            best = x[i];
            at = i;
        }
        y[i] = at;  // here
    }
}""",
        "dependence",
        "carries a value from one iteration of the loop over i to the next",
    ),
    "return": (
        """int f(int n, const int *restrict x) {
    for (int i = 0; i < n; i++)
        if (x[i] == 7)
            return i;  // here
    return -1;
}""",
        "dependence",
        "the loop may end early here",
    ),
    "break": (
        """void f(int n, const int *restrict x, int *restrict y) {
    for (int i = 0; i < n; i++) {
        if (x[i] < 0)
            break;  // here
        y[i] = x[i];
    }
}""",
        "dependence",
        "the loop may end early here",
    ),
    "variable step": (
        """void f(int n, int step, double *restrict a) {
    for (int i = 0; i < n; i += step)  // here
        a[i] = 0.0;
}""",
        "unsupported",
        "the step of the loop over i is not a constant; count its passes",
    ),
    "growing step": (
        """void f(int n, double *restrict a) {
    for (int i = 1; i < n; i *= 2)  // here
        a[i] = 0.0;
}""",
        "unsupported",
        "how often this loop runs can't be computed before it begins",
    ),
    "while": (
        """void f(int *restrict x) {
    while (x[0] > 1)  // here
        x[0] = x[0] / 2;
}""",
        "dependence",
        "each pass of this while loop depends on the one before",
    ),
    "no loop": ("int f(int n) {  // here\n    return n + 1;\n}", "no_loop", "f has no loop to move"),
    "file-scope variable": (
        """int count;
void f(int n, int *restrict x) {
    for (int i = 0; i < n; i++)
        x[i] = i;
    count = n;  // here
}""",
        "side_effect",
        "f sets the file-scope variable count, which the caller would not see",
    ),
    "file-scope loop variable": (
        """int at;
void f(int n, int *restrict x) {
    for (at = 0; at < n; at++)  // here
        x[at] = at;
}""",
        "side_effect",
        "f sets the file-scope variable at, which the caller would not see",
    ),
    "trip count on the device": (
        """void f(const int *restrict count, double *restrict a) {
    for (int i = 0; i < count[0]; i++)  // here
        a[i] = 1.0;
}""",
        "unsupported",
        "the end of the loop over i, count[0], is read from memory; pass it as an argument of its own",
    ),
    "condition on the device": (
        """void f(int n, const double *restrict x, double *restrict a) {
    if (x[0] > 0.0)  // here
        for (int i = 0; i < n; i++)
            a[i] = 1.0;
}""",
        "unsupported",
        "a condition around loops depends on data on the device",
    ),
    "return on the device's data": (
        """void f(int n, const double *restrict x, double *restrict a) {
    if (x[0] > 0.0)
        return;  // here
    for (int i = 0; i < n; i++)
        a[i] = 1.0;
}""",
        "unsupported",
        "whether the function returns here depends on values that the host does not know",
    ),
    "return on a number": (
        """double f(int n, double least, const double *restrict x) {
    double s = 0;
    if (least < 0)
        return s;  // here
    for (int i = 0; i < n; i++)
        s += x[i];
    return s;
}""",
        "unsupported",
        "whether the function returns here depends on a floating-point test, which kernels alone can make",
    ),
    "return on a number before a loop of the host": (
        """void f(int n, int m, float t, float *restrict x) {
    if (t > 0)  // here
        return;
    for (int k = 1; k < m; k++)
        for (int i = 1; i < n - 1; i++)
            x[k * n + i] = x[(k - 1) * n + i - 1] + x[(k - 1) * n + i + 1];
}""",
        "unsupported",
        "a condition around loops depends on a floating-point test, which kernels alone can make",
    ),
    "return on a number that changes": (
        """void f(int n, float t, float *restrict x) {
    if (t < 0)  // here
        return;
    t = 2 * t;
    for (int i = 0; i < n; i++)
        x[i] *= t;
}""",
        "unsupported",
        "a condition around loops depends on t, which changes under it",
    ),
    "too little work": (
        """void f(double *restrict a) {
    for (int i = 0; i < 10; i++)  // here
        a[i] = 1.0;
}""",
        "not_profitable",
        "not worth moving: 10 iterations in all",
    ),
    "reach": (
        """void f(int n, const int *restrict p, double *restrict a, const double *restrict x) {
    for (int i = 0; i < n; i++)
        a[i] = x[p[i] * p[i]];  // here
}""",
        "unbounded",
        "nothing bounds how far x is accessed here, as p[i] * p[i] multiplies variables; "
        "say it in a comment: // cudaperf: assume extent(x) == n",
    ),
    "local table": (
        """void f(int n, double *restrict a) {
    int t[4] = {1, 2, 3, 4};  // here
    for (int i = 0; i < n; i++)
        t[i % 4] += i;
    for (int i = 0; i < n; i++)
        a[i] = t[i % 4];
}""",
        "unsupported",
        "the local array t can't live on the device",
    ),
    "assumption": (
        """void f(int n, double *restrict a) {
    // here: cudaperf: assume n is even
    for (int i = 0; i < n; i++)
        a[i] = 1.0;
}""",
        "unsupported",
        "the assumption 'n is even' can't be read",
    ),
    "byte index": (
        """void f(int n, int *restrict hit) {
    for (int i = 0; i < n; i++) {
        unsigned char k = i;
        hit[k] = i;  // here
    }
}""",
        "dependence",
        "hit[k] is written by more than one iteration of the loop over i",
    ),
    "hash": (
        """void f(unsigned n, unsigned *restrict table) {
    for (unsigned i = 0; i < n; i++)
        table[(i * 2654435761u) >> 24] = i;  // here
}""",
        "dependence",
        "is written by more than one iteration of the loop over i",
    ),
    "store before update": (
        """void f(int n, int *restrict x) {
    int s = 1;
    for (int i = 0; i < n; i++) {
        x[i] = s;  // here
        s = s + x[i];
    }
}""",
        "dependence",
        "s carries a value from one iteration of the loop over i to the next",
    ),
    "packed triangle": (
        """void f(int n, double *restrict a, const double *restrict x) {
    for (int i = 0; i < n; i++) {
        double *row = a + i * (i + 1) / 2;
        for (int j = 0; j <= i; j++)
            row[j] = x[i * n + j];  // here
    }
}""",
        "unbounded",
        "nothing bounds how far a is accessed here, as i * (i + 1) multiplies variables; say it in a comment",
    ),
    "diagonal of a packed triangle": (
        """// cudaperf: assume extent(a) == n * (n + 1) / 2
void f(int n, double *restrict a) {
    for (int i = 0; i < n; i++)
        a[i * (i + 1) / 2 + i] = 1;  // here
}""",
        "dependence",
        "a[i * (i + 1) / 2 + i] may be the same element in two iterations of the loop over i: "
        "nothing shows that the subscripts differ, as i * (i + 1) multiplies variables",
    ),
    "triangle that is counted through": (
        """void f(int n, double *restrict a, const double *restrict x) {
    int k = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            a[k++] = x[i * n + j];  // here
}""",
        "dependence",
        "a[...] may be the same element in two iterations of the loop over j: "
        "nothing shows that the subscripts differ, as k counts what is not known beforehand",
    ),
    "clamped product": (
        """void f(int n, int m, int s, const float *restrict x, float *restrict y) {
    for (int i = 0; i < n; i++) {
        int k = i * s;
        if (k >= m)
            k = m - 1;
        y[i] = x[k];  // here
    }
}""",
        "unbounded",
        "nothing bounds how far x is accessed here, as i * s multiplies variables",
    ),
    "tested product": (
        """void f(int n, int s, const float *restrict x, float *restrict y) {
    for (int i = 0; i < n; i++)
        y[i] = i * s < n ? x[i * s] : 0;  // here
}""",
        "unbounded",
        "a test that can't be followed decides how far x is accessed here, as i * s multiplies variables",
    ),
    "quotient of a loop's variable": (
        """void f(int n, int w, int m, const float *restrict x, float *restrict y) {
    for (int i = 0; i < n; i++)
        y[i] = x[i * w / m];  // here
}""",
        "unbounded",
        "nothing bounds how far x is accessed here, as i * w / m divides by a variable",
    ),
    "subscript in floating point": (
        """void f(int n, float s, const float *restrict x, float *restrict y) {
    for (int i = 0; i < n; i++)
        y[i] = x[(int)(i * s)];  // here
}""",
        "unbounded",
        "nothing bounds how far x is accessed here, as (int)(i * s) is computed in floating point",
    ),
    "remainder": (
        """void f(int n, int s, float *restrict y) {
    for (int i = 0; i < n; i++)
        y[(i + s) % n] = i;  // here
}""",
        "dependence",
        "y[(i + s) % n] may be the same element in two iterations of the loop over i: "
        "nothing shows that the subscripts differ, as (i + s) % n divides by a variable",
    ),
    "bound: a product": (
        """void f(int n, int s, const float *restrict x, float *restrict y) {
    for (int k = 0; k < n; k++) {
        int end = (k + 1) * s < n ? (k + 1) * s : n;
        for (int i = k * s; i < end; i++)  // here
            y[i] = x[i];
    }
}""",
        "unsupported",
        "the host can't compute the end of the loop over i: (k + 1) * s multiplies variables",
    ),
    "bound: floating point": (
        """void f(int n, float share, float *restrict y) {
    for (int i = 0; i < (int)(n * share); i++)  // here
        y[i] = 1;
}""",
        "unsupported",
        "the host can't compute the end of the loop over i: (int)(n * share) is computed in floating point",
    ),
    "bound: wrapping around": (
        """void f(unsigned n, float *restrict y) {
    for (unsigned i = n - 1; i < n; i--)  // here
        y[i] = 1;
}""",
        "unsupported",
        "the loop over i counts down until i wraps around: count up, and use n - 1 - i in it",
    ),
    "bound: a quotient of what wraps around": (
        """void f(unsigned n, unsigned s, float *restrict y) {
    for (unsigned i = 0; i < (n - 1) / s; i++)  // here
        y[i] = 1;
}""",
        "unsupported",
        "the host can't compute the end of the loop over i: (n - 1) / s divides what may have wrapped around below 0",
    ),
    "sums of members": (
        """struct z { double re, im; };
struct z f(int n, const struct z *a) {
    struct z s = {0, 0};
    for (int i = 0; i < n; i++) {  // here
        s.re += a[i].re;
        s.im += a[i].im;
    }
    return s;
}""",
        "unsupported",
        "keep each member of s in a variable or array of its own",
    ),
    "bins of floating-point numbers": (
        """void f(int n, int bins, float low, float width, int *restrict h, const float *restrict x) {
    for (int i = 0; i < n; i++) {
        int b = (int)((x[i] - low) / width);
        if (b >= bins)
            b = bins - 1;
        h[b]++;  // here
    }
}""",
        "unbounded",
        "nothing bounds how far h is accessed here",
    ),
    "variable step around a loop": (
        """void f(int n, int s, const float *restrict x, float *restrict y) {
    for (int k = 0; k < n; k += s)  // here
        for (int i = k; i < n && i < k + s; i++)
            y[i] = x[i];
}""",
        "unsupported",
        "the step of the loop over k is not a constant; count its passes: for (t = 0; t < (n + s - 1) / s; t++)",
    ),
    "bound: a member by value": (
        """struct grid { int n; };
void f(struct grid c, double *x) {
    for (int i = 0; i < c.n; i++)  // here
        x[i] *= 2.0;
}""",
        "unsupported",
        "the end of the loop over i, c.n, is a member of a structure; pass it as an argument of its own",
    ),
    "bound: a member by pointer": (
        """struct grid { int n; };
void f(const struct grid *c, double *x) {
    for (int i = 0; i < c->n; i++)  // here
        x[i] *= 2.0;
}""",
        "unsupported",
        "the end of the loop over i, c->n, is a member of a structure",
    ),
    "bound: a copy of a member": (
        """struct grid { int n; };
void f(struct grid c, double *x) { int n = c.n - 1, m = 2 * n;
    for (int i = 0; i < m; i++)  // here
        x[i] *= 2.0;
}""",
        "unsupported",
        "the end of the loop over i, c.n, is a member of a structure",
    ),
    "bound: a member as start": (
        """struct grid { int n; };
void f(struct grid c, int n, double *x) {
    for (int i = c.n; i < n; i++)  // here
        x[i] *= 2.0;
}""",
        "unsupported",
        "the start of the loop over i, c.n, is a member of a structure",
    ),
    "bound: a number by pointer": (
        """struct grid { int n; };
void f(const int *n, double *x) {
    for (int i = 0; i < *n; i++)  // here
        x[i] *= 2.0;
}""",
        "unsupported",
        "the end of the loop over i, *n, is read from memory; pass it as an argument of its own",
    ),
    "assumption: unknown name": (
        ASSUMED.replace("...", "q >= 2"),
        "unsupported",
        "q is no integer that f is given",
    ),
    "assumption: number": (
        ASSUMED.replace("...", "a > 1"),
        "unsupported",
        "a is no integer that f is given",
    ),
    "assumption: data": (
        ASSUMED.replace("...", "top(k, n) <= n"),
        "unsupported",
        "the values of arrays can't be assumed",
    ),
    "assumption: words": (
        ASSUMED.replace("...", "n is even"),
        "unsupported",
        "not a size expression; an assumption compares integer arguments",
    ),
    "assumption: joined extent": (
        ASSUMED.replace("...", "extent(x) == n && n > 3"),
        "unsupported",
        "put a comma between assumptions",
    ),
    "assumption: unknown array": (
        ASSUMED.replace("...", "extent(z) == n"),
        "unsupported",
        "z is no array that f is given",
    ),
    "assumption: chain": (
        ASSUMED.replace("...", "0 <= n < 9"),
        "unsupported",
        "see docs/assume.md",
    ),
    "assumption: nothing": (
        ASSUMED.replace("...", ""),
        "unsupported",
        "an assumption is missing",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str, tmp_path: Path) -> None:
    text, code, words = CASES[name]
    path = tmp_path / "f.c"
    path.write_text(text)
    with pytest.raises(Refusal) as caught:
        offered(analyse(path, "f"))
    reason = caught.value.reason
    line = next(n for n, line in enumerate(text.splitlines(), 1) if "// here" in line)
    assert (reason.code, reason.line) == (code, line), reason
    assert words in reason.message
