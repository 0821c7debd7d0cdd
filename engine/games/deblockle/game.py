"""Deblockle behind the engine's one interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

from engine.api import (
    Announcement,
    Appearance,
    Breach,
    Certainty,
    Clock,
    Facing,
    Hint,
    LookName,
    Option,
    OptionValue,
    Outcome,
    Place,
    Player,
    Roll,
    Rule,
    Strength,
    Tally,
    Unfinished,
)
from engine.errors import AmbiguousError, IllegalTurnError
from engine.games.deblockle.advice.hints import find_hint
from engine.games.deblockle.advice.playouts import play_random_games
from engine.games.deblockle.play import announcements, board
from engine.games.deblockle.play import state as states
from engine.games.deblockle.play import turns as playing
from engine.games.deblockle.play.fast_rules import fast_rules_of, known_position
from engine.games.deblockle.play.options import OPTIONS, options_from
from engine.games.deblockle.play.rules import RULES
from engine.games.deblockle.play.state import LOOKS, DeblockleState, DeblockleTurn
from engine.games.deblockle.table import set_up
from engine.games.deblockle.table.explain import explain_change
from engine.games.deblockle.table.set_up import amended
from engine.games.deblockle.table.unfinished import unfinished_positions
from engine.games.deblockle.text import display
from engine.games.deblockle.text import states as state_text
from engine.games.deblockle.text import turns as turn_text
from engine.games.deblockle.text.display import summary_of
from engine.search.budget import Deadline
from engine.support.traits import OneAtATime, WithoutDice, WithoutPoints


class Deblockle(
    OneAtATime[DeblockleState, DeblockleTurn],
    WithoutDice[DeblockleState, DeblockleTurn],
    WithoutPoints[DeblockleState, DeblockleTurn],
):
    """Deblockle's rules; see docs/games/deblockle.md for the rulings and the options.

    ``new()`` stands every block as the net is written: star up, slider north for the printed one. Nets are known there,
    so it is an ordinary game of full knowledge; ``set_up()`` knows the tops it is shown and no more.
    """

    name: str = "deblockle"
    title: str = "Deblockle"
    players: tuple[Player, ...] = board.PLAYERS
    options: tuple[Option, ...] = OPTIONS
    places: tuple[Place, ...] = board.PLACES
    looks: tuple[LookName, ...] = LOOKS
    rules: Mapping[str, Rule] = RULES

    def new(self, options: Mapping[str, OptionValue] | None = None) -> DeblockleState:
        """Give the starting state, every net known; raises OptionError for a bad option."""
        return set_up.new_state(options_from(options))

    def set_up(
        self,
        appearance: Appearance,
        options: Mapping[str, OptionValue] | None = None,
        *,
        anywhere: bool = False,
    ) -> DeblockleState:
        """Give the start that a table shows, nets not known; places that are left out count as empty.

        A star may be up. ``anywhere`` allows any squares but the stars, and one to four blocks a side whatever the
        options say. Raises IllegalTurnError with breaches when it is no legal start.
        """
        return set_up.set_up_state(appearance, options_from(options), anywhere=anywhere)

    def legal_turns(self, state: DeblockleState, roll: Roll | None = None) -> Sequence[DeblockleTurn]:
        """List every turn that is certain or not known yet, by start square, roll, then end.

        While it isn't known whether the player to move is Deblockle'd, the opponent's turns follow as not known yet.
        Raises IllegalTurnError for a roll: Deblockle has no dice.
        """
        if roll is not None:
            raise IllegalTurnError(
                f"got a roll of {', '.join(roll.faces)}, but Deblockle has no dice; leave the roll out"
            )
        return playing.legal_turns(state)

    def counted_turns(self, state: DeblockleState) -> Sequence[DeblockleTurn]:
        """List one turn for each roll and each square it may end on: the legal turns."""
        return self.legal_turns(state)

    def count_results(self, state: DeblockleState) -> int:
        """Give the number of counted turns, without listing them where every face is known."""
        position = known_position(state)
        return len(playing.legal_turns(state)) if position is None else fast_rules_of(state.settings).count(position)

    def announcements(self, state: DeblockleState) -> Sequence[Announcement]:
        """List what may be announced now: resignations, an agreed draw, a claimed repetition where it was agreed."""
        return announcements.announcements(state)

    def announce(self, state: DeblockleState, announcement: Announcement) -> DeblockleState:
        """Give the state after an announcement; raises IllegalTurnError, with breaches where a rule says no."""
        return announcements.announced(state, announcement)

    def playouts(self, state: DeblockleState, count: int, rng: Random, *, most_plies: int = 10_000) -> Tally:
        """Play games at random to their end, each turn drawn evenly among the legal ones.

        Where faces are hidden, each game is played in a world of its own, every world as likely as any other.
        """
        return play_random_games(state, count, rng, most_plies)

    def hint(
        self,
        state: DeblockleState,
        deadline_s: float,
        rng: Random,
        *,
        clock: Clock,
        strength: Strength = Strength.STRONG,
        better: Callable[[Hint[DeblockleTurn]], None] | None = None,
    ) -> Hint[DeblockleTurn]:
        """Find a good turn of ``state.to_move`` in time; raises IllegalTurnError when the game is over.

        Where faces are hidden, the best in most of the worlds that may be; its symbol is then the likeliest one.
        """
        return find_hint(state, Deadline.after(deadline_s, clock), rng, strength, better)

    def certainty(self, state: DeblockleState, turn: DeblockleTurn) -> Certainty:
        """Say whether the turn is legal in every, in no, or in some possibility the state holds."""
        return playing.certainty_of(state, turn)

    def apply(self, state: DeblockleState, turn: DeblockleTurn) -> DeblockleState:
        """Give the state after the turn, narrowed to what made it legal; raises IllegalTurnError with breaches.

        A turn of the player who was not to move says that the other was blocked, and narrows their blocks to that.
        """
        if playing.certainty_of(state, turn) is Certainty.IMPOSSIBLE:
            raise IllegalTurnError(
                f"{turn_text.format_turn(turn)} is not legal here", explain_change(state, states.change_by(turn), {})
            )
        return playing.played(state, turn)

    def combine(self, turns: Sequence[DeblockleTurn]) -> DeblockleTurn:
        """Give one turn that stands for all of ``turns``: same block, same symbol, same end, several rolls.

        Raises AmbiguousError when they leave different appearances, or when there are none.
        """
        if not turns:
            raise AmbiguousError("no turns were given to combine; expected at least one")
        first = turns[0]
        if any((t.player, t.start, t.top, t.end) != (first.player, first.start, first.top, first.end) for t in turns):
            listed = ", ".join(turn_text.format_turn(turn) for turn in turns)
            raise AmbiguousError(f"{listed} don't leave the same appearance; ask which was played")
        rolled = {place for turn in turns for place in turn.rolled_to}
        return DeblockleTurn(
            first.player, first.start, tuple(sorted(rolled, key=board.SQUARE_OF.__getitem__)), first.top, first.end
        )

    def unfinished(self, state: DeblockleState) -> Sequence[Unfinished]:
        """List the positions after a roll and before its hop, and those with a block lifted.

        One that looks like the end of a legal turn is left out: once a turn is ended, the turn explains it.
        """
        return unfinished_positions(state)

    def outcome(self, state: DeblockleState) -> Outcome | None:
        """Say how the game ended, or ``None`` while it goes on."""
        return playing.outcome_of(state)

    def appearance(self, state: DeblockleState) -> Appearance:
        """Map every square to its look, a1 first."""
        return states.appearance_of(state)

    def facings(self, state: DeblockleState) -> Mapping[Place, tuple[Facing, ...]]:
        """Map each square with a block to every facing still possible there."""
        return states.facings_of(state)

    def narrow(self, state: DeblockleState, sightings: Mapping[Place, Facing]) -> DeblockleState:
        """Keep only what agrees with the side faces seen; raises ContradictionError or UnreadableError.

        When that shows the player to move to be blocked, the other one is to move.
        """
        blocks = states.narrowed_blocks(state, sightings)
        return playing.settled(replace(state, blocks=blocks), counted=False)

    def amend(
        self, state: DeblockleState, looks: Mapping[Place, LookName], to_move: Player | None = None
    ) -> DeblockleState:
        """Give the state as a person puts it right; raises UnreadableError for what can't be a position."""
        return amended(state, looks, to_move)

    def explain(
        self, before: DeblockleState, after: Appearance, facings: Mapping[Place, Facing] | None = None
    ) -> tuple[Breach, ...]:
        """Say which rules the change breaks, the nearest first; empty when no change or a legal turn explains it.

        Places that ``after`` leaves out count as unchanged. Raises UnreadableError for a place or look that isn't one.
        """
        return explain_change(before, after, facings or {})

    def format_state(self, state: DeblockleState) -> str:
        """Write a state in its strict text form."""
        return state_text.format_state(state)

    def parse_state(self, text: str) -> DeblockleState:
        """Read a state's text leniently; raises UnreadableError."""
        return state_text.parse_state(text)

    def format_turn(self, turn: DeblockleTurn) -> str:
        """Write a turn in its strict text form."""
        return turn_text.format_turn(turn)

    def parse_turn(self, state: DeblockleState, text: str, player: Player | None = None) -> DeblockleTurn:
        """Read a turn's text leniently; raises UnreadableError, IllegalTurnError or AmbiguousError."""
        return turn_text.parse_turn(state, text, player)

    def diagram(self, state: DeblockleState) -> str:
        """Draw the board, list what is known of the blocks' sides, and say who is to move."""
        return display.diagram_of(state)

    def summary(self, options: Mapping[str, OptionValue] | None = None) -> str:
        """Tell the rules in short with these options in force; raises OptionError for a bad option."""
        return summary_of(options_from(options))

    def describe(self, turn: DeblockleTurn) -> str:
        """Say the turn in a short sentence for a person."""
        return turn_text.describe_turn(turn)
