"""Adding a game needs a folder in the engine, a layout and a line in the registry: everything else then knows it.

The toy game beside this file has pieces that come one by one, an empty board to begin with, no symbols, no side
faces, nothing unfinished. It is put into a copy of the project, and nothing else in that copy is touched.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOY = Path(__file__).parent
ROOMS = ("common", "engine", "vision", "hardware", "firmware_bridge", "referee", "simulator")

REGISTRY_LINES = """
_GAMES = MappingProxyType({**_GAMES, "pebbles": "engine.games.pebbles.game"})
"""

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the project and do what CONTRIBUTING says about adding a game."""
    folder = tmp_path_factory.mktemp("with pebbles")
    for room in ROOMS:
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(
        TOY / "pebbles", folder / "engine" / "games" / "pebbles", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(TOY / "pebbles.json", folder / "vision" / "layout" / "games")
    with (folder / "engine" / "registry.py").open("a", encoding="utf-8") as registry:
        registry.write(REGISTRY_LINES)
    toml = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    protected = toml.replace("protected_modules = [", 'protected_modules = ["engine.games.pebbles", ')
    assert protected != toml
    (folder / "pyproject.toml").write_text(protected, encoding="utf-8")
    return folder


@pytest.fixture
def call(copy: Path, tmp_path: Path) -> Call:
    """Run a Python command in the copy, at home in an empty folder, warnings as errors."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    env = {**kept, "HOME": str(tmp_path), "PYTHONPATH": str(copy), "LANG": "C.UTF-8", "COLUMNS": "100"}

    def run(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-W", "error", *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def played(call: Call, tmp_path: Path) -> tuple[dict[str, Any], Path]:
    """A game played through the service, and its journal."""
    journal = tmp_path / "game.sqlite"
    return json.loads(call(TOY / "play.py", journal).stdout), journal


def test_judge_service_journal_and_records_referee_it(call: Call, played: tuple[dict[str, Any], Path]) -> None:
    told, journal = played
    said = [verdict for verdict in told["verdicts"] if verdict[0] != "not finished"]
    assert [(kind, rules) for kind, _, rules in said] == [
        ("set up", []),
        ("accepted", []),
        ("illegal", ["own-pebble"]),
        ("put right", []),
        ("accepted", []),
        ("accepted", []),
        ("accepted", []),
    ]
    sentences = [sentence for _, sentence, _ in said]
    assert sentences[0] == "The board is set up. Red or Blue begins."
    assert sentences[1] == "Blue puts a pebble on b2."
    assert sentences[5] == "Blue puts a pebble on b1. Red puts a pebble on c1."
    assert told["finished"]
    assert "Blue wins: three in a row." in told["screen"]
    assert told["playthrough is the same"]
    assert told["record is the same"]
    assert [line.split()[1:] for line in told["board"].splitlines()[:3]] == [
        [".", "B", "R"],
        [".", "B", "."],
        ["R", "B", "."],
    ]
    assert told["film"][0] == 400

    checked = call("-m", "referee", "replay", journal).stdout
    assert "blue won (three in a row)" in checked
    assert "it fell off" in checked
    record = call("-m", "referee", "export", "--journal", journal).stdout
    assert record.startswith('[Game "pebbles"]\n[Result "blue"]\n')
    kept = journal.with_name("record.txt")
    kept.write_text(record, encoding="utf-8")
    assert "Result: blue" in call("-m", "referee", "replay", kept).stdout


def test_the_command_line_knows_it(call: Call, tmp_path: Path) -> None:
    assert call("-m", "referee", "perft", "pebbles", "--depth", 3).stdout.split()[-1] == str(9 * 8 * 7)
    assert "starts=red  Who begins. (red, blue)" in call("-m", "referee", "rules", "pebbles").stdout
    programs = ("--player", "red=random", "--player", "blue=hint", "--seed", 1, "--record", tmp_path / "played.txt")
    assert "Kept as" in call("-m", "referee", "play", "pebbles", *programs).stdout
    assert "all legal" in call("-m", "referee", "replay", tmp_path / "played.txt").stdout
    journal = tmp_path / "new.sqlite"
    arguments = ("--player", "red=Ann", "--option", "starts=blue", "--journal", journal)
    assert "Game 1 of Pebbles begins" in call("-m", "referee", "new", "pebbles", *arguments).stdout
    (tmp_path / "referee.toml").write_text('[game]\nname = "pebbles"\noptions = {starts = "blue"}\n', encoding="utf-8")
    assert '"pebbles"' in call("-m", "referee", "config").stdout
    sheet = tmp_path / "markers.pdf"
    call("-m", "referee", "print", "markers", "--out", sheet)
    assert sheet.read_bytes().startswith(b"%PDF")
    (tmp_path / "referee.toml").write_text('[game]\nname = "pebble"\n', encoding="utf-8")
    assert "did you mean 'pebbles'?" in call("-m", "referee", "config", code=3).stderr


@pytest.mark.long
def test_it_keeps_to_the_types_and_the_import_rules(copy: Path, call: Call) -> None:
    pytest.importorskip("mypy")
    pytest.importorskip("importlinter")
    code = "import os, sys; os.chdir(sys.argv[1]); from mypy.main import main; main(args=['-p', 'engine'])"
    assert call("-c", code, copy).stdout.startswith("Success")
    code = (
        "import os, sys; os.chdir(sys.argv[1]); from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(no_cache=True))"
    )
    assert " 0 broken" in call("-c", code, copy).stdout
