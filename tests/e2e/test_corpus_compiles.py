"""Device code of every strategy for every function of tests/data/c compiles for each architecture; nothing runs.

The sampled suite compiles what the cheapest offers make of a handful of functions; the rest is marked `slow`.
"""

from __future__ import annotations

import pytest
from corpus import Case, cases
from test_corpus import SAMPLE

from cudaperf.engine.analyse import analyse, offered
from cudaperf.engine.candidate import Candidate
from cudaperf.engine.reason import Refusal
from cudaperf.engine.strategies.compose import candidates
from cudaperf.engine.toolchain.compile import compile_cubin, device_compiler, device_text
from cudaperf.engine.toolchain.devices import architecture
from cudaperf.engine.verdict import CompileFailed

CAPABILITIES = (75, 80, 90)
COMPILED = sorted(c.id for c in cases() if c.may_verify and c.id in SAMPLE | {"wave2d::wave_step", "tables::low_pass"})

pytestmark = pytest.mark.skipif(device_compiler() is None, reason="no CUDA compiler")


def convertible() -> list[object]:
    """Functions that may pass the analysis, those refused by the original's behaviour included."""
    return [pytest.param(c, id=c.id, marks=pytest.mark.slow) for c in cases()]


def composed(case: Case, capability: int, deepest: int | None = None) -> list[Candidate]:
    """Candidates in which every offer stands at least once; none for a function that is refused."""
    try:
        analysed = analyse(case.path, case.function, case.arguments)
        made = offered(analysed, None, capability)
    except Refusal:
        return []
    most = max((len(found) for found in made.offers.values()), default=1)
    return candidates(analysed.program, made, deepest or max(most, 1))


def check(candidate: Candidate, capability: int) -> None:
    found = compile_cubin(device_text(candidate), architecture(capability), candidate.compile_options)
    assert not isinstance(found, CompileFailed), f"{candidate.schedule}\n{found.log}"


@pytest.mark.parametrize("name", COMPILED)
def test_the_first_candidate_compiles(name: str) -> None:
    case = next(c for c in cases() if c.id == name)
    (first,) = composed(case, CAPABILITIES[0], deepest=1)
    check(first, CAPABILITIES[0])


@pytest.mark.parametrize("case", convertible())
def test_every_offer_compiles_everywhere(case: Case) -> None:
    for capability in CAPABILITIES:
        for candidate in composed(case, capability):
            check(candidate, capability)
