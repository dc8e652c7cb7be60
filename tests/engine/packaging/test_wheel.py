"""The wheel holds everything that the source tree has, and works from another folder without the tree."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PARTS = ("engine", "server", "training")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("cudaperf-*.whl"))


def test_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(ROOT / part).as_posix()
        for part in PARTS
        for path in (ROOT / part / "cudaperf").rglob("*")
        if path.is_file() and path.suffix != ".pyc" and not any(name.startswith(".") for name in path.relative_to(ROOT).parts)
    }
    assert wanted - held == set()
    assert "cudaperf/__init__.py" not in held
    assert any(name.endswith("licenses/LICENSE") for name in held)


def test_wheel_installs_and_answers_outside_the_tree(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *install], check=True)
    # Dependencies from here; the tree itself (an editable install) must not help.
    site = next((environment / "lib").glob("python*/site-packages"))
    dependencies = Path(pytest.__file__).parents[1]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    script = (
        "import sys; sys.path.append(sys.argv[1]); import cudaperf.engine as e, cudaperf.server, cudaperf.training;"
        "from cudaperf.engine.cli import main; print(e.__file__); raise SystemExit(main(['--help']))"
    )
    done = subprocess.run(
        [python, "-c", script, dependencies], capture_output=True, text=True, cwd=tmp_path, env=clean, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(site))
    assert "optimize" in done.stdout
