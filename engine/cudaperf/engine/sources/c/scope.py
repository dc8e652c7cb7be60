"""What names mean while a function is lowered, and what all functions of a unit share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from cudaperf.engine.loops import ir
from cudaperf.engine.reason import Reason, ReasonCode, Refusal
from cudaperf.engine.sources.c.c_types import Shape, TypeRefused
from cudaperf.engine.sources.c.syntax import Macros, Source, Syntax
from cudaperf.engine.sources.c.text import position, reason_at

MATH = frozenset(
    """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor
    fma fmax fmin fmod hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround
    nearbyint nextafter pow remainder rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc
    """.split()  # noqa: SIM905
)
PURE = MATH | {f"{name}f" for name in MATH} | {"abs", "labs", "llabs", "isnan", "isinf", "isfinite", "signbit"}
BIT_BUILTINS = frozenset(f"__builtin_{op}{size}" for op in ("popcount", "clz", "ctz", "ffs") for size in ("", "l", "ll"))
CLASSIFIERS = {"__builtin_isnan": "isnan", "__builtin_isinf_sign": "isinf", "__builtin_isinf": "isinf"}
CLASSIFIERS |= {"__builtin_isfinite": "isfinite", "__builtin_signbit": "signbit"}
HEAP = ("malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign", "alloca", "__builtin_alloca")


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where a pointer expression points: `array[indices...].path...`; the last index or path step is what `+ 1` adds to."""

    array: str
    indices: tuple[ir.Expr, ...]
    path: tuple[str | ir.Expr, ...] = ()

    @property
    def last(self) -> ir.Expr:
        step = self.path[-1] if self.path else self.indices[-1]
        assert not isinstance(step, str)
        return step

    def moved(self, last: ir.Expr) -> Pointer:
        """The same pointer with another last index."""
        if self.path:
            return Pointer(self.array, self.indices, (*self.path[:-1], last))
        return Pointer(self.array, (*self.indices[:-1], last))


@dataclass(slots=True)
class Binding:
    """A variable in scope.

    `alias`: a local pointer that never changes, `pointer` says where it points. `counter`: a pointer that walks one array,
    modelled as that array (`pointer`) and an integer variable `counter`. `array`: parameters, arrays, swapped pointers.
    `refused`: a parameter whose type is outside the subset, for the reason `refused`; its first use is to blame.
    """

    name: str
    kind: Literal["scalar", "array", "alias", "counter", "refused"]
    shape: Shape
    dims: tuple[ir.Expr | None, ...] = ()
    pointer: Pointer | None = None
    counter: str = ""
    refused: TypeRefused | None = None


@dataclass(slots=True)
class UnitContext:
    """What the functions of one translation unit share. `lower_helper` lowers a called function, callees first.

    `renamed`: names in the trees -> the user's, of what CUDA C++ reserves.
    """

    main: Source
    macros: Macros
    definitions: dict[str, Any]
    source_of: Callable[[str], Source]
    helpers: dict[str, ir.Function] = field(default_factory=dict)
    trees: list[Syntax] = field(default_factory=list)
    active: list[str] = field(default_factory=list)
    globals: dict[str, ir.Variable] = field(default_factory=dict)
    global_cursors: dict[str, Any] = field(default_factory=dict)
    lower_helper: Callable[[str, Syntax], ir.Function] | None = None
    assumptions: list[tuple[str, ir.Span | None]] = field(default_factory=list)
    nonnull: list[str] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)

    def refuse(self, syntax: Syntax | None, message: str, code: ReasonCode = ReasonCode.UNSUPPORTED) -> NoReturn:
        """Stop with a reason at the place of a syntax node (of the main file; else the message names the header)."""
        if syntax is None:
            raise Refusal(Reason(code, message))
        if not syntax.source.is_main:
            line, _ = position(syntax.source.text, syntax.start)
            raise Refusal(Reason(code, f"{message} ({syntax.source.path}:{line})"))
        raise Refusal(reason_at(self.main.text, syntax.place, code, message))


def assigned_names(node: ir.Node) -> Counter[str]:
    """Variables and arrays that a tree may change, by name."""
    found: Counter[str] = Counter()
    for item in ir.walk(node):
        match item:
            case ir.Assign(target=ir.Name(id=name)) | ir.Assign(target=ir.Load(array=name)) | ir.For(var=name):
                found[name] += 1
            case ir.Address(array=name, const=False) | ir.Decl(name=name):
                found[name] += 1
            case ir.PointerSwap(first=first, second=second):
                found.update((first, second))
    return found


def read_names(node: ir.Node) -> set[str]:
    """Variables and arrays that a tree reads, by name."""
    named = {n.id for n in ir.walk(node) if isinstance(n, ir.Name)}
    return named | {n.array for n in ir.walk(node) if isinstance(n, ir.Load | ir.Address)}
