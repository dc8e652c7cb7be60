"""`cudaperf check --measure`: the whole command with the compilers that are here, and without one."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from check_command import Done

from cudaperf.engine.cli import main
from cudaperf.engine.extras import install
from cudaperf.engine.toolchain import resources
from cudaperf.engine.toolchain.compile import DeviceCompiler
from cudaperf.engine.toolchain.find import find_nvcc, find_nvrtc, host_compiler

MANY = """\
#include <cstdio>
#include <vector>
#include "size.h"
using namespace std;
namespace wide {
template <int N, typename T>
__global__ void accumulate(T *out, const T *in, int steps)
{
    T v[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        v[i] = in[threadIdx.x + i * 4096];
    for (int s = 0; s < steps; s++)
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = v[i] * v[(i + 1) % N] + T(SHIFT);
#pragma unroll
    for (int i = 0; i < N; i++)
        out[threadIdx.x + i * 4096] = v[i];
}
}
static void report(const std::vector<float> &v) { printf("%zu\\n", v.size()); }
void run(float *out, const float *in, int blocks)
{
    wide::accumulate<COUNT, float><<<blocks, 256>>>(out, in, 3);
    if (cudaGetLastError() != cudaSuccess)
        report({});
}
"""
LOCAL = """\
__global__ void kept(int *out, const int *in, int n)
{
    int bins[2] = {0, 0};
    for (int i = threadIdx.x; i < n; i += 32)
        bins[in[i] & 1]++;
    out[threadIdx.x] = bins[0] + 2 * bins[1];
}
__global__ void spread(int *out, const int *in, int n)
{
    int bins[64] = {};
    for (int i = threadIdx.x; i < n; i += 32)
        bins[in[i] & 63]++;
    for (int i = 0; i < 64; i++)
        out[threadIdx.x * 64 + i] = bins[i];
}
"""


def compilers() -> list[DeviceCompiler]:
    whole = find_nvcc() if host_compiler() else None
    found = [(whole, "nvcc"), (find_nvrtc(), "NVRTC")]
    return [DeviceCompiler(tool, kind) for tool, kind in found if tool]


Run = Callable[..., Done]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """`cudaperf check ARGUMENTS`, with the rules that there are."""
    monkeypatch.setenv("CUDAPERF_CACHE", str(tmp_path / "cache"))

    def command(*arguments: str) -> Done:
        code = main(["check", *arguments])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return Done(code, captured.out, captured.err)

    return command


@pytest.fixture
def compiler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> DeviceCompiler:
    """One of those that are here, in use."""
    chosen: DeviceCompiler = request.param
    monkeypatch.setattr(resources, "resource_compiler", lambda: chosen)
    return chosen


needs_one = pytest.mark.skipif(not compilers(), reason="needs NVRTC or nvcc")
with_each = pytest.mark.parametrize("compiler", compilers(), indirect=True, ids=lambda compiler: compiler.kind)


def test_without_a_compiler_the_code_is_5_and_the_message_says_how_to_get_one(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("a.cu").write_text(LOCAL)
    monkeypatch.setattr(resources, "resource_compiler", lambda: None)
    done = run("--measure", "a.cu")
    assert (done.code, done.out) == (5, "")
    assert install("compiler") in done.err


def test_folders_and_macros_go_with_measure_alone(run: Run) -> None:
    Path("a.cu").write_text(LOCAL)
    for option in ("-I.", "-DA=1"):
        done = run("a.cu", option)
        assert done.code == 2
        assert "--measure" in done.err
    assert run("--measure", "a.cu", "-D", "1=2").code == 2


@needs_one
@with_each
def test_measured_figures_replace_estimates(run: Run, compiler: DeviceCompiler) -> None:
    Path("include").mkdir()
    Path("include/size.h").write_text("#define SHIFT 1\n")
    Path("a.cu").write_text(MANY)
    assert "CP201" not in run("a.cu", "--select", "CP201", "--arch", "90").out
    arguments = ("a.cu", "--select", "CP201", "--arch", "90", "--measure", "-Iinclude", "-DCOUNT=120")
    done = run(*arguments)
    assert done.heads == ["a.cu:25:46: hint [CP201]"]
    assert "limited by registers; measured by ptxas for sm_90: 1" in done.out
    assert done.out.endswith("; 1 kernel measured by ptxas\n")
    assert done.err == ""
    (one,) = json.loads(run(*arguments, "--format", "json").out)
    assert 120 <= one["data"]["registers"] <= 200
    assert (one["data"]["measured"], one["data"]["compiler"]) == (True, compiler.name)
    (result,) = json.loads(run(*arguments, "--format", "sarif").out)["runs"][0]["results"]
    assert result["properties"]["registers"] == one["data"]["registers"]
    few = run(*(a.replace("=120", "=8") for a in arguments))
    assert (few.heads, few.code) == ([], 0)


@needs_one
@with_each
def test_local_arrays_are_confirmed_or_dropped(run: Run, compiler: DeviceCompiler) -> None:
    Path("a.cu").write_text(LOCAL)
    assert len(run("a.cu", "--select", "CP204").heads) == 2
    done = run("a.cu", "--select", "CP204", "--measure")
    assert done.heads == ["a.cu:12:9: warning [CP204]"]
    assert "measured by ptxas for sm_80: 256 bytes of local memory a thread" in done.out


@needs_one
@with_each
def test_what_does_not_compile_keeps_its_estimates_and_the_exit_code(run: Run, compiler: DeviceCompiler) -> None:
    Path("a.cu").write_text(LOCAL + "__global__ void k(int *p) { p[0] = missing; }\n")
    Path("b.cu").write_text("int host;\n")
    Path("c.cuh").write_text("__global__ void k(int *p) { p[0] = missing; }\n")
    done = run(".", "--select", "CP204", "--measure")
    assert (len(done.heads), done.code) == (2, 1)
    (line,) = done.err.splitlines()
    assert line.startswith("a.cu: warning: not measured, figures are estimates: ")
    assert line.endswith('for sm_80: line 16: identifier "missing" is undefined')


@needs_one
@with_each
def test_a_text_on_stdin_and_one_after_fixes(run: Run, compiler: DeviceCompiler, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("size.h").write_text("#define SHIFT 1\n#define COUNT 120\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MANY.encode())))
    done = run("-", "--stdin-filename", "b.cu", "--select", "CP201", "--measure")
    assert "limited by registers; measured by ptxas" in done.out
    Path("a.cu").write_text(MANY.replace("T(SHIFT)", "0.5 * v[i]"))
    assert "; 1 kernel measured by ptxas" in run("a.cu", "--measure", "--fix").out


@needs_one
@with_each
def test_names_that_a_shell_would_execute_are_only_names(run: Run, compiler: DeviceCompiler) -> None:
    text = '#include "of it.h"\n__global__ void k(int *p) { p[0] = OF; }\n'
    names = ("$(touch ran).cu", "a`touch ran`.cu", 'a"; touch ran; ".cu', "a b\té.cu", "a\\b.cu", "a'&(c);.cu", "-o.cu")
    for folder in (Path("."), Path("$(touch ran)")):
        folder.mkdir(exist_ok=True)
        (folder / "of it.h").write_text("#define OF 1\n")
        for name in names:
            (folder / name).write_text(text)
    done = run(".", "--measure")
    assert done.err == ""
    assert done.out.endswith(f"; {2 * len(names)} kernels measured by ptxas\n")
    assert "touch" in run(".", "--measure", "-D", "A=$(touch ran)").err or compiler.kind == "NVRTC"
    assert list(Path(".").rglob("ran")) == []


@needs_one
@with_each
def test_a_link_is_compiled_where_it_lies(run: Run, compiler: DeviceCompiler) -> None:
    Path("real").mkdir()
    Path("real/a.cu").write_text('#include "beside.h"\n__global__ void k(int *p) { p[0] = OF; }\n')
    Path("beside.h").write_text("#define OF 1\n")
    Path("link.cu").symlink_to("real/a.cu")
    assert run("link.cu", "--measure").err == ""


@needs_one
@with_each
def test_a_build_says_the_options_where_the_command_line_does_not(run: Run, compiler: DeviceCompiler) -> None:
    Path("include").mkdir()
    Path("include/size.h").write_text("#define SHIFT 1\n")
    Path("a.cu").write_text(MANY)
    entry = {"directory": ".", "command": "nvcc -Iinclude -DCOUNT=120 -maxrregcount=80 -c a.cu", "file": "a.cu"}
    Path("compile_commands.json").write_text(json.dumps([entry]))
    (one,) = json.loads(run("a.cu", "--measure", "--select", "CP201", "--format", "json").out)
    assert one["data"]["registers"] <= 80
    assert one["data"]["spill_bytes"] > 0
    Path("compile_commands.json").write_text("[")
    done = run("a.cu", "--measure", "--select", "CP201")
    assert "compile_commands.json can't be read" in done.err
