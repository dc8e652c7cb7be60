"""The worker's protocol over byte streams, with the fake device behind it, and what the client makes of workers that fail."""

from __future__ import annotations

import io
import struct
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_device import FakeDevice
from test_plan_interpretation import AXPY, KERNELS, task

from cudaperf.engine.executors.gpu import client, framing
from cudaperf.engine.executors.gpu.framing import Message
from cudaperf.engine.executors.gpu.worker import Worker
from cudaperf.engine.plan import Launch, LaunchPlan, Step
from cudaperf.engine.verify import data


def test_frames_come_back_as_they_were_written() -> None:
    stream = io.BytesIO()
    framing.write(stream, "run", {"configuration": 3}, (b"", b"\0" * 70_000))
    framing.write(stream, "stop")
    stream.seek(0)
    assert framing.read(stream) == Message("run", {"configuration": 3}, (b"", b"\0" * 70_000))
    assert framing.read(stream) == Message("stop")
    with pytest.raises(framing.Closed):
        framing.read(stream)


NOT_FRAMES = (
    b"printf said hi\n",
    b"CPF1" + struct.pack(">I", 2) + b"[]",
    b"CPF1" + struct.pack(">I", 3) + b"{x}",
    b"CPF1\xff\xff\xff\xff",
)


@pytest.mark.parametrize("raw", NOT_FRAMES)
def test_bytes_that_are_no_frame_are_said_to_be_none(raw: bytes) -> None:
    with pytest.raises(framing.FramingError):
        framing.read(io.BytesIO(raw))


def input_file(folder: Path, n: int = 4) -> bytes:
    path = folder / "in"
    data.write_inputs(task(), path, {"n": n, "s": 2.0, "x": np.arange(float(n)), "y": np.ones(n)})
    return path.read_bytes()


def converse(steps: tuple[Step, ...], *requests: tuple[str, dict[str, Any], tuple[bytes, ...]]) -> list[Message]:
    """What the worker answers to a load of the plan and the requests."""
    asked, answers = io.BytesIO(), io.BytesIO()
    load = {"task": task().model_dump(mode="json"), "plan": LaunchPlan(steps=steps).model_dump(mode="json")}
    for kind, fields, parts in (("load", load, (b"cubin",)), *requests):
        framing.write(asked, kind, fields, parts)
    asked.seek(0)
    Worker(FakeDevice(KERNELS), asked, answers).serve()
    answers.seek(0)
    return list(_all(answers))


def _all(stream: io.BytesIO) -> list[Message]:
    found = []
    while stream.tell() < len(stream.getvalue()):
        found.append(framing.read(stream))
    return found


def test_run_answers_with_the_harness_output_format(tmp_path: Path) -> None:
    hello, loaded, outputs = converse((AXPY,), ("run", {}, (input_file(tmp_path),)))
    assert (hello.kind, hello.fields["version"], loaded.kind) == ("hello", framing.VERSION, "loaded")
    (tmp_path / "out").write_bytes(outputs.attachments[0])
    result = data.read_outputs(task(), tmp_path / "out")
    assert result is not None
    assert list(np.asarray(result["y"])) == [1.0, 3.0, 5.0, 7.0]


def test_a_fault_ends_the_worker_a_refused_launch_does_not(tmp_path: Path) -> None:
    run = ("run", {}, (input_file(tmp_path),))
    assert [m.kind for m in converse((Launch(kernel="fault"),), run, run)] == ["hello", "loaded", "verdict"]
    refused = AXPY.model_copy(update={"block": ("2000", "1", "1")})
    answers = converse((refused,), run, run)
    assert [m.kind for m in answers] == ["hello", "loaded", "verdict", "verdict"]
    assert answers[-1].fields["verdict"]["kind"] == "launch_failed"


def test_code_that_does_not_load_and_unknown_requests_are_verdicts() -> None:
    answers = converse((Launch(kernel="absent"),), ("dance", {}, ()))
    assert [m.fields["verdict"]["kind"] for m in answers if m.kind == "verdict"] == ["launch_failed", "infrastructure"]


def test_time_samples_the_plan_and_compares_a_timed_run(tmp_path: Path) -> None:
    *_, timed = converse((AXPY,), ("time", {"seconds": 0.0, "seed": 1}, (input_file(tmp_path),)))
    assert timed.kind == "timed"
    assert len(timed.fields["samples"]) == 10
    assert timed.fields["samples"] == pytest.approx([1e-6] * 10)
    assert timed.fields["mode"] == "replay"
    assert timed.fields["same_outputs"] is True


def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> client.WorkerClient:
    """A client whose worker is this Python text, after a proper hello."""
    hello = "framing.write(sys.stdout.buffer, 'hello', {'version': framing.VERSION, 'facts': {'name': 'script'}})"
    text = f"import sys, time\nfrom cudaperf.engine.executors.gpu import framing\n{hello}\n{body}\n"
    (tmp_path / "worker.py").write_text(text)
    monkeypatch.setattr(client, "WORKER", (str(tmp_path / "worker.py"),))
    return client.WorkerClient()


def test_a_hanging_worker_is_killed_at_the_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = scripted(tmp_path, monkeypatch, "time.sleep(600)")
    with pytest.raises(client.WorkerTimedOut):
        worker.ask(time.monotonic() + 0.2, "run", {})
    assert not worker.alive
    worker.close()


def test_a_dying_worker_is_lost_with_its_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = scripted(tmp_path, monkeypatch, "framing.read(sys.stdin.buffer); sys.exit('no more')")
    with pytest.raises(client.WorkerLost, match=r"status 1.*no more"):
        worker.ask(time.monotonic() + 60, "run", {})
    worker.close()


def test_garbage_from_a_worker_is_a_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = scripted(tmp_path, monkeypatch, "print('hello world'); sys.stdout.flush(); framing.read(sys.stdin.buffer)")
    with pytest.raises(client.WorkerLost, match="something else writes"):
        worker.ask(time.monotonic() + 60, "run", {})
    worker.close()


def test_a_machine_without_a_gpu_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(client.WorkerMissing, match=r"GPU|driver|device"):
        client.WorkerClient(python=sys.executable)
