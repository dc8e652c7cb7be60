"""Fixes: what each one writes, where none is offered, and that on all the kernels with known findings each one mends."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cudaperf.engine.analysis.finding import Edit, Finding, Severity
from cudaperf.engine.analysis.fixes import apply, fix_text
from cudaperf.engine.analysis.kept import Kept
from cudaperf.engine.analysis.run import Checked, check_text
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.source import Source

DATA = Path(__file__).parents[2] / "data"
FILES = sorted([*(DATA / "kernels").glob("*.cu"), *(DATA / "kernels_unseen").glob("*.cu")])
NVCC = Path("/usr/local/bin/nvcc")
WITHOUT_COMPILER = pytest.mark.skipif(not NVCC.exists() and shutil.which("nvcc") is None, reason="no nvcc")

TURN = """// cudaperf: block=32x32
__global__ void turn(float *out, const float *in, int w) {
  __shared__ DECLARED;
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * w + threadIdx.x];
  __syncthreads();
  USED
  out[threadIdx.y * w + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""


def checked(text: bytes) -> Checked:
    found = check_text(Source("a.cu", text), Settings())
    assert not found.troubles
    return found


def found(text: str, code: str) -> list[Finding]:
    return [f for f in checked(text.encode()).findings if f.code == code]


def mended(text: str, code: str) -> str:
    """The text with every fix of a rule in, safe or not."""
    return apply(text.encode(), found(text, code), "all")[0].decode()


# --- CP102: padding --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "padded"),
    [
        ("float tile[32][32]", "float tile[32][32 + 1]"),
        ("double tile[32][2 * 16]", "double tile[32][2 * 16 + 1]"),
        ("float tile[32][1 << 5]", "float tile[32][(1 << 5) + 1]"),
        ("short tile[32][64]", "short tile[32][64 + 2]"),
        ("int tile[32][SIDE], rest[2]", "int tile[32][SIDE + 1], rest[2]"),
        ("float tile[SIDE][kSide]", "float tile[SIDE][kSide + 1]"),
    ],
)
def test_rows_are_padded(declared: str, padded: str) -> None:
    text = "#define SIDE 32\nconstexpr int kSide = 32;\n" + TURN.replace("DECLARED", declared).replace("USED", "")
    (one,) = found(text, "CP102")
    assert one.fix is not None
    assert one.fix.safe
    assert mended(text, "CP102") == text.replace(declared, padded)
    assert not found(mended(text, "CP102"), "CP102")


@pytest.mark.parametrize(
    ("declared", "used"),
    [
        ("float tile[32][32]", "float *row = tile[threadIdx.x]; row[1] = 0;"),
        ("float tile[32][32]", "float *p = &tile[threadIdx.y][0];"),
        ("float tile[32][32]", "int bytes = sizeof(tile);"),
        ("float tile[32][32]", "other(tile);"),
        ("float tile[32][32]", "FIRST = 0;"),
        ("float tile[32][384]", ""),  # 48 KB are full
        ("float tile[32][16][32]", ""),
    ],
)
def test_rows_are_left_alone(declared: str, used: str) -> None:
    text = "#define FIRST tile[0][0]\n" + TURN.replace("DECLARED", declared).replace("USED", used)
    assert all(one.fix is None for one in found(text, "CP102"))


def test_an_atomic_may_take_an_element() -> None:
    text = TURN.replace("DECLARED", "int tile[32][32]").replace("USED", "atomicAdd(&tile[threadIdx.y][threadIdx.x], 1);")
    (one,) = found(text, "CP102")
    assert one.fix is not None


def test_padding_is_not_safe_where_an_index_leaves_its_row_or_sizes_are_not_known() -> None:
    text = TURN.replace("DECLARED", "float tile[32][32]").replace("USED", "tile[0][threadIdx.x + 32] = 0;")
    (beyond,) = found(text, "CP102")
    text = TURN.replace("DECLARED", "float tile[32][32]").replace("USED", "__shared__ Mystery more[2];")
    (unknown,) = found(text, "CP102")
    for one in (beyond, unknown):
        assert one.fix is not None
        assert not one.fix.safe


# --- barriers --------------------------------------------------------------------------------------------------------------

RACE = """// cudaperf: block=128
__global__ void k(float *a, int n) {
\t__shared__ float t[128];
\tt[threadIdx.x] = a[threadIdx.x];  // fill
\tif (threadIdx.x < n)
\t\ta[threadIdx.x] = t[127 - threadIdx.x];
}
"""
LOOP = """// cudaperf: block=128
__global__ void k(float *a, int n) {
  __shared__ float t[128];
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    t[threadIdx.x] = a[i * 128 + threadIdx.x];
    __syncthreads();
    sum += t[127 - threadIdx.x];  // the other end
  }
  a[threadIdx.x] = sum;
}
"""


def test_a_barrier_is_added_before_the_later_access() -> None:
    assert mended(RACE, "CP302") == RACE.replace("\tif (", "\t__syncthreads();\n\tif (")


def test_a_barrier_is_added_at_the_end_of_the_loop() -> None:
    assert mended(LOOP, "CP302") == LOOP.replace("other end\n", "other end\n    __syncthreads();\n")


def test_both_barriers_of_a_loop_are_added() -> None:
    text = LOOP.replace("    __syncthreads();\n", "")
    both = LOOP.replace("other end\n", "other end\n    __syncthreads();\n")
    assert mended(text, "CP302") == both
    assert not found(both, "CP302")


def test_a_barrier_on_a_line_with_more() -> None:
    text = "// cudaperf: block=64\n__global__ void k(int *a) { __shared__ int t[64]; t[threadIdx.x] = 1; a[0] = t[a[1]]; }\n"
    text = text.replace("t[a[1]]", "t[63 - threadIdx.x]")
    assert mended(text, "CP302") == text.replace("a[0] =", "__syncthreads(); a[0] =")


def test_lines_end_as_the_files_do() -> None:
    text = RACE.replace("\n", "\r\n")
    assert mended(text, "CP302") == text.replace("\tif (", "\t__syncthreads();\r\n\tif (")


@pytest.mark.parametrize("written", ['r"""\n{}"""', '"{}"'])
def test_a_barrier_in_a_python_string(written: str) -> None:
    def spelled(cuda: str) -> bytes:
        return written.format(cuda if '"""' in written else cuda.replace("\n", "\\n").replace("\t", "\\t")).encode()

    text = b"code = " + spelled(RACE)
    findings = check_text(Source("a.py", text), Settings()).findings
    fixed = apply(text, [f for f in findings if f.code == "CP302"], "all")[0]
    assert fixed.replace(b"\t", b"\\t") == (b"code = " + spelled(RACE.replace("\tif (", "\t__syncthreads();\n\tif ("))).replace(
        b"\t", b"\\t"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\tif (threadIdx.x < n)", "\tif (threadIdx.x > 40) return;\n\tif (threadIdx.x < n)"),  # not all get there
        ("t[127 - threadIdx.x]", "t[threadIdx.x] = t[threadIdx.x ^ 96]"),  # both accesses in one statement
        ("\t__shared__ float t[128];", "\t__shared__ float t[128];\n\tif (threadIdx.x > 99) return;"),
    ],
)
def test_no_barrier_where_one_would_not_do(before: str, after: str) -> None:
    races = found(RACE.replace(before, after), "CP302")
    assert races
    assert all(one.fix is None for one in races)


def test_a_warp_gets_its_own_barrier() -> None:
    text = RACE.replace("=128", "=32").replace("127", "31")
    (one,) = found(text, "CP303")
    assert one.fix is not None
    assert not one.fix.safe
    assert mended(text, "CP303") == text.replace("\tif (", "\t__syncwarp();\n\tif (")
    parted = text.replace("\tt[", "\tif (threadIdx.x > 7) return;\n\tt[")
    assert all(one.fix is None for one in found(parted, "CP303"))


IDLE = """// cudaperf: block=128
__global__ void k(float *a) {
  __shared__ float t[128];
  t[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = t[threadIdx.x];
}
"""


@pytest.mark.parametrize(
    ("barrier", "left"),
    [
        ("  __syncthreads();\n", ""),
        ("  __syncthreads();  // wait\n", "  // wait\n"),
        ("  int i = 0; __syncthreads(); i++;\n", "  int i = 0; i++;\n"),
        ("  __syncthreads();\r\n", ""),
        ("  SYNC();\n", "  SYNC();\n"),
    ],
)
def test_an_idle_barrier_goes_with_its_line(barrier: str, left: str) -> None:
    text = "#define SYNC() __syncthreads()\n" + IDLE.replace("  __syncthreads();\n", barrier)
    assert found(text, "CP304")
    assert mended(text, "CP304") == text.replace(barrier, left)


def test_of_two_barriers_one_stays_where_one_is_needed() -> None:
    text = IDLE.replace("= t[threadIdx.x]", "= t[127 - threadIdx.x]").replace(
        "  __syncthreads();\n", "  __syncthreads();\n  float two = 2;\n  __syncthreads();\n"
    )
    assert len(found(text, "CP304")) == 1
    assert mended(text, "CP304").count("__syncthreads") == 1


GUARDED = """// cudaperf: block=128
__global__ void k(float *a) {
  __shared__ float t[128];
  t[threadIdx.x] = a[threadIdx.x];
  if (threadIdx.x < 64) {
    FIRST
    a[threadIdx.x] = t[threadIdx.x + 64];
    LAST
  }
  a[0] = 1;
}
"""


def test_a_barrier_moves_out_of_its_branch() -> None:
    first = GUARDED.replace("FIRST", "__syncthreads();").replace("    LAST\n", "")
    plain = GUARDED.replace("    FIRST\n", "").replace("    LAST\n", "")
    assert mended(first, "CP301") == plain.replace("  if (", "  __syncthreads();\n  if (")
    last = GUARDED.replace("    FIRST\n", "").replace("LAST", "__syncthreads();")
    moved = [f for f in found(last, "CP301") if f.fix is not None]
    assert len(moved) == 1
    assert mended(last, "CP301") == plain.replace("  }\n", "  }\n  __syncthreads();\n")
    between = first.replace("__syncthreads();", "float x = 1; __syncthreads();")
    assert all(f.fix is None for f in found(between, "CP301"))


@pytest.mark.parametrize(
    "branch", ["if (threadIdx.x < 64) __syncthreads();", "if (threadIdx.x < 64) {\n    __syncthreads();\n  }"]
)
def test_a_branch_that_only_waits_goes(branch: str) -> None:
    text = IDLE.replace("t[threadIdx.x];", "t[127 - threadIdx.x];").replace("__syncthreads();", branch)
    assert mended(text, "CP301") == text.replace(branch, "__syncthreads();")
    counted = text.replace("threadIdx.x < 64", "a[threadIdx.x]++ < 64")
    assert all(f.fix is None for f in found(counted, "CP301"))


# --- CP501: checks ---------------------------------------------------------------------------------------------------------

MACRO = "#define CHECK(call) do { cudaError_t e = (call); if (e) { puts(cudaGetErrorString(e)); exit(1); } } while (0)\n"
LEAVING = "#define CHECK(call) do { if ((call) != cudaSuccess) return; } while (0)\n"
FUNCTION = "static void check(cudaError_t e) { if (e != cudaSuccess) abort(); }\n"
USED = "void other() {\n  GPU( cudaDeviceSynchronize() );\n}\n"
HOST = """__global__ void k(float *a) { a[threadIdx.x] = 1; }
void run(float *a, float *b) {
  cudaMalloc(&a, 4 * sizeof(float));
  k<<<1, 32>>>(a);  // go
  if (a)
    cudaMemcpy(b, a, 16, cudaMemcpyDeviceToHost);
}
"""


def wrapped(name: str) -> str:
    return (
        HOST.replace("cudaMalloc(&a, 4 * sizeof(float))", f"{name}(cudaMalloc(&a, 4 * sizeof(float)))")
        .replace("// go\n", f"// go\n  {name}(cudaGetLastError());\n")
        .replace("cudaMemcpy(b, a, 16, cudaMemcpyDeviceToHost)", f"{name}(cudaMemcpy(b, a, 16, cudaMemcpyDeviceToHost))")
    )


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [(MACRO, "", "CHECK"), (FUNCTION, "", "check"), (USED, "", "GPU"), ("", USED, "GPU"), (MACRO + FUNCTION, USED, "GPU")],
)
def test_calls_are_checked_as_elsewhere_in_the_file(before: str, after: str, name: str) -> None:
    (one,) = found(before + HOST + after, "CP501")
    assert one.fix is not None
    assert not one.fix.safe
    assert mended(before + HOST + after, "CP501") == before + wrapped(name) + after
    assert not found(before + wrapped(name) + after, "CP501")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("", MACRO),  # defined below
        (LEAVING, ""),
        ("#define CHECK(call, line) if (call != cudaSuccess) exit(line)\n", ""),
        ("const char *told(cudaError_t e) { return cudaGetErrorString(e); }\n", ""),
        ("// CHECK(cudaDeviceSynchronize());\n", ""),
        ("int all() { return (cudaDeviceSynchronize()); }\n", ""),
    ],
)
def test_no_check_is_made_up(before: str, after: str) -> None:
    (one,) = found(before + HOST + after, "CP501")
    assert one.fix is None


def test_no_place_for_a_check_after_a_launch() -> None:
    text = MACRO + HOST.replace("  k<<<", "  if (a) k<<<").replace("  if (a)\n", "  else\n")
    (one,) = found(text, "CP501")
    assert one.fix is None


# --- all kernels -----------------------------------------------------------------------------------------------------------


def moved(offset: int, edits: Sequence[Edit]) -> int:
    """Where a place is after edits that it is not in."""
    return offset + sum(len(e.text.encode()) - (e.end - e.start) for e in edits if e.end <= offset)


def told(findings: Iterable[Finding], edits: Sequence[Edit] = ()) -> Counter[tuple[str, int]]:
    return Counter((f.code, moved(f.start, edits)) for f in findings if f.severity is not Severity.HINT or f.code == "CP304")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_fix_mends_its_finding_and_brings_nothing_new(path: Path) -> None:
    data, kept = path.read_bytes(), Kept()
    before = check_text(Source(path.name, data), Settings(), (), kept)
    for one in before.findings:
        if one.fix is None:
            continue
        after, count = apply(data, [replace(one, fix=replace(one.fix, safe=True))])
        assert count == 1
        again = check_text(Source(path.name, after), Settings(), (), kept)
        where = f"{one.code} at line {data[: one.start].count(10) + 1}"
        assert len(again.broken) <= len(before.broken), where
        left, known = told(again.findings), told(before.findings, one.fix.edits)
        new = [code for code, _ in left - known if code != "CP304"]
        assert not new, where
        if one.code != "CP304":
            assert (one.code, moved(one.start, one.fix.edits)) not in left, where


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_fixes_together_end(path: Path) -> None:
    data, kept = path.read_bytes(), Kept()
    after, _, troubles = fix_text(data, path.name, lambda t: check_text(Source(path.name, t), Settings(), (), kept), "all")
    assert not troubles
    left = check_text(Source(path.name, after), Settings())
    assert all(one.fix is None for one in left.findings)
    assert len(left.broken) == len(check_text(Source(path.name, data), Settings()).broken)


def compiles(text: bytes, folder: Path) -> str:
    """What nvcc has against a text."""
    (folder / "fixed.cu").write_bytes(text)
    compiler = str(NVCC) if NVCC.exists() else "nvcc"
    command = [compiler, "-std=c++17", "-arch=sm_90", "-ptx", "-o", str(folder / "out.ptx"), str(folder / "fixed.cu")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.stderr if done.returncode else ""


@pytest.mark.slow
@WITHOUT_COMPILER
@pytest.mark.parametrize("before", [MACRO, FUNCTION])
def test_checked_calls_compile(before: str, tmp_path: Path) -> None:
    text = "#include <cstdio>\n#include <cstdlib>\n" + before + HOST
    fixed = mended(text, "CP501")
    assert fixed != text
    assert not compiles(fixed.encode(), tmp_path)


@pytest.mark.slow
@WITHOUT_COMPILER
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_fixed_files_compile(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    after = apply(data, check_text(Source(path.name, data), Settings()).findings, "all")[0]
    assert not compiles(after, tmp_path)
