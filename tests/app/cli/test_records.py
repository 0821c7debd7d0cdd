"""Commands on games and journals: new, replay and export."""

import json
import os
import shutil
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from app.cli.context import utc_now
from engine.registry import load
from journal.journal import Journal
from referee.record.events import Event, EventKind, Evidence
from tests.commands import Run

GAME = load("deblockle")


@pytest.fixture
def journal_path(tmp_path: Path) -> Path:
    """A journal of two games, the second with two turns, one of them taken back."""
    path = tmp_path / "journal.sqlite"
    options: dict[str, Any] = {"blocks_gold": 1, "blocks_teal": 1}
    start = GAME.rules.new(options)
    turn = GAME.rules.legal_turns(start)[0]
    after = GAME.rules.apply(start, turn)
    reply = GAME.rules.legal_turns(after)[0]
    last = GAME.rules.apply(after, reply)
    events = [
        Event(EventKind.NEW_GAME, {"game": "deblockle", "options": {}}),
        Event(EventKind.NEW_GAME, {"game": "deblockle", "options": options, "players": {"gold": "Ann {A}"}}),
        Event(EventKind.SET_UP, {"state": GAME.notation.format_state(start)}),
        Event(EventKind.TURN, {"turn": GAME.notation.format_turn(turn), "state": GAME.notation.format_state(after)}),
        Event(EventKind.ILLEGAL, {"sentence": "No block was rolled."}),
        Event(EventKind.PUT_RIGHT, {"sentence": "Thank you."}),
        Event(EventKind.TURN, {"turn": GAME.notation.format_turn(reply), "state": GAME.notation.format_state(last)}),
        Event(EventKind.TAKE_BACK, {"by": "Ben"}),
    ]
    with Journal.open(path, wall_clock=utc_now) as journal:
        for event in events:
            pictures = [Evidence("before-d1", "image/png", b"PNG")] if event.kind == "illegal" else []
            journal.append(event, pictures)
    return path


# new, replay, export
def test_new_begins_a_game(run: Run, tmp_path: Path) -> None:
    result = run("new", "--option", "blocks_gold=3", "--player", "gold=Ann")
    assert result.exit_code == 0, result.stderr
    assert "Game 1 of" in result.output
    path = tmp_path / ".local/share/tabletop-referee/journal.sqlite"
    with Journal.open(path, wall_clock=utc_now) as journal:
        assert journal.events()[0][1].data == {
            "game": "deblockle",
            "options": {"blocks_gold": 3},
            "players": {"gold": "Ann"},
        }
        busy = run("new")
    assert busy.exit_code == 6
    assert f"process {os.getpid()}" in busy.stderr


def test_a_game_with_pieces_without_a_reader_is_kept_by_text(run: Run, tmp_path: Path) -> None:
    data = json.loads((resources.files("vision.layout") / "games" / "deblockle.json").read_text(encoding="utf-8"))
    del data["block"]
    (tmp_path / "shells.json").write_text(json.dumps({**data, "pieces": "shells"}))
    (tmp_path / "referee.toml").write_text('[table]\nlayout = "shells.json"\n')
    begun = run("new", "deblockle", "--journal", "a.sqlite")
    assert begun.exit_code == 0, begun.stderr
    says = "can't read this table by camera: no reader knows 'shells', which its layout names for the board; there is"
    said = " ".join(begun.output.split())
    assert f"The referee {says} one for blocks" in said
    assert "You can keep it by text" in said
    refused = run("watch", "--frames", ".")
    assert refused.exit_code == 5
    assert says in " ".join(refused.stderr.split())
    assert says in " ".join(run("doctor").output.split())


def test_a_game_without_a_layout_is_kept_by_text(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("vision.layout.table", "app.settings.table_layout"):
        monkeypatch.setattr(f"{module}.games_with_layouts", lambda: ("blockade", "deblockle", "diaballik"))
    begun = run("new", "number-drop", "--journal", "a.sqlite")
    assert begun.exit_code == 0, begun.stderr
    assert "No camera can see Number Drop yet; keep it by text with `referee table turn`" in begun.output
    assert "No camera" not in run("new", "deblockle", "--journal", "a.sqlite").output
    refused = run("watch", "--game", "number-drop", "--frames", ".")
    assert refused.exit_code == 5
    assert "so a camera can't see it (there is one for blockade, deblockle, diaballik)" in refused.stderr
    assert "play it with `referee play number-drop`" in refused.stderr


def test_new_can_leave_open_who_starts(run: Run) -> None:
    assert run("new", "--option", "starts=either").exit_code == 0
    assert "starts=either" in run("replay").output
    wrong = run("new", "--option", "starts=nobody")
    assert (wrong.exit_code, "it takes one of gold, teal" in wrong.stderr) == (4, True)


def test_replay_describes_a_journal(run: Run, journal_path: Path, tmp_path: Path) -> None:
    result = run("replay", journal_path, "--evidence", tmp_path / "pictures")
    assert result.exit_code == 0, result.stderr
    assert "gold is Ann {A}" in result.output
    assert "No block was rolled." in result.output
    assert "Taken back by Ben" in result.output
    assert "1 turn, 7 events, all consistent. The game is in progress." in result.output
    assert "1 picture in" in result.output
    assert [file.name for file in (tmp_path / "pictures").iterdir()] == ["0005-illegal-before-d1.png"]


def test_replay_names_an_impossible_event(run: Run, journal_path: Path) -> None:
    with Journal.open(journal_path, wall_clock=utc_now) as journal:
        journal.append(Event(EventKind.TURN, {"turn": "a1-a2=stop", "state": "nonsense"}))
    result = run("replay", journal_path)
    assert result.exit_code == 4
    assert "event 9 (turn)" in result.stderr


def test_replay_of_a_missing_file_may_mean_a_game_by_its_number(run: Run) -> None:
    missing = run("replay", "1")
    assert missing.exit_code == 2
    assert "there is no file '1'; for game 1 of the journal, give --game 1" in missing.stderr
    assert "there is no file 'game.txt'. Try" in run("replay", "game.txt").stderr


def test_an_exported_record_replays(run: Run, journal_path: Path, tmp_path: Path) -> None:
    record = run("export", "--journal", journal_path).output
    assert '[Gold "Ann (A)"]' in record
    assert run("export", "--journal", journal_path, "--out", tmp_path / "game.txt").exit_code == 0
    assert (tmp_path / "game.txt").read_text() == record
    from_file = run("replay", tmp_path / "game.txt")
    assert from_file.exit_code == 0, from_file.stderr
    assert "1 turn, all legal. Result: *" in from_file.output
    assert run("replay", "-", input=record).output == from_file.output
    assert "standard input is neither a journal nor a game record" in run("replay", "-", input=b"\xff").stderr


def test_export_overwrites_no_file_unasked_and_never_a_journal(
    run: Run, journal_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    export = ("export", "--journal", journal_path, "--out", notes)
    refused = run(*export)
    assert (refused.exit_code, f"{notes} is there already" in refused.stderr) == (2, True)
    with monkeypatch.context() as terminal:
        terminal.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
        assert "Write over it?" in run(*export, input="n\n").output
    assert notes.read_text() == "mine"
    assert run(*export, "--force").exit_code == 0
    assert notes.read_text().startswith("[Game")
    full = run("export", "--journal", journal_path, "--out", "/dev/full")
    assert (full.exit_code, full.stderr) == (8, "referee: error: /dev/full: No space left on device\n")
    journal = journal_path.read_bytes()
    refused = run(*export[:3], "--out", journal_path, "--force")
    assert (refused.exit_code, f"{journal_path} is a journal" in refused.stderr) == (2, True)
    assert journal_path.read_bytes() == journal


def test_replay_takes_the_journal_like_its_neighbours(run: Run, journal_path: Path) -> None:
    as_file = run("games", "replay", journal_path)
    assert run("games", "replay", "--journal", journal_path).output == as_file.output
    both = run("games", "replay", journal_path, "--journal", journal_path)
    assert (both.exit_code, "give one of them" in both.stderr) == (2, True)


def test_export_of_an_unknown_game_is_refused(run: Run, journal_path: Path) -> None:
    result = run("export", "--journal", journal_path, "--game", "5")
    assert (result.exit_code, "the last one is game 2" in result.stderr) == (6, True)
    never_set_up = run("export", "--journal", journal_path, "--game", "1")
    assert (never_set_up.exit_code, "never set up" in never_set_up.stderr) == (4, True)


def test_replay_names_the_line_of_an_illegal_turn(run: Run, tmp_path: Path) -> None:
    (tmp_path / "game.txt").write_text('[Game "deblockle"]\n\n1. c1-c2=hoops-a1\n2. a1-a9=stop\n')
    result = run("replay", tmp_path / "game.txt")
    assert result.exit_code == 4
    assert "line 4" in result.stderr


def test_replay_refuses_other_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff")
    result = run("replay", tmp_path / "picture.png")
    assert (result.exit_code, "neither a journal nor a game record" in result.stderr) == (4, True)
    (tmp_path / "game.txt").write_text('[Game "deblockle"]\n')
    assert run("replay", tmp_path / "game.txt", "--game", "1").exit_code == 2


def test_no_color_and_pipes_get_plain_text(run: Run, journal_path: Path) -> None:
    for arguments in (["config"], ["doctor"], ["replay", journal_path]):
        assert "\x1b" not in run(*arguments).output


def test_replay_says_which_events_are_missing(run: Run, journal_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "left.sqlite"
    shutil.copy(journal_path, path)
    with Journal.open(journal_path, wall_clock=utc_now) as journal:
        for _ in range(8):
            journal.append(Event(EventKind.NOTE, {"sentence": "tea"}))
        assert "all consistent" in run("games", "replay", journal_path).stdout
        shutil.copy(f"{journal_path}-last", f"{path}-last")
    done = run("games", "replay", path)
    assert done.exit_code == 6
    assert "only a part" in done.stdout
    assert "left.sqlite was damaged: 8 events after event 8 are missing. Compare the board with what " in done.stderr
