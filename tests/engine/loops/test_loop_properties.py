"""The loop analysis against an interpreter: what it calls independent is, and arrays reach as far as it says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from hypothesis import given
from loop_interpreter import Machine, Poisoned, Undefined, original, parallel
from loop_programs import Kind, functions, unit

from cudaperf.engine import size
from cudaperf.engine.describe import describe
from cudaperf.engine.loops.nest import LoopNest, Program, nests
from cudaperf.engine.loops.partition import partition
from cudaperf.engine.reason import Refusal
from cudaperf.engine.task import Original, Task

SIZES = [(0, 0), (1, 1), (2, 5), (5, 2), (3, 3), (4, 6), (1, 4), (6, 0)]
NOTHING = Original(path="f.c", function="f", source="", preprocessed="")


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
def test_program_computes_what_the_function_does(text: str) -> None:
    found = analysed(text)
    if found is None:
        return
    program, task = found
    for arguments, before, result in runs(program, task):
        after, answer = parallel(program, arguments)
        assert answer == result, arguments
        for array in before.memory:
            written = {t.element for t in (*before.trace, *after.trace) if t.write and t.array == array}
            for element in written:
                assert after.memory[array].get(element) == before.memory[array].get(element), (arguments, array, element)


@given(functions())
def test_independent_iterations_share_no_element_that_one_writes(text: str) -> None:
    found = analysed(text)
    if found is None:
        return
    program, task = found
    for arguments, machine, _ in runs(program, task):
        for nest in nests(program.steps):
            check_independence(nest, machine, arguments)


def check_independence(nest: LoopNest, machine: Machine, arguments: dict[str, int]) -> None:
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


@given(functions())
def test_extents_cover_what_is_accessed(text: str) -> None:
    found = analysed(text)
    if found is None:
        return
    program, task = found
    for arguments, machine, _ in runs(program, task):
        for array in task.arrays:
            touched = {t.element for t in machine.trace if t.array == array.name}
            count = elements(task, array.name, arguments)
            assert max(touched, default=-1) < count, (arguments, array.name, count)


@given(functions(Kind(guards=False, scalars=False)))
def test_extents_are_exact_for_plain_code(text: str) -> None:
    found = analysed(text)
    if found is None:
        return
    program, task = found
    for arguments, machine, _ in runs(program, task):
        for name in "ab":
            touched = {t.element for t in machine.trace if t.array == name}
            if any(a.name == name for a in task.arrays):
                assert elements(task, name, arguments) == max(touched, default=-1) + 1, (arguments, name)


@given(functions())
def test_outputs_are_written_completely(text: str) -> None:
    found = analysed(text)
    if found is None:
        return
    program, task = found
    for arguments, machine, _ in runs(program, task):
        for array in task.arrays:
            if array.access == "out":
                written = {t.element for t in machine.trace if t.write and t.array == array.name}
                assert written >= set(range(elements(task, array.name, arguments))), (arguments, array.name)


def elements(task: Task, array: str, arguments: dict[str, int]) -> int:
    count = 1
    for text in task.array(array).extents:
        count *= size.evaluate(text, arguments)
    return count
