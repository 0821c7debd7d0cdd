"""Carries out turns, rolls and announcements that people enter."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Generic

from common.phrases import Phrase
from engine.api import StateT, TurnT
from engine.errors import EngineError, IllegalTurnError
from engine.values import Player
from hardware.pin_map import ButtonRole
from referee.commands import entries
from referee.commands.values import AgreedDraw, Announce, Announced, Correct, EnterRoll, EnterTurn, Entry, Press
from referee.errors import CorrectionError
from referee.session import feed, recording
from referee.session.advisers import Advisers
from referee.session.standing import Standing
from referee.session.timekeeper import loss_on_time
from referee.session.turn_ends import UnclearTurnError

BUTTON = "button"
"""Who gives the command of a button, for the journal."""


class Entering(Generic[StateT, TurnT]):
    """Plays what people enter by the rules, records it and shows it.

    The pieces may be moved later: an entry counts until the table visibly changes. ``end_turn`` judges the table as
    after a press.
    """

    def __init__(
        self, standing: Standing[StateT, TurnT], advisers: Advisers[StateT, TurnT], end_turn: Callable[[], object]
    ) -> None:
        self._standing = standing
        self._game = standing.game
        self._log = standing.log
        self._announcer = standing.announcer
        self._advisers = advisers
        self._end_turn = end_turn

    def enter(self, command: Entry) -> str:
        """Enter a turn, roll or announcement, and return the reply.

        A typed roll replaces one that the camera read. An announcement also ends the turn on the table; it waits until
        the table is at rest. Raises CorrectionError before the set-up, and EngineError for an entry that is unreadable
        or illegal.
        """
        if isinstance(command, Announced):
            return self._announce(command)
        self.end_turn_before(command)
        return self._play(command)

    def announce_by_button(self, press: Press) -> str:
        """Announce what a button says; before the end of a game, ask whether that was meant.

        Of a draw, the first press asks the question, so the second one means that the players agree.
        """
        touched = self._standing.belief.after_pending_turn(self._standing.context).states
        if question := self._announcer.question_before(touched, press):
            return question
        by = press.by or BUTTON
        is_draw = press.role is ButtonRole.DRAW
        return self.enter(AgreedDraw(by) if is_draw else Announce(press.role.value, by))

    def enter_waiting_words(self) -> bool:
        """Enter what was announced before the table came to rest; returns whether that changed anything."""
        before, waiting, self._standing.waiting_words = self._log.folded.last_event, self._standing.waiting_words, {}
        for announced, request_id in waiting.items():
            with suppress(CorrectionError, EngineError), self._log.recording_request(request_id):
                self.enter(announced)
        return self._log.folded.last_event != before

    def lose_on_time(self, player: Player) -> None:
        """Record a loss on time as a resignation, if the game allows resigning."""
        time_s = self._announcer.time_s
        with suppress(EngineError):
            done = entries.apply_entry(self._game, self._standing.belief.states, loss_on_time(player), time_s)
            outcome = done.outcome and replace(done.outcome, reason=recording.time_is_up(player))
            self._log.record_entry(done.event, done.states, outcome, time_s)
            self._standing.override(done.states, self._announcer.waiting(done.states[0]), done.places)

    def end_turn_before(self, command: Entry | Correct) -> None:
        """Treat the turn on the table as ended if the command, which is to be carried out, ends it.

        Raises CorrectionError as ``TurnOnTable.is_ended_by`` does; the players are asked which turn it is.
        """
        try:
            is_ended = self._standing.turn_on_table.is_ended_by(command)
        except UnclearTurnError:
            self._standing.view.press()
            raise
        if is_ended:
            with self._log.recording_preparation():
                self._end_turn()

    def _announce(self, command: Announced) -> str:
        view = self._standing.view
        try:
            if self._standing.turn_on_table.may_be_ended_by_word(command):
                command = self._with_speaker(command)
                if view.stable is None:
                    return self._wait_for_rest(command)
                self.end_turn_before(command)
            played = self._standing.turn_on_table.with_announcement(command)
            return self._play(command) if played is None else self.enter(played)
        except (CorrectionError, EngineError) as error:
            is_early = view.reading is not None and view.stable is None
            if is_early and isinstance(error, IllegalTurnError) and not self._standing.is_finished:
                return self._wait_for_rest(command)
            self._announcer.alarm(entries.refusal(error) if isinstance(error, EngineError) else str(error))
            raise

    def _with_speaker(self, command: Announced) -> Announced:
        """Name the speaker now: if the waiting turn is put back, another player is to move."""
        touched = self._standing.belief.after_pending_turn(self._standing.context).states
        said = entries.apply_entry(self._game, touched, command)
        if isinstance(command, AgreedDraw):
            return command
        return replace(command, text=str(said.event.data["announcement"]))

    def _wait_for_rest(self, command: Announced) -> str:
        self._standing.waiting_words[command] = self._log.request_id
        return Phrase("Noted. It is decided once the table is at rest.")

    def _play(self, command: Entry) -> str:
        standing, time_s = self._standing, self._announcer.time_s
        self._pass_before(command)
        is_roll = isinstance(command, EnterRoll)
        before = self._log.folded.before_seen_roll(self._game) if is_roll else ()
        states = standing.states
        done = entries.apply_entry(self._game, before or states, command, time_s)
        if before:
            with self._log.recording_preparation():
                self._log.append(recording.take_back_event(command.by, time_s))
        if states and not standing.belief.states:
            self._log.append(recording.set_up_event(self._game, states, None, command.by), states=states)
        self._log.record_entry(done.event, done.states, done.outcome, time_s)
        sentence = self._announcer.say_entry(done.sentence)
        signal = feed.entered_signal(self._game, done.states[0], done.places, done.sentence)
        if states and self._is_only_said(states[0], done):
            standing.override_states(done.states, signal)
        else:
            standing.override(done.states, signal, done.places)
        return sentence if standing.has_camera or done.outcome is None else feed.with_outcome(sentence, done.outcome)

    def _pass_before(self, command: Entry) -> None:
        """Enter the passes that an early roll implies; raises CorrectionError if the program would play instead."""
        passes: Sequence[EnterTurn] = entries.implied_passes(self._game, self._standing.states, command)
        self._advisers.check_passes(passes)
        with self._log.recording_preparation():
            for turn in passes:
                self.enter(turn)

    def _is_only_said(self, before: StateT, done: entries.AppliedEntry) -> bool:
        """Return whether an entry leaves everything on the table as it was: dice and a press that waits still count."""
        movers = (self._game.rules.players_to_move(state) for state in (before, done.states[0]))
        return "announcement" in done.event.data and not done.places and done.outcome is None and len({*movers}) == 1
