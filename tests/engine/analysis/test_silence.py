"""Code that is right, or not understood, of which the rules of memory and synchronization must say nothing."""

from __future__ import annotations

import pytest

from cudaperf.engine.analysis.run import check_text
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.source import Source

TURN = """__global__ void turn(float *a) {{
  __shared__ float s[256];
  s[threadIdx.x] = a[threadIdx.x];
  {barrier}
  a[threadIdx.x] = s[255 - threadIdx.x];
}}"""
SWITCHED = "#ifdef X\n#define SYNC() __syncthreads()\n#else\n#define SYNC()\n#endif\n"


def codes(text: str) -> set[str]:
    checked = check_text(Source("a.cu", text.encode()), Settings(block=(256, 1, 1)))
    assert checked.troubles == ()
    return {f.code for f in checked.findings if f.code != "CP105"}


@pytest.mark.parametrize(
    "barrier",
    [
        "block_barrier();", "SYNC_BLOCK;", "utils::sync();", "ctx.sync();", "bar->arrive_and_wait();", "b.wait(b.arrive());",
        "cg::this_cluster().sync();", 'asm volatile("bar.sync 0;");', "cub::CTA_SYNC();", "float v = blockReduce(s);",
    ],
)  # fmt: skip
def test_what_is_not_understood_may_be_a_barrier(barrier: str) -> None:
    assert codes(TURN.format(barrier=barrier)) == set()


@pytest.mark.parametrize("head", [SWITCHED, "#define SYNC() do { __syncthreads(); } while (0)\n"])
def test_a_macro_may_be_a_barrier(head: str) -> None:
    assert codes(head + TURN.format(barrier="SYNC();")) == set()


@pytest.mark.parametrize("between", ["", "float v = sqrtf(a[threadIdx.x]);", 'printf("x");', "float v = gelu(a[0]);"])
def test_what_is_no_barrier_hides_no_race(between: str) -> None:
    assert "CP302" in codes(TURN.format(barrier=between))


@pytest.mark.parametrize(
    "text",
    [
        """__global__ void k(float *a, float key, float *o) { __shared__ bool found; if (threadIdx.x == 0) found = false;
  __syncthreads(); if (a[threadIdx.x] == key) found = true; __syncthreads(); if (threadIdx.x == 0) o[0] = found; }""",
        "__global__ void k(float *const *outs) { outs[blockIdx.y][blockIdx.x * blockDim.x + threadIdx.x] = 1.f; }",
        "__global__ void k(const int *__restrict__ p, float *o) { int r = p[blockIdx.x]; o[r * 256 + threadIdx.x] = 1.f; }",
        """__global__ void k(float *a, int n) { __shared__ int stop; if (threadIdx.x == 0) stop = 0; __syncthreads();
  for (int i = 0;; i++) { if (threadIdx.x == 0 && i >= n) stop = 1; __syncthreads(); if (stop) break; __syncthreads(); } }""",
        """__global__ void k(float *a) { __shared__ union { float f[256]; int i[256]; } u; u.f[threadIdx.x] = a[threadIdx.x];
  __syncthreads(); a[threadIdx.x] = u.f[255 - threadIdx.x]; }""",
        """__global__ void k(float *a) { __shared__ float s[256]; float (&r)[256] = s; r[threadIdx.x] = a[threadIdx.x];
  __syncthreads(); a[threadIdx.x] = r[255 - threadIdx.x]; }""",
        """__global__ void k(float *sum, int *mutex, float s) { if (threadIdx.x == 0) { while (atomicCAS(mutex, 0, 1));
  *sum += s; __threadfence(); atomicExch(mutex, 0); } }""",
        "__global__ void k(float *a) { if (threadIdx.x < 1e400) a[threadIdx.x] = 1; }",
        "#if 0\n" + TURN.format(barrier="") + "\n#endif\n",
        """#define FETCH_FLOAT4(p) (reinterpret_cast<float4 *>(&(p))[0])
__global__ void k(float *out) { int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  FETCH_FLOAT4(out[i]) = make_float4(1, 2, 3, 4); }""",
        """#define STORE(p, v) ((p) = (v))
__global__ void k(float *a) { __shared__ float s[256]; STORE(s[threadIdx.x], a[threadIdx.x]); __syncthreads();
  a[threadIdx.x] = s[255 - threadIdx.x]; }""",
        """void f(float *a); __global__ void k(float *a) { a[threadIdx.x] = 1; }
void host(float *a) { k<<<1, 256>>>(a); if (auto e = cudaGetLastError(); e != cudaSuccess) throw e; }""",
        """__global__ void k(float *o, const float4 *__restrict__ a) { int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = a[i].x * a[i].y + a[i].z * a[i].w; }""",
        """__global__ void k(float4 *o, float v) { int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i].x = v; o[i].y = v; o[i].z = v; o[i].w = v; }""",
        "extern __shared__ float s[]; __global__ void k(float *a) { a[threadIdx.x] = s[threadIdx.x]; }\n"
        "cudaError_t host(float *a) { k<<<2, 256, -1>>>(a); return cudaGetLastError(); }",
    ],
)
def test_right_code(text: str) -> None:
    assert codes(text) == set()


def test_a_write_through_a_macro_races() -> None:
    text = "#define STORE(p, v) ((p) = (v))\n" + TURN.format(barrier="").replace(
        "s[threadIdx.x] = a[threadIdx.x];", "STORE(s[threadIdx.x], a[threadIdx.x]);"
    )
    assert "CP302" in codes(text)


def test_one_member_of_each_vector_is_a_waste() -> None:
    text = "__global__ void k(float *o, const float4 *a) { int i = blockIdx.x * blockDim.x + threadIdx.x; o[i] = a[i].x; }"
    assert codes(text) == {"CP101"}


def test_helpers_count_where_they_are_called() -> None:
    helpers = (
        "__device__ float all(float v) { for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o); return v; }\n"
    )
    helpers += "__device__ void bar() { __syncthreads(); }\n"
    head = helpers + "__global__ void k(float *o, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; "
    assert "CP303" in codes(head + "if (i < n) o[i] = all(o[i]); }")
    assert "CP301" in codes(head + "if (i < n) bar(); }")
    assert "CP306" in codes(head + "if (i >= n) return; o[i] = 1; bar(); }")


def test_a_reference_to_an_array_is_the_array() -> None:
    text = TURN.format(barrier="").replace("s[threadIdx.x] = a", "float (&r)[256] = s;\n  r[threadIdx.x] = a")
    assert "CP302" in codes(text)
