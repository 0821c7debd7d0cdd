"""Invalid files: settings, records, journals."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands import Run
from tests.system.bad_input.conftest import Game

RECORD = """[Game "deblockle"]
[Start "gold c1:G.star/north=slider e7:T.star/north=slider removed=3,3"]
[Result "*"]

"""


@pytest.mark.parametrize("command", ["watch", "demo", "read", "doctor", "config"])
def test_a_wrong_setting_is_named(run: Run, game: Game, tmp_path: Path, command: str) -> None:
    (tmp_path / "referee.toml").write_text('[turn]\nrest_s = 2.5\nend = "buton"\nrest = 1\n')
    done = run(command, *([game.pictures[0]] if command == "read" else []))
    if command == "doctor":
        # The doctor examines everything else all the same.
        assert done.exit_code == 1
        assert "turn.end is" in done.stdout
        return
    assert done.exit_code == 3
    assert done.stderr.splitlines() == [
        f"referee: error: {tmp_path}/referee.toml:3: turn.end is \"buton\"; expected 'button', 'touch' or 'rest' "
        "(did you mean button?)",
        f"referee: error: {tmp_path}/referee.toml:4: there is no setting turn.rest (did you mean rest_s?); "
        "known: end, rest_s, margin",
    ]
    assert not list(tmp_path.rglob("*.sqlite"))


@pytest.mark.parametrize(
    ("turn", "rule"),
    [
        ("c1-c2=x-d3", "After a roll from c1 to c2 the gold block shows hoops, not x"),
        ("e7-e6", "The block on e7 is teal's, and it is gold's turn."),
        ("c1-c1", "c1-c1"),
        ("what?", "what?"),
    ],
)
def test_an_illegal_turn_in_a_record_is_named_with_its_rule(run: Run, tmp_path: Path, turn: str, rule: str) -> None:
    (tmp_path / "game.txt").write_text(f"{RECORD}1. {turn}\n")
    done = run("replay", "game.txt")
    assert done.exit_code == 4
    assert done.stderr.startswith("referee: error: ")
    assert turn in done.stderr
    assert rule in done.stderr


def journal_of(run: Run, game: Game, tmp_path: Path) -> Path:
    (tmp_path / "pictures").mkdir()
    shutil.copy(game.pictures[0], tmp_path / "pictures")
    assert run("watch", "--frames", "pictures", "--stills", *game.seeing, "--journal", "game.sqlite").exit_code == 0
    return tmp_path / "game.sqlite"


def test_a_journal_of_a_newer_version_is_refused(run: Run, game: Game, tmp_path: Path) -> None:
    path = journal_of(run, game, tmp_path)
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA journal_mode = DELETE")
        newer.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    for command in (
        ["watch", "--frames", "pictures", "--stills", *game.seeing, "--journal", path],
        ["new", "--journal", path],
        ["correct", "c3=empty", "--journal", path],
        ["replay", path],
        ["export", "--journal", path],
    ):
        done = run(*command)
        assert done.exit_code == 6, done.output
        assert "99" in done.stderr
        assert "newer" in done.stderr
        assert done.stderr.count("\n") == 1
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"no journal at all " * 100])
def test_a_file_that_is_no_journal_is_refused(run: Run, game: Game, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.sqlite"
    path.write_bytes(content)
    done = run("export", "--journal", path)
    assert done.exit_code == 6
    assert "other.sqlite" in done.stderr
    assert path.read_bytes() == content


def test_a_journal_in_a_folder_that_cannot_exist_is_refused(run: Run, game: Game, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run("watch", "--frames", game.folder, "--stills", *game.seeing, "--journal", "file/game.sqlite")
    assert done.exit_code == 8
    assert "file" in done.stderr
