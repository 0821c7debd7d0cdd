"""The dice: one ordinary die for each player still in the game, in rising order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from common.phrases import counted
from engine.errors import IllegalTurnError, UnreadableError
from engine.games.blokus_dice.state import COLOURS, BlokusState
from engine.games.blokus_dice.turns import settle
from engine.support.chance import ORDINARY_DIE, every_roll, format_roll
from engine.support.notation import unreadable, words
from engine.values import PossibleRoll, Roll


@cache
def rolls_of(dice: int) -> tuple[PossibleRoll, ...]:
    """Return every roll of this number of identical dice."""
    return every_roll([ORDINARY_DIE] * dice, lambda faces: tuple(sorted(faces)))


def possible_rolls(state: BlokusState) -> Sequence[PossibleRoll]:
    """Return every possible roll; none if no roll is awaited."""
    return rolls_of(len(state.active())) if awaits_roll(state) else ()


def awaits_roll(state: BlokusState) -> bool:
    """Return whether dice are to be rolled."""
    return state.seat is not None and not state.dice


def roll_of(state: BlokusState) -> Roll | None:
    """Return the dice still on the table."""
    return Roll(tuple(map(str, state.dice))) if state.dice else None


def rolled(state: BlokusState, roll: Roll) -> BlokusState:
    """Return the state after a roll; raises IllegalTurnError if none is awaited or it is impossible."""
    shown = format_roll(roll)
    if state.seat is None:
        raise IllegalTurnError(f"got a roll of {shown}, but the game is over")
    if state.dice:
        lying = ",".join(map(str, state.dice))
        raise IllegalTurnError(f"got a roll of {shown}, but the dice on the table ({lying}) are still to be taken")
    return _on_the_table(state, roll, len(state.active()))


def _on_the_table(state: BlokusState, roll: Roll, expected: int) -> BlokusState:
    if len(roll.faces) != expected or any(face not in ORDINARY_DIE for face in roll.faces):
        dice = counted(expected, "die", "dice")
        raise IllegalTurnError(f"got a roll of {format_roll(roll)}; expected {dice} from 1 to 6")
    return settle(replace(state, dice=tuple(sorted(int(face) for face in roll.faces))))


def parse_roll(state: BlokusState, text: str) -> Roll:
    """Read a roll leniently, in any order; raises UnreadableError, or IllegalTurnError for an impossible roll."""
    faces: list[str] = []
    for word in words(text.replace(",", " ")):
        if any(mark not in ORDINARY_DIE for mark in word.text):
            raise unreadable(text, word.text, word.column, "dice from 1 to 6, such as 1,2,3,4")
        faces += word.text
    if not faces:
        raise UnreadableError(f"cannot read {text!r} as a roll; expected dice from 1 to 6, such as 1,2,3,4", 1)
    roll = Roll(tuple(sorted(faces)))
    rolled(state, roll)
    return roll


def count_from(state: BlokusState, roll: Roll | None, colour: str | None) -> BlokusState:
    """Return the state whose turns are counted for a roll and the colour that the player to move holds.

    Dice that lie on the table are thrown anew. With another colour all markers go round until it is in that hand.
    Raises IllegalTurnError for a roll that can't be or is missing, and for a colour that isn't one.
    """
    if state.seat is None:
        raise IllegalTurnError("the game is over, so there is no turn to count")
    if colour is not None:
        name = colour.strip().lower()
        if name not in COLOURS:
            raise IllegalTurnError(f"got the colour {colour!r}; expected one of {', '.join(COLOURS)}")
        steps = state.markers.index(COLOURS.index(name)) - state.seat
        state = replace(state, markers=(*state.markers[steps:], *state.markers[:steps]))
    if roll is not None:
        return _on_the_table(state, roll, len(state.dice) or len(state.active()))
    if not state.dice:
        dice = counted(len(state.active()), "die", "dice")
        raise IllegalTurnError(f"{state.to_move} is to roll; give {dice} to count with")
    return settle(state)
