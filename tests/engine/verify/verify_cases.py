"""Tasks made by hand for the verification tests: C text, the tree of the same function, and an executor that runs host C++."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Literal

from cudaperf.engine.candidate import Candidate
from cudaperf.engine.executors.protocol import EmittedFiles, Job, Outputs
from cudaperf.engine.loops import ir
from cudaperf.engine.plan import LaunchPlan
from cudaperf.engine.task import ArrayParameter, Original, Parameter, ScalarParameter, ScalarType, Task
from cudaperf.engine.verdict import CompileFailed, Infrastructure, KernelResources, Timing, Verdict
from cudaperf.engine.verify.reference import reference_source

SCALARS = {
    "float": ScalarType(name="float", number="float", bits=32),
    "double": ScalarType(name="double", number="float", bits=64),
    "int": ScalarType(name="int", number="int", bits=32),
    "unsigned char": ScalarType(name="unsigned char", number="int", bits=8, signed=False),
}
TREES = {"float": ir.FLOAT, "double": ir.DOUBLE, "int": ir.INT, "unsigned char": ir.Scalar("unsigned char", "int", 8, False)}


def size(name: str) -> ScalarParameter:
    return ScalarParameter(name=name, type=SCALARS["int"], role="size", declaration=f"int {name}")


def number(name: str, kind: str) -> ScalarParameter:
    return ScalarParameter(name=name, type=SCALARS[kind], role="value", declaration=f"{kind} {name}")


def array(name: str, kind: str, *extents: str, access: Literal["in", "out", "inout"] = "in", **more: object) -> ArrayParameter:
    declaration = f"{kind} *{name}"
    given = {"name": name, "type": SCALARS[kind], "extents": extents, "access": access, "declaration": declaration, **more}
    return ArrayParameter.model_validate(given)


def variable(p: Parameter) -> ir.Variable:
    assert isinstance(p.type, ScalarType)
    dims: tuple[ir.Expr | None, ...] = ()
    if isinstance(p, ArrayParameter):
        dims = (None, *(ir.Name(id=e) for e in p.extents[1:]))
    return ir.Variable(name=p.name, type=TREES[p.type.name], dims=dims, declaration=p.declaration, is_global=p.is_global)


def task(
    name: str,
    source: str,
    parameters: tuple[Parameter, ...],
    body: tuple[ir.Stmt, ...] | None = None,
    returns: str | None = None,
    globals_: tuple[Parameter, ...] = (),
    **more: object,
) -> Task:
    """A task; with a tree it has a reference."""
    original = Original(path=f"{name}.c", function=name, source=source, preprocessed=source)
    result = SCALARS[returns] if returns else None
    made = Task.model_validate(
        {"name": name, "original": original, "parameters": parameters, "globals": globals_, "returns": result, **more}
    )
    if body is None:
        return made
    function = ir.Function(
        name=name,
        parameters=tuple(variable(p) for p in parameters),
        returns=TREES[returns] if returns else None,
        body=ir.Block(statements=body),
        globals=tuple(variable(p) for p in globals_),
    )
    unit = ir.Unit(path=f"{name}.c", text=source.encode(), function=function)
    return made.model_copy(update={"reference": reference_source(unit, made)})


# --- trees ---------------------------------------------------------------------------------------------------------------


def name(text: str, kind: str = "int") -> ir.Name:
    return ir.Name(id=text, type=TREES[kind])


def at(text: str, kind: str, *indices: ir.Expr) -> ir.Load:
    return ir.Load(array=text, indices=indices, type=TREES[kind])


def op(symbol: str, left: ir.Expr, right: ir.Expr) -> ir.Binary:
    kind = left.type if symbol not in ("<", ">", "<=", ">=", "==", "!=") else ir.INT
    assert isinstance(kind, ir.Scalar)
    return ir.Binary(op=symbol, left=left, right=right, type=kind)


def whole(value: int) -> ir.IntConst:
    return ir.IntConst(value=value)


def real(text: str) -> ir.FloatConst:
    kind = ir.FLOAT if text.endswith("f") else ir.DOUBLE
    return ir.FloatConst(value=float(text.rstrip("f")), spelling=text, type=kind)


def assign(target: ir.Name | ir.Load, value: ir.Expr, symbol: str | None = None) -> ir.Assign:
    return ir.Assign(target=target, op=symbol, value=value)


def loop(var: str, lower: int, bound: ir.Expr, *body: ir.Stmt) -> ir.For:
    block = ir.Block(statements=body)
    return ir.For(var=var, type=ir.INT, lower=whole(lower), relation="<", bound=bound, step=whole(1), body=block)


# --- running candidates --------------------------------------------------------------------------------------------------

CANDIDATE = Candidate(device_code="", plan=LaunchPlan(steps=()), strategy="by hand", schedule="by(hand)")


def files(code: str) -> EmittedFiles:
    return EmittedFiles("by_hand.cu", code, "by_hand.h", "")


class HostExecutor:
    """Compiles the emitted text as plain host C++ with the harness; all inputs in one process must give the same outputs."""

    name: Literal["emulated", "gpu"] = "emulated"
    device: str | None = None

    def run(self, job: Job, directory: Path, deadline: float) -> Outputs | Verdict:
        (directory / "main.cpp").write_text(job.harness + "\n#include <math.h>\n" + job.files.cu)
        command = ["g++", "-O1", "-w", "-o", "candidate", "main.cpp", "-lm"]
        built = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=60, check=False)
        if built.returncode:
            return CompileFailed(log=built.stderr)
        paths, pairs = [], []
        for at_, source in enumerate(job.inputs):
            target = directory / f"{at_}.out"
            left = deadline - time.monotonic()
            ran = subprocess.run([directory / "candidate", source, target], capture_output=True, timeout=left, check=False)
            if ran.returncode not in (0, 17):
                return Infrastructure(message=f"status {ran.returncode}: {ran.stderr.decode()}")
            paths.append(target)
            pairs += [source, target.with_suffix(".again")] if ran.returncode == 0 else []
        if pairs:
            left = deadline - time.monotonic()
            ran = subprocess.run([directory / "candidate", *pairs], capture_output=True, timeout=left, check=False)
            assert ran.returncode == 0, ran.stderr.decode()
            assert all(again.read_bytes() == again.with_suffix(".out").read_bytes() for again in pairs[1::2])
        return Outputs(tuple(paths), ("host",))

    def time(self, job: Job, directory: Path, configuration: int, deadline: float) -> Timing | None:
        return None

    def resources(self, candidate: Candidate) -> tuple[KernelResources, ...]:
        return ()
