"""Names of kernels from mangled ones, as nvcc 13.0 makes them."""

from __future__ import annotations

import pytest

from cudaperf.engine.toolchain.mangled import Name, parse


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("scale", Name(None, "scale")),
        ("_Z5scalePfi", Name((), "scale")),
        ("_ZL5scalePf", Name((), "scale")),
        ("_ZN2ns1tILi16ELb1EfEEvPT1_i", Name(("ns",), "t", (16, 1))),
        ("_ZN2ns1vINS_1SEJLi1ELin2EEEEvPT_", Name(("ns",), "v", (1, -2))),
        ("_ZN2ns2enILNS_1EE1EEEvPi", Name(("ns",), "en", (1,))),
        ("_ZN2ns29_GLOBAL__N__55a540f0_4_a_cu_c4anonEPf", Name(("ns",), "anon")),
        ("_ZN1a1b1c1kIP6float4PA12_KyLi5EJMNS1_1WIiEEiEEEvT_T0_DpT2_", Name(("a", "b", "c"), "k", (5,))),
        ("_ZN1a1b1c1kIDnfLi6EJEEEvT_T0_DpT2_", Name(("a", "b", "c"), "k", (6,))),
        ("_ZN1a1b1c4valsILc120ELj7ELb1EEEvv", Name(("a", "b", "c"), "vals", (120, 7, 1))),
        (
            "_ZN1a1b1c1kINS1_1WIiE1IENS3_INS3_IfEEE1QILi8EEELin3EJEEEvT_T0_DpT2_",
            Name(("a", "b", "c"), "k", (-3,)),
        ),
        (
            "_ZN1a1b1c1kI6__half13__nv_bfloat16Li10EJifSt4pairIiPFfidEEEEEvT_T0_DpT2_",
            Name(("a", "b", "c"), "k", (10,)),
        ),
        ("_ZN1a3lamIZ1hvEUliE_EEvT_", Name(("a",), "lam")),
    ],
)
def test_scope_name_and_integers(symbol: str, name: Name) -> None:
    assert parse(symbol) == name


@pytest.mark.parametrize("symbol", ["_ZN2ns2fnIXadL_Z4add1iEEEEvPi", "_Z1kIXsrT_E1xEEvv", "_Z1kI@EvT_", "_Z1kILi"])
def test_arguments_that_are_no_integers_leave_the_name(symbol: str) -> None:
    found = parse(symbol)
    assert found is not None
    assert (found.name[0] in "fk", found.literals) == (True, None)


@pytest.mark.parametrize("symbol", ["_Z", "_ZN", "_Z9k", "_ZTV1A", "_ZN2nsE@"])
def test_what_is_no_name_of_a_kernel_is_none_or_a_name(symbol: str) -> None:
    found = parse(symbol)
    assert found is None or found.name == "ns"
