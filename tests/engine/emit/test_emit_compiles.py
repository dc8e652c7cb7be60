"""Every emitted file compiles cleanly: the .cu with nvcc, the .h alone as C and as C++, with and without CUDA's headers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from emit_cases import CASES, sampled

from cudaperf.engine.emit.cuda import emit
from cudaperf.engine.executors.emulated.build import INCLUDE

STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only")


def write(name: str, folder: Path) -> Path:
    case = CASES[name]()
    files = emit(case.task, case.candidate, f"{name}.{name}", fallback=case.fallback)
    (folder / files.header_name).write_text(files.header)
    (folder / files.cu_name).write_text(files.cu)
    (folder / "user.c").write_text(f'#include "{files.header_name}"\nint main(void) {{ return 0; }}\n')
    shutil.copy(folder / "user.c", folder / "user.cpp")
    return folder / files.cu_name


def check(folder: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("name", CASES)
def test_the_header_stands_alone(name: str, tmp_path: Path) -> None:
    write(name, tmp_path)
    check(tmp_path, "gcc", "-std=c99", *STRICT, "user.c")
    check(tmp_path, "g++", "-std=c++11", *STRICT, "user.cpp")
    check(tmp_path, "g++", "-std=c++17", "-Wall", "-Werror", "-fsyntax-only", f"-isystem{INCLUDE}", "user.cpp")


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("name", sampled("scale", "dot", "layer"))
def test_nvcc_has_nothing_to_say(name: str, tmp_path: Path) -> None:
    path = write(name, tmp_path)
    warnings = ("-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror")
    check(tmp_path, "nvcc", "-arch=sm_75", *warnings, "-c", path.name, "-o", "out.o")
