"""Runs kernels of `strategies.kernels` on the CPU emulation, under sanitizers: one program a set of kernels, any sizes.

The program is a plain host `main` with the kernels' launches; sizes, grids and data come from a file, so that a property test
compiles once. A sanitizer's report, a hazard or a failed call fails the test with what was printed.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from cudaperf.engine.executors.emulated import build
from cudaperf.engine.executors.emulated.build import Sanitizer
from cudaperf.engine.executors.emulated.process import Limits, Setting, run
from cudaperf.engine.executors.emulated.translate import translate
from cudaperf.engine.plan import IntArg, Launch, PointerArg
from cudaperf.engine.size import evaluate
from cudaperf.engine.strategies.cp import cp_header
from cudaperf.engine.strategies.kernels.kernel import Kernels, Parameter

TYPES = {"float": "f4", "double": "f8", "int": "i4", "long long": "i8", "unsigned int": "u4", "unsigned long long": "u8"}

needs_compiler = pytest.mark.skipif(build.find_compiler() is None, reason="needs a C++ compiler")

Arrays = Mapping[str, np.ndarray]

_MAIN = """
#include <cstdio>
#include <vector>
static std::vector<long long> cp_v;
static std::vector<void *> cp_b;
int main(int, char **argv) {
  FILE *in = fopen(argv[1], "rb");
  long long numbers, buffers;
  std::vector<long long> bytes;
  if (fread(&numbers, 8, 1, in) != 1 || fread(&buffers, 8, 1, in) != 1) return 3;
  cp_v.resize(numbers + 1); bytes.resize(buffers); cp_b.resize(buffers);
  if (fread(cp_v.data(), 8, numbers, in) != size_t(numbers) || fread(bytes.data(), 8, buffers, in) != size_t(buffers)) return 3;
  for (long long k = 0; k < buffers; k++) {
    if (bytes[k] && cudaMalloc(&cp_b[k], bytes[k])) return 4;
    if (k >= INPUTS || !bytes[k]) continue;
    std::vector<char> data(bytes[k]);
    if (fread(data.data(), 1, bytes[k], in) != size_t(bytes[k])) return 3;
    if (cudaMemcpy(cp_b[k], data.data(), bytes[k], cudaMemcpyHostToDevice)) return 4;
  }
  fclose(in);
LAUNCHES
  if (cudaGetLastError() || cudaDeviceSynchronize()) return 5;
  FILE *out = fopen(argv[2], "wb");
  for (long long k = 0; k < INPUTS; k++) {
    std::vector<char> data(bytes[k]);
    if (bytes[k] && cudaMemcpy(data.data(), cp_b[k], bytes[k], cudaMemcpyDeviceToHost)) return 4;
    if (bytes[k]) fwrite(data.data(), 1, bytes[k], out);
  }
  fclose(out);
  for (void *pointer : cp_b) if (pointer) cudaFree(pointer);
}
"""


@lru_cache(maxsize=1)
def _directory() -> Path:
    return Path(mkdtemp(prefix="kernels-"))


class Program:
    """The kernels as a program that takes any sizes. `arrays` fixes the buffers' order."""

    def __init__(self, kernels: Kernels, names: tuple[str, ...], sanitizer: Sanitizer = "address") -> None:
        self.kernels = kernels
        self.names = names
        self.buffers = (*names, *(temporary.name for temporary in kernels.temporaries))
        source = cp_header(kernels.device_code) + kernels.device_code + self._main()
        self.program = build.Program(_build(translate(source, "kernels.cu"), sanitizer), sanitizer)

    def _main(self) -> str:
        lines, at = [], 0
        for kernel in self.kernels.kernels:
            arguments = []
            for n, parameter in enumerate(kernel.parameters):
                kind = _type(parameter)
                value = (
                    f"cp_b[{self.buffers.index(parameter.argument.buffer)}]"
                    if isinstance(parameter.argument, PointerArg)
                    else f"cp_v[{at + 7 + n}]"
                )
                arguments.append(f"({kind}){value}")
            v = [f"unsigned(cp_v[{at + k}])" for k in range(7)]
            launch = f"{kernel.name}<<<dim3({v[0]}, {v[1]}, {v[2]}), dim3({v[3]}, {v[4]}, {v[5]}), {v[6]}>>>"
            lines.append(f"  if (cp_v[{at}] && cp_v[{at + 1}] && cp_v[{at + 2}]) {launch}({', '.join(arguments)});")
            at += 7 + len(kernel.parameters)
        return _MAIN.replace("INPUTS", str(len(self.names))).replace("LAUNCHES", "\n".join(lines))

    def __call__(self, arrays: Arrays, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
        """The arrays as the kernels leave them."""
        values: list[int] = []
        for step in self.kernels.steps():
            values += _numbers(step, sizes)
        data = [np.ascontiguousarray(arrays[name]) for name in self.names]
        lengths = [array.nbytes for array in data]
        lengths += [evaluate(t.count, sizes) * np.dtype(TYPES[t.type]).itemsize for t in self.kernels.temporaries]
        head = np.array([len(values), len(lengths), *values, *lengths], np.int64).tobytes()
        request, reply = _directory() / "request", _directory() / "reply"
        request.write_bytes(head + b"".join(array.tobytes() for array in data))
        done = run(self.program, [str(request), str(reply)], _directory() / "run", Limits(300), Setting())
        assert done.status == 0, f"exit {done.status}\n{done.events}\n{done.stderr[:6000]}"
        return _unpacked(reply.read_bytes(), arrays, self.names)


def _unpacked(raw: bytes, arrays: Arrays, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    found, at = {}, 0
    for name in names:
        array = arrays[name]
        found[name] = np.frombuffer(raw[at : at + array.nbytes], array.dtype).reshape(array.shape)
        at += array.nbytes
    return found


def _numbers(launch: Launch, sizes: Mapping[str, int]) -> list[int]:
    parts = [*launch.grid, *launch.block, launch.shared]
    values = [evaluate(part, sizes) for part in parts]
    for argument in launch.args:
        match argument:
            case PointerArg():
                values.append(0)
            case IntArg(value=value):
                values.append(evaluate(value, sizes))
            case _:
                values.append(sizes[argument.name])
    return values


def _type(parameter: Parameter) -> str:
    return re.sub(r"(?:__restrict__\s*)?\w+$", "", parameter.declaration).strip()


@lru_cache(maxsize=256)
def _build(text: str, sanitizer: Sanitizer) -> Path:
    compiler = build.find_compiler()
    assert compiler is not None
    prepared = build.prepare(compiler)
    stem = _directory() / f"program{len(list(_directory().iterdir()))}"
    source = stem.with_suffix(".cpp")
    source.write_text(text)
    flags = (*build._COMMON, *build._SANITIZERS[sanitizer], f"-I{prepared.headers[sanitizer]}", f"-I{build.INCLUDE}")
    command = [compiler.path, *flags, str(source), str(prepared.runtime), "-o", str(stem)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-6000:]
    return stem
