"""Who may import whom, and what the engine needs to be imported."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[3]
ENGINE = ROOT / "engine" / "cudaperf" / "engine"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EVERY_MODULE = """
import importlib, pkgutil, sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "pycuda", "cuda"}:
            raise ModuleNotFoundError(f"{name} is blocked", name=name)
sys.meta_path.insert(0, Blocked())
import cudaperf.engine
names = [m.name for m in pkgutil.walk_packages(cudaperf.engine.__path__, "cudaperf.engine.")]
names = [name for name in names if not name.endswith(("__main__", "_backend"))]  # a backend is what loads such a library
print(len([importlib.import_module(name) for name in names]))
"""


def test_import_contracts_hold() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_engine_imports_without_torch_and_gpu_libraries() -> None:
    done = subprocess.run([sys.executable, "-c", EVERY_MODULE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


def test_the_command_starts_without_loading_what_only_some_commands_need() -> None:
    script = "import sys, cudaperf.engine.cli.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"clang", "islpy", "numpy", "pydantic"} & set(done.stdout.split()) == set()


def test_no_init_in_the_namespace_folders_and_one_in_every_package_below() -> None:
    for part in ("engine", "server", "training"):
        assert not (ROOT / part / "cudaperf" / "__init__.py").exists()
        assert (ROOT / part / "cudaperf" / part / "py.typed").exists()
        folders = {path.parent for path in (ROOT / part / "cudaperf" / part).rglob("*.py")}
        assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_everything_imported_is_a_declared_dependency() -> None:
    extras = [name for names in PROJECT["optional-dependencies"].values() for name in names]
    declared = {re.match(r"[\w.-]+", text)[0].lower() for text in (*PROJECT["dependencies"], *extras)}  # type: ignore[index]
    providers = metadata.packages_distributions()
    undeclared = {
        name
        for name in imported(ENGINE) - {"cudaperf"} - sys.stdlib_module_names
        if not {name, *(p.lower() for p in providers.get(name, []))} & declared
    }
    assert undeclared <= {"cuda"}  # cuda-bindings, which stands in for pycuda where that can't be built


def imported(folder: Path) -> set[str]:
    """Top-level names of every import statement below a folder."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add((node.module or "").partition(".")[0])
    return found
