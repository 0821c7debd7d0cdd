"""How many play a new game, and who: nobody who is named may be left out or counted twice. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api import Game
from engine.support.players import check_player, who_plays
from engine.values import OptionValue, Player
from referee.errors import CorrectionError
from referee.judge.starts import start_options

PLAYERS = "players"
"""The rule option that says how many play, in games for various numbers."""


def with_named_players(
    game: Game[Any, Any], names: Mapping[Player, str], options: Mapping[str, OptionValue], *, is_fixed: bool
) -> dict[str, OptionValue]:
    """Return the options for a game of the players named, by side.

    Unless the number of players ``is_fixed``, it becomes the smallest in which all who are named play, if there are at
    least two. Raises UnreadableError for a side that the game doesn't have, OptionError for bad options, and
    CorrectionError for a name that two sides have, that is another side's word, or whose side doesn't play.
    """
    for side in names:
        check_player(game.players, side)
    _refuse_doubles(names)
    for side, name in names.items():
        if name.casefold() != side and name.casefold() in game.players:
            raise CorrectionError(f"{name} is the name of another side; give {side} another name")
    chosen = dict(options)
    if not is_fixed and len(names) > 1:
        tried = ({**chosen, PLAYERS: count} for count in player_counts(game))
        chosen = next((each for each in tried if names.keys() <= set(players_with(game, each))), chosen)
    playing = players_with(game, chosen)
    for side, name in names.items():
        if side not in playing:
            raise CorrectionError(f"{name} is named, but only {len(playing)} play; let more play, or leave {name} out")
    return chosen


def player_counts(game: Game[Any, Any]) -> tuple[OptionValue, ...]:
    """Return how many may play; nothing for a game whose number of players is fixed."""
    return next((option.choices for option in game.options if option.name == PLAYERS), ())


def players_with(game: Game[Any, Any], options: Mapping[str, OptionValue]) -> tuple[Player, ...]:
    """Return who plays a game with these options; raises OptionError."""
    return who_plays(game, game.rules.new(start_options(game, options)[0]))


def _refuse_doubles(names: Mapping[Player, str]) -> None:
    # Results are added up by name.
    given: set[str] = set()
    for name in names.values():
        if name.casefold() in given:
            raise CorrectionError(f"{name} is named twice; give each player another name")
        given.add(name.casefold())
