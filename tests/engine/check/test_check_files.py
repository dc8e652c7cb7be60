"""Which files `cudaperf check` looks at, and files that are hard to look at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from check_command import Check


def write(name: str, data: bytes | str = "BAD\n") -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def files(heads: list[str]) -> list[str]:
    return [head.split(":")[0] for head in heads]


def test_folders_are_walked_for_cuda(run: Check) -> None:
    marked = "__global__ void k() { BAD; }\n"
    for suffix in ("cu", "cuh"):
        write(f"src/a.{suffix}")
    for suffix in ("h", "hpp", "hh", "hxx", "cpp", "cc", "inl"):
        write(f"src/a.{suffix}", marked)
        write(f"src/plain.{suffix}")
    write("src/b.h", "void f() { k<<<1, 2>>>(BAD); }\n")
    write("src/c.h", "__device__ int BAD;\n")
    write("src/notes.txt", marked)
    write("src/a.py", f'code = """{marked}"""\n')
    write("src/plain.py", "BAD = 1\n")
    for folder in (".git", "node_modules", "build", "venv", ".venv", "cmake-build-debug", "sub/__pycache__"):
        write(f"src/{folder}/x.cu")
    write("src/env/pyvenv.cfg", "")
    write("src/env/x.cu")
    done = run("check", "src")
    names = ["a.cc", "a.cpp", "a.cu", "a.cuh", "a.h", "a.hh", "a.hpp", "a.hxx", "a.inl", "a.py", "b.h", "c.h"]
    assert files(done.heads) == [f"src/{name}" for name in names]
    assert done.err == ""


def test_a_named_file_is_checked_once_whatever_it_is_called(run: Check) -> None:
    write("build/kernel.txt")
    write("b/a.cu")
    assert files(run("check", "build/kernel.txt", "b", "b/a.cu", "./b").heads) == ["b/a.cu", "build/kernel.txt"]
    assert files(run("check", "build").heads) == []


def test_links_that_loop_or_lead_nowhere_are_told_and_the_rest_is_checked(run: Check) -> None:
    write("src/a.cu")
    Path("src/loop").symlink_to("..", target_is_directory=True)
    Path("src/self.cu").symlink_to("self.cu")
    Path("src/gone.cu").symlink_to("nowhere.cu")
    os.mkfifo("src/pipe.cu")
    done = run("check", "src")
    assert files(done.heads) == ["src/a.cu"]
    assert done.code == 1
    assert "src/self.cu: warning: can't be read" in done.err
    assert "src/gone.cu: warning: can't be read: No such file" in done.err
    assert run("check", "src/self.cu").code == 2
    named = run("check", "src/pipe.cu", "src/a.cu")
    assert named.code == 2
    assert "src/pipe.cu: warning: this is not a regular file" in named.err
    assert files(named.heads) == ["src/a.cu"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read_is_told(run: Check) -> None:
    write("src/a.cu")
    write("src/closed/b.cu")
    Path("src/closed").chmod(0)
    done = run("check", "src")
    Path("src/closed").chmod(0o755)
    assert "Permission denied" in done.err
    assert files(done.heads) == ["src/a.cu"]


@pytest.mark.parametrize(
    ("data", "places", "says"),
    [
        (b"", [], ""),
        (b"\n\n", [], ""),
        (b"\x7fELF\0\0BAD", [], "binary"),
        ("BAD".encode("utf-16"), [], "UTF-16"),
        (b"int \xff\xfe; BAD\n", ["1:9"], ""),
        (b"\xef\xbb\xbfBAD\n", ["1:1"], ""),
        (b"int a;\r\n  BAD\r\nBAD", ["2:3", "3:1"], ""),
        (b"int a;\f\n\fBAD\v\n", ["2:2"], ""),
        (b"int a;\rBAD", ["2:1"], ""),
        ("\u2028\u0085 BAD\n".encode(), ["1:4"], ""),
        (b"BAD /* no end\n", ["1:1"], ""),
        (b'BAD "no end\n', ["1:1"], ""),
        (b"#if 0\nBAD\n#", ["2:1"], ""),
        (b"{" * 200 + b"BAD", ["1:201"], ""),
        (b"BAD\n" + b"int x" + b"[0]" * 50 + b";\n" * 100, ["1:1"], ""),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_odd_files_are_taken_as_they_are(run: Check, data: bytes, places: list[str], says: str) -> None:
    write("a.cu", data)
    done = run("check")
    assert done.heads == [f"a.cu:{place}: warning [CP101]" for place in places]
    assert says in done.err
    assert bool(done.err) == bool(says)


@pytest.mark.parametrize("opening", ["(", "{", "if (x) ", "struct A {", "a + ", "[", "#if A\n", "x = f("])
def test_deep_nesting_ends_in_findings_or_a_message(run: Check, opening: str) -> None:
    write("a.cu", "__global__ void k() {\n" + opening * 30_000 + "\nBAD\n")
    write("b.cu")
    done = run("check")
    assert done.code == 1
    assert "b.cu:1:1: warning [CP101]" in done.heads
    assert len(done.heads) == 2 or "nested too deeply" in done.err


def test_a_sum_of_a_thousand_terms_is_no_depth(run: Check) -> None:
    write("a.cu", "const int n = " + " + ".join("x" for _ in range(1000)) + ";\nBAD\n")
    done = run("check")
    assert (done.heads, done.err) == (["a.cu:2:1: warning [CP101]"], "")


def test_a_hundred_thousand_lines(run: Check) -> None:
    write("a.cu", "__global__ void k(float *a) {\n" + "a[0] = a[1] * 2.0f;\n" * 100_000 + "BAD;\n}\n")
    assert run("check").heads == ["a.cu:100002:1: warning [CP101]"]
