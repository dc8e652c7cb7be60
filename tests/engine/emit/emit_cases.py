"""Hand-made tasks and candidates, one for each thing that emitted files must handle.

Each case also carries the user's C function (`Case.c`), so that fallbacks have something to call.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from _pytest.mark import ParameterSet

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.plan import (
    Copy,
    Fill,
    IntArg,
    Launch,
    LaunchPlan,
    PointerArg,
    Repeat,
    RepeatWhile,
    ScalarArg,
    Step,
    Swap,
    Temporary,
    When,
)
from cudaperf.engine.task import (
    ArrayParameter,
    ElementType,
    Original,
    ScalarParameter,
    ScalarType,
    StructField,
    StructType,
    Task,
)

DOUBLE = ScalarType(name="double", number="float", bits=64)
FLOAT = ScalarType(name="float", number="float", bits=32)
INT = ScalarType(name="int", number="int", bits=32)
UINT = ScalarType(name="unsigned int", number="int", bits=32, signed=False)
ULONG = ScalarType(name="unsigned long", number="int", bits=64, signed=False)
LONG = ScalarType(name="long", number="int", bits=64)
BODY = StructType(
    name="struct body",
    fields=(StructField(name="x", type=DOUBLE, offset=0), StructField(name="v", type=DOUBLE, offset=8, dims=(3,))),
    size=32,
)
POINT = StructType(
    name="point_t", fields=(StructField(name="x", type=FLOAT, offset=0), StructField(name="y", type=FLOAT, offset=4)), size=8
)


@dataclass(frozen=True)
class Case:
    """A task, its candidate, and the user's C file; `fallback` for originals with internal linkage."""

    task: Task
    candidate: Candidate
    fallback: str | None = None

    @property
    def c(self) -> str:
        return self.task.original.source


def array(declaration: str, kind: ElementType, *extents: str, access: str = "in", is_global: bool = False) -> ArrayParameter:
    """An array parameter; its name is the last word before any bracket."""
    name = declaration.split("[")[0].replace(")", " ").replace("*", " ").split()[-1]
    return ArrayParameter.model_validate(
        {
            "name": name,
            "type": kind,
            "extents": extents,
            "access": access,
            "declaration": declaration,
            "const": declaration.startswith("const "),
            "restrict": "restrict" in declaration,
            "is_global": is_global,
        }
    )


def scalar(declaration: str, kind: ElementType, *, size: bool = False, is_global: bool = False) -> ScalarParameter:
    return ScalarParameter(
        name=declaration.split()[-1], type=kind, role="size" if size else "value", declaration=declaration, is_global=is_global
    )


def size(declaration: str, kind: ElementType = INT) -> ScalarParameter:
    return scalar(declaration, kind, size=True)


def original(function: str, source: str, *, static: bool = False) -> Original:
    return Original(path=f"{function}.c", function=function, source=source, preprocessed=source, static=static)


def launch(kernel: str, n: str, *args: str, block: int = 64) -> Launch:
    """One thread an element; arguments: "*buffer", "*buffer+offset", "scalar", or "=expression:type"."""
    made: list[PointerArg | ScalarArg | IntArg] = []
    for text in args:
        if text.startswith("*"):
            buffer, _, offset = text[1:].partition("+")
            made.append(PointerArg(buffer=buffer, offset=offset or "0"))
        elif text.startswith("="):
            value, _, kind = text[1:].partition(":")
            made.append(IntArg(value=value, type=kind or "int"))
        else:
            made.append(ScalarArg(name=text))
    return Launch(kernel=kernel, grid=(f"ceildiv({n}, {block})", "1", "1"), block=(str(block), "1", "1"), args=tuple(made))


def candidate(code: str, *steps: Step, schedule: str = "map", **plan: object) -> Candidate:
    return Candidate(
        device_code=code.strip("\n") + "\n",
        plan=LaunchPlan.model_validate({"steps": steps, **plan}),
        strategy=schedule.split("(")[0],
        schedule=schedule,
        account="One thread computes one iteration of the loop over i.",
    )


SCALE_C = """\
/* SPDX-License-Identifier: MIT */
void scale(int n, double k, const double *restrict a, double *restrict b)
{
    for (int i = 0; i < n; i++)
        b[i] = k * a[i];
}
"""
SCALE_CODE = """
extern "C" __global__ void scale_kernel(int n, double k, const double *__restrict__ a, double *__restrict__ b)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        b[i] = k * a[i];
    }
}
"""


def scale() -> Case:
    """A one-dimensional map."""
    task = Task(
        name="scale",
        original=original("scale", SCALE_C),
        parameters=(
            size("int n"),
            scalar("double k", DOUBLE),
            array("const double *restrict a", DOUBLE, "n"),
            array("double *restrict b", DOUBLE, "n", access="out"),
        ),
    )
    return Case(task, candidate(SCALE_CODE, launch("scale_kernel", "n", "n", "k", "*a", "*b"), schedule="map x(i) block(x:64)"))


HEAT_C = """\
void heat(int n, int steps, double *u, double *v)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            v[i] = 0.5 * (u[i - 1] + u[i + 1]);
        double *tmp = u; u = v; v = tmp;
    }
}
"""
HEAT_CODE = """
extern "C" __global__ void heat_step(int n, const double *__restrict__ u, double *__restrict__ v)
{
    const int i = 1 + (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n - 1)
        v[i] = 0.5 * (u[i - 1] + u[i + 1]);
}
"""


def heat() -> Case:
    """A time loop that swaps two arrays, both in and out."""
    task = Task(
        name="heat",
        original=original("heat", HEAT_C),
        parameters=(
            size("int n"),
            size("int steps"),
            array("double *u", DOUBLE, "n", access="inout"),
            array("double *v", DOUBLE, "n", access="inout"),
        ),
        requirements=("n >= 2",),
    )
    body = (launch("heat_step", "n - 2", "n", "*u", "*v"), Swap(first="u", second="v"))
    return Case(task, candidate(HEAT_CODE, Repeat(var="t", begin="0", end="steps", body=body)))


DOT_C = """\
double dot(unsigned int n, const float *a, const float *b)
{
    double s = 0;
    for (unsigned int i = 0; i < n; i++)
        s += (double)a[i] * b[i];
    return s;
}
"""
DOT_CODE = """
extern "C" __global__ void dot_blocks(unsigned int n, const float *a, const float *b, double *partial)
{
    double s = 0;
    for (unsigned int i = blockIdx.x * 64 + threadIdx.x; i < min((blockIdx.x + 1) * 64, n); i += 64)
        s += (double)a[i] * b[i];
    __shared__ double sums[64];
    sums[threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 64; k++)
            s += sums[k];
        partial[blockIdx.x] = s;
    }
}

extern "C" __global__ void dot_total(int count, const double *partial, double *total)
{
    double s = 0;
    for (int k = 0; k < count; k++)
        s += partial[k];
    *total = s;
}
"""


def dot() -> Case:
    """A value returned through a reduction in two launches, with temporaries."""
    task = Task(
        name="dot",
        original=original("dot", DOT_C),
        parameters=(size("unsigned int n", UINT), array("const float *a", FLOAT, "n"), array("const float *b", FLOAT, "n")),
        returns=DOUBLE,
    )
    total = Launch(
        kernel="dot_total",
        args=(IntArg(value="ceildiv(n, 64)"), PointerArg(buffer="partial"), PointerArg(buffer="total")),
    )
    temporaries = (
        Temporary(name="partial", type="double", count="ceildiv(n, 64)"),
        Temporary(name="total", type="double", count="1"),
    )
    steps = (launch("dot_blocks", "n", "n", "*a", "*b", "*partial"), total)
    return Case(task, candidate(DOT_CODE, *steps, temporaries=temporaries, result="total", schedule="grid_reduce(s) block(64)"))


VLA_C = """\
void smooth(int n, int m, double A[n][m], double B[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            B[i][j] = 0.25 * A[i][j];
}
"""
VLA_CODE = """
extern "C" __global__ void smooth_kernel(int n, int m, const double *A, double *B)
{
    const int j = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int i = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (i < n && j < m)
        B[i * m + j] = 0.25 * A[i * m + j];
}
"""


def smooth() -> Case:
    """Variable-length arrays and a two-dimensional grid."""
    task = Task(
        name="smooth",
        original=original("smooth", VLA_C),
        parameters=(
            size("int n"),
            size("int m"),
            array("double A[n][m]", DOUBLE, "n", "m"),
            array("double B[n][m]", DOUBLE, "n", "m", access="out"),
        ),
    )
    step = Launch(
        kernel="smooth_kernel",
        grid=("max(0, ceildiv(m, 32))", "max(0, min(ceildiv(n, 8), 65535))", "1"),
        block=("32", "8", "1"),
        args=(ScalarArg(name="n"), ScalarArg(name="m"), PointerArg(buffer="A"), PointerArg(buffer="B")),
    )
    return Case(task, candidate(VLA_CODE, step))


BODIES_C = """\
struct body { double x; double v[3]; };
typedef struct { float x, y; } point_t;

void drift(size_t count, struct body *b, point_t origin, const point_t *shift)
{
    for (size_t i = 0; i < count; i++)
        b[i].x += b[i].v[0] + origin.x + shift[i].y;
}
"""
BODIES_CODE = """
struct body { double x; double v[3]; };
typedef struct { float x, y; } point_t;

extern "C" __global__ void drift_kernel(size_t count, struct body *b, point_t origin, const point_t *shift)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        b[i].x += b[i].v[0] + origin.x + shift[i].y;
}
"""


def drift() -> Case:
    """Arrays of structs, a struct by value, types of the main file, a size_t size."""
    task = Task(
        name="drift",
        original=original("drift", f"#include <stddef.h>\n{BODIES_C}"),
        parameters=(
            size("size_t count", ULONG),
            array("struct body *b", BODY, "count", access="inout"),
            scalar("point_t origin", POINT),
            array("const point_t *shift", POINT, "count"),
        ),
    )
    return Case(task, candidate(BODIES_CODE, launch("drift_kernel", "count", "count", "*b", "origin", "*shift")))


LAYER_C = """\
#define N 40
#define M 24

float weights[N][M];
float *bias;
int rows = N;

void layer(const float input[M], float output[N])
{
    for (int i = 0; i < rows; i++) {
        float s = bias[i];
        for (int j = 0; j < M; j++)
            s += weights[i][j] * input[j];
        output[i] = s;
    }
}
"""
LAYER_CODE = """
#define N 40
#define M 24

extern "C" __global__ void layer_kernel(int rows, const float (*__restrict__ weights)[24], const float *bias,
                                        const float *input, float *output)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < rows) {
        float s = bias[i];
        for (int j = 0; j < M; j++)
            s += weights[i][j] * input[j];
        output[i] = s;
    }
}
"""


def layer() -> Case:
    """Sizes that are macros, file-scope arrays and scalars, a kernel parameter that points to arrays."""
    task = Task(
        name="layer",
        original=original("layer", LAYER_C),
        parameters=(array("const float input[M]", FLOAT, "24"), array("float output[N]", FLOAT, "rows", access="out")),
        globals=(
            array("float weights[N][M]", FLOAT, "40", "24", is_global=True),
            array("float *bias", FLOAT, "rows", is_global=True),
            scalar("int rows", INT, size=True, is_global=True),
        ),
        requirements=("rows <= 40",),
    )
    step = launch("layer_kernel", "rows", "rows", "*weights", "*bias", "*input", "*output")
    return Case(task, candidate(LAYER_CODE, step))


SPMV_C = """\
void spmv(int n, const int *rowptr, const int *col, const double *val, const double *x, double *y)
{
    for (int i = 0; i < n; i++) {
        double s = 0.0;
        for (int k = rowptr[i]; k < rowptr[i + 1]; k++)
            s += val[k] * x[col[k]];
        y[i] = s;
    }
}
"""
SPMV_CODE = """
extern "C" __global__ void spmv_rows(int n, const int *rowptr, const int *col, const double *val, const double *x, double *y)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        double s = 0.0;
        for (int k = rowptr[i]; k < rowptr[i + 1]; k++)
            s += val[k] * x[col[k]];
        y[i] = s;
    }
}
"""


def spmv() -> Case:
    """Extents that depend on the data."""
    nnz = "at(rowptr, n) if n > 0 else 0"
    task = Task(
        name="spmv",
        original=original("spmv", SPMV_C),
        parameters=(
            size("int n"),
            array("const int *rowptr", INT, "n + 1 if n > 0 else 0"),
            array("const int *col", INT, nnz),
            array("const double *val", DOUBLE, nnz),
            array("const double *x", DOUBLE, f"top(col, {nnz})"),
            array("double *y", DOUBLE, "n", access="out"),
        ),
        requirements=("at(rowptr, 0) >= 0",),
    )
    return Case(task, candidate(SPMV_CODE, launch("spmv_rows", "n", "n", "*rowptr", "*col", "*val", "*x", "*y")))


CLASH_C = """\
void mix(long new, unsigned int class, float this, float *stream, const float *grid, const unsigned char *error)
{
    for (long i = 0; i < new; i++)
        stream[i] = this * grid[i] + (error[i] > class);
}
"""
CLASH_CODE = """
#define why 3
extern "C" __global__ void mix_kernel(long new_, unsigned int class_, float this_, float *stream, const float *grid,
                                      const unsigned char *error)
{
    const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < new_)
        stream[i] = this_ * grid[i] + (error[i] > class_);
}
"""


def mix() -> Case:
    """Parameters named as C++ keywords or as what host code calls its own, a macro among them, a 64-bit signed size."""
    uchar = ScalarType(name="unsigned char", number="int", bits=8, signed=False)
    task = Task(
        name="mix",
        original=original("mix", CLASH_C),
        parameters=(
            size("long new", LONG),
            scalar("unsigned int class", UINT),
            scalar("float this", FLOAT),
            array("float *stream", FLOAT, "new", access="inout"),
            array("const float *grid", FLOAT, "new"),
            array("const unsigned char *error", uchar, "new"),
        ),
    )
    return Case(task, candidate(CLASH_CODE, launch("mix_kernel", "new", "new", "class", "this", "*stream", "*grid", "*error")))


STATIC_C = """\
static void add_one(int n, int a[][2])
{
    for (int i = 0; i < n; i++)
        a[i][1] += 1;
}
"""
STATIC_FALLBACK = STATIC_C.replace("int a[][2]", "int (*a)[2]")
STATIC_CODE = """
extern "C" __global__ void add_one_kernel(int n, int (*__restrict__ a)[2])
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        a[i][1] += 1;
}
"""


def add_one() -> Case:
    """An original with internal linkage, of which the file carries a copy."""
    task = Task(
        name="add_one",
        original=original("add_one", STATIC_C, static=True),
        parameters=(size("int n"), array("int a[][2]", INT, "n", "2", access="inout")),
    )
    return Case(task, candidate(STATIC_CODE, launch("add_one_kernel", "n", "n", "*a")), fallback=STATIC_FALLBACK)


SETTLE_C = """\
int settle(int n, long m, double *a)
{
    int rounds = 0, more = n > 0 && m > 0;
    while (more) {
        more = 0;
        for (long i = 0; i < (long)n * m; i++)
            if (a[i] > 1.0) { a[i] *= 0.5; more = 1; }
        rounds++;
    }
    return rounds;
}
"""
SETTLE_CODE = """
extern "C" __global__ void settle_kernel(long long count, double *a, int *more, int *rounds)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && a[i] > 1.0) {
        a[i] *= 0.5;
        atomicExch(more, 1);
    }
    if (i == 0)
        *rounds += 1;
}
"""


def settle() -> Case:
    """A loop until a flag on the device is clear, `when`, `fill`, `copy`, products of 64-bit sizes, a returned int."""
    task = Task(
        name="settle",
        original=original("settle", SETTLE_C),
        parameters=(size("int n"), size("long m", LONG), array("double *a", DOUBLE, "n", "m", access="inout")),
        returns=INT,
        requirements=("n * m < 1000000000",),
    )
    body = (Fill(buffer="more", count="1"), launch("settle_kernel", "n * m", "=n * m:long long", "*a", "*more", "*rounds"))
    steps = (
        Fill(buffer="rounds", count="2"),
        When(
            condition="n > 0 and m > 0",
            body=(
                RepeatWhile(flag="more", limit="100000", body=body),
                Copy(target="rounds", source="rounds", count="1", target_offset="1"),
            ),
        ),
    )
    temporaries = (Temporary(name="more", type="int", count="1"), Temporary(name="rounds", type="int", count="2"))
    return Case(task, candidate(SETTLE_CODE, *steps, temporaries=temporaries, result="rounds"))


CASCADE_C = """\
void cascade(int n, float *a, float *b)
{
    for (int k = n - 1; k > 0; k -= 2)
        for (int i = 0; i < k; i++)
            a[i] += a[k];
    for (int t = 0; t < 9; t++)
        for (int i = 0; i < n; i++)
            b[i] = 0.5f * b[i] + a[i];
}
"""
CASCADE_CODE = """
extern "C" __global__ void cascade_first(int k, float *a)
{
    extern __shared__ float pivot[];
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (threadIdx.x == 0)
        pivot[0] = a[k];
    __syncthreads();
    if (i < k)
        a[i] += pivot[0];
}

extern "C" __global__ void cascade_second(int n, const float *a, float *b)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        b[i] = 0.5f * b[i] + a[i];
}
"""


def cascade() -> Case:
    """A repeat whose launches depend on its variable, one that is recorded, dynamic shared memory."""
    task = Task(
        name="cascade",
        original=original("cascade", CASCADE_C),
        parameters=(
            size("int n"),
            array("float *a", FLOAT, "n", access="inout"),
            array("float *b", FLOAT, "n", access="inout"),
        ),
    )
    first = launch("cascade_first", "k", "=k", "*a").model_copy(update={"shared": "4 * min(n, 16)"})
    steps = (
        Repeat(var="k", begin="n - 1", end="0", step=-2, body=(first,)),
        Repeat(var="t", begin="0", end="9", body=(launch("cascade_second", "n", "n", "*a", "*b"),)),
    )
    return Case(task, candidate(CASCADE_CODE, *steps))


CASES = {make.__name__: make for make in (scale, heat, dot, smooth, drift, layer, spmv, mix, add_one, settle, cascade)}


def sampled(*names: str, among: tuple[str, ...] = tuple(CASES)) -> list[ParameterSet]:
    """These cases, and the others among all as slow tests."""
    quick = [pytest.param(name) for name in names]
    return quick + [pytest.param(name, marks=pytest.mark.slow) for name in among if name not in names]
