"""Random integer expressions print to C that means the same: gcc evaluates them as a Python evaluator does."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.conversions import promote, usual
from cudaperf.engine.loops.printer import Printer

LONG_LONG = ir.Scalar("long long", "int", 64)
ULONG = ir.Scalar("unsigned long", "int", 64, signed=False)
CHAR = ir.Scalar("signed char", "int", 8)
UCHAR = ir.Scalar("unsigned char", "int", 8, signed=False)
TYPES = [ir.INT, ir.UINT, ir.LONG, ULONG, LONG_LONG, CHAR, UCHAR]
VALUES = {
    "i": (ir.INT, -7),
    "u": (ir.UINT, 4000000000),
    "l": (ir.LONG, -3),
    "ul": (ULONG, 1 << 63),
    "c": (CHAR, -100),
    "h": (UCHAR, 200),
}


def wrapped(value: int, kind: ir.Scalar) -> int:
    value &= (1 << kind.bits) - 1
    return value - (1 << kind.bits) if kind.signed and value >> (kind.bits - 1) else value


def converted(node: ir.Expr, kind: ir.Scalar) -> ir.Expr:
    return node if node.type == kind else ir.Cast(type=kind, operand=node, implicit=True)


def scalar(node: ir.Expr) -> ir.Scalar:
    assert isinstance(node.type, ir.Scalar)
    return node.type


def binary(op: str, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    """A binary node with the conversions that C makes."""
    if op in ("&&", "||"):
        return ir.Binary(op=op, left=left, right=right)
    if op in ("<<", ">>"):
        left = converted(left, promote(scalar(left)))
        return ir.Binary(op=op, left=left, right=ir.IntConst(value=3), type=scalar(left))
    common = usual(scalar(left), scalar(right))
    kind = ir.INT if op in ("<", "<=", ">", ">=", "==", "!=") else common
    return ir.Binary(op=op, left=converted(left, common), right=converted(right, common), type=kind)


def unary(op: str, operand: ir.Expr) -> ir.Expr:
    kind = promote(scalar(operand))
    return ir.Unary(op=op, operand=converted(operand, kind) if op != "!" else operand, type=ir.INT if op == "!" else kind)  # type: ignore[arg-type]


def select(condition: ir.Expr, then: ir.Expr, other: ir.Expr) -> ir.Expr:
    common = usual(scalar(then), scalar(other))
    return ir.Select(condition=condition, then=converted(then, common), other=converted(other, common), type=common)


def evaluated(node: ir.Expr) -> int:
    """The value, with two's complement wrapping (gcc -fwrapv) and 0 for a division by zero."""
    match node:
        case ir.IntConst(value=value):
            return value
        case ir.Name(id=name):
            return VALUES[name][1]
        case ir.Cast(type=kind, operand=operand):
            return wrapped(evaluated(operand), kind)
        case ir.Unary(op=op, operand=operand, type=kind):
            value = evaluated(operand)
            return int(not value) if op == "!" else wrapped({"-": -value, "+": value, "~": ~value}[op], kind)
        case ir.Select(condition=condition, then=then, other=other):
            return evaluated(then) if evaluated(condition) else evaluated(other)
        case ir.Binary(op=op, left=left, right=right, type=kind):
            return wrapped(operate(op, evaluated(left), evaluated(right)), kind)
    raise AssertionError(node)


def operate(op: str, a: int, b: int) -> int:
    table = {
        "+": a + b,
        "-": a - b,
        "*": a * b,
        "&": a & b,
        "|": a | b,
        "^": a ^ b,
        "<": a < b,
        "<=": a <= b,
        ">": a > b,
        ">=": a >= b,
    }
    table |= {"==": a == b, "!=": a != b, "&&": bool(a and b), "||": bool(a or b)}
    if op in ("<<", ">>"):
        return a << b if op == "<<" else a >> b
    return int(table[op])


LEAVES = st.one_of(
    st.sampled_from([ir.Name(id=name, type=kind) for name, (kind, _) in VALUES.items()]),
    st.integers(-(2**31), 2**31 - 1).map(lambda v: ir.IntConst(value=v)),
    st.integers(0, 2**64 - 1).map(lambda v: ir.IntConst(value=v, type=ULONG)),
    st.integers(-(2**63), 2**63 - 1).map(lambda v: ir.IntConst(value=v, type=ir.LONG)),
)
OPERATORS = ["+", "-", "*", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&&", "||"]


def grown(inner: st.SearchStrategy[ir.Expr]) -> st.SearchStrategy[ir.Expr]:
    return st.one_of(
        st.builds(binary, st.sampled_from(OPERATORS), inner, inner),
        st.builds(unary, st.sampled_from(["-", "+", "~", "!"]), inner),
        st.builds(select, inner, inner, inner),
        st.builds(lambda kind, operand: ir.Cast(type=kind, operand=operand), st.sampled_from(TYPES), inner),
        st.builds(converted, inner, st.sampled_from(TYPES)),
    )


EXPRESSIONS = st.recursive(LEAVES, grown, max_leaves=14)


@settings(max_examples=5)
@given(st.lists(EXPRESSIONS, min_size=60, max_size=60))
def test_expressions_mean_in_c_what_they_mean_as_trees(tmp_path_factory, nodes: list[ir.Expr]) -> None:  # type: ignore[no-untyped-def]
    folder: Path = tmp_path_factory.mktemp("printed")
    names = "\n".join(
        f"volatile {kind.name} {name} = (({kind.name}){value}{'ul' if value > 1 << 40 else 'l'});"
        for name, (kind, value) in VALUES.items()
    )
    prints = "\n".join(f'printf("%ld\\n", (long)({Printer().expr(node)}));' for node in nodes)
    (folder / "p.c").write_text(f"#include <stdio.h>\n{names}\nint main(void) {{\n{prints}\nreturn 0; }}\n")
    build = ["gcc", "-w", "-fwrapv", "-O0", "-o", str(folder / "p"), str(folder / "p.c")]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = subprocess.run([str(folder / "p")], capture_output=True, text=True, check=True).stdout.split()
    for node, result in zip(nodes, results, strict=True):
        assert int(result) == wrapped(evaluated(node), ir.LONG), Printer().expr(node)


@given(EXPRESSIONS, EXPRESSIONS)
def test_replacements_stand_where_the_node_stood(whole: ir.Expr, part: ir.Expr) -> None:
    text = f"x = {Printer().expr(whole)};".encode()
    spanned = ir.Assign(
        target=ir.Name(id="x"), op=None, value=ir.Name(id="v", span=ir.Span(4, len(text) - 1)), span=ir.Span(0, len(text))
    )
    printed = Printer(text, lambda node: Printer().expr(part) if isinstance(node, ir.Name) and node.id == "v" else None)
    assert printed.statement(spanned) == [f"x = {Printer().expr(part)};"]
