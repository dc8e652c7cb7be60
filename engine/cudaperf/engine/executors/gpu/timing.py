"""Time a whole plan on the device with events: warm-up, fresh buffers in rotation, the L2 cache flushed before each repeat.

Each repeat restores what the plan changes, writes a buffer larger than L2 (which also keeps the device busy while the host
queues the work), then times the plan between two events. A plan with many steps is replayed as a CUDA graph. One timed
repeat, drawn at random, is read back and compared with an untimed one. Clocks are logged, never set.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from cudaperf.engine.executors.gpu.backend import Backend
from cudaperf.engine.executors.gpu.clocks import Clocks, read_clocks
from cudaperf.engine.executors.gpu.graph import Graph
from cudaperf.engine.executors.gpu.loaded import Loaded, integers
from cudaperf.engine.executors.gpu.memory import Buffers, Region
from cudaperf.engine.executors.gpu.recorded import NotRecordable, Recorder
from cudaperf.engine.verify.data import Value, Values

WARM_UP: Final = 3
FEWEST: Final = 10
MOST: Final = 200
SETS: Final = 3
GRAPH_FROM: Final = 5
"""Plans with at least this many device operations are replayed as a graph."""
GRAPH_LIMIT: Final = 20_000
FLUSH_BYTES: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Measured:
    """Kernel times in seconds, how they were taken, and whether the repeat that was looked at had an untimed run's bits."""

    samples: tuple[float, ...]
    mode: str
    sets: int
    same_outputs: bool
    before: Clocks | None
    after: Clocks | None


@dataclass(slots=True)
class _Set:
    """One rotation: buffers, pristine copies of what the plan changes, and how to issue the plan on them."""

    buffers: Buffers
    pristine: Buffers
    issue: Callable[[], None]
    mode: str
    graph: Graph | None

    def free(self) -> None:
        self.buffers.free()
        self.pristine.free()
        if self.graph:
            self.graph.free()


def measure(loaded: Loaded, inputs: Mapping[str, Value], seconds: float, seed: int) -> Measured:
    """Samples for about `seconds` (at least `FEWEST`); raises `PlanStopped` and `DeviceError`."""
    backend = loaded.backend
    flush = _flush_region(backend)
    sets = [_prepare(loaded, inputs) for _ in range(_how_many(backend, loaded, inputs))]
    for index in range(WARM_UP):
        _once(backend, sets[index % len(sets)], flush)
    expected = loaded.outputs(sets[(WARM_UP - 1) % len(sets)].buffers, inputs)
    before = read_clocks()
    samples, observed = _sample(loaded, inputs, sets, flush, seconds, random.Random(seed).randrange(FEWEST))
    measured = Measured(tuple(samples), sets[0].mode, len(sets), _same(expected, observed), before, read_clocks())
    for current in sets:
        current.free()
    backend.free(flush.address)
    return measured


def _sample(
    loaded: Loaded, inputs: Mapping[str, Value], sets: list[_Set], flush: Region, seconds: float, look_at: int
) -> tuple[list[float], Values]:
    samples: list[float] = []
    observed: Values = {}
    end = time.monotonic() + seconds
    while len(samples) < FEWEST or (len(samples) < MOST and time.monotonic() < end):
        current = sets[len(samples) % len(sets)]
        samples.append(_once(loaded.backend, current, flush))
        if len(samples) == look_at + 1:
            observed = loaded.outputs(current.buffers, inputs)
    return samples, observed


def _once(backend: Backend, current: _Set, flush: Region) -> float:
    current.buffers.unswap()
    for name in current.pristine.names():
        current.buffers.restore(name, current.pristine[name])
    backend.fill(flush.address, 0x5A, flush.size)
    start = backend.record()
    current.issue()
    stop = backend.record()
    return backend.elapsed(start, stop)


def _flush_region(backend: Backend) -> Region:
    size = min(max(FLUSH_BYTES, 2 * backend.facts.l2_bytes), max(backend.free_memory() // 8, 1 << 20))
    return Region("flush", backend.allocate(size), size, 1)


def _how_many(backend: Backend, loaded: Loaded, inputs: Mapping[str, Value]) -> int:
    """As many rotations as fit in two thirds of the free memory, temporaries counted by trying one set."""
    probe = Buffers(backend)
    free = backend.free_memory()
    loaded.fill(probe, inputs)
    used = max(free - backend.free_memory(), 1)
    probe.free()
    return max(1, min(SETS, free * 2 // 3 // (2 * used)))


def _prepare(loaded: Loaded, inputs: Mapping[str, Value]) -> _Set:
    buffers, pristine = Buffers(loaded.backend), Buffers(loaded.backend)
    loaded.fill(buffers, inputs)
    for array in loaded.task.arrays:
        if array.access != "in":
            source = buffers[array.name]
            pristine.add(array.name, source.count, source.item)
            pristine.restore(array.name, source)
    return _issuing(loaded, inputs, buffers, pristine)


def _issuing(loaded: Loaded, inputs: Mapping[str, Value], buffers: Buffers, pristine: Buffers) -> _Set:
    """Decide how to put the plan on the stream: interpreted live, replayed, or as a graph."""
    values = integers(loaded.task, inputs)
    recorder = Recorder(loaded.backend)
    try:
        loaded.interpreter(recorder, buffers, inputs, careful=False).run(loaded.plan.steps, values)
    except NotRecordable:
        buffers.unswap()
        live = loaded.interpreter(loaded.backend, buffers, inputs, careful=False)
        return _Set(buffers, pristine, lambda: live.run(loaded.plan.steps, values), "live", None)
    swapped = buffers.names()
    graph = _graph(loaded.backend, recorder) if GRAPH_FROM <= len(recorder) <= GRAPH_LIMIT else None
    start = graph.launch if graph else recorder.replay

    def issue() -> None:
        start()
        buffers.rename(swapped)

    return _Set(buffers, pristine, issue, "graph" if graph else "replay", graph)


def _graph(backend: Backend, recorder: Recorder) -> Graph:
    recorder.replay()  # code loads on first use, which a capture does not allow
    backend.synchronize()
    return Graph(backend.stream, recorder.replay)


def _same(expected: Values, observed: Values) -> bool:
    return all(np.asarray(expected[name]).tobytes() == np.asarray(observed[name]).tobytes() for name in expected)
