"""What emitted files say: the golden example, the opening comment, names, headers, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from emit_cases import CASES, DOUBLE, INT, array, candidate, launch, original, size

from cudaperf.engine.emit.account import Account, is_generated, version
from cudaperf.engine.emit.cuda import emit
from cudaperf.engine.emit.names import cpp_name, fresh
from cudaperf.engine.evidence import EMULATED_CLAIM
from cudaperf.engine.executors.protocol import EmittedFiles
from cudaperf.engine.plan import Launch, LibraryCall
from cudaperf.engine.reason import ReasonCode, Refusal
from cudaperf.engine.task import Task

DATA = Path(__file__).resolve().parents[2] / "data" / "emit"


def emitted(name: str, claim: str = "") -> EmittedFiles:
    case = CASES[name]()
    return emit(case.task, case.candidate, name, Account(claim) if claim else None, fallback=case.fallback)


def small_task(**changes: object) -> Task:
    task = Task(
        name="f",
        original=original("f", "void f(int n, double *a) { }"),
        parameters=(size("int n"), array("double *a", DOUBLE, "n", access="out")),
    )
    return task.model_copy(update=changes)


KERNEL = 'extern "C" __global__ void k(int n, double *a) { a[n - 1] = 0; }'


@pytest.mark.parametrize("suffix", ["cu", "h"])
def test_the_example_reads_as_kept(suffix: str) -> None:
    """Regenerate with `python tests/engine/emit/golden.py` after reading the difference."""
    files = emitted("scale", EMULATED_CLAIM)
    expected = (DATA / f"scale.{suffix}").read_text().replace("@VERSION@", version())
    assert (files.cu if suffix == "cu" else files.header) == expected


@pytest.mark.parametrize("name", CASES)
def test_only_the_opening_comments_depend_on_the_claim(name: str) -> None:
    plain, claimed = emitted(name), emitted(name, EMULATED_CLAIM)
    for before, after in ((plain.cu, claimed.cu), (plain.header, claimed.header)):
        assert before.split("*/", 1)[1] == after.split("*/", 1)[1]
        assert EMULATED_CLAIM in after
        assert EMULATED_CLAIM not in before


@pytest.mark.parametrize("name", CASES)
def test_device_code_stands_there_verbatim(name: str) -> None:
    assert CASES[name]().candidate.device_code in emitted(name).cu


def test_files_of_this_program_are_recognised() -> None:
    files = emitted("scale")
    assert is_generated(files.cu)
    assert is_generated(files.header)
    assert not is_generated("/* scale.cu\n * by hand */\n")


def test_the_licence_is_the_sources_own_where_it_names_one() -> None:
    assert emitted("scale").cu.startswith("/* SPDX-License-Identifier: MIT\n")
    assert emitted("heat").cu.startswith("/* SPDX-License-Identifier: 0BSD\n")


def test_text_from_elsewhere_can_not_end_the_comment() -> None:
    case = CASES["scale"]()
    wild = case.candidate.model_copy(update={"account": "ends */ int x; /* here"})
    head = emit(case.task, wild, "scale").cu.split("*/", 1)[0]
    assert "ends * / int x; / * here" in head


def test_build_lines_carry_options_and_architecture() -> None:
    case = CASES["scale"]()
    exact = case.candidate.model_copy(update={"compile_options": ("--fmad=false",), "architecture": 80})
    text = emit(case.task, exact, "scale").cu
    assert "nvcc -O3 -arch=sm_80 --fmad=false -c scale.cu" in text
    assert 'set_source_files_properties(scale.cu PROPERTIES COMPILE_OPTIONS "--fmad=false")' in text
    assert "CUDA_ARCHITECTURES 80" in text


@pytest.mark.parametrize(("name", "expected"), [("n", "n"), ("new", "new_"), ("class", "class_"), ("threadIdx", "threadIdx_")])
def test_names_that_cpp_reserves(name: str, expected: str) -> None:
    assert cpp_name(name) == expected


def test_names_that_are_taken() -> None:
    assert cpp_name("a", {"a", "a_"}) == "a__"
    assert fresh("stream", {"stream"}) == "stream_"


def test_local_macros_and_typedefs_do_not_reach_the_header() -> None:
    source = "typedef double real;\n#define W 8\nvoid f(int n, real A[n][W], const real *b, real c) { }"
    task = small_task(
        original=original("f", source),
        parameters=(
            size("int n"),
            array("real A[n][W]", DOUBLE, "n", "8", access="out"),
            array("const real *b", DOUBLE, "n"),
        ),
    )
    header = emit(task, candidate(KERNEL, launch("k", "n", "n", "*A")), "f").header
    assert "void f_cuda(int n, double A[n][8], const double *b);" in header
    assert "void f_cuda(int n, double *A, const double *b);" in header


def test_types_of_the_users_headers_come_from_there() -> None:
    task = small_task(
        original=original("f", '#include "real.h"\nvoid f(int n, real *a) { }'),
        parameters=(size("int n"), array("real *a", DOUBLE, "n", access="out")),
        type_headers=("real.h",),
    )
    files = emit(task, candidate(KERNEL, launch("k", "n", "n", "*a")), "f")
    assert '#ifndef F_HAS_TYPES\n#include "real.h"\n#endif' in files.header
    assert "void f_cuda(int n, real *a);" in files.header
    assert '#define F_HAS_TYPES\n#include "f.h"' in files.cu


def refusal(task: Task, *steps: Launch | LibraryCall) -> Refusal:
    with pytest.raises(Refusal) as caught:
        emit(task, candidate(KERNEL, *steps), "f")
    return caught.value


def test_an_original_that_no_other_file_can_call_is_refused() -> None:
    case = CASES["add_one"]()
    with pytest.raises(Refusal, match="add_one is static"):
        emit(case.task, case.candidate, "add_one")


def test_a_static_array_is_refused() -> None:
    task = small_task(globals=(array("static double table[64]", DOUBLE, "64", is_global=True),))
    assert "table is static" in str(refusal(task, launch("k", "n", "n", "*a")))


def test_library_calls_are_refused_by_name() -> None:
    found = refusal(small_task(), LibraryCall(name="aten.mm", inputs=("a",), outputs=("a",)))
    assert found.reason.code is ReasonCode.UNSUPPORTED
    assert "aten.mm" in found.reason.message


def test_a_block_over_the_limits_is_refused() -> None:
    assert "exceeds CUDA's limits" in str(refusal(small_task(), launch("k", "n", "n", "*a", block=2048)))


def test_a_plan_that_reads_data_on_the_host_is_refused() -> None:
    assert "can't be read here" in str(refusal(small_task(), launch("k", "at(a, 0)", "n", "*a")))


def test_a_missing_result_is_refused() -> None:
    assert "disagree on a result" in str(refusal(small_task(returns=INT), launch("k", "n", "n", "*a")))


def test_a_large_constant_shared_memory_opts_in() -> None:
    step = launch("k", "n", "n", "*a").model_copy(update={"shared": "65536"})
    text = emit(small_task(), candidate(KERNEL, step), "f").cu
    assert "CP_CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));" in text


def test_helpers_are_printed_only_where_used() -> None:
    text = emitted("scale").cu
    assert "cp_repeat" not in text
    assert "cp_finish" not in text
    assert "cp_mul" not in text
