"""Options of a CUDA file from a build's `compile_commands.json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cudaperf.engine.toolchain.recorded import Unreadable, recorded_options


def recorded(folder: Path, command: str, file: str = "../a.cu") -> tuple[str, ...]:
    (folder / "a.cu").touch()
    (folder / "build").mkdir(exist_ok=True)
    entry = {"directory": str(folder / "build"), "command": command, "file": file}
    (folder / "build" / "compile_commands.json").write_text(json.dumps([{"file": "b.cpp"}, entry]))
    return recorded_options(folder / "a.cu")


def test_what_changes_the_code_is_kept_with_whole_paths(tmp_path: Path) -> None:
    command = (
        "nvcc -forward-unknown-to-host-compiler -DA=1 -D B -I../include -I /opt/x -isystem=/opt/y -isystem /opt/z -UC -O3 "
        "-DNDEBUG -std=gnu++17 '--generate-code=arch=compute_52,code=[sm_52]' --use_fast_math -maxrregcount 64 --fmad=false "
        "-dc -x cu -c ../a.cu -o a.o -ccbin=evil -Xcompiler -fplugin=evil.so"
    )
    assert recorded(tmp_path, command) == (
        "-DA=1", "-DB", f"-I{tmp_path}/build/../include", "-I/opt/x", "-I/opt/y", "-I/opt/z", "-UC", "-DNDEBUG", "-std=c++17",
        "-use_fast_math", "-maxrregcount=64", "-fmad=false", "-rdc=true",
    )  # fmt: skip


def test_response_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "includes.rsp").write_text("-I/opt/x -isystem=/opt/y")
    assert recorded(tmp_path, "nvcc --options-file includes.rsp -DA a.cu") == ("-I/opt/x", "-I/opt/y", "-DA")


def test_files_that_the_build_does_not_know_have_none(tmp_path: Path) -> None:
    assert recorded(tmp_path, "nvcc -DA c.cu", file="../c.cu") == ()


@pytest.mark.parametrize("command", ["nvcc --options-file missing.rsp a.cu", "nvcc 'a.cu"])
def test_what_can_not_be_read_is_said(tmp_path: Path, command: str) -> None:
    with pytest.raises(Unreadable, match=r"compile_commands\.json can't be read: "):
        recorded(tmp_path, command)
