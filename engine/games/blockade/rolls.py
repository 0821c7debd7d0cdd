"""Two dice, the one of red or green first."""

from __future__ import annotations

from collections.abc import Sequence

from common.phrases import capitalized
from engine.errors import IllegalTurnError
from engine.games.blockade.board import COLOURS, OWNED
from engine.games.blockade.state import BlockadeState, rolled_state
from engine.games.blockade.state_text import read_dice
from engine.support.chance import ORDINARY_DIE, every_roll, format_roll
from engine.values import PossibleRoll, Roll

_ROLLS = every_roll((ORDINARY_DIE, ORDINARY_DIE))


def awaits_roll(state: BlockadeState) -> bool:
    """Return whether the player to move must roll: for who starts, or for the turn."""
    return state.to_move is not None and state.roll is None


def possible_rolls(state: BlockadeState) -> Sequence[PossibleRoll]:
    """List the 36 rolls of two dice, all equally likely, when one is awaited."""
    return _ROLLS if awaits_roll(state) else ()


def dice_names(state: BlockadeState) -> tuple[str, ...]:
    """Return the colours of the two dice of the player to move, the one of red or green first."""
    return () if state.to_move is None else tuple(COLOURS[colour] for colour in OWNED[state.to_move])


def rolled(state: BlockadeState, roll: Roll) -> BlockadeState:
    """Return the state after a roll; raises IllegalTurnError."""
    if len(roll.faces) != 2 or any(face not in ORDINARY_DIE for face in roll.faces):
        faces = ",".join(roll.faces)
        raise IllegalTurnError(f"a roll of {faces} is impossible; expected two dice from 1 to 6, such as 4,1")
    if not awaits_roll(state):
        why = "the game is over" if state.to_move is None else "a roll lies on the table already"
        raise IllegalTurnError(f"got a roll of {format_roll(roll)}, but {why}")
    return rolled_state(state, (int(roll.faces[0]), int(roll.faces[1])))


def told(before: BlockadeState, roll: Roll) -> str:
    """Say who won the roll for who starts; empty for any other roll."""
    if not before.opening:
        return ""
    starts = rolled_state(before, (int(roll.faces[0]), int(roll.faces[1]))).to_move
    warm, cool = sum(before.opening), sum(map(int, roll.faces))
    if warm == cool:
        return f"Both rolled {warm}, so both roll again."
    return f"{capitalized(str(starts))} starts, with {max(warm, cool)} against {min(warm, cool)}."


def roll_of(state: BlockadeState) -> Roll | None:
    """Return the roll that is still to be used."""
    return None if state.roll is None else Roll(tuple(str(die) for die in state.roll))


def parse_roll(state: BlockadeState, text: str) -> Roll:
    """Read a roll leniently; raises UnreadableError, or IllegalTurnError when none is awaited."""
    roll = Roll(tuple(str(die) for die in read_dice(text, text, 1)))
    rolled(state, roll)
    return roll
