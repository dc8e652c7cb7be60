"""CP401, CP403 and CP404 on small kernels. What nvcc 13.0 makes of the expressions of CP401 was read from its PTX for sm_80."""

import pytest

from cudaperf.engine.analysis.arithmetic import findings
from cudaperf.engine.analysis.finding import Finding
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.reader import read
from cudaperf.engine.cuda.source import Source


def found(text: str, code: str) -> list[Finding]:
    model = read(Source("a.cu", text.encode()))
    return [f for function in model.functions for f in findings(model, function, Settings()) if f.code == code]


def fixed(text: str, finding: Finding) -> str:
    assert finding.fix is not None
    assert not finding.fix.safe
    for edit in sorted(finding.fix.edits, key=lambda e: e.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def kernel(body: str) -> str:
    return f"__global__ void k(float *a, double *d, int n) {{ float x = a[0], y = a[1]; {body} }}"


@pytest.mark.parametrize(
    ("body", "operations", "after"),
    [
        ("a[2] = x * 0.1;", 1, "a[2] = x * 0.1f;"),
        ("a[2] = x * 2.0 + y;", 2, "a[2] = x * 2.0f + y;"),
        ("a[2] += 0.1;", 1, "a[2] += 0.1f;"),
        ("float z = 1.0 / (1.0 + expf(-x));", 2, "float z = 1.0f / (1.0f + expf(-x));"),
        ("a[2] = exp(-0.5 * x);", 2, "a[2] = exp(-0.5f * x);"),
        ("a[2] = pow(x, 2);", 1, "a[2] = powf(x, 2);"),
        ("a[2] = std::pow(x, 2.5);", 1, "a[2] = powf(x, 2.5f);"),
        ("if (x > 0.1) a[2] = 0;", 1, "if (x > 0.1f) a[2] = 0;"),
        ("a[2] = max(x, 0.0);", 1, "a[2] = max(x, 0.0f);"),
        ("a[2] = fmaxf(x * 0.1, 0.0);", 1, "a[2] = fmaxf(x * 0.1f, 0.0);"),
        ("a[2] = 2.0 * x * y;", 2, "a[2] = 2.0f * x * y;"),
        ("a[2] = x * 1e-3;", 1, "a[2] = x * 1e-3f;"),
        ("a[2] = fmax(x, y) * 0.1;", 1, "a[2] = fmax(x, y) * 0.1f;"),
        ("a[2] = __ldg(&a[3]) * 0.1;", 1, "a[2] = __ldg(&a[3]) * 0.1f;"),
    ],
)
def test_accidental_double(body: str, operations: int, after: str) -> None:
    text = kernel(body)
    (one,) = found(text, "CP401")
    assert one.data["operations"] == operations
    assert fixed(text, one) == kernel(after)


@pytest.mark.parametrize(
    "body",
    [
        "a[2] = x * 2.0;",  # one operation, exact in float: the compiler narrows it
        "a[2] = 1.0 / x;",
        "a[2] *= 0.5;",
        "a[2] = x > 0.5 ? y : 0.0;",
        "a[2] = 0.1;",
        "a[2] = sqrt(x) + exp(y) + fabs(x);",  # float overloads
        "a[2] = pow(x, y);",
        "a[2] = fmax(x, 0.0);",
        "a[2] = x * 0.1f;",
        "d[2] = x * 0.1;",
        "double z = x * 0.1; a[2] = z * 0.1;",
        "a[2] = (double)x * 0.1;",
        "a[2] = (float)(x * 0.1);",
        "a[2] = n * 0.1;",
        "a[2] = d[0] * 0.1;",
        "a[2] = x * 1e-300;",
        "auto z = x * 0.1;",
        "a[2] = unknown(x) * 0.1;",
        "a[2] = missing * 0.1;",
        'printf("%f", x * 0.1);',
    ],
)
def test_no_accidental_double(body: str) -> None:
    assert found(kernel(body), "CP401") == []


def test_macros_constants_and_returns() -> None:
    (one,) = found("#define EPS 1e-5\n__device__ float f(float x) { return x + EPS; }", "CP401")
    assert one.fix is None
    assert one.message.startswith("EPS is a double: 1 operation")
    assert found("const float EPS = 1e-5;\n__device__ float f(float x) { return x + EPS; }", "CP401") == []
    assert len(found("__device__ float f(float x) { return x * M_PI; }", "CP401")) == 1
    assert found("__device__ double f(float x) { return x * M_PI; }", "CP401") == []
    assert found("template <typename T> __device__ void f(T *a) { T x = a[0]; a[1] = x * 0.1; }", "CP401") == []


def test_host_code_and_broken_code_are_left_alone() -> None:
    assert found("float f(float x) { return x * 0.1; }", "CP401") == []
    assert found("__device__ float f(float x) { return x * 0.1; @ }", "CP401") == []


def test_members_and_shared_arrays_have_types() -> None:
    text = "struct P { float m; double w; };\n__global__ void k(P *p) { __shared__ float t[4]; t[0] = %s * 0.1; }"
    assert len(found(text % "p[0].m", "CP401")) == 1
    assert found(text % "p[0].w", "CP401") == []
    assert len(found("__global__ void k(float4 *p) { p[0].x = p[1].y * 0.1; }", "CP401")) == 1


# --- CP404 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "divisions"),
    [
        ("for (int i = 0; i < n; i++) a[i % w] = 0;", 1),
        ("for (int i = 0; i < n; i++) a[i % w + i / w] = 0;", 1),
        ("for (int i = 0; i < n; i++) { int q = i / w, r = (i + 1) % w; a[q] = r; }", 2),
        ("int i = 0; while (i < n) { a[i / blockDim.x] = 0; i++; }", 1),
        ("for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) a[i % w] = 0;", 1),
    ],
)
def test_division_in_an_inner_loop(body: str, divisions: int) -> None:
    (one,) = found(f"__global__ void k(float *a, int n, int w) {{ {body} }}", "CP404")
    assert one.data["divisions"] == divisions


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) a[i % 7] = 0;",
        "for (int i = 0; i < n; i++) a[i % W + i / N + i / warpSize] = 0;",
        "const int u = 12; for (int i = 0; i < n; i++) a[i % u] = 0;",
        "for (int i = 0; i < n; i++) a[i + n / w] = 0;",
        "for (int i = 0; i < n; i++) a[i] = a[i] / w;",
        "for (int i = threadIdx.x; i < n; i += blockDim.x) a[i / w] = 0;",
        "int s = gridDim.x * blockDim.x; for (int i = 0; i < n; i += s) a[i / w] = 0;",
        "a[n / w] = 0;",
        "for (int i = 0; i < n; i++) a[i / other] = 0;",
    ],
)
def test_cheap_divisions(body: str) -> None:
    assert found(f"#define W unknown\ntemplate <int N> __global__ void k(float *a, int n, int w) {{ {body} }}", "CP404") == []


def test_parameters_of_device_functions_may_be_constants() -> None:
    assert found("__device__ void f(float *a, int n, int w) { for (int i = 0; i < n; i++) a[i % w] = 0; }", "CP404") == []


# --- CP403 -----------------------------------------------------------------------------------------------------------------

TWO = """
__global__ void scale(float *y, const float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
__global__ void add(float *z, const float *y, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) z[i] = z[i] + y[i];
}
__global__ void reverse(float *z, const float *y, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) z[i] = y[n - 1 - i];
}
"""


def test_elementwise_launches_that_one_kernel_could_do() -> None:
    host = "void h(float *z, float *y, float *x, int n) {{ scale<<<(n + 255) / 256, 256>>>(y, x, 2.0f, n); {} }}"
    (one,) = found(TWO + host.format("add<<<(n + 255) / 256, 256>>>(z, y, n);"), "CP403")
    assert (one.data["flops"], one.data["bytes"], one.data["bytes_fused"]) == (2, 20, 16)
    assert len(found(TWO + host.format("CHECK(cudaGetLastError()); add<<<(n + 255) / 256, 256>>>(z, y, n);"), "CP403")) == 1
    for other in (
        "",
        "add<<<(n + 127) / 128, 128>>>(z, y, n);",
        "add<<<(n + 255) / 256, 256>>>(z, x, n);",
        "add<<<(n + 255) / 256, 256>>>(z, y, n / 2);",
        "cudaMemcpy(x, y, 4, cudaMemcpyDeviceToHost); add<<<(n + 255) / 256, 256>>>(z, y, n);",
        "reverse<<<(n + 255) / 256, 256>>>(z, y, n);",
    ):
        assert found(TWO + host.format(other), "CP403") == [], other
