"""C functions for the loop analysis: hypothesis draws small nests over flat and two-dimensional integer arrays.

Every function has the signature `int f(int n, int m, int *restrict a, int *restrict b, int c[][8])`. Not promised: that a
function does anything sensible, or that the analysis takes it.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from hypothesis import strategies as st

from cudaperf.engine.loops import ir
from cudaperf.engine.reason import Reason
from cudaperf.engine.sources import c

SIGNATURE = "int f(int n, int m, int *restrict a, int *restrict b, int (*restrict c)[8])"
VARIABLES = "ijk"


def unit(text: str, function: str = "f") -> ir.Unit:
    """The trees of a function given as text."""
    loaded = c.load(str(_file(text)), function)
    assert not isinstance(loaded, Reason), loaded
    return loaded


@lru_cache(maxsize=1)
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="cudaperf-loops-"))


def _file(text: str) -> Path:
    path = _folder() / "f.c"
    path.write_text(text)
    return path


@dataclass(frozen=True, slots=True)
class Kind:
    """What a drawn function may hold."""

    guards: bool = True
    scalars: bool = True


@st.composite
def functions(draw: st.DrawFn, kind: Kind = Kind()) -> str:
    """A function with one to three loop nests, perhaps inside a loop over time."""
    lines = ["    int s = 1, t = 0, w = 2;"]
    nests = [nest for _ in range(draw(st.integers(1, 2))) for nest in draw(_nest((), kind, "    "))]
    if draw(st.integers(0, 4)) == 0:
        nests = ["    for (int r = 0; r < 2; r++) {", *("    " + line for line in nests), "    }"]
    result = draw(st.sampled_from(["s", "t", "s + w", "0"])) if kind.scalars else "0"
    return "\n".join([SIGNATURE, "{", *lines, *nests, f"    return {result};", "}", ""])


@st.composite
def _nest(draw: st.DrawFn, outer: tuple[str, ...], kind: Kind, indent: str) -> list[str]:
    var = VARIABLES[len(outer)]
    header = draw(_header(var, outer))
    inner = (*outer, var)
    body: list[str] = []
    for _ in range(draw(st.integers(1, 2))):
        if len(inner) < 3 and draw(st.integers(0, 2)) > 0:
            body += draw(_nest(inner, kind, indent + "    "))
        else:
            body.append(indent + "    " + draw(_statement(inner, kind)))
    return [f"{indent}for ({header}) {{", *body, f"{indent}}}"]


@st.composite
def _header(draw: st.DrawFn, var: str, outer: tuple[str, ...]) -> str:
    size = draw(st.sampled_from(["n", "m", "n - 1", "m + 1", "n / 2", "4", *(f"{o} + 1" for o in outer), *outer]))
    low = draw(st.sampled_from(["0", "0", "1", "2", *outer]))
    step = draw(st.sampled_from([1, 1, 1, 2, 3]))
    type_ = draw(st.sampled_from(["int", "int", "int", "long", "unsigned char"]))
    if draw(st.integers(0, 3)) == 0 and type_ != "unsigned char":
        down = f"{var}--" if step == 1 else f"{var} -= {step}"
        return f"{type_} {var} = {size} - 1; {var} >= {low}; {down}"
    up = f"{var}++" if step == 1 else f"{var} += {step}"
    return f"{type_} {var} = {low}; {var} {draw(st.sampled_from(['<', '<', '<=']))} {size}; {up}"


@st.composite
def _reference(draw: st.DrawFn, inner: tuple[str, ...]) -> str:
    last = draw(st.sampled_from(inner))
    first = draw(st.sampled_from([*inner, "0", "1"]))
    offset = draw(st.sampled_from(["", "", "", " + 1", " - 1", " + 2"]))
    shape = draw(st.integers(0, 5))
    if shape == 0:
        return f"a[{last}{offset}]"
    if shape == 1:
        return f"a[{draw(st.sampled_from(['2 * ', '3 * ', '']))}{last} + {draw(st.sampled_from(['0', '1', 'n', first]))}]"
    if shape == 2:
        return f"b[{first} * {draw(st.sampled_from(['n', 'm']))} + {last}{offset}]"
    if shape == 3:
        return f"b[({first}{offset}) * (n + 2) + {last}]"
    if shape == 4:
        return draw(st.sampled_from([f"a[n - 1 - {last}]", f"a[{last} / 2]", f"a[{last} % 3]", f"b[w + {last}]", "a[0]"]))
    return f"c[{first}{offset}][{draw(st.sampled_from([last + ' & 7', '3', last + ' % 8']))}]"


@st.composite
def _statement(draw: st.DrawFn, inner: tuple[str, ...], kind: Kind) -> str:
    target, x, y = (draw(_reference(inner)) for _ in range(3))
    value = draw(st.sampled_from([x, f"{x} + {y}", f"2 * {x} - 1", f"{inner[-1]} + 3", "7"]))
    plain = [f"{target} = {value};", f"{target} = {value};", f"{target} += {value};"]
    scalar = [
        f"s += {value};",
        f"t = {value}; {target} = t;",
        f"if ({x} > s) s = {x};",
        f"{target} = s;",
        "w++;",
        f"s = {value} - s;",
    ]
    scalar += [f"s += {x}; {target} = s;", f"if ({x} > t) {{ t = {x}; w = {inner[-1]}; }}", f"{target} = w;"]
    statement = draw(st.sampled_from(plain * 3 + scalar if kind.scalars else plain))
    if kind.guards and draw(st.integers(0, 4)) == 0:
        condition = draw(
            st.sampled_from([f"{inner[-1]} > 1", f"{inner[0]} != {inner[-1]}", f"{x} > 0", "n > m", f"{inner[-1]} % 2 == 0"])
        )
        statement = f"if ({condition}) {{ {statement} }}"
    return statement
