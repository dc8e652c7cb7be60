"""Between which values a size expression can lie, given the ranges of its names; exact integers, no promise of tightness."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cudaperf.engine.size import READS

LARGEST: Final = 2**60
"""Sizes of 64-bit type are taken to be at most this; emitted functions check it."""


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` to `high`, both included."""

    low: int
    high: int

    def within(self, other: Interval) -> bool:
        return other.low <= self.low and self.high <= other.high

    def join(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))


INT64: Final = Interval(-(2**63), 2**63 - 1)
_TRUTH: Final = Interval(0, 1)


def interval(node: ast.expr, ranges: Mapping[str, Interval]) -> Interval:
    """The range of a checked size expression (`size.parse`)."""
    match node:
        case ast.Constant(value=int() as value):
            return Interval(value, value)
        case ast.Name(id=name):
            return ranges.get(name, INT64)
        case ast.UnaryOp(operand=inner):
            found = interval(inner, ranges)
            return Interval(-found.high, -found.low)
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, interval(left, ranges), interval(right, ranges))
        case ast.Compare() | ast.BoolOp():
            return _TRUTH
        case ast.IfExp(body=body, orelse=orelse):
            return interval(body, ranges).join(interval(orelse, ranges))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _call(name, args, ranges)
        case _:
            return INT64


def _binary(op: ast.operator, left: Interval, right: Interval) -> Interval:
    match op:
        case ast.Add():
            return Interval(left.low + right.low, left.high + right.high)
        case ast.Sub():
            return Interval(left.low - right.high, left.high - right.low)
        case ast.Mult():
            corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
            return Interval(min(corners), max(corners))
        case ast.FloorDiv() if right.low > 0:
            corners = [a // b for a in (left.low, left.high) for b in (right.low, right.high)]
            return Interval(min(corners), max(corners))
        case ast.Mod() if right.low > 0:
            inside = left.low >= 0 and left.high < right.low
            return left if inside else Interval(0, right.high - 1)
        case _:
            return INT64


def _call(name: str, args: list[ast.expr], ranges: Mapping[str, Interval]) -> Interval:
    if name in READS:
        return Interval(0 if name == "top" else -LARGEST, 0 if name == "bottom" else LARGEST)
    found = [interval(arg, ranges) for arg in args]
    if name in ("min", "max"):
        pick = min if name == "min" else max
        return Interval(pick(part.low for part in found), pick(part.high for part in found))
    left, right = found
    if right.low <= 0:
        return INT64
    corners = [_quotient(name, a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    return Interval(min(corners), max(corners))


def _quotient(name: str, a: int, b: int) -> int:
    if name == "ceildiv":
        return -(-a // b)
    return a // b if a >= 0 else -(-a // b)
