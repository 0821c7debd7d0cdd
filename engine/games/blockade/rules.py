"""Blockade's rules; see docs/games/blockade.md for the rulings and the options.

A turn stands for one end position, however it came about. The state keeps whole stacks; a look is the top of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.api import Announcement, Breach, Certainty, OptionValue, PossibleRoll, Roll
from engine.errors import AmbiguousError, IllegalTurnError
from engine.games.blockade import state as states
from engine.games.blockade.board import COLOURS, OWNED, PLAYERS, Stacks
from engine.games.blockade.moves import play
from engine.games.blockade.notation import format_turn, paths_of
from engine.games.blockade.play.catalogue import RULES
from engine.games.blockade.play.options import options_from
from engine.games.blockade.showing import turns_showing
from engine.games.blockade.state import BlockadeState, BlockadeTurn, breach_of_timing
from engine.games.blockade.state_text import dice_of, parse_roll
from engine.games.blockade.turns import turns_of
from engine.support.announcements import common_announcements
from engine.support.dice import ORDINARY_DIE, every_roll, format_roll
from engine.support.rules import OneAtATime

_ROLLS = every_roll((ORDINARY_DIE, ORDINARY_DIE))


class BlockadeDice:
    """Two dice, the one of red or green first."""

    def awaits_roll(self, state: BlockadeState) -> bool:
        """Say whether the player to move must roll: for who starts, or for the turn."""
        return state.to_move is not None and state.roll is None

    def possible_rolls(self, state: BlockadeState) -> Sequence[PossibleRoll]:
        """List the 36 rolls of two dice, all equally likely, when one is awaited."""
        return _ROLLS if self.awaits_roll(state) else ()

    def dice_names(self, state: BlockadeState) -> tuple[str, ...]:
        """Name the colours of the two dice of the player who must roll, the one of red or green first."""
        if state.to_move is None or not self.awaits_roll(state):
            return ()
        return tuple(COLOURS[colour] for colour in OWNED[state.to_move])

    def rolled(self, state: BlockadeState, roll: Roll) -> BlockadeState:
        """Give the state after a roll; raises IllegalTurnError."""
        dice = dice_of(roll)
        if not self.awaits_roll(state):
            why = "the game is over" if state.to_move is None else "a roll lies on the table already"
            raise IllegalTurnError(f"got a roll of {format_roll(roll)}, but {why}")
        return states.rolled_state(state, dice)

    def roll_of(self, state: BlockadeState) -> Roll | None:
        """Give the roll that is still to be used."""
        return None if state.roll is None else Roll(tuple(str(die) for die in state.roll))

    def parse_roll(self, state: BlockadeState, text: str) -> Roll:
        """Read a roll leniently; raises UnreadableError, or IllegalTurnError when none is awaited."""
        roll = parse_roll(text)
        self.rolled(state, roll)
        return roll


DICE = BlockadeDice()


class BlockadeRules(OneAtATime[BlockadeState, BlockadeTurn]):
    """Which turns and announcements are legal and what comes of them."""

    catalogue = RULES
    turns_showing = staticmethod(turns_showing)
    outcome = staticmethod(states.outcome_of)

    def new(self, options: Mapping[str, OptionValue] | None = None) -> BlockadeState:
        """Give the starting state, who starts still to be rolled for unless agreed; raises OptionError."""
        return states.new_state(options_from(options))

    def legal_turns(self, state: BlockadeState) -> Sequence[BlockadeTurn]:
        """List one turn for each end position that the roll allows, the one where nothing moves first.

        It is a lazy sequence: its length and its items cost little. Empty while a roll is awaited.
        """
        return () if state.to_move is None or state.roll is None else turns_of(state)

    def count_from(self, state: BlockadeState, roll: Roll | None, colour: str | None) -> BlockadeState:
        """Give the state whose turns a roll counts; while it is open who starts, warm does.

        Raises IllegalTurnError for a colour, and for a roll that can't be or is missing.
        """
        if colour is not None:
            raise IllegalTurnError(f"got the colour {colour!r}, but in Blockade nobody holds one; leave it out")
        if state.opening is not None:
            state = replace(state, opening=None, to_move=PLAYERS[0])
        if roll is None:
            if state.to_move is not None and state.roll is None:
                raise IllegalTurnError("a turn begins with a roll; give one, such as 4,1")
            return state
        return DICE.rolled(state, roll)

    def announcements(self, state: BlockadeState) -> Sequence[Announcement]:
        """List what may be said: either resigns, or both agree on a draw."""
        return () if state.to_move is None else common_announcements(PLAYERS)

    def announce(self, state: BlockadeState, announcement: Announcement) -> BlockadeState:
        """Give the state after an announcement; raises IllegalTurnError."""
        if announcement not in self.announcements(state):
            over = breach_of_timing(state, PLAYERS[0]) if state.to_move is None else None
            why = over.sentence if over else "Players may resign, or agree on a draw."
            raise IllegalTurnError(f"{announcement} can't be said now: {why}", (over,) if over else ())
        return states.with_end_noticed(replace(state, announced=announcement))

    def certainty(self, state: BlockadeState, turn: BlockadeTurn) -> Certainty:
        """Say whether the turn is legal: certain or impossible, since nothing is hidden."""
        return Certainty.IMPOSSIBLE if self._followed(state, turn)[1] else Certainty.CERTAIN

    def apply(self, state: BlockadeState, turn: BlockadeTurn) -> BlockadeState:
        """Give the state after the turn; raises IllegalTurnError with breaches."""
        stacks, breaches = self._followed(state, turn)
        if breaches:
            raise IllegalTurnError(f"{format_turn(turn)} is not legal here: {breaches[0].sentence}", breaches)
        return states.state_after(state, stacks)

    def _followed(self, state: BlockadeState, turn: BlockadeTurn) -> tuple[Stacks, tuple[Breach, ...]]:
        wrong = breach_of_timing(state, turn.player)
        if wrong is not None:
            return state.stacks, (wrong,)
        played = play(state, turn.player, state.roll, paths_of(turn))
        return played.stacks, played.breaches

    def combine(self, turns: Sequence[BlockadeTurn]) -> BlockadeTurn:
        """Give the one turn there is; raises AmbiguousError for several, whose stacks differ though they look alike."""
        if not turns:
            raise AmbiguousError("no turns were given to combine; expected at least one")
        if any(turn != turns[0] for turn in turns):
            listed = ", ".join(format_turn(turn) for turn in dict.fromkeys(turns))
            raise AmbiguousError(f"{listed} don't leave the same stacks; ask which was played")
        return turns[0]
