"""CUDA in strings of Python files: which strings, and where in the file their findings are."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from check_command import Check
from hypothesis import given
from hypothesis import strategies as st

from cudaperf.engine.cuda import embedded

KERNEL = "__global__ void k(float *a) { BAD; }"


def places(run: Check, text: str | bytes) -> list[str]:
    """What each finding's range holds."""
    data = text if isinstance(text, bytes) else text.encode()
    Path("a.py").write_bytes(data)
    lines = data.decode("utf-8-sig").splitlines(keepends=True)
    found = []
    for each in json.loads(run("check", "a.py", "--format", "json").out):
        start, end = each["range"]["start"], each["range"]["end"]
        found.append("".join(lines[start["line"] - 1 : end["line"]])[start["column"] - 1 :][:12])
        assert start["line"] == end["line"]
    return found


@pytest.mark.parametrize(
    "text",
    [
        f"m = load_inline(name='x', cuda_sources='''{KERNEL}''', functions=['k'])\n",
        f"m = load_inline(cuda_sources=['int x;', '{KERNEL}'])\n",
        f"k = cupy.RawKernel(r'{KERNEL}', 'k')\n",
        f"k = cupy.RawModule(code=r'''\n{KERNEL}''').get_function('k')\n",
        f"from pycuda.compiler import SourceModule\nm = SourceModule(\n    '''{KERNEL}'''\n)\n",
        f"k = torch.cuda._compile_kernel('{KERNEL}', 'k')\n",
        f"def source():\n    return '''{KERNEL}'''\n",
        f"x = dedent('''\n    {KERNEL}''').strip().encode()\n",
        f"x = {{'a': ['{KERNEL}']}}\n",
        f"x = b'{KERNEL}'\n",
        f"HEAD = 'int a;'\nx = HEAD + '''{KERNEL}'''\n",
        "x = 'void f() { k<<<1, BAD>>>(); }'\n",
        "x = '__device__ int f() { return BAD; }'\n",
        f"@decorated('{KERNEL}')\ndef f(x='{KERNEL[:-5]}1; }}'): pass\n",
        f"x = '{KERNEL}' if y % 2 else ''\n",
        f"class A:\n    def f(self):\n        self.code = ('{KERNEL}')\n",
        f"x = '''{KERNEL}'''\nif broken(:\n",
    ],
)
def test_cuda_is_found_in(run: Check, text: str) -> None:
    assert [found[:3] for found in places(run, text)] == ["BAD"]


DOUBLED = "__global__ void k(float *a) {{ a[{n}] = BAD; }}"


@pytest.mark.parametrize(
    "text",
    [
        f"x = f'{DOUBLED}'\n",
        f"x = 'int n;' f'{DOUBLED}'\n",
        f"x = '{DOUBLED}'.format(n=3)\n",
        f"x = '{DOUBLED}'\ny = whatever(x)\n",
        f"x = '{KERNEL}' % 3\n",
        f"x = ('{KERNEL}') % (3,)\n",
        f"x = '{KERNEL}'\ny = x % 3\n",
        f"self.x = '{KERNEL}'\nself.x %= 3\n",
        f"x = '{KERNEL}'.replace('BAD', '1')\n",
        f"x = '{KERNEL}'\ny = x.replace('BAD', '1')\n",
        f"X = {{'a': '{KERNEL}'}}\ny = X['a'].format(1)\n",
        f"x = string.Template('{KERNEL}')\n",
        f"x = '{KERNEL}'\ny = Template(x)\n",
        f"x = re.sub('BAD', '1', '{KERNEL}')\n",
        "x = '__global__ void k(float *a) { BAD; ' + body + '}'\n",
        "x = ''\nx += '__global__ void k() { BAD; '\n",
        "x = '__global__ void k(%(type)s *a) { BAD; }'\n",
        "x = '__global__ void k(${type} *a) { BAD; }'\n",
        "x = '__global__ void k({{ type }} *a) { BAD; }'\n",
        f'def f():\n    """{KERNEL}"""\n',
        f"# {KERNEL}\n",
        "x = 'a __global__ function is BAD'\n",
        f"x = '''{KERNEL}\n",
    ],
)
def test_templates_and_prose_are_left_out(run: Check, text: str) -> None:
    assert places(run, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "x = '__global__ void k() {\\n\\t\\\"\\\\n\\\" \\x41\\u6f22\\101 BAD; }'\n",
        "x = '__global__ void k() { \\\n   BAD; }'\n",
        "x = '''__global__ void k() { \\\r\n   BAD;\r\n }'''\r\n",
        "x = r'__global__ void k() { \\n \\' BAD; }'\n",
        "x = ('int é; __global__ '\n     \"void k() { \"\n  # why\n  R'''\n漢 BAD; }''')\n",
        "\ufeffx = '__global__ void k() { BAD; }'\n",
        "x = b'__global__ void k() { \\u6f22 \\xff BAD; }'\n",
        "x = '__global__ void k() { \\N{BULLET} \\N{NO SUCH} \\q BAD; }'\n",
    ],
)
def test_ranges_are_those_of_the_python_file(run: Check, text: str) -> None:
    assert [found[:3] for found in places(run, text)] == ["BAD"]


def test_a_range_across_literals_spans_them(run: Check) -> None:
    Path("a.py").write_text("x = ('__global__ void k() { B'\n  'A\\x44; }')\n")
    (found,) = json.loads(run("check", "--format", "json").out)
    assert found["range"] == {"start": {"line": 1, "column": 29}, "end": {"line": 2, "column": 9}}


ESCAPES = [r"\n", r"\\", r"\'", r"\"", "\\\n", r"\x41", r"\u6f22", r"\U0001F600", r"\7", r"\123", r"\d", r"\N{EM DASH}"]
PIECES = st.sampled_from(["a", "é", "漢", " ", *ESCAPES])


@pytest.mark.filterwarnings("ignore:invalid escape")
@given(st.lists(PIECES, max_size=12), st.sampled_from(["", "r", "R", "u"]), st.sampled_from(["'", '"', "'''", '"""']))
def test_a_literal_is_decoded_as_python_does(pieces: list[str], prefix: str, quotes: str) -> None:
    text = f"x = {prefix}{quotes}__global__{{{''.join(pieces)} end{quotes}\n"
    try:
        value = ast.literal_eval(text.removeprefix("x = ").strip())
    except SyntaxError:
        return
    (found,) = embedded.read(text.encode()).texts
    assert found.text.decode() == value
    assert found.range(0, len(found.text)) == (text.index("__global__"), len(text.encode()) - len(quotes) - 1)
    at = found.text.rindex(b"end")
    start, end = found.range(at, at + 3)
    assert text.encode()[start:end] == b"end"
    assert all(found.decoded.file_start(n) < found.decoded.file_end(n + 1) for n in range(len(found.text)))


def test_deep_and_long_python(run: Check) -> None:
    deep = f"x = {'(' * 3000}'''{KERNEL}'''{')' * 3000}\n"
    assert [found[:3] for found in places(run, deep)] == ["BAD"]
    many = "".join(f"x{n} = [{n}] * 3\n" for n in range(20_000)) + f"y = '{KERNEL}'\n"
    assert [found[:3] for found in places(run, many)] == ["BAD"]
