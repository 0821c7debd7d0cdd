"""Adding a game needs a folder in the engine, a layout, a handler and a few lines: everything else then knows it.

The game beside this file, Reversi, is played with discs that are put down and turned over, and a player may have to
pass. It is put into a copy of the project as CONTRIBUTING says, and nothing else in that copy is touched.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.system.another_game.copied import GAME, copy_with_reversi

MOST_LINES = 500
MOST_HANDLER_LINES = 100

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with Reversi."""
    folder = tmp_path_factory.mktemp("with reversi")
    copy_with_reversi(folder)
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
        ("illegal", ["outflank"]),
        ("put right", []),
        ("accepted", []),
        ("accepted", []),
        ("accepted", []),
        ("accepted", []),
    ]
    sentences = [sentence for _, sentence, _ in said]
    assert sentences[0] == "The board is set up. Black or White begins."
    assert sentences[1] == "White puts a disc on e4 and turns d4 over."
    assert sentences[5] == (
        "White puts a disc on c2 and turns c3 and d3 over. Black puts a disc on b3 and turns c3 and d3 over."
    )
    assert sentences[6] == "Black passes."
    assert told["finished"]
    assert "White wins: 0 black discs, 15 white ones." in told["words"]
    assert told["screen"].endswith("[] the accepted turn\n")
    assert told["playthrough is the same"]
    assert told["record is the same"]
    assert [line.split()[1:] for line in told["board"].splitlines()[:6]] == [
        list("W.WW.W"),
        list(".WWWW."),
        list("..WW.."),
        list("WWWWW."),
        list("......"),
        list("......"),
    ]

    checked = call("-m", "app", "replay", journal).stdout
    assert "White wins: 0 black discs, 15 white ones." in checked
    assert "to see the end" in checked
    record = call("-m", "app", "export", "--journal", journal).stdout
    assert {'[Game "reversi"]', '[Result "white"]', "5. black pass"} <= {
        line.split(" {")[0] for line in record.splitlines()
    }
    kept = journal.with_name("record.txt")
    kept.write_text(record, encoding="utf-8")
    assert "Result: white" in call("-m", "app", "replay", kept).stdout


def test_the_command_line_knows_it(call: Call, tmp_path: Path) -> None:
    assert "starts=black  Who begins. (black, white)" in call("-m", "app", "rules", "reversi").stdout
    programs = (
        "--player",
        "black=random",
        "--player",
        "white=hint",
        "--seed",
        1,
        "--journal",
        tmp_path / "played.sqlite",
    )
    assert "Kept in" in call("-m", "app", "play", "reversi", *programs).stdout
    assert "all consistent" in call("-m", "app", "replay", tmp_path / "played.sqlite").stdout
    journal = tmp_path / "new.sqlite"
    arguments = ("--player", "black=Ann", "--option", "starts=white", "--journal", journal)
    assert "Game 1 of Reversi begins" in call("-m", "app", "new", "reversi", *arguments).stdout
    (tmp_path / "referee.toml").write_text('[game]\nname = "reversi"\noptions = {starts = "white"}\n', encoding="utf-8")
    assert '"reversi"' in call("-m", "app", "config").stdout
    sheet = tmp_path / "markers.pdf"
    call("-m", "app", "print", "markers", "--out", sheet)
    assert sheet.read_bytes().startswith(b"%PDF")
    (tmp_path / "referee.toml").write_text('[game]\nname = "reversy"\n', encoding="utf-8")
    assert "did you mean 'reversi'?" in call("-m", "app", "config", code=3).stderr


def test_a_camera_can_read_it(call: Call) -> None:
    code = "from app.settings.table_layout import layout_for_camera; layout_for_camera('reversi', None)"
    call("-c", code)


def test_the_tests_of_every_game_run_on_it(copy: Path, call: Call) -> None:
    call(copy / "tests" / "playthroughs" / "rewrite.py", "reversi/")
    every = sorted((copy / "tests" / "engine").glob("test_every_game*.py"))
    chosen = [*every, copy / "tests" / "engine" / "test_perft_counts.py", copy / "tests" / "playthroughs"]
    done = call("-m", "pytest", "-q", "-k", "reversi", "-p", "no:cacheprovider", "--rootdir", copy, *chosen)
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


@pytest.mark.parametrize("turn_end", ["button", "rest", "touch"])
def test_whole_games_with_faults_are_right(copy: Path, call: Call, turn_end: str) -> None:
    seed = {"button": 102, "rest": 105, "touch": 103}[turn_end]
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from benchmarks.soak import *; "
        "scored = play_and_score(plan_of(int(sys.argv[2]), 30, (960, 540), perfect_reader=True, game='reversi')); "
        "assert scored.turn_end == sys.argv[3]; print(sorted({item.outcome.value for item in scored.items}))"
    )
    told = call("-c", code, copy, seed, turn_end).stdout
    assert "right at once" in told
    assert not {"wrong", "lost", "asked needlessly"} & set(told.split("'"))


def test_it_takes_few_lines() -> None:
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (GAME / "reversi").glob("*.py"))
    assert lines < MOST_LINES
    assert len((GAME / "reversi_discs.py").read_text(encoding="utf-8").splitlines()) <= MOST_HANDLER_LINES


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
