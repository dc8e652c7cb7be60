"""The user's own function: what it does wrong is told at its line; globals, statics, structs and constants are reached."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from verify_cases import CANDIDATE, SCALARS, HostExecutor, array, files, number, size, task

from cudaperf.engine.evidence import ConfigurationSpec
from cudaperf.engine.reason import Reason, ReasonCode
from cudaperf.engine.task import ArrayParameter, IndexValues, ScalarParameter, StructField, StructType, Task
from cudaperf.engine.verdict import Mismatch, Passed
from cudaperf.engine.verify.baseline import baselines, with_pragmas
from cudaperf.engine.verify.generate import configurations
from cudaperf.engine.verify.prepare import Prepared, prepare
from cudaperf.engine.verify.verify import verify


def prepared(made: Task, directory: Path) -> Prepared | Reason:
    return prepare(made, configurations(made, 5), directory, time.monotonic() + 60)


def marked(name: str, source: str) -> str:
    return f'# 1 "/somewhere/{name}.c"\n{source}'


FAULTS = {
    "reads past the end": ("y[i] = x[i + 1];", 3, "reads outside an array"),
    "divides by nothing": ("y[i] = 7 / (x[i] - x[i]);", 3, "division by zero"),
    "writes before the start": ("y[i - 1] = x[i];", 3, "writes outside an array"),
}


@pytest.mark.parametrize("which", FAULTS)
def test_a_fault_of_the_original_is_told_at_its_line(which: str, tmp_path: Path) -> None:
    statement, line, words = FAULTS[which]
    source = f"static void f(int n, const int *x, int *y) {{\n  for (int i = 0; i < n; i++)\n    {statement}\n}}\n"
    made = task("f", marked("f", source), (size("n"), array("x", "int", "n"), array("y", "int", "n", access="out")), work="n")
    found = prepared(made, tmp_path)
    assert isinstance(found, Reason)
    assert (found.code, found.line) == (ReasonCode.ORIGINAL_FAILS, line)
    assert words in found.message


def test_small_sizes_that_the_original_does_not_take_are_left_out(tmp_path: Path) -> None:
    source = "void f(int n, const int *x, int *y) {\n  for (int i = 0; i < n; i++) y[i] = x[i] / (n - 1);\n}\n"
    made = task("f", marked("f", source), (size("n"), array("x", "int", "n"), array("y", "int", "n", access="out")), work="n")
    found = prepared(made, tmp_path)
    assert isinstance(found, Prepared)
    assert len(found.configurations) >= 8
    assert all(spec.sizes["n"] != 1 for spec in found.specs)
    assert any("n = 1" in note and "division by zero" in note for note in found.notes)


def test_values_that_overflow_the_original_are_replaced(tmp_path: Path) -> None:
    source = "void f(int n, const int *x, int *y) {\n  for (int i = 0; i < n; i++) y[i] = 3 * x[i];\n}\n"
    made = task("f", marked("f", source), (size("n"), array("x", "int", "n"), array("y", "int", "n", access="out")), work="n")
    found = prepared(made, tmp_path)
    assert isinstance(found, Prepared)
    assert any("overflow" in note and "line 2" in note for note in found.notes)


def test_an_original_that_hangs_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cudaperf.engine.verify.original.RUN_SECONDS", 0.3)
    source = "void f(int n, volatile int *y) {\n  for (int i = 0; i < n; i++) while (y[i] == y[i]) y[i] = i;\n}\n"
    found = prepared(task("f", marked("f", source), (size("n"), array("y", "int", "n", access="inout")), work="n"), tmp_path)
    assert isinstance(found, Reason)
    assert found.code is ReasonCode.ORIGINAL_FAILS
    assert "did not return" in found.message


def test_text_that_does_not_compile_is_a_reason_with_its_line(tmp_path: Path) -> None:
    source = "void f(int n, int *y) {\n  y[0] = n +;\n}\n"
    found = prepared(task("f", marked("f", source), (size("n"), array("y", "int", "n", access="inout")), work="n"), tmp_path)
    assert isinstance(found, Reason)
    assert (found.code, found.line) == (ReasonCode.COMPILE, 2)


def test_outputs_that_are_not_numbers_make_way_for_positive_inputs(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) y[i] = sqrt(x[i]);"
    source = f"double sqrt(double);\nvoid f(int n, const double *x, double *y) {{ {body} }}\n"
    parameters = (size("n"), array("x", "double", "n"), array("y", "double", "n", access="out"))
    found = prepared(task("f", source, parameters, work="n"), tmp_path)
    assert isinstance(found, Prepared)
    assert [spec.distribution for spec in found.specs].count("positive") >= 3


PARTICLE = StructType(
    name="struct particle",
    size=24,
    fields=(
        StructField(name="tag", type=SCALARS["unsigned char"], offset=0),
        StructField(name="at", type=SCALARS["double"], offset=8),
        StructField(name="hits", type=SCALARS["int"], offset=16, dims=(2,)),
    ),
)
WORLD = """
struct particle { unsigned char tag; double at; int hits[2]; };
static const double weights[3] = {0.25, 0.5, 0.25};
static double scale;
static int calls[4];
double *shared;
static struct particle move(int n, struct particle first, struct particle *p) {
    for (int i = 0; i < n; i++) {
        p[i].at = scale * p[i].at + weights[i % 3] + shared[i];
        p[i].hits[1] += first.hits[0] + p[i].tag;
    }
    calls[2] = n;
    return first;
}
"""
MOVED = """struct particle { unsigned char tag; double at; int hits[2]; };
extern double scale; extern int calls[4]; extern double *shared; extern const double weights[3];
extern "C" struct particle move_cuda(int n, struct particle first, struct particle *p) {
    for (int i = 0; i < n; i++) {
        p[i].at = scale * p[i].at + weights[i % 3] + shared[i];
        p[i].hits[1] += first.hits[0] + p[i].tag;
    }
    calls[2] = n;
    return first;
}"""


def world() -> Task:
    particles = ArrayParameter(name="p", type=PARTICLE, extents=("n",), access="inout", declaration="struct particle *p")
    first = ScalarParameter(name="first", type=PARTICLE, role="value", declaration="struct particle first")
    globals_ = (
        array("weights", "double", "3", const=True, is_global=True),
        number("scale", "double").model_copy(update={"is_global": True}),
        array("calls", "int", "4", access="inout", is_global=True),
        array("shared", "double", "n", is_global=True),
    )
    declared = ("const double weights[3]", "double scale", "int calls[4]", "double *shared")
    named = tuple(g.model_copy(update={"declaration": d}) for g, d in zip(globals_, declared, strict=True))
    made = task("move", WORLD, (size("n"), first, particles), globals_=named, work="n")
    return made.model_copy(update={"returns": PARTICLE})


def test_structs_and_file_scope_variables_go_through(tmp_path: Path) -> None:
    found = prepared(world(), tmp_path / "task")
    assert isinstance(found, Prepared), found
    good = verify(found, CANDIDATE, files(MOVED), HostExecutor(), tmp_path / "good", time.monotonic() + 60)
    assert isinstance(good, Passed), good
    for at, wrong in enumerate(
        (MOVED.replace("calls[2] = n", "calls[1] = n"), MOVED.replace("+ p[i].tag", ""), MOVED.replace("scale *", ""))
    ):
        bad = verify(found, CANDIDATE, files(wrong), HostExecutor(), tmp_path / f"bad{at}", time.monotonic() + 60)
        assert isinstance(bad, Mismatch), bad


def test_a_mismatch_names_the_member(tmp_path: Path) -> None:
    found = prepared(world(), tmp_path / "task")
    assert isinstance(found, Prepared)
    text = MOVED.replace("+= first.hits[0]", "+= 1 + first.hits[0]")
    bad = verify(found, CANDIDATE, files(text), HostExecutor(), tmp_path / "bad", time.monotonic() + 60)
    assert isinstance(bad, Mismatch)
    assert bad.what.startswith("p[0].hits[1] is ")


def test_baselines_are_measured(tmp_path: Path) -> None:
    source = "void f(int n, double *y) {\n  for (int i = 0; i < n; i++)\n    y[i] = y[i] * 2.0;\n}\n"
    made = task("f", marked("f", source), (size("n"), array("y", "double", "n", access="inout")), work="n")
    spec = ConfigurationSpec(sizes={"n": 1000}, distribution="unit", seed=1)
    found = baselines(made, spec, ((2, "#pragma omp parallel for"),), tmp_path, time.monotonic() + 60)
    assert [b.name.split(",")[0] for b in found] == ["-O3", "OpenMP"]
    assert all(b.seconds > 0 for b in found)


def test_a_pragma_stands_before_its_line() -> None:
    text = '# 1 "a.c"\n# 1 "/usr/include/b.h" 1\nint b;\n# 2 "a.c" 2\nint a;\nint c;\n'
    assert with_pragmas(text, "a.c", ((3, "#pragma x"),)) == text.replace("int c;", '#pragma x\n# 3 "a.c"\nint c;')
    assert with_pragmas(text, "a.c", ((9, "#pragma x"),)) is None


def test_index_arrays_stay_inside_what_they_index(tmp_path: Path) -> None:
    source = (
        "void f(int n, int m, const int *at, const double *x, double *y) {\n  for (int i = 0; i < n; i++) y[i] = x[at[i]];\n}\n"
    )
    at = array("at", "int", "n", values=IndexValues(high="m"))
    parameters = (size("n"), size("m"), at, array("x", "double", "m"), array("y", "double", "n", access="out"))
    found = prepared(task("f", marked("f", source), parameters, work="n"), tmp_path)
    assert isinstance(found, Prepared)
    assert not found.notes
