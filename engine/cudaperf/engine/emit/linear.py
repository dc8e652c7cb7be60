"""Sums of integer multiples of terms: the normal form in which size expressions are compared.

A term is any expression that is no sum itself; two terms are the same where their texts are. Values are exact integers.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from dataclasses import dataclass

from cudaperf.engine.size import parse


@dataclass(frozen=True, slots=True)
class Linear:
    """`constant` plus the sum of factor * term; terms sorted by text, no factor 0."""

    terms: tuple[tuple[str, int], ...]
    constant: int

    def __sub__(self, other: Linear) -> Linear:
        return _combined((self, 1), (other, -1))

    @property
    def is_nonnegative(self) -> bool:
        """Certainly, whatever the terms are."""
        return not self.terms and self.constant >= 0

    def implied_by(self, facts: Iterable[Linear]) -> bool:
        """Whether `self >= 0` follows from one of `fact >= 0`."""
        return self.is_nonnegative or any(f.terms == self.terms and f.constant <= self.constant for f in facts)


def _combined(*parts: tuple[Linear, int]) -> Linear:
    factors: dict[str, int] = {}
    constant = 0
    for part, factor in parts:
        constant += factor * part.constant
        for text, times in part.terms:
            factors[text] = factors.get(text, 0) + factor * times
    return Linear(tuple(sorted((text, times) for text, times in factors.items() if times)), constant)


def linear(node: ast.expr) -> Linear:
    """The normal form of an expression."""
    match node:
        case ast.Constant(value=int() as value):
            return Linear((), value)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _combined((linear(inner), -1))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _combined((linear(left), 1), (linear(right), 1))
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _combined((linear(left), 1), (linear(right), -1))
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            a, b = linear(left), linear(right)
            if not a.terms:
                return _combined((b, a.constant))
            return _combined((a, b.constant)) if not b.terms else _term(node)
        case _:
            return _term(node)


def _term(node: ast.expr) -> Linear:
    return Linear(((ast.unparse(node), 1),), 0)


def rebuilt(form: Linear, order: list[str]) -> ast.expr:
    """An expression of this value: added terms first, in the given order of texts, then subtracted ones, then the constant."""
    places = {text: position for position, text in enumerate(order)}
    terms = sorted(form.terms, key=lambda term: (term[1] < 0, places.get(term[0], len(places))))
    result: ast.expr | None = None
    for text, times in terms:
        node = copy.deepcopy(parse(text))
        if abs(times) != 1:
            node = ast.BinOp(left=ast.Constant(value=abs(times)), op=ast.Mult(), right=node)
        if result is None:
            result = node if times > 0 else ast.UnaryOp(op=ast.USub(), operand=node)
        else:
            result = ast.BinOp(left=result, op=ast.Add() if times > 0 else ast.Sub(), right=node)
    if result is None:
        return _number(form.constant)
    if form.constant == 0:
        return result
    operator: ast.operator = ast.Add() if form.constant > 0 else ast.Sub()
    return ast.BinOp(left=result, op=operator, right=ast.Constant(value=abs(form.constant)))


def _number(value: int) -> ast.expr:
    number = ast.Constant(value=abs(value))
    return number if value >= 0 else ast.UnaryOp(op=ast.USub(), operand=number)


def fact(node: ast.expr) -> Linear | None:
    """A comparison as `form >= 0`; None where it is no inequality between integers."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            difference = linear(left) - linear(right)
            opposite = linear(right) - linear(left)
            one = Linear((), 1)
            match op:
                case ast.GtE():
                    return difference
                case ast.Gt():
                    return difference - one
                case ast.LtE():
                    return opposite
                case ast.Lt():
                    return opposite - one
    return None
