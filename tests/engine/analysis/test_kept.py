"""A check that keeps what it found says after each edit what a check from nothing says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cudaperf.engine.analysis import by_function
from cudaperf.engine.analysis.families import families
from cudaperf.engine.analysis.kept import Kept
from cudaperf.engine.analysis.run import check_text
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.parse import parse
from cudaperf.engine.cuda.source import Source

KERNELS = Path(__file__).parents[2] / "data" / "kernels"
TEXTS = {name: (KERNELS / f"{name}.cu").read_bytes() for name in ("tiles", "structures", "dynamic", "returns", "hints", "rows")}
HOSTS = b"""
#include <cuda_runtime.h>
#define TILE 32
__constant__ float weights[8];
template <int N> __device__ float pick(const float *a, int i) { float t[N]; for (int k = 0; k < N; k++) t[k] = a[i * N + k];
  return t[i % N]; }
__device__ int where(int x, int y, int w) { return x * w + y; }
__global__ void turn(float *out, const float *in, int w) {
  __shared__ float tile[TILE][TILE];
  tile[threadIdx.y][threadIdx.x] = in[where(blockIdx.x * TILE + threadIdx.x, threadIdx.y, w)];
  __syncthreads();
  out[blockIdx.x * TILE + threadIdx.x] = tile[threadIdx.x][threadIdx.y] * 2.5;
}
// cudaperf: block=64
__global__ void sum(float *out, const float *in, int n) {
  __shared__ float s[64];
  s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  if (threadIdx.x < 32) s[threadIdx.x] += s[threadIdx.x + 32];
  if (threadIdx.x == 0) out[0] += s[0] + pick<4>(in, n);
}
void check(cudaError_t e) { if (e != cudaSuccess) abort(); }
void once(float *a, float *b, int w) {
  dim3 block(TILE, TILE);
  turn<<<w / TILE, block>>>(a, b, w);
  sum<<<w, 64>>>(a, b, w);
}
void all(float *a, float *b, int w) {
  for (int i = 0; i < w; i++) { once(a, b, w); cudaMemcpy(b, a, 4 * w, cudaMemcpyHostToDevice); }
  check(cudaGetLastError());
}
"""
TEXTS["hosts"] = HOSTS
NEW = [
    b"// note\n", b"\n", b"  __syncthreads();\n", b"  if (threadIdx.x < 7) return;\n", b"// cudaperf: block=96\n",
    b"#define TILE 16\n", b"__device__ float helper(float *a) { return a[threadIdx.x * 32]; }\n", b"  out[0] += helper(out);\n",
    b"constexpr int N = 8;\n", b"void more(float *a) { check(cudaDeviceSynchronize()); }\n", b"// cudaperf: ignore\n",
    b"  float local[16]; local[threadIdx.x] = 1;\n", b"#define CHECK(x) if ((x) != cudaSuccess) abort()\n",
    b"void last() { GPU(cudaDeviceSynchronize()); }\n",
]  # fmt: skip


def edit(data: st.DataObject, text: bytes) -> bytes:
    """One line out, in, twice, elsewhere, or with another number."""
    lines = text.splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    kind = data.draw(st.sampled_from(["out", "in", "twice", "move", "number", "undo"]))
    if kind == "out":
        del lines[at]
    elif kind == "in":
        lines.insert(at, data.draw(st.sampled_from(NEW)))
    elif kind == "twice":
        lines.insert(at, lines[at])
    elif kind == "move":
        lines.insert(data.draw(st.integers(0, len(lines) - 1)), lines.pop(at))
    elif kind == "number":
        lines[at] = lines[at].replace(b"32", b"48").replace(b"256", b"200").replace(b"1", b"3")
    return b"".join(lines) or b"\n"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_as_from_nothing(data: st.DataObject) -> None:
    start = text = TEXTS[data.draw(st.sampled_from(sorted(TEXTS)))]
    kept = Kept()
    check_text(Source("a.cu", text), Settings(), (), kept)
    for _ in range(data.draw(st.integers(1, 4))):
        text = edit(data, text) if data.draw(st.booleans()) or text == start else edit(data, start)
        found = check_text(Source("a.cu", text), Settings(), (), kept)
        assert kept.parsed is not None
        # where a text does not parse, errors may be mended otherwise than from nothing
        assume(str(kept.parsed.tree.root_node) == str(parse(text).root_node))
        assert found == check_text(Source("a.cu", text), Settings())


def looked_at(monkeypatch: pytest.MonkeyPatch, before: bytes, after: bytes) -> set[tuple[str, str]]:
    """(family, function) for every look that a second check takes."""
    looks: set[tuple[str, str]] = set()
    kept = Kept()
    check_text(Source("a.cu", before), Settings(), (), kept)

    def noted(model, function, chosen, group):  # type: ignore[no-untyped-def]
        looks.update((family.name, function.name) for family in group)
        return by_function.Found()

    monkeypatch.setattr(by_function, "_found", noted)
    check_text(Source("a.cu", after), Settings(), (), kept)
    return looks


def test_an_edit_costs_its_function_and_those_that_lead_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    after = HOSTS.replace(b"s[threadIdx.x + 32];", b"s[threadIdx.x + 31];")
    looks = looked_at(monkeypatch, HOSTS, after)
    assert {function for _, function in looks} == {"sum", "once", "all"}
    assert ("memory and synchronization", "sum") in looks


def test_a_comment_costs_its_function_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    after = HOSTS.replace(b"  dim3 block(TILE, TILE);", b"  dim3 block(TILE, TILE); // a tile")
    looks = looked_at(monkeypatch, HOSTS, after)
    assert {function for family, function in looks if family == "memory and synchronization"} == set()
    assert looked_at(monkeypatch, HOSTS, b"// a comment above all\n" + HOSTS) == set()


def test_the_shape_of_a_launch_reaches_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    after = HOSTS.replace(b"sum<<<w, 64>>>", b"sum<<<w, 128>>>")
    looks = looked_at(monkeypatch, HOSTS, after)
    assert {function for family, function in looks if family == "memory and synchronization"} == {"sum"}


def test_a_macro_reaches_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = looked_at(monkeypatch, HOSTS, HOSTS.replace(b"TILE 32", b"TILE 16"))
    assert {name for name, _ in looks} == {family.name for family in families()}


def test_other_settings_forget(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept()
    first = check_text(Source("a.cu", HOSTS), Settings(architecture=80), (), kept)
    other = check_text(Source("a.cu", HOSTS), Settings(architecture=90, block=(96, 1, 1)), (), kept)
    assert other == check_text(Source("a.cu", HOSTS), Settings(architecture=90, block=(96, 1, 1)))
    assert first == check_text(Source("a.cu", HOSTS), Settings(architecture=80), (), kept)


def test_texts_in_python_are_kept_apart() -> None:
    before = b'a = r"""' + HOSTS + b'"""\nb = r"""' + TEXTS["rows"] + b'"""\n'
    kept = Kept()
    check_text(Source("a.py", before), Settings(), (), kept)
    after = b"import x\n" + before.replace(b"s[threadIdx.x + 32];", b"s[threadIdx.x + 31];")
    found = check_text(Source("a.py", after), Settings(), (), kept)
    assert found.findings
    assert found == check_text(Source("a.py", after), Settings())


TILE = b"""template <int N = 32> struct Tile { __device__ static void st(float *s, float v) { s[threadIdx.x * N] = v; } };
struct Other { };
__global__ void k(float *o) { __shared__ float s[12000]; Tile<>::st(s, o[threadIdx.x]); __syncthreads();
  o[threadIdx.x] = s[threadIdx.x * 7]; }
void go(float *o) { k<<<1, 256>>>(o); if (cudaGetLastError()) return; }
"""


@pytest.mark.parametrize(("old", "new"), [(b"N = 32", b"N = 33"), (b"int N", b"int M"), (b"struct Tile", b"struct Tiles")])
def test_what_is_around_a_method_counts(old: bytes, new: bytes) -> None:
    kept = Kept()
    check_text(Source("a.cu", TILE), Settings(), (), kept)
    after = TILE.replace(old, new)
    assert check_text(Source("a.cu", after), Settings(), (), kept) == check_text(Source("a.cu", after), Settings())
