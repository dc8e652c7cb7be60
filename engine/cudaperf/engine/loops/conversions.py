"""C's implicit arithmetic conversions, and which library functions C++ overloads.

Used by the C front end (types of trees) and by `loops.printer` (when an implicit cast may stay implicit). LP64 only:
`long` is 64 bits wide, plain `char` is signed.
"""

from __future__ import annotations

from cudaperf.engine.loops.ir import INT, UINT, Cast, Expr, Scalar, Type

RANK = {"_Bool": 0, "char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 3}
RANK |= {"unsigned int": 3, "long": 4, "unsigned long": 4, "long long": 5, "unsigned long long": 5}

UNSIGNED = {"int": UINT} | {name: Scalar(f"unsigned {name}", "int", 64, signed=False) for name in ("long", "long long")}

# C has one function a name; C++ and CUDA overload these by argument type, so an argument that C converts implicitly
# must be converted explicitly in emitted text.
OVERLOADED = frozenset(
    """
    abs labs llabs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1
    fabs fdim floor fma fmax fmin fmod frexp hypot ilogb isfinite isinf isnan ldexp lgamma llrint llround log
    log10 log1p log2 logb lrint lround modf nearbyint nextafter pow remainder remquo rint round scalbln scalbn
    signbit sin sinh sqrt tan tanh tgamma trunc
    """.split()  # noqa: SIM905
)


def promote(scalar: Scalar) -> Scalar:
    """Integer promotion: anything that fits in int becomes int."""
    return INT if scalar.kind == "int" and RANK.get(scalar.name, 9) < RANK["int"] else scalar


def usual(left: Scalar, right: Scalar) -> Scalar:
    """The usual arithmetic conversions: the type in which `left op right` is computed."""
    if "float" in (left.kind, right.kind):
        return max((t for t in (left, right) if t.kind == "float"), key=lambda t: t.bits)
    left, right = promote(left), promote(right)
    if left.signed == right.signed:
        return max(left, right, key=lambda t: RANK[t.name])
    unsigned, signed = (right, left) if left.signed else (left, right)
    if RANK[unsigned.name] >= RANK[signed.name]:
        return unsigned
    return signed if signed.bits > unsigned.bits else UNSIGNED[signed.name]


def strip_implicit(node: Expr) -> Expr:
    """The expression below any implicit casts."""
    while isinstance(node, Cast) and node.implicit:
        node = node.operand
    return node


def scalar_of(kind: Type | None) -> Scalar | None:
    """The type if it is arithmetic."""
    return kind if isinstance(kind, Scalar) else None


def preserves(source: Scalar, target: Scalar) -> bool:
    """Whether every value of `source` has the same value in `target`."""
    if source.kind == "float":
        return target.kind == "float" and target.bits >= source.bits
    if target.kind == "float":
        return source.bits - source.signed <= (24 if target.bits == 32 else 53)
    return target.bits > source.bits - (source.signed == target.signed) and (target.signed or not source.signed)


def implied(node: Expr, becomes: Type | None) -> Expr:
    """`node` without its implicit casts if a context that converts to `becomes` redoes them, else `node`."""
    if node.type != becomes:
        return node
    inner = node
    while isinstance(inner, Cast) and inner.implicit:
        below = scalar_of(inner.operand.type)
        if inner is not node and (below is None or not preserves(below, inner.type)):
            return node
        inner = inner.operand
    return inner
