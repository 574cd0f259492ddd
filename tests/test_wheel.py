"""A wheel holds all that runs: built, installed beside the dependencies without the checkout, it gives the demo."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with the wheel's content, to be put before the environment's packages."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path / "dist"), str(ROOT)]
    subprocess.run([*pip, *build], check=True, capture_output=True)
    [wheel] = (tmp_path / "dist").glob("suffice-*.whl")
    target = tmp_path / "installed"
    subprocess.run([*pip, "install", "--no-deps", "--target", str(target), str(wheel)], check=True, capture_output=True)
    return target


def test_the_demo_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    where = "import suffice, sys; print(suffice.__file__, file=sys.stderr); from suffice.cli import main; main()"
    env = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-c", where, "demo"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=600)
    assert done.stderr.startswith(str(installed))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "6 of 6 tasks answered with the right set" in done.stdout
