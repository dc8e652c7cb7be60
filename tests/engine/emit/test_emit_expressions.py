"""Size expressions printed as C++ have the values that `size.evaluate` gives, at the ends of every type's range."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudaperf.engine import size
from cudaperf.engine.emit import expressions
from cudaperf.engine.emit.expressions import Scope, Symbol
from cudaperf.engine.emit.intervals import LARGEST, Interval
from cudaperf.engine.emit.simplify import simplified
from cudaperf.engine.emit.support import standard_headers, support
from cudaperf.engine.executors.emulated.build import find_compiler

INT = Interval(-(2**31), 2**31 - 1)
SCOPE = Scope(
    {
        "n": Symbol("n", INT, 32),
        "m": Symbol("m", INT, 32),
        "u": Symbol("u", Interval(0, 2**32 - 1), 32, signed=False),
        "z": Symbol("z", Interval(0, LARGEST), 64, signed=False),
        "l": Symbol("l", Interval(-LARGEST, LARGEST), 64),
    },
    {},
)
TEXTS = (
    "n * m + 1",
    "n - m * u",
    "n + m - (l - z)",
    "2 * n - 3 * (m + u)",
    "-n",
    "-(n - 1)",
    "n // 7",
    "n % 7",
    "u // 7 * 7",
    "u % (n * n + 1)",
    "n // -7",
    "ceildiv(n, 7) * 7",
    "ceildiv(n, m)",
    "tdiv(n, 7)",
    "tdiv(l, -3)",
    "min(n, m, u)",
    "max(n, min(u, 5), l)",
    "n < m",
    "u > n",
    "z > n and n > m or u == 3",
    "n if n < m else u - 1",
    "(n if n > 0 else 0) * (m - 1)",
    "n - (m - u)",
    "n * (m // 2)",
    "n // 2 // 3 % 5",
    "l + z + 4",
)
VALUES = (
    {"n": 2**31 - 1, "m": 2**31 - 1, "u": 2**32 - 1, "z": LARGEST, "l": LARGEST},
    {"n": -(2**31), "m": 2**31 - 1, "u": 0, "z": 0, "l": -LARGEST},
    {"n": 17, "m": 5, "u": 23, "z": 1, "l": -4},
    {"n": -17, "m": -5, "u": 3, "z": 9, "l": 4},
)
TYPES = {"n": "int", "m": "int", "u": "unsigned int", "z": "unsigned long", "l": "long"}


def run(body: str, folder: Path) -> list[int]:
    """The numbers that a program with these statements prints."""
    functions = support(body, "x")
    headers = "\n".join(f"#include <{name}>" for name in [*standard_headers(functions), "stdio.h"])
    (folder / "p.cpp").write_text(f"{headers}\n{functions}\nint main() {{\n{body}\n}}\n")
    compiler = find_compiler()
    assert compiler is not None
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run([compiler.path, *flags, "p.cpp", "-o", "p"], cwd=folder, check=True)
    done = subprocess.run([str(folder / "p")], capture_output=True, text=True, check=True)
    return [int(line) for line in done.stdout.split()]


@pytest.mark.skipif(find_compiler() is None, reason="no host C++ compiler")
def test_printed_expressions_have_their_values(tmp_path: Path) -> None:
    blocks = []
    for values in VALUES:
        names = "".join(f"{TYPES[name]} {name} = {value}L; (void){name};" for name, value in values.items())
        prints = "\n".join(f'printf("%lld\\n", (long long)({expressions.value(text, SCOPE)}));' for text in TEXTS)
        blocks.append(f"{{ {names}\n{prints} }}")
    expected = [size.evaluate(text, values) for values in VALUES for text in TEXTS]
    assert run("\n".join(blocks), tmp_path) == expected


@pytest.mark.skipif(find_compiler() is None, reason="no host C++ compiler")
def test_values_beyond_64_bits_saturate(tmp_path: Path) -> None:
    texts = ("l * l", "-l * l", "l * 8 + l * 8", "l * -8 - l * 8", "n % (n - n)", "l // (n - n)", "ceildiv(l, n - n)")
    prints = "\n".join(f'printf("%lld\\n", (long long)({expressions.value(text, SCOPE)}));' for text in texts)
    high, low = 2**63 - 1, -(2**63)
    assert run(f"long l = 1L << 60; int n = 5;\n{prints}", tmp_path) == [high, low, high, -high, high, high, high]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("n", "n"),
        ("ceildiv(n, 256)", "cp_ceildiv(n, 256)"),
        ("n * m + 1", "(long long)n * m + 1"),
        ("l - 1", "l - 1"),
        ("z * z", "cp_mul(z, z)"),
        ("u // 2", "(long long)u / 2"),
        ("n >= 2 and m >= 2", "n >= 2 && m >= 2"),
        ("u > n", "(long long)u > n"),
    ],
)
def test_expressions_read_as_a_person_writes_them(text: str, printed: str) -> None:
    assert expressions.value(text, SCOPE) == printed


@pytest.mark.parametrize(("text", "printed"), [("n >= 2", "n < 2"), ("n >= 2 and m >= 2", "!(n >= 2 && m >= 2)"), ("n", "!n")])
def test_negations(text: str, printed: str) -> None:
    assert expressions.negation(text, SCOPE) == printed


def test_data_of_arrays_can_not_be_read_on_the_device() -> None:
    with pytest.raises(size.SizeError, match="rowptr"):
        expressions.value("at(rowptr, n)", SCOPE)


@pytest.mark.parametrize(
    ("text", "facts", "short"),
    [
        ("n - 2 + 1 - 1", (), "n - 2"),
        ("0 + 1", (), "1"),
        ("2 * (n - 1) - n + 3 * m", (), "n + 3 * m - 2"),
        ("max(0, n)", (), "n"),
        ("max(n - 1, max(n + 1, n))", (), "n + 1"),
        ("n if n > 0 else 0", (), "n"),
        ("n if n >= 2 else 0", (), "n if n >= 2 else 0"),
        ("n + 1 if n >= 0 else 0", (), "n + 1"),
        ("max(1 if n >= 2 and m >= 1 else 0, n if n >= 2 and m >= 1 else 0)", ("n >= 2",), "n if m >= 1 else 0"),
        ("max(n if n >= 2 and m >= 1 else 0, n - 1 if n >= 3 and m >= 1 else 0)", (), "n if n >= 2 and m >= 1 else 0"),
        ("at(a, n) if n > 0 else 0", (), "at(a, n) if n > 0 else 0"),
        ("max(n, m)", (), "max(n, m)"),
        ("top(a, n if n > 0 else 0) - 1 if n > 0 else 0", (), "top(a, n) - 1"),
        ("top(a, n + 1 if n > 0 else 0) if n > 0 else 0", (), "top(a, n + 1 if n > 0 else 0)"),
        ("top(a, n) if (n - 1 >= 0 and m > 0) and n > 0 else 0", (), "top(a, n) if m > 0 else 0"),
    ],
)
def test_extents_are_said_shortly(text: str, facts: tuple[str, ...], short: str) -> None:
    assert simplified(text, facts, extent=True) == short


SMALL = st.integers(-4, 4)
LEAVES = st.sampled_from(["n", "m", "0", "1", "2", "n - 1", "m + 2", "2 * n"])


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    condition = st.builds(lambda a, op, b: f"{a} {op} {b}", LEAVES, st.sampled_from([">=", ">", "<", "<="]), LEAVES)
    return st.one_of(
        st.builds(lambda a, op, b: f"({a}) {op} ({b})", inner, st.sampled_from("+-*"), inner),
        st.builds(lambda name, a, b: f"{name}({a}, {b})", st.sampled_from(["min", "max"]), inner, inner),
        st.builds(lambda c, d, a: f"(({a}) if {c} and {d} else 0)", condition, condition, inner),
    )


@given(st.recursive(LEAVES, compound, max_leaves=8), SMALL, SMALL)
def test_simplified_expressions_keep_their_values(text: str, n: int, m: int) -> None:
    values = {"n": n, "m": m}
    expected = size.evaluate(text, values)
    assert size.evaluate(simplified(text), values) == expected
    assert max(0, size.evaluate(simplified(text, extent=True), values)) == max(0, expected)
    if n >= 1 and m > n:
        given_facts = simplified(text, ("n >= 1 and m > n",), extent=True)
        assert max(0, size.evaluate(given_facts, values)) == max(0, expected)
