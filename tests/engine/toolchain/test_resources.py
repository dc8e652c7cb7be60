"""ptxas's report of a user's file: what compilers say against one, and a cache that notices what changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cudaperf.engine.toolchain import nvcc, ptxas, resources
from cudaperf.engine.toolchain.compile import DeviceCompiler
from cudaperf.engine.toolchain.find import Tool
from cudaperf.engine.toolchain.ptxas import PtxasReport

CALLS = """\
ptxas info    : Compiling entry function '_Z9recursivePi' for 'sm_90'
ptxas info    : Function properties for _Z9recursivePi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 28 registers, used 0 barriers
ptxas info    : Compile time = 4.822 ms
ptxas info    : Function properties for _Z3reci
    40 bytes stack frame, 40 bytes spill stores, 40 bytes spill loads
"""
LOG = """\
ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90'
ptxas info    : Function properties for _Z1kPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
"""
NVCC = DeviceCompiler(Tool(Path("/nowhere/nvcc"), "13.0", "PATH"), "nvcc")


def test_functions_that_are_called_keep_their_stack() -> None:
    (one,) = ptxas.parse(CALLS)
    assert (one.stack_bytes, one.called_stack_bytes) == (0, 40)


@pytest.mark.parametrize(
    ("log", "told"),
    [
        ('a.cu(12): error: identifier "q" is undefined\n  b = q;\n1 error detected', 'line 12: identifier "q" is undefined'),
        ("/tmp/x/copy.cu(3): error #20: no such thing", "line 3: no such thing"),
        ("candidate.cu(2): catastrophic error: cannot open source file \"x.h\"", 'line 2: cannot open source file "x.h"'),
        ("a.cu:1:10: fatal error: x.h: No such file or directory\n    1 | #", "line 1: x.h: No such file or directory"),
        ("/src/tile.cuh(7): error: expected a \";\"\na.cu(2): error: later", 'tile.cuh:7: expected a ";"'),
        ("ptxas fatal   : Unresolved extern function '_Z1fi'", "Unresolved extern function '_Z1fi'"),
        ("ptxas error   : Entry function 'k' uses too much shared data", "Entry function 'k' uses too much shared data"),
        ("nvcc fatal   : Unsupported gpu architecture 'compute_60'", "Unsupported gpu architecture 'compute_60'"),
        ("\nkilled\n", "killed"),
        ("", "the compiler fails without a word"),
    ],
)  # fmt: skip
def test_the_first_error_of_a_log(log: str, told: str) -> None:
    assert str(resources.first_error(log, Path("src/a.cu"))) == told


def test_no_executable_is_built_from_names_that_a_shell_would_execute(tmp_path: Path) -> None:
    built = nvcc.build(tmp_path / "nvcc", [tmp_path / "$(touch ran).step.cu"], tmp_path / "program")
    assert built.path is None
    assert "rename" in built.log


class Compiles:
    """Stands in for `nvcc.report`, and counts."""

    def __init__(self, header: Path) -> None:
        self.calls, self.log, self._header = 0, LOG, header

    def __call__(self, compiler: Path, source: Path, folder: Path, capability: int, options: tuple[str, ...]) -> nvcc.Reported:
        self.calls += 1
        return nvcc.Reported(self.log == LOG, self.log, (self._header,))


@pytest.fixture
def unit(tmp_path: Path) -> resources.Unit:
    source = tmp_path / "a.cu"
    source.write_text("__global__ void k(float *a) {}")
    return resources.Unit(source, source.read_bytes(), 90)


@pytest.fixture
def compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiles:
    monkeypatch.setenv("CUDAPERF_CACHE", str(tmp_path / "cache"))
    (tmp_path / "a.h").write_text("int a;")
    stand_in = Compiles(tmp_path / "a.h")
    monkeypatch.setattr(nvcc, "report", stand_in)
    return stand_in


def test_an_answer_is_kept_until_the_text_a_header_or_an_option_changes(unit: resources.Unit, compiles: Compiles) -> None:
    expected = (PtxasReport("_Z1kPf", 8, 0, 0, 0, 0, 0),)
    assert [resources.resources(unit, NVCC) for _ in range(2)] == [expected] * 2
    assert compiles.calls == 1
    (unit.path.parent / "a.h").write_text("int ab;")
    resources.resources(unit, NVCC)
    assert compiles.calls == 2
    for changed in (replace(unit, text=b"//"), replace(unit, capability=80), replace(unit, options=("-DA",))):
        resources.resources(changed, NVCC)
    assert compiles.calls == 5
    (unit.path.parent / "a.h").unlink()
    resources.resources(unit, NVCC)
    assert compiles.calls == 6


def test_a_failure_is_not_kept_and_damage_compiles_again(unit: resources.Unit, compiles: Compiles) -> None:
    compiles.log = "a.cu(1): error: no"
    assert resources.resources(unit, NVCC) == resources.Failure("no", "", 1)
    compiles.log = LOG
    assert isinstance(resources.resources(unit, NVCC), tuple)
    (kept,) = (unit.path.parent / "cache").glob("resources/*/*.json")
    kept.write_text("[]")
    assert isinstance(resources.resources(unit, NVCC), tuple)
    assert compiles.calls == 3
