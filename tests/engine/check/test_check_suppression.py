"""`// cudaperf: ignore[...]` and its forms."""

from __future__ import annotations

from pathlib import Path

import pytest
from check_command import Check


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("BAD // cudaperf: ignore[CP101] known\n", []),
        ("BAD // cudaperf:ignore[cp1]\n", []),
        ("BAD /* cudaperf: ignore[CP5, CP1] */ ;\n", []),
        ("BAD // cudaperf: ignore\n", []),
        ("BAD // cudaperf: ignore everything here\n", []),
        ("BAD // the reason // cudaperf: ignore[CP101]\n", []),
        ("BAD // cudaperf: ignore[CP102]\n", ["1:1"]),
        ("BAD // cudaperf: ignore[]\n", ["1:1"]),
        ("BAD WORSE // cudaperf: ignore CP101 known\n", ["1:5"]),
        ("BAD WORSE // cudaperf: ignore CP101, CP3\n", []),
        ("BAD WORSE // cudaperf: ignore because CP101\n", []),
        ("BAD // cudaperf: ignored\n", ["1:1"]),
        ("BAD // cudaperf: assume n > 1\n", ["1:1"]),
        ('BAD "// cudaperf: ignore"\n', ["1:1"]),
        ('BAD R"x(\n// cudaperf: ignore)" )x" \n', ["1:1"]),
        ("'\"' /* cudaperf: ignore */ BAD // \"\n", []),
        ("// cudaperf: ignore[CP101] known\nBAD\nBAD\n", ["3:1"]),
        ("  /* cudaperf: ignore[CP101]\n  because */\nBAD\nBAD\n", ["4:1"]),
        ("// cudaperf: ignore[CP101]\n// cudaperf: ignore[CP3]\nBAD WORSE\n", []),
        ("// cudaperf: ignore[CP101]\n\nBAD\n", ["3:1"]),
        ("int a; // cudaperf: ignore[CP101]\nBAD\n", ["2:1"]),
        ("// cudaperf: ignore[CP101]\r\nBAD\r\nBAD\r\n", ["3:1"]),
        ("#define X(a) \\\n  BAD /* cudaperf: ignore[CP101] */ \\\n  BAD\n", ["3:3"]),
        ("#define X BAD // cudaperf: ignore[CP101]\n", []),
        ("BAD\nint x; // cudaperf: ignore-file[CP3]\nWORSE BAD\n", ["1:1", "3:7"]),
        ("BAD\nint x; /* cudaperf: ignore-file */\nWORSE BAD\n", []),
        ("int n = 1'000; BAD // cudaperf: ignore[CP101] don't\n", []),
    ],
)
def test_in_cuda(run: Check, text: str, left: list[str]) -> None:
    Path("a.cu").write_bytes(text.encode())
    assert [head.split(": ")[0] for head in run("check").heads] == [f"a.cu:{place}" for place in left]


KERNEL = "\n__global__ void k() {\n  BAD;\n}\n"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f'a = r"""{KERNEL}"""\n', ["3:3"]),
        (f'# cudaperf: ignore[CP101] known\na = r"""{KERNEL}"""\n', []),
        (f'# cudaperf: ignore[CP102]\na = r"""{KERNEL}"""\n', ["4:3"]),
        (f'a = r"""{KERNEL}"""  # cudaperf: ignore[CP101] known\n', []),
        (f'# cudaperf: ignore[CP101]\na = f(\n    1,\n    """{KERNEL}""")\n', []),
        (f'a = f(\n    # cudaperf: ignore[CP101]\n    """{KERNEL}""")\n', []),
        (f'a = r"""{KERNEL}"""\nb = 1  # cudaperf: ignore\n', ["3:3"]),
        (f'# cudaperf: ignore-file[CP1]\nx = 1\n\na = r"""{KERNEL}"""\n', []),
        ('a = r"""\n__global__ void k() {\n  BAD; // cudaperf: ignore[CP101]\n  BAD; }"""\n', ["4:3"]),
        ('a = ("__global__ void k() {"\n "BAD;"  # cudaperf: ignore[CP101]\n "BAD;}")\n', ["3:3"]),
        (f'a = r"""{KERNEL}"""\ns = "# cudaperf: ignore-file"\n', ["3:3"]),
    ],
)
def test_in_python(run: Check, text: str, left: list[str]) -> None:
    Path("a.py").write_text(text)
    assert [head.split(": ")[0] for head in run("check").heads] == [f"a.py:{place}" for place in left]


@pytest.mark.parametrize("text", ["BAD // cudaperf: ignore[CP999]\n", "// cudaperf: ignore[CP999]\nBAD\n"])
def test_a_code_that_no_rule_has_is_told(run: Check, text: str) -> None:
    Path("a.cu").write_text(text)
    done = run("check")
    assert done.err == "a.cu: warning: line 1: no rule's code begins with 'CP999', so this silences nothing\n"
    assert len(done.heads) == 1


@pytest.mark.parametrize(
    "text", ["__global__ void k(float *x) { if (x[0]) x[0] = ", "## Notes\n\nThese are - of course - no *code* at all.\n"]
)
def test_a_text_that_does_not_parse_is_told(run: Check, text: str) -> None:
    Path("a.cu").write_text(f"int a;\n{text}")
    done = run("check")
    assert done.code == 0
    assert "a.cu: warning: much of it does not parse as CUDA, from line 2 on" in done.err


def test_nothing_to_check_is_told(run: Check) -> None:
    assert run("check").out == "0 files checked: no .cu or .cuh file, nor CUDA in C++ or Python files, is there\n"
