"""``referee games``, ``status`` and ``new``: a journal's games are listed, shown, left, resumed and stopped."""

import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.records import read
from engine.registry import load
from journal.journal import Journal
from journal.reader import read_journal
from referee.record.fold import fold, restarted_event, running_event
from tests.commands import Run, runner_in


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    (tmp_path / "referee.toml").write_text('[journal]\npath = "game.sqlite"\n')
    return runner_in(tmp_path, monkeypatch)


def rows(run: Run) -> list[list[str]]:
    return [line.split() for line in run("games").stdout.splitlines()[1:]]


def test_an_earlier_game_is_resumed(run: Run) -> None:
    run("new", "deblockle", "--player", "gold=Ann")
    run("turn", "c1-b1=x-a2")
    begun = run("new", "diaballik").stdout
    assert begun.startswith(
        "Game 1 of Deblockle is not finished (1 turn). `referee games resume 1` goes back to it.\nGame 2 of Diaballik"
    )
    assert [row[:2] + row[4:] for row in rows(run)] == [
        ["1", "Deblockle", "1", "Teal", "to", "play."],
        ["2", "Diaballik", "0", "Waiting", "for", "the", "set-up."],
    ]
    shown = run("games", "show", "1").stdout
    assert shown.startswith("Game 1, Deblockle (gold Ann): 1 turn.")
    assert shown.endswith("Teal to play.\n")
    resumed = run("games", "resume", "1").stdout
    assert resumed.startswith("Game 1 goes on as game 3.\nGame 3, Deblockle (gold Ann): 1 turn.")
    assert run("status").stdout == run("status", "--game", "3").stdout == resumed.partition("\n")[2]
    assert run("turn", "c7-b7=x-a6").exit_code == 0
    assert len(read(run("export").stdout).entries) == 2
    assert run("take-back").exit_code == 0
    assert run("take-back").exit_code == 0


def test_the_status_asks_for_the_tiles(run: Run) -> None:
    run("new", "number-drop", "--option", "players=2")
    run(
        "correct",
        "--position",
        load("number-drop").notation.format_state(load("number-drop").rules.new({"players": 2})),
    )
    assert run("status").stdout.endswith("Waiting for the tiles.\n")


def test_a_game_is_stopped_and_resumed(run: Run) -> None:
    run("new", "deblockle")
    assert run("games", "end", "--yes").stderr == (
        "referee: error: there is nothing to stop: the last game is over or waits for its set-up; "
        "`referee games new` begins another\n"
    )
    run("turn", "c1-b1=x-a2")
    asked = run("games", "end")
    assert asked.exit_code == 2
    assert asked.stderr.endswith("to stop it without being asked, add --yes. Try 'referee games end --help'.\n")
    assert "goes on with it" in run("games", "end", "--yes").stdout
    assert run("status").stdout.endswith(
        "The game was stopped before its end.\n`referee games resume 1` goes on with it.\n"
    )
    assert "stopped" in run("games").stdout
    for entry in ("turn d7-d6", "roll 1", "announce resign", "announce draw", "correct c3=empty", "take-back"):
        refused = run("table", *entry.split())
        assert refused.exit_code == 4
        assert "game 1 was stopped; `referee games resume 1` goes on with it" in refused.stderr
    assert "the last game is stopped already; `referee games resume 1` goes on with it" in run("games", "end").stderr
    assert run("games", "results").stdout == "No game was played to its end yet.\n"
    assert read(run("export").stdout).result == "*"
    assert run("new", "deblockle").stdout.startswith("Game 2 of Deblockle begins")
    assert "goes on as game 3" in run("games", "resume", "1").stdout
    assert run("status").stdout.endswith("Teal to play.\n")


def test_a_stopped_game_can_be_resumed_at_once_and_keeps_an_open_offer(run: Run) -> None:
    run("new", "diaballik")
    run("turn", "a1-a2")
    run("announce", "draw")
    run("games", "end", "--yes")
    assert "White offers a draw. Somebody else accepts or refuses." in run("games", "resume", "1").stdout
    assert run("turn", "a7-a6").exit_code == 0


def test_a_game_left_while_its_clock_ran_is_resumed_with_the_time_used(run: Run, tmp_path: Path) -> None:
    run("new", "deblockle", "--clock", "game 2")
    run("turn", "c1-b1=x-a2")
    with Journal.open(tmp_path / "game.sqlite", wall_clock=lambda: datetime(2026, 11, 27, tzinfo=UTC)) as journal:
        journal.append(restarted_event(5.0))
        journal.append(running_event(35.0))
    run("new", "deblockle")
    run("games", "resume", "1")
    run("take-back")
    with Journal.open(tmp_path / "game.sqlite", wall_clock=lambda: datetime(2026, 11, 27, tzinfo=UTC)) as journal:
        clock = fold(load("deblockle"), journal.events(3)).clock.clock
    assert clock is not None
    assert clock.remaining_s == {"gold": 120, "teal": 90}


@pytest.mark.parametrize("kind", ["turn", "clock"])
def test_a_game_is_resumed_completely_or_not_at_all(run: Run, tmp_path: Path, kind: str) -> None:
    run("new", "deblockle", "--clock", "game 2")
    run("turn", "c1-b1=x-a2")
    run("new", "diaballik")
    before = run("games").stdout
    with closing(sqlite3.connect(tmp_path / "game.sqlite")) as file:
        file.execute(
            f"CREATE TRIGGER fault BEFORE INSERT ON event WHEN NEW.kind = '{kind}' BEGIN SELECT RAISE(ABORT, 'x'); END"
        )
    assert run("games", "resume", "1").exit_code != 0
    assert run("games").stdout == before
    with closing(sqlite3.connect(tmp_path / "game.sqlite")) as file:
        file.execute("DROP TRIGGER fault")
    assert "goes on as game 3" in run("games", "resume", "1").stdout


def test_games_that_cannot_be_resumed_are_refused(run: Run) -> None:
    assert run("games").exit_code == 6
    run("new", "deblockle")
    run("turn", "c1-b1=x-a2")
    assert "game 1 is the last one" in run("games", "resume", "1").stderr
    assert "the last one is game 1" in run("games", "resume", "7").stderr
    assert run("announce", "resign", "--yes").stdout.startswith("Teal resigns. Gold wins: teal resigned.")
    assert run("status").stdout.endswith("Gold wins: teal resigned.\n")
    run("new", "deblockle")
    assert run("games", "resume", "1").stderr == (
        "referee: error: game 1 is over: teal resigned; `referee games new` begins another\n"
    )
    assert "is not finished" not in run("new", "deblockle").stdout


def test_a_game_that_is_over_names_who_resigned(run: Run) -> None:
    run("new", "diaballik", "--player", "white=Ben")
    run("announce", "resign", "--player", "white", "--yes")
    run("new", "diaballik")
    assert "game 1 is over: Ben resigned;" in run("games", "resume", "1").stderr


def test_the_results_of_an_evening_are_listed_by_name(run: Run) -> None:
    assert run("games", "results").stderr.startswith("referee: error: there is no journal")
    run("new", "deblockle", "--player", "gold=Ann", "--player", "teal=Ben")
    assert run("games", "results").stdout == "No game was played to its end yet.\n"
    run("announce", "resign", "--player", "gold", "--yes")
    run("new", "diaballik", "--player", "black=Ann", "--player", "white=Ben")
    for side in ("black", "white"):
        run("announce", "draw", "--player", side)
    run("new", "diaballik")
    head, first, second, last = run("games", "results").stdout.splitlines()
    assert head.split() == ["played", "won", "drawn", "lost", "-", "Ben", "-", "Ann"]
    assert first.split() == ["Ben", "2", "1", "1", "0", "1.5-0.5"]
    assert second.split() == ["Ann", "2", "0", "1", "1", "0.5-1.5"]
    assert last == "Not played to the end: game 3."
    assert run("games", "results", "--from", "2").stdout.splitlines()[1].split() == [
        "Ann",
        "1",
        "0",
        "1",
        "0",
        "0.5-0.5",
    ]


def test_results_put_sides_without_a_name_in_brackets_and_last(run: Run) -> None:
    run("new", "deblockle", "--player", "gold=Ann")
    run("announce", "resign", "--player", "gold", "--yes")
    head, first, second, last = run("games", "results").stdout.splitlines()
    assert head.split() == ["played", "won", "drawn", "lost", "-", "Ann", "-", "(teal)"]
    assert [first.split()[0], second.split()[0]] == ["Ann", "(teal)"]
    assert last == "In brackets: a side whose player has no name."


def test_a_resumed_game_keeps_its_clock(run: Run) -> None:
    run("new", "deblockle", "--clock", "fischer 5+3")
    run("turn", "c1-b1=x-a2")
    run("new", "diaballik")
    assert run("games", "resume", "1").exit_code == 0
    assert "no referee is running" in run("table", "clock", "stop").stderr


def test_a_single_game_can_go_without_the_clock_of_the_settings(run: Run) -> None:
    with Path("referee.toml").open("a", encoding="utf-8") as file:
        file.write('[clock]\ntime = "fischer 5+3"\n')
    for asked, has_clock in ((("--clock", "none"), False), ((), True)):
        run("new", "deblockle", "--yes", *asked)
        with read_journal(Path("game.sqlite")) as journal:
            assert ("clock" in journal.events(journal.latest_game())[0][1].data) == has_clock


def test_an_unreadable_clock_is_refused_with_what_was_expected(run: Run) -> None:
    refused = run("new", "deblockle", "--clock", "fisher 5+3")
    assert refused.exit_code == 3
    assert "--clock: clock.time: cannot read the clock 'fisher 5+3' (did you mean fischer?)" in refused.stderr


def test_an_opponent_for_an_unknown_player_is_refused(run: Run) -> None:
    refused = run("demo", "diaballik", "--opponent", "teal")
    assert refused.exit_code == 3
    assert "the opponent is to play 'teal'; in Diaballik that is black or white" in refused.stderr


@pytest.mark.parametrize(
    "command",
    [
        "status",
        "games",
        "games show",
        "games results",
        "games replay",
        "games export",
        "games end --yes",
        "games backup",
        "games resume 1",
        "hint",
        "table turn c1-c2",
        "table roll 4,1",
        "table announce resign --yes",
        "table correct c3=empty",
        "table take-back",
        "table clock stop",
        "doctor",
    ],
)
def test_only_a_new_game_makes_a_journal(run: Run, tmp_path: Path, command: str) -> None:
    result = run(*command.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["referee.toml"]
    if command != "doctor":
        assert result.exit_code == 6
        assert f"there is no journal {tmp_path}/game.sqlite; `referee games new`" in result.stderr


def test_a_journal_is_backed_up_and_restored(run: Run, tmp_path: Path) -> None:
    assert run("games", "new", "diaballik").exit_code == 0
    copied = run("games", "backup", "--out", "copy.sqlite")
    assert copied.output == "1 game copied to copy.sqlite.\n"
    again = run("games", "backup", "--out", "copy.sqlite")
    assert again.exit_code == 2
    assert "copy.sqlite is a journal; give another name" in again.stderr
    assert run("games", "new", "deblockle", "--yes").exit_code == 0
    restored = run("games", "restore", "copy.sqlite")
    assert restored.exit_code == 0, restored.stderr
    assert restored.output.splitlines()[0] == "1 game restored."
    (before,) = tmp_path.glob("*-before-*.sqlite")
    assert restored.output.splitlines()[1] == f"What was there before: {before}"
    by_itself = run("games", "backup")
    assert str(tmp_path / "backups") in by_itself.output


def test_advice_about_another_journal_names_it(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "the evening.sqlite"
    journal = ("--journal", "the evening.sqlite")
    flag = f"--journal '{path}'"
    run("new", "deblockle", *journal)
    assert f"`referee games new {flag}` begins another" in run("games", "end", "--yes", *journal).stderr
    run("turn", "c1-b1=x-a2", *journal)
    last = run("games", "resume", "1", *journal).stderr
    assert f"`referee watch {flag}` or `referee table turn {flag}` goes on with it" in last
    stopped = run("games", "end", "--yes", *journal).stdout
    assert stopped == f"Stopped. `referee games resume 1 {flag}` goes on with it.\n"
    assert run("games", "resume", "1", *journal).exit_code == 0
    monkeypatch.setattr("vision.layout.table.games_with_layouts", lambda: ())
    begun = run("new", "deblockle", *journal).stdout
    assert f"`referee games resume 2 {flag}` goes back to it." in begun
    assert begun.endswith(f"`referee table announce`, each with `{flag}`.\n")
    paired = run("tools", "devices", *journal).stdout
    assert f"`referee watch --page-address 0.0.0.0 {flag}` shows the codes" in paired
    assert (
        f"`referee tools devices {flag}` shows their numbers"
        in run("tools", "devices", "1", "--unpair", *journal).stderr
    )
    # Without --config, the advised command would use another journal.
    (tmp_path / "other.toml").write_text('[journal]\npath = "other.sqlite"\n')
    run("--config", "other.toml", "new", "deblockle")
    run("--config", "other.toml", "turn", "c1-b1=x-a2")
    stopped = run("--config", "other.toml", "games", "end", "--yes").stdout
    assert f"`referee games resume 1 --journal {tmp_path}/other.sqlite` goes on" in stopped


def test_the_list_of_games_and_its_subcommands_take_a_journal(run: Run) -> None:
    run("new", "deblockle", "--journal", "evening.sqlite")
    assert "Deblockle" in run("games", "--journal", "evening.sqlite").stdout
    refused = run("games", "--journal", "evening.sqlite", "show")
    assert (refused.exit_code, "--journal comes after show." in refused.stderr) == (2, True)


def test_a_record_has_the_day_that_the_list_shows(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as far_away:
        far_away.setenv("TZ", "Etc/GMT-14")
        time.tzset()
        run("new", "deblockle")
        run("turn", "c1-b1=x-a2")
        day = run("games").stdout.split("Deblockle")[1].split()[0]
        assert f'[Date "{day}"]' in run("export").stdout
    time.tzset()


def test_a_demo_does_not_become_the_last_game_of_a_journal(run: Run, tmp_path: Path) -> None:
    run("new", "deblockle", "--journal", "kept.sqlite")
    said = run("demo", "diaballik", "--fast", "--turns", "1", "--journal", "kept.sqlite")
    assert (said.exit_code, "has games already" in said.stderr) == (6, True)
