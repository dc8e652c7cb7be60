"""Every schedule that is offered for the corpus can be asked for by its text, and gives the same kernels."""

from __future__ import annotations

import pytest
from corpus import Case, case, cases

from cudaperf.engine.analyse import analyse, offered
from cudaperf.engine.loops.nest import nests
from cudaperf.engine.reason import Refusal
from cudaperf.engine.result import OptimizeRequest, Status
from cudaperf.engine.schedule import Schedule, parse

SAMPLE = {"saxpy::saxpy", "jacobi2d::jacobi_sweep", "gemm_ijk::dgemm_small", "prefix_sum::running_total", "gemv::gemv"}


@pytest.mark.parametrize(
    "one", [pytest.param(c, id=c.id, marks=() if c.id in SAMPLE else (pytest.mark.slow,)) for c in cases() if c.may_verify]
)
def test_schedules_parse_back(one: Case) -> None:
    try:
        analysed = analyse(one.path, one.function, one.arguments)
        made = offered(analysed)
    except Refusal:
        pytest.skip("refused, as one of its expectations allows")
    names = [nest.name for nest in nests(analysed.program.steps)]
    first = {name: made.offers[name][0] for name in names}
    for name in names:
        for offer in made.offers[name]:
            text = str(Schedule(tuple((offer if n == name else first[n]).schedule for n in names)))
            assert str(parse(text)) == text
            again = offered(analysed, parse(text))
            assert [o.kernels for o in again.offers[name]] == [offer.kernels], text


@pytest.mark.parametrize(
    ("function", "schedule"),
    [
        pytest.param("jacobi2d::jacobi_sweep", "stencil tile(y:16,x:64) block(256)"),
        pytest.param("heat3d::diffuse", "stencil tile(y:8,x:64) block(256) march(z:32)", marks=pytest.mark.slow),
        pytest.param(
            "gemm_ijk::dgemm_small", "contraction tile(i:16,j:16,k:16) register(i:1,j:1) stages(2)", marks=pytest.mark.slow
        ),
        pytest.param("gemv::gemv", "rows(i) team(block) block(128)", marks=pytest.mark.slow),
    ],
)
def test_a_named_schedule_is_the_one_that_is_verified(function: str, schedule: str) -> None:
    from cudaperf.engine.optimize import optimize

    one = case(function)
    request = OptimizeRequest(
        one.path,
        one.function,
        arguments=one.arguments,
        executor="emulated",
        schedule=schedule,
        measure=False,
        max_seconds=300.0,
    )
    result = optimize(request)
    assert result.status is Status.VERIFIED, result.reason
    assert [c.schedule for c in result.candidates] == [schedule]


def test_a_schedule_that_does_not_fit_is_refused_with_what_would() -> None:
    one = case("saxpy::saxpy")
    with pytest.raises(Refusal, match="not one of the parallel loops"):
        offered(analyse(one.path, one.function, one.arguments), parse("map x(q) block(x:256)"))
