"""States and turns as frozen values, the appearance of a state on the table, and transitions between states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from engine.games.blockade.board import (
    BLACK,
    BY_ROLL,
    CLEAR,
    COLOURS,
    LARGE,
    MEDIUM,
    PLACES,
    PLAYERS,
    SMALL,
    WARM,
    BlockadeOptions,
    Stacks,
    name_of,
    other,
    owner_of,
    piece_of,
    starting_stacks,
    supply,
    towers_of,
    winning_colours,
)
from engine.support.breaches import advised
from engine.support.looks import LookTable
from engine.support.players import outcome_of_announcement
from engine.values import Announcement, Breach, LookName, Outcome, Place, Player

Dice = tuple[int, int]

_PIECES = (
    *(piece_of(colour, size) for colour in range(CLEAR) for size in (SMALL, MEDIUM, LARGE)),
    piece_of(CLEAR, LARGE),
    *(piece_of(BLACK, size) for size in (SMALL, MEDIUM, LARGE)),
)

LOOK_TABLE = LookTable({piece: name_of(piece) for piece in _PIECES}, PLACES)

LOOKS: tuple[LookName, ...] = LOOK_TABLE.names
"""All a square can show from above; never empty while every large stands, but a camera may say so."""


class Move(NamedTuple):
    """One piece's uninterrupted steps, from the top of one stack to the square where it rests or waits."""

    piece: int
    start: Place
    end: Place


@dataclass(frozen=True, slots=True)
class BlockadeTurn:
    """One whole turn: its moves in order, or none if nothing moved. The caps of new towers are implied."""

    player: Player
    moves: tuple[Move, ...] = ()

    @property
    def places(self) -> tuple[Place, ...]:
        """The squares on which the moves start and end, in order, without repeats."""
        return tuple(dict.fromkeys(place for move in self.moves for place in (move.start, move.end)))


@dataclass(frozen=True, slots=True)
class BlockadeState:
    """A position.

    ``roll`` is the roll still to be used. ``opening`` holds the rolls so far that decide who starts: empty at first,
    then warm's roll, and ``None`` once the starter is known. ``passes`` counts consecutive turns in which nothing
    moved; it is kept only with the option ``draw_after_passes``. ``to_move`` is ``None`` when the game is over.
    """

    options: BlockadeOptions
    stacks: Stacks
    to_move: Player | None
    roll: Dice | None = None
    opening: tuple[int, ...] | None = None
    passes: int = 0
    announced: Announcement | None = None

    def towers(self, colour: int) -> tuple[int, ...]:
        """Return the squares with towers of this colour."""
        return towers_of(self.stacks, colour, self.options.tower)

    @property
    def supply(self) -> tuple[int, ...]:
        """The sizes of the black pieces beside the board, in the order of their use."""
        return supply(self.stacks)


def new_state(options: BlockadeOptions) -> BlockadeState:
    """Return the set-up; the players roll for who starts unless the options name the starter."""
    if options.starts == BY_ROLL:
        return BlockadeState(options, starting_stacks(), WARM, opening=())
    return BlockadeState(options, starting_stacks(), options.starts)


def rolled_state(state: BlockadeState, dice: Dice) -> BlockadeState:
    """Return the state after a roll, which gives the points of a turn or helps to decide who starts."""
    if state.opening is None:
        return replace(state, roll=dice)
    if not state.opening:
        return replace(state, opening=dice, to_move=other(WARM))
    warm, cool = sum(state.opening), sum(dice)
    if warm == cool:
        return replace(state, opening=(), to_move=WARM)
    return replace(state, opening=None, to_move=WARM if warm > cool else other(WARM))


def outcome_of(state: BlockadeState) -> Outcome | None:
    """Return the outcome, or ``None`` while the game continues."""
    if state.announced is not None:
        return outcome_of_announcement(state.announced, PLAYERS)
    won = winning_colours(state.stacks, state.options.tower)
    if won:
        return Outcome(owner_of(won[0]), f"five {COLOURS[won[0]]} towers stand")
    if 0 < state.options.draw_after_passes <= state.passes:
        return Outcome(
            None,
            "nothing moved for a turn" if state.passes == 1 else f"nothing moved for {state.passes} turns in a row",
        )
    return None


def settle(state: BlockadeState) -> BlockadeState:
    """Return the state with ``to_move`` set to ``None`` if the game has ended."""
    return state if outcome_of(state) is None else replace(state, to_move=None, roll=None, opening=None)


def state_after(state: BlockadeState, stacks: Stacks) -> BlockadeState:
    """Return the state after the player to move ends the turn with these stacks."""
    assert state.to_move is not None
    counting = state.options.draw_after_passes > 0
    passes = state.passes + 1 if counting and stacks == state.stacks else 0
    return settle(replace(state, stacks=stacks, to_move=other(state.to_move), roll=None, passes=passes))


def appearance_of(stacks: Stacks) -> dict[Place, LookName]:
    """Map every square, a1 first, to the look of its top piece."""
    return {place: name_of(stack[-1]) for place, stack in zip(PLACES, stacks, strict=True)}


def breach_of_timing(state: BlockadeState, player: Player) -> Breach | None:
    """Return the reason why the player can't play any turn now, or ``None``."""
    if state.to_move is None:
        outcome = outcome_of(state)
        why = f": {outcome.reason}" if outcome else ""
        return Breach("game-over", f"The game is over{why}.", "Put everything back, or begin a new game.")
    if state.to_move != player:
        return advised("not-your-turn", f"It is {state.to_move}'s turn.", f"Let {state.to_move} play first.")
    if state.roll is None:
        return advised("roll-first", f"{player.capitalize()} hasn't rolled yet.", "Roll both dice first.")
    return None
