"""Blockade behind the engine's one interface."""

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
    PossibleRoll,
    Roll,
    Rule,
    Strength,
    Tally,
    Unfinished,
)
from engine.errors import AmbiguousError, IllegalTurnError
from engine.games.blockade.advice.hints import find_hint
from engine.games.blockade.advice.playouts import play_random_games
from engine.games.blockade.play import state as states
from engine.games.blockade.play.board import COLOURS, OWNED, PLACES, PLAYERS, Stacks
from engine.games.blockade.play.moves import play
from engine.games.blockade.play.options import OPTIONS, options_from
from engine.games.blockade.play.rules import RULES
from engine.games.blockade.play.state import LOOKS, BlockadeState, BlockadeTurn, breach_of_timing
from engine.games.blockade.play.turns import turns_of
from engine.games.blockade.table.explain import explain_change
from engine.games.blockade.table.set_up import amended, set_up_state
from engine.games.blockade.text import states as state_text
from engine.games.blockade.text import turns
from engine.games.blockade.text.display import diagram_of, summary_of, unfinished_positions
from engine.search.budget import Deadline
from engine.support.announcements import common_announcements
from engine.support.dice import ORDINARY_DIE, possible_rolls
from engine.support.traits import OneAtATime, WithoutPoints, WithoutSideFaces

_ROLLS = possible_rolls((ORDINARY_DIE, ORDINARY_DIE))


class Blockade(
    OneAtATime[BlockadeState, BlockadeTurn],
    WithoutPoints[BlockadeState, BlockadeTurn],
    WithoutSideFaces[BlockadeState, BlockadeTurn],
):
    """Blockade's rules; see docs/games/blockade.md for the rulings and the options.

    A turn stands for one end position, however it came about. The state keeps whole stacks; a look is the top of one.
    """

    name: str = "blockade"
    title: str = "Blockade"
    players: tuple[Player, ...] = PLAYERS
    options: tuple[Option, ...] = OPTIONS
    places: tuple[Place, ...] = PLACES
    looks: tuple[LookName, ...] = LOOKS
    rules: Mapping[str, Rule] = RULES
    legal_turns_cost_seconds = True
    """Where colours meet, one high roll can have a million ends: records leave the number of turns out."""

    def new(self, options: Mapping[str, OptionValue] | None = None) -> BlockadeState:
        """Give the starting state, who starts still to be rolled for unless agreed; raises OptionError."""
        return states.new_state(options_from(options))

    def set_up(
        self,
        appearance: Appearance,
        options: Mapping[str, OptionValue] | None = None,
        *,
        anywhere: bool = False,  # noqa: ARG002
    ) -> BlockadeState:
        """Give the start that a table shows. There is only one, so ``anywhere`` makes no difference.

        Raises IllegalTurnError with breaches when the table shows another, UnreadableError for what isn't a look.
        """
        return set_up_state(appearance, options_from(options))

    def legal_turns(self, state: BlockadeState, roll: Roll | None = None) -> Sequence[BlockadeTurn]:
        """List one turn for each end position that the roll allows, the one where nothing moves first.

        It is a lazy sequence: its length and its items cost little. Empty while a roll is awaited.
        """
        if roll is not None:
            state = self.rolled(state, roll)
        return () if state.to_move is None or state.roll is None else turns_of(state)

    def counted_turns(self, state: BlockadeState) -> Sequence[BlockadeTurn]:
        """List the legal turns, which are what perft counts."""
        return self.legal_turns(state)

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
        return self.rolled(state, roll)

    def possible_rolls(self, state: BlockadeState) -> Sequence[PossibleRoll]:
        """List the 36 rolls of two dice, all equally likely, when one is awaited."""
        return _ROLLS if self.awaits_roll(state) else ()

    def awaits_roll(self, state: BlockadeState) -> bool:
        """Say whether the player to move must roll: for who starts, or for the turn."""
        return state.to_move is not None and state.roll is None

    def dice_names(self, state: BlockadeState) -> tuple[str, ...]:
        """Name the colours of the two dice of the player who must roll, the one of red or green first."""
        if state.to_move is None or not self.awaits_roll(state):
            return ()
        return tuple(COLOURS[colour] for colour in OWNED[state.to_move])

    def rolled(self, state: BlockadeState, roll: Roll) -> BlockadeState:
        """Give the state after a roll, the die of red or green first; raises IllegalTurnError."""
        dice = state_text.dice_of(roll)
        if not self.awaits_roll(state):
            why = "the game is over" if state.to_move is None else "a roll lies on the table already"
            raise IllegalTurnError(f"got a roll of {self.format_roll(roll)}, but {why}")
        return states.rolled_state(state, dice)

    def roll_of(self, state: BlockadeState) -> Roll | None:
        """Give the roll that is still to be used."""
        return None if state.roll is None else Roll(tuple(str(die) for die in state.roll))

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

    def playouts(self, state: BlockadeState, count: int, rng: Random, *, most_plies: int = 10_000) -> Tally:
        """Play games at random; ``engine.games.blockade.advice.playouts`` says how a turn is drawn: unevenly."""
        return play_random_games(state, count, rng, most_plies)

    def hint(
        self,
        state: BlockadeState,
        deadline_s: float,
        rng: Random,
        *,
        clock: Clock,
        strength: Strength = Strength.STRONG,
        better: Callable[[Hint[BlockadeTurn]], None] | None = None,
    ) -> Hint[BlockadeTurn]:
        """Find a good turn within the time; raises IllegalTurnError when there is none to play."""
        return find_hint(state, Deadline.after(deadline_s, clock), rng, strength, better)

    def certainty(self, state: BlockadeState, turn: BlockadeTurn) -> Certainty:
        """Say whether the turn is legal: certain or impossible, since nothing is hidden."""
        return Certainty.IMPOSSIBLE if self._followed(state, turn)[1] else Certainty.CERTAIN

    def apply(self, state: BlockadeState, turn: BlockadeTurn) -> BlockadeState:
        """Give the state after the turn; raises IllegalTurnError with breaches."""
        stacks, breaches = self._followed(state, turn)
        if breaches:
            raise IllegalTurnError(f"{self.format_turn(turn)} is not legal here: {breaches[0].sentence}", breaches)
        return states.state_after(state, stacks)

    def _followed(self, state: BlockadeState, turn: BlockadeTurn) -> tuple[Stacks, tuple[Breach, ...]]:
        wrong = breach_of_timing(state, turn.player)
        if wrong is not None:
            return state.stacks, (wrong,)
        played = play(state, turn.player, state.roll, turns.paths_of(turn))
        return played.stacks, played.breaches

    def combine(self, turns: Sequence[BlockadeTurn]) -> BlockadeTurn:
        """Give the one turn there is; raises AmbiguousError for several, whose stacks differ though they look alike."""
        if not turns:
            raise AmbiguousError("no turns were given to combine; expected at least one")
        if any(turn != turns[0] for turn in turns):
            listed = ", ".join(self.format_turn(turn) for turn in dict.fromkeys(turns))
            raise AmbiguousError(f"{listed} don't leave the same stacks; ask which was played")
        return turns[0]

    def unfinished(self, state: BlockadeState) -> Sequence[Unfinished]:
        """List the positions with one piece lifted, with one waiting where it can't rest, or a tower not capped yet."""
        return unfinished_positions(state)

    def outcome(self, state: BlockadeState) -> Outcome | None:
        """Say how the game ended, or ``None`` while it goes on."""
        return states.outcome_of(state)

    def appearance(self, state: BlockadeState) -> Appearance:
        """Map every square to the look of its top piece, a1 first."""
        return states.appearance_of(state.stacks)

    def amend(
        self, state: BlockadeState, looks: Mapping[Place, LookName], to_move: Player | None = None
    ) -> BlockadeState:
        """Give the state as a person puts it right; raises UnreadableError for what can't be a position."""
        return amended(state, looks, to_move)

    def explain(
        self, before: BlockadeState, after: Appearance, facings: Mapping[Place, Facing] | None = None
    ) -> tuple[Breach, ...]:
        """Say which rules the change breaks, the nearest first; empty when no change or a legal turn explains it.

        Places that ``after`` leaves out count as unchanged. Raises UnreadableError for a place or look that isn't one,
        ContradictionError for side faces.
        """
        self.narrow(before, facings or {})
        return explain_change(before, after)

    def format_state(self, state: BlockadeState) -> str:
        """Write a state in its strict text form."""
        return state_text.format_state(state)

    def parse_state(self, text: str) -> BlockadeState:
        """Read a state's text leniently; raises UnreadableError."""
        return state_text.parse_state(text)

    def format_turn(self, turn: BlockadeTurn) -> str:
        """Write a turn in its strict text form."""
        return turns.format_turn(turn)

    def parse_turn(self, state: BlockadeState, text: str, player: Player | None = None) -> BlockadeTurn:
        """Read a turn's text leniently, any legal way to its end position; raises UnreadableError, IllegalTurnError."""
        return turns.parse_turn(state, text, player)

    def written_turn(self, state: BlockadeState, text: str, player: Player | None = None) -> BlockadeTurn:
        """Read a turn as it is written, legal or not, without looking for the one of its end position."""
        return turns.turn_as_written(state, text, player)

    def format_roll(self, roll: Roll) -> str:
        """Write a roll, ``4,1``: the die of red or green first."""
        return ",".join(roll.faces)

    def parse_roll(self, state: BlockadeState, text: str) -> Roll:
        """Read a roll leniently; raises UnreadableError, or IllegalTurnError when none is awaited."""
        roll = state_text.parse_roll(text)
        self.rolled(state, roll)
        return roll

    def diagram(self, state: BlockadeState) -> str:
        """Draw the stacks, row 5 on top, each from its large upwards, and whose turn it is."""
        return diagram_of(state)

    def summary(self, options: Mapping[str, OptionValue] | None = None) -> str:
        """Tell the rules in short with these options in force."""
        return summary_of(options_from(options))

    def describe(self, turn: BlockadeTurn) -> str:
        """Say the turn in a short sentence for a person."""
        return turns.describe_turn(turn)
