"""`cudaperf optimize` and `cudaperf replay` from the outside: files, text, JSON, exit codes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from cli_command import COMMAND, Command

from cudaperf.engine.evidence import EMULATED_CLAIM
from cudaperf.engine.toolchain.find import find_gpu, find_nvcc

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = {"vectors.saxpy.cu", "vectors.saxpy.h", "vectors.saxpy.evidence.json"}
KEYS = {"status", "reason", "outputs", "executor", "device", "configurations", "checks", "baselines", "speedup", "candidates"}


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Command, str, str]:
    """One conversion for people: the command, its stdout and stderr."""
    cudaperf = Command(tmp_path_factory.mktemp("converted"))
    shutil.copy(EXAMPLES / "vectors.c", cudaperf.folder)
    done = cudaperf("optimize", "vectors.c::saxpy", "--executor", "emulated")
    assert done.returncode == 0, done.stdout + done.stderr
    return cudaperf, done.stdout, done.stderr


ENUMERATIONS = """#include "act.h"
void f(int n, float *x, const activation a, enum side s, const activation *each) {
    for (int i = 0; i < n; i++) x[i] *= a == RELU || each[i] == RELU ? 2.0f : s == LEFT ? 3.0f : 1.0f;
}
"""


def test_enumerations_of_a_header_are_parameters(cudaperf: Command) -> None:
    cudaperf.write("act.h", "typedef enum { LINEAR, RELU = 3 } activation;\nenum side { LEFT = -1, RIGHT };\n")
    cudaperf.write("act.c", ENUMERATIONS)
    done = cudaperf("optimize", "act.c::f", "--executor", "emulated")
    assert done.returncode == 0, done.stdout + done.stderr
    header = (cudaperf.folder / "act.f.h").read_text()
    assert "unsigned int a" in header
    assert ", int s" in header


def test_an_error_in_emitted_code_shows_its_line(cudaperf: Command) -> None:
    cudaperf.write("rand.c", "void drand48_r(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= 2.0f; }\n")
    done = cudaperf("optimize", "rand.c::drand48_r", "--executor", "emulated", "--schedule", "map x(i) block(x:256)")
    assert done.returncode == 4, done.stdout + done.stderr
    assert ', at `extern "C" void drand48_r(int n, float *x);`' in done.stdout


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc, which takes no files even from root")
def test_a_folder_that_takes_no_files_is_told_before_the_work(example: Command) -> None:
    done = example("optimize", "vectors.c::saxpy", "-o", "/proc/x")
    assert done.returncode == 2
    assert done.stderr == "vectors.c: error [usage]: can't write to /proc; -o DIR names another folder\n"


@pytest.mark.skipif(find_nvcc() is None, reason="needs nvcc")
def test_what_nvcc_does_not_compile_is_not_verified(cudaperf: Command) -> None:
    cudaperf.write("advice.c", "void cudaMemAdvise(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= 2.0f; }\n")
    done = cudaperf("optimize", "advice.c::cudaMemAdvise", "--executor", "emulated")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "nvcc does not compile the emitted files: error: " in done.stdout
    assert 'at `extern "C" void cudaMemAdvise(int n, float *x);`' in done.stdout
    assert cudaperf.files() == {"advice.c"}


@pytest.fixture
def example(cudaperf: Command) -> Command:
    for path in EXAMPLES.glob("*.c"):
        shutil.copy(path, cudaperf.folder)
    return cudaperf


def test_a_conversion_writes_three_files_and_says_what_it_knows(converted: tuple[Command, str, str]) -> None:
    cudaperf, out, progress = converted
    assert cudaperf.files() == NAMES | {"vectors.c"}
    assert f"vectors.c::saxpy: verified: {EMULATED_CLAIM}" in out
    assert all(name in out for name in NAMES)
    assert "cudaperf replay vectors.saxpy.evidence.json" in out
    assert progress.strip()
    assert "\x1b" not in out + progress
    for name in ("vectors.saxpy.cu", "vectors.saxpy.evidence.json"):
        text = (cudaperf.folder / name).read_text()
        assert EMULATED_CLAIM in " ".join(text.replace("\n *", "\n").split())


def heeding_signals() -> None:
    """Tests that run in the background ignore these, and so would their children."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def test_an_interrupted_run_tells_programs_so(example: Command) -> None:
    running = subprocess.Popen(
        [COMMAND, "optimize", "matmul.c::matmul", "--executor", "emulated", "--json"],
        cwd=example.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heeding_signals,
    )
    while len(session_members(running.pid)) < 2:  # until it has started a compiler
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    answer = json.loads(out)
    assert (running.returncode, answer["status"], answer["reason"]["code"]) == (130, "failed", "interrupted")


def test_a_second_conversion_overwrites_its_own_files_and_prints_one_json_object(converted: tuple[Command, str, str]) -> None:
    cudaperf, _, _ = converted
    done = cudaperf("optimize", "vectors.c::saxpy", "--executor", "emulated", "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert done.stderr == ""
    assert answer.keys() >= KEYS
    assert answer["status"] == "verified"
    assert answer["reason"] is None
    assert answer["claim"] == EMULATED_CLAIM
    assert {Path(path).name for path in answer["outputs"]} == NAMES
    assert all(Path(path).is_absolute() and Path(path).exists() for path in answer["outputs"])
    assert (answer["executor"], answer["device"]) == ("emulated", None)
    assert len(answer["configurations"]) >= 8
    assert {"memory", "race", "barrier"} <= set(answer["checks"])
    assert [each["verdict"] for each in answer["candidates"] if each["emitted"]] == ["passed"]
    assert all(ratio is None for ratio in answer["speedup"].values())
    assert answer["timed_sizes"].keys() == {"n"}
    tried = [each for each in answer["candidates"] if each["registers"] is not None]
    assert "nvcc -O3 -arch=sm_75 " in (cudaperf.folder / "vectors.saxpy.cu").read_text()
    assert all(each["architecture"] == "sm_75" and each["spill_bytes"] == 0 for each in tried)
    assert cudaperf.files() == NAMES | {"vectors.c"}


def test_a_named_architecture_is_that_of_the_files_and_figures(example: Command) -> None:
    done = example("optimize", "vectors.c::dot", "--executor", "emulated", "--arch", "sm_90", "--json")
    emitted = next(each for each in json.loads(done.stdout)["candidates"] if each["emitted"])
    code = (example.folder / "vectors.dot.cu").read_text()
    assert "nvcc -O3 -arch=sm_90 -c vectors.dot.cu" in code
    assert "CUDA_ARCHITECTURES 90)" in code
    assert "__launch_bounds__(1)" in code
    assert emitted["architecture"] in ("sm_90", None)
    assert emitted["occupancy"] in (1.0, None)  # that of the kernels with one thread is 50 %


def test_evidence_alone_repeats_the_verification(converted: tuple[Command, str, str], cudaperf: Command) -> None:
    shutil.copy(converted[0].folder / "vectors.saxpy.evidence.json", cudaperf.folder / "e.json")
    done = cudaperf("replay", "e.json", "--executor", "emulated")
    assert done.returncode == 0, done.stdout + done.stderr
    assert EMULATED_CLAIM in done.stdout
    assert done.stdout.count("  same ") >= 8
    assert "different" not in done.stdout
    assert cudaperf.files() == {"e.json"}


def test_changed_evidence_does_not_pass_again(converted: tuple[Command, str, str], cudaperf: Command) -> None:
    evidence = json.loads((converted[0].folder / "vectors.saxpy.evidence.json").read_text())
    code = evidence["emitted"]["vectors.saxpy.cu"]
    assert "a * x[i] + y[i]" in code
    evidence["emitted"]["vectors.saxpy.cu"] = code.replace("a * x[i] + y[i]", "a * x[i] - y[i]")
    cudaperf.write("e.json", json.dumps(evidence))
    done = cudaperf("replay", "e.json", "--executor", "emulated", "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 4
    assert answer["status"] == "failed"
    assert answer["reason"]["code"] == "verification"
    assert not any(each["same"] for each in answer["configurations"])


@pytest.mark.parametrize(("text", "code"), [("{}", "usage"), ("not json", "usage"), (None, "not_found")])
def test_what_is_not_evidence_is_told(cudaperf: Command, text: str | None, code: str) -> None:
    if text is not None:
        cudaperf.write("e.json", text)
    done = cudaperf("replay", "e.json")
    assert done.returncode == 2
    assert f"[{code}]" in done.stderr
    assert json.loads(cudaperf("replay", "e.json", "--json").stdout)["reason"]["code"] == code


def test_a_refusal_points_at_the_line_and_leaves_no_files(example: Command) -> None:
    before = example.files()
    done = example("optimize", "filter.c::smooth")
    assert done.returncode == 3
    head, source, carets = done.stdout.rstrip("\n").split("\n")
    assert head.startswith("filter.c:6:")
    assert ": refused [dependence]: " in head
    assert "signal[i] = keep" in source
    assert "^" in carets
    answer = json.loads(example("optimize", "filter.c::smooth", "--json").stdout)
    assert (answer["status"], answer["reason"]["code"], answer["reason"]["line"]) == ("refused", "dependence", 6)
    assert answer["outputs"] == []
    assert example.files() == before


def test_a_file_is_listed_with_what_can_move(example: Command) -> None:
    done = example("optimize", "vectors.c")
    assert done.returncode == 0
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["saxpy", "dot"]
    assert done.stdout.count("can move") == 2
    assert "cannot, because line 6: " in example("optimize", "filter.c").stdout
    listed = json.loads(example("optimize", "filter.c", "--json").stdout)
    assert [(f["name"], f["can_move"], f["reason"]["code"]) for f in listed["functions"]] == [("smooth", False, "dependence")]


def test_c_that_does_not_compile_and_functions_that_are_not_there_are_usage_errors(example: Command) -> None:
    example.write("broken.c", "void f(int n, float *x)\n{\n    for (int i = 0; i < n; i++) x[i] = 1.0f\n}\n")
    done = example("optimize", "broken.c::f")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-3].startswith("broken.c:3:")
    assert "error [compile]" in done.stderr
    absent = example("optimize", "vectors.c::saxpi")
    assert absent.returncode == 2
    assert "saxpi" in absent.stderr
    assert "[not_found]" in absent.stderr


@pytest.mark.skipif(find_gpu() is not None, reason="a GPU is here")
def test_a_gpu_that_is_asked_for_and_not_there_is_told(example: Command) -> None:
    done = example("optimize", "vectors.c::saxpy", "--executor", "gpu")
    assert done.returncode == 5
    assert "[unavailable]" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_an_interrupted_run_ends_its_children_and_writes_nothing(example: Command, number: int, code: int) -> None:
    before = example.files()
    environment = {**os.environ, "TMPDIR": str(example.folder / "temporary")}
    (example.folder / "temporary").mkdir()
    running = subprocess.Popen(
        [COMMAND, "optimize", "matmul.c::matmul", "--executor", "emulated"],
        cwd=example.folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heeding_signals,
    )
    assert running.stderr is not None
    for line in running.stderr:
        if line.startswith("verify"):
            break
    running.send_signal(number)
    out, errors = running.communicate(timeout=60)
    assert running.returncode == code
    assert "Traceback" not in errors
    assert out == ""
    assert list((example.folder / "temporary").iterdir()) == []
    assert example.files() == before | {"temporary"}
    assert session_members(running.pid) == []


def session_members(session: int) -> list[str]:
    """Live processes of a session."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, its_session = status.read_text(errors="replace").rpartition(")")[2].split()[:4]
        except FileNotFoundError:
            continue
        if int(its_session) == session and state not in "ZX":
            found.append(status.parent.name)
    return found


def test_messages_say_what_to_do_next(example: Command) -> None:
    example.write("header.c", '#include "absent.h"\nvoid f(int n, float *x) { for (int i = 0; i < n; i++) x[i] = 1; }\n')
    assert "name its folder with -I" in example("optimize", "header.c::f").stderr
    short = example("optimize", "vectors.c::dot", "--executor", "emulated", "--max-seconds", "0.01")
    assert "[budget]" in short.stdout
    assert "--max-seconds allows more" in short.stdout
    tiles = "contraction tile(i:7,j:64,k:16) register(i:4,j:4) stages(2)"
    assert "; write one of: contraction tile(" in example("optimize", "matmul.c::matmul", "--schedule", tiles).stderr
    assert example("replay", "absent.json").stderr.count("absent.json") == 1
