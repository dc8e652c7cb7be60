"""Moves proposed sizes to where conditions on them hold: `k >= n` raises `k` (or lowers `n`), `n % 32 == 0` rounds.

Each comparison that does not hold is mended by one of its sizes, by as little as does it; a few rounds settle conditions that
share sizes. Not promised: a solution where there is one; the search judges what comes back.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from cudaperf.engine import size

Sizes = dict[str, int]
Value = Callable[[str, Sizes], int]

_NEAR: Final = 64
_ROUNDS: Final = 4


@dataclass(frozen=True, slots=True)
class Comparison:
    """`text` holds, as a whole; `names` are what it can be mended by. `difference` is left - right, `op` Python's node."""

    text: str
    difference: str
    op: type[ast.cmpop]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of the parts must hold."""

    text: str
    parts: tuple[tuple[Condition, ...], ...]


Condition = Comparison | AnyOf


def conditions(texts: Iterable[str], names: Collection[str]) -> tuple[Condition, ...]:
    """The comparisons in size expressions that must hold; what can't be mended is left out."""
    return tuple(part for text in texts for part in _conditions(size.parse(text), names))


def _conditions(node: ast.expr, names: Collection[str]) -> Iterator[Condition]:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            for value in values:
                yield from _conditions(value, names)
        case ast.BoolOp(op=ast.Or(), values=values):
            yield AnyOf(ast.unparse(node), tuple(tuple(_conditions(value, names)) for value in values))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            text, difference = ast.unparse(node), f"({ast.unparse(left)}) - ({ast.unparse(right)})"
            yield Comparison(text, difference, type(op), tuple(sorted(size.names(text) & set(names))))


@dataclass(frozen=True, slots=True)
class Mender:
    """`value` evaluates a size expression, `draw(n)` chooses below n, `fits` says whether a size can have a value.

    `counts` are the sizes that iterations are counted by.
    """

    conditions: tuple[Condition, ...]
    value: Value
    draw: Callable[[int], int]
    fits: Callable[[str, int], bool]
    counts: frozenset[str] = frozenset()

    def mended(self, proposed: Sizes, kept: Collection[str] = ()) -> Sizes | None:
        """The sizes moved to where the conditions hold, those in `kept` as they are; None where that fails or is needless."""
        sizes = dict(proposed)
        try:
            for _ in range(_ROUNDS):
                broken = [c for c in self.conditions if not self.value(c.text, sizes)]
                if not broken:
                    return sizes if sizes != proposed else None
                for condition in broken:
                    self._mend(condition, sizes, kept)
        except size.SizeError:
            return None
        return None

    def _mend(self, condition: Condition, sizes: Sizes, kept: Collection[str]) -> None:
        if self.value(condition.text, sizes):
            return
        if isinstance(condition, AnyOf):
            for part in condition.parts[self.draw(len(condition.parts))]:
                self._mend(part, sizes, kept)
            return
        free = [name for name in condition.names if name not in kept]
        first = self.draw(len(free)) if free else 0
        moves = [self._move(condition, name, sizes) for name in free[first:] + free[:first]]
        possible = [move for move in moves if move is not None]
        if possible:
            name, to = min(possible, key=lambda move: self._loss(move, sizes))
            sizes[name] = to

    def _move(self, condition: Comparison, name: str, sizes: Sizes) -> tuple[str, int] | None:
        """The nearest value of one size with which the comparison holds, a positive one if there is any."""
        holding = (
            to
            for to in sorted(self._moves(condition, name, sizes), key=lambda to: to <= 0)
            if self.fits(name, to) and self.value(condition.text, {**sizes, name: to})
        )
        found = next(holding, None)
        return None if found is None else (name, found)

    def _loss(self, move: tuple[str, int], sizes: Sizes) -> tuple[int, int]:
        """Nothing remains to be done where a count of iterations is 0: such moves come last; then those that break others."""
        name, to = move
        moved = {**sizes, name: to}
        return (to <= 0) * (1 + (name in self.counts)), sum(not self.value(c.text, moved) for c in self.conditions)

    def _moves(self, condition: Comparison, name: str, sizes: Sizes) -> Iterator[int]:
        """Values at which the comparison may hold: where a straight line would cross, then the neighbours."""
        at = sizes[name]
        here = self.value(condition.difference, sizes)
        slope = self.value(condition.difference, {**sizes, name: at + 1}) - here
        if slope:
            yield at + _steps(condition.op, here, slope)
        yield from (at + step for near in range(1, _NEAR) for step in (-near, near))


def _steps(op: type[ast.cmpop], here: int, slope: int) -> int:
    """How far to go until `here + steps * slope` compares with 0 as asked."""
    if op in (ast.Lt, ast.LtE):
        return _steps(ast.Gt if op is ast.Lt else ast.GtE, -here, -slope)
    if op is ast.Eq:
        return -here // slope
    missing = (1 if op is ast.Gt else 0) - here
    return -(-missing // slope) if slope > 0 else missing // slope
