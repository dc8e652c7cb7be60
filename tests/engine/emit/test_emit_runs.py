"""Emitted files on the emulated CUDA runtime: right results, and every failing CUDA call ends in the user's own function."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from emit_cases import CASES, sampled
from emit_programs import Call, Ran, build_program, call, comparing_main, run_program

from cudaperf.engine.executors.emulated import build

pytestmark = pytest.mark.skipif(build.find_compiler() is None, reason="no host C++ compiler")

ORIGIN = "(point_t{0.5f, 2.0f})"
CALLS: dict[str, tuple[Call, ...]] = {
    "scale": tuple(call({"n": str(n), "k": "1.5"}, {"a": max(n, 0), "b": max(n, 0)}) for n in (0, 1, 130, -3)),
    "heat": tuple(call({"n": str(n), "steps": str(t)}, {"u": n, "v": n}) for n, t in ((70, 0), (70, 3), (2, 9), (130, 21))),
    "dot": tuple(call({"n": f"{n}u"}, {"a": n, "b": n}) for n in (0, 1, 200)),
    "smooth": tuple(call({"n": str(n), "m": str(m)}, {"A": n * m, "B": n * m}) for n, m in ((0, 5), (5, 0), (13, 37))),
    "drift": tuple(call({"count": str(n), "origin": ORIGIN}, {"b": n, "shift": n}) for n in (0, 77)),
    "layer": (call({"rows": "31"}, {"input": 24, "output": 40, "weights": 960, "bias": 31}),),
    "spmv": (
        call({"n": "0"}, {"rowptr": 0, "col": 0, "val": 0, "x": 0, "y": 0}),
        call({"n": "5"}, {"rowptr": 6, "col": 10, "val": 10, "x": 7, "y": 5}, rowptr="2 * i", col="(3 * i) % 7"),
    ),
    "mix": tuple(call({"new": str(n), "class": "3u", "this": "2.0f"}, {"stream": n, "grid": n, "error": n}) for n in (0, 90)),
    "add_one": (call({"n": "67"}, {"a": 134}),),
    "settle": tuple(call({"n": str(n), "m": str(m)}, {"a": n * m}, a="1 << i % 9") for n, m in ((0, 3), (9, 11))),
    "cascade": tuple(call({"n": str(n)}, {"a": n, "b": n}) for n in (0, 1, 70)),
}
RECOVERS_AT_ANY_CALL = {"scale", "dot", "smooth", "layer", "spmv"}
"""Cases without arrays that are both input and output."""


def program(name: str, folder: Path) -> Path:
    case = CASES[name]()
    return build_program(case, comparing_main(case, *CALLS[name]), folder)


def recovered(ran: Ran) -> bool:
    """The results are right, the fallback was reported, nothing is left on the device."""
    return ran.status == 0 and "ran on the CPU" in ran.err and not ran.leaked


@pytest.mark.parametrize("name", sampled("heat", "dot", "drift", "spmv", "mix", "settle"))
def test_the_emitted_function_computes_what_the_original_does(name: str, tmp_path: Path) -> None:
    ran = run_program(program(name, tmp_path))
    assert (ran.status, ran.out, ran.err, ran.leaked) == (0, "", "", False)


@pytest.mark.parametrize("name", sampled("scale", "heat", among=("dot", "cascade", "settle", "add_one")))
def test_whichever_call_fails_the_original_runs_instead(name: str, tmp_path: Path) -> None:
    path = program(name, tmp_path)
    for k in range(1, 400):
        ran = run_program(path, fail_at=k)
        if not ran.refused:
            break
        lost = "its contents are lost" in ran.err
        assert recovered(ran) or (lost and name not in RECOVERS_AT_ANY_CALL), (k, ran)
    else:
        pytest.fail("the program makes more calls than expected")
    assert k > 5


SCALE_OR_NOT = """
void scale(int n, double k, const double *restrict a, double *restrict b)
{
    for (int i = 0; i < n; i++)
        b[i] = a ? k * a[i] : -1;
}
"""


def heat_main(body: str) -> str:
    """A `main` with two arrays of 80 and the user's `heat`; its status is what `body` returns."""
    fill = "double u[80], v[80]; for (int i = 0; i < 80; i++) u[i] = i % 7, v[i] = i % 5;"
    head = '#include <cstdio>\n#include <cstring>\n#include <cuda_runtime.h>\n#include "case.h"\n'
    return f'{head}extern "C" void heat(int n, int steps, double *u, double *v);\nint main() {{ {fill} {body} }}\n'


def test_overlapping_arrays_run_on_the_cpu_and_that_is_said_once(tmp_path: Path) -> None:
    body = "heat_cuda(40, 3, u, u + 39); heat_cuda(40, 3, u, u + 39); heat_cuda(40, 2, u, u + 40); return 0;"
    ran = run_program(build_program(CASES["heat"](), heat_main(body), tmp_path))
    assert ran.status == 0
    assert ran.err == "cudaperf: heat_cuda ran on the CPU: arrays u and v overlap\n"


def test_a_requirement_that_does_not_hold_is_named(tmp_path: Path) -> None:
    ran = run_program(build_program(CASES["heat"](), heat_main("heat_cuda(1, 3, u, v); return 0;"), tmp_path))
    assert (ran.status, ran.err) == (0, "cudaperf: heat_cuda ran on the CPU: n >= 2 does not hold\n")


def test_a_pointer_that_the_original_tests_for_null_is_left_to_it(tmp_path: Path) -> None:
    case = CASES["scale"]()
    own = case.task.original.model_copy(update={"source": SCALE_OR_NOT})
    case = replace(case, task=case.task.model_copy(update={"nonnull": ("a", "b"), "original": own}))
    head = '#include "case.h"\nextern "C" void scale(int n, double k, const double *a, double *b);\n'
    main = f"{head}int main() {{ double b[3] = {{1, 2, 3}}; scale_cuda(3, 1, nullptr, b); return b[2] != -1; }}\n"
    ran = run_program(build_program(case, main, tmp_path), fail_at=1)
    assert (ran.status, ran.err, ran.refused) == (
        0,
        "cudaperf: scale_cuda ran on the CPU: a is NULL\n",
        ("cudaStreamSynchronize",),
    )


def test_the_device_function_runs_in_order_on_the_callers_stream(tmp_path: Path) -> None:
    """Two calls in a row on device memory give what twice as many steps give on the host."""
    body = """
    double *a, *b; cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&a, sizeof u); cudaMalloc(&b, sizeof v);
    cudaMemcpy(a, u, sizeof u, cudaMemcpyHostToDevice);
    cudaMemcpy(b, v, sizeof v, cudaMemcpyHostToDevice);
    if (heat_cuda_device(80, 10, a, b, stream) || heat_cuda_device(80, 12, a, b, stream)) return 2;
    heat(80, 22, u, v);
    double from_a[80];
    cudaMemcpyAsync(from_a, a, sizeof u, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    cudaFree(a); cudaFree(b);
    return memcmp(from_a, u, sizeof u) != 0 || heat_cuda_device(1, 1, u, v, stream) != cudaErrorInvalidValue;
    """
    ran = run_program(build_program(CASES["heat"](), heat_main(body), tmp_path))
    assert (ran.status, ran.err, ran.leaked) == (0, "", False)
