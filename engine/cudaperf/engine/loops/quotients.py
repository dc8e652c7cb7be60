"""Quotients of two arguments, as run-time tile sizes need, and what they leave over: `(n + s - 1) / s` and `n % s` are
arguments too, which the host can compute.

isl knows no more of a quotient: that it is near n / s is not affine.
"""

from __future__ import annotations

from collections.abc import Callable

from cudaperf.engine.loops.poly import ONE, TRUE, Atoms, Condition, Derived, Poly


def divided(left: Poly, right: Poly, signed: bool, atoms: Atoms) -> Poly | None:
    """C's `left / right` for polynomials over arguments; None for unsigned values that may have wrapped around."""
    if not signed and not _exact(left, right):
        return None
    return atoms.derive(lambda _: Derived(TRUE, left, truncates=True, by=right))


def left_over(left: Poly, right: Poly, signed: bool, atoms: Atoms, known: Callable[[Poly], Condition]) -> Poly | None:
    """C's `left % right`, likewise; `known` is what isl is told of it."""
    if not signed and not _exact(left, right):
        return None
    return atoms.derive(lambda r: Derived(known(r), left, truncates=True, by=right, rest=True))


def _exact(left: Poly, right: Poly) -> bool:
    """Whether unsigned operands are what their polynomials say."""
    rounded_up = left + ONE - right
    return _positive(right) and (_positive(left) or _positive(rounded_up))


def _positive(poly: Poly) -> bool:
    return all(c >= 0 for _, c in poly.terms)
