"""The loop analysis against an interpreter: what it calls independent is, and arrays reach as far as it says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest
from hypothesis import given
from loop_interpreter import Machine, Poisoned, Undefined, original, parallel
from loop_programs import SIGNATURE, Kind, functions, unit

from cudaperf.engine import size
from cudaperf.engine.describe import describe
from cudaperf.engine.loops.nest import LoopNest, Program, nests
from cudaperf.engine.loops.partition import partition
from cudaperf.engine.reason import Refusal
from cudaperf.engine.task import Original, Task

SIZES = [(0, 0), (1, 1), (2, 5), (5, 2), (4, 6), (3, 0)]
NOTHING = Original(path="f.c", function="f", source="", preprocessed="")

pytestmark = pytest.mark.timeout(1800)  # the deep profile


def analysed(text: str) -> tuple[Program, Task] | None:
    """The program and the task, None where the analysis refuses."""
    try:
        program = partition(unit(text))
        return program, describe(program, NOTHING)
    except Refusal:
        return None


def runs(program: Program, task: Task) -> Iterator[tuple[dict[str, int], Machine, object]]:
    """The original's state for every size for which it is defined and the requirements hold."""
    for n, m in SIZES:
        arguments = {"n": n, "m": m}
        try:
            machine, result = original(program.model.function, arguments)
        except (Undefined, Poisoned):
            continue
        if all(size.evaluate(t, arguments) for t in (*task.requirements, *task.user_assumptions)):
            yield arguments, machine, result


@given(functions())
def test_what_the_analysis_says_of_a_function_is_so(text: str) -> None:
    """The program computes what the function does; independent iterations share no element that one of them writes; arrays
    reach at least as far as they are accessed; outputs are written completely."""
    check(text)


@given(functions(Kind(guards=False, scalars=False)))
def test_extents_are_exact_for_plain_code(text: str) -> None:
    exact(text)


def exact(text: str) -> None:
    found = analysed(text)
    if found is None:
        return
    program, task = found
    for arguments, machine, _ in runs(program, task):
        for array in task.arrays:
            if array.name != "c":
                touched = {t.element for t in machine.trace if t.array == array.name}
                assert elements(task, array.name, arguments) == max(touched, default=-1) + 1, (arguments, array.name)


def check(text: str) -> bool:
    """All properties of one function; whether the analysis took it."""
    found = analysed(text)
    if found is None:
        return False
    program, task = found
    for arguments, machine, result in runs(program, task):
        same_values(program, machine, result, arguments)
        for nest in nests(program.steps):
            independent(nest, machine, arguments)
        covered(task, machine, arguments)
    return True


def same_values(program: Program, before: Machine, result: object, arguments: dict[str, int]) -> None:
    after, answer = parallel(program, arguments)
    assert answer == result, arguments
    for array in before.memory:
        written = {t.element for t in (*before.trace, *after.trace) if t.write and t.array == array}
        for element in written:
            assert after.memory[array].get(element) == before.memory[array].get(element), (arguments, array, element)


def independent(nest: LoopNest, machine: Machine, arguments: dict[str, int]) -> None:
    for loop in nest.threads:
        users: dict[object, set[int]] = defaultdict(set)
        written: set[object] = set()
        for touched in machine.trace:
            depth = next((d for d, (node, _) in enumerate(touched.where) if node == id(nest.root)), None)
            at = dict(touched.where).get(id(loop.node))
            if depth is None or at is None or touched.array in nest.array_reductions:
                continue
            key = (touched.where[:depth], touched.array, touched.element)
            users[key].add(at)
            written |= {key} if touched.write else set()
        shared = [key for key in written if len(users[key]) > 1]
        assert not shared, (arguments, loop.var, shared)


def covered(task: Task, machine: Machine, arguments: dict[str, int]) -> None:
    for array in task.arrays:
        mine = [t for t in machine.trace if t.array == array.name]
        count = elements(task, array.name, arguments)
        assert max((t.element for t in mine), default=-1) < count, (arguments, array.name, count)
        if array.access == "out":
            assert {t.element for t in mine if t.write} >= set(range(count)), (arguments, array.name)


def elements(task: Task, array: str, arguments: dict[str, int]) -> int:
    count = 1
    for text in task.array(array).extents:
        count *= size.evaluate(text, arguments)
    return count


# --- what was found this way, by name ----------------------------------------------------------------------------------

FOUND = {
    "a scalar that a branch leaves alone between kernels": """
    for (int r = 0; r < 2; r++)
        for (int i = n - 1; i >= 0; i--) {
            if (a[i] > t) { t = a[i]; w = i; }
            for (int j = 0; j < n; j++) if (a[i] > s) s = a[i];
            s += a[i];
        }""",
    "a scalar of the device that a pure branch sets": """
    for (int i = 0; i < n; i++) s += a[i];
    if (n > m) s = 3;""",
    "an extent by cases, and no access at all": """
    for (int r = 0; r < 2; r++) {
        for (int i = n - 1; i >= 0; i--) a[i] = b[i];
        for (int i = m - 1; i >= 0; i--) a[i] = b[n + 2 + i];
    }""",
    "a matrix, then the same as a vector": """
    for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) b[i * n + j] = 1;
    for (int k = 0; k < n * m; k++) a[k] = b[k];""",
    "a last row that is shorter than another": """
    for (int i = 0; i < n / 2; i++) a[i] = b[(i + 2) * (n + 2) + i];
    for (int i = 0; i < m; i++) a[i] = b[i * (n + 2) + i];""",
    "a counter that doubles": """
    w = 1;
    for (int i = 0; i < 3; i++) { for (int j = 0; j < n; j++) a[w * n + j] = b[j]; w += w; }""",
    "a counter that grows by another": """
    w = 0; t = 0;
    for (int i = 0; i < 4; i++) { for (int j = 0; j < n; j++) a[w * n + j] = b[j]; w += t; t++; }""",
    "a quotient of something negative": """
    for (int i = -3; i < n; i++) a[i / 2 + 1] = i;""",
    "a byte that wraps around": """
    for (int i = 0; i < 300; i++) { unsigned char k = i; a[k] = i; }""",
    "every second element of a doubled array": """
    for (int i = 0; i < 2 * n; i += 2) a[i] = 1;""",
    "positions from the end": """
    for (int i = n - 1; i >= 0; i--) if (a[i] % 3 > t) { t = a[i] % 3; w = i; }""",
}


@pytest.mark.parametrize("name", FOUND)
def test_found_before(name: str) -> None:
    text = "\n".join([SIGNATURE, "{", "    int s = 1, t = 0, w = 2;", FOUND[name], "    return s + w;", "}"])
    check(text)
    if "if" not in text:
        exact(text)
