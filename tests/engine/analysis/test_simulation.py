"""Simulated runs against arithmetic: sectors, bank conflicts and races of generated kernels."""

from __future__ import annotations

from math import gcd

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudaperf.engine.analysis import simulated
from cudaperf.engine.analysis.finding import Finding
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.reader import read
from cudaperf.engine.cuda.source import Source

TYPES = {"unsigned char": 1, "short": 2, "float": 4, "double": 8, "float4": 16}


def found(text: str, block: tuple[int, int, int] | None = (128, 1, 1)) -> dict[str, Finding]:
    model = read(Source("t.cu", text.encode()))
    return {f.code: f for kernel in model.kernels for f in simulated.findings(model, kernel, Settings(block=block))}


def sectors(stride: int, size: int) -> tuple[int, int]:
    """(touched, least) by a warp whose lanes are `stride` elements apart."""
    touched = {byte // 32 for lane in range(32) for byte in range(lane * stride * size, lane * stride * size + size)}
    return len(touched), size if stride else -(-size // 32)


@given(st.integers(0, 40), st.sampled_from(sorted(TYPES)))
@settings(max_examples=60, deadline=None)
def test_sectors_of_a_stride(stride: int, kind: str) -> None:
    text = f"""__global__ void k(const {kind} *__restrict__ a, {kind} *__restrict__ b) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        b[i] = a[{stride} * i];
    }}"""
    got, (touched, least) = found(text).get("CP101"), sectors(stride, TYPES[kind])
    assert (got is not None) == (touched >= 2 * least and touched >= least + 2)
    if got is not None:
        assert got.data["sectors"] == touched
        assert got.data["ideal_sectors"] == least
        assert got.data["stride_bytes"] == stride * TYPES[kind]


@given(st.integers(1, 70))
@settings(max_examples=40, deadline=None)
def test_bank_conflicts_of_a_stride(stride: int) -> None:
    text = f"""__global__ void k(float *__restrict__ a) {{
        __shared__ float s[{128 * stride}];
        s[{stride} * threadIdx.x] = a[threadIdx.x];
        __syncthreads();
        a[threadIdx.x] = s[{stride} * ((threadIdx.x + 32) % 128)];
    }}"""
    got, degree = found(text).get("CP102"), gcd(stride, 32)
    assert (got is not None) == (degree >= 2)
    if got is not None:
        assert got.data["degree"] == degree


@given(st.integers(0, 127), st.booleans(), st.sampled_from(["(t + {k}) % 128", "t ^ {k}", "(t + 128 - {k}) % 128"]))
@settings(max_examples=60, deadline=None)
def test_races_of_an_exchange(k: int, barrier: bool, place: str) -> None:
    text = f"""__global__ void k(const float *__restrict__ a, float *__restrict__ b) {{
        __shared__ float s[128];
        int t = threadIdx.x;
        s[t] = a[t];
        {"__syncthreads();" if barrier else ""}
        b[t] = s[{place.format(k=k)}];
    }}"""
    codes = {"CP302", "CP303", "CP304"} & found(text).keys()
    if barrier:
        assert codes == (set() if k else {"CP304"})
    else:
        assert bool(codes) == (k != 0)


@pytest.mark.parametrize("rows", [4, 8, 16, 32])
def test_reduction_without_a_barrier_races_in_every_block(rows: int) -> None:
    text = """__global__ void k(float *a) {
        __shared__ float s[1024];
        int t = threadIdx.y * blockDim.x + threadIdx.x;
        s[t] = a[t];
        for (int d = blockDim.x * blockDim.y / 2; d > 0; d >>= 1) {
            %s
            if (t < d) s[t] += s[t + d];
        }
        if (t == 0) a[0] = s[0];
    }"""
    assert not {"CP301", "CP302", "CP303", "CP304", "CP305"} & found(text % "__syncthreads();", (32, rows, 1)).keys()
    assert "CP302" in found(text % "", (32, rows, 1))


SWITCH = """__global__ void k(float *__restrict__ a, const float *__restrict__ b, int n, float mode) {{
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, j = i;
    switch ((int){of}) {{
    case 0: {first}
    case 1: {second} break;
    }}
}}"""


@pytest.mark.parametrize(
    ("of", "first", "second", "codes"),
    [
        ("mode", "s[t] = b[i]; break;", "a[i] = s[t + 1];", set()),
        ("mode", "s[t] = b[i];", "a[i] = s[t + 1];", {"CP302"}),
        ("b[i]", "s[t] = b[i]; break;", "a[i] = s[t + 1];", {"CP302"}),
        ("mode", "s[t] = 1; __syncthreads(); a[i] = s[255 - t]; break;", "a[i] = 2;", set()),
        ("b[i]", "s[t] = 1; __syncthreads(); a[i] = s[255 - t]; break;", "a[i] = 2;", {"CP301"}),
        ("mode", "j = i * n; break;", "a[i] = b[j];", set()),
        ("mode", "j = i * n; a[j] = 1; break;", "a[i] = 2;", {"CP101"}),
    ],
)
def test_cases_of_a_switch(of: str, first: str, second: str, codes: set[str]) -> None:
    """Threads go one way together where the number is theirs all, each its own where data decides, on to the next unbroken."""
    got = found(SWITCH.format(of=of, first=first, second=second), (256, 1, 1))
    assert set(got) == codes


def test_the_scalar_side_of_a_vectorised_loop_is_a_stand_in() -> None:
    text = """__global__ void add(float *y, const float *x, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if ((size_t)x % 16 == 0 && i + 3 < n) { *(float4 *)(y + i) = *(const float4 *)(x + i); }
  else { for (; i < n; ++i) y[i] = x[i]; }
}"""
    assert "CP101" not in found(text)
    assert "CP101" in found(text.replace("float4", "float"))


def test_of_two_barriers_in_a_row_one_is_idle() -> None:
    text = """__global__ void turn(float *a) {
  __shared__ float t[256];
  t[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  __syncthreads();
  a[threadIdx.x] = t[255 - threadIdx.x];
}"""
    model = read(Source("t.cu", text.encode()))
    (kernel,) = model.kernels
    assert [f.code for f in simulated.findings(model, kernel, Settings(block=(256, 1, 1)))].count("CP304") == 1


@pytest.mark.parametrize("index", ["IDX(i, j)", "(i) + j * nx", "(size_t)(i) + (size_t)(j) * nx"])
def test_a_variable_in_parentheses_is_no_cast(index: str) -> None:
    text = f"""#define IDX(x, y) ((x) + (y) * nx)
__global__ void f(float *out, int nx, int ny) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < nx && j < ny) out[{index}] = 1.f;
}}"""
    assert found(text, (32, 8, 1)) == {}
