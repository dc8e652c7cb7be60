"""Where OpenMP may run the user's own loops on all cores: the directives for the baseline, from the same analysis."""

from __future__ import annotations

from cudaperf.engine.analyse import Analysed
from cudaperf.engine.loops.nest import LoopNest, nests

OPERATORS = frozenset({"+", "*", "&", "|", "^", "&&", "||", "min", "max"})


def pragmas(analysed: Analysed) -> tuple[tuple[int, str], ...]:
    """(line of the user's file, directive to put before it) for the outermost loop of each nest that OpenMP can take."""
    from cudaperf.engine.sources.c import position

    found: dict[int, str] = {}
    for nest in nests(analysed.program.steps):
        text = _directive(nest)
        place = nest.band[0].node.header or nest.band[0].node.place
        if text is not None and place is not None:
            found.setdefault(position(analysed.unit.text, place.start)[0], text)
    return tuple(sorted(found.items()))


def _directive(nest: LoopNest) -> str | None:
    first = nest.band[0].facts
    if first.kind == "sequential" or first.array_reductions:
        return None
    parts = ["#pragma omp parallel for"]
    for reduction in first.reductions:
        if reduction.companions or reduction.keyed is not None or reduction.op not in OPERATORS:
            return None
        parts.append(f"reduction({reduction.op}:{reduction.name})")
    private = set(first.private) | {b.var for b in nest.band[1:] if not b.node.declared}
    if private:
        parts.append(f"private({', '.join(sorted(private))})")
    return " ".join(parts)
