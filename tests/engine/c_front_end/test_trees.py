"""Small snippets and the trees they become."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.printer import Printer
from cudaperf.engine.reason import ReasonCode, Refusal
from cudaperf.engine.sources.c import load, place, position, preprocess


def unit(folder: Path, text: str, name: str = "f", arguments: tuple[str, ...] = ()) -> ir.Unit:
    path = folder / "f.c"
    path.write_text(text)
    found = load(str(path), name, arguments)
    assert isinstance(found, ir.Unit), found
    return found


def body(folder: Path, text: str) -> tuple[ir.Stmt, ...]:
    return unit(folder, text).function.body.statements


def i(kind: ir.Scalar = ir.INT) -> ir.Name:
    return ir.Name(id="i", type=kind)


def const(value: int, kind: ir.Scalar = ir.INT) -> ir.IntConst:
    return ir.IntConst(value=value, type=kind)


def wide(node: ir.Expr) -> ir.Cast:
    return ir.Cast(type=ir.LONG, operand=node, implicit=True)


def test_a_map(tmp_path: Path) -> None:
    (loop,) = body(tmp_path, "void f(int n, float *a, const double b[]) { for (int i = 0; i < n; i++) a[i] = 2 * b[i]; }")
    value = ir.Binary(
        op="*",
        left=ir.Cast(type=ir.DOUBLE, operand=const(2), implicit=True),
        right=ir.Load(array="b", indices=(i(),)),
        type=ir.DOUBLE,
    )
    store = ir.Assign(
        target=ir.Load(array="a", indices=(i(),), type=ir.FLOAT),
        op=None,
        value=ir.Cast(type=ir.FLOAT, operand=value, implicit=True),
    )
    expected = ir.For(
        var="i",
        type=ir.INT,
        lower=const(0),
        relation="<",
        bound=ir.Name(id="n"),
        step=const(1),
        body=ir.Block(statements=(store,)),
    )
    assert loop == expected


@pytest.mark.parametrize(
    ("header", "relation", "step"),
    [
        ("i = 0; i < n; ++i", "<", 1),
        ("i = 0; n >= i; i += 2", "<=", 2),
        ("i = n; i > 0; i--", ">", -1),
        ("i = n; 0 <= i; i -= 3", ">=", -3),
        ("i = 0; i != n; i = 1 + i", "!=", 1),
        ("i = n; i >= 0; i = i - 2", ">=", -2),
    ],
)
def test_canonical_headers(tmp_path: Path, header: str, relation: str, step: int) -> None:
    _, loop = body(tmp_path, f"void f(int n, int *a) {{ int i; for ({header}) a[i] = 0; }}")
    assert isinstance(loop, ir.For)
    assert (loop.relation, loop.step, loop.declared) == (relation, const(step), False)


@pytest.mark.parametrize(
    ("kind", "header", "relation", "bound"),
    [
        ("int", "i = 0; i + k <= n; i++", "<=", "n - (long)k"),
        ("int", "i = 0; n > k + i + 1; i++", "<", "n - (long)k - 1L"),
        ("int", "i = 0; n - i >= k; i++", "<=", "n - (long)k"),
        ("int", "i = n; i - k > 0; i--", ">", "0L + k"),
        ("unsigned", "i = 0; i + 1 < n; i++", "<", "n - 1L"),
        ("unsigned long", "i = 0; i + k <= n; i++", "<", "n >= k ? n + 1UL - k : 0UL"),
    ],
)
def test_sums_in_conditions(tmp_path: Path, kind: str, header: str, relation: str, bound: str) -> None:
    text = f"void f({kind} n, {kind} k, int *a) {{ {kind} i; for ({header}) a[i] = 0; }}"
    _, loop = body(tmp_path, text)
    assert isinstance(loop, ir.For)
    assert (loop.relation, Printer().expr(loop.bound)) == (relation, bound)
    assert Printer(text.encode()).for_header(loop) == f"for ({header})"


@pytest.mark.parametrize(
    "loop",
    [
        "for (i = 0; 2 * i < n; i++) a[i] = 0;",
        "for (i = 0; i - 1u < n; i++) a[i] = 0;",
        "for (i = 0; i + a[i] < n; i++) a[i] = 0;",
        "for (i = 0; i * i <= n; i++) a[i] = 0;",
        "for (i = 1; i < n; i *= 2) a[i] = 0;",
        "for (i = 0; i < n; i++) { a[i] = 0; n--; }",
        "for (i = 0; i < n; i++) { a[i] = 0; i++; }",
        "for (i = 0; i < a[0]; i++) a[i] = 0;",
        "while (i < n) { if (a[i]) continue; a[i] = 0; i++; }",
        "while (i < n--) a[i] = n;",
        "while (n--) if (a[i]) break;",
        "for (; i < n; n--, i++) a[i] = 0;",
    ],
)
def test_other_loops_are_whiles(tmp_path: Path, loop: str) -> None:
    *_, last = body(tmp_path, f"void f(int n, int *a) {{ int i = 0; {loop} }}")
    assert isinstance(last, ir.While)


@pytest.mark.parametrize("condition", ["i < n && a[i]", "a[i] && i < n", "i < n && i < 7 && a[i] != 3"])
def test_a_second_condition_leaves_the_loop(tmp_path: Path, condition: str) -> None:
    *_, last = body(tmp_path, f"void f(int n, int *a) {{ for (int i = 0; {condition}; i++) a[i] = 0; }}")
    assert isinstance(last, ir.For)
    assert last.relation == "<"
    first, *_ = last.body.statements
    assert isinstance(first, ir.If)
    assert isinstance(first.then.statements[0], ir.Break)


@pytest.mark.parametrize(
    "loop",
    [
        "for (; i < n; i++) a[i] = 0;",
        "while (i < n) a[i++] = 0;",
        "while (i < n) { a[i] = 0; i++; }",
        "while (n > 0) { a[i] = 0; n--; }",
        "while (n--) { a[i] = 0; }",
        "while (n--) { a[n] = 0; }",
        "for (i = 0, n = 0; i < 9; ++i, n += 4) a[i] = n;",
    ],
)
def test_counting_loops_in_other_forms_are_fors(tmp_path: Path, loop: str) -> None:
    statements = body(tmp_path, f"void f(int n, int *a) {{ int i = 0; {loop} }}")
    assert any(isinstance(n, ir.For) for s in statements for n in ir.walk(s))
    assert not any(isinstance(n, ir.While) for s in statements for n in ir.walk(s))


def test_an_invariant_step_is_kept(tmp_path: Path) -> None:
    (loop,) = body(tmp_path, "void f(int n, int s, int *a) { for (int i = 0; i < n; i += s) a[i] = 0; }")
    assert isinstance(loop, ir.For)
    assert loop.step == ir.Name(id="s")


def test_rows_resolve_to_their_array(tmp_path: Path) -> None:
    statements = body(
        tmp_path, "void f(int n, int m, double A[n][m], double *b) { double *r = A[2], *q = b + n; r[1] = q[3] + *q; }"
    )
    *_, store = statements
    assert isinstance(store, ir.Assign)
    assert store.target == ir.Load(array="A", indices=(const(2), const(1)))
    n = ir.Name(id="n")
    moved = ir.Binary(op="+", left=wide(n), right=wide(const(3)), type=ir.LONG)
    assert store.value == ir.Binary(
        op="+", left=ir.Load(array="b", indices=(moved,)), right=ir.Load(array="b", indices=(n,)), type=ir.DOUBLE
    )
    first, second = statements[:2]
    assert isinstance(first, ir.PointerDecl)
    assert isinstance(second, ir.PointerDecl)
    assert (first.array, second.array, second.offset) == ("A", "b", n)


def test_dimensions(tmp_path: Path) -> None:
    text = """#define M 3
void f(int n, double A[n][M + 1], double (*B)[n], float c[], int *restrict d, const short e[2][M]) { d[0] = n; }"""
    parameters = {p.name: p for p in unit(tmp_path, text).function.parameters}
    n = ir.Name(id="n")
    assert parameters["n"].dims == ()
    assert parameters["A"].dims == (n, const(4))
    assert parameters["B"].dims == (None, n)
    assert parameters["c"].dims == (None,)
    assert parameters["d"].dims == (None,)
    assert parameters["d"].restrict
    assert parameters["e"].dims == (const(2), const(3))
    assert parameters["e"].const
    assert parameters["A"].declaration == "double A[n][M + 1]"


def test_structures(tmp_path: Path) -> None:
    text = """typedef struct { int k; struct tag { float x, v[2]; } in; } rec;
void f(rec *p, int i) { p->k = 1; p[i].in.v[i] = p[2].in.x; }"""
    found = unit(tmp_path, text)
    first, second = found.function.body.statements
    assert isinstance(first, ir.Assign)
    assert isinstance(second, ir.Assign)
    assert first.target == ir.Load(array="p", indices=(const(0),), path=("k",), type=ir.INT)
    assert second.target == ir.Load(array="p", indices=(i(),), path=("in", "v", i()), type=ir.FLOAT)
    record = found.function.parameters[0].type
    assert isinstance(record, ir.Struct)
    assert (record.name, record.size, [(m.name, m.offset) for m in record.fields]) == ("rec", 16, [("k", 0), ("in", 4)])


def test_pointer_swaps(tmp_path: Path) -> None:
    text = "void f(double *a, double *b, int n) { for (int t = 0; t < n; t++) { b[0] = a[0]; double *x = a; a = b; b = x; } }"
    (loop,) = body(tmp_path, text)
    assert isinstance(loop, ir.For)
    swap = loop.body.statements[-1]
    assert swap == ir.PointerSwap(first="a", second="b")
    assert swap.span is not None
    assert text[swap.span.start : swap.span.end] == "double *x = a; a = b; b = x;"


@pytest.mark.parametrize(
    ("allocation", "count"),
    [
        ("double *t = malloc(n * sizeof *t);", "n"),
        ("double *t = (double *)malloc(sizeof(double) * n * m);", "n * (long)m"),
        ("double *t; t = malloc((n + 1) * sizeof(double)); if (t == NULL) { m = 0; return; }", "n + 1"),
    ],
)
def test_what_is_allocated_and_freed_here_is_a_local_array(tmp_path: Path, allocation: str, count: str) -> None:
    text = f"#include <stdlib.h>\nvoid f(int n, int m, double *a) {{ {allocation} t[0] = a[1]; a[0] = t[0]; free(t); }}"
    declared, *stores = body(tmp_path, text)
    assert isinstance(declared, ir.Decl)
    assert (declared.name, [Printer().expr(d) for d in declared.dims]) == ("t", [count])
    assert [type(s) for s in stores] == [ir.Assign, ir.Assign]


def test_calloc_sets_to_zero(tmp_path: Path) -> None:
    text = "#include <stdlib.h>\nvoid f(int n, float *a) { float *t = calloc(n, sizeof *t); a[0] = t[0]; free(t); }"
    declared, fill, _ = body(tmp_path, text)
    assert isinstance(declared, ir.Decl)
    assert isinstance(fill, ir.For)
    assert Printer().expr(fill.bound) == "(long)n"
    assert isinstance(fill.body.statements[0], ir.Assign)


@pytest.mark.parametrize(
    ("test", "left", "nonnull"),
    [
        ("if (!a) return -1;", "", ("a",)),
        ("if (NULL == a || !b) { return -1; }", "", ("a", "b")),
        ("if (!b || n <= 0 || a == NULL) return -1;", "n <= 0", ("a", "b")),
        ("if (n <= 0) return -1; if (a == 0) return -2;", "n <= 0", ("a",)),
    ],
)
def test_tests_for_null_are_noted(tmp_path: Path, test: str, left: str, nonnull: tuple[str, ...]) -> None:
    text = f"#include <stdlib.h>\nint f(int n, double *a, double *b) {{ {test} a[0] = b[0]; return 0; }}"
    made = unit(tmp_path, text)
    conditions = [s.condition for s in made.function.body.statements if isinstance(s, ir.If)]
    assert [Printer().expr(c) for c in conditions] == ([left] if left else [])
    assert made.nonnull == nonnull


@pytest.mark.parametrize(
    ("body_text", "final"),
    [
        ("double *x = a; a = b; b = c; c = x;", "bcad"),
        ("double *x = c; c = b; b = a; a = x;", "cabd"),
        ("double *x, *y; x = a; y = b; a = d; b = c; c = x; d = y;", "dcab"),
    ],
)
def test_rotations_of_pointers(tmp_path: Path, body_text: str, final: str) -> None:
    head = "void f(int n, double *a, double *b, double *c, double *d) { for (int t = 0; t < n; t++) {"
    (loop,) = body(tmp_path, f"{head} a[0] += b[0] + c[0] + d[0]; {body_text} }} }}")
    assert isinstance(loop, ir.For)
    swaps = [s for s in loop.body.statements if isinstance(s, ir.PointerSwap)]
    held = {name: name for name in "abcd"}
    for swap in swaps:
        held[swap.first], held[swap.second] = held[swap.second], held[swap.first]
    assert "".join(held.values()) == final


def test_a_pointer_saved_for_a_rotation_is_not_used_later(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text("void f(int n, double *a, double *b) {\n double *x = a; a = b; b = x;\n x[0] = n; }")
    found = load(str(path), "f")
    assert not isinstance(found, ir.Unit)
    assert (found.code, found.line) == (ReasonCode.UNSUPPORTED, 3)


def test_helpers_come_callees_first_with_addresses(tmp_path: Path) -> None:
    text = """static double g(double x) { return x + 1; }
static inline void h(double *restrict p, const double *q) { *p = g(*q); }
void f(double *a, int n) { double t; for (int i = 0; i < n; i++) { h(&a[i], a + i); h(&t, a); } a[0] = t; }"""
    found = unit(tmp_path, text)
    assert [x.name for x in found.helpers] == ["g", "h"]
    assert found.preamble.helpers == (
        "double g(double x) { return x + 1; }",
        "void h(double *__restrict__ p, const double *q) { *p = g(*q); }",
    )
    calls = [node for node in ir.walk(found.function.body) if isinstance(node, ir.Call)]
    assert calls[0].args == (
        ir.Address(array="a", indices=(i(),), const=False),
        ir.Address(array="a", indices=(i(),), const=True),
    )
    assert calls[1].args[0] == ir.Address(array="t", indices=(), const=False)


def test_spans_are_the_users_text(tmp_path: Path) -> None:
    text = "#define SQ(x) ((x) * (x))\n/* \u017e */ void f(double *a, int n) { a[n] = 3 * SQ(a[n + 1]) - (n); }"
    found = unit(tmp_path, text)
    (store,) = found.function.body.statements
    assert isinstance(store, ir.Assign)
    assert isinstance(store.value, ir.Binary)
    product = store.value.left
    assert isinstance(product, ir.Binary)
    spelled = [
        found.text[n.span.start : n.span.end].decode() for n in (store, product, product.right, store.value.right) if n.span
    ]
    assert spelled == ["a[n] = 3 * SQ(a[n + 1]) - (n);", "3 * SQ(a[n + 1])", "SQ(a[n + 1])", "n"]
    assert isinstance(product.right, ir.Binary)
    assert product.right.left.span is None
    assert product.right.left.place == product.right.span
    reason = place(found, ReasonCode.DEPENDENCE, "here", product.right.left)
    assert (reason.line, reason.column, reason.end_column) == (2, 47, 59)


def test_unparenthesised_macros_have_no_text_of_their_own(tmp_path: Path) -> None:
    (store,) = body(tmp_path, "#define N 10+2\nvoid f(int *a, int n) { a[0] = n * N; }")
    assert isinstance(store, ir.Assign)
    assert store.span is not None
    assert isinstance(store.value, ir.Binary)
    assert store.value.span is not None
    assert store.value.left.span is None
    assert Printer().statement(store) == ["a[0] = n * 10 + 2;"]


def test_globals_and_their_values(tmp_path: Path) -> None:
    text = """const double k = 0.5; static const int t[2] = {1, 2}; double g[4]; int s;
void f(double *a) { a[0] = k * t[1] + g[2]; s = 3; }"""
    found = {g.name: g for g in unit(tmp_path, text).function.globals}
    assert found["k"].value == 0.5
    assert found["t"].const
    assert found["t"].dims == (const(2),)
    assert found["g"].dims == (const(4),)
    assert not found["g"].is_static
    assert found["s"].value is None
    assert all(g.is_global for g in found.values())


def test_assumptions(tmp_path: Path) -> None:
    text = """#include <assert.h>
// cudaperf: assume elsewhere > 0
int x;
// cudaperf: assume n >= 2, lda >= max(n, 3)
/* cudaperf: assume n % 4 == 0 */
void f(double *a, int n, int lda) { assert(a && lda > 0); /* cudaperf: assume n < 99 */ a[n] = lda; }"""
    assert unit(tmp_path, text).assumptions == ("n >= 2", "lda >= max(n, 3)", "n % 4 == 0", "n < 99", "lda > 0")


def test_arguments_come_from_the_compilation_database(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "size.h").write_text("#define WIDTH (SCALE * 2)\n")
    entry = {"directory": str(tmp_path), "file": "src/f.c", "command": "cc -O2 -DSCALE=21 -Iinc -c src/f.c -o f.o"}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    (tmp_path / "src").mkdir()
    found = unit(tmp_path / "src", '#include "size.h"\nvoid f(int *a) { a[0] = WIDTH; }')
    assert Printer().statement(found.function.body.statements[0]) == ["a[0] = 21 * 2;"]
    assert found.arguments == ("-D", "SCALE=21", "-I", str(tmp_path / "inc"))
    assert "a[0] = (21 * 2);" in preprocess(found.path, found.arguments)


def test_positions_count_code_points_and_every_line_end() -> None:
    text = "a\r\n\u017e\u00e9x\n\ny".encode()
    assert position(text, text.index(b"x")) == (2, 3)
    assert position(text, text.index(b"y")) == (4, 1)
    assert position(text, 0) == (1, 1)


def test_comments_survive_structural_printing(tmp_path: Path) -> None:
    text = "void f(int *a, int n) {\n  // first\n  a[0] = n;\n  /* second\n     line */\n  a[1] = n;\n}\n"
    found = unit(tmp_path, text)
    store = found.function.body.statements[1]
    lines = Printer(found.text, lambda node: "other();" if node is store else None).block(found.function.body)
    assert lines == ["// first", "a[0] = n;", "/* second", "line */", "other();"]


@pytest.mark.parametrize("name", ['quote".c', "two words.c", "#1.c", "größe 数.c", "back\\slash.c"])
def test_files_of_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / f"in {name}"
    folder.mkdir()
    (folder / "kind.h").write_text("typedef double real;\n")
    path = folder / name
    path.write_text('#include "kind.h"\nvoid f(int n, real *a) { a[n] = 1; }\n')
    found = load(str(path), "f")
    assert isinstance(found, ir.Unit), found
    text = preprocess(str(path), markers=True)
    assert "typedef double real;" in text
    assert str(tmp_path) not in text


def test_a_file_that_vanishes_is_not_found(tmp_path: Path) -> None:
    made = unit(tmp_path, "void f(int *a) { a[0] = 1; }")
    Path(made.path).unlink()
    with pytest.raises(Refusal) as caught:
        preprocess(made.path)
    assert caught.value.reason.code == ReasonCode.NOT_FOUND
