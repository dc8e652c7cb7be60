"""Lower what C does with blocks of memory: memset and memcpy to loops, a malloc that is freed in the same function to an array.

An allocation is an array of the function where its pointer is set once, at the function's top level, and given to `free`.
Whether it succeeds is not modelled: the statements that test it go, and emitted files have their own way out.
"""

from __future__ import annotations

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.conversions import strip_implicit
from cudaperf.engine.sources.c.c_types import Shape, is_array
from cudaperf.engine.sources.c.declarations import pointing
from cudaperf.engine.sources.c.expressions import ASSIGN, inner, opcode
from cudaperf.engine.sources.c.loop_statements import Loops
from cudaperf.engine.sources.c.parse import evaluate
from cudaperf.engine.sources.c.pointer_roles import allocation, declared_by, freed
from cudaperf.engine.sources.c.references import ZERO, as_type, unplaced
from cudaperf.engine.sources.c.scope import Binding, Pointer
from cudaperf.engine.sources.c.syntax import Syntax


class Memory(Loops):
    """memset, memcpy, malloc, calloc, free."""

    # --- memset and memcpy ---------------------------------------------------------------------------------------------

    def memory_call(self, top: Syntax, syntax: Syntax, name: str) -> list[ir.Stmt]:
        """`memset(a, 0, n * sizeof *a)` and `memcpy(a, b, n * sizeof *a)` as loops over elements."""
        target_syntax, source_syntax, size_syntax = (bare_pointer(c) for c in top.children[1:4])
        kind = self.element(target_syntax)
        target = self.flat(target_syntax)
        if not isinstance(kind, ir.Scalar) or (name == "memset" and evaluate(inner(source_syntax).cursor) != 0):
            self.refuse(syntax, f"{name} of anything but numbers, or to anything but zero")
        count = self.elements(size_syntax, kind)
        if count is None:
            self.refuse(size_syntax, f"the size of {name} is not a number of elements times sizeof")
        source = None
        if name != "memset":
            if self.element(source_syntax) != kind:
                self.refuse(syntax, f"{name} between different types reinterprets memory")
            source = self.flat(source_syntax)
        return [self.filling(target, source, count, kind, syntax)]

    def filling(self, target: Pointer, source: Pointer | None, count: ir.Expr, kind: ir.Scalar, syntax: Syntax) -> ir.For:
        """A loop that sets elements to those of another array, or to zero."""
        var = ir.Name(id=self.fresh("element"), type=ir.LONG, near=syntax.place)
        value: ir.Expr = ir.IntConst(value=0) if kind.kind == "int" else ir.FloatConst(value=0.0, spelling="0.0")
        value = as_type(value, kind) if source is None else self.element_at(source, var, kind)
        store = ir.Assign(target=self.element_at(target, var, kind), op=None, value=value, near=syntax.place)
        body = ir.Block(statements=(store,), near=syntax.place)
        zero, one = (ir.IntConst(value=v, type=ir.LONG) for v in (0, 1))
        bound = as_type(count, ir.LONG)
        return ir.For(var=var.id, type=ir.LONG, lower=zero, relation="<", bound=bound, step=one, body=body, near=syntax.place)

    def flat(self, syntax: Syntax) -> Pointer:
        pointer = self.pointer(syntax) if not is_array(syntax.cursor.type) else self.decayed(self.object(syntax))
        if pointer.path or len(pointer.indices) != 1 or self.rank(pointer.array) > 1:
            self.refuse(syntax, "only one-dimensional arrays can be set or copied whole")
        return pointer

    def element_at(self, pointer: Pointer, var: ir.Name, kind: ir.Type) -> ir.Load:
        moved = self.plus(pointer, "+", var)
        return ir.Load(array=moved.array, indices=moved.indices, type=kind, near=var.near)

    def elements(self, syntax: Syntax, kind: ir.Scalar) -> ir.Expr | None:
        """How many elements a size in bytes is: a constant, or a product with one sizeof."""
        value = evaluate(syntax.cursor)
        if isinstance(value, int):
            return ir.IntConst(value=value // (kind.bits // 8), type=ir.LONG) if value % (kind.bits // 8) == 0 else None
        if kind.bits == 8:
            return strip_implicit(self.lower(syntax))
        top = inner(syntax)
        if top.kind == "BINARY_OPERATOR" and opcode(top) == 3:
            for one, other in (top.children, top.children[::-1]):
                if inner(one).kind == "CXX_UNARY_EXPR" and evaluate(inner(one).cursor) == kind.bits // 8:
                    return strip_implicit(self.lower(other))
                part = self.elements(one, kind)
                if part is not None:
                    count = strip_implicit(self.lower(other))
                    return ir.Binary(op="*", left=as_type(part, ir.LONG), right=as_type(count, ir.LONG), type=ir.LONG)
        return None

    # --- malloc and free -----------------------------------------------------------------------------------------------

    def allocated(self, bound: Binding, call: Syntax, place: Syntax) -> list[ir.Stmt]:
        """`t = malloc(n * sizeof *t)` as `double t[n]`; calloc sets it to zero."""
        kind, sizes = bound.shape.element, call.children[1:]
        if not isinstance(kind, ir.Scalar) or bound.shape.extents:
            self.unknown_call(call, call.spelling)
        count = self.elements(sizes[-1], kind)
        if count is None:
            self.unknown_call(call, call.spelling)
        if call.spelling == "calloc":
            first = strip_implicit(self.lower(sizes[0]))
            is_one = isinstance(count, ir.IntConst) and count.value == 1
            product = ir.Binary(op="*", left=as_type(first, ir.LONG), right=as_type(count, ir.LONG), type=ir.LONG)
            count = first if is_one else product
        count = unplaced(count, place.place)
        bound.dims = (count,)
        made: list[ir.Stmt] = [ir.Decl(name=bound.name, type=kind, dims=(count,), near=place.place)]
        if call.spelling == "calloc":
            made.append(self.filling(Pointer(bound.name, (ZERO,)), None, count, kind, place))
        return made

    def pointer_variable(self, syntax: Syntax, shape: Shape, init: Syntax | None, place: Syntax) -> list[ir.Stmt]:
        if int(syntax.cursor.hash) not in self.roles.heap:
            return super().pointer_variable(syntax, shape, init, place)
        bound = Binding(syntax.spelling, "array", shape)
        self.declare(syntax, bound)
        call = allocation(init) if init is not None else None
        return self.allocated(bound, call, pointing(syntax, place)) if call is not None else []

    def expression(self, syntax: Syntax) -> list[ir.Stmt]:
        top = inner(syntax)
        if top.kind == "CALL_EXPR" and freed(top) in self.roles.heap:
            return []
        if opcode(top) == ASSIGN and declared_by(inner(top.children[0])) in self.roles.heap:
            call = allocation(top.children[1])
            assert call is not None
            return self.allocated(self.binding(inner(top.children[0])), call, syntax)
        return super().expression(syntax)


def bare_pointer(syntax: Syntax) -> Syntax:
    """An argument before its conversion to `void *`."""
    below = syntax
    while below.kind in ("PAREN_EXPR", "UNEXPOSED_EXPR", "CSTYLE_CAST_EXPR") and len(below.children) == 1:
        pointee = below.cursor.type.get_canonical().get_pointee()
        if pointee.kind.name != "VOID":
            break
        below = below.children[0]
    return below
