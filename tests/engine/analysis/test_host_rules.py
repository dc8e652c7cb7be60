"""CP501, CP502 and CP503 on small host functions."""

import pytest

from cudaperf.engine.analysis.finding import Finding, Severity
from cudaperf.engine.analysis.host import findings
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.reader import read
from cudaperf.engine.cuda.source import Source

CHECKING = """
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) exit(1); } while (0)
#define LAUNCHED() CHECK(cudaGetLastError())
void stop_on_error() { if (cudaPeekAtLastError() != cudaSuccess) exit(1); }
__global__ void k(float *a) { a[threadIdx.x] = 0; }
"""


def found(body: str, code: str, before: str = "", settings: Settings | None = None) -> list[Finding]:
    text = f"{CHECKING}{before}\nvoid h(float *a, float *b, int n) {{ {body} }}"
    model = read(Source("a.cu", text.encode()))
    chosen = settings or Settings()
    return [f for function in model.functions for f in findings(model, function, chosen) if f.code == code]


# --- CP501 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "calls", "launches"),
    [
        ("cudaMalloc(&a, n); cudaMemcpy(a, b, n, cudaMemcpyHostToDevice);", 2, 0),
        ("k<<<n, 32>>>(a);", 0, 1),
        ("cudaMalloc(&a, n); k<<<n, 32>>>(a); cudaDeviceSynchronize();", 2, 1),
        ("CHECK(cudaMalloc(&a, n)); k<<<n, 32>>>(a);", 0, 1),
        ("LAUNCHED(); k<<<n, 32>>>(a);", 0, 1),
    ],
)
def test_errors_that_nobody_looks_at(body: str, calls: int, launches: int) -> None:
    (one,) = found(body, "CP501")
    assert (one.data["calls"], one.data["launches"]) == (calls, launches)
    assert one.data["function"] == "h"


@pytest.mark.parametrize(
    "body",
    [
        "CHECK(cudaMalloc(&a, n));",
        "gpuErrchk(cudaMalloc(&a, n));",
        "cudaError_t e = cudaMalloc(&a, n);",
        "if (cudaMalloc(&a, n) != cudaSuccess) return;",
        "(void)cudaMalloc(&a, n);",
        "cudaFree(a); cudaEventDestroy(e); cudaStreamDestroy(s); cudaEventRecord(e);",
        "k<<<n, 32>>>(a); CHECK(cudaGetLastError());",
        "k<<<n, 32>>>(a); LAUNCHED();",
        "k<<<n, 32>>>(a); stop_on_error();",
        "k<<<n, 32>>>(a); getLastCudaError(0);",
        "k<<<n, 32>>>(a); CHECK(cudaDeviceSynchronize());",
        "k<<<n, 32>>>(a); CHECK(cudaMemcpy(b, a, n, cudaMemcpyDeviceToHost));",
        "cudaMalloc(&a, n); k<<<n, 32>>>(a); if (cudaGetLastError() != cudaSuccess) exit(1);",
        "for (int i = 0; i < n; i++) { LAUNCHED(); k<<<n, 32>>>(a); }",
        "LAUNCH((k<<<n, 32>>>(a)));",
    ],
)
def test_errors_that_are_looked_at(body: str) -> None:
    assert found(body, "CP501") == []


def test_callers_that_look() -> None:
    start = "void start(float *a) { k<<<1, 32>>>(a); }"
    assert found("start(a); LAUNCHED();", "CP501", start) == []
    assert [f.data["function"] for f in found("start(a);", "CP501", start)] == ["start"]


# --- CP502 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("cudaMemcpy(a, b, n, cudaMemcpyHostToDevice); k<<<n, 32>>>(a);", ["copy"]),
        ("CHECK(cudaMemcpy(a, b, n, cudaMemcpyHostToDevice)); k<<<n, 32>>>(a);", ["copy"]),
        ("float *t; cudaMalloc(&t, n); k<<<n, 32>>>(t); cudaFree(t);", ["allocation"]),
        ("cudaMalloc(&a, n); cudaMemcpy(a, b, n, cudaMemcpyHostToDevice); k<<<n, 32>>>(a);", ["copy", "allocation"]),
        ("cudaMemcpy(b, a, 4, cudaMemcpyDeviceToHost); k<<<n, 32>>>(a);", ["copy"]),
        ("start(a); cudaMemcpy(a, b, n, cudaMemcpyHostToDevice);", ["copy"]),
        (
            "k<<<n, 32>>>(a); k<<<n, 32>>>(b); for (int j = 0; j < n; j++) { k<<<n, 32>>>(a); cudaMalloc(&a, 4); }",
            ["allocation"],
        ),
    ],
)
def test_synchronous_work_on_each_pass(body: str, kinds: list[str]) -> None:
    start = "void start(float *a) { k<<<1, 32>>>(a); }"
    assert [f.data["kind"] for f in found(f"for (int i = 0; i < n; i++) {{ {body} }}", "CP502", start)] == kinds


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) cudaMalloc(&all[i], 4);",
        "for (int i = 0; i < n; i++) { cudaMemcpy(a, b, n, cudaMemcpyHostToDevice); }",
        "for (int i = 0; i < n; i++) { k<<<n, 32>>>(a); cudaMemcpyAsync(a, b, n, cudaMemcpyHostToDevice, s); }",
        "for (int i = 0; i < n; i++) { k<<<n, 32>>>(a); cudaMemcpy(a, b, n, cudaMemcpyDeviceToDevice); }",
        "for (int i = 0; i < n; i++) { k<<<n, 32>>>(a); if (i % 100 == 0) cudaMemcpy(b, a, n, cudaMemcpyDeviceToHost); }",
        "int go = 1; while (go) { k<<<n, 32>>>(a); cudaMemcpy(&go, a, sizeof(int), cudaMemcpyDeviceToHost); }",
        "do { k<<<n, 32>>>(a); cudaMemcpyFromSymbol(&go, flag, sizeof(bool)); } while (go);",
        "for (;;) { k<<<n, 32>>>(a); cudaMemcpy(&e, a, sizeof(float), cudaMemcpyDeviceToHost); if (e < 1e-6f) break; }",
        "for (int m = 1; m < n; m *= 2) { cudaMalloc(&a, m); k<<<m, 32>>>(a); cudaFree(a); }",
        "cudaMemcpy(a, b, n, cudaMemcpyHostToDevice); k<<<n, 32>>>(a);",
    ],
)
def test_nothing_to_say(body: str) -> None:
    assert found(body, "CP502") == []


# --- CP503 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "limit", "value"),
    [
        ("k<<<n, 2048>>>(a);", "block_x", 2048),
        ("dim3 b(64, 32); k<<<n, b>>>(a);", "block_threads", 2048),
        ("k<<<n, dim3(1, 1, 128)>>>(a);", "block_z", 128),
        ("k<<<dim3(1, 70000), 32>>>(a);", "grid_y", 70000),
        ("k<<<dim3(n, 1, 65536), 32>>>(a);", "grid_z", 65536),
        ("k<<<n, 32, 200 * 1024>>>(a);", "shared_bytes", 204800),
        ("bounded<<<n, 256>>>();", "launch_bounds", 256),
    ],
)
def test_over_the_limits(body: str, limit: str, value: int) -> None:
    before = "__global__ void __launch_bounds__(128, 4) bounded() {}"
    (one,) = found(body, "CP503", before)
    assert one.severity is Severity.ERROR
    assert (one.data["limit"], one.data["value"]) == (limit, value)


@pytest.mark.parametrize(
    "body",
    [
        "k<<<n, 1024>>>(a);",
        "k<<<n, n * 2048>>>(a);",
        "k<<<dim3(100000, 65535, 65535), dim3(16, 1, 64)>>>(a);",
        "k<<<n, 32, 48 * 1024>>>(a);",
    ],
)
def test_within_the_limits(body: str) -> None:
    assert found(body, "CP503") == []


def test_dynamic_memory_needs_an_attribute() -> None:
    launch = "k<<<n, 32, 64 * 1024>>>(a);"
    (one,) = found(launch, "CP503")
    assert one.severity is Severity.WARNING
    set_ = "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024);"
    assert found(set_ + launch, "CP503") == []
    (over,) = found(set_ + "k<<<n, 32, 80 * 1024>>>(a);", "CP503", settings=Settings(architecture=75))
    assert over.severity is Severity.ERROR


def test_static_memory_has_one_limit() -> None:
    (one,) = found("", "CP503", "__global__ void big() { __shared__ float t[100][128]; t[0][0] = 0; }")
    assert (one.data["limit"], one.data["value"]) == ("static_shared", 51200)
