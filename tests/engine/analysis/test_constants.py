"""Values known without running anything, from small files."""

import pytest

from cudaperf.engine.analysis.constants import dim3, number, values_at
from cudaperf.engine.cuda import ir
from cudaperf.engine.cuda.model import FileModel
from cudaperf.engine.cuda.reader import read
from cudaperf.engine.cuda.source import Source


def model_of(text: str) -> FileModel:
    return read(Source("a.cu", text.encode()))


def constant(declarations: str, expression: str) -> int | None:
    """The value of an expression after some declarations at file scope."""
    model = model_of(f"{declarations}\nauto asked = {expression};\n")
    asked = model.variables["asked"].init
    assert asked is not None
    return number(asked, model)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("-7 % 4", -3),
        ("1 << 10", 1024),
        ("0x10 | 3", 19),
        ("sizeof(float) * 4", 16),
        ("(int)2.9", 2),
        ("std::min(3, 5) + max(1, 2)", 5),
        ("3 > 2 ? 8 : 9", 8),
        ("0 && unknown", 0),
        ("unknown + 1", None),
        ("5 / 0", None),
        ("2.5", None),
        ("sizeof(Unknown)", None),
        ("warpSize", 32),
    ],
)
def test_arithmetic(expression: str, value: int | None) -> None:
    assert constant("", expression) == value


@pytest.mark.parametrize(
    ("declarations", "expression", "value"),
    [
        ("#define BLOCK 256", "BLOCK", 256),
        ("#define BLOCK 256 // threads", "BLOCK * 2", 512),
        ("#define HALF (BLOCK / 2)\n#define BLOCK 256", "HALF", 128),
        ("#define DIV(M, N) (((M) + (N)-1) / (N))", "DIV(1000, 16 * 16)", 4),
        ("#define SUM 4 + 4", "SUM", 8),
        ("#define SUM 4 + 4", "SUM * 2", None),
        ("#define TWICE(x) (x * 2)", "TWICE(3)", 6),
        ("#define TWICE(x) (x * 2)", "TWICE(1 + 2)", None),
        ("#ifdef FAST\n#define BLOCK 64\n#else\n#define BLOCK 128\n#endif", "BLOCK", None),
        ("#ifndef BLOCK\n#define BLOCK 128\n#endif", "BLOCK", 128),
        ("#define A B\n#define B A", "A", None),
        ("#define A (A + A)", "A", None),
        ("#define BROKEN (4 +", "BROKEN", None),
        ("const int n = 3, m = n * 2;", "m", 6),
        ("constexpr int n = 1e6;", "n", 1000000),
        ("enum { one = 1, two, ten = 10 };", "two + ten", 12),
        ("int n = 3;", "n", None),
        ("struct A { static constexpr int n = 1; }; struct B { static constexpr int n = 2; };", "A::n", None),
        ("constexpr int up(int a, int b) { return (a + b - 1) / b; }", "up(10, 4)", 3),
        ("constexpr int endless(int a) { return endless(a); }", "endless(1)", None),
    ],
)
def test_names(declarations: str, expression: str, value: int | None) -> None:
    assert constant(declarations, expression) == value


def test_macros_that_double_themselves_end() -> None:
    chain = "".join(f"#define A{i + 1} (A{i} + A{i})\n" for i in range(40))
    assert constant(f"#define A0 1\n{chain}", "A40") is None


def launched(text: str) -> tuple[int | None, int | None, int | None] | None:
    """The block of the last launch in a host function."""
    model = model_of(f"__global__ void k();\n{text}")
    host, launch = [(f, launch) for f in model.functions for launch in f.launches][-1]
    return dim3(launch.config[1], model, host)


@pytest.mark.parametrize(
    ("body", "dims"),
    [
        ("k<<<1, 256>>>();", (256, 1, 1)),
        ("const int threads = 256; k<<<1, threads>>>();", (256, 1, 1)),
        ("dim3 block(16, 16); k<<<1, block>>>();", (16, 16, 1)),
        ("dim3 block = dim3(16, 8, 2); k<<<1, block>>>();", (16, 8, 2)),
        ("dim3 block{16, 16}; k<<<1, block>>>();", (16, 16, 1)),
        ("dim3 block = {16, 4}; k<<<1, block>>>();", (16, 4, 1)),
        ("auto block = dim3(32, 2); k<<<1, block>>>();", (32, 2, 1)),
        ("k<<<1, dim3{8, 8}>>>();", (8, 8, 1)),
        ("k<<<1, {8, 8}>>>();", (8, 8, 1)),
        ("dim3 block; block.x = 32; block.y = 4; k<<<1, block>>>();", (32, 4, 1)),
        ("dim3 block(64); block = dim3(8, 8); k<<<1, block>>>();", (8, 8, 1)),
        ("dim3 block(64); k<<<1, block>>>(); block.x = 32;", (64, 1, 1)),
        ("int t; t = 128; k<<<1, t>>>();", (128, 1, 1)),
        ("int t = 16; t *= 2; k<<<1, t>>>();", (32, 1, 1)),
        ("dim3 block(n, 4); k<<<1, block>>>();", (None, 4, 1)),
        ("k<<<1, n>>>();", (None, 1, 1)),
        ("dim3 block(64); if (n > 9) block.x = 32; k<<<1, block>>>();", (None, 1, 1)),
        ("if (n > 9) { int t = 32; k<<<1, t>>>(); }", (32, 1, 1)),
        ("int t = 32; { int t = 64; } k<<<1, t>>>();", (32, 1, 1)),
        ("for (int t = 32; t <= 1024; t *= 2) k<<<1, t>>>();", (None, 1, 1)),
        ("int t = 32; while (n--) { k<<<1, t>>>(); t = 64; }", (None, 1, 1)),
        ("int t = 32; while (n--) { t = 64; k<<<1, t>>>(); }", (64, 1, 1)),
        ("int g, t = 32; cudaOccupancyMaxPotentialBlockSize(&g, &t, k); k<<<1, t>>>();", (None, 1, 1)),
        ("int t = 32; std::cin >> t; k<<<1, t>>>();", (None, 1, 1)),
        ("k<<<1, shape(n)>>>();", None),
        ("dim3 block(W, H); k<<<1, block>>>();", (32, 4, 1)),
        ("dim3 block(W * H, n); k<<<1, block>>>();", (128, None, 1)),
        ("dim3 block(Traits::width, H); k<<<1, block>>>();", (None, 4, 1)),
        ("dim3 block(unsigned(n), 4); k<<<1, block>>>();", (None, None, 1)),
        ("k<<<1, given>>>();", None),
        ("int t = t; k<<<1, t>>>();", (None, 1, 1)),
        ("k<<<1, BLOCK>>>();", (32, 8, 1)),
        ("int threads = 1 << 5; dim3 block(threads, 1024 / threads); k<<<1, block>>>();", (32, 32, 1)),
    ],
)
def test_blocks(body: str, dims: tuple[int | None, int | None, int | None] | None) -> None:
    assert (
        launched(f"#define BLOCK dim3(32, 8)\n#define W 32\nconst int H = 4;\nvoid host(int n, dim3 given) {{ {body} }}")
        == dims
    )


def test_a_variable_hides_a_constant() -> None:
    assert launched("const int t = 64; void host(int t) { k<<<1, t>>>(); }") == (None, 1, 1)
    assert launched("const int t = 64; void host() { k<<<1, t>>>(); }") == (64, 1, 1)


def test_a_reference_parameter_may_be_written() -> None:
    assert launched("void set(int &t); void set(int &t) { t = 5; } void host() { int t = 64; set(t); k<<<1, t>>>(); }") == (
        None,
        1,
        1,
    )


def test_members_and_template_values() -> None:
    model = model_of("template <int B> void host() { dim3 block(B, 4); k<<<1, block, block.y * B * sizeof(float)>>>(); }")
    (host,) = model.functions
    shared = host.launches[0].config[2]
    assert number(shared, model, values_at(host, model, shared.start, {"B": 32})) == 512
    assert number(shared, model, values_at(host, model, shared.start)) is None
    assert isinstance(shared, ir.Binary)
