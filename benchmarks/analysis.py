"""How long the loop analysis takes, without front end, compilers or verification: processor seconds, median of five.

    python benchmarks/analysis.py

Nests of one to six loops over arrays of as many dimensions: a stencil into another array, the same in place (dependences in
every direction), and a convolution with four parallel and three summed loops. The aim for six loops is under one second.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

LETTERS = "ijklmo"


def nest(depth: int, in_place: bool) -> str:
    """A stencil over `depth` dimensions."""
    loops = "".join(f"for (int {v} = 1; {v} < n - 1; {v}++) " for v in LETTERS[:depth])
    dims = "[n]" * depth
    target = "a" if in_place else "b"

    def at(moved: int, by: str) -> str:
        return "".join(f"[{v}{by if k == moved else ''}]" for k, v in enumerate(LETTERS[:depth]))

    terms = " + ".join(f"a{at(k, by)}" for k in range(depth) for by in (" - 1", " + 1"))
    return f"void f(int n, double a{dims}, double b{dims}) {{ {loops}{target}{at(-1, '')} = {terms}; }}"


CONVOLUTION = """
void f(int N, int C, int H, int W, int K, int R, const float *in, const float *w, float *out) {
    for (int n = 0; n < N; n++) for (int k = 0; k < K; k++)
        for (int y = 0; y < H - R + 1; y++) for (int x = 0; x < W - R + 1; x++) {
            float s = 0;
            for (int c = 0; c < C; c++) for (int r = 0; r < R; r++) for (int q = 0; q < R; q++)
                s += in[((n * C + c) * H + y + r) * W + x + q] * w[((k * C + c) * R + r) * R + q];
            out[((n * K + k) * (H - R + 1) + y) * (W - R + 1) + x] = s;
        }
}
"""


def seconds(source: str, folder: Path) -> float:
    """Processor seconds of dependences, program and task of the one function of a source."""
    from cudaperf.engine.loops.partition import partition
    from cudaperf.engine.reason import Reason, Refusal
    from cudaperf.engine.sources import c

    path = folder / "nest.c"
    path.write_text(source, encoding="utf-8")
    unit = c.load(str(path), "f", ())
    if isinstance(unit, Reason):
        raise SystemExit(unit.message)
    times = []
    for _ in range(5):
        started = time.process_time()
        try:
            partition(unit, ())
        except Refusal as refusal:
            print(f"    (refused: {refusal.reason.message})")
        times.append(time.process_time() - started)
    return statistics.median(times)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for depth in range(1, len(LETTERS) + 1):
            apart, within = (seconds(nest(depth, in_place), Path(folder)) for in_place in (False, True))
            print(f"{depth} loops: {1e3 * apart:7.1f} ms apart, {1e3 * within:7.1f} ms in place", flush=True)
        print(f"convolution, 7 loops: {1e3 * seconds(CONVOLUTION, Path(folder)):.1f} ms")


if __name__ == "__main__":
    main()
