"""Trees after edits are those of the whole text parsed anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudaperf.engine.cuda.parse import parse, rewritten
from cudaperf.engine.cuda.reparse import Parsed, parsed

KERNELS = Path(__file__).parents[2] / "data" / "kernels"
TEXTS = [(KERNELS / name).read_bytes() for name in ("tiles.cu", "structures.cu", "warps.cu")]
PIECES = [
    b"", b"x", b";", b"{", b"}", b"/*", b"*/", b"//", b'"', b"'", b"\n", b"\\\n", b'R"(', b')"', b"__syncthreads();",
    b"__host__ ", b"__launch_bounds__(256, 2, 1)", b"__global__ void k() {}\n", b"#define N 8\n", b"// cudaperf: block=8\n",
]  # fmt: skip


def shape(one: Parsed) -> str:
    return str(one.tree.root_node)


def places(one: Parsed) -> list[tuple[str, int, int]]:
    found, waiting = [], [one.tree.root_node]
    while waiting:
        node = waiting.pop()
        found.append((node.type, node.start_byte, node.end_byte))
        waiting += node.children
    return found


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_edits_one_after_the_other(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    one = parsed(text)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.sampled_from([0, 0, 1, 5, 60])))
        text = text[:start] + data.draw(st.sampled_from(PIECES)) + text[end:]
        one = parsed(text, one)
        assert one.data == text
        assert one.taken == rewritten(text)


@pytest.mark.parametrize("text", TEXTS)
def test_an_edit_that_is_undone_leaves_the_tree_as_it_was(text: bytes) -> None:
    one = parsed(text)
    at = len(text) // 2
    two = parsed(text[:at] + b" // note\n" + text[at:], one)
    three = parsed(text, two)
    assert shape(three) == str(parse(text).root_node)
    assert places(three) == places(one)


def test_text_behind_a_comment_without_an_end_is_no_code() -> None:
    text = TEXTS[1]
    one = parsed(b"/*" + text, parsed(text))
    two = parsed(one.data[:215] + b"__host__ " + one.data[215:], one)
    assert two.taken == rewritten(two.data)


@pytest.mark.parametrize(
    "pieces", [(b"__launch_bounds__(256,\n 2,\n", b"1)"), (b"]]\n", b"__device__ int x;"), (b'"a\\\n', b'__host__"')]
)
def test_what_is_rewritten_over_lines(pieces: tuple[bytes, bytes]) -> None:
    filler = b"int a;\n" * 3
    before = filler + pieces[0] + filler * 2
    after = filler + pieces[0] + pieces[1] + filler * 2
    assert parsed(after, parsed(before)).taken == rewritten(after)


def test_every_line_taken_out_once() -> None:
    text = TEXTS[0]
    lines = text.splitlines(keepends=True)
    one = parsed(text)
    for number in range(0, len(lines), 7):
        shorter = b"".join(lines[:number] + lines[number + 1 :])
        assert shape(parsed(shorter, one)) == str(parse(shorter).root_node)
