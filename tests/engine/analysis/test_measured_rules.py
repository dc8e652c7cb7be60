"""CP201, CP204 and CP503 with what ptxas said of the kernels."""

from __future__ import annotations

from dataclasses import replace

from cudaperf.engine.analysis.finding import Finding, Severity
from cudaperf.engine.analysis.measured import Figures, Measured
from cudaperf.engine.analysis.run import check_text
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.source import Source

PLAIN = Figures((), "k", (), registers=32, shared_bytes=0, local_bytes=0, spill_bytes=0, barriers=0)
LAUNCHED = "__global__ void k(float *a) { a[threadIdx.x] = 1; }\nvoid h(int n) { k<<<n, 256>>>(0); }"
TEMPLATE = "template <int N> __global__ void k(float *a) { a[threadIdx.x] = N; }\nvoid h(int n) { k<4><<<n, 256>>>(0); }"
BINS = (
    "__global__ void k(int *out, const int *in, int n) {\n  int bins[4] = {0, 0, 0, 0};\n"
    "  for (int i = threadIdx.x; i < n; i += 256) bins[in[i]]++;\n  out[threadIdx.x] = bins[0] + bins[3];\n}"
)


def found(text: str, code: str, *figures: Figures) -> list[Finding]:
    settings = Settings(select=(code,), architecture=90, measured=Measured(90, "nvcc 13.0", figures))
    return list(check_text(Source("a.cu", text.encode()), settings).findings)


def test_registers_limit_occupancy_and_the_message_says_where_they_are_from() -> None:
    (one,) = found(LAUNCHED, "CP201", replace(PLAIN, registers=72, shared_bytes=4096, spill_bytes=16))
    assert one.message == (
        "256 threads a block with 72 registers each: 3 blocks of 8 warps are resident, 24 of 64 warps (38 %) on sm_90; limited "
        "by registers; measured by ptxas for sm_90: 72 registers, 4,096 bytes of static shared memory, 16 bytes of spills"
    )
    assert one.severity is Severity.HINT
    assert one.data == {
        "occupancy": 0.375, "resident_warps": 24, "max_warps": 64, "resident_blocks": 3, "threads": 256, "registers": 72,
        "shared_bytes": 4096, "spill_bytes": 16, "limiter": "registers", "architecture": 90, "measured": True,
        "compiler": "nvcc 13.0",
    }  # fmt: skip


def test_few_registers_leave_nothing_to_say() -> None:
    assert found(LAUNCHED, "CP201", PLAIN) == []


def test_without_figures_of_the_kernel_the_message_stays_an_estimate() -> None:
    text = LAUNCHED.replace("256", "128").replace("{ a[", "{ __shared__ float t[12288]; t[threadIdx.x] = 1; a[")
    (one,) = found(text, "CP201", replace(PLAIN, name="other", registers=255))
    assert one.message.endswith("limited by shared memory; an estimate that leaves out registers")
    assert (one.data["measured"], one.data["registers"]) == (False, None)


def test_measured_shared_memory_stands_for_sizes_that_are_not_known() -> None:
    text = "__global__ void k() { __shared__ Unknown t[9]; }\nvoid h(int n) { k<<<n, 64, 8192>>>(); }"
    (one,) = found(text, "CP201", replace(PLAIN, shared_bytes=24576))
    assert (one.data["shared_bytes"], one.data["limiter"]) == (32768, "shared memory")


def test_barriers_limit_blocks() -> None:
    text = "__global__ void k() {}\nvoid h(int n) { k<<<n, 32>>>(); }"
    (one,) = found(text, "CP201", replace(PLAIN, barriers=8))
    assert one.message.startswith("8 named barriers a block: 8 blocks of 1 warp are resident, 8 of 64 warps (12 %) on sm_90")


def test_a_launch_bound_is_the_block_where_no_launch_says_it() -> None:
    text = "__global__ void __launch_bounds__(512) k(float *a) { a[threadIdx.x] = 1; }"
    (one,) = found(text, "CP201", replace(PLAIN, registers=96))
    assert one.message.startswith(
        "512 threads a block, its launch bound, with 96 registers each: 1 block of 16 warps is resident"
    )
    assert text[one.start : one.end] == "k"
    assert found(text, "CP201") == []


def test_the_instance_that_a_launch_names_counts() -> None:
    few, many = (replace(PLAIN, literals=(n,), registers=registers) for n, registers in ((4, 40), (16, 200)))
    assert found(TEMPLATE, "CP201", few, many) == []
    (one,) = found(TEMPLATE.replace("k<4>", "k<16>"), "CP201", few, many)
    assert one.data["registers"] == 200


def test_the_worst_instance_counts_where_the_launch_does_not_say_which() -> None:
    text = TEMPLATE.replace("k<4>", "k<M>")
    few, many = (replace(PLAIN, literals=(n,), registers=registers) for n, registers in ((4, 40), (16, 200)))
    (one,) = found(text, "CP201", few, many)
    assert one.data["registers"] == 200
    assert one.message.endswith("no spills (the worst of 2 instances)")


def test_kernels_of_one_name_are_told_apart_by_namespaces_alone() -> None:
    kernel = "// cudaperf: block=256\n__global__ void k(float *a) { a[0] = 1; }\n"
    text = f"namespace a {{\n{kernel}}}\nnamespace b::c {{ namespace {{\n{kernel}}} }}\n"
    of_a, of_c = replace(PLAIN, scope=("a",), registers=100), replace(PLAIN, scope=("b", "c"), registers=120)
    assert [f.data["registers"] for f in found(text, "CP201", of_a, of_c)] == [100, 120]
    assert [f.data["registers"] for f in found(text, "CP201", replace(of_a, scope=None))] == []
    assert found(kernel + kernel.replace("float", "int"), "CP201", replace(PLAIN, registers=255)) == []


def test_a_local_array_that_the_compiler_keeps_in_registers_is_no_finding() -> None:
    assert len(found(BINS, "CP204")) == 1
    assert found(BINS, "CP204", replace(PLAIN)) == []


def test_a_local_array_that_the_compiler_puts_in_memory_is_confirmed() -> None:
    (one,) = found(BINS, "CP204", replace(PLAIN, local_bytes=16, spill_bytes=8))
    assert one.message.endswith("; measured by ptxas for sm_90: 16 bytes of local memory a thread, 8 bytes of spills")
    assert one.data == {
        "array": "bins", "local_bytes": 16, "spill_bytes": 8, "architecture": 90, "measured": True, "compiler": "nvcc 13.0",
    }  # fmt: skip


def test_a_block_with_more_registers_than_there_are_fails_to_start() -> None:
    text = LAUNCHED.replace("256", "1024")
    assert found(text, "CP503", replace(PLAIN, registers=64)) == []
    (one,) = found(text, "CP503", replace(PLAIN, registers=72))
    assert one.message.startswith("a block of 1024 threads with 72 registers each takes 73,728 registers, over the 65,536")
    assert (one.severity, one.data) == (Severity.ERROR, {"limit": "registers", "value": 73728, "most": 65536})
    assert found(text, "CP201", replace(PLAIN, registers=72)) == []
