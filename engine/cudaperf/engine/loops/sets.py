"""isl sets from conditions: one instance, or two instances of statements side by side.

All set arithmetic is isl's, under a budget of operations; over it, `BudgetExceeded` is raised and analysis answers with the
reason code `budget`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import islpy as isl

from cudaperf.engine.loops.poly import (
    And,
    Atoms,
    Compare,
    Condition,
    NotAffine,
    Poly,
    condition_atoms,
    isl_condition,
    isl_name,
    isl_poly,
    rename_condition,
)

MAX_OPERATIONS = 20_000_000


class BudgetExceeded(Exception):
    """isl needed more operations than `MAX_OPERATIONS` for one analysis."""


@dataclass(slots=True)
class Space:
    """Builds sets for one function: its opaque atoms, the user's assumptions, and one isl context with a budget.

    `names` maps isl's parameter names back to atoms.
    """

    atoms: Atoms
    assumptions: tuple[Condition, ...] = ()
    context: Any = field(default_factory=isl.Context)
    names: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.context.set_max_operations(MAX_OPERATIONS)
        self.context.set_on_error(0)

    @contextmanager
    def budget(self) -> Iterator[None]:
        try:
            yield
        except isl.Error as error:
            if self.context.get_max_operations() and "operations" in str(error):
                raise BudgetExceeded(str(error)) from error
            raise

    def set(self, dims: Iterable[str], condition: Condition, local: Iterable[str] = ()) -> Any:
        """The isl set over `dims` of the points for which `condition` can hold.

        `local` atoms (other iterators) and the opaque atoms of the condition are projected out.
        """
        dims = tuple(dims)
        full = self.closed(condition)
        opaque = frozenset(a for a in condition_atoms(full) if self.is_opaque(a))
        hidden = (opaque | frozenset(local)) - frozenset(dims)
        return self._parse(dims, hidden, full)

    def is_opaque(self, atom: str) -> bool:
        return atom.split("'")[0] in self.atoms.conditions

    def closed(self, condition: Condition) -> Condition:
        """The condition with what is known of its opaque atoms and composite parameters, and the assumptions."""
        opaque = self.atoms.closure(condition_atoms(condition))
        parts: list[Condition] = [condition, *(self.atoms.conditions[a] for a in sorted(opaque)), *self.assumptions]
        full = And(tuple(parts))
        return And((full, *self.definitions(condition_atoms(full))))

    def definitions(self, names: Iterable[str]) -> list[Condition]:
        """`$c0 = n + 2` for each composite parameter among the names, and what is known of derived ones."""
        composite, derived = self.atoms.definitions, self.atoms.derived
        todo, seen = [n for n in names if n in composite or n in derived], set[str]()
        found: list[Condition] = []
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            what = Compare(Poly.atom(name) - composite[name], "=") if name in composite else derived[name].condition
            found.append(what)
            todo.extend(a for a in condition_atoms(what) if a in composite or a in derived)
        return found

    def _parse(self, dims: tuple[str, ...], hidden: frozenset[str], condition: Condition) -> Any:
        variables = frozenset(dims) | hidden
        text, parameters = isl_condition(condition, variables)
        self.names.update({isl_name(p): p for p in parameters})
        head = ", ".join(sorted(isl_name(p) for p in parameters))
        inner = f"exists {', '.join(sorted(map(isl_name, hidden)))} : {text}" if hidden else text
        names = ", ".join(map(isl_name, dims))
        with self.budget():
            return isl.Set.read_from_str(self.context, f"[{head}] -> {{ [{names}] : {inner} }}")

    def empty(self, variables: Iterable[str], condition: Condition) -> bool:
        """Whether no integer values of the variables (and parameters) satisfy the condition."""
        with self.budget():
            return bool(self.set((), condition, variables).is_empty())

    def renamed(self, condition: Condition, names: Mapping[str, str], suffix: str) -> tuple[Condition, frozenset[str]]:
        """A copy of a closed condition for another instance: iterators by `names`, every opaque atom with `suffix`."""
        full = self.closed(condition)
        opaque = frozenset(a for a in condition_atoms(full) if a in self.atoms.conditions)
        mapping = {**names, **{a: a + suffix for a in opaque}}
        return rename_condition(full, mapping), frozenset(a + suffix for a in opaque)

    def affine_condition(self, condition: Condition, variables: frozenset[str]) -> bool:
        """Whether isl holds all of a condition (else it is weakened)."""
        if isinstance(condition, Compare):
            opaque = frozenset(a for a in condition.poly.atoms if self.is_opaque(a))
            return self.affine(condition.poly, variables | opaque)
        return all(self.affine_condition(part, variables) for part in condition.parts)

    def affine(self, poly: Poly, variables: frozenset[str]) -> bool:
        try:
            isl_poly(poly, variables)
        except NotAffine:
            return False
        return True
