"""Integer polynomials over named atoms, conditions on them, and their text for isl.

A `Poly` is a sum of integer multiples of monomials; a monomial is a sorted tuple of atom names. Atoms are loop iterators,
integer parameters, and *opaque* atoms (names starting with `$`) that stand for what is not polynomial: a floor division, a
choice, a value loaded from memory. Each opaque atom keeps, in `Atoms`, a condition that holds for it; isl sees it as an
existentially quantified integer under that condition, so that every set stays a superset of the truth.

C's integers are taken not to overflow (signed overflow is undefined; unsigned wrap-around in subscripts is assumed absent).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Literal

Monomial = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Poly:
    """`terms` maps monomials to non-zero coefficients, sorted; the empty monomial is the constant."""

    terms: tuple[tuple[Monomial, int], ...] = ()

    @staticmethod
    def of(terms: Mapping[Monomial, int]) -> Poly:
        return Poly(tuple(sorted((m, c) for m, c in terms.items() if c)))

    @staticmethod
    def constant(value: int) -> Poly:
        return Poly.of({(): value})

    @staticmethod
    def atom(name: str) -> Poly:
        return Poly.of({(name,): 1})

    def __add__(self, other: Poly) -> Poly:
        terms = dict(self.terms)
        for monomial, coefficient in other.terms:
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return Poly.of(terms)

    def __neg__(self) -> Poly:
        return self.scale(-1)

    def __sub__(self, other: Poly) -> Poly:
        return self + -other

    def scale(self, factor: int) -> Poly:
        return Poly.of({m: c * factor for m, c in self.terms})

    def __mul__(self, other: Poly) -> Poly:
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in other.terms:
                product = tuple(sorted(m1 + m2))
                terms[product] = terms.get(product, 0) + c1 * c2
        return Poly.of(terms)

    @property
    def is_constant(self) -> bool:
        return all(m == () for m, _ in self.terms)

    @property
    def value(self) -> int:
        """The constant term."""
        return dict(self.terms).get((), 0)

    @property
    def atoms(self) -> frozenset[str]:
        return frozenset(a for m, _ in self.terms for a in m)

    def coefficient(self, atom: str) -> Poly:
        """The polynomial that multiplies the first power of `atom` (terms of higher power count with one factor removed)."""
        terms: dict[Monomial, int] = {}
        for monomial, c in self.terms:
            if atom in monomial:
                rest = list(monomial)
                rest.remove(atom)
                terms[tuple(rest)] = terms.get(tuple(rest), 0) + c
        return Poly.of(terms)

    def rename(self, names: Mapping[str, str]) -> Poly:
        terms: dict[Monomial, int] = {}
        for m, c in self.terms:
            renamed = tuple(sorted(names.get(a, a) for a in m))
            terms[renamed] = terms.get(renamed, 0) + c
        return Poly.of(terms)


ZERO, ONE = Poly(), Poly.constant(1)


# --- conditions --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Compare:
    """`poly >= 0` or `poly == 0`."""

    poly: Poly
    relation: Literal[">=", "="]


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Condition, ...] = ()


Condition = Compare | And | Or
TRUE = And()


def compare(left: Poly, relation: str, right: Poly) -> Condition:
    """`left relation right` for C's six comparison operators."""
    difference = right - left
    match relation:
        case "<":
            return Compare(difference - ONE, ">=")
        case "<=":
            return Compare(difference, ">=")
        case ">":
            return Compare(-difference - ONE, ">=")
        case ">=":
            return Compare(-difference, ">=")
        case "==":
            return Compare(difference, "=")
        case _:
            return Or((Compare(difference - ONE, ">="), Compare(-difference - ONE, ">=")))


def negate(condition: Condition) -> Condition:
    match condition:
        case Compare(poly, ">="):
            return Compare(-poly - ONE, ">=")
        case Compare(poly, _):
            return Or((Compare(poly - ONE, ">="), Compare(-poly - ONE, ">=")))
        case And(parts):
            return Or(tuple(map(negate, parts)))
        case Or(parts):
            return And(tuple(map(negate, parts)))


def condition_atoms(condition: Condition) -> frozenset[str]:
    if isinstance(condition, Compare):
        return condition.poly.atoms
    return frozenset(a for part in condition.parts for a in condition_atoms(part))


def rename_condition(condition: Condition, names: Mapping[str, str]) -> Condition:
    match condition:
        case Compare(poly, relation):
            return Compare(poly.rename(names), relation)
        case And(parts):
            return And(tuple(rename_condition(p, names) for p in parts))
        case Or(parts):
            return Or(tuple(rename_condition(p, names) for p in parts))


def _multiplies(condition: Condition, varying: Set[str]) -> bool:
    """Whether a comparison has a product in which something varies: isl can't hold it."""
    if isinstance(condition, Compare):
        return any(len(m) > 1 and any(a in varying for a in m) for m, _ in condition.poly.terms)
    return any(_multiplies(part, varying) for part in condition.parts)


def quotient_condition(poly: Poly, divisor: int, quotient: Poly) -> Condition:
    """`quotient` is floor(poly / divisor)."""
    rest = poly - quotient.scale(divisor)
    return And((Compare(rest, ">="), Compare(Poly.constant(divisor - 1) - rest, ">=")))


# --- opaque atoms ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Derived:
    """A parameter computed from others: floor(poly / divisor) (rounded to zero if it `truncates`; divided `by` a parameter
    where that is given, or what is left over by that: `rest`), or `poly` if `test` else `other`.

    `condition` is what isl is told of it.
    """

    condition: Condition
    poly: Poly
    divisor: int = 1
    test: Condition | None = None
    other: Poly | None = None
    truncates: bool = False
    by: Poly | None = None
    rest: bool = False


@dataclass(slots=True)
class Atoms:
    """The table of opaque atoms of one function: name -> the condition that holds for it.

    `definitions` holds composite parameters (`$c0` = n + 2): loop-invariant polynomials kept whole so that `i*(n+2) + j`
    keeps its shape; `derived` other functions of parameters (`n / 2`), which are parameters too. `data` maps atoms of loaded
    integers to the name of the array they come from; `quotients` are the opaque atoms that have exactly one value each;
    `exact` those that their condition determines, wherever it is exact itself; `wide` those of which no more than bounds is
    known (the range of a type, a mask). `unsigned` are the arguments that are never negative, `wrapped` what is compared as
    `wrapping` says.
    """

    conditions: dict[str, Condition] = field(default_factory=dict)
    definitions: dict[str, Poly] = field(default_factory=dict)
    derived: dict[str, Derived] = field(default_factory=dict)
    data: dict[str, str] = field(default_factory=dict)
    quotients: set[str] = field(default_factory=set)
    exact: set[str] = field(default_factory=set)
    wide: set[str] = field(default_factory=set)
    unsigned: set[str] = field(default_factory=set)
    wrapped: list[Poly] = field(default_factory=list)
    _composites: dict[Poly, str] = field(default_factory=dict)
    _divisions: dict[tuple[Poly, int], str] = field(default_factory=dict)

    def fresh(self, make: Callable[[Poly], Condition] = lambda _: TRUE, array: str | None = None, exact: bool = False) -> Poly:
        name = f"$u{len(self.conditions)}"
        self.conditions[name] = TRUE
        self.conditions[name] = make(Poly.atom(name))
        if array is not None:
            self.data[name] = array
        if exact:
            self.exact.add(name)
        return Poly.atom(name)

    def loose(self, condition: Condition, iterators: frozenset[str]) -> bool:
        """Whether a condition is a superset of what it means: it stands on something that is neither followed nor data, or
        multiplies what varies."""
        opaque = self.closure(condition_atoms(condition))
        followed = self.exact | self.quotients | self.data.keys()
        if opaque - followed:
            return True
        varying = iterators | self.conditions.keys()
        parts = (condition, *(self.conditions[name] for name in opaque))
        return any(_multiplies(part, varying) for part in parts)

    def composite(self, poly: Poly) -> Poly:
        """One atom for a loop-invariant polynomial of several terms."""
        if len(poly.terms) <= 1:
            return poly
        if poly not in self._composites:
            name = f"$c{len(self._composites)}"
            self._composites[poly] = name
            self.definitions[name] = poly
        return Poly.atom(self._composites[poly])

    def derive(self, make: Callable[[Poly], Derived]) -> Poly:
        """A parameter for a function of parameters; the same function gives the same parameter."""
        name = f"$d{len(self.derived)}"
        made = make(Poly.atom(name))
        for known, other in self.derived.items():
            if replace(other, condition=TRUE) == replace(made, condition=TRUE):
                return Poly.atom(known)
        self.derived[name] = made
        return Poly.atom(name)

    def floor_division(self, poly: Poly, divisor: int, invariant: bool = False) -> Poly:
        """floor(poly / divisor) for a positive constant divisor; a parameter where the dividend is made of parameters."""
        if divisor == 1:
            return poly
        if all(c % divisor == 0 for _, c in poly.terms):
            return Poly.of({m: c // divisor for m, c in poly.terms})
        if invariant:
            return self.derive(lambda q: Derived(quotient_condition(poly, divisor, q), poly, divisor))
        key = (poly, divisor)
        if key not in self._divisions:
            quotient = self.fresh(lambda q: quotient_condition(poly, divisor, q))
            self._divisions[key] = next(iter(quotient.atoms))
            self.quotients |= quotient.atoms
        return Poly.atom(self._divisions[key])

    def closure(self, names: Iterable[str]) -> frozenset[str]:
        """The opaque atoms among `names` and those that their conditions mention."""
        found: set[str] = set()
        todo = [n for n in names if n in self.conditions]
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo.extend(a for a in condition_atoms(self.conditions[name]) if a in self.conditions)
        return frozenset(found)


# --- text for isl ------------------------------------------------------------------------------------------------------


class NotAffine(Exception):
    """A monomial mixes a loop iterator with another variable: isl can't hold it."""


_ISL_NAMES = str.maketrans({"$": "_o_", ".": "_n_", "*": "_x_", "'": "_i_", "@": "_a_"})


def isl_name(atom: str) -> str:
    """A name that isl's parser takes for an identifier, whatever C called it."""
    return "v_" + "".join(c if c.isascii() else f"_{ord(c):x}_" for c in atom.translate(_ISL_NAMES))


def isl_poly(poly: Poly, variables: frozenset[str]) -> tuple[str, frozenset[str]]:
    """isl text and the parameters it needs.

    `variables` are the atoms that vary (iterators and quantified atoms). Products of parameters alone become one parameter
    (named with `*` between its factors); products with a variable raise `NotAffine`.
    """
    parts, parameters = [], set()
    for monomial, coefficient in poly.terms:
        if not monomial:
            parts.append(str(coefficient))
            continue
        name = "*".join(monomial)
        if len(monomial) > 1 and any(a in variables for a in monomial):
            raise NotAffine(name)
        if name not in variables:
            parameters.add(name)
        parts.append(f"{coefficient}*{isl_name(name)}")
    return " + ".join(parts) or "0", frozenset(parameters)


def isl_condition(condition: Condition, variables: frozenset[str], keep: bool = True) -> tuple[str, frozenset[str]]:
    """isl text of a condition; a comparison that is not affine is replaced by `keep` (True: a superset)."""
    match condition:
        case Compare(poly, relation):
            try:
                text, parameters = isl_poly(poly, variables)
            except NotAffine:
                return ("true" if keep else "false"), frozenset()
            return f"{text} {relation} 0", parameters
        case And(parts):
            word, neutral = " and ", "true"
        case Or(parts):
            word, neutral = " or ", "false"
    rendered = [isl_condition(p, variables, keep) for p in parts]
    if not rendered:
        return neutral, frozenset()
    return word.join(f"({t})" for t, _ in rendered), frozenset(p for _, ps in rendered for p in ps)
