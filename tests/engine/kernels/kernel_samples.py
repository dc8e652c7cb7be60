"""Small problems for the kernel tests: how arrays are declared and reached."""

from __future__ import annotations

from cudaperf.engine.plan import PointerArg, ScalarArg
from cudaperf.engine.strategies.kernels.contraction import Contraction, Operand, Output
from cudaperf.engine.strategies.kernels.kernel import Access, Parameter


def pointer(name: str, kind: str, *, const: bool = True) -> Parameter:
    return Parameter(f"{'const ' if const else ''}{kind} *{name}", PointerArg(buffer=name))


def number(name: str, kind: str = "long long") -> Parameter:
    return Parameter(f"{kind} {name}", ScalarArg(name=name))


def product(kind: str, layout: str = "NNN", **changes: object) -> Contraction:
    """C = A B; `layout` says for A, B and C whether they are stored transposed ("T")."""
    a, b, c = (letter == "T" for letter in layout)
    fields: dict[str, object] = {
        "name": "product",
        "type": kind,
        "a": Operand(Access("A", lambda i, k: f"{k} * M + {i}" if a else f"{i} * K + {k}"), kind, "first" if a else "second"),
        "b": Operand(Access("B", lambda k, j: f"{j} * K + {k}" if b else f"{k} * N + {j}"), kind, "first" if b else "second"),
        "c": Output(
            Access("C", lambda i, j: f"{j} * M + {i}" if c else f"{i} * N + {j}"),
            kind,
            contiguous="first" if c else "second",
        ),
        "m": "M",
        "n": "N",
        "k": "K",
        "parameters": (
            pointer("A", kind),
            pointer("B", kind),
            pointer("C", kind, const=False),
            *map(number, "MNK"),
        ),
    }
    return Contraction(**{**fields, **changes})  # type: ignore[arg-type]
