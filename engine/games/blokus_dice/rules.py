"""The Blokus Dice Game's rules; see docs/games/blokus-dice.md for the rulings and the options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.api import Announcement, Breach, Certainty, OptionValue
from engine.errors import AmbiguousError, IllegalTurnError
from engine.games.blokus_dice import rolls, violations
from engine.games.blokus_dice import turns as playing
from engine.games.blokus_dice.play.catalogue import RULES
from engine.games.blokus_dice.play.options import PLAYERS, options_from
from engine.games.blokus_dice.state import BlokusState, BlokusTurn, PlayerStatus
from engine.games.blokus_dice.table.set_up import new_state
from engine.games.blokus_dice.table.showing import turns_showing
from engine.games.blokus_dice.text.turns import format_turn
from engine.support.announcements import RESIGN, format_announcement
from engine.support.breaches import not_legal
from engine.support.rules import OneAtATime


class BlokusDiceRules(OneAtATime[BlokusState, BlokusTurn]):
    """Which turns and announcements are legal and what comes of them."""

    catalogue = RULES
    turns_showing = staticmethod(turns_showing)
    outcome = staticmethod(playing.outcome_of)
    count_from = staticmethod(rolls.counted_from)

    def new(self, options: Mapping[str, OptionValue] | None = None) -> BlokusState:
        """Give the start, a roll awaited; raises OptionError for a bad option."""
        return new_state(options_from(options))

    def legal_turns(self, state: BlokusState) -> Sequence[BlokusTurn]:
        """List every turn, by die, without strikes first, by shape, then by squares; made one by one when asked for."""
        return playing.turns_of(state, playing.choices(state))

    def perft_turns(self, state: BlokusState) -> Sequence[BlokusTurn]:
        """List the turns that leave the different sheets the player to move can reach with any die, without strikes."""
        return playing.turns_of(state, playing.choices(state, strikes=False))

    def count_results(self, state: BlokusState) -> int:
        """Give the number of perft turns."""
        return sum(len(choice.laid) for choice in playing.choices(state, strikes=False))

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
        return playing.settled(state.with_sheet(seat, state.sheets[seat].with_status(PlayerStatus.RESIGNED)))

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
                f"{format_turn(turn)} by {turn.player} is no turn of this game; expected one of "
                f"{', '.join(state.settings.names)} and squares from {names[0]} to {names[-1]}"
            )
        breaches = violations.breaches_of_turn(state, turn)
        if breaches:
            raise not_legal(format_turn(turn), breaches)
        return playing.played(state, turn)

    def combine(self, turns: Sequence[BlokusTurn]) -> BlokusTurn:
        """Give the turn when all are the same one; raises AmbiguousError otherwise, for dice and strikes matter."""
        if not turns:
            raise AmbiguousError("no turns were given to combine; expected at least one")
        if len(set(turns)) > 1:
            listed = ", ".join(format_turn(turn) for turn in turns)
            raise AmbiguousError(f"{listed} leave different dice or strikes; ask which was played")
        return turns[0]
