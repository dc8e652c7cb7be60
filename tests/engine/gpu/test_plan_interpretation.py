"""Launch plans on a fake device: what each node does, and every verdict that a wrong plan or kernel gets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from fake_device import FakeDevice, Launched

from cudaperf.engine.executors.gpu.loaded import Loaded, load
from cudaperf.engine.executors.gpu.memory import OTHER_POISON
from cudaperf.engine.plan import (
    Copy,
    Fill,
    IntArg,
    Launch,
    LaunchPlan,
    LibraryCall,
    PointerArg,
    Repeat,
    RepeatWhile,
    ScalarArg,
    Step,
    Swap,
    Temporary,
    When,
)
from cudaperf.engine.task import ArrayParameter, Original, ScalarParameter, ScalarType, Task
from cudaperf.engine.verdict import Hazard, LaunchFailed, OutOfMemory, Rejected, TimedOut, Verdict
from cudaperf.engine.verify.data import Value

INT = ScalarType(name="int", number="int", bits=32)
DOUBLE = ScalarType(name="double", number="float", bits=64)


def task(returns: ScalarType | None = None, requirements: tuple[str, ...] = ()) -> Task:
    """`f(int n, double s, const double *x, double *y)` with n elements each."""
    return Task(
        name="f",
        original=Original(path="f.c", function="f", source="", preprocessed=""),
        parameters=(
            ScalarParameter(name="n", type=INT, role="size", declaration="int n"),
            ScalarParameter(name="s", type=DOUBLE, role="value", declaration="double s"),
            ArrayParameter(name="x", type=DOUBLE, extents=("n",), access="in", declaration="const double *x", const=True),
            ArrayParameter(name="y", type=DOUBLE, extents=("n",), access="inout", declaration="double *y"),
        ),
        returns=returns,
        requirements=requirements,
    )


def axpy(at: Launched) -> None:
    n, s, x, y = at.unpack("=i4xdQQ")
    target = at.view(int(y), int(n), "f8")
    target += s * at.view(int(x), int(n), "f8")


def increment(at: Launched) -> None:
    address, by = at.unpack("=Qi")
    at.view(int(address), 1, "f8")[0] += by


def countdown(at: Launched) -> None:
    (flag,) = at.unpack("=Q")
    at.view(int(flag), 1, "i4")[0] -= 1


def stray(at: Launched) -> None:
    n, y = at.unpack("=i4xQ")
    at.view(int(y), int(n) + 1, "f8")[int(n)] += 0.75


def fault(at: Launched) -> None:
    at.view(64, 1, "f8")[0] = 0.0


def spoil(at: Launched) -> None:
    (x,) = at.unpack("=Q")
    at.view(int(x), 1, "f8")[0] = 7.0


KERNELS: dict[str, Callable[[Launched], None]] = {
    "axpy": axpy, "increment": increment, "countdown": countdown, "stray": stray, "fault": fault, "spoil": spoil,
}  # fmt: skip
AXPY = Launch(
    kernel="axpy",
    grid=("ceildiv(n, 128)", "1", "1"),
    block=("128", "1", "1"),
    args=(ScalarArg(name="n"), ScalarArg(name="s"), PointerArg(buffer="x"), PointerArg(buffer="y")),
)
INCREMENT = Launch(kernel="increment", args=(PointerArg(buffer="y", offset="k"), IntArg(value="k + 1")))


def run(
    steps: tuple[Step, ...],
    n: int = 4,
    temporaries: tuple[Temporary, ...] = (),
    device: FakeDevice | None = None,
    of: Task | None = None,
    result: str | None = None,
) -> dict[str, Value] | Verdict | None:
    device = device or FakeDevice(KERNELS)
    plan = LaunchPlan(temporaries=temporaries, steps=steps, result=result)
    loaded = load(of or task(), plan, device, b"cubin")
    if not isinstance(loaded, Loaded):
        return loaded
    inputs: dict[str, Value] = {"n": n, "s": 2.0, "x": np.arange(float(n)), "y": np.ones(n)}
    outcome = loaded.run(inputs)
    assert not device.memory, "device memory was not given back"
    return outcome


def y_after(*steps: Step, n: int = 4, temporaries: tuple[Temporary, ...] = ()) -> list[float]:
    outcome = run(steps, n, temporaries)
    assert isinstance(outcome, dict), outcome
    return list(np.asarray(outcome["y"]))


def test_launch_passes_scalars_and_pointers_at_their_alignment() -> None:
    assert y_after(AXPY) == [1.0, 3.0, 5.0, 7.0]


def test_empty_grid_is_skipped() -> None:
    device = FakeDevice(KERNELS)
    assert isinstance(run((AXPY,), n=0, device=device), dict)
    assert device.log == []


@pytest.mark.parametrize(
    ("begin", "end", "step", "expected"),
    [("0", "n", 1, [2.0, 3.0, 4.0, 5.0]), ("n - 1", "-1", -2, [1.0, 3.0, 1.0, 5.0]), ("3", "1", 1, [1.0] * 4)],
)
def test_repeat_runs_its_range(begin: str, end: str, step: int, expected: list[float]) -> None:
    assert y_after(Repeat(var="k", begin=begin, end=end, step=step, body=(INCREMENT,))) == expected


@pytest.mark.parametrize(("condition", "expected"), [("n > 3", 3.0), ("n > 4", 1.0)])
def test_when(condition: str, expected: float) -> None:
    assert y_after(When(condition=condition, body=(AXPY,)))[1] == expected


def test_fill_copy_and_swap() -> None:
    spare = Temporary(name="t", type="double", count="n")
    copy = Copy(target="t", source="x", count="n - 1", source_offset="1")
    zero_last = Fill(buffer="t", count="1", offset="n - 1")
    swap, back = Swap(first="y", second="t"), Copy(target="t", source="y", count="n")
    assert y_after(copy, zero_last, swap, back, temporaries=(spare,)) == [1.0, 2.0, 3.0, 0.0]


@pytest.mark.parametrize(("passes", "expected"), [(0, 1.0), (1, 1.0), (2, 3.0), (3, 3.0)])
def test_the_callers_arrays_stay_his_whatever_names_were_swapped(passes: int, expected: float) -> None:
    """Each pass swaps and adds to what `y` names: every second one works on the caller's array, the others on the spare."""
    spare = Temporary(name="t", type="double", count="n")
    body = (Swap(first="y", second="t"), INCREMENT)
    assert y_after(Repeat(var="k", begin="0", end=f"{passes}", body=body), temporaries=(spare,))[1] == expected


def test_temporaries_start_poisoned() -> None:
    spare = Temporary(name="t", type="double", count="n")
    assert np.isnan(y_after(Copy(target="y", source="t", count="n"), temporaries=(spare,))).all()


def test_a_rerun_finds_other_bytes_in_temporaries() -> None:
    plan = LaunchPlan(
        temporaries=(Temporary(name="t", type="double", count="n"),), steps=(Copy(target="y", source="t", count="n"),)
    )
    loaded = load(task(), plan, FakeDevice(KERNELS), b"cubin")
    assert isinstance(loaded, Loaded)
    outcome = loaded.run({"n": 2, "s": 0.0, "x": np.zeros(2), "y": np.zeros(2)}, OTHER_POISON)
    assert isinstance(outcome, dict)
    assert np.asarray(outcome["y"]).tobytes() == bytes([OTHER_POISON]) * 16


def _loop(limit: str, first: bool, *body: Step) -> RepeatWhile:
    add = Launch(kernel="increment", args=(PointerArg(buffer="y"), IntArg(value="1")))
    return RepeatWhile(flag="flag", first=first, limit=limit, body=(add, *body))


FLAG = Temporary(name="flag", type="int", count="1")
CLEAR = Fill(buffer="flag", count="1")
DOWN = Launch(kernel="countdown", args=(PointerArg(buffer="flag"),))


@pytest.mark.parametrize(("first", "expected"), [(True, 1.0), (False, 2.0)])
def test_repeat_while_tests_before_the_first_pass_only_when_told(first: bool, expected: float) -> None:
    assert y_after(CLEAR, _loop("1", first, CLEAR), temporaries=(FLAG,))[0] == expected


def test_repeat_while_goes_on_until_the_flag_is_zero() -> None:
    start = Fill(buffer="flag", count="1", byte=1)
    limit = 0x01010101
    loop = _loop(str(limit), True, Fill(buffer="flag", count="1", byte=0))
    assert y_after(start, loop, temporaries=(FLAG,))[0] == 2.0


def test_repeat_while_that_reaches_its_limit_timed_out() -> None:
    assert isinstance(run((CLEAR, _loop("5", False, DOWN)), temporaries=(FLAG,)), TimedOut)


def test_result_buffer_is_the_return_value() -> None:
    outcome = run((AXPY,), of=task(returns=DOUBLE), result="y")
    assert isinstance(outcome, dict)
    assert outcome["return"] == 1.0


def test_requirement_that_does_not_hold_is_a_fall_back() -> None:
    assert run((AXPY,), of=task(requirements=("n >= 5",))) is None
    assert isinstance(run((AXPY,), of=task(requirements=("n >= 4",))), dict)


def test_write_outside_a_buffer_breaks_its_canary() -> None:
    step = Launch(kernel="stray", args=(ScalarArg(name="n"), PointerArg(buffer="y")))
    outcome = run((step,))
    assert isinstance(outcome, Hazard)
    assert outcome.hazard == "memory"
    assert outcome.message == "y: written 0 bytes past its end"


def test_changed_input_is_the_catalogues_row_11() -> None:
    outcome = run((Launch(kernel="spoil", args=(PointerArg(buffer="x"),)),))
    assert isinstance(outcome, Rejected)
    assert outcome.row == 11


def test_illegal_access_names_its_kernel() -> None:
    outcome = run((AXPY, Launch(kernel="fault")))
    assert isinstance(outcome, Hazard)
    assert "kernel fault" in outcome.message


def test_out_of_memory() -> None:
    huge = Temporary(name="t", type="double", count="n * 1000000")
    assert isinstance(run((AXPY,), temporaries=(huge,)), OutOfMemory)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (AXPY.model_copy(update={"block": ("2048", "1", "1")}), "beyond CUDA's limits"),
        (AXPY.model_copy(update={"block": ("32", "64", "1")}), "beyond CUDA's limits"),
        (AXPY.model_copy(update={"block": ("0", "1", "1")}), "beyond CUDA's limits"),
        (AXPY.model_copy(update={"grid": ("1", "70000", "1")}), "beyond CUDA's limit"),
        (AXPY.model_copy(update={"shared": "228 * 1024"}), "shared memory"),
        (AXPY.model_copy(update={"grid": ("m", "1", "1")}), "unknown name 'm'"),
        (AXPY.model_copy(update={"grid": ("1 // (n - 4)", "1", "1")}), "division by zero"),
        (Launch(kernel="axpy", args=(PointerArg(buffer="x", offset="n + 1"),)), "outside x"),
        (Launch(kernel="axpy", args=(PointerArg(buffer="z"),)), "no buffer named 'z'"),
        (Launch(kernel="axpy", args=(IntArg(value="n * 1000000000"),)), "as int"),
        (Launch(kernel="axpy", args=(IntArg(value="0 - 1", type="unsigned int"),)), "as unsigned int"),
        (Launch(kernel="axpy", args=(IntArg(value="1", type="half"),)), "not an integer type"),
        (Launch(kernel="axpy", args=(ScalarArg(name="q"),)), "no scalar parameter"),
        (Launch(kernel="nowhere"), "no such kernel"),
        (Fill(buffer="y", count="n + 1"), "outside y"),
        (Copy(target="y", source="x", count="2", source_offset="0 - 1"), "outside x"),
        (Repeat(var="k", begin="0", end="n", step=0, body=()), "step 0"),
        (LibraryCall(name="aten.mm", inputs=(), outputs=()), "aten.mm"),
    ],
)
def test_wrong_plan_is_a_launch_failure_in_words(step: Step, words: str) -> None:
    outcome = run((step,))
    assert isinstance(outcome, LaunchFailed), outcome
    assert words in outcome.message
