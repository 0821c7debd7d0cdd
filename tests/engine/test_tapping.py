"""Turns tapped square by square, in every game: offered taps lead to legal turns, and every turn can be tapped."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from engine.api import tapped
from engine.errors import IllegalTurnError
from engine.registry import games, load
from engine.showing import turns_to_draw_from
from engine.values import Certainty, OptionValue
from tests.engine.toy_harvest import GAME as TOY

POSITIONS = 12
FEWER = {"blockade": 4}
"""Fewer positions for games in which a tap is slow."""
SQUARE = re.compile(r"[a-z][0-9]+")
OPTIONS: dict[str, dict[str, OptionValue]] = {"number-drop": {"players": 2}, "blokus-dice": {"players": 2}}


GAMES = [game for game in map(load, games()) if game.tapping is not None]
every_tapped_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)


def positions(game: Any, seed: int) -> Iterator[Any]:
    """States of a random game in which a player is to move."""
    rng = Random(f"{game.name} {seed}")
    state: Any = game.rules.new(OPTIONS.get(game.name))
    found = 0
    while found < FEWER.get(game.name, POSITIONS):
        if game.rules.outcome(state) is not None:
            state = game.rules.new(OPTIONS.get(game.name))
        if game.dice is not None and game.dice.awaits_roll(state):
            state = game.dice.rolled(state, rng.choice(game.dice.possible_rolls(state)).roll)
            continue
        yield state
        found += 1
        state = game.rules.apply(state, rng.choice(turns_to_draw_from(game, state)))


def reaches(game: Any, state: Any, goal: Any, taps: tuple[str, ...] = ()) -> bool:
    """Whether some order of taps on the squares that the turn names leads to the same end.

    On a board that is the order in which the turn's text names them.
    """
    now = tapped(game, state, taps)
    if now.turn is not None and game.rules.apply(state, now.turn) == game.rules.apply(state, goal):
        return True
    text = game.notation.format_turn(goal)
    squares = [square for square in now.squares if square in goal.places]
    if game.printed_sheet is None:
        named = SQUARE.findall(text)
        so_far = sum(tap in game.places for tap in now.taps)
        squares = [square for square in named[so_far : so_far + 1] if square in now.squares]
    choices = [tap for tap in now.choices if tap.rpartition(":")[2] in text]
    return any(reaches(game, state, goal, (*now.taps, tap)) for tap in [*squares, *choices])


def check_offered(game: Any) -> None:
    """Every offered tap leads to a legal turn."""
    rng = Random(game.name)
    played = 0
    for state in positions(game, 1):
        taps: tuple[str, ...] = ()
        for _ in range(20):
            now = tapped(game, state, taps)
            if now.turn is not None:
                played += 1
                assert game.rules.certainty(state, now.turn) is not Certainty.IMPOSSIBLE
                text = game.notation.format_turn(now.turn)
                read = game.notation.parse_turn(state, text, now.turn.player)
                assert game.rules.apply(state, read) == game.rules.apply(state, now.turn)
            following = [*now.squares, *now.choices]
            if not following:
                break
            taps = (*now.taps, rng.choice(following))
    assert played >= FEWER.get(game.name, POSITIONS) // 2


def check_reached(game: Any) -> None:
    """Every legal turn can be tapped."""
    rng = Random(game.name)
    for state in positions(game, 2):
        turn = rng.choice(turns_to_draw_from(game, state))
        assert reaches(game, state, turn), game.notation.format_turn(turn)


@every_tapped_game
@pytest.mark.parametrize("check", [check_offered, check_reached])
def test_offered_taps_lead_to_legal_turns_and_every_turn_can_be_tapped(game: Any, check: Callable[[Any], None]) -> None:
    check(game)


def offering_all(game: Any, state: Any, found: Any) -> Any:
    """The reply with every square lit."""
    return replace(found, squares=game.places)


def hiding_one(game: Any, state: Any, found: Any) -> Any:
    """The reply without the first square."""
    return replace(found, squares=found.squares[1:])


def making_another(game: Any, state: Any, found: Any) -> Any:
    """The reply with the first legal turn, whatever was tapped."""
    return found if found.turn is None else replace(found, turn=game.rules.legal_turns(state)[0])


@every_tapped_game
@pytest.mark.parametrize(
    ("check", "wrong"),
    [(check_offered, offering_all), (check_reached, hiding_one), (check_reached, making_another)],
)
def test_wrong_replies_to_taps_are_noticed(game: Any, check: Callable[[Any], None], wrong: Callable[..., Any]) -> None:
    tapping = game.tapping
    wrongly = replace(game, tapping=lambda state, taps: wrong(game, state, tapping(state, taps)))
    with pytest.raises((AssertionError, IllegalTurnError)):
        check(wrongly)


@every_tapped_game
def test_taps_that_begin_no_turn_are_refused(game: Any) -> None:
    state = next(positions(game, 3))
    for taps in (["nowhere"], ["a1", "a1", "a1"], ["p3.a1", "p3.a1"], ["off"]):
        with pytest.raises(IllegalTurnError, match="no turn begins with"):
            tapped(game, state, taps)


def test_nothing_can_be_tapped_while_dice_are_awaited_or_the_game_is_over() -> None:
    blockade = load("blockade")
    now = tapped(blockade, blockade.rules.new(), ())
    assert (now.squares, dict(now.choices), now.turn) == ((), {}, None)


def test_a_known_symbol_is_not_asked_for() -> None:
    game: Any = load("deblockle")
    state = game.rules.new()
    known = next(turn for turn in game.rules.legal_turns(state) if turn.end not in (None, *turn.rolled_to))
    now = tapped(game, state, [known.start, *known.rolled_to])
    assert now.taps[2:] in ((), (known.top,))
    assert now.squares or now.choices or now.turn is not None


def test_a_game_without_tapping_asks_to_type_turns() -> None:
    with pytest.raises(IllegalTurnError, match="type them"):
        tapped(TOY, TOY.rules.new(), ())


SLIDE = "p1 slide p1=1...... slots=I4,L4,O4,T4,S4 roll=1,3,4,5,T to=p1 notches=0,0,0,0,0 players=1"
SETUP = "setup p1=- p2=- slots=I4,L4,O4,T4,S4 to=p1,p2"
LOOP = "drop p1=123.... p2=2...... slots=I4,L4,O4,T4,S4 roll=1,3,4,5,T then=p1"


@pytest.mark.parametrize(
    ("text", "taps"),
    [
        (SLIDE, ["p1:slide:A", "p1:slide:A"]),
        (SLIDE, ["p1:slide:A", "p1.a1"]),
        (SETUP, ["p1.a1", "p1.a1"]),
        (LOOP, ["p1.a1", "p1.b1", "p1.c1", "p1.c1"]),
    ],
)
def test_a_tap_after_a_whole_turn_is_refused(text: str, taps: list[str]) -> None:
    game: Any = load("number-drop")
    state = game.notation.parse_state(text)
    assert tapped(game, state, taps[:-1]).turn is not None
    with pytest.raises(IllegalTurnError, match="no turn begins with"):
        tapped(game, state, taps)
