"""The checks of this repository; `make fix lint types test` runs them from the project's own environment.

Sessions use the environment that nox itself runs in (`make` builds it), so that nothing is installed twice; only `extras`
makes one of its own. Arguments after `--` go to the tool: `nox -s test -- tests/engine/cli`.
"""

from __future__ import annotations

import sys
import tomllib
from glob import glob
from pathlib import Path

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "types", "test"]

PYTHON_FILES = ["engine", "server", "training", "tests", "benchmarks", "tools", "noxfile.py"]
TYPED_FILES = ["engine", "server", "training", "tools", *sorted(glob("benchmarks/*.py")), "noxfile.py"]
UNCONSTRAINED = {"vllm"}  # pins its own torch


def run(session: nox.Session, module: str, *arguments: str) -> None:
    session.run(sys.executable, "-m", module, *arguments, external=True)


@nox.session
def fix(session: nox.Session) -> None:
    """Mend what ruff can mend, and format."""
    run(session, "ruff", "check", "--fix", *PYTHON_FILES)
    run(session, "ruff", "format", *PYTHON_FILES)


@nox.session
def lint(session: nox.Session) -> None:
    """Style and formatting, changing nothing."""
    run(session, "ruff", "check", *PYTHON_FILES)
    run(session, "ruff", "format", "--check", *PYTHON_FILES)


@nox.session
def types(session: nox.Session) -> None:
    """mypy --strict over everything that is shipped."""
    run(session, "mypy", *TYPED_FILES)


@nox.session
def test(session: nox.Session) -> None:
    """The sampled suite: neither slow tests nor those that need a GPU."""
    run(session, "pytest", "-n", "2", "-m", "not gpu and not slow", *session.posargs)


@nox.session(name="test-full")
def test_full(session: nox.Session) -> None:
    """Everything that runs without a GPU, with deep property tests."""
    run(session, "pytest", "-n", "2", "-m", "not gpu", "--hypothesis-profile", "deep", *session.posargs)


@nox.session(name="test-gpu")
def test_gpu(session: nox.Session) -> None:
    """The tests that need an NVIDIA GPU, one at a time."""
    run(session, "pytest", "-m", "gpu", *session.posargs)


@nox.session(venv_backend="venv")
def extras(session: nox.Session) -> None:
    """Each extra resolves alone (nothing of it is installed). Names after `--` choose some."""
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    session.install("pip>=24")
    for extra in session.posargs or project["optional-dependencies"]:
        constraint = [] if extra in UNCONSTRAINED else ["--constraint", "constraints.txt"]
        session.log(f"resolving cudaperf[{extra}]")
        session.run("python", "-m", "pip", "install", "--quiet", "--dry-run", *constraint, f".[{extra}]")
