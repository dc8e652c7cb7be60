"""Small CUDA programs as data: device code with its launch, as a job for the emulated executor.

Directives stand in the first lines' comments: `sizes: N ...` (one input each), `race: I ...` (indices of inputs for the race
detector), `hazard: KIND` or `verdict: KIND`, `inout` (the output buffer starts with the host's zeros); `// launch:` is one
launch, `// host:` lines are host statements, `// before:` one statement ahead of the launch. The comments HERE and OTHER mark
the lines that a hazard must name. The arrays hold N*N floats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.executors.protocol import EmittedFiles, Job
from cudaperf.engine.plan import LaunchPlan
from cudaperf.engine.strategies.cp import cp_header
from cudaperf.engine.task import Original, Task

DATA = Path(__file__).parents[2] / "data" / "emulated"

_HARNESS = r"""
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "case.h"
int main(int, char **argv) {
  int n = 0;
  FILE *in = fopen(argv[1], "r");
  if (!in || fscanf(in, "%d", &n) != 1) return 2;
  std::vector<float> a(size_t(n) * n), b(a.size(), 0.0f);
  for (size_t i = 0; i < a.size(); i++) a[i] = float(i * 37 % 11);
  if (case_cuda(a.data(), b.data(), n)) return 17;
  FILE *out = fopen(argv[2], "wb");
  return !out || fwrite(b.data(), sizeof(float), b.size(), out) != b.size() || fclose(out);
}
"""

_HOST = r"""
#include "case.h"
#define CHECK(call)                        \
  do {                                     \
    cudaError_t error = (call);            \
    if (error != cudaSuccess) return error; \
  } while (0)

static cudaError_t steps(const float *host_a, float *&a, float *&b, int n, size_t bytes, cudaStream_t stream) {
  @BODY@
  return cudaGetLastError();
}

static cudaError_t work(const float *host_a, float *host_b, float *&a, float *&b, int n, cudaStream_t &stream) {
  size_t bytes = size_t(n) * n * sizeof(float);
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMalloc(&a, bytes));
  CHECK(cudaMalloc(&b, bytes));
  CHECK(cudaMemcpyAsync(a, host_a, bytes, cudaMemcpyHostToDevice, stream));
  @INOUT@
  CHECK(steps(host_a, a, b, n, bytes, stream));
  CHECK(cudaMemcpyAsync(host_b, b, bytes, cudaMemcpyDeviceToHost, stream));
  return cudaStreamSynchronize(stream);
}

extern "C" int case_cuda(const float *host_a, float *host_b, int n) {
  float *a = nullptr, *b = nullptr;
  cudaStream_t stream = nullptr;
  cudaError_t error = work(host_a, host_b, a, b, n, stream);
  cudaFree(a);
  cudaFree(b);
  if (stream) cudaStreamDestroy(stream);
  return error != cudaSuccess;
}
"""


@dataclass(frozen=True)
class Case:
    """One program; `line` and `other` are the marked lines, counted in `code`."""

    name: str
    code: str
    sizes: tuple[int, ...]
    race: tuple[int, ...]
    hazard: str | None
    verdict: str
    line: int | None
    other: int | None

    def job(self, folder: Path) -> Job:
        files = EmittedFiles("case.cu", self.cu, "case.h", 'extern "C" int case_cuda(const float *a, float *b, int n);\n')
        inputs = []
        for n in self.sizes:
            path = folder / f"input-{n}"
            path.write_text(str(n))
            inputs.append(path)
        task = Task(name="case", original=Original(path="case.c", function="case", source="", preprocessed=""), parameters=())
        candidate = Candidate(device_code=self.code, plan=LaunchPlan(steps=()), strategy="test", schedule="test")
        return Job(task, candidate, files, _HARNESS, tuple(inputs), self.race)

    @property
    def cu(self) -> str:
        host = re.findall(r"(?m)^// host: (.*)$", self.code)
        if launch := re.search(r"(?m)^// launch: (.*)$", self.code):
            before = re.findall(r"(?m)^// before: (.*)$", self.code)
            host = [*(f"{line};" for line in before), f"{launch[1]};"]
        copy_in = "CHECK(cudaMemcpyAsync(b, host_b, bytes, cudaMemcpyHostToDevice, stream));" if self.directive("inout") else ""
        return (
            "// the emitted file's opening comment\n#include <cuda_runtime.h>\n\n"
            + cp_header(self.code)
            + self.code
            + _HOST.replace("@BODY@", "\n  ".join(host)).replace("@INOUT@", copy_in)
        )

    def directive(self, name: str) -> bool:
        return bool(re.search(rf"\b{name}\b", self.code.splitlines()[0]))


def load(path: Path) -> Case:
    """The case that a data file holds."""
    code = path.read_text()
    head = code.splitlines()[0]

    def value(name: str) -> str:
        found = re.search(rf"\b{name}: ([^;\n]*)", head)
        return found[1].strip() if found else ""

    def marked(word: str) -> int | None:
        return next((i for i, line in enumerate(code.splitlines(), 1) if re.search(rf"//.*\b{word}\b", line)), None)

    hazard = value("hazard") or None
    sizes, race = (tuple(int(n) for n in value(key).split()) for key in ("sizes", "race"))
    verdict = value("verdict") or ("hazard" if hazard else "outputs")
    return Case(path.stem, code, sizes, race, hazard, verdict, marked("HERE"), marked("OTHER"))


def cases(kind: str) -> list[Case]:
    """All good or wrong programs, by name."""
    return [load(path) for path in sorted((DATA / kind).glob("*.cu"))]


def given(n: int) -> np.ndarray:
    """The input array of size n x n, as the harness makes it."""
    return (np.arange(n * n) * 37 % 11).astype(np.float32).reshape(n, n)
