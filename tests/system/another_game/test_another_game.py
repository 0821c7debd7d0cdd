"""Adding a game needs a folder in the engine, a layout and a line in the registry: everything else then knows it.

The game beside this file, Breakthrough, has flat discs without symbols or side faces. It is put into a copy of the
project as CONTRIBUTING says, and nothing else in that copy is touched.
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
GAME = Path(__file__).parent
MOST_LINES = 500
ROOMS = ("common", "engine", "vision", "hardware", "firmware_bridge", "referee", "simulator")

REGISTRY_LINE = '        "breakthrough": "engine.games.breakthrough.game",\n'
PLAYTHROUGH = '\n    "breakthrough/to-the-end": ("breakthrough", 80, {"starts": "blue"}, False),'

Call = Callable[..., subprocess.CompletedProcess[str]]


def copied(source: Path, target: Path) -> None:
    """Copy a file or a folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def written_in(path: Path, after: str, text: str) -> None:
    """Put a text into a file, behind the first place where it says ``after``."""
    before, found, rest = path.read_text(encoding="utf-8").partition(after)
    assert found, f"{path.name} doesn't say {after!r}"
    path.write_text(before + found + text + rest, encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the project and do what CONTRIBUTING says about adding a game."""
    folder = tmp_path_factory.mktemp("with breakthrough")
    for room in ROOMS:
        copied(ROOT / room, folder / room)
    for name in ("engine", "playthroughs", "conftest.py", "effort.py", "guard.py", "present.py"):
        copied(ROOT / "tests" / name, folder / "tests" / name)
    copied(GAME / "breakthrough", folder / "engine" / "games" / "breakthrough")
    copied(GAME / "breakthrough.json", folder / "vision" / "layout" / "games" / "breakthrough.json")
    copied(ROOT / "docs" / "games", folder / "docs" / "games")
    copied(GAME / "breakthrough.md", folder / "docs" / "games" / "breakthrough.md")
    copied(GAME / "perft.toml", folder / "tests" / "engine" / "perft" / "breakthrough.toml")
    written_in(folder / "tests" / "playthroughs" / "rewrite.py", "bool]] = {", PLAYTHROUGH)
    written_in(folder / "engine" / "registry.py", "    {\n", REGISTRY_LINE)
    copied(ROOT / "pyproject.toml", folder / "pyproject.toml")
    written_in(folder / "pyproject.toml", "protected_modules = [", '"engine.games.breakthrough", ')
    return folder


@pytest.fixture
def call(copy: Path, tmp_path: Path) -> Call:
    """Run a Python command in the copy, at home in an empty folder, warnings as errors."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "HYPOTHESIS_PROFILE") if name in os.environ}
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
    return json.loads(call(GAME / "play.py", journal).stdout), journal


def test_judge_service_journal_and_records_referee_it(call: Call, played: tuple[dict[str, Any], Path]) -> None:
    told, journal = played
    said = [verdict for verdict in told["verdicts"] if verdict[0] != "not finished"]
    assert [(kind, rules) for kind, _, rules in said] == [
        ("set up", []),
        ("accepted", []),
        ("illegal", ["one-step"]),
        ("put right", []),
        ("accepted", []),
        ("accepted", []),
        ("accepted", []),
        ("accepted", []),
    ]
    sentences = [sentence for _, sentence, _ in said]
    assert sentences[0] == "The board is set up. Red or Blue begins."
    assert sentences[1] == "Blue moves b5 to b4."
    assert sentences[5] == "Blue takes b4 to c3."
    assert sentences[6] == "Red moves f2 to f3. Blue moves a5 to a4."
    assert told["finished"]
    assert "Blue wins: a blue disc is on the far row." in told["words"]
    assert told["screen"].endswith("[] the accepted turn\n")
    assert told["playthrough is the same"]
    assert told["record is the same"]
    assert [line.split()[1:] for line in told["board"].splitlines()[:6]] == [
        list("BBBBBB"),
        list("B.BBBB"),
        list("......"),
        list(".....R"),
        list("R..RR."),
        list("BRRRRR"),
    ]
    assert told["film"][0] == 400

    checked = call("-m", "referee", "replay", journal).stdout
    assert "Blue wins: a blue disc is on the far row." in checked
    assert "it slid" in checked
    record = call("-m", "referee", "export", "--journal", journal).stdout
    assert record.startswith('[Game "breakthrough"]\n[Result "blue"]\n')
    kept = journal.with_name("record.txt")
    kept.write_text(record, encoding="utf-8")
    assert "Result: blue" in call("-m", "referee", "replay", kept).stdout


def test_the_command_line_knows_it(call: Call, tmp_path: Path) -> None:
    assert call("-m", "referee", "perft", "breakthrough", "--depth", 2).stdout.split()[-1] == str(16 * 16)
    assert "starts=red  Who begins. (red, blue)" in call("-m", "referee", "rules", "breakthrough").stdout
    programs = ("--player", "red=random", "--player", "blue=hint", "--seed", 1, "--record", tmp_path / "played.txt")
    assert "Kept as" in call("-m", "referee", "play", "breakthrough", *programs).stdout
    assert "all legal" in call("-m", "referee", "replay", tmp_path / "played.txt").stdout
    journal = tmp_path / "new.sqlite"
    arguments = ("--player", "red=Ann", "--option", "starts=blue", "--journal", journal)
    assert "Game 1 of Breakthrough begins" in call("-m", "referee", "new", "breakthrough", *arguments).stdout
    (tmp_path / "referee.toml").write_text(
        '[game]\nname = "breakthrough"\noptions = {starts = "blue"}\n', encoding="utf-8"
    )
    assert '"breakthrough"' in call("-m", "referee", "config").stdout
    sheet = tmp_path / "markers.pdf"
    call("-m", "referee", "print", "markers", "--out", sheet)
    assert sheet.read_bytes().startswith(b"%PDF")
    (tmp_path / "referee.toml").write_text('[game]\nname = "breaktrough"\n', encoding="utf-8")
    assert "did you mean 'breakthrough'?" in call("-m", "referee", "config", code=3).stderr


def test_a_camera_can_read_it(call: Call) -> None:
    code = "from referee.settings.table_layout import layout_for_camera; layout_for_camera('breakthrough', None)"
    call("-c", code)


def test_the_tests_of_every_game_run_on_it(copy: Path, call: Call) -> None:
    call(copy / "tests" / "playthroughs" / "rewrite.py", "breakthrough/")
    every = sorted((copy / "tests" / "engine").glob("test_every_game*.py"))
    chosen = [*every, copy / "tests" / "engine" / "test_perft_counts.py", copy / "tests" / "playthroughs"]
    done = call("-m", "pytest", "-q", "-k", "breakthrough", "-p", "no:cacheprovider", "--rootdir", copy, *chosen)
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


def test_it_takes_few_lines() -> None:
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (GAME / "breakthrough").glob("*.py"))
    assert lines < MOST_LINES


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
