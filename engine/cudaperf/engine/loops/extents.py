"""How far each array reaches: element counts as size expressions, from every reference in the function.

Extents follow from subscripts alone (data-dependent conditions are taken as true); an index loaded from memory reaches as far
as the largest value in its array, `top(col, nnz) - 1`, which the host wrapper computes from the data. A reference that nothing
bounds is a refusal with a way on: `// cudaperf: assume extent(x) == n`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.bounds import NotExpressible, param_text, upper
from cudaperf.engine.loops.layout import Layout, layout
from cudaperf.engine.loops.model import Access, Model
from cudaperf.engine.loops.poly import ONE, And, Compare, Condition, Poly, condition_atoms
from cudaperf.engine.loops.requirements import requirement_texts
from cudaperf.engine.loops.sets import Space

INDEX = "index"


@dataclass(frozen=True, slots=True)
class Unbounded(Exception):
    """The reference whose reach is unknown."""

    access: Access


@dataclass(frozen=True, slots=True)
class Extent:
    """`texts`: one size expression a logical dimension (their product is the element count).

    `indexed_by`: integer arrays whose values are subscripts here. `data`: the extent reads data (`top`/`at`).
    """

    texts: tuple[str, ...]
    indexed_by: tuple[str, ...] = ()
    data: bool = False


@dataclass(slots=True)
class Extents:
    """Computes extents on demand; they may need one another's (`x[col[k]]`)."""

    model: Model
    space: Space
    given: dict[str, str]
    scalar_names: frozenset[str]
    found: dict[str, Extent] = field(default_factory=dict)
    preconditions: list[object] = field(default_factory=list)
    busy: set[str] = field(default_factory=set)

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
            return Extent((self.given[variable.name],), indexed)
        declared = [self._declared(d) for d in variable.dims]
        if all(d is not None for d in declared):
            return Extent(tuple(d for d in declared if d is not None), indexed)
        if any(a.subscripts is None and isinstance(a.node, ir.Address) for a in accesses):
            raise Unbounded(next(a for a in accesses if a.subscripts is None))
        rows = self._reach(accesses, shape)
        inner = tuple(d for d in declared[1:] if d is not None)
        data = any("top(" in text for text in (rows, *inner))
        return Extent((rows, *inner), indexed, data)

    def _declared(self, dim: ir.Expr | None) -> str | None:
        if dim is None:
            return None
        from cudaperf.engine.loops.bounds import poly_text
        from cudaperf.engine.loops.convert import Environment, to_poly

        env = Environment(self.model.atoms, {n: Poly.atom(n) for n in self.scalar_names})
        poly = to_poly(dim, env)
        if any(self.space.is_opaque(a) for a in poly.atoms):
            return None
        return poly_text(poly, lambda a: param_text(a, self.space, str))

    def _reach(self, accesses: list[Access], shape: Layout) -> str:
        """1 + the largest flat index (first index, for arrays declared with dimensions) over all accesses."""
        texts: dict[str, None] = {}
        seen: set[object] = set()
        for access in accesses:
            index = shape.of(access)
            if index is None:
                raise Unbounded(access)
            key = (index, access.statement.loops, access.statement.guards)
            if key not in seen:
                seen.add(key)
                texts.setdefault(self._flat(access, index, shape.extents))
        kept = [t for t in texts if t != "0"] or ["0"]
        return kept[0] if len(kept) == 1 else f"max({', '.join(kept)})"

    def _flat(self, access: Access, index: tuple[Poly, ...], lengths: tuple[Poly, ...]) -> str:
        """The reach of one access; for a flattened array the sum of strides times largest indices."""
        if not lengths:
            return self._largest(access, index[0] if index else Poly())
        sizes = [self._length(length) for length in lengths]
        tops = [self._largest(access, p) for p in index]
        if all(top == size for top, size in zip(tops[1:], sizes, strict=True)):
            return " * ".join(_paren(t) for t in (tops[0], *sizes))
        total = f"{_paren(_minus_one(tops[0]))} * {' * '.join(_paren(s) for s in sizes)}"
        for d, top in enumerate(tops[1:], start=1):
            strides = [_paren(s) for s in sizes[d:]]
            total += " + " + " * ".join([_paren(_minus_one(top)), *strides])
        empty = " and ".join(f"{_paren(top)} > 0" for top in tops)
        return f"({total} + 1) if ({empty}) else 0"

    def _length(self, length: Poly) -> str:
        from cudaperf.engine.loops.bounds import poly_text

        return poly_text(length, lambda a: param_text(a, self.space, str))

    def _largest(self, access: Access, poly: Poly) -> str:
        """1 + the largest value of a subscript, and 0 where the access never happens; notes when it may be negative."""
        point = Compare(poly - Poly.atom(INDEX), "=")
        condition: Condition = And((access.statement.domain, point))
        data = self._bounded_data(condition)
        condition = And((condition, *data))
        local = tuple(v.atom for v in access.statement.loops)
        try:
            top = upper(self.space, (INDEX,), condition, local, self.name)
            lowest = self.space.set((), And((condition, Compare(-Poly.atom(INDEX) - ONE, ">="))), (*local, INDEX))
            if not lowest.is_empty():
                self.preconditions.append(lowest.params())
        except NotExpressible:
            raise Unbounded(access) from None
        domain = self.space.set((), condition, (*local, INDEX)).params()
        guard = requirement_texts([domain.complement()], self.space, self.name)
        text = top[:-4] if top.endswith(" - 1") and _whole(top[:-4]) else f"{top} + 1"
        return self._guarded(text, guard, domain)

    def _guarded(self, text: str, guard: tuple[str, ...], domain: object) -> str:
        if not guard:
            return text
        names = text.replace("_", "").isalnum()
        # `n if n >= 1 else 0` is max(0, n)
        if names and guard[0] in (f"{text} >= 1", f"{text} > 0"):
            return f"max(0, {text})"
        return f"({text}) if {_paren(guard[0])} else 0"

    def _bounded_data(self, condition: Condition) -> list[Condition]:
        """For every loaded integer that matters here: at most the largest value of its array."""
        closure = self.space.atoms.closure(condition_atoms(condition))
        parts: list[Condition] = []
        for atom in sorted(closure):
            array = self.space.atoms.data.get(atom)
            if array is not None:
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
        """Integer arrays whose loaded values are (part of) the subscripts of an access."""
        index = shape.of(access) or access.subscripts or ()
        closure = self.space.atoms.closure(a for p in index for a in p.atoms)
        return [self.space.atoms.data[a] for a in sorted(closure) if a in self.space.atoms.data]

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


def _minus_one(text: str) -> str:
    return text[:-4] if text.endswith(" + 1") and _whole(text[:-4]) else f"{text} - 1"


def _whole(text: str) -> bool:
    return text.count("(") == text.count(")") and " if " not in text
