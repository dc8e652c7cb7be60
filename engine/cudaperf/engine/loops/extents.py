"""How far each array reaches: element counts as size expressions, from every reference in the function.

Extents follow from subscripts alone (data-dependent conditions are taken as true); an index loaded from memory reaches as far
as the largest value in its array, `top(col, nnz) - 1`, which the host wrapper computes from the data. A reference that nothing
bounds is a refusal with a way on: `// cudaperf: assume extent(x) == n`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import islpy as isl

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.assume import poly_of
from cudaperf.engine.loops.bounds import NotExpressible, param_text, plus, pw_aff_text, set_text
from cudaperf.engine.loops.layout import Layout, by_stride, layout
from cudaperf.engine.loops.model import Access, Model
from cudaperf.engine.loops.poly import ONE, And, Compare, Condition, Poly, condition_atoms
from cudaperf.engine.loops.requirements import requirement_texts
from cudaperf.engine.loops.sets import Space

INDEX = "index"


class Unbounded(Exception):
    """The reference whose reach is unknown; `tested` where it stands behind a test that is not followed."""

    def __init__(self, access: Access, tested: bool = False) -> None:
        super().__init__(access.array)
        self.access = access
        self.tested = tested


@dataclass(frozen=True, slots=True)
class Extent:
    """`texts`: one size expression a logical dimension (their product is the element count).

    `indexed_by`: integer arrays whose values are subscripts here. `data`: the extent reads data (`top`/`at`). `rows` is
    isl's set of the integers below the first extent, None where that is not known.
    """

    texts: tuple[str, ...]
    indexed_by: tuple[str, ...] = ()
    data: bool = False
    rows: Any = field(default=None, compare=False)


@dataclass(slots=True)
class Extents:
    """Computes extents on demand; they may need one another's (`x[col[k]]`).

    `requirements` are conditions on data that the host checks; `tested` are index arrays whose negative values the function
    itself tests for.
    """

    model: Model
    space: Space
    given: dict[str, str]
    scalar_names: frozenset[str]
    found: dict[str, Extent] = field(default_factory=dict)
    preconditions: list[object] = field(default_factory=list)
    busy: set[str] = field(default_factory=set)
    requirements: dict[str, None] = field(default_factory=dict)
    tested: set[str] = field(default_factory=set)

    def of(self, variable: ir.Variable) -> Extent:
        """The extent of one array; raises `Unbounded`."""
        if variable.name not in self.found:
            self.busy.add(variable.name)
            self.found[variable.name] = self._compute(variable)
            self.busy.discard(variable.name)
        return self.found[variable.name]

    def _compute(self, variable: ir.Variable) -> Extent:
        accesses = [a for a in self.model.accesses() if a.array == variable.name]
        iterators = frozenset(v.atom for a in accesses for v in a.statement.loops)
        shape = layout(variable.name, accesses, self.space, iterators)
        indexed = tuple(dict.fromkeys(d for a in accesses for d in self.data_of(a, shape)))
        if variable.name in self.given:
            known = poly_of(self.given[variable.name])
            return Extent((self.given[variable.name],), indexed, rows=None if known is None else self._below(known))
        self._within_dimensions(variable, accesses, shape)
        declared = [self._declared(d) for d in variable.dims]
        if all(d is not None for d in declared):
            first = variable.dims[0]
            assert first is not None
            sizes = tuple(d for d in declared if d is not None)
            reached = self._within(accesses, shape, iterators) if isinstance(first, ir.IntConst) else None
            if reached is not None:
                return Extent((reached[0], *sizes[1:]), indexed, rows=reached[1])
            return Extent(sizes, indexed, rows=self._below(self._dimension(first)))
        if any(a.subscripts is None and isinstance(a.node, ir.Address) for a in accesses):
            raise Unbounded(next(a for a in accesses if a.subscripts is None))
        text, rows = self._rows(accesses, shape, iterators)
        inner = tuple(d for d in declared[1:] if d is not None)
        data = any("top(" in part for part in (text, *inner))
        return Extent((text, *inner), indexed, data, rows)

    def _within_dimensions(self, variable: ir.Variable, accesses: list[Access], shape: Layout) -> None:
        """Notes the arguments for which an index leaves a dimension of fixed size: the function itself needs them not to."""
        seen: set[object] = set()
        for access in accesses:
            index = shape.of(access)
            key = (index, access.statement.loops, access.guards)
            if index is None or len(index) < len(variable.dims) or key in seen:
                continue
            seen.add(key)
            for p, dim in zip(index, variable.dims, strict=False):
                if not isinstance(dim, ir.IntConst) or self._opaque(p):
                    continue
                beyond = And((access.domain, Compare(p - Poly.constant(dim.value), ">=")))
                local = tuple(v.atom for v in access.statement.loops)
                with self.space.budget():
                    bad = self.space.set((), beyond, local)
                    if not bad.is_empty():
                        self.preconditions.append(bad.params())

    def _opaque(self, poly: Poly) -> bool:
        return any(self.space.is_opaque(a) for a in poly.atoms)

    def _within(self, accesses: list[Access], shape: Layout, iterators: frozenset[str]) -> tuple[str, Any] | None:
        """How many rows of an array of fixed size are in use, where arguments alone say so."""
        try:
            text, rows = self._rows(accesses, shape, iterators)
        except Unbounded:
            return None
        return None if "top(" in text else (text, rows)

    def _rows(self, accesses: list[Access], shape: Layout, iterators: frozenset[str]) -> tuple[str, Any]:
        """The first extent, as the references say that are surely made.

        One that stands behind a test which is not followed (`x % w != w - 1`) may not reach further: the array need not."""
        atoms = self.space.atoms
        for access in accesses:
            counts = (a for loop in access.statement.loops for a in condition_atoms(loop.condition))
            if access.subscripts and atoms.closure((*counts, *(a for p in access.subscripts for a in p.atoms))) & atoms.wide:
                raise Unbounded(access)
        whole = {(Poly.atom(i),) for i in iterators}  # `w[k]`, which every other test on data would take to be whole, too
        loose = [a for a in accesses if a.subscripts not in whole and any(atoms.loose(g, iterators) for g in a.guards)]
        if not loose:
            return self._rows_of(accesses, shape, iterators)
        sure = [a for a in accesses if a not in loose]
        found = self._rows_of(sure, shape, iterators) if sure else ("", None)
        if self._rows_of(accesses, shape, iterators)[0] != found[0]:
            raise Unbounded(loose[0], tested=True)
        return found

    def _rows_of(self, accesses: list[Access], shape: Layout, iterators: frozenset[str]) -> tuple[str, Any]:
        """The first extent. Where references disagree on their strides (`a[i*n + j]`, then `a[k]`), each kind reaches as far
        as it does for itself: read as one layout, they would seem to reach further."""
        alike = not shape.requirements and all(shape.of(a) is not None for a in accesses)
        groups = [accesses] if alike else by_stride(accesses, self.space, iterators)
        if len(groups) == 1:
            return self._reach(accesses, shape)
        texts = dict.fromkeys(self._reach(g, layout(shape.array, g, self.space, iterators))[0] for g in groups)
        return next(iter(texts)) if len(texts) == 1 else f"max({', '.join(texts)})", None

    def _declared(self, dim: ir.Expr | None) -> str | None:
        if dim is None:
            return None
        from cudaperf.engine.loops.bounds import poly_text

        poly = self._dimension(dim)
        if any(self.space.is_opaque(a) for a in poly.atoms):
            return None
        return poly_text(poly, lambda a: param_text(a, self.space, str))

    def _dimension(self, dim: ir.Expr) -> Poly:
        from cudaperf.engine.loops.convert import Environment, to_poly

        return to_poly(dim, Environment(self.model.atoms, {n: Poly.atom(n) for n in self.scalar_names}))

    def _below(self, poly: Poly) -> Any:
        """isl's set of the integers below a polynomial."""
        return self.space.set(("d",), Compare(poly - Poly.atom("d") - ONE, ">="))

    def _reach(self, accesses: list[Access], shape: Layout) -> tuple[str, Any]:
        """1 + the largest flat index (first index, for arrays declared with dimensions) over all accesses; and the set of
        first indices up to the largest, where rows are as long as the layout's."""
        count = 1 + len(shape.extents)
        dims = tuple(f"d{k}" for k in range(count))
        reached = self._reached(accesses, shape, dims)
        if reached is None or reached.is_empty():
            return "0", None
        with self.space.budget():
            reached = reached.coalesce()
            params = self._without_data(reached.params().coalesce())
            negative = reached.intersect(self.space.set(dims, Compare(-Poly.atom(dims[0]) - ONE, ">=")))
            if not negative.is_empty():
                self.preconditions.append(negative.params())
            # in rows that no index leaves, the last element is the lexicographically last
            last = reached.lexmax_pw_multi_aff()
            tops = [plus(last.get_at(k), 1).coalesce().gist(params) for k in range(count)]
            positive = self._positive(tops)
            texts = [pw_aff_text(top, self.space, self.name) for top in tops]
            gate = None if positive is not None and positive.is_subset(params) else set_text(params, self.space, self.name)
            full = [self._equals(top, length, params) for top, length in zip(tops[1:], shape.extents, strict=True)]
        texts = [texts[0], *(self._length(n) if same else t for t, n, same in zip(texts[1:], shape.extents, full, strict=True))]
        if gate is None:
            texts = [t if t.isdigit() else f"max(0, {t})" for t in texts]
        if all(full):
            total = " * ".join(_paren(t) for t in texts)
        else:
            total = self._last_row(texts, shape)
            gate = gate or " and ".join(f"{_paren(t)} > 0" for t in texts)
        first = reached.project_out(isl.dim_type.set, 1, count - 1)
        below = first.apply(isl.Map.lex_ge(first.get_space())) if all(full) else None
        return total if gate is None else f"{_paren(total)} if {gate} else 0", below

    def _without_data(self, params: Any) -> Any:
        """A condition on arguments alone, whatever the data."""
        for k in range(params.dim(isl.dim_type.param) - 1, -1, -1):
            if self.space.names[params.get_dim_name(isl.dim_type.param, k)].startswith("@"):
                params = params.project_out(isl.dim_type.param, k, 1)
        return params.coalesce()

    def _last_row(self, texts: list[str], shape: Layout) -> str:
        """1 + the flat index of the last element, where rows are longer than what is used of them."""
        sizes = [self._length(length) for length in shape.extents]
        parts = []
        for d, top in enumerate(texts):
            parts.append(" * ".join([f"({_paren(top)} - 1)", *(_paren(s) for s in sizes[d:])]))
        return " + ".join(parts) + " + 1"

    def _reached(self, accesses: list[Access], shape: Layout, dims: tuple[str, ...]) -> Any:
        union: Any = None
        seen: set[object] = set()
        for access in accesses:
            index = shape.of(access)
            if index is None:
                raise Unbounded(access)
            key = (index, access.statement.loops, access.guards)
            if key in seen:
                continue
            seen.add(key)
            index = (*index, *[Poly()] * (len(dims) - len(index)))[: len(dims)]
            points = tuple(Compare(p - Poly.atom(d), "=") for p, d in zip(index, dims, strict=True))
            condition: Condition = And((access.domain, *points))
            loops = And((*(v.condition for v in access.statement.loops), *points))
            self._not_before(access, index[0])
            condition = And((condition, *self._bounded_data(loops)))
            with self.space.budget():
                here = self.space.set(dims, condition, tuple(v.atom for v in access.statement.loops))
                if here.is_empty():
                    continue
                bounded = [here.dim_has_upper_bound(isl.dim_type.set, k) for k in range(len(dims))]
                if not all(bounded) or not here.dim_has_lower_bound(isl.dim_type.set, 0):
                    raise Unbounded(access)
                self._known(here, access)
                union = here if union is None else union.union(here)
        return union

    def _not_before(self, access: Access, index: Poly) -> None:
        """Loaded subscripts that may be negative (`t[idx[i]]` with a `t` inside a table) are the original's business: what the
        host copies begins at the pointer."""
        data = {self.space.atoms.data[a] for a in self.space.atoms.closure(index.atoms) if a in self.space.atoms.data}
        if not data - self.busy:
            return
        below, local = Compare(-index - ONE, ">="), tuple(v.atom for v in access.statement.loops)
        if self.space.empty(local, And((access.domain, below))):
            loops = And(tuple(v.condition for v in access.statement.loops))
            if not self.space.empty(local, And((loops, below))):
                self.tested |= data - self.busy
            return
        for array in sorted(data - self.busy):
            variable = next((v for v in self.model.function.parameters + self.model.function.globals if v.name == array), None)
            if variable is not None:
                count = " * ".join(_paren(t) for t in self.of(variable).texts)
                self.requirements.setdefault(f"bottom({array}, {count}) >= 0")

    def _known(self, points: Any, access: Access) -> None:
        """Raises `Unbounded` where the reach depends on something that only the device knows."""
        for k in range(points.dim(isl.dim_type.param)):
            name = points.get_dim_name(isl.dim_type.param, k)
            try:
                if points.involves_dims(isl.dim_type.param, k, 1):
                    param_text(self.space.names[name], self.space, self.name)
            except NotExpressible:
                raise Unbounded(access) from None

    @staticmethod
    def _positive(tops: list[Any]) -> Any:
        """The parameters for which every extent is positive, whatever the accesses' own conditions; None where an extent is
        said by cases, which are told apart only under those conditions."""
        found: Any = None
        for top in tops:
            pieces = top.get_pieces()
            if len(pieces) != 1:
                return None
            here = isl.PwAff.from_aff(pieces[0][1]).pos_set()
            found = here if found is None else found.intersect(here)
        return found.params()

    def _equals(self, top: Any, length: Poly, params: Any) -> bool:
        exact = self.space.set(("d",), Compare(Poly.atom("d") - length, "="))
        return exact.dim_has_upper_bound(isl.dim_type.set, 0) and bool(params.is_subset(top.eq_set(exact.dim_max(0))))

    def _length(self, length: Poly) -> str:
        from cudaperf.engine.loops.bounds import poly_text

        return poly_text(length, lambda a: param_text(a, self.space, self.name))

    def _bounded_data(self, condition: Condition) -> list[Condition]:
        """For every loaded integer that matters here: at most the largest value of its array."""
        closure = self.space.atoms.closure(condition_atoms(condition))
        parts: list[Condition] = []
        for atom in sorted(closure):
            array = self.space.atoms.data.get(atom)
            if array is not None and array not in self.busy:
                parts.append(Compare(Poly.atom(f"@{array}") - Poly.atom(atom), ">="))
                parts.append(Compare(Poly.atom(atom), ">="))
        return parts

    def name(self, atom: str) -> str:
        """Arguments by name; the largest value of an index array as `(top(array, count) - 1)`."""
        if atom.startswith("@"):
            array = atom[1:]
            variable = next((v for v in self.model.function.parameters + self.model.function.globals if v.name == array), None)
            if variable is None or array in self.busy:
                raise NotExpressible(atom)
            count = " * ".join(_paren(t) for t in self.of(variable).texts)
            return f"(top({array}, {count}) - 1)"
        if atom in self.scalar_names:
            return atom
        raise NotExpressible(atom)

    def data_of(self, access: Access, shape: Layout) -> list[str]:
        """Integer arrays whose loaded values are subscripts as they are (`x[col[k] + 1]`, not `x[col[k] & 31]`)."""
        data = self.space.atoms.data
        found: list[str] = []
        for p in shape.of(access) or access.subscripts or ():
            opaque = [a for a in p.atoms if self.space.is_opaque(a)]
            if all(a in data and p.coefficient(a) == ONE for a in opaque):
                found += [data[a] for a in opaque]
        return found

    def precondition_texts(self) -> tuple[str, ...]:
        """What the function itself needs of its arguments so that no subscript is negative."""
        return requirement_texts(self.preconditions, self.space, self.name)


def _paren(text: str) -> str:
    atomic = text.replace("_", "").isalnum() or (text.startswith(("max(", "top(", "(")) and _balanced(text))
    return text if atomic else f"({text})"


def _balanced(text: str) -> bool:
    """The parenthesis that opens first closes last."""
    depth = 0
    for i, c in enumerate(text):
        depth += {"(": 1, ")": -1}.get(c, 0)
        if c == ")" and depth == 0:
            return i == len(text) - 1
    return False
