"""Input configurations: portable bytes, sizes within the conditions, values within the rules."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verify_cases import array, number, size, task

from cudaperf.engine.evidence import ConfigurationSpec
from cudaperf.engine.task import ArrayParameter, IndexValues, OffsetValues, PermutationValues, Task
from cudaperf.engine.verify.generate import Limits, configurations, race_indices, timing_configuration
from cudaperf.engine.verify.values import inputs, requirements_hold

MASK = 2**64 - 1
DISTRIBUTIONS = ["normal", "x100", "x0.01", "negated", "structured", "ties", "wide", "positive", "unit", "calm"]


def product() -> Task:
    arrays = (array("a", "float", "n", "lda"), array("b", "float", "k", "m"), array("c", "float", "n", "m", access="inout"))
    parameters = (size("n"), size("m"), size("k"), size("lda"), number("alpha", "float"), number("mode", "int"), *arrays)
    return task(
        "product", "", parameters, work="n*m*k", requirements=("lda >= k", "m < 4000"), user_assumptions=("n % 4 == 0",)
    )


def rows() -> Task:
    arrays = (
        array("start", "int", "n + 1", values=OffsetValues(total="stored")),
        array("col", "int", "at(start, n)", free_extent="stored", values=IndexValues(high="width")),
        array("val", "double", "at(start, n)", free_extent="stored"),
        array("x", "double", "top(col, at(start, n))", free_extent="width"),
        array("order", "int", "n", values=PermutationValues()),
        array("y", "double", "n", access="out"),
    )
    return task("rows", "", (size("n"), *arrays), work="at(start, n)")


def fixed() -> Task:
    return task("fixed", "", (array("x", "unsigned char", "16", access="inout"),))


TASKS = {"product": product, "rows": rows, "fixed": fixed}


def mix(z: int) -> int:
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def normal(seed: int, name: str, j: int) -> float:
    """The specification once more, in plain integers and doubles."""
    hashed = 0xCBF29CE484222325
    for byte in name.encode():
        hashed = ((hashed ^ byte) * 0x100000001B3) & MASK
    stream = mix(hashed ^ mix((seed + 0x9E3779B97F4A7C15) & MASK))
    words = [mix((stream + (4 * j + lane + 1) * 0x9E3779B97F4A7C15) & MASK) for lane in range(4)]
    return (float(sum(w >> 11 for w in words)) * 2.0**-53 - 2.0) * 1.7320508075688772


@given(st.integers(0, 2**40), st.text("abcxyz_", min_size=1, max_size=5))
def test_the_specification_alone_gives_the_same_values(seed: int, name: str) -> None:
    made = task("t", "", (array(name, "double", "7"),))
    values = inputs(made, ConfigurationSpec(sizes={}, distribution="normal", seed=seed))[name]
    assert [struct.pack("<d", normal(seed, name, j)) for j in range(7)] == [struct.pack("<d", v) for v in values]  # type: ignore[union-attr]


def test_the_bytes_stay_what_they_were() -> None:
    made = task("t", "", (array("x", "float", "3"), array("k", "int", "3"), number("a", "double")))
    got = inputs(made, ConfigurationSpec(sizes={}, distribution="normal", seed=1))
    again = inputs(made, ConfigurationSpec(sizes={}, distribution="normal", seed=1))
    other = inputs(made, ConfigurationSpec(sizes={}, distribution="normal", seed=2))
    assert all(np.array_equal(got[name], again[name]) for name in got)
    assert all(not np.array_equal(got[name], other[name]) for name in got)


@pytest.mark.parametrize("which", TASKS)
@given(seed=st.integers(0, 10**9))
def test_sizes_meet_the_conditions(which: str, seed: int) -> None:
    made, limits = TASKS[which](), Limits()
    specs = configurations(made, seed)
    assert len(specs) >= 8
    held = []
    for spec in specs:
        values = inputs(made, spec)
        held.append(requirements_hold(made, spec, values))
        elements = sum(np.asarray(values[p.name]).size for p in made.arrays)
        assert elements <= limits.elements
        if which == "product":
            assert spec.sizes["n"] % 4 == 0
            assert spec.sizes["n"] * spec.sizes["m"] * spec.sizes["k"] <= limits.work
    assert sum(held) >= 7
    assert any(spec.sizes.get("n") == 0 for spec in specs) or which == "fixed"
    assert not all(held) or which != "product"
    assert all(held[at] for at in race_indices(made, specs))


@pytest.mark.parametrize("which", TASKS)
def test_the_same_seed_gives_the_same_configurations(which: str) -> None:
    assert configurations(TASKS[which](), 77) == configurations(TASKS[which](), 77)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@given(n=st.integers(1, 40), stored=st.integers(0, 60), width=st.integers(1, 50), seed=st.integers(0, 10**6))
def test_values_obey_their_rules(distribution: str, n: int, stored: int, width: int, seed: int) -> None:
    spec = ConfigurationSpec(sizes={"n": n, "stored": stored, "width": width}, distribution=distribution, seed=seed)
    values = {name: np.asarray(value) for name, value in inputs(rows(), spec).items()}
    assert values["start"][0] == 0
    assert values["start"][-1] == stored
    assert (np.diff(values["start"]) >= 0).all()
    assert values["col"].size == stored
    assert ((values["col"] >= 0) & (values["col"] < width)).all()
    assert values["x"].size == width
    assert sorted(values["order"]) == list(range(n))
    assert np.isfinite(values["val"]).all()


@pytest.mark.parametrize("distribution", ["positive", "positive x100", "positive x0.01", "unit", "calm"])
def test_positive_distributions_are_positive(distribution: str) -> None:
    made = task("t", "", (array("x", "float", "500"), array("k", "int", "500"), number("a", "double"), number("i", "int")))
    values = inputs(made, ConfigurationSpec(sizes={}, distribution=distribution, seed=3))
    assert (np.asarray(values["x"]) > 0).all()
    assert all(np.asarray(values[name]).min() >= 0 for name in ("k", "a", "i"))


def test_a_users_size_is_used_where_it_fits() -> None:
    made = task("t", "", (size("n"), array("x", "float", "n")), work="n")
    assert configurations(made, 1, {"n": 4321})[-1].sizes == {"n": 4321}
    timed = timing_configuration(made, 1, {"n": 1_000_000})
    assert timed is not None
    assert timed.sizes == {"n": 1_000_000}


def test_a_scalar_that_a_condition_names_is_chosen_with_the_sizes() -> None:
    made = task(
        "t", "", (size("n"), number("k", "int"), array("x", "float", "n")), work="n", user_assumptions=("k < n", "k >= 0")
    )
    specs = configurations(made, 9)
    assert len(specs) >= 8
    assert all(0 <= spec.sizes["k"] < spec.sizes["n"] for spec in specs)


COUPLED = {
    "k >= n": ("k >= n",),
    "k < 3": ("n >= 4 and k < 3 and k >= 0",),
    "k == n": ("k == n",),
    "k <= n // 2": ("k <= n // 2", "n % 4 == 0", "k >= 1"),
    "n >= 10000": ("n >= 10000 and k > n",),
    "multiples": ("n % 32 == 0 and k % 8 == 0", "k >= n + 8"),
    "either": ("n >= 2000 or k >= 2000",),
}


def coupled(assumptions: tuple[str, ...]) -> Task:
    """As `x[i] = y[i + k]` is described: the arrays are empty where the assumptions do not hold."""
    holds = " and ".join(f"({text})" for text in assumptions)
    arrays = (array("x", "float", f"n if {holds} else 0", access="inout"), array("y", "float", f"n + k if {holds} else 0"))
    parameters = (size("n"), size("k"), *arrays)
    return task("coupled", "", parameters, work="n", requirements=("n <= 1000000",), user_assumptions=assumptions)


@pytest.mark.parametrize("which", COUPLED)
@settings(max_examples=4)
@given(seed=st.integers(0, 10**9))
def test_sizes_that_assumptions_couple_are_large_and_balanced(which: str, seed: int) -> None:
    made = coupled(COUPLED[which])
    specs = configurations(made, seed)
    assert len(specs) >= 8
    for spec in specs:
        n, k = spec.sizes["n"], spec.sizes["k"]
        assert {"k >= n": k >= n, "k < 3": n >= 4 and 0 <= k < 3, "k == n": k == n}.get(which, True)
        assert sum(np.asarray(inputs(made, spec)[p.name]).size for p in made.arrays) <= Limits().elements
    assert max(spec.sizes["n"] for spec in specs) >= 2000
    timed = timing_configuration(made, seed, None, Limits(work=1 << 26, elements=1 << 20))
    assert timed is not None
    assert timed.sizes["n"] >= 100_000


@given(n=st.integers(1, 1000), m=st.integers(1, 500))
def test_sizes_that_assumptions_fix_are_those(n: int, m: int) -> None:
    parameters = (size("n"), size("m"), array("x", "float", "n", "m", access="inout"))
    made = task("t", "", parameters, work="n * m", user_assumptions=(f"n == {n} and m == {m}",))
    specs = configurations(made, 5)
    assert len(specs) >= 8
    assert all(spec.sizes == {"n": n, "m": m} for spec in specs)


def test_out_of_range_types_are_never_drawn() -> None:
    x = array("x", "unsigned char", "1000")
    assert isinstance(x, ArrayParameter)
    for distribution in DISTRIBUTIONS:
        values = inputs(task("t", "", (x,)), ConfigurationSpec(sizes={}, distribution=distribution, seed=3))
        assert np.asarray(values["x"]).dtype == np.uint8


def test_a_condition_is_not_met_by_having_nothing_to_do() -> None:
    """`width <= 0` would do, but then no loop runs."""
    frames = "max(0, tdiv(n - width, step) + 1)"
    x = array("x", "float", f"({frames} - 1) * step + width if {frames} > 0 and width > 0 else 0")
    parameters = (size("n"), size("width"), size("step"), x, array("y", "float", frames))
    requirements = ("step >= width or width <= 0",)
    made = task("power", "", parameters, work=f"{frames} * max(0, width)", requirements=requirements)
    small = [spec.sizes for spec in configurations(made, 1) if 3 <= spec.sizes["n"] < 1000]
    assert all(sizes["width"] > 0 for sizes in small)
    largest = timing_configuration(made, 1)
    assert largest is not None
    assert min(largest.sizes["n"], largest.sizes["width"]) > 0


TESTED = {
    "a flag": ("n if n >= 1 and flag != 0 else 0", [0]),
    "a mode": ("n if n >= 1 and flag == 2 else 0", [2]),
    "all but one": ("flag if flag >= 1 and n == flag + 1 else n", [-1]),
}


@pytest.mark.parametrize("which", TESTED)
def test_what_is_only_tested_is_on_and_off_while_loops_run(which: str) -> None:
    """An array that a test leaves without (some of) its elements has configurations of both kinds, of more than a few."""
    text, (value,) = TESTED[which]
    parameters = (size("n"), number("flag", "int"), array("x", "float", "n"), array("y", "float", text, access="inout"))
    made = task("t", "", parameters, work="max(0, n)")
    large = [(spec, np.asarray(inputs(made, spec)["y"]).size) for spec in configurations(made, 4) if spec.sizes["n"] >= 16]
    assert any(spec.sizes["flag"] == (value if value >= 0 else spec.sizes["n"] + value) for spec, _ in large)
    assert {count < spec.sizes["n"] for spec, count in large} == {False, True}
