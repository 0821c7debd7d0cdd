"""``referee play`` and ``referee tools rules``: whole games at the terminal, set up, recorded, saved and loaded."""

import os
import random
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from common.durable import write_durably
from engine import registry
from engine.records import PlayedTurn, Record, RolledDice, read, replay, write
from engine.support.chance import format_roll
from engine.values import Strength
from referee.cli.play import command, game
from referee.cli.play import command as play_session
from referee.cli.play.command import PlaySession
from referee.cli.play.game import HELP, GameHistory, PlaySettings, ending_sentence
from referee.cli.rules import rule_lines
from referee.languages import LANGUAGES, sentences
from tests.effort import cases
from tests.engine import toy_harvest
from tests.engine.whole_games import COSTLY, CountingClock, any_roll, any_turn, is_light, roll_of
from tests.present import present
from tests.referee.cli.played import ONE_EACH, kept


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
    result = play("deblockle", *ONE_EACH, "--record", "mine.txt", typed="d1-e1=cross-f1\n1\n")
    record = read(Path("mine.txt").read_text(encoding="utf-8"))
    first, second = turns_of(record)
    assert (first.player, first.turn, second.player) == ("gold", "d1-e1=cross-f1", "teal")
    assert re.search(r"^   1  d7-\S+  Teal rolls d7 to ", result.output, re.MULTILINE)
    assert f"   1  {second.turn}  Teal" in result.output
    assert "gold> d1-e1=cross-f1" in result.output
    assert record.result == "*"


def test_a_refusal_gives_rule_and_remedy_and_why_explains_it(play):
    position = "gold c3:G.x/north=star e7:T.x? removed=0,0"
    result = play("deblockle", "--position", position, typed="why\nc3-c4=stop-c5\nwhy\nnonsense\nquit\n")
    said = result.output
    assert "Nothing was refused since the last turn." in said
    refusal = said.partition("c3-c4=stop-c5\n")[2]
    assert refusal.startswith("Not possible: ")
    assert "stop-must-not-hop: " in refusal
    assert "\n  nonsense\n  ^\nExpected a turn such as " in said
    assert not list(Path().glob("*.txt")), "nothing was played, so there is nothing to keep"


def test_a_remedy_of_two_breaches_is_said_once(play):
    said = play("number-drop", "--option", "players=2", typed="I4,I3,O4,X5,T5\na2=2\nquit\n").output
    assert (
        "Not possible: p1 wrote 2, but begins with a 1.\n"
        "Not possible: p1 wrote on a2, which is not on the lowest line.\n"
        "  Write one 1 on the lowest line.\n"
    ) in said


def test_undo_goes_back_to_the_persons_last_turn(play, tmp_path):
    result = play(
        "deblockle", *ONE_EACH, "--player", "teal=random", "--seed", "1",
        typed="undo\nd1-e1=cross-f1\nundo\nd1-e1=cross-f1\nresign\nyes\n",
    )  # fmt: skip
    assert "Nothing to undo." in result.output
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
    assert "Draw agreed." in play("deblockle", typed="draw\ny\n").output
    assert kept(tmp_path).result == "draw"
    said = play("deblockle", "--player", "teal=random", "--no-record", typed="draw\nteal:resign\nall:draw\n").output
    assert said.count("\nA program plays, and programs agree to nothing; play on, or resign.") == 2
    assert "Teal is played by a program; nobody else can speak for it." in said


def test_impossible_claims_and_announcements_are_refused(play):
    said = play("deblockle", typed="claim\nclaim wall\nresign pink\ngold:repetition\nroll 4,1\nturns\n").output
    assert "Nothing can be claimed now." in said
    assert "Not possible: 'wall' can't be announced now; what can be: draw, resign\n" in said
    assert "There is no player 'pink'; there are gold, teal." in said
    assert said.count("Not possible: ") == 2
    assert "Deblockle has no dice; play a turn." in said
    assert "20 of 58 legal turns" in said


@pytest.mark.parametrize("typed", ["claim", "claim anti-play", "Black: anti-play"])
def test_a_justified_claim_is_accepted(play, tmp_path, typed):
    wall = "......./..W..w./.w.ww.w/w...b.b/b....../......./.bB..bb"
    said = play("diaballik", "--position", wall, typed=f"white:anti-play\n{typed}\n").output
    assert said.count("Not possible: ") == 1
    assert "Black announces anti-play." in said
    assert "Black wins: " in said
    record = kept(tmp_path)
    assert [entry.announcement for entry in record.entries] == ["black:anti-play"]
    assert present(replay(record).outcome).winner == "black"


def test_an_impossible_announcement_is_refused_with_the_reason(play):
    said = play("diaballik", "--no-record", typed="black:anti-play\nwhite: Anti-Play\nblack:x1\nall:nonsense\n").output
    assert "Not possible: None of black's pieces touches white's wall; 3 are needed." in said
    assert "Not possible: It is black's turn, so white can't announce anti-play now." in said
    assert said.count("Not possible: ") == 3
    assert "Expected " in said.partition("> black:x1\n")[2].partition("> all:")[0]


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
    monkeypatch.setattr(play_session, "_MOST_SEARCHED", 100)
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
    assert "No turns are listed, so 1 stands for none; `turns` lists the legal ones." in said


def test_a_number_beyond_the_list_is_refused(play):
    said = play("diaballik", typed="turns g1-g2 f1-g1\n9\n").output
    assert " turns are listed, so 9 stands for none" in said
    said = play("deblockle", typed="turns c1-d1\n9\n").output
    assert "1 turn is listed, so 9 stands for none" in said


def test_turns_that_take_seconds_to_list_are_listed_only_on_request(play, monkeypatch):
    listed = "   1  keep  p1 keeps the die."
    assert listed in play("harvest", typed="4\n").output
    monkeypatch.setattr(toy_harvest, "GAME", replace(toy_harvest.GAME, lists_turns_slowly=True))
    said = play("harvest", "--no-record", typed="4\n1\nturns\n").output
    unasked, _, asked = said.partition("turns\n")
    assert listed not in unasked
    assert "No turns are listed, so 1 stands for none" in said
    assert listed in asked


# Dice, and simultaneous players


def test_unreadable_text_is_marked_without_the_player_before_it(play):
    said = play("harvest", "--no-record", typed="4\np2 nonsense\n").output
    assert "\n  nonsense\n  ^\nExpected keep or leave." in said


def test_dice_are_typed_or_drawn(play, tmp_path):
    typed = "turns\nroll 7\nroll\nkeep\np2 keep\nRoll 6\np2: leave\nroll\np1 keep\n"
    said = play("harvest", "--seed", "5", typed=typed).output
    assert "The dice come first; 6 rolls are possible, such as 1." in said
    assert "\n  7\n  ^\nExpected 1 to 6." in said
    assert "It is not time to roll" in said
    drawn = re.search(r"p1 rolls (\d)\n", said)
    record = kept(tmp_path)
    assert drawn is not None
    assert [entry.roll for entry in record.entries if isinstance(entry, RolledDice)] == [drawn[1], "6"]
    assert record.entries[-1].player == "p1"


def test_the_same_seed_draws_the_same_dice_even_after_undo(play):
    options = ("--dice", "roll", "--option", "rounds=3")
    scripts = {
        "plain": ("11", "keep\n" * 6),
        "taken back": ("11", "keep\nkeep\nundo\nleave\nkeep\nundo\nundo\n" + "keep\n" * 6),
        "other": ("12", "keep\n" * 6),
    }
    rolls = {}
    for name, (seed, typed) in scripts.items():
        play("harvest", *options, "--seed", seed, "--record", f"{name}.txt", typed=typed)
        record = read(Path(f"{name}.txt").read_text())
        rolls[name] = [entry.roll for entry in record.entries if isinstance(entry, RolledDice)]
    assert len(rolls["plain"]) == 3
    assert rolls["taken back"] == rolls["plain"] != rolls["other"]


def test_people_can_answer_in_any_order_and_programs_answer_for_themselves(play, tmp_path):
    said = play("harvest", "--option", "players=3", "--option", "rounds=1", typed="5\np3 keep\np2 leave\nkeep\n").output
    assert [entry.player for entry in kept(tmp_path).entries[1:]] == ["p3", "p2", "p1"]
    assert "P1 and p3 share the win: a tie. Points: p1 5, p2 2, p3 5." in said
    said = play("harvest", "--player", "p2=random", "--no-record", typed="5\np2 keep\n").output
    assert "P2 is played by a program; it plays when its turn comes." in said


def test_programs_alone_draw_their_dice(play, tmp_path):
    said = play("harvest", "--player", "p1=hint", "--player", "p2=hint", "--seed", "2").output
    assert "That gives more points." in said
    assert "takes it back" not in said
    assert replay(kept(tmp_path)).outcome is not None


def test_a_game_can_be_limited_to_a_number_of_turns(play):
    players = ("--player", "gold=random", "--player", "teal=random", "--turns", "4", "--no-record")
    assert "Stopped after 4 turns." in play("deblockle", *players).output


def test_invalid_bytes_are_refused_and_the_game_goes_on(play):
    assert "Expected a turn such as" in play("deblockle", typed=b"\xff\xfe\n\nquit\n").output


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


def test_a_claim_is_understood_without_its_hyphen_and_the_refusal_says_why(play):
    said = play("diaballik", typed="claim antiplay\nclaim draw\nn\nclaim foo\nresign\nn\nDRAW\nn\nquit\n").output
    assert "Not possible: None of black's pieces touches white's wall; 3 are needed." in said
    assert said.count("Black offers a draw. Does white accept?") == 2
    assert "Not possible: 'foo' can't be announced now; what can be: draw, resign\n" in said


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["deblockle", "--player", "red=random"], 2, "no player 'red'; it has gold, teal"),
        (["harvest", "--player", "p3=random"], 2, "p3 has no part in this game; there are p1, p2"),
        (["deblockle", "--player", "gold=expert"], 2, "there are person, hint, hint:gentle"),
        (["deblockle", "--player", "gold"], 2, "not of the form name=value, such as teal=hint"),
        (["deblockle", "--name", "red=Ann"], 2, "no player 'red'"),
        (["deblockle", "--name", "gold=A\tB\n"], 2, "can't be written in a record"),
        (["deblockle", "--position", "x", "--option", "blocks_gold=1"], 2, "give one of the three"),
        (["deblockle", "--record", "a.txt", "--no-record"], 2, "give one of them"),
        (["deblockle", "--record", "no/such/a.txt"], 8, "there is no folder"),
        (["deblockle", "--position", "rubbish"], 4, "rubbish"),
        (["deblockle", "--option", "blocks_gold=9"], 4, "blocks_gold is '9'"),
        (["chess"], 4, "no game is called 'chess'"),
    ],
)
def test_wrong_usage_is_refused_with_its_exit_code(play, arguments, code, message):
    result = play(*arguments, code=code)
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_resigning_must_be_confirmed_and_a_draw_is_an_offer(play, tmp_path):
    said = play("deblockle", "--no-record", typed="resign\nn\ndraw\nno\ndraw\nyes\n\n").output
    assert "Gold resigns. Teal wins. Are you sure? [y/N]" in said
    assert said.count("Gold offers a draw. Does teal accept? [y/N]") == 2
    assert said.count("The game goes on.") == 2
    assert "A draw: both agreed on a draw." in said
    said = play("deblockle", "--no-record", typed="claim resign\nn\nclaim draw\nquit\n").output
    assert "Gold resigns. Teal wins. Are you sure? [y/N]" in said
    assert "The game goes on." in said
    assert "Gold offers a draw. Does teal accept? [y/N]" in said


def test_only_those_who_play_are_asked_about_a_draw(play):
    said = play("number-drop", "--no-record", "--option", "players=2", typed="draw\nn\n").output
    assert "P1 offers a draw. Does p2 accept?" in said


def test_the_end_of_a_game_can_be_undone(play, tmp_path):
    said = play("deblockle", typed="resign\ny\nc1-c2\nboard\nundo\nc1-b1=x-a2\n").output
    assert said.count("Teal wins: gold resigned.") == 1
    assert " 1  " in said.partition("> board\n")[2].partition("> undo\n")[0]
    assert "The game is over. `undo`, `save FILE` and `board` still work; Enter leaves." in said
    assert kept(tmp_path).result == "*"


def test_the_end_of_a_game_loaded_after_the_end_is_said(play):
    said = play("deblockle", "--no-record", typed="resign\ny\nsave a.txt\nload a.txt\nboard\n").output
    assert said.count("Teal wins: gold resigned.") == 2


def test_undo_takes_back_a_requested_roll_alone(play):
    said = play(
        "blockade", "--option", "starts=warm", "--dice", "typed", "--no-record", typed="roll\nundo\n4,1\nundo\n"
    ).output
    assert said.count("Taken back.") == 2
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
    said = play(game, *programs, "--seed", "1", "--turns", turns, "--record", "a.txt").output
    record = read((tmp_path / "a.txt").read_text())
    assert record.result == "*"
    told = play("a.txt", command="replay").output
    assert f"{sum(isinstance(entry, PlayedTurn) for entry in record.entries)} turns, all legal." in told
    lines = [
        entry.roll if isinstance(entry, RolledDice) else f"{entry.player} {entry.turn}"
        for entry in record.entries
        if isinstance(entry, RolledDice | PlayedTurn)
    ]
    typed = play(game, "--record", "b.txt", typed="\n".join([*lines, "undo", "hint", "quit"])).output
    assert "Expected " not in typed.replace("Expected:", "")
    assert "annot read" not in typed
    again = read((tmp_path / "b.txt").read_text())
    assert again.entries == record.entries[:-1]
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
    monkeypatch.setattr("referee.cli.context.output", lambda: Console(width=40))
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
    "help turns hint undo board rules why resign draw claim roll 1 2 999 save load a.txt all:draw gold:resign "
    "p1:resign repetition anti-play : = * keep y"
)


@pytest.mark.parametrize("name", registry.games())
@settings(max_examples=cases(15, 5), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_any_input_leaves_the_game_running(name, seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(seed)
    game = registry.load(name)
    left = rng.randrange(30)
    said: list[str] = []

    def ask(_: str) -> str | None:
        nonlocal left
        left -= 1
        state = session.so_far.state
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
    how = PlaySettings({}, rng.random() < 0.5 and name not in COSTLY, seed, Strength.FAIR, 0.02, True, 12, 20)
    session = PlaySession(GameHistory(game, game.rules.new()), how, ask, said.append, clock)
    session.run()
    assert said
    assert replay(read(write(session.so_far.record()))).states[-1] == session.so_far.state


def test_names_stand_for_the_players_on_the_board_and_in_every_sentence(play):
    names = ("--name", "p1=Anna", "--name", "p2=Ben")
    typed = "I4,I3,O4,X5,T5\na1\np2 b2=1\np2 b1\nquit\n"
    said = play("number-drop", "--option", "players=2", *names, "--no-record", typed=typed).output
    assert "First digits to write: Anna, Ben." in said
    assert "Anna: 0 points" in said
    assert "Not possible: Ben wrote 1, but begins with a 2." in said
    assert "Anna: roll the dice." in said
    assert "(Anna is first)" in said
    heading = next(line for line in said.splitlines() if line.startswith("Anna "))
    assert heading.split() == ["Anna", "Ben"]


def test_a_game_played_alone_ends_with_its_score():
    down = "slots=T4,I4,O4,L4,S4 players=1 notches=4,4,4,4,4 crossed_off=ABCDE"
    state = f"over p1={'/'.join(['1......'] * 12)} {down}"
    game = registry.load("number-drop")
    assert ending_sentence(game, game.notation.parse_state(state)).startswith("Game over: ")


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


def test_a_game_is_saved_and_loaded(play, tmp_path):
    typed = "save\nd1-e1=cross-f1\nsave a.txt\nundo\nload a.txt\nload none.txt\nload\nsave no/such/b.txt\nquit\n"
    said = play("deblockle", *ONE_EACH, "--record", "end.txt", typed=typed).output
    assert "A file is needed, such as `save game.txt`." in said
    assert "Loaded: a.txt, 1 turn." in said
    assert "Not loaded: none.txt: No such file or directory" in said
    assert "Not saved: no/such/b.txt" in said
    assert Path("end.txt").read_text() == Path("a.txt").read_text()
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe")
    (tmp_path / "c.txt").write_text('[Game "harvest"]\n')
    said = play("deblockle", "--load", "a.txt", "--name", "gold=Zoe", typed="load b.txt\nload c.txt\n1\n").output
    assert "b.txt is not a game record (it is not UTF-8 text)" in said
    assert "It is a record of harvest; expected one of deblockle." in said
    record = kept(tmp_path)
    assert len(record.entries) == 2
    assert ("Gold", "Zoe") in record.tags


def test_an_impossible_file_name_is_refused(play):
    said = play("deblockle", typed="save a\0b\nload a\0b\nquit\n").output
    assert said.count(": embedded null") == 2


def test_loading_a_file_that_is_no_record_is_refused(play, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff")
    assert "is not a game record" in play("deblockle", "--load", "a.txt", code=4).stderr


def saved(file: Path) -> str:
    """When a file was saved, and its name."""
    return f"{datetime.fromtimestamp(file.stat().st_mtime).astimezone():%Y-%m-%d %H:%M}, {file.name}"


def test_a_record_that_cannot_be_written_is_printed(play, tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    result = play("deblockle", "--record", "there", typed="resign\ny\n", code=2)
    assert "is a directory" in result.stderr

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "x.txt")

    monkeypatch.setattr(game, "write_durably", full)
    result = play("deblockle", "--record", "x.txt", typed="resign\ny\n", code=8)
    assert result.stdout.count("The game can't be kept in x.txt: No space left on device.") == 1
    assert '[Result "teal"]' in result.stdout
    assert result.stderr == (
        "referee: error: the game is not kept: x.txt can't be written (No space left on device); its record is above\n"
    )


def test_a_disk_error_is_forgotten_once_the_file_holds_the_game(play, tmp_path, monkeypatch):
    faults = iter([None, OSError(28, "No space left on device")])

    def full_once(path: Path, text: str) -> None:
        fault = next(faults)
        if fault is not None:
            raise fault
        write_durably(path, text)

    monkeypatch.setattr(game, "write_durably", full_once)
    said = play("diaballik", typed="c1-c2\nc7-c6\nundo\nquit\n").output
    assert "No space left on device. Play on" in said
    assert "Kept as " in said
    assert len(kept(tmp_path).entries) == 1


def test_each_step_is_on_the_disk_before_the_next_prompt(play, tmp_path, monkeypatch):
    lines = iter(["d1-e1=cross-f1", "undo", "d1-e1=cross-f1", None])
    seen = []

    def ask(_: str) -> str | None:
        seen.append([len(read(file.read_text()).entries) for file in tmp_path.glob("*.txt")])
        return next(lines)

    monkeypatch.setattr(command, "_line_reader", lambda: ask)
    play("deblockle", *ONE_EACH)
    assert seen == [[], [1], [0], [1]]


def test_an_unfinished_game_is_announced_and_resumed(play, tmp_path, monkeypatch):
    play("deblockle", *ONE_EACH, typed="d1-e1=cross-f1\nquit\n")
    (file,) = tmp_path.glob("*.txt")
    mentioned = (
        f"Not finished: Deblockle, 1 turn, {saved(file)}. `referee play deblockle --load {file.name}` goes on with it."
    )
    assert mentioned in play("deblockle", typed="q\n").output
    assert "Not finished" not in play("deblockle", "--new", typed="exit\n").output
    monkeypatch.setattr(command, "_is_asked", lambda: True)
    lines = iter([None, None, "undo", "d1-c1=x-b2", None])
    monkeypatch.setattr(command, "_line_reader", lambda: lambda _: next(lines))
    for own_rules in (ONE_EACH, ("--set-up", "usual")):
        assert mentioned in play("deblockle", *own_rules).output, "options and a set-up begin a game of their own"
    said = play("deblockle", typed="\n").output
    assert f"A game is not finished (Deblockle, 1 turn, {saved(file)}). Go on with it? [Y/n]" in said
    assert [entry.turn for entry in kept(tmp_path).entries] == ["d1-c1=x-b2"]


def test_without_a_game_the_newest_unfinished_one_of_any_game_is_resumed(play, tmp_path, monkeypatch):
    assert "The games are blockade" in play(code=2).stderr
    play("diaballik", typed="c1-c2\nquit\n")
    (file,) = tmp_path.glob("*.txt")
    assert f"`referee play diaballik --load {file.name}` goes on" in play(code=2).output
    assert "white> quit" in play("--load", file.name, typed="quit\n").output
    monkeypatch.setattr(command, "_is_asked", lambda: True)
    monkeypatch.setattr(command, "_line_reader", lambda: lambda _: None)
    assert f"A game is not finished (Diaballik, 1 turn, {saved(file)})" in play(typed="\n").output
    assert "The games are blockade" in play(typed="n\n", code=2).stderr


def test_ctrl_c_leaves_a_game_that_is_kept_and_says_where(play, tmp_path, monkeypatch):
    lines = iter(["c1-c2"])

    def ask(_):
        for line in lines:
            return line
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_line_reader", lambda: ask)
    said = play("diaballik", code=130).output
    (file,) = tmp_path.glob("*.txt")
    assert f"Kept as {file.name}. `" in said


def test_no_file_is_overwritten_unasked(play, tmp_path, monkeypatch):
    (tmp_path / "mine.txt").write_text("my notes")
    assert (
        "mine.txt is there already; give another name, or --force"
        in play("deblockle", "--record", "mine.txt", code=2).stderr
    )
    said = play("deblockle", "--no-record", typed="save mine.txt\nn\nsave other.txt\nsave other.txt\nquit\n").output
    assert "mine.txt is there already. Write over it? [y/N]" in said
    assert said.count("Saved: other.txt") == 2, "a file of this game's own is not asked about"
    assert (tmp_path / "mine.txt").read_text() == "my notes"
    play("deblockle", "--no-record", typed="save mine.txt\ny\nquit\n")
    assert (tmp_path / "mine.txt").read_text().startswith("[Game")
    play("deblockle", "--record", "mine.txt", "--force", typed="c1-b1=x-a2\n")
    assert len(read((tmp_path / "mine.txt").read_text()).entries) == 1


def test_the_end_is_announced_once_and_leaving_says_how_to_resume(play):
    ended = play("diaballik", typed="resign\ny\n\n").output
    assert ended.count("resigned") == 1
    assert "Kept as " in ended
    assert "goes on." not in ended
    left = play("diaballik", typed="b1-b2\nquit\n").output
    assert re.search(r"Kept as (\S+)\. `referee play diaballik --load \1` goes on\.", left)
    left = play("diaballik", "--record", "my game.txt", typed="b1-b2\nquit\n").output
    assert "Kept as my game.txt. `referee play diaballik --load 'my game.txt'` goes on." in left


def test_a_loaded_record_keeps_its_date_and_names(play):
    play("deblockle", *ONE_EACH, "--record", "old.txt", "--name", "gold=Zoe", typed="d1-e1=cross-f1\n")
    old = Path("old.txt")
    old.write_text(re.sub(r'Date "[^"]+"', 'Date "2020-02-02"', old.read_text()))
    play("--load", "old.txt", "--no-record", typed="save a.txt\n")
    play("deblockle", "--name", "gold=Ann", "--no-record", typed="load old.txt\nsave b.txt\n")
    assert old.read_text() == Path("a.txt").read_text() == Path("b.txt").read_text()


def test_an_older_record_with_a_score_of_its_own_can_be_continued(play, tmp_path):
    (tmp_path / "old.txt").write_text('[Game "diaballik"]\n[Score "1-0"]\n\n1. a1-a2\n2. a7-a6\n')
    assert "White wins: black resigned." in play("diaballik", typed="load old.txt\nresign\ny\n").output
    assert kept(tmp_path).tags[0] == ("Old-Score", "1-0")


def test_a_solo_game_that_was_given_up_is_not_offered_again(play, tmp_path):
    play("number-drop", "--option", "players=1", typed="roll I4,L4,O4,T4,S4\nresign\ny\n")
    assert kept(tmp_path).result == "*"
    assert "Not finished" not in play("number-drop", typed="quit\n").output
    (file,) = tmp_path.glob("*.txt")
    assert "0 turns, all legal. Points: p1 0. Result: given up" in play(file.name, command="replay").output


def turns_in(file: Path | str) -> list[str]:
    return [entry.turn for entry in read(Path(file).read_text()).entries if isinstance(entry, PlayedTurn)]


def test_loading_another_game_leaves_the_one_before_in_its_file(play, tmp_path):
    play("diaballik", "--record", "b.txt", typed="a1-a2\nquit\n")
    said = play("diaballik", typed="b1-b2\nb7-b6\nload b.txt\na7-a6\nquit\n").output
    left, other = re.findall(r"Kept as (\S+\.txt)\.", said)
    assert turns_in(left) == ["b1-b2", "b7-b6"]
    assert turns_in(other) == ["a1-a2", "a7-a6"]
    assert turns_in("b.txt") == ["a1-a2"]
    said = play("diaballik", "--new", typed=f"load {left}\nc1-c2\nquit\n").output
    assert f"Kept as {left}. `" in said, "a game that was kept here goes on in its own file"
    assert turns_in(left) == ["b1-b2", "b7-b6", "c1-c2"]


def test_loading_more_of_the_same_game_goes_on_in_its_file(play):
    typed = "b1-b2\nb7-b6\nsave a.txt\nundo\nload a.txt\nquit\n"
    said = play("diaballik", "--record", "c.txt", typed=typed).output
    assert said.count("Kept as ") == 1
    assert turns_in("c.txt") == ["b1-b2", "b7-b6"]


def test_no_other_game_is_loaded_while_the_one_before_cannot_be_kept(play, monkeypatch):
    play("diaballik", "--record", "b.txt", typed="a1-a2\nquit\n")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "x.txt")

    monkeypatch.setattr(game, "write_durably", full)
    said = play("diaballik", "--record", "x.txt", typed="c1-c2\nload b.txt\nquit\n", code=8).output
    assert "This game can't be kept (No space left on device), so no other is loaded." in said
    assert "1. black c1-c2" in said


@pytest.mark.parametrize(("options", "typed"), [(("--load", "g.txt"), ""), ((), "load g.txt\n")])
def test_undo_in_a_game_that_goes_on_takes_back_the_persons_turn(play, options, typed):
    program = ("--player", "white=random")
    play("diaballik", *program, "--record", "g.txt", typed="a1-a2\nb1-b2\nquit\n")
    play("diaballik", *program, *options, "--no-record", typed=f"{typed}undo\nsave a.txt\nquit\n")
    assert turns_in("a.txt") == turns_in("g.txt")[:2]
    play("diaballik", *options, "--no-record", typed=f"{typed}undo\nsave b.txt\nquit\n")
    assert turns_in("b.txt") == turns_in("g.txt")[:3], "without a program every turn is a person's"


def test_undo_in_a_game_that_goes_on_gives_no_second_roll(play):
    play("harvest", "--dice", "roll", "--record", "g.txt", typed="quit\n")
    going_on = ("harvest", "--load", "g.txt", "--no-record", "--seed", "3")
    assert "Nothing to undo." in play(*going_on, "--dice", "roll", typed="undo\nquit\n").output
    assert "Taken back." in play(*going_on, typed="undo\nquit\n").output, "this roll may have been typed"


def test_a_program_plays_on_in_a_game_that_goes_on(play, tmp_path, monkeypatch):
    left = play("diaballik", "--player", "white=random", typed="a1-a2\nquit\n").output
    (file,) = tmp_path.glob("*.txt")
    goes_on = f"`referee play diaballik --load {file.name} --player white=random` goes on"
    assert f"Kept as {file.name}. {goes_on}." in left
    assert ("White", "program (random)") in kept(tmp_path).tags
    mentioned = f"Not finished: Diaballik, 2 turns, white: program (random), {saved(file)}. {goes_on} with it."
    assert mentioned in play("diaballik", typed="quit\n").output
    monkeypatch.setattr(command, "_is_asked", lambda: True)
    lines = iter(["b1-b2", None, "resign", "y", None])
    monkeypatch.setattr(command, "_line_reader", lambda: lambda _: next(lines))
    question = f"A game is not finished (Diaballik, 2 turns, white: program (random), {saved(file)}). Go on with it?"
    assert question in play(typed="\n").output
    assert len(kept(tmp_path).entries) == 4
    assert "\nWhite wins: " in play("diaballik", "--player", "white=hint:gentle", typed="\n").output
    assert ("White", "program (gentle)") in kept(tmp_path).tags


def test_a_person_takes_a_programs_side_and_keeps_a_name(play, tmp_path, monkeypatch):
    play("diaballik", "--player", "white=random", "--name", "white=Robo", "--record", "r.txt", typed="a1-a2\n")
    assert ("White", "Robo") in read(Path("r.txt").read_text()).tags
    play("diaballik", "--player", "white=random", typed="a1-a2\nquit\n")
    monkeypatch.setattr(command, "_is_asked", lambda: True)
    lines = iter(["b1-b2", None])
    monkeypatch.setattr(command, "_line_reader", lambda: lambda _: next(lines))
    left = play("diaballik", "--player", "White=person", typed="\n").output
    assert "--player" not in left
    assert len(kept(tmp_path).entries) == 3
    assert "White" not in dict(kept(tmp_path).tags)


def test_a_loaded_game_that_was_kept_here_goes_on_in_its_file(play, tmp_path):
    play("diaballik", typed="a1-a2\nquit\n")
    (file,) = tmp_path.glob("*.txt")
    play("diaballik", "--load", file.name, typed="a7-a6\nresign\ny\n\n")
    assert len(kept(tmp_path).entries) == 3
    assert "Not finished" not in play("diaballik", typed="quit\n").output
    said = play("diaballik", "--load", file.name, typed="undo\nb1-b2\nquit\n").output
    assert "Kept as " in said
    assert f"Kept as {file.name}." not in said, "a finished game stays as it is"
    assert len(read(file.read_text()).entries) == 3


def test_a_game_under_a_name_of_its_own_goes_on_in_its_file(play, tmp_path):
    play("diaballik", "--record", "g.txt", typed="a1-a2\nquit\n")
    assert play("diaballik", "--load", "g.txt", "--record", "g.txt", typed="a7-a6\nquit\n").exit_code == 0
    assert len(read((tmp_path / "g.txt").read_text()).entries) == 2


def test_games_in_which_only_programs_play_are_not_interrupted(play):
    play("harvest", typed="4\nquit\n")
    assert "Not finished" in play("harvest", "--player", "p1=hint", typed="quit\n").output
    assert "Not finished" not in play("harvest", "--player", "p1=hint", "--player", "p2=hint").output


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
    assert "gold: " not in said


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
        (("--set-up", "usual", "--position", "gold c1:G.star? e7:T.x? removed=3,3"), 2, "carry their own options"),
    ],
)
def test_an_impossible_set_up_is_refused(play, arguments, code, words):
    assert words in play("deblockle", *arguments, code=code).stderr


def test_players_are_called_by_their_names(play):
    names = ("--name", "gold=Ann", "--name", "teal=Ben")
    said = play("deblockle", "--no-record", *names, typed="resign\ny\n").output
    assert "Ann (gold)> resign" in said
    assert "Ann resigns. Ben (teal) wins. Are you sure?" in said
    assert "\nBen (teal) wins: Ann resigned." in said
    rolled = play("blockade", "--no-record", "--name", "warm=Ann", "--seed", "1", typed="roll\nquit\n").output
    assert "Ann (warm) rolls " in rolled


def test_the_nearest_turns_of_a_long_list_are_listed_and_searched(play):
    said = play("blockade", "--option", "starts=warm", typed="roll 6,6\nturns\nturns zz\nquit\n").output
    assert "20 of the 2000 nearest legal turns. Type a number to play one." in said
    assert "None of the 2000 nearest legal turns has 'zz' in it." in said
