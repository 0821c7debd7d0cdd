"""``referee play`` and ``referee tools rules``: whole games at the terminal, set up, kept and left."""

import os
import random
import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from app.cli.play import command
from app.cli.play import game as module
from app.cli.play.game import HELP, PlaySettings, TerminalGame
from app.cli.rules import rule_lines
from engine import registry
from engine.records import PlayedTurn, Record, RolledDice, replay
from engine.support.chance import format_roll
from frontends.languages import LANGUAGES, sentences
from journal.journal import Journal
from journal.reader import events_of_game, read_journal
from referee.commands.values import NewGame
from referee.errors import JournalFullError
from referee.hints.hint_settings import HintSettings
from referee.record.events import Event, Evidence
from referee.record.results import make_record
from referee.session.service import without_camera
from tests.app.cli.played import ONE_EACH, kept
from tests.effort import cases
from tests.engine import toy_harvest
from tests.engine.whole_games import COSTLY, CountingClock, any_roll, any_turn, is_light, roll_of
from tests.present import present


def test_a_whole_game_between_programs_is_recorded_and_replays(play, tmp_path):
    players = ("--player", "gold=hint:gentle", "--player", "teal=random", "--seed", "3", "--time", "0.05")
    result = play("deblockle", *ONE_EACH, *players, "--name", "gold=Ann", "--name", "teal=Ben [/b]")
    assert re.search(r"(wins|draw): ", result.output)
    record = kept(tmp_path)
    assert replay(record).outcome is not None
    assert {("Gold", "Ann"), ("Teal", "Ben [/b]")} <= set(record.tags)


def turns_of(record: Record) -> list[PlayedTurn]:
    return [entry for entry in record.entries if isinstance(entry, PlayedTurn)]


def test_a_person_plays_by_text_and_by_number(play, tmp_path):
    result = play("deblockle", *ONE_EACH, typed="d1-e1=cross-f1\n1\n")
    record = kept(tmp_path)
    first, second = turns_of(record)
    assert (first.player, first.turn, second.player) == ("gold", "d1-e1=cross-f1", "teal")
    assert re.search(r"^   1  d7-\S+  Teal rolls d7 to ", result.output, re.MULTILINE)
    assert f"   1  {second.turn}  Teal" in result.output
    assert "gold> d1-e1=cross-f1" in result.output
    assert record.result == "*"


def test_a_refusal_gives_the_rule_and_why_names_it(play):
    said = play("diaballik", typed="why\nc1-c2 c2-c4\nwhy\nnonsense\na1-a2\nwhy\n").output
    assert said.count("Nothing was refused since the last turn.") == 2
    refusal, why = "> c1-c2 c2-c4\n'c1-c2 c2-c4' is not legal here: Moving c3 to c4 is one move too many", "> why\n"
    assert refusal in said
    assert "\n  too-many-moves: A turn has two moves of one square at most. (c3, c4)\n" in said.partition(refusal)[2]
    assert "'nonsense'; expected moves and a pass such as " in said.rpartition(why)[0]


def test_undo_goes_back_to_the_persons_last_turn(play, tmp_path):
    result = play(
        "deblockle", *ONE_EACH, "--player", "teal=random", "--seed", "1",
        typed="undo\nd1-e1=cross-f1\nundo\nd1-e1=cross-f1\nresign\nyes\n",
    )  # fmt: skip
    assert "There is no turn to take back." in result.output
    replies = re.findall(r"^teal: (\S+)", result.output, re.MULTILINE)
    assert len(replies) == 2
    assert replies[0] == replies[1], "the same seed plays the same after taking back"
    record = kept(tmp_path)
    assert len(record.entries) == 3
    assert record.result == "teal"


def test_hints_give_turn_and_reason_unless_ruled_out(play, tmp_path):
    result = play("deblockle", *ONE_EACH, "--time", "0.05", typed="hint\n")
    assert re.search(r"gold> hint\nHint: Gold rolls d1 to .* That \w+.*\n  d1-\S+\n", result.output)
    refused = play("deblockle", *ONE_EACH, "--no-hints", typed="hint\n").output
    assert "The players ruled hints out." in refused
    assert "Hint: " not in refused
    (tmp_path / "referee.toml").write_text('[hints]\nstrength = "none"\n')
    assert "The players ruled hints out." in play("deblockle", "--strength", "fair", typed="hint\n").output


def test_a_gentle_hint_shows_the_piece_first(play):
    typed = "hint\nhint\nboard\nd1-e1=cross-f1\nhint\n"
    result = play("deblockle", *ONE_EACH, "--strength", "gentle", "--time", "0.05", typed=typed).output
    first, second, third = re.findall(r"> hint\n(.*)", result)
    assert first == "Hint: look at the gold block on d1."
    assert second.startswith("Hint: Gold rolls d1 to ")
    assert third == "Hint: look at the teal block on d7."


def test_a_draw_is_agreed_by_people_and_not_by_programs(play, tmp_path):
    said = play("deblockle", typed="draw\nrefuse\ndraw\naccept\n").output
    assert said.count("Gold offers a draw. Somebody else accepts or refuses.") == 2
    assert "Teal refuses the draw." in said
    assert "Draw agreed." in said
    assert kept(tmp_path).result == "draw"
    said = play("deblockle", "--player", "teal=random", typed="draw\nteal:resign\nresign teal\nundo\n").output
    assert "The program accepts no draw; play on, or resign." in said
    assert said.count("Teal is played by a program, which plays for itself.") == 2


def test_impossible_announcements_are_refused(play):
    said = play("deblockle", typed="resign pink\ngold:wall\nrepetition\nroll 4,1\nroll\nclock stop\nturns\n").output
    assert said.count(" can't be announced now") == 2
    assert "No referee is running, so no clock is running either." in said
    assert "No roll is awaited now." in said
    assert "20 of 58 legal turns" in said


@pytest.mark.parametrize("typed", ["Anti-Play", "Black: anti-play"])
def test_a_justified_claim_is_accepted(play, tmp_path, typed):
    wall = "......./..W..w./.w.ww.w/w...b.b/b....../......./.bB..bb"
    said = play("diaballik", "--position", wall, typed=f"white:anti-play\n{typed}\n").output
    assert "It is black's turn, so white can't announce anti-play now." in said
    assert "Black announces anti-play." in said
    assert "Black wins: " in said
    record = kept(tmp_path)
    assert [entry.announcement for entry in record.entries] == ["black:anti-play"]
    assert present(replay(record).outcome).winner == "black"


def test_an_impossible_announcement_is_refused_with_the_reason(play):
    said = play("diaballik", "--no-record", typed="anti-play\nwhite: Anti-Play\nblack:x1\nall:nonsense\n").output
    assert "None of black's pieces touches white's wall; 3 are needed." in said
    assert "It is black's turn, so white can't announce anti-play now." in said
    assert "; expected moves and a pass such as " in said.partition("> black:x1\n")[2].partition("> all:")[0]


def test_legal_turns_are_listed_and_searched(play):
    said = play("diaballik", typed="turns\nturns D1*F1 d1-d2\nturns z\nquit\n").output
    first, searched, none = re.findall(r"((?:^ +\d+  \S.*\n)*)^(\w+ of 290 legal turns.*)$", said, re.MULTILINE)
    assert first[0].count("\n") == 20
    assert first[1].endswith("; `turns PART` lists those with PART in them. Type a number to play one.")
    listed = searched[0].splitlines()
    assert len(listed) > 2
    assert all("d1*f1 d1-d2" in line for line in listed)
    assert none == ("", "None of 290 legal turns has 'z' in it.")


def test_a_search_of_only_the_first_turns_says_so(play, monkeypatch):
    monkeypatch.setattr(module, "_MOST_SEARCHED", 100)
    assert "None of the first 100 of 290 legal turns has 'z' in it." in play("diaballik", typed="turns z\n").output


@pytest.mark.parametrize(
    ("asked", "played"),
    [
        ("turns c1-d1", "Gold rolls c1 to d1"),
        ("c1-c2", "Gold rolls c1 to c2, hoops up, and hops to a1."),
        ("c1", "Gold rolls c1 to c2, hoops up, and hops to a1."),
    ],
)
def test_a_number_picks_from_the_last_list_until_a_turn_is_played(play, tmp_path, asked, played):
    said = play("deblockle", typed=f"{asked}\n1\n1\nquit\n").output
    assert f"   1  {kept(tmp_path).entries[0].turn}  {played}" in said
    assert len(kept(tmp_path).entries) == 1
    assert "Cannot read '1' at column 1" in said


def test_turns_that_take_seconds_to_list_are_listed_only_on_request(play, monkeypatch):
    listed = "   1  keep  p1 keeps the die."
    assert listed in play("harvest", typed="4\n").output
    monkeypatch.setattr(toy_harvest, "GAME", replace(toy_harvest.GAME, lists_turns_slowly=True))
    said = play("harvest", "--no-record", typed="4\n1\nturns\n").output
    unasked, _, asked = said.partition("turns\n")
    assert listed not in unasked
    assert listed in asked


# Dice, and simultaneous players


def test_dice_are_typed_or_drawn(play, tmp_path):
    typed = "turns\nroll 7\nroll\nkeep\np2 keep\nRoll 6\np2 leave\nroll\np1 keep\n"
    said = play("harvest", "--seed", "5", typed=typed).output
    assert "The dice come first; 6 rolls are possible, such as 1." in said
    assert "expected 1 to 6" in said
    assert "No roll is awaited now." in said
    drawn = re.search(r"> roll\n(\d) was rolled", said)
    record = kept(tmp_path)
    assert drawn is not None
    assert [entry.roll for entry in record.entries if isinstance(entry, RolledDice)] == [drawn[1], "6"]
    assert record.entries[-1].player == "p1"


def test_the_same_seed_draws_the_same_dice_even_after_undo(play, tmp_path):
    options = ("--dice", "roll", "--option", "rounds=3")
    scripts = {
        "plain": ("11", "keep\n" * 6),
        "taken back": ("11", "keep\nkeep\nundo\nleave\nkeep\nundo\nundo\n" + "keep\n" * 6),
        "other": ("12", "keep\n" * 6),
    }
    rolls = {}
    for name, (seed, typed) in scripts.items():
        play("harvest", *options, "--seed", seed, "--new", typed=typed)
        record = kept(tmp_path)
        rolls[name] = [entry.roll for entry in record.entries if isinstance(entry, RolledDice)]
    assert len(rolls["plain"]) == 3
    assert rolls["taken back"] == rolls["plain"] != rolls["other"]


def test_people_can_answer_in_any_order_and_programs_answer_for_themselves(play, tmp_path):
    said = play("harvest", "--option", "players=3", "--option", "rounds=1", typed="5\np3 keep\np2 leave\nkeep\n").output
    assert [entry.player for entry in kept(tmp_path).entries[1:]] == ["p3", "p2", "p1"]
    assert "P1 and p3 share the win: a tie." in said
    said = play("harvest", "--player", "p2=random", "--no-record", typed="5\np2 keep\n").output
    assert "P2 is played by a program, which plays for itself." in said


def test_programs_alone_draw_their_dice(play, tmp_path):
    said = play("harvest", "--player", "p1=hint", "--player", "p2=hint", "--seed", "2").output
    assert "That gives more points." in said
    assert "takes it back" not in said
    assert replay(kept(tmp_path)).outcome is not None


def test_a_game_can_be_limited_to_a_number_of_turns(play):
    players = ("--player", "gold=random", "--player", "teal=random", "--turns", "4", "--no-record")
    assert "Stopped after 4 turns." in play("deblockle", *players).output


def test_invalid_bytes_are_refused_and_the_game_goes_on(play):
    assert "; expected a turn such as" in play("deblockle", typed=b"\xff\xfe\n\nquit\n").output


def test_the_rules_during_a_game_show_its_options(play):
    said = play("deblockle", "--option", "side_by_side=false", typed="rules\nhelp\n?\n").output
    assert "side_by_side=false" in said
    assert "blocks_gold=2" in play("deblockle", "--option", "blocks_gold=2", typed="rules\n").output
    assert "There are 2 players." in play("blokus-dice", "--option", "players=2", typed="rules\n").output
    assert said.count("take back what you typed last") == 2


@pytest.mark.parametrize(
    ("game", "rolls", "at_once"),
    [
        ("diaballik", False, False),
        ("blockade", True, False),
        ("number-drop", True, True),
        ("blokus-dice", True, False),
    ],
)
def test_help_names_only_what_can_be_typed_in_the_game(play, game, rolls, at_once):
    said = play(game, typed="help\nquit\n").output
    assert ("roll [DICE]" in said, "Where several may play" in said) == (rolls, at_once)
    assert "  hint  " in said
    assert "  hint  " not in play(game, "--no-hints", typed="help\nquit\n").output


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["deblockle", "--player", "red=random"], 2, "no player 'red'; it has gold, teal"),
        (["harvest", "--player", "p3=random"], 4, "program (random) is named, but only 2 play"),
        (["deblockle", "--player", "gold=expert"], 2, "there are person, hint, hint:gentle"),
        (["deblockle", "--player", "gold"], 2, "not of the form name=value, such as teal=hint"),
        (["deblockle", "--name", "red=Ann"], 2, "no player 'red'"),
        (["deblockle", "--name", "gold=A\tB\n"], 4, "expected one line of printable characters"),
        (["deblockle", "--position", "x", "--option", "blocks_gold=1"], 2, "give one of them"),
        (["deblockle", "--journal", "a.sqlite", "--no-record"], 2, "--no-record keeps nothing"),
        (["deblockle", "--journal", "/dev/null/a.sqlite"], 8, "/dev/null: File exists"),
        (["deblockle", "--resume"], 6, "there is no journal"),
        (["deblockle", "--position", "rubbish"], 4, "rubbish"),
        (["deblockle", "--option", "blocks_gold=9"], 4, "blocks_gold is '9'"),
        (["chess"], 4, "no game is called 'chess'"),
    ],
)
def test_wrong_usage_is_refused_with_its_exit_code(play, arguments, code, message):
    result = play(*arguments, code=code)
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_resigning_must_be_confirmed(play):
    said = play("deblockle", "--no-record", typed="resign\nn\nresign teal\nyes\n").output
    assert "Gold resigns. Teal wins: gold resigned. Are you sure? [y/N] n\nThe game goes on.\n" in said
    assert "Teal resigns. Gold wins: teal resigned. Are you sure? [y/N] yes\nTeal resigns. Gold wins: " in said


def test_the_end_of_a_game_can_be_undone(play, tmp_path):
    said = play("deblockle", typed="resign\ny\nc1-c2\nboard\nturns\nundo\nc1-b1=x-a2\n").output
    assert " 1  " in said.partition("> board\n")[2].partition("> undo\n")[0]
    assert said.count("\nThe game is over") == 3
    assert "The game is over" not in said.partition("> undo\n")[2]
    assert kept(tmp_path).result == "*"


def test_undo_takes_back_a_requested_roll_alone(play):
    said = play(
        "blockade", "--option", "starts=warm", "--dice", "typed", "--no-record", typed="roll\nundo\n4,1\nundo\n"
    ).output
    assert said.count("That is taken back.") == 2
    assert said.count("warm rolls> ") == 3


@pytest.mark.parametrize("game", registry.games())
def test_help_gives_three_examples_that_can_be_typed(play, game):
    said = play(game, "--no-record", "--seed", "1", typed="?\nquit\n").output
    assert "`referee play` offers to continue" in said
    assert "You can type, for example: " in said


@pytest.mark.parametrize("game", registry.games())
def test_every_game_can_be_played_at_the_terminal(play, game, tmp_path):
    """Programs play a game whose record replays; then a person types the turns of that record."""
    rules = registry.load(game).rules
    turns = 4 if game in COSTLY else 12
    active = [said.player for said in rules.announcements(rules.new()) if said.kind == "resign"]
    programs = [part for player in active for part in ("--player", f"{player}=random")]
    said = play(game, *programs, "--seed", "1", "--turns", turns, "--journal", "a.sqlite").output
    with read_journal(tmp_path / "a.sqlite") as journal:
        record = make_record(*events_of_game(journal, None))
    assert record.result == "*"
    told = play("a.sqlite", command="replay").output
    assert f"{sum(isinstance(entry, PlayedTurn) for entry in record.entries)} turns, " in told
    assert "all consistent." in told
    lines = [
        entry.roll if isinstance(entry, RolledDice) else f"{entry.player} {entry.turn}"
        for entry in record.entries
        if isinstance(entry, RolledDice | PlayedTurn)
    ]
    typed = play(game, typed="\n".join([*lines, "undo", "hint", "quit"])).output
    assert "expected " not in typed
    assert "annot read" not in typed
    assert kept(tmp_path).entries == record.entries[:-1]
    assert max(map(len, said.splitlines())) < 1000


@pytest.mark.parametrize("game", registry.games())
def test_the_rules_name_every_option_in_force(play, game):
    said = play(game, command="rules").output
    for option in registry.load(game).options:
        value = str(option.default).lower() if isinstance(option.default, bool) else option.default
        assert f"  {option.name}={value}  " in said
    assert max(map(len, said.splitlines())) <= 100


@pytest.mark.parametrize("game", registry.games())
def test_the_rules_name_every_rule_by_its_id(play, game):
    said = " ".join(play(game, "--by-id", command="rules").output.split())
    for rule in registry.load(game).rules.catalogue.values():
        assert f"{rule.id}: {rule.sentence}" in said


def test_the_rules_fit_a_narrow_terminal(monkeypatch):
    monkeypatch.setattr("app.cli.context.output", lambda: Console(width=40))
    lines = "\n".join(rule_lines(registry.load("deblockle"), {})).split("\n")
    assert 30 < max(map(len, lines)) <= 40


def test_the_rules_are_shown_with_a_given_option(play):
    assert "side_by_side=false" in play("deblockle", "--option", "side_by_side=false", command="rules").output
    assert (
        "side_by_side is 'maybe'" in play("deblockle", "--option", "side_by_side=maybe", command="rules", code=4).stderr
    )
    refused = play("deblockle", "--option", "net=foo", command="rules", code=4)
    assert refused.stdout == ""
    assert "the net 'foo' does not name each of star" in refused.stderr


def test_the_environment_is_left_alone(play):
    before = dict(os.environ)
    play("deblockle", typed="quit\n")
    assert dict(os.environ) == before


WORDS = (
    "help turns hint undo board rules why resign draw accept refuse roll 1 2 999 clock stop correct a1=empty all:draw "
    "gold:resign p1:resign repetition anti-play : = * keep y b h ? turn"
)


@pytest.mark.parametrize("name", registry.games())
@settings(max_examples=cases(15, 5), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_any_input_leaves_the_game_running(name, seed):
    rng = random.Random(seed)
    game = registry.load(name)
    left = rng.randrange(30)
    said: list[str] = []

    def ask(_: str) -> str | None:
        nonlocal left
        left -= 1
        state = service.states[0]
        kind = rng.randrange(4)
        if left < 0:
            return None
        can_play = bool(game.rules.players_to_move(state)) and not game.awaits_roll(state)
        if kind == 0 and can_play and is_light(game, roll_of(game, state)):
            return game.notation.format_turn(any_turn(game, state, rng))
        if kind == 1 and game.awaits_roll(state):
            return format_roll(any_roll(game, state, rng))
        if kind == 2:
            return "".join(chr(rng.randrange(0x3000)) for _ in range(rng.randrange(12)))
        return " ".join(rng.choice(WORDS.split()) for _ in range(rng.randint(1, 3)))

    clock = CountingClock()
    how = PlaySettings({}, rng.random() < 0.5 and name not in COSTLY, seed, 0.02, 20)
    with Journal.in_memory(wall_clock=lambda: datetime(2026, 1, 31, tzinfo=UTC)) as journal:
        service = without_camera(game, journal, clock, HintSettings(strength="fair", seconds=0.05))
        service.begin(NewGame(name))
        TerminalGame(game, service, how, ask, said.append, clock, nullcontext).run()
        again = without_camera(game, journal, clock)
        again.start()
        assert again.states == service.states


def test_names_stand_for_the_players_on_the_board_and_in_every_sentence(play):
    names = ("--name", "p1=Anna", "--name", "p2=Ben")
    typed = "I4,I3,O4,X5,T5\na1\np2 b2=1\np2 b1\nquit\n"
    said = play("number-drop", "--option", "players=2", *names, "--no-record", typed=typed).output
    assert "First digits to write: Anna, Ben." in said
    assert "Anna: 0 points" in said
    assert "\nBen wrote 1, but begins with a 2." in said
    assert "Anna: roll the dice." in said
    assert "(Anna is first)" in said
    heading = next(line for line in said.splitlines() if line.startswith("Anna "))
    assert heading.split() == ["Anna", "Ben"]


def test_whoever_goes_out_is_told_so_once(play):
    programs = [part for player in ("p1", "p2", "p3") for part in ("--player", f"{player}=random")]
    said = play("blokus-dice", "--option", "players=3", *programs, "--seed", "1", "--no-record").output
    out = [line for line in said.splitlines() if "can draw nothing" in line]
    assert out
    assert len(out) == len(set(out))


def test_the_help_during_a_game_fits_a_terminal():
    assert max(len(sentences(language)(line)) for language in LANGUAGES for line in HELP) < 80
    assert len(HELP) < 20


def test_a_number_stands_for_a_turn_of_the_player_whose_turns_are_listed(play):
    typed = "roll\na1\np2 b1\n5,5,6,*,T\np2 5 5 6 1 on d\n1\nquit\n"
    said = play("number-drop", "--option", "players=2", "--seed", "1", "--no-record", typed=typed)
    assert "stands for none" not in said.output
    assert "To drop: p1." in said.output


# A game that was left


@pytest.fixture
def at_a_terminal(monkeypatch):
    """What is typed comes from a terminal."""
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)


def test_each_step_is_on_the_disk_before_the_next_prompt(play, tmp_path, monkeypatch):
    lines = iter(["d1-e1=cross-f1", "undo", "d1-e1=cross-f1", None])
    seen: list[int] = []

    def ask(_: str) -> str | None:
        seen.append(len(kept(tmp_path).entries) if seen else 0)
        return next(lines)

    monkeypatch.setattr(command, "_ask", ask)
    play("deblockle", *ONE_EACH)
    assert seen == [0, 1, 0, 1]


def test_a_game_that_was_left_goes_on_by_a_pipe(play, tmp_path):
    left = play("deblockle", *ONE_EACH, typed="d1-e1=cross-f1\nquit\n").output
    assert re.search(r"Kept in \S+/play.sqlite as game 1. `referee play --resume` goes on.\n$", left)
    play("--resume", typed="1\n")
    assert len(kept(tmp_path).entries) == 2
    said = play("diaballik", typed="a1-a2\n").output
    assert "Game 1 of Deblockle is not finished (2 turns). `referee games resume 1 --journal " in said
    assert "not finished" not in play("diaballik", "--new").output
    assert "no such game is open" in play("deblockle", "--resume", code=4).stderr
    assert len(kept(tmp_path, 1).entries) == 2


def test_a_person_is_asked_about_a_game_that_was_left(play, tmp_path, at_a_terminal):
    play("diaballik", "--player", "white=random", typed="a1-a2\nquit\n")
    question = "Game 1 of Diaballik is not finished (2 turns). Go on with it? [Y/n]"
    for how in ([], ["diaballik"], ["diaballik", "--player", "white=random"]):
        assert question in play(*how, typed="\nquit\n").output
    assert "The games are blockade" in play(typed="n\n", code=2).stderr
    play("diaballik", typed="y\nb1-b2\nquit\n")
    assert len(kept(tmp_path).entries) == 4, "the program plays on"
    play("diaballik", typed="y\nundo\nquit\n")
    assert len(kept(tmp_path).entries) == 2, "what the program played is taken back too"
    for how in (
        ["--option", "null_turn=true"],
        ["--name", "white=Ann"],
        ["--player", "white=hint"],
        ["--set-up", "usual"],
    ):
        said = play("diaballik", *how, typed="quit\n").output
        assert "Go on with it?" not in said, "a game of its own begins"


def test_a_game_goes_on_with_its_own_seed(play, tmp_path):
    play("harvest", "--option", "rounds=3", "--seed", 11, typed="roll\nkeep\nkeep\nquit\n")
    assert "seed 11." in play("--resume", typed="roll\nquit\n").output
    in_parts = kept(tmp_path).entries
    play("harvest", "--option", "rounds=3", "--seed", 11, "--new", typed="roll\nkeep\nkeep\nroll\n")
    assert kept(tmp_path).entries == in_parts


def test_rolls_that_nobody_asked_for_are_taken_back_with_the_turn_before_them(play, tmp_path):
    going_on = ("--resume", "--dice", "roll")
    play("harvest", "--dice", "roll", typed="quit\n")
    assert "There is no turn to take back." in play(*going_on, typed="undo\n").output
    play(*going_on, typed="keep\nkeep\nundo\n")
    assert [type(entry) for entry in kept(tmp_path).entries] == [RolledDice, PlayedTurn]


def test_programs_of_one_strength_play_together(play, tmp_path):
    players = ("--player", "p1=hint", "--player", "p3=hint", "--option", "players=3")
    play("harvest", *players, "--dice", "roll", typed="keep\nquit\n")
    assert kept(tmp_path).tags[1:] == (("P1", "program (fair)"), ("P3", "program (fair)"))
    play("--resume", "--dice", "roll", typed="keep\n")
    assert sum(isinstance(entry, PlayedTurn) for entry in kept(tmp_path).entries) == 6


def test_ctrl_c_leaves_a_game_that_is_kept_and_says_where(play, monkeypatch):
    lines = iter(["c1-c2"])

    def ask(_):
        for line in lines:
            return line
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_ask", ask)
    assert "play.sqlite as game 1. `" in play("diaballik", code=130).output


def test_a_game_goes_on_while_the_disk_is_full_and_is_printed_if_it_stays_so(play, tmp_path, monkeypatch):
    into_file, faults = Journal.append, [JournalFullError("no room")] * 2

    def append(journal: Journal, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        if "turn" in event.data and faults:
            raise faults.pop()
        return into_file(journal, event, evidence)

    monkeypatch.setattr(Journal, "append", append)
    passing = play("diaballik", typed="a1-a2\na7-a6\nb1-b2\n")
    assert "The game goes on, but only in memory: no room" in passing.stderr
    assert "The journal can be written again. What was only in memory is now in it: 3 events." in passing.stderr
    assert len(kept(tmp_path).entries) == 3
    faults += [JournalFullError("no room")] * 9
    lasting = play("diaballik", "--new", typed="a1-a2\na7-a6\n", code=6)
    assert "2. white a7-a6" in lasting.stdout
    assert "2 events could not be saved" in lasting.stderr


def test_nothing_is_kept_of_a_game_that_is_not_to_be(play, tmp_path):
    assert "Kept in " not in play("diaballik", "--no-record", typed="a1-a2\nquit\n").output
    assert not list(tmp_path.rglob("*"))


def test_a_finished_game_is_not_offered_again(play):
    ended = play("number-drop", "--option", "players=1", typed="roll I4,L4,O4,T4,S4\nresign\ny\n").output
    assert "Kept in " in ended
    assert "goes on" not in ended
    assert "not finished" not in play("number-drop", typed="quit\n").output


# The set-up


def test_a_random_set_up_follows_the_seed(play):
    first, again, other = (
        play("deblockle", "--no-record", "--set-up", "rolled", "--seed", seed, typed="quit\n").output
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first.partition("\n")[2] != other.partition("\n")[2]
    assert "All" not in first
    assert "away from gold" in first


def test_a_set_up_can_be_given_by_its_places(play):
    stands = "c1=stop e1 x, c3=gold star e3 slider c5=teal x e5 hoops c7 cross e7 stop"
    said = play("deblockle", "--no-record", "--set-up", stands, typed="c1-c2\nquit\n").output
    assert " 1  ·   ·   G●  ·   Gx  ·   ·" in said
    assert " 7  ·   ·   T+  ·   T●  ·   ·" in said


def test_a_game_without_a_random_set_up_starts_as_usual(play):
    begun = [
        play("diaballik", "--no-record", *how, typed="quit\n").output.partition("\n")[2]
        for how in ([], ["--set-up", "rolled"])
    ]
    assert begun[0] == begun[1]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--set-up", "c1=stop"), 4, "There is 1 gold block, and gold starts with 4"),
        (("--set-up", "z9=stop"), 4, "there is no place 'z9'"),
        (("--set-up", "usual", "--position", "gold c1:G.star? e7:T.x? removed=3,3"), 2, "carries its own options"),
    ],
)
def test_an_impossible_set_up_is_refused(play, arguments, code, words):
    assert words in play("deblockle", *arguments, code=code).stderr


def test_players_are_called_by_their_names(play):
    names = ("--name", "gold=Ann", "--name", "teal=Ben")
    said = play("deblockle", "--no-record", *names, typed="resign\ny\n").output
    assert "Ann (gold)> resign" in said
    assert "Ann resigns. Ben wins: Ann resigned. Are you sure?" in said
    rolled = play("blockade", "--no-record", "--name", "warm=Ann", "--seed", "1", typed="roll\nquit\n").output
    assert "Ann (warm) rolls> " in rolled


def test_the_nearest_turns_of_a_long_list_are_listed_and_searched(play):
    said = play("blockade", "--option", "starts=warm", typed="roll 6,6\nturns\nturns zz\nquit\n").output
    assert "20 of the 2000 nearest legal turns. Type a number to play one." in said
    assert "None of the 2000 nearest legal turns has 'zz' in it." in said


def test_a_number_of_thousands_of_digits_is_no_listed_turn(play):
    said = play("diaballik", typed=f"turns\n{'1' * 5000}\na1-a2\nquit\n").output
    assert "this is a bug" not in said
    assert "White" in said


@pytest.mark.parametrize("more", [("--name", "black=Bob"), ("--option", "first_player=white"), ("--set-up", "usual")])
def test_a_game_goes_on_as_it_began(play, more):
    play("diaballik", typed="a1-a2\nquit\n")
    refused = play("diaballik", "--resume", *more, code=2)
    assert "--resume goes on with a game as it began" in refused.stderr


def test_resuming_makes_no_journal(play, tmp_path):
    play("diaballik", "--resume", "--journal", "elsewhere/x.sqlite", code=6)
    assert not (tmp_path / "elsewhere").exists()


def test_nobody_is_called_like_the_program(play):
    refused = play("diaballik", "--name", "black=program (random)", code=2)
    assert "program (random) is what the program is called; give black another name" in refused.stderr


def test_after_the_end_nobody_can_resign(play):
    said = play("diaballik", typed="resign\ny\nresign\n\n").output
    assert "The game is over" in said
    assert "All:resign" not in said
