"""CP201, CP202 and CP203 on small files."""

import pytest

from cudaperf.engine.analysis.finding import Finding, Severity
from cudaperf.engine.analysis.occupancy import findings
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.reader import read
from cudaperf.engine.cuda.source import Source


def found(text: str, code: str, settings: Settings | None = None) -> list[Finding]:
    model = read(Source("a.cu", text.encode()))
    chosen = settings or Settings()
    return [f for function in model.functions for f in findings(model, function, chosen) if f.code == code]


def shared(elements: int, launch: str = "k<<<n, 128>>>(0);") -> str:
    kernel = f"__global__ void k(float *a) {{ __shared__ float t[{elements}]; t[threadIdx.x] = a[0]; }}"
    return f"{kernel}\nvoid h(int n) {{ {launch} }}"


def test_shared_memory_limits_occupancy() -> None:
    (one,) = found(shared(12288), "CP201")
    assert one.message == (
        "48 KiB of shared memory a block: 3 blocks of 4 warps are resident, 12 of 64 warps (19 %) on sm_80; "
        "limited by shared memory; an estimate that leaves out registers"
    )
    assert one.severity is Severity.WARNING
    assert one.data["resident_warps"] == 12
    assert one.data["limiter"] == "shared memory"


def test_between_a_quarter_and_half_is_a_hint() -> None:
    (one,) = found(shared(6144), "CP201")
    assert one.data["occupancy"] == pytest.approx(24 / 64)
    assert one.severity is Severity.HINT


@pytest.mark.parametrize(
    "text",
    [
        shared(1024),
        shared(12288, "k<<<n, n>>>(0);"),
        shared(12288, "k<<<64, 128>>>(0);"),
        shared(12288, ""),
        "__global__ void k() { __shared__ Unknown t[9]; }\nvoid h(int n) { k<<<n, 32, 90000>>>(); }",
        "__global__ void k() { extern __shared__ float t[]; }\nvoid h(int n) { k<<<n, 128, n>>>(); }",
        "template <int N> __global__ void k() { __shared__ float t[N]; }\n"
        "template <int N> void h(int n) { k<N><<<n, 128>>>(); }",
    ],
)
def test_silent_where_the_figures_are_not_known_or_do_not_matter(text: str) -> None:
    assert found(text, "CP201") == []


def test_dynamic_memory_and_template_arguments_count() -> None:
    text = "template <int N> __global__ void k() { __shared__ float t[N]; extern __shared__ float u[]; }\n"
    (one,) = found(text + "void h(int n) { k<4096><<<n, 64, 32 * 1024>>>(); }", "CP201")
    assert one.data["shared_bytes"] == 48 * 1024


def test_shared_memory_of_device_functions_counts() -> None:
    text = "__device__ void d() { __shared__ float t[12000]; }\n__global__ void k() { d(); }\nvoid h(int n) { k<<<n, 64>>>(); }"
    (one,) = found(text, "CP201")
    assert one.data["shared_bytes"] == 48000


def test_small_blocks_are_limited_by_their_number() -> None:
    text = "__global__ void k() {}\nvoid h(int n) { k<<<n, 32>>>(); }"
    (one,) = found(text, "CP201", Settings(architecture=86))
    assert one.message.startswith("32 threads a block: 16 blocks of 1 warp are resident, 16 of 48 warps (33 %) on sm_86")
    assert found(text, "CP201", Settings(architecture=80)) == []


def test_a_comment_makes_the_block_known() -> None:
    text = "// cudaperf: block=128\n__global__ void k() { __shared__ float t[12288]; }"
    (one,) = found(text, "CP201")
    assert text[one.start : one.end] == "k"


def test_partial_warps_with_a_fix_for_a_literal() -> None:
    text = "__global__ void k() {}\nvoid h(int n) { k<<<n, 100>>>(); }"
    (one,) = found(text, "CP202")
    assert one.data == {"threads": 100, "warps": 4, "idle_lanes": 28}
    assert one.fix is not None
    assert not one.fix.safe
    (edit,) = one.fix.edits
    assert text[: edit.start] + edit.text + text[edit.end :] == text.replace("100", "128")


@pytest.mark.parametrize(
    ("launch", "count"),
    [
        ("dim3 b(20, 20); k<<<n, b>>>();", 1),
        ("k<<<n, 1>>>();", 1),
        ("dim3 b(16, 16); k<<<n, b>>>();", 0),
        ("k<<<1, 100>>>();", 0),
        ("k<<<1, 1>>>();", 0),
        ("k<<<n, n>>>();", 0),
        ("k<<<n, 1056>>>();", 0),
        ("dim3 b(W, W); k<<<n, b>>>();", 0),
    ],
)
def test_partial_warps(launch: str, count: int) -> None:
    assert len(found(f"#define W 16\n__global__ void k() {{}}\nvoid h(int n) {{ {launch} }}", "CP202")) == count


def test_no_fix_over_the_launch_bound() -> None:
    (one,) = found("__global__ void __launch_bounds__(100) k() {}\nvoid h(int n) { k<<<n, 100>>>(); }", "CP202")
    assert one.fix is None


STRIDE = "int s = gridDim.x * blockDim.x; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += s) a[i] = 0;"
MAP = "for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = 2.0f * a[i];"
SUM = "__shared__ float t[256]; for (int i = threadIdx.x; i < n; i += blockDim.x) t[threadIdx.x] += a[i]; __syncthreads();"


@pytest.mark.parametrize(
    ("body", "launch", "blocks"),
    [
        (STRIDE, "k<<<16, 256>>>(a, n);", 16),
        (MAP, "k<<<1, 256>>>(a, n);", 1),
        (MAP, "k<<<1, 256>>>(a, 1 << 20);", 1),
        (STRIDE, "k<<<108, 256>>>(a, n);", None),
        (STRIDE, "k<<<n, 256>>>(a, n);", None),
        (STRIDE, "k<<<16, 256>>>(a, 1000);", None),
        (MAP, "k<<<1, 256>>>(a, 1000);", None),
        (SUM, "k<<<1, 256>>>(a, n);", None),
        (f"__shared__ float t[9]; {STRIDE} __syncthreads();", "k<<<1, 256>>>(a, n);", None),
        (f"__shared__ float t[9]; {STRIDE} __syncthreads();", "k<<<16, 256>>>(a, n);", 16),
        ("a[blockIdx.x * 256 + threadIdx.x] = 0;", "k<<<4, 256>>>(a, n);", None),
        ("a[0] = 0;", "k<<<1, 1>>>(a, n);", None),
    ],
)
def test_small_grids(body: str, launch: str, blocks: int | None) -> None:
    text = f"__global__ void k(float *a, int n) {{ {body} }}\nvoid h(float *a, int n) {{ {launch} }}"
    assert [f.data["blocks"] for f in found(text, "CP203")] == ([blocks] if blocks is not None else [])
