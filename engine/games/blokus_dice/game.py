"""The Blokus Dice Game behind the engine's one interface."""

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
    PossibleRoll,
    Roll,
    Rule,
    Strength,
    Tally,
    Unfinished,
)
from engine.errors import AmbiguousError, IllegalTurnError
from engine.games.blokus_dice.advice import hints
from engine.games.blokus_dice.advice import playouts as random_games
from engine.games.blokus_dice.play import rolls, violations
from engine.games.blokus_dice.play import state as states
from engine.games.blokus_dice.play import turns as playing
from engine.games.blokus_dice.play.options import OPTIONS, PLAYERS, options_from
from engine.games.blokus_dice.play.rules import RULES
from engine.games.blokus_dice.play.sheet import format_sheet, house_file, read_sheet_file
from engine.games.blokus_dice.play.state import LOOKS, BlokusState, BlokusTurn
from engine.games.blokus_dice.table import set_up
from engine.games.blokus_dice.table.explain import explain_change
from engine.games.blokus_dice.table.unfinished import unfinished_positions
from engine.games.blokus_dice.text import display
from engine.games.blokus_dice.text import states as state_text
from engine.games.blokus_dice.text import turns as turn_text
from engine.support.announcements import RESIGN, format_announcement
from engine.support.traits import OneAtATime, WithoutSideFaces


class BlokusDice(OneAtATime[BlokusState, BlokusTurn], WithoutSideFaces[BlokusState, BlokusTurn]):
    """The game's rules; see docs/games/blokus-dice.md for the rulings and the options.

    ``places`` are those of four sheets like the one that ships; a state's appearance has those of its own sheets.
    """

    name: str = "blokus-dice"
    title: str = "Blokus Dice Game"
    players: tuple[Player, ...] = PLAYERS
    options: tuple[Option, ...] = OPTIONS
    looks: tuple[LookName, ...] = LOOKS
    rules: Mapping[str, Rule] = RULES
    sheet_option: str = "sheet"

    def __init__(self) -> None:
        self.places: tuple[Place, ...] = tuple(states.appearance_of(self.new()))

    def new(self, options: Mapping[str, OptionValue] | None = None) -> BlokusState:
        """Give the start, a roll awaited; raises OptionError for a bad option."""
        return set_up.new_state(options_from(options))

    def set_up(
        self,
        appearance: Appearance,
        options: Mapping[str, OptionValue] | None = None,
        *,
        anywhere: bool = False,  # noqa: ARG002 - the sheets are empty at every start
    ) -> BlokusState:
        """Give the start that a table shows; places that are left out count as empty.

        Raises IllegalTurnError with breaches when something is drawn already.
        """
        return set_up.set_up_state(appearance, options_from(options))

    def legal_turns(self, state: BlokusState, roll: Roll | None = None) -> Sequence[BlokusTurn]:
        """List every turn, by die, without strikes first, by shape, then by squares; made one by one when asked for.

        Raises IllegalTurnError for a roll that can't be.
        """
        ready = state if roll is None else rolls.rolled(state, roll)
        return playing.turns_of(ready, playing.choices(ready))

    def counted_turns(self, state: BlokusState) -> Sequence[BlokusTurn]:
        """List the turns that leave the different sheets the player to move can reach with any die, without strikes."""
        return playing.turns_of(state, playing.choices(state, strikes=False))

    def count_from(self, state: BlokusState, roll: Roll | None, colour: str | None) -> BlokusState:
        """Give the state whose turns are counted for a roll, and for a colour in the hand of the player to move."""
        return rolls.counted_from(state, roll, colour)

    def count_results(self, state: BlokusState) -> int:
        """Give the number of counted turns."""
        return sum(len(choice.laid) for choice in playing.choices(state, strikes=False))

    def possible_rolls(self, state: BlokusState) -> Sequence[PossibleRoll]:
        """List every roll that may come up now, one die for each player still in the game."""
        return rolls.possible_rolls_of(state)

    def awaits_roll(self, state: BlokusState) -> bool:
        """Say whether the game waits for dice to be rolled."""
        return rolls.awaits_roll(state)

    def rolled(self, state: BlokusState, roll: Roll) -> BlokusState:
        """Give the state after an observed roll, players who can place nothing passed over; raises IllegalTurnError."""
        return rolls.rolled(state, roll)

    def roll_of(self, state: BlokusState) -> Roll | None:
        """Give the dice that are still on the table."""
        return Roll(tuple(map(str, state.dice))) if state.dice else None

    def announcements(self, state: BlokusState) -> Sequence[Announcement]:
        """List who may resign: everyone still in the game."""
        if state.seat is None:
            return ()
        return tuple(Announcement(RESIGN, PLAYERS[seat]) for seat in sorted(state.active()))

    def announce(self, state: BlokusState, announcement: Announcement) -> BlokusState:
        """Give the state after someone has resigned; raises IllegalTurnError, with breaches where a rule says no."""
        said, player = format_announcement(announcement), announcement.player
        if announcement.kind != RESIGN or player not in state.settings.names:
            raise IllegalTurnError(f"got {said}; expected {RESIGN} by one of {', '.join(state.settings.names)}")
        if announcement not in self.announcements(state):
            rule = "game-over" if state.seat is None else "not-in-the-game"
            breach = Breach(rule, f"{player} is no longer in the game, and can't resign from it.", "Leave it.")
            raise IllegalTurnError(f"{said} can't be said here: {breach.sentence}", (breach,))
        seat = PLAYERS.index(player)
        return playing.settled(state.with_sheet(seat, state.sheets[seat].standing_as(states.RESIGNED)))

    def scores(self, state: BlokusState) -> Mapping[Player, int]:
        """Give how many squares everyone has filled."""
        return playing.scores_of(state)

    def playouts(self, state: BlokusState, count: int, rng: Random, *, most_plies: int = 10_000) -> Tally:
        """Play games at random to their end, each turn and roll drawn evenly among the legal ones."""
        return random_games.play_random_games(state, count, rng, most_plies)

    def hint(
        self,
        state: BlokusState,
        deadline_s: float,
        rng: Random,
        *,
        clock: Clock,
        strength: Strength = Strength.STRONG,
        better: Callable[[Hint[BlokusTurn]], None] | None = None,
    ) -> Hint[BlokusTurn]:
        """Find a good turn; ``expected`` counts the squares that the player fills by the end of the game.

        Raises IllegalTurnError when there is no turn to play: the game is over, or dice must be rolled first.
        """
        return hints.find_hint(state, deadline_s, rng, clock, strength, better)

    def certainty(self, state: BlokusState, turn: BlokusTurn) -> Certainty:
        """Say whether the turn is legal; nothing is hidden here."""
        legal = self._is_of(state, turn) and not violations.breaches_of_turn(state, turn)
        return Certainty.CERTAIN if legal else Certainty.IMPOSSIBLE

    def _is_of(self, state: BlokusState, turn: BlokusTurn) -> bool:
        """Whether the turn's player and squares are there in this game."""
        return turn.player in state.settings.names and set(turn.squares) <= set(state.settings.sheet.grid.index)

    def apply(self, state: BlokusState, turn: BlokusTurn) -> BlokusState:
        """Give the state after the turn, players who can place nothing passed over.

        Raises IllegalTurnError with breaches.
        """
        if not self._is_of(state, turn):
            names = state.settings.sheet.grid.names
            raise IllegalTurnError(
                f"{turn_text.format_turn(turn)} by {turn.player} is no turn of this game; expected one of "
                f"{', '.join(state.settings.names)} and squares from {names[0]} to {names[-1]}"
            )
        breaches = violations.breaches_of_turn(state, turn)
        if breaches:
            why = " ".join(each.sentence for each in breaches)
            raise IllegalTurnError(f"{turn_text.format_turn(turn)} is not legal here: {why}", breaches)
        return playing.played(state, turn)

    def combine(self, turns: Sequence[BlokusTurn]) -> BlokusTurn:
        """Give the turn when all are the same one; raises AmbiguousError otherwise, for dice and strikes matter."""
        if not turns:
            raise AmbiguousError("no turns were given to combine; expected at least one")
        if len(set(turns)) > 1:
            listed = ", ".join(turn_text.format_turn(turn) for turn in turns)
            raise AmbiguousError(f"{listed} leave different dice or strikes; ask which was played")
        return turns[0]

    def unfinished(self, state: BlokusState) -> Sequence[Unfinished]:
        """List the positions with the first square of a shape filled, where that alone is no turn."""
        return unfinished_positions(state)

    def outcome(self, state: BlokusState) -> Outcome | None:
        """Say who won and by what, or ``None`` while the game goes on."""
        return playing.outcome_of(state)

    def appearance(self, state: BlokusState) -> Appearance:
        """Map every open square of every sheet to its look, p1's a1 first."""
        return states.appearance_of(state)

    def amend(self, state: BlokusState, looks: Mapping[Place, LookName], to_move: Player | None = None) -> BlokusState:
        """Give the state as a person puts it right; raises UnreadableError for what can't be a position."""
        return set_up.amended(state, looks, to_move)

    def explain(
        self,
        before: BlokusState,
        after: Appearance,
        facings: Mapping[Place, Facing] | None = None,  # noqa: ARG002 - shapes have no sides
    ) -> tuple[Breach, ...]:
        """Say which rules the change breaks, the nearest first; empty when no change or a legal turn explains it.

        Places that ``after`` leaves out count as unchanged. Raises UnreadableError for a place or look that isn't one.
        """
        return explain_change(before, after)

    def format_state(self, state: BlokusState) -> str:
        """Write a state in its strict text form."""
        return state_text.format_state(state)

    def parse_state(self, text: str) -> BlokusState:
        """Read a state's text leniently; raises UnreadableError."""
        return state_text.parse_state(text)

    def format_turn(self, turn: BlokusTurn) -> str:
        """Write a turn in its strict text form."""
        return turn_text.format_turn(turn)

    def parse_turn(self, state: BlokusState, text: str, player: Player | None = None) -> BlokusTurn:
        """Read a turn's text leniently; raises UnreadableError, IllegalTurnError or AmbiguousError."""
        return turn_text.parse_turn(state, text, player)

    def format_roll(self, roll: Roll) -> str:
        """Write a roll in its strict text form, such as ``1,2,3,4``."""
        return rolls.format_roll(roll)

    def parse_roll(self, state: BlokusState, text: str) -> Roll:
        """Read a roll's text leniently; raises UnreadableError, or IllegalTurnError for one that can't be here."""
        return rolls.parse_roll(state, text)

    def diagram(self, state: BlokusState) -> str:
        """Draw every sheet, what is left on it, the dice and the markers."""
        return display.diagram_of(state)

    def summary(self, options: Mapping[str, OptionValue] | None = None) -> str:
        """Tell the rules in short with these options in force."""
        return display.summary_of(options_from(options))

    def describe(self, turn: BlokusTurn) -> str:
        """Say the turn in a short sentence for a person."""
        return turn_text.describe_turn(turn)

    def sheet_file(self) -> str:
        """Give the text of the sheet file that ships."""
        return house_file()

    def read_sheet_file(self, text: str) -> Mapping[str, OptionValue]:
        """Read a sheet file and give the option it comes to; raises UnreadableError, a line for every fault."""
        return {self.sheet_option: format_sheet(read_sheet_file(text)[1])}

    def draw_sheet(self, text: str) -> str:
        """Draw the sheet of a sheet file as it is printed; raises UnreadableError, a line for every fault."""
        title, sheet = read_sheet_file(text)
        return "\n".join([*([title, ""] if title else []), display.sheet_drawn(sheet)])
