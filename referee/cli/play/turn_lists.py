"""Lists of legal turns for a person: numbered, searched, or three examples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from engine.api import Game
from engine.support.chance import format_roll
from engine.values import Player
from referee.cli.play.players import turns_of

_MOST_LISTED_ON_DEMAND = 20
_MOST_SEARCHED = 100_000


def numbered_turns(game: Game[Any, Any], state: Any, player: Player, most: int) -> Sequence[Any]:
    """Return the legal turns to list automatically; none if there are too many or listing them takes seconds."""
    if most == 0 or game.is_slow_to_list:
        return ()
    turns = turns_of(game, state, player)
    return turns if len(turns) <= most else ()


def turns_with(game: Game[Any, Any], state: Any, part: str) -> tuple[Sequence[Any], str]:
    """Return the first legal turns whose notation contains ``part``, and a sentence with their number."""
    dice = game.dice
    if dice is not None and dice.awaits_roll(state):
        rolls = dice.possible_rolls(state)
        return (), f"The dice come first; {len(rolls)} rolls are possible, such as {format_roll(rolls[0].roll)}."
    turns = turns_of(game, state, game.rules.players_to_move(state)[0])
    searched = (turns[number] for number in range(min(len(turns), _MOST_SEARCHED)))
    fitting = (turn for turn in searched if part.lower() in game.notation.format_turn(turn).lower())
    found = list(islice(fitting, _MOST_LISTED_ON_DEMAND))
    if len(found) == len(turns):
        return found, f"{len(turns)} legal turns. Type a number to play one."
    if not found:
        those = f"the first {_MOST_SEARCHED} of {len(turns)}" if len(turns) > _MOST_SEARCHED else str(len(turns))
        return found, f"None of {those} legal turns has {part!r} in it."
    those = f"those with {part!r} in them" if part else "`turns PART` lists those with PART in them"
    return found, f"{len(found)} of {len(turns)} legal turns; {those}. Type a number to play one."


def examples(game: Game[Any, Any], state: Any) -> list[str]:
    """Return three possible rolls or turns: the first, the middle and the last of a long list."""
    dice = game.dice
    if dice is not None and dice.awaits_roll(state):
        return [format_roll(possible.roll) for possible in _first_middle_last(dice.possible_rolls(state))]
    turns = turns_of(game, state, game.rules.players_to_move(state)[0])
    return [game.notation.format_turn(turn) for turn in _first_middle_last(turns)]


def _first_middle_last(items: Sequence[Any]) -> list[Any]:
    last = len(items) - 1
    return [items[number] for number in dict.fromkeys((0, last // 2, last)) if number >= 0]
