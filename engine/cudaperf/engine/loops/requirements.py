"""Requirements on arguments (where a layout holds) as size expressions for the host wrapper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cudaperf.engine.loops.bounds import AtomText, NotExpressible, set_text
from cudaperf.engine.loops.sets import Space


def requirement_texts(violations: Sequence[Any], space: Space, atom_text: AtomText) -> tuple[str, ...]:
    """One expression for each distinct set of parameters that would break a layout: non-zero where it does not."""
    texts: dict[str, None] = {}
    for bad in violations:
        good = bad.complement()
        try:
            texts.setdefault(set_text(good, space, atom_text))
        except NotExpressible:
            continue
    texts.pop("1", None)
    return tuple(texts)
