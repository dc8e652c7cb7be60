"""What the confirmation on a GPU reads from its tools' output, and what it makes of it. The samples are written by hand."""

from __future__ import annotations

import sys
from pathlib import Path

from kernel_cases import FOLDER, load, read

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import pytest
from confirm import driver, judge, profile, sanitize

SOURCE_PAGE = """\
==PROF== Disconnected from process 4242
"Kernel Name","scale_chunks"
"File Path","/src/tests/data/kernels/made.cu"
"Line No","Source","Instructions Executed","L2 Theoretical Sectors Global","L2 Theoretical Sectors Global Ideal",\
"L1 Wavefronts Shared","L1 Wavefronts Shared Ideal"
"3","{","0","0","0","0","0"
"4","    a[threadIdx.x * n] = s[0], 1;","1,024","32,768","4,096","0","0"
"5","    s[threadIdx.x * 32] = a[0];","64","64","64","2048","64"
"""

RACES = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at k(float *, int)+0x150 in /src/tests/data/kernels/made.cu:4
=========     and Read access at k(float *, int)+0x1a0 in /src/tests/data/kernels/made.cu:5 [1788 hazards]
=========
========= Warning: Race reported between Read access at k(float *, int)+0x1a0 in made.cu:5
=========     and Write access at k(float *, int)+0x150 in made.cu:6 [4 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""

BARRIER = """\
========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in block
=========     at k(float *, int)+0x90 in /src/tests/data/kernels/made.cu:6
=========     by thread (0,0,0) in block (0,0,0)
=========
========= ERROR SUMMARY: 1 error
"""

MADE = """\
// run: block=64 a=float[n] n=64
__global__ void k(float *a, int n)
{
    __shared__ float s[64]; s[threadIdx.x] = a[threadIdx.x]; // also: CP302
    a[threadIdx.x] = s[63 - threadIdx.x]; // expect: CP302
    __syncthreads();
}
"""


def test_the_source_page_gives_ratios_by_line() -> None:
    lines = profile.worst(profile.parse_source_page(SOURCE_PAGE))
    assert set(lines) == {("made.cu", 4), ("made.cu", 5)}
    assert lines["made.cu", 4].sectors == 8.0
    assert lines["made.cu", 4].executed == 32.0
    assert lines["made.cu", 5].wavefronts == 32.0
    assert lines["made.cu", 5].sectors == 1.0


def test_the_source_page_may_name_metrics_and_units() -> None:
    page = (
        '"File Name","made.cu"\n"#","Source","memory_l2_theoretical_sectors_global [sector]",'
        '"memory_l2_theoretical_sectors_global_ideal"\n"7","a[i];","40","4"\n'
    )
    assert profile.worst(profile.parse_source_page(page))["made.cu", 7].sectors == 10.0


def test_the_worst_instruction_of_a_line_counts() -> None:
    found = [profile.Access("made.cu", 4, 32, 4), profile.Access("made.cu", 4, 4, 4)]
    assert profile.worst(found)["made.cu", 4].sectors == 8.0


def test_races_name_the_lines_of_both_accesses() -> None:
    reports = list(sanitize.parse("racecheck", RACES))
    assert [(r.severity, r.places) for r in reports] == [
        ("error", (("made.cu", 4), ("made.cu", 5))),
        ("warning", (("made.cu", 5), ("made.cu", 6))),
    ]


def test_a_barrier_error_is_one_report() -> None:
    (report,) = sanitize.parse("synccheck", BARRIER)
    assert report.text == "Barrier error detected. Divergent thread(s) in block"
    assert report.places == (("made.cu", 6),)


def test_a_clean_run_reports_nothing() -> None:
    assert not list(sanitize.parse("memcheck", "========= COMPUTE-SANITIZER\nk done\n========= ERROR SUMMARY: 0 errors\n"))


def checked(tool: str, output: str) -> sanitize.Checked:
    return sanitize.Checked(tool, "made.cu", ("k",), tuple(sanitize.parse(tool, output)))


def answers(*checks: sanitize.Checked) -> dict[tuple[str, int], bool | None]:
    cases = read("made.cu", MADE)
    found = judge.measured({}, checks, cases, ())
    return {(a.decision.code, a.decision.line): a.agree for a in judge.answers(cases, found)}


def test_an_expected_race_is_confirmed_or_contradicted() -> None:
    quiet = "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
    assert answers(checked("racecheck", RACES))["CP302", 5] is True
    assert answers(checked("racecheck", quiet))["CP302", 5] is False
    assert answers()["CP302", 5] is None


def test_a_barrier_that_is_not_expected_to_diverge_contradicts() -> None:
    assert answers(checked("synccheck", BARRIER))["CP301", 6] is False
    assert answers(checked("synccheck", "========= ERROR SUMMARY: 0 errors\n"))["CP301", 6] is True


@pytest.mark.parametrize(
    ("second", "agree"), [("", {6: False}), ("    __syncthreads(); // expect: CP301\n", {6: None, 7: True})]
)
def test_a_hang_confirms_what_is_expected_and_nothing_else(second: str, agree: dict[int, bool | None]) -> None:
    cases = read("made.cu", MADE.removesuffix("}\n") + second + "}\n")
    for found in (judge.Measured(hung=frozenset(("k",))), judge.Measured(synchronization=frozenset(("k",)))):
        assert {a.decision.line: a.agree for a in judge.answers(cases, found) if a.decision.code == "CP301"} == agree


def test_the_table_lists_contradictions() -> None:
    cases = read("made.cu", MADE)
    found = judge.measured({}, [checked("synccheck", BARRIER)], cases, ())
    assert "made.cu:6: CP301: k: expected False" in judge.table(judge.answers(cases, found))


def test_drivers_pass_every_argument_in_order() -> None:
    cases = [c for c in load() if c.kernel == "spmv_warp_per_row"]
    text = driver.program_text(FOLDER / "rows.cu", cases)
    assert 'confirm::Array<int> start_array(rows+1, "offsets", nnz, 1);' in text
    assert "::spmv_warp_per_row<<<dim3(250), dim3(128), 0>>>(start_array.data, col_array.data, value_array.data" in text
