"""Quotients of two arguments, as run-time tile sizes need: `(n + s - 1) / s` is an argument too, which the host can compute.

isl knows no more of it: that it is near n / s is not affine.
"""

from __future__ import annotations

from cudaperf.engine.loops.poly import ONE, TRUE, Atoms, Derived, Poly


def divided(left: Poly, right: Poly, signed: bool, atoms: Atoms) -> Poly | None:
    """C's `left / right` for polynomials over arguments; None for unsigned values that may have wrapped around."""
    rounded_up = left + ONE - right
    if not signed and not (_positive(right) and (_positive(left) or _positive(rounded_up))):
        return None
    return atoms.derive(lambda _: Derived(TRUE, left, truncates=True, by=right))


def _positive(poly: Poly) -> bool:
    return all(c >= 0 for _, c in poly.terms)
