"""What `cudaperf` answers before any code is read: help, version, doctor, and command lines that can't be read."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from cli_command import Command

COMPILER = (
    'pip install "nvidia-cuda-cccl==13.0.*" "nvidia-cuda-crt==13.0.*" "nvidia-cuda-nvcc==13.0.*" "nvidia-cuda-nvrtc==13.0.*" '
    '"nvidia-cuda-runtime==13.0.*" "nvidia-nvvm==13.0.*"'
)
SOURCE = "void f(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= 2.0f; }\n"


def test_help_names_the_commands(cudaperf: Command) -> None:
    for arguments in ([], ["--help"], ["-h"]):
        done = cudaperf(*arguments)
        assert done.returncode == 0
        assert all(name in done.stdout for name in ("optimize", "replay", "doctor", "version"))


def test_version_is_the_packages(cudaperf: Command) -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert cudaperf("--version").stdout == cudaperf("version").stdout == f"cudaperf {project['version']}\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["frobnicate"], "frobnicate"),
        (["optimize"], "FILE"),
        (["optimize", "f.c::f", "--nonsense"], "--nonsense"),
        (["optimize", "f.c::"], "Invalid value for FILE[::FUNCTION]: no function is named"),
        (["optimize", "f.c::2f"], "FILE::FUNCTION"),
        (["optimize", "f.c::f", "--size", "n"], "NAME=VALUE"),
        (["optimize", "f.c::f", "--size", "n=-1"], "NAME=VALUE"),
        (["optimize", "f.c::f", "--size", "n=99999999999999999999"], "NAME=VALUE"),
        (["optimize", "f.c::f", "--size", "n=1", "--size", "n=2"], "twice"),
        (["optimize", "f.c::f", "--executor", "quantum"], "auto, emulated, gpu"),
        (["optimize", "f.c::f", "--arch", "sm_1"], "known: 75"),
        (["optimize", "f.c::f", "--arch", "fast"], "fast"),
        (["optimize", "f.c::f", "--max-seconds", "0"], "positive"),
        (["optimize", "f.c::f", "--max-seconds", "nan"], "positive"),
        (["optimize", "f.c::f", "--schedule", "tile("], "tile("),
        (["optimize", "f.c::f", "--schedule", "maap x(i)"], "wavefront"),
        (["optimize", "f.c::f", "-D", "1X"], "1X"),
    ],
)
def test_a_command_line_that_cannot_be_read_is_a_usage_error(cudaperf: Command, arguments: list[str], says: str) -> None:
    cudaperf.write("f.c", SOURCE)
    done = cudaperf(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""
    as_json = cudaperf(*arguments, "--json")
    answer = json.loads(as_json.stdout)
    assert as_json.returncode == 2
    assert answer["status"] == "failed"
    assert answer["reason"]["code"] == "usage"
    assert says in answer["reason"]["message"]
    assert cudaperf.files() == {"f.c"}


@pytest.mark.parametrize(
    ("target", "says"),
    [
        (".", "this is a folder; optimize reads one C file: FILE.c::FUNCTION"),
        ("a.cu::f", "a.cu is not a C file: cudaperf check a.cu looks at CUDA"),
        ("f.c::axpi", "no function 'axpi' in f.c; the nearest is axpy (12 more: cudaperf optimize f.c lists them)"),
        ("f.c::zzz", "f10 and 1 more: cudaperf optimize f.c lists them"),
    ],
)
def test_a_target_that_is_none_says_what_would_be(cudaperf: Command, target: str, says: str) -> None:
    for name in ("f.c", "a.cu"):
        cudaperf.write(name, "void axpy(void) {}\n" + "".join(f"void f{i}(void) {{}}\n" for i in range(12)))
    done = cudaperf("optimize", target)
    assert done.returncode in (2, 3)
    assert says in done.stdout + done.stderr


@pytest.mark.parametrize("target", ["missing.c::f", "missing.c", ".::f", "pipe::f", os.fsdecode(b"lat\xe9.c::f")])
def test_a_file_that_cannot_be_opened_is_told(cudaperf: Command, target: str) -> None:
    os.mkfifo(cudaperf.folder / "pipe")
    (cudaperf.folder / os.fsdecode(b"lat\xe9.c")).write_text(SOURCE)
    done = cudaperf("optimize", target)
    assert done.returncode == 2
    assert "[not_found]" in done.stderr
    answer = json.loads(cudaperf("optimize", target, "--json").stdout)
    assert answer["reason"]["code"] == "not_found"


@pytest.mark.parametrize("name", ["f.f.cu", "f.f.h", "f.f.evidence.json"])
def test_files_of_others_are_never_overwritten(cudaperf: Command, name: str) -> None:
    cudaperf.write("f.c", SOURCE)
    cudaperf.write(name, "{}\n")
    done = cudaperf("optimize", "f.c::f")
    assert done.returncode == 2
    assert name in done.stderr
    assert "--force" in done.stderr
    assert (cudaperf.folder / name).read_text() == "{}\n"
    assert cudaperf.files() == {"f.c", name}


@pytest.mark.parametrize("folder", ["f.c", "f.c/below"])
def test_an_output_folder_that_is_a_file_is_told(cudaperf: Command, folder: str) -> None:
    cudaperf.write("f.c", SOURCE)
    done = cudaperf("optimize", "f.c::f", "-o", folder)
    assert done.returncode == 2
    assert "not a folder" in done.stderr


def test_doctor_says_what_is_here(cudaperf: Command) -> None:
    done = cudaperf("doctor")
    answer = json.loads(cudaperf("doctor", "--json").stdout)
    parts = {part["name"]: part for part in answer["parts"]}
    assert done.returncode == (0 if answer["ready"] else 5)
    assert parts["libclang"]["found"]
    assert parts["islpy"]["found"]
    assert parts["system"]["detail"].startswith("Python 3.")
    assert parts["nvcc"]["command"] == COMPILER
    for name, part in parts.items():
        assert name in done.stdout
        assert part["found"] or (part["adds"] in done.stdout and part["command"] in done.stdout)


def test_doctor_misses_a_compiler_that_is_not_there(cudaperf: Command, tmp_path: Path) -> None:
    nothing = {"PATH": str(tmp_path), "CXX": "", "PYTHONPATH": ":".join(filter(None, sys.path))}
    done = cudaperf("doctor", env=nothing)
    assert done.returncode == 5
    assert "MISSING" in done.stdout
    assert "apt-get install g++" in done.stdout


def test_headers_that_no_compiler_brings_are_not_the_files_fault(cudaperf: Command, tmp_path: Path) -> None:
    nothing = {"PATH": str(tmp_path), "CXX": "", "PYTHONPATH": ":".join(filter(None, sys.path))}
    source = tmp_path / "sizes.c"
    source.write_text("#include <stddef.h>\nvoid f(float *x, size_t n) { for (size_t i = 0; i < n; i++) x[i] *= 2; }\n")
    done = cudaperf("optimize", f"{source}::f", env=nothing)
    assert done.returncode == 5
    assert "no C compiler found" in done.stderr
