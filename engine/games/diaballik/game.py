"""Diaballik behind the engine's one interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from engine.games.diaballik.advice.hints import find_hint
from engine.games.diaballik.advice.playouts import play_random_games
from engine.games.diaballik.play import announcements, board
from engine.games.diaballik.play import state as states
from engine.games.diaballik.play import turns as playing
from engine.games.diaballik.play.options import OPTIONS, options_from
from engine.games.diaballik.play.rules import RULES
from engine.games.diaballik.play.state import LOOKS, DiaballikState, DiaballikTurn
from engine.games.diaballik.play.turns import LegalTurns, packed_results
from engine.games.diaballik.play.violations import breaches_of_actions
from engine.games.diaballik.table import set_up
from engine.games.diaballik.table.explain import explain_change
from engine.games.diaballik.table.set_up import amended
from engine.games.diaballik.table.unfinished import unfinished_positions
from engine.games.diaballik.text import display
from engine.games.diaballik.text import states as state_text
from engine.games.diaballik.text import turns as turn_text
from engine.support.traits import OneAtATime, WithoutDice, WithoutPoints, WithoutSideFaces


class Diaballik(
    OneAtATime[DiaballikState, DiaballikTurn],
    WithoutDice[DiaballikState, DiaballikTurn],
    WithoutPoints[DiaballikState, DiaballikTurn],
    WithoutSideFaces[DiaballikState, DiaballikTurn],
):
    """Diaballik's rules; see docs/games/diaballik.md for the rulings and the options."""

    name: str = "diaballik"
    title: str = "Diaballik"
    players: tuple[Player, ...] = board.PLAYERS
    options: tuple[Option, ...] = OPTIONS
    places: tuple[Place, ...] = board.PLACES
    looks: tuple[LookName, ...] = LOOKS
    rules: Mapping[str, Rule] = RULES

    def new(self, options: Mapping[str, OptionValue] | None = None) -> DiaballikState:
        """Give the starting state; raises OptionError for a bad option."""
        return set_up.new_state(options_from(options))

    def set_up(
        self,
        appearance: Appearance,
        options: Mapping[str, OptionValue] | None = None,
        *,
        anywhere: bool = False,
    ) -> DiaballikState:
        """Give the start that a table shows; places that are left out count as empty.

        ``anywhere`` allows any squares, but no ball on the row where it wins. Raises IllegalTurnError with breaches
        when it is no legal start.
        """
        return set_up.set_up_state(appearance, options_from(options), anywhere=anywhere)

    def legal_turns(self, state: DiaballikState, roll: Roll | None = None) -> Sequence[DiaballikTurn]:
        """List one turn for each distinct result, then those after which anti-play is announced; lazily.

        Sorted by where the ball ends, then by the pieces' squares. Raises IllegalTurnError for a roll.
        """
        if roll is not None:
            raise IllegalTurnError(
                f"got a roll of {self.format_roll(roll)}, but {self.title} has no dice; leave it out"
            )
        return LegalTurns(state, claims=True)

    def counted_turns(self, state: DiaballikState) -> Sequence[DiaballikTurn]:
        """List one turn for each distinct result, the null turn included where it is allowed; nothing announced."""
        return LegalTurns(state, claims=False)

    def count_results(self, state: DiaballikState) -> int:
        """Give the number of counted turns."""
        return 0 if state.to_move is None else len(packed_results(playing.begun(state, state.to_move)))

    def announcements(self, state: DiaballikState) -> Sequence[Announcement]:
        """List what may be announced now: anti-play, a repetition, an agreed draw, resignations."""
        return announcements.announcements(state, playing.claimants(state))

    def announce(self, state: DiaballikState, announcement: Announcement) -> DiaballikState:
        """Give the state after an announcement; raises IllegalTurnError, with breaches where a rule says no."""
        return announcements.announced(state, announcement, playing.claimants(state))

    def playouts(self, state: DiaballikState, count: int, rng: Random, *, most_plies: int = 10_000) -> Tally:
        """Play ``count`` games to their end from ``state``, each turn drawn evenly among the legal ones."""
        return play_random_games(state, count, rng, most_plies)

    def hint(
        self,
        state: DiaballikState,
        deadline_s: float,
        rng: Random,
        *,
        clock: Clock,
        strength: Strength = Strength.STRONG,
        better: Callable[[Hint[DiaballikTurn]], None] | None = None,
    ) -> Hint[DiaballikTurn]:
        """Find a good turn within ``deadline_s`` seconds by ``clock``; raises IllegalTurnError when the game is over.

        A win at once, anti-play to be called and the only turn are given without further thought.
        """
        return find_hint(state, deadline_s, rng, clock=clock, strength=strength, better=better)

    def certainty(self, state: DiaballikState, turn: DiaballikTurn) -> Certainty:
        """Say whether the turn is legal: nothing is hidden, so it is certain or impossible."""
        return Certainty.IMPOSSIBLE if breaches_of_actions(state, turn) else Certainty.CERTAIN

    def apply(self, state: DiaballikState, turn: DiaballikTurn) -> DiaballikState:
        """Give the state after the turn, its actions in any legal order; raises IllegalTurnError with breaches."""
        breaches = breaches_of_actions(state, turn)
        if breaches:
            reason = " ".join(breach.sentence for breach in breaches)
            raise IllegalTurnError(f"{self.format_turn(turn)} is not legal here: {reason}", breaches)
        return playing.followed(state, turn.player, turn_text.result_of(state, turn), claims=turn.claims)

    def combine(self, turns: Sequence[DiaballikTurn]) -> DiaballikTurn:
        """Give the one turn that was played: announcing is heard, not seen, so one without a claim comes first.

        Raises AmbiguousError when different turns are left, or when there are none.
        """
        left = list(dict.fromkeys(turns))
        quiet = [turn for turn in left if not turn.claims]
        if len(quiet) == 1 and all(turn.actions == quiet[0].actions for turn in left):
            return quiet[0]
        if len(left) == 1:
            return left[0]
        listed = ", ".join(self.format_turn(turn) for turn in left) or "no turn"
        raise AmbiguousError(f"{listed}: expected turns that leave the same appearance; ask which was played")

    def unfinished(self, state: DiaballikState) -> Sequence[Unfinished]:
        """List the positions with a piece lifted or the ball in hand, before a turn's first action and after it."""
        return unfinished_positions(state)

    def outcome(self, state: DiaballikState) -> Outcome | None:
        """Say how the game ended, or ``None`` while it goes on."""
        return playing.outcome_of(state)

    def appearance(self, state: DiaballikState) -> Appearance:
        """Map every square to its look, a1 first."""
        return states.appearance_of(state)

    def amend(
        self, state: DiaballikState, looks: Mapping[Place, LookName], to_move: Player | None = None
    ) -> DiaballikState:
        """Give the state as a person puts it right; raises UnreadableError for what can't be a position."""
        return amended(state, looks, to_move)

    def explain(
        self,
        before: DiaballikState,
        after: Appearance,
        facings: Mapping[Place, Facing] | None = None,  # noqa: ARG002
    ) -> tuple[Breach, ...]:
        """Say which rules the change breaks, the nearest first; empty when no change or a legal turn explains it.

        Places that ``after`` leaves out count as unchanged. Raises UnreadableError for a place or look that isn't one.
        """
        return explain_change(before, after)

    def format_state(self, state: DiaballikState) -> str:
        """Write a state in its strict text form."""
        return state_text.format_state(state)

    def parse_state(self, text: str) -> DiaballikState:
        """Read a state's text leniently, a drawing too; raises UnreadableError."""
        return state_text.parse_state(text)

    def format_turn(self, turn: DiaballikTurn) -> str:
        """Write a turn in its strict text form."""
        return turn_text.format_turn(turn)

    def parse_turn(self, state: DiaballikState, text: str, player: Player | None = None) -> DiaballikTurn:
        """Read a turn's text leniently, its actions in any legal order; gives the canonical turn of that result.

        Raises UnreadableError or IllegalTurnError.
        """
        return turn_text.parse_turn(state, text, player)

    def diagram(self, state: DiaballikState) -> str:
        """Draw the board for a person at a terminal."""
        return display.diagram_of(state)

    def summary(self, options: Mapping[str, OptionValue] | None = None) -> str:
        """Tell the rules in short with these options in force; raises OptionError for a bad one."""
        return display.summary_of(options_from(options))

    def describe(self, turn: DiaballikTurn) -> str:
        """Say the turn in a short sentence."""
        return turn_text.describe_turn(turn)
