"""Turns that would be legal, were it another's turn or the rules a little different, and set-ups that are not legal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.api import Game
from simulator.actions import Carry, Standing
from simulator.handling import Handler

BY_TURN = ("played out of turn", "forbidden by the variant")
"""Misdeeds that are whole turns by other rules, by name."""

NO_HOP_TO_COME = "rolled with no hop to come"
"""A roll after which the block can't hop, which the rules forbid."""

WRONG_SET_UPS = ("block missing", "spare block put out", "wrong square", "block on a star")
"""Ways to set the board up that the usual start does not allow, by name."""

_VARIANT = " side_by_side=false"


def turns_of_kind(game: Game[Any, Any], state: Any, kind: str) -> Sequence[Any]:
    """Whole turns that are a misdeed of one of the kinds in ``BY_TURN``; legal turns look otherwise.

    Raises ValueError for another kind.
    """
    match kind:
        case "played out of turn":
            return _out_of_turn(game, state)
        case "forbidden by the variant":
            return _forbidden_by_variant(game, state)
    raise ValueError(f"no such turns: {kind}; there are {', '.join(BY_TURN)}")


def _out_of_turn(game: Game[Any, Any], state: Any) -> Sequence[Any]:
    """What the other player could play if it were their turn."""
    text = game.format_state(state)
    other = next(player for player in game.players if player != state.to_move)
    others = game.parse_state(other + text[len(state.to_move) :])
    return [] if others.to_move != other else game.legal_turns(others)


def _forbidden_by_variant(game: Game[Any, Any], state: Any) -> Sequence[Any]:
    """What only the variant without side-by-side blocks forbids."""
    text = game.format_state(state)
    if _VARIANT not in text:
        return []
    allowed = {game.format_turn(turn) for turn in game.legal_turns(state)}
    everything = game.legal_turns(game.parse_state(text.replace(_VARIANT, "")))
    return [turn for turn in everything if game.format_turn(turn) not in allowed]


def rolls_without_hop(game: Game[Any, Any], state: Any, rolls: Sequence[Carry]) -> Sequence[Carry]:
    """Those of the rolls to open squares with which no legal turn begins, though another symbol than the star is up."""
    begun = {(turn.start, place) for turn in game.legal_turns(state) for place in turn.rolled_to}
    return [roll for roll in rolls if roll.pose.up != "star" and (roll.start, roll.end) not in begun]


def wrong_set_up(
    kind: str, standing: Standing, handler: Handler, colours: Sequence[str], rng: np.random.Generator
) -> tuple[Carry, ...] | None:
    """Carries from a right set-up to a wrong one; ``None`` when that kind needs a block that is not there.

    Raises ValueError for a kind that is not one of ``WRONG_SET_UPS``.
    """
    layout = handler.layout
    taken = [place for place in layout.places if place in standing]
    start = taken[int(rng.integers(len(taken)))]
    free = [place for place in layout.places if place not in standing and place not in layout.star_places]
    end = free[int(rng.integers(len(free)))]
    match kind:
        case "block missing":
            return (handler.take_off(standing, start),)
        case "spare block put out":
            spare = [f"{colour} tray 1" for colour in colours if f"{colour} tray 1" in standing]
            if not spare:
                return None
            block = standing[spare[0]]
            return (handler.lay(standing, spare[0], end, block.up, block.north),)
        case "wrong square":
            return (handler.lift(standing, start, end),)
        case "block on a star":
            stars = layout.star_places
            return (handler.lift(standing, start, stars[int(rng.integers(len(stars)))]),)
    raise ValueError(f"no such set-up: {kind}; there are {', '.join(WRONG_SET_UPS)}")


def agreed_squares(start: str, handler: Handler, players: Sequence[str], rng: np.random.Generator) -> Mapping[str, str]:
    """Squares that players agreed on, and whose block stands there: ``agreed`` (anywhere) or ``cornered``.

    ``cornered`` leaves the first player one block, in a corner between two of the opponent's.
    """
    layout = handler.layout
    first, second = players[:2]
    free = [place for place in layout.places if place not in layout.star_places]
    drawn = [free[int(index)] for index in rng.permutation(len(free))]
    if start == "agreed":
        count = int(rng.integers(2, 5))
        return {place: first if number < count else second for number, place in enumerate(drawn[: 2 * count])}
    column = "a" if rng.random() < 0.5 else chr(ord("a") + layout.columns - 1)
    row = 1 if rng.random() < 0.5 else layout.rows
    beside_column = chr(ord(column) + (1 if column == "a" else -1))
    beside_row = row + (1 if row == 1 else -1)
    corner = f"{column}{row}"
    between = (f"{beside_column}{row}", f"{column}{beside_row}")
    others = [place for place in drawn if place not in {corner, *between}][:2]
    return {corner: first, **dict.fromkeys((*between, *others), second)}
