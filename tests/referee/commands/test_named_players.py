"""How many play follows who is named; nobody is left out or counted twice."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import UnreadableError
from engine.registry import load
from engine.values import OptionValue
from referee.commands.entries import with_named_players
from referee.errors import CorrectionError

NAMES = {"p1": "Anna", "p2": "Ben", "p3": "Clara", "p4": "Dan"}


def chosen(game: str, count: int, options: dict[str, OptionValue] | None = None, **more: Any) -> dict[str, OptionValue]:
    """The options for a game in which the first ``count`` are named."""
    names = dict(list(NAMES.items())[:count])
    return with_named_players(load(game), names, options or {}, **{"is_fixed": False, **more})


@pytest.mark.parametrize(
    ("game", "count", "usual", "players"),
    [
        ("number-drop", 3, {}, 3),
        ("number-drop", 3, {"players": 2}, 3),
        ("number-drop", 2, {"players": 3}, 2),
        ("blokus-dice", 2, {}, 2),
        # A single name may mean that the others don't give theirs.
        ("number-drop", 1, {"players": 3}, 3),
        ("blokus-dice", 1, {}, None),
        ("blokus-dice", 0, {}, None),
    ],
)
def test_as_many_play_as_are_named(game: str, count: int, usual: dict[str, OptionValue], players: int | None) -> None:
    assert chosen(game, count, usual).get("players") == players


def test_a_number_that_somebody_gave_stays_and_leaves_nobody_out() -> None:
    assert chosen("number-drop", 2, {"players": 4}, is_fixed=True) == {"players": 4}
    with pytest.raises(CorrectionError, match="Clara is named, but only 2 play"):
        chosen("number-drop", 3, {"players": 2}, is_fixed=True)


def test_a_gap_among_the_names_is_filled() -> None:
    game = load("number-drop")
    assert with_named_players(game, {"p1": "Anna", "p3": "Clara"}, {}, is_fixed=False) == {"players": 3}


def test_two_sides_cannot_have_one_name_or_a_side_that_there_is_not() -> None:
    game = load("deblockle")
    with pytest.raises(CorrectionError, match="ann is named twice; give each player another name"):
        with_named_players(game, {"gold": "Ann", "teal": "ann"}, {}, is_fixed=False)
    with pytest.raises(UnreadableError, match="there is no player 'red'"):
        with_named_players(game, {"red": "Ann"}, {}, is_fixed=False)
    assert with_named_players(game, {"gold": "Ann", "teal": "Ben"}, {"starts": "either"}, is_fixed=False) == {
        "starts": "either"
    }


@pytest.mark.parametrize(
    ("game", "names"),
    [("diaballik", {"black": "White", "white": "Ben"}), ("number-drop", {"p1": "P2"}), ("deblockle", {"gold": "TEAL"})],
)
def test_a_player_is_not_called_like_another_side(game: str, names: dict[str, str]) -> None:
    with pytest.raises(CorrectionError, match=r"is the name of another side; give .* another name"):
        with_named_players(load(game), names, {}, is_fixed=False)


def test_a_player_may_be_called_like_the_own_side() -> None:
    assert with_named_players(load("diaballik"), {"black": "Black", "white": "Mr. White"}, {}, is_fixed=False) == {}
