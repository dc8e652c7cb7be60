"""Each construct outside the subset is refused with its code, at exactly the range marked by « »."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudaperf.engine.loops import ir
from cudaperf.engine.reason import Reason, ReasonCode
from cudaperf.engine.sources.c import list_functions, load

UNSUPPORTED, SIDE_EFFECT, COMPILE = ReasonCode.UNSUPPORTED, ReasonCode.SIDE_EFFECT, ReasonCode.COMPILE
UNBOUNDED = ReasonCode.UNBOUNDED

# (code, part of the message, C text with the range in « »); the function is f
REFUSED = [
    (UNSUPPORTED, "recursive", "int f(int n) { return n ? n * «f(n - 1)» : 1; }"),
    (UNSUPPORTED, "recursive", "int g(int); int f(int n) { return g(n); } int g(int n) { return n ? «f(n - 1)» : 1; }"),
    (UNSUPPORTED, "function pointer", "void f(double *a, double (*g)(double)) { a[0] = «g(a[1])»; }"),
    (UNSUPPORTED, "goto", "void f(int n) { if (n) «goto end»; n++; end: ; }"),
    (UNSUPPORTED, "variable number", "#include <stdarg.h>\n«void f(int n, ...)» { n++; }"),
    (UNSUPPORTED, "inline assembly", 'void f(int *a) {\n  «__asm__("nop")»;\n}'),
    (SIDE_EFFECT, "volatile", "void f(«volatile int *a») { a[0] = 1; }"),
    (SIDE_EFFECT, "volatile", "void f(int *a) { «volatile int x = 1»; a[0] = x; }"),
    (SIDE_EFFECT, "printf", '#include <stdio.h>\nvoid f(int n) {\n  for (int i = 0; i < n; i++)\n    «printf("%d\\n", i)»;\n}'),
    (SIDE_EFFECT, "its definition is not in this file", "double g(double); void f(double *a) { a[0] = 2 * «g(a[1])»; }"),
    (SIDE_EFFECT, "malloc", "#include <stdlib.h>\nvoid f(int n) { double *p = «malloc(n)»; p[0] = 1; }"),
    (SIDE_EFFECT, "jumps", "#include <setjmp.h>\njmp_buf b; void f(int *a) { if («setjmp(b)») a[0] = 1; }"),
    (UNSUPPORTED, "union", "union u { int i; float x; }; void f(«union u *a») { a->i = 1; }"),
    (UNSUPPORTED, "bit-field", "struct b { int k : 3; }; void f(«struct b *a») { a->k = 1; }"),
    (UNSUPPORTED, "pointer member", "struct v { double *p; int n; }; void f(struct v *a) { «a->p»[0] = 1; }"),
    (UNSUPPORTED, "reinterprets", "void f(float *a) { int *k = «(int *)a»; k[0] = 1; }"),
    (UNSUPPORTED, "reinterprets", "void f(float *a) { a[0] = *«(int *)&a[1]»; }"),
    (UNSUPPORTED, "long double", "void f(double *a) { «long double x = a[0]»; a[0] = x; }"),
    (UNSUPPORTED, "long double", "#include <math.h>\nvoid f(double *a) { a[0] = «sqrtl(a[1])»; }"),
    (UNSUPPORTED, "_Complex", "void f(«double _Complex *a») { a[0] = a[1]; }"),
    (UNSUPPORTED, "between calls", "void f(int *a) { «static int c»; c++; a[0] = c; }"),
    (UNSUPPORTED, "new is a word", "struct new { int x; };\nvoid f(int class, int this, «struct new a») { this += class; }"),
    (UNSUPPORTED, "delete is a word", "int delete[9]; void f(int new, int this) { this += new + «delete»[3]; }"),
    (UNSUPPORTED, "goto", "void f(int new, int class) { if (new > class /* new_ */) «goto using»; new++; using: ; }"),
    (UNSUPPORTED, "pointer to a pointer", "void f(double **a, int n) { «a[n]»[0] = 1; }"),
    (UNSUPPORTED, "void pointer", "void f(int n, int *a, «void *context») { a[n] = 1; }"),
    (UNSUPPORTED, "function pointer", "void f(int *a, void (*g)(int)) { a[0] = 1; if («g») g(3); }"),
    (
        SIDE_EFFECT,
        "fputc",
        "#include <stdio.h>\nvoid f(FILE *o, int n) {\n  for (int i = 0; i < n; i++)\n    «fputc(i, o)»;\n}",
    ),
    (SIDE_EFFECT, "fopen", '#include <stdio.h>\nvoid f(int n) { FILE *o = «fopen("x", "w")»; n++; }'),
    (UNBOUNDED, "p->next", "struct s { int v; struct s *next; }; int f(struct s *p) { while (p) «p = p->next»; return 1; }"),
    (UNBOUNDED, "the data of s", "void f(char *s) { «while (*s) { if (*s == 32) *s = 95; s++; }» }"),
    (UNBOUNDED, "the data of s", "int f(const char *s) { int n = 0; «for (; *s; s++) n++»; return n; }"),
    (UNBOUNDED, "the data of a", "int f(const int *a, int x) { int i = 0; «do i++; while (a[i] != x)»; return i; }"),
    (UNSUPPORTED, "hides another variable", "void f(int *a, int n) { for (int i = 0; i < n; i++) { «int n = 3»; a[i] = n; } }"),
    (UNSUPPORTED, "falls through", "void f(int *a) { switch (a[0]) { case 1: «a[0] = 2»; case 2: a[1] = 3; } }"),
    (UNSUPPORTED, "while p is in use", "void f(double *a) { int k = 0; «double *p = a + k;» k = 3; p[0] = k; }"),
    (UNSUPPORTED, "NULL", "#include <stddef.h>\nvoid f(double *a) { a[0] = 1; if («a == NULL») return; a[0] = 2; }"),
    (UNSUPPORTED, "NULL", "#include <stddef.h>\nstatic void f(double *a) { if («a == NULL») return; a[0] = 2; }"),
    (
        SIDE_EFFECT,
        "malloc",
        "#include <stdlib.h>\nvoid f(int n) { while (n--) { int *p = «malloc(4)»; free(p); } }",
    ),
    (SIDE_EFFECT, "free", "#include <stdlib.h>\nvoid f(int *a) { a[0] = 1; «free(a)»; }"),
    (UNSUPPORTED, "inside a condition", "void f(int *a, int b, int c) { a[1] = b && «c++»; }"),
    (
        UNSUPPORTED,
        "assert",
        "#include <assert.h>\nvoid f(int *a, int n) { for (int i = 0; i < n; i++) { «assert(a[i] > 0)»; a[i]--; } }",
    ),
    (UNSUPPORTED, "inside a condition", "void f(int *a, int c) { if («a[c++]» && a[c]) a[0] = 1; }"),
    (UNSUPPORTED, "inside a condition", "void f(int *a, int c) { a[0] = «c++» ? c : 2; }"),
    (UNSUPPORTED, "statement expression", "void f(int *a) { a[0] = «({ 3; })»; }"),
    (UNSUPPORTED, "a string", 'void f(char *a) { a[0] = «"abc"»[1]; }'),
    (UNSUPPORTED, "anything but zero", "#include <string.h>\nvoid f(double *a) { «memset(a, 1, 8)»; }"),
    (
        ReasonCode.ALIASING,
        "points into a and into b",
        "void f(int *a, int *b, int n) { int *p = a; if (n) «p = b»; p[0] = 1; }",
    ),
    (SIDE_EFFECT, "rand", "#include <stdlib.h>\n#define R rand()\nvoid f(int *a) { a[0] = 1 + «R»; }"),
    (SIDE_EFFECT, "rand", "#include <stdlib.h>\n#define SUM(x, y) ((x) + (y))\nvoid f(int *a) { a[0] = «SUM(rand(), 1)»; }"),
    (SIDE_EFFECT, "rand", "#include <stdlib.h>\n// ж é\r\nvoid f(int *a) { /* ж */ a[0] = «rand()»; }\r\n"),
    (SIDE_EFFECT, "rand", "#include <stdlib.h>\nstatic int g(void) {\n  return «rand()»;\n}\nvoid f(int *a) { a[0] = g(); }"),
    (UNSUPPORTED, "defined by a macro", "#define MAKE(n) void n(int *a) { a[0] = 1; }\n«MAKE(f)»\n"),
    (COMPILE, "undeclared", "void f(int *a) {\n  a[0] = «»b;\n}"),
    (COMPILE, "expected", "void f(int *a) { a[0] = 1«» }"),
    (COMPILE, "file not found", '#include «»"absent.h"\nvoid f(int *a) { a[0] = 1; }'),
]


def marked(text: str) -> tuple[str, tuple[int, int], tuple[int, int]]:
    """The text without its marks, and the line and column of both."""
    start = text.index("«")
    end = text.index("»") - 1
    plain = text.replace("«", "").replace("»", "")
    return plain, where(plain, start), where(plain, end)


def where(text: str, offset: int) -> tuple[int, int]:
    head = text[:offset]
    return head.count("\n") + 1, offset - (head.rfind("\n") + 1) + 1


@pytest.mark.parametrize(("code", "message", "text"), REFUSED)
def test_refused_at_the_place(tmp_path: Path, code: ReasonCode, message: str, text: str) -> None:
    plain, start, end = marked(text)
    path = tmp_path / "f.c"
    path.write_bytes(plain.encode())
    reason = load(str(path), "f")
    assert isinstance(reason, Reason)
    assert reason.code == code, reason
    assert message in reason.message
    assert (reason.line, reason.column) == start, reason
    if code != COMPILE:
        assert (reason.end_line, reason.end_column) == end, reason


def test_functions_are_listed_with_their_refusals(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text("int g(int n) { return n; }\n\nint f(int n) { return n ? f(n - 1) : 1; }\nint declared(int);\n")
    listed = list_functions(str(path))
    assert isinstance(listed, tuple)
    assert [(i.name, i.line) for i in listed] == [("g", 1), ("f", 3)]
    assert listed[0].reason is None
    assert listed[1].reason is not None
    assert listed[1].reason.line == 3


def test_unknown_function_names_close_ones(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text("void step(int *a) { a[0] = 1; }\nvoid other(int *a) { a[0] = 1; }\n")
    reason = load(str(path), "stepp")
    assert isinstance(reason, Reason)
    assert reason.code == ReasonCode.NOT_FOUND
    assert "step" in reason.message


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("f.c", None, ReasonCode.NOT_FOUND),
        ("f.c", b"\x7fELF\0\0\1\2", COMPILE),
        ("f.c", b"\xff\xfe\xfa garbage", COMPILE),
        ("f.c", b"", ReasonCode.NOT_FOUND),
        ("f.cpp", b"void f() {}", UNSUPPORTED),
        ("f.c", b"void f(int *a) { a[0] = " + b"(" * 5000 + b"1", COMPILE),
    ],
)
def test_unreadable_files_are_reasons(tmp_path: Path, name: str, content: bytes | None, code: ReasonCode) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    reason = load(str(path), "f")
    assert isinstance(reason, Reason)
    assert reason.code == code
    listed = list_functions(str(path))
    assert isinstance(listed, Reason) or listed == ()


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    reason = load(str(tmp_path), "f")
    assert isinstance(reason, Reason)
    assert reason.code == ReasonCode.NOT_FOUND


def test_long_expressions_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text("void f(int *a) { a[0] = 1" + " + 1" * 3000 + "; }")
    found = load(str(path), "f")
    assert isinstance(found, ir.Unit) or found.code == UNSUPPORTED
