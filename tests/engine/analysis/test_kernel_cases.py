"""The kernels with known findings are well-formed, and there are enough of them to measure each rule."""

from __future__ import annotations

import collections

import pytest
from kernel_cases import ACCURACY, FOLDER, HINTS, BadCase, Case, load, read

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


@pytest.mark.parametrize("code", ACCURACY)
def test_each_accuracy_rule_has_decisions_of_both_kinds(cases: list[Case], code: str) -> None:
    expected, none = counts(cases, True)[code], counts(cases, False)[code]
    assert expected + none >= 60
    assert min(expected, none) >= 14


@pytest.mark.parametrize("code", HINTS)
def test_each_hint_has_a_kernel_with_it_and_one_without(cases: list[Case], code: str) -> None:
    assert counts(cases, True)[code]
    assert counts(cases, False)[code]


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
