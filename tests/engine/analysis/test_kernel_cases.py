"""The kernels with known findings are well-formed, and there are enough of them to measure each rule."""

from __future__ import annotations

import collections

import pytest
from kernel_cases import ACCURACY, FOLDER, NAMED, BadCase, Case, load, read

KERNEL = "// run: block=32 a=float[n] n=32\n__global__ void k(float *a, int n)\n{\n    a[threadIdx.x] = 1.f;%s\n}\n"


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return load()


def counts(cases: list[Case], expected: bool) -> collections.Counter[str]:
    return collections.Counter(d.code for c in cases for d in c.decisions if d.expected is expected)


def test_there_are_enough_kernels_and_half_are_clean(cases: list[Case]) -> None:
    assert len(cases) >= 200
    assert len({c.file for c in cases}) >= 20
    assert 0.4 <= sum(c.clean for c in cases) / len(cases) <= 0.6


@pytest.mark.parametrize("code", [*ACCURACY, *NAMED])
def test_each_rule_has_decisions_of_both_kinds(cases: list[Case], code: str) -> None:
    expected, none = counts(cases, True)[code], counts(cases, False)[code]
    assert expected + none >= 60
    assert min(expected, none) >= 14


def test_every_kernel_is_named_once(cases: list[Case]) -> None:
    names = collections.Counter(c.kernel for c in cases)
    assert not [name for name, times in names.items() if times > 1]


def test_every_kernel_of_the_folder_is_a_case(cases: list[Case]) -> None:
    for path in FOLDER.glob("*.cu"):
        assert path.read_text(encoding="utf-8").count("__global__") == sum(c.file == path.name for c in cases), path.name


def test_launches_keep_to_the_limits(cases: list[Case]) -> None:
    for case in cases:
        threads = 1
        for extent in case.run.block:
            threads *= extent
        assert 0 < threads <= 1024, case.kernel


def test_a_third_each_have_a_launch_a_comment_or_nothing(cases: list[Case]) -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.cu")}
    kinds: collections.Counter[str] = collections.Counter()
    for case in cases:
        launched = f"{case.run.instance}<<<" in texts[case.file]
        said = any(line.startswith("// cudaperf: block=") for line in case.lines)
        assert not (launched and said), case.kernel
        kinds["launch" if launched else "comment" if said else "nothing"] += 1
    assert min(kinds.values()) >= len(cases) / 5, kinds


@pytest.mark.parametrize(
    "mark", [" // expect: CP999", " // expect: CP101 sectors=many", " // also CP302", " // expect: CP101 CP102"]
)
def test_an_invalid_marker_names_its_line(mark: str) -> None:
    with pytest.raises(BadCase, match=r"made\.cu:4: "):
        read("made.cu", KERNEL % mark)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("block=32 ", "block=32by2 "),
        ("// run:", "// runs:"),
        ("a=float[n] n=32", "n=32 a=float[n]"),
        ("float[n]", "float[n]:sorted"),
        (" n=32\n", " n\n"),
    ],
)
def test_an_invalid_run_line_is_refused(old: str, new: str) -> None:
    with pytest.raises(BadCase, match=r"made\.cu:[12]: "):
        read("made.cu", (KERNEL % "").replace(old, new))


def test_markers_become_decisions() -> None:
    (case,) = read("made.cu", KERNEL % " // expect: CP101@a sectors=32; CP305 // also: CP302")
    found = {(d.code, d.line): d.expected for d in case.decisions}
    assert found == {("CP101", 4): True, ("CP305", 4): True}
    assert case.of("CP101", "expect")[0].values == {"sectors": 32}
    assert not case.clean


def test_what_is_not_marked_is_a_decision_too() -> None:
    (case,) = read("made.cu", KERNEL % "")
    assert {(d.code, d.line): d.expected for d in case.decisions} == {("CP101", 4): False, ("CP305", 4): False}
    assert case.clean


LOOP = """\
// run: block=32 a=float[n] b=float[n] n=32
// decides: CP104
__global__ void k(float *a, const float *b, int n)
{
    float s = b[0];
    for (int i = int(b[1]); i < b[2]; ++i)
        if (i > 3) {
            a[i] = s;
            a[i] = s + b[3];
        } else
            a[i] += s;
    do {
        s += b[4];
    } while (s < b[5]);
    a[0] = b[6];
}
"""


def test_loads_that_a_loop_repeats_are_sites_of_repeated_loads() -> None:
    (case,) = read("made.cu", LOOP)
    assert [d.line for d in case.decisions if d.code == "CP104"] == [6, 9, 11, 13, 14]


def test_pointers_are_decided_by_name() -> None:
    marked = "*a, // also: CP105@a\n    const float *b, // expect: CP105@b\n"
    text = LOOP.replace("CP104", "CP105").replace("*a, const float *b,", marked)
    (case,) = read("made.cu", text)
    assert [(d.line, d.array, d.expected) for d in case.decisions if d.code == "CP105"] == [(4, "b", True)]


def test_local_arrays_are_decided_where_they_stand() -> None:
    text = "// decides: CP204\n" + KERNEL % "\n    float4 v[2];\n    int w[4] = {0}, x;"
    (case,) = read("made.cu", text)
    assert [(d.line, d.array, d.expected) for d in case.decisions if d.code == "CP204"] == [(6, "v", False), (7, "w", False)]


HOST = (
    "// decides: CP201 CP202\n"
    + KERNEL % ""
    + "void run(float *a)\n{\n    k<<<2, 48>>>(a, 32);%s\n    k<<<2, 64>>>(a, 32);\n}\n"
)


def test_launches_belong_to_the_kernel_that_they_name() -> None:
    (case,) = read("made.cu", HOST % " // expect: CP202")
    assert {(d.line, d.expected) for d in case.decisions if d.code == "CP202"} == {(9, True), (10, False)}
    assert {(d.line, d.expected) for d in case.decisions if d.code == "CP201"} == {(9, False), (10, False)}


def test_a_marker_of_launches_elsewhere_is_refused() -> None:
    with pytest.raises(BadCase, match=r"made\.cu:8: "):
        read("made.cu", (HOST % "").replace("{\n    k<<<", "{ // expect: CP202\n    k<<<"))
