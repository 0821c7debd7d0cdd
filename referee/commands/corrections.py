"""A person's correction, read and turned into the states that hold from here. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from common.phrases import listed
from engine.api import EMPTY, Game, OptionValue, Place, StateT
from engine.errors import EngineError
from referee.commands.values import EXAMPLE_LOOK, Correct
from referee.errors import CorrectionError
from referee.judge.explorer import STARTS_OPTION


@dataclass(frozen=True)
class Corrected:
    """The states that hold, the places the correction is about, and it all in a sentence."""

    states: tuple[Any, ...]
    places: tuple[Place, ...]
    sentence: str


def corrected(
    game: Game[Any, Any], belief: Sequence[Any], correction: Correct, options: Mapping[str, OptionValue]
) -> Corrected:
    """Give what holds after a correction of ``belief``, or of an empty table before the set-up.

    Raises CorrectionError that says what cannot be, in the engine's words.
    """
    try:
        states = _states(game, belief, correction, options)
    except EngineError as error:
        raise CorrectionError(str(error)) from error
    before = game.table.appearance(belief[0]) if belief else dict.fromkeys(game.places, EMPTY)
    after = game.table.appearance(states[0])
    places = tuple(place for place in game.places if place in correction.looks or before[place] != after[place])
    parts = [f"{place} is {after[place]}" for place in places]
    if not parts:
        parts = ["the position stands" if correction.position else f"{states[0].to_move} plays next"]
    why = f" ({correction.why})" if correction.why else ""
    return Corrected(states, places, f"{correction.by} says: {', '.join(parts)}{why}.")


def _states(
    game: Game[StateT, Any], belief: Sequence[StateT], correction: Correct, options: Mapping[str, OptionValue]
) -> tuple[StateT, ...]:
    to_move = correction.to_move or None
    if correction.position:
        state = game.notation.parse_state(correction.position)
        return (game.table.amend(state, {}, to_move) if to_move else state,)
    if belief:
        # While it is open who starts, saying who plays decides it.
        belief = [state for state in belief if state.to_move == to_move] or belief
        return tuple(dict.fromkeys(game.table.amend(state, correction.looks, to_move) for state in belief))
    if not correction.looks:
        raise CorrectionError("the board is not set up yet; say what stands where, or give a whole position")
    starts = {STARTS_OPTION: to_move} if to_move else {}
    return (game.table.set_up(correction.looks, {**options, **starts}, anywhere=True),)


def read_looks(game: Game[Any, Any], words: Sequence[str]) -> dict[Place, str]:
    """Read ``c3=empty`` or ``c3`` followed by a look, any number of times; raises CorrectionError."""
    looks: dict[Place, str] = {}
    remaining = list(words)
    while remaining:
        text = remaining.pop(0)
        place, equals, look = (part.strip() for part in text.partition("="))
        place = place.lower()
        if place not in game.places:
            raise CorrectionError(f"there is no place {place!r}; places run from {game.places[0]} to {game.places[-1]}")
        if not equals:
            if not remaining:
                raise CorrectionError(f"nothing is said of {place}; expected a look after it, such as {EXAMPLE_LOOK}")
            look = remaining.pop(0)
        if place in looks:
            raise CorrectionError(f"{place} is given twice")
        looks[place] = read_look(game, place, look)
    return looks


def read_look(game: Game[Any, Any], place: Place, text: str) -> str:
    """Read a look leniently: its words in any order, as many as tell it from the others; raises CorrectionError."""
    said = set(text.lower().replace(",", " ").split())
    found = [look for look in game.looks if said and said <= set(look.lower().replace(",", " ").split())]
    if len(found) == 1:
        return found[0]
    if found:
        raise CorrectionError(f"{text!r} on {place} could be {listed(found, 'or')}; say more of it")
    raise CorrectionError(f"{text!r} on {place} is no look of {game.title}; expected such as {EXAMPLE_LOOK}")
