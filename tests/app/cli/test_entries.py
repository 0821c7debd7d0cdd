"""What is typed reaches a running referee, and without one is carried out on the journal; hints, and new games."""

import shlex
import socket
import threading
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.runtime.command_socket import CommandSocket, ask, socket_path
from engine.records import read, replay
from engine.registry import load
from journal.journal import Journal
from journal.reader import read_journal
from referee.commands.values import (
    Announce,
    AskHint,
    Command,
    CommandQueue,
    Correct,
    EnterRoll,
    EnterTurn,
    PauseClock,
    Reply,
    RestoreSensor,
    TakeBack,
)
from referee.record.fold import fold
from tests.commands import COMMANDS, Run, runner_in
from tests.engine import toy_harvest
from tests.guard import GUARD_S

GAME = load("deblockle")
NEXT = "No referee is running; the journal has it."


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    (tmp_path / "referee.toml").write_text('[journal]\npath = "game.sqlite"\n[hints]\nseconds = 0.1\n')
    return runner_in(tmp_path, monkeypatch)


@pytest.fixture
def harvest(monkeypatch: pytest.MonkeyPatch) -> None:
    toy_harvest.register(monkeypatch)


def kinds() -> list[str]:
    with read_journal(Path("game.sqlite")) as journal:
        return [event.kind for _, event in journal.events()]


TYPED: list[tuple[str, Command]] = [
    ("turn a1-a2 b1-b2 --player White --by Ann", EnterTurn("a1-a2 b1-b2", "Ann", "white")),
    ("roll 4 1 --by Ann", EnterRoll("4 1", "Ann")),
    ("announce draw --player Black --by Ann", Announce("draw", "Ann", "black")),
    ("announce resign --yes --by Ann", Announce("resign", "Ann")),
    (
        "correct A1=empty a2 'black piece' --to-move White --why hidden --by Ann",
        Correct("Ann", {"a1": "empty", "a2": "black piece"}, to_move="white", why="hidden"),
    ),
    ("correct --position 'a b' --by Ann", Correct("Ann", position="a b")),
    ("take-back --by Ann", TakeBack("Ann")),
    ("clock stop --by Ann", PauseClock("Ann")),
    ("clock go --by Ann", PauseClock("Ann", resume=True)),
    ("hint --by Ann", AskHint("Ann")),
    ("sensors put-back A1 --by Ann", RestoreSensor("a1", "Ann")),
]


def test_every_command_of_the_table_is_typed() -> None:
    of_the_table = {path.split()[1] for path in COMMANDS if path.startswith("table ")}
    assert of_the_table <= {words.split()[0] for words, _ in TYPED}


@pytest.mark.parametrize(("words", "command"), TYPED)
def test_what_is_typed_reaches_the_running_referee_and_its_reply_comes_back(
    words: str, command: Command, run: Run, tmp_path: Path
) -> None:
    run("new", "diaballik")
    path, told = tmp_path / "game.sqlite", list[Command]()
    replies = [Reply("Done."), Reply("That can't be done.", refused=True)]

    def work(commands: CommandQueue) -> None:
        while replies:
            commands.wait(GUARD_S)
            for submitted in commands.take():
                told.append(submitted.command)
                submitted.respond(replies.pop(0))

    with (
        Journal.open(path, wall_clock=lambda: datetime.now(UTC)),
        CommandQueue(lambda: 0.0) as commands,
        CommandSocket(path, commands),
    ):
        working = threading.Thread(target=work, args=(commands,))
        working.start()
        done, refused = (run(*shlex.split(words)) for _ in range(2))
        working.join()
    assert told == [command] * 2
    assert (done.exit_code, done.stdout.split()[0]) == (0, "Done.")
    assert (refused.exit_code, refused.stdout, refused.stderr) == (4, "", "referee: error: That can't be done.\n")


def test_a_game_can_be_kept_by_text_alone(run: Run, harvest: None, tmp_path: Path) -> None:
    assert run("new", "harvest", "--option", "players=3", "--option", "rounds=1").exit_code == 0
    assert run("hint").stderr == "referee: error: No hint: p1 has to roll first.\n"
    assert run("roll", "5", "--by", "Ann").stdout == f"5 was rolled. {NEXT}\n"
    assert run("roll", "6").stderr == "referee: error: 6 can't be rolled now.\n"
    assert run("turn", "keep", "--player", "P3").stdout == f"p3 keeps the die. {NEXT}\n"
    again = run("turn", "keep", "--player", "p3")
    assert (again.exit_code, again.stderr) == (
        4,
        "referee: error: p3 may not play now; it is the turn of p1 and p2.\n",
    )
    hint = run("hint", "--by", "Ben")
    assert hint.stdout == (
        "Hint: p1 keeps the die. Take the die that shows 5. That gives more points. "
        "Expected: 5 points, worked out to the end.\n"
    )
    assert run("turn", "leave").exit_code == 0
    assert run("announce", "resign", "--yes").stdout == f"P2 resigns. P3 wins: most points. {NEXT}\n"
    assert run("turn", "keep", "--player", "p2").stderr == "referee: error: p2 may not play now; the game is over.\n"
    assert kinds() == ["new game", "set up", "rolled", "turn", "hint given", "turn", "announced", "end"]
    told = run("replay", tmp_path / "game.sqlite").stdout
    assert "5 was rolled" in told
    assert "a fair hint for p1: p1 keeps the die." in told
    assert told.endswith("all consistent. P3 wins: most points.\n")
    ended = replay(read(run("export").stdout))
    assert ended.outcome is not None
    assert ended.outcome.winner == "p3"
    assert run("take-back").stdout == f"P2 resigns. That is taken back. {NEXT}\n"
    assert run("turn", "keep").exit_code == 0


def test_a_resignation_must_be_confirmed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("new", "deblockle")
    turn = GAME.notation.format_turn(GAME.rules.legal_turns(GAME.rules.new())[0])
    assert run("turn", turn).exit_code == 0
    before = kinds()
    announced = (("resign", "--player", "gold"), ("gold:resign",))
    for words in announced:
        unasked = run("announce", *words, input="y\n")
        assert (unasked.exit_code, unasked.stdout) == (2, "")
        assert "not announced: Gold resigns. Teal wins: gold resigned. To resign without" in unasked.stderr
        assert "add --yes" in unasked.stderr
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    for words in announced:
        kept = run("announce", *words, input="n\n")
        assert "Gold resigns. Teal wins: gold resigned. Are you sure?" in kept.output
        assert kept.exit_code != 0
    assert kinds() == before
    sure = run("announce", "resign", "--player", "gold", "--yes")
    assert "Are you sure" not in sure.output
    assert "Gold resigns. Teal wins" in sure.output
    assert run("take-back").exit_code == 0


def test_a_hint_is_given_for_any_position(run: Run) -> None:
    start = GAME.notation.format_state(GAME.rules.new())
    whole = run("hint", "--game", "deblockle", "--position", start)
    assert whole.exit_code == 0, whole.stderr
    assert whole.stdout.startswith("Hint: Gold rolls ")
    words, turn = whole.stdout.rstrip("\n").split("\n")
    assert GAME.notation.describe(GAME.notation.parse_turn(GAME.rules.new(), turn)) in words
    piece = run("hint", "--position", start, "--strength", "gentle").stdout
    assert piece.startswith("Hint: look at ")
    assert piece == "Hint: look at the gold block on c1.\n"
    told = run("hint", "--position", start, "--strength", "gentle", "--whole").stdout
    assert told.startswith(f"Hint: Gold rolls {piece.split()[-1].rstrip('.')} to ")
    assert not Path("game.sqlite").exists()
    over = GAME.notation.format_state(
        GAME.rules.announce(GAME.rules.new(), GAME.rules.announcements(GAME.rules.new())[0])
    )
    for arguments, code, words in (
        (("--position", over), 4, "No hint: "),
        (("--position", "rubbish"), 4, "rubbish"),
        (("--position", start, "--roll", "4"), 4, "no dice"),
        (("--whole",), 2, "belong to --position"),
        (("--strength", "mighty"), 2, "mighty"),
    ):
        done = run("hint", *arguments)
        assert (done.exit_code, words in done.stderr) == (code, True), done.stderr


def test_a_hint_for_a_position_before_the_roll_accepts_a_roll(run: Run, harvest: None) -> None:
    done = run("hint", "--game", "harvest", "--position", "0,0 1 - - -", "--roll", "1")
    assert done.stdout.startswith("Hint: p1 leaves the die.")


def test_a_second_request_for_a_gentle_hint_tells_more(run: Run) -> None:
    run("new", "deblockle")
    first = run("hint", "--strength", "gentle").stdout
    second = run("hint", "--strength", "gentle").stdout
    assert first.startswith("Hint: look at ")
    assert second.startswith(f"Hint: Gold rolls {first.split()[-1].rstrip('.')} to ")
    assert run("hint", "--strength", "gentle").stdout == second
    assert kinds() == ["new game", "hint given", "hint given"]


def test_no_flag_gives_hints_in_a_game_without_them(run: Run) -> None:
    Path("referee.toml").write_text('[journal]\npath = "game.sqlite"\n[hints]\nstrength = "none"\n')
    run("new", "deblockle")
    ruled_out = (4, "referee: error: The players ruled hints out.\n")
    for arguments in ((), ("--strength", "strong"), ("--position", GAME.notation.format_state(GAME.rules.new()))):
        done = run("hint", *arguments)
        assert (done.exit_code, done.stderr) == ruled_out
    # A game begun without hints keeps that, whatever the settings are later.
    Path("referee.toml").write_text('[journal]\npath = "game.sqlite"\n')
    done = run("hint")
    assert (done.exit_code, done.stderr) == ruled_out
    assert kinds() == ["new game"]
    run("new", "deblockle")
    assert run("hint", "--seconds", "0.05").exit_code == 0


def test_the_players_and_the_ban_on_hints_are_both_kept(run: Run) -> None:
    Path("referee.toml").write_text('[journal]\npath = "game.sqlite"\n[hints]\nstrength = "none"\n')
    run("new", "deblockle", "--player", "gold=Ann")
    with read_journal(Path("game.sqlite")) as journal:
        ((_, begun),) = journal.events()
        assert begun.data == {"game": "deblockle", "options": {}, "players": {"gold": "Ann"}, "hints": "none"}
        assert fold(GAME, journal.events()).game == "deblockle"


def test_as_many_play_as_are_named_and_nobody_twice(run: Run) -> None:
    twice = run("new", "deblockle", "--player", "gold=Ann", "--player", "teal=Ann")
    assert (twice.exit_code, "Ann is named twice" in twice.stderr) == (4, True)
    three = ("number-drop", "--player", "p1=Ann", "--player", "p2=Ben", "--player", "p3=Cleo")
    few = run("new", *three, "--option", "players=2")
    assert (few.exit_code, "Cleo is named, but only 2 play" in few.stderr) == (4, True)
    assert run("new", *three).exit_code == 0
    with read_journal(Path("game.sqlite")) as journal:
        ((_, begun),) = journal.events()
    assert begun.data["options"] == {"players": 3}


def test_a_player_is_named_in_any_case(run: Run) -> None:
    assert run("new", "diaballik", "--player", "Black=Ann").exit_code == 0
    assert run("status").stdout.startswith("Game 1, Diaballik (black Ann): ")


def test_a_request_without_an_answer_is_looked_up_in_its_own_journal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "the evening.sqlite"
    run("new", "deblockle", "--journal", path)
    monkeypatch.setattr("app.runtime.command_socket.ask", partial(ask, timeout_s=0.05))
    with (
        Journal.open(path, wall_clock=lambda: datetime.now(UTC)),
        CommandQueue(lambda: 0.0) as commands,
        CommandSocket(path, commands),
    ):
        unanswered = run("take-back", "--journal", path)
    assert unanswered.stderr.endswith(f"; `referee games replay '{path}'` tells whether it was done\n")


def test_a_command_waits_for_a_referee_that_restarts_after_it_was_killed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("new", "deblockle")
    path, commands = tmp_path / "game.sqlite", CommandQueue(lambda: 0.0)

    def respond() -> None:
        commands.wait(GUARD_S)
        commands.take()[0].respond(Reply("Taken back."))

    with ExitStack() as referee, Journal.open(path, wall_clock=lambda: datetime.now(UTC)):
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(socket_path(path)))

        def listen(_: float) -> None:
            referee.enter_context(CommandSocket(path, commands))
            threading.Thread(target=respond).start()

        monkeypatch.setattr("app.cli.entries.time", SimpleNamespace(monotonic=lambda: 0.0, sleep=listen))
        assert run("take-back").stdout == "Taken back. The running game shows it.\n"


def test_a_no_changes_nothing_and_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("new", "deblockle")
    run("turn", "c1-b1=x-a2")
    with monkeypatch.context() as terminal:
        terminal.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
        for command in (["games", "end"], ["announce", "resign", "--player", "gold"], ["new", "deblockle"]):
            kept = run(*command, input="n\n")
            assert (kept.exit_code, kept.stderr.splitlines()[-1]) == (130, "Nothing was changed.")


@pytest.mark.parametrize(
    "arguments",
    [
        ["new", "diaballik", "--player", "white=Ann", "--player", "White=Bob"],
        ["play", "diaballik", "--name", "white=Ann", "--name", "White=Bob"],
        ["play", "diaballik", "--player", "white=hint", "--player", "White=random"],
    ],
)
def test_a_side_is_named_once_in_whatever_case(run: Run, arguments: list[str]) -> None:
    said = run(*arguments)
    assert (said.exit_code, "white is given twice" in said.stderr) == (2, True)
