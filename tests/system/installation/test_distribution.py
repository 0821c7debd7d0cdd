"""The built distribution contains every file of the packages and works without the checkout."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.rooms import ROOMS

ROOT = Path(__file__).resolve().parents[3]

WHERE = """
import importlib, json
from vision.layout.table import default_layout
rooms = "engine vision hardware firmware_bridge referee journal frontends app hall simulator".split()
print(json.dumps([[importlib.import_module(room).__file__ for room in rooms], len(default_layout("deblockle").places)]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy of its sources, without the network."""
    source, wheels = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheels")
    for room in ROOMS:
        shutil.copytree(ROOT / room, source / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    build = ["wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "-w", str(wheels), str(source)]
    subprocess.run([sys.executable, "-m", "pip", *build], check=True)
    (built,) = wheels.glob("tabletop_referee-*.whl")
    return built


def test_the_wheel_contains_every_file_of_the_packages(wheel: Path) -> None:
    there = {path.relative_to(ROOT).as_posix() for room in ROOMS for path in (ROOT / room).rglob("*.*")}
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == {name for name in there if "__pycache__" not in name}


def test_the_wheel_works_in_its_own_environment(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home)
    python = home / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, str(wheel)], check=True)
    # The libraries come from this environment; a path file there, which leads to the checkout, does not count.
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "PYTHONPATH": sysconfig.get_path("purelib"),
    }

    def call(*command: object) -> str:
        words = [str(word) for word in command]
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    files, places = json.loads(call(python, "-c", WHERE))
    assert all(Path(file).is_relative_to(home) for file in files)
    assert places == 49
    referee = home / "bin" / "referee"
    assert call(referee, "--version").startswith("referee 0.")
    assert "blocks_gold=4" in call(referee, "rules", "deblockle")
    call(referee, "print", "markers", "--out", tmp_path / "markers.pdf")
    assert "Result" in call(referee, "demo", "--fast", "--turns", 1, "--seed", 7)
