"""What may be played now, as lists for a person: numbered, searched, or three examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from engine.api import Game, Player
from engine.support.chance import format_roll
from referee.cli.play.players import turns_of

_MOST_LISTED_ON_DEMAND = 60
_MOST_SEARCHED = 100_000


def numbered_turns(game: Game[Any, Any], state: Any, player: Player, most: int) -> Sequence[Any]:
    """Give the legal turns that are listed unasked with their numbers; none where they are many or cost seconds."""
    if most == 0 or game.is_slow_to_list:
        return ()
    turns = turns_of(game, state, player)
    return turns if len(turns) <= most else ()


def lines_of_turns(game: Game[Any, Any], state: Any, part: str) -> Iterator[str]:
    """List the first legal turns, or the first whose text has ``part`` in it, and say how many there are."""
    dice = game.dice
    if dice is not None and dice.awaits_roll(state):
        rolls = dice.possible_rolls(state)
        yield f"The dice come first; {len(rolls)} rolls are possible, such as {format_roll(rolls[0].roll)}."
        return
    turns = turns_of(game, state, game.rules.players_to_move(state)[0])
    searched = (turns[number] for number in range(min(len(turns), _MOST_SEARCHED)))
    fitting = (turn for turn in searched if part.lower() in game.notation.format_turn(turn).lower())
    listed = list(islice(fitting, _MOST_LISTED_ON_DEMAND))
    for turn in listed:
        yield f"  {game.notation.format_turn(turn)}  {game.notation.describe(turn)}"
    if len(listed) == len(turns):
        yield f"{len(turns)} legal turns."
    elif part:
        yield f"{len(listed)} shown of {len(turns)} legal turns, those with {part!r} in them."
    else:
        yield f"{len(listed)} shown of {len(turns)} legal turns; `turns PART` lists those with that in them."


def examples(game: Game[Any, Any], state: Any) -> list[str]:
    """Give three things that may be rolled or played now: of a long list the first, the middle and the last."""
    dice = game.dice
    if dice is not None and dice.awaits_roll(state):
        return [format_roll(possible.roll) for possible in _three_of(dice.possible_rolls(state))]
    turns = turns_of(game, state, game.rules.players_to_move(state)[0])
    return [game.notation.format_turn(turn) for turn in _three_of(turns)]


def _three_of(items: Sequence[Any]) -> list[Any]:
    last = len(items) - 1
    return [items[number] for number in dict.fromkeys((0, last // 2, last)) if number >= 0]
