"""Requirements on arguments (where a layout holds) as size expressions for the host wrapper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import islpy as isl

from cudaperf.engine.loops.bounds import AtomText, NotExpressible, param_text, set_text
from cudaperf.engine.loops.sets import Space


def requirement_texts(violations: Sequence[Any], space: Space, atom_text: AtomText) -> tuple[str, ...]:
    """One expression for each distinct set of parameters that would break a layout: non-zero where it does not."""
    texts: dict[str, None] = {}
    for bad in violations:
        texts.setdefault(set_text(_known_to_host(bad, space, atom_text).complement(), space, atom_text))
    texts.pop("1", None)
    return tuple(texts)


def _known_to_host(bad: Any, space: Space, atom_text: AtomText) -> Any:
    """The violations over parameters that have a text: there must be none whatever the others are (a time step, say)."""
    for k in range(bad.dim(isl.dim_type.param) - 1, -1, -1):
        try:
            param_text(space.names[bad.get_dim_name(isl.dim_type.param, k)], space, atom_text)
        except NotExpressible:
            bad = bad.project_out(isl.dim_type.param, k, 1)
    return bad.coalesce()
