"""The eleven structural features: what they are for known kernels, and that dead code does not move them."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from cudaperf.engine.analysis.features import Features, features
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.reader import read
from cudaperf.engine.cuda.source import Source

SCALE = """
__global__ void scale(const float *x, float *y, float s, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = s * x[i];
}
void run(const float *x, float *y, int n) {
    cudaMemcpy((void *)x, y, n, cudaMemcpyHostToDevice);
    scale<<<(n + 255) / 256, 256>>>(x, y, 2.f, n);
}
"""
DEAD = """
__global__ void never(float *a, int n) {
    __shared__ float big[8000];
    big[threadIdx.x] = a[threadIdx.x * n];
    __syncthreads();
    atomicAdd(&a[0], big[0] * 2 + 1);
}
__device__ float unused(float x) { return x * x + x; }
"""


def of(text: str) -> Features:
    return features(read(Source("t.cu", text.encode())), Settings())


def test_a_map() -> None:
    assert asdict(of(SCALE)) == {
        "coalescing": 1.0,
        "arithmetic_intensity": pytest.approx(3 / 8),
        "occupancy": 1.0,
        "divergence": 0.0,
        "transfers": 1,
        "atomics": 0,
        "barriers": 0,
        "kernels": 1,
        "threads_per_block": 256,
        "global_accesses": 2,
        "operations": 3,
    }


def test_dead_code_counts_nothing() -> None:
    assert of(SCALE + DEAD) == of(SCALE)


def test_without_launches_every_kernel_is_live() -> None:
    both = of(SCALE.split("void run")[0] + DEAD)
    assert both.kernels == 2
    assert both.barriers == 1
    assert both.atomics == 1


def test_strides_lower_coalescing() -> None:
    strided = of(SCALE.replace("x[i]", "x[32 * i]"))
    assert strided.coalescing == pytest.approx((4 + 4) / (32 + 4))


def test_lanes_that_part_are_divergence() -> None:
    assert of(SCALE.replace("if (i < n)", "if (threadIdx.x % 2)")).divergence == 1.0
    assert of("int main() { return 0; }") == Features(1.0, 0.0, 1.0, 0.0, 0, 0, 0, 0, 0, 0, 0)
