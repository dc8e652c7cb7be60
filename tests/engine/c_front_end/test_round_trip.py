"""What the trees say is what the C said: functions printed in other ways give the same results as the originals.

Every function is compiled once as written, once printed structurally, and once for each node whose text is replaced by its
structural form, which fails where a span covers more or less than its node.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cudaperf.engine.loops import ir
from cudaperf.engine.loops.printer import Printer, Rewrite
from cudaperf.engine.sources.c import load

DATA = Path(__file__).parents[2] / "data" / "c_front_end"
HEAD = (DATA / "head.h").read_text()
MAIN = (DATA / "main.c").read_text()
BODIES = {path.stem: path.read_text() for path in sorted(DATA.glob("*.c")) if path.stem != "main"}


def signature(name: str) -> str:
    return f"int {name}(double *a, double *b, int *c, struct cell *s, int n)"


def unit_of(folder: Path, body: str, newline: str = "\n") -> ir.Unit:
    path = folder / "original.c"
    path.write_bytes((HEAD + body).replace("\n", newline).encode())
    unit = load(str(path), "original")
    assert isinstance(unit, ir.Unit), unit
    return unit


def variants(unit: ir.Unit) -> list[str]:
    """The function's body, printed in every way."""
    body = unit.function.body
    texts = ["\n".join(Printer().statement(body)), "\n".join(Printer(unit.text).statement(body))]
    plain = Printer()
    for node in ir.walk(body):
        if not isinstance(node, ir.Block | ir.Decl | ir.PointerDecl | ir.Break | ir.Continue):
            texts.append("\n".join(Printer(unit.text, replacing(node, plain)).statement(body)))
    return texts


def replacing(node: ir.Node, plain: Printer) -> Rewrite:
    def rewrite(candidate: ir.Node) -> str | None:
        if candidate is not node:
            return None
        return "\n".join(plain.statement(node)) if isinstance(node, ir.Stmt) else plain.expr(node)  # type: ignore[arg-type]

    return rewrite


CASES = [pytest.param(body, "\n", id=name) for name, body in BODIES.items()]
CASES += [pytest.param(BODIES[name], "\r\n", id=f"{name}, crlf") for name in ("comments", "macros")]


@pytest.mark.parametrize(("body", "newline"), CASES)
def test_printed_functions_compute_the_same(tmp_path: Path, body: str, newline: str) -> None:
    unit = unit_of(tmp_path, body, newline)
    texts = variants(unit)
    names = ["original", *(f"v{i}" for i in range(len(texts)))]
    printed = "\n".join(f"{signature(f'v{i}')} {text}" for i, text in enumerate(texts))
    array = f"static int (*variants[])(double *, double *, int *, struct cell *, int) = {{{', '.join(names)}}};"
    program = tmp_path / "program.c"
    program.write_text(unit.text.decode().replace("\r\n", "\n") + f"{printed}\n{array}\n{MAIN}")
    build = ["gcc", "-std=gnu17", "-O0", "-w", "-ffp-contract=off", "-o", str(tmp_path / "program"), str(program), "-lm"]
    built = subprocess.run(build, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    results = subprocess.run([str(tmp_path / "program")], capture_output=True, text=True, check=True).stdout.split()
    wrong = [text for text, result in zip(texts, results[1:], strict=True) if result != results[0]]
    assert not wrong, wrong[0]


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_spans_nest_and_hold_whole_tokens(tmp_path: Path, body: str) -> None:
    unit = unit_of(tmp_path, body)
    for node in ir.walk(unit.function.body):
        if node.span is not None:
            text = unit.text[node.span.start : node.span.end].decode()
            assert text.strip() == text
            assert text.count("(") == text.count(")") or "'" in text or "/*" in text
