"""Carries out commands, both on a running referee and directly on a journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol, assert_never

from engine import registry
from engine.api import Clock, Game
from engine.errors import EngineError
from engine.values import Outcome
from hardware.pin_map import ButtonRole
from referee.commands import draw_offers
from referee.commands import values as commands
from referee.commands.entries import (
    AppliedCorrection,
    AppliedEntry,
    apply_correction,
    apply_entry,
    implied_passes,
    refusal,
    start_states,
)
from referee.commands.named_players import PLAYERS, with_named_players
from referee.errors import CorrectionError, JournalMissingError
from referee.hints.advice import HintSettings
from referee.hints.requests import CORRECT_SQUARES, HintRequests, ImmediateHints
from referee.journal.events import Event
from referee.journal.fold import Folded, fold
from referee.journal.journal import Journal
from referee.judge.verdict import Verdict
from referee.naming import Names
from referee.session import event_records
from referee.session.ports import RestoreSensorAt, no_sensors
from referee.session.signals import with_outcome


class Session(Protocol):
    """Carries out commands: either the running service or an IdleSession.

    Each method records first and then returns the sentence of the reply. Raises CorrectionError or EngineError if the
    command can't be carried out.
    """

    def end_turn(self) -> list[Verdict]:
        """Treat the turn as ended; returns the new verdicts."""

    def correct(self, command: commands.Correct) -> AppliedCorrection:
        """Apply a person's correction, which outranks the camera."""

    def question_before(self, press: commands.Press) -> str:
        """Ask whether a button that ends the game was meant; returns the question, or nothing if the press counts."""

    def take_back(self, command: commands.TakeBack) -> str:
        """Undo the last turn, roll, announcement or draw offer that counts."""

    def enter(self, command: commands.Entry) -> str:
        """Apply a turn, roll or announcement that a person typed."""

    def settle_draw(self, command: commands.OfferDraw | commands.AnswerDraw) -> str:
        """Offer a draw, or answer the open offer."""

    def hint(self, command: commands.AskHint, respond: commands.Respond) -> None:
        """Start working out a hint; ``respond`` gets it when it is found, or the reason there is none."""

    def overrule(self, command: commands.Overrule) -> str:
        """Apply a person's word that places are as believed."""

    def restore_sensor(self, command: commands.RestoreSensor) -> str:
        """Switch a sensor on again."""

    def pause_clock(self, command: commands.PauseClock) -> str:
        """Stop the clock, or let it run again."""

    def begin(self, command: commands.NewGame) -> str:
        """Begin a game, or resume one."""

    def tell(self, text: str) -> str:
        """Put the players' names into a text."""


def execute(
    session: Session, command: commands.Command, answer: commands.Respond = commands.ignore_reply
) -> list[Verdict]:
    """Carry out a command and return the verdicts it caused.

    ``answer`` gets the reply at once; a hint's reply comes when the hint is found, which may be some frames later.
    """

    def respond(reply: commands.Reply | None) -> None:
        answer(reply and replace(reply, words=session.tell(reply.words)))

    try:
        match command:
            case commands.Press():
                return _press(session, command, respond)
            case commands.AskHint():
                session.hint(command, respond)
                return []
            case commands.Correct():
                sentence = session.correct(command).sentence
            case commands.TakeBack():
                sentence = session.take_back(command)
            case commands.Announce() if offer := draw_offers.offer_of(command):
                sentence = session.settle_draw(offer)
            case commands.Entry():
                sentence = session.enter(command)
            case commands.OfferDraw() | commands.AnswerDraw():
                sentence = session.settle_draw(command)
            case commands.Overrule():
                sentence = session.overrule(command)
            case commands.RestoreSensor():
                sentence = session.restore_sensor(command)
            case commands.PauseClock():
                sentence = session.pause_clock(command)
            case commands.NewGame():
                sentence = session.begin(command)
            case _:
                assert_never(command)
    except CorrectionError as error:
        respond(commands.Reply(str(error), refused=True))
    except EngineError as error:
        respond(commands.Reply(refusal(error), refused=True))
    else:
        respond(commands.Reply(sentence))
    return []


def _press(session: Session, press: commands.Press, respond: commands.Respond) -> list[Verdict]:
    match press.role:
        case ButtonRole.TAKE_BACK:
            return execute(session, commands.TakeBack(press.by), respond)
        case ButtonRole.HINT:
            return execute(session, commands.AskHint(press.by), respond)
        case ButtonRole.END_TURN:
            verdicts = session.end_turn()
            sentences = [verdict.sentence for verdict in verdicts]
            respond(commands.Reply(" ".join(sentences) or "The table is judged once it is at rest."))
            return verdicts
        case ButtonRole.DRAW | ButtonRole.RESIGN if question := session.question_before(press):
            respond(commands.Reply(question))
            return []
        case ButtonRole.ANTI_PLAY | ButtonRole.REPETITION | ButtonRole.DRAW | ButtonRole.RESIGN:
            # For a draw, the first press asked the question, so the second one means that the players agree.
            return execute(session, commands.Announce(press.role.value, press.by, is_agreed=True), respond)


def events_of_game(journal: Journal, number: int | None) -> tuple[Game[Any, Any], list[tuple[int, Event]]]:
    """Return the rules and the (number, event) pairs of a game; ``None`` means the last one.

    Raises JournalMissingError if there is no such game, and UnknownGameError if its rules aren't installed.
    """
    chosen = journal.latest_game() if number is None else number
    events = [] if chosen is None else journal.events(chosen)
    if not events:
        numbers = [game.number for game in journal.games()]
        if not numbers:
            raise JournalMissingError(f"{journal.path} has no game yet; `./run games new` begins one")
        raise JournalMissingError(f"there is no game {number} in {journal.path}; the last one is game {numbers[-1]}")
    return registry.load(str(events[0][1].data["game"])), events


def _reply_to(done: AppliedEntry) -> str:
    return done.sentence if done.outcome is None else with_outcome(done.sentence, done.outcome)


class IdleSession:
    """Carries out commands on the latest game of a journal while no referee runs; see ``Session``.

    The journal must be open for writing. A game without a recorded set-up starts from the rules' start position.
    ``hints`` and ``clock`` are used to work out hints; ``restore`` switches a sensor on again. Raises JournalError if
    the journal can't be written, and JournalMissingError if it has no game.
    """

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        hints: HintSettings | None = None,
        restore: RestoreSensorAt = no_sensors,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._hints = hints or HintSettings()
        self._restore = restore

    @cached_property
    def _game(self) -> Game[Any, Any]:
        return events_of_game(self._journal, None)[0]

    @property
    def _events(self) -> list[tuple[int, Event]]:
        return events_of_game(self._journal, None)[1]

    @property
    def _folded(self) -> Folded[Any]:
        return fold(self._game, self._events)

    @property
    def _states(self) -> Sequence[Any]:
        folded = self._folded
        return folded.states or start_states(self._game, folded.options)

    def begin(self, command: commands.NewGame) -> str:
        """Begin a game; raises what ``with_named_players`` raises."""
        game = registry.load(command.game)
        options = with_named_players(game, command.players, command.options, is_fixed=PLAYERS in command.options)
        self._journal.append(event_records.new_game_event(replace(command, options=options)))
        number = self._journal.latest_game()
        to_do = event_records.set_up_request(game)
        return f"Game {number} of {game.title} begins in {self._journal.path}. {to_do}"

    def tell(self, text: str) -> str:
        """Put the players' names into a text."""
        if self._journal.latest_game() is None:
            return text
        return Names.of(self._game, self._events[0][1].names)(text)

    def end_turn(self) -> list[Verdict]:
        """Refuse, since nothing watches the table."""
        raise CorrectionError("no referee is running that could look at the table")

    def question_before(self, press: commands.Press) -> str:
        """Ask nothing, since no second press can follow."""
        del press
        return ""

    def correct(self, command: commands.Correct) -> AppliedCorrection:
        """Record a person's correction."""
        folded = self._folded
        self._check_going(folded)
        done = apply_correction(self._game, folded.states, command, folded.options)
        event = event_records.corrected_event(self._game, done, command, None)
        outcome = self._game.rules.outcome(done.states[0])
        return replace(done, sentence=self._record(event, outcome, done.sentence))

    def take_back(self, command: commands.TakeBack) -> str:
        """Record that the last turn, roll, announcement or draw offer no longer counts."""
        folded = self._folded
        self._check_going(folded)
        if withdrawn := draw_offers.withdrawal(self._events, command.by, None):
            self._journal.append(withdrawn)
            return str(withdrawn.data["sentence"])
        if folded.last_played is None:
            raise CorrectionError("there is no turn to take back")
        sentence = event_records.take_back_sentence(self._game, folded)
        return self._record(event_records.take_back_event(command.by, None), None, sentence)

    def enter(self, command: commands.Entry) -> str:
        """Record a turn, roll or announcement."""
        self._check_going(self._folded)
        for turn in implied_passes(self._game, self._states, command):
            self.enter(turn)
        folded, states = self._folded, self._states
        before = (
            event_records.states_before_seen_roll(self._game, self._events)
            if isinstance(command, commands.EnterRoll)
            else ()
        )
        done = apply_entry(self._game, before or states, command)
        if before:
            self._journal.append(event_records.take_back_event(command.by, None))
        if not folded.started:
            self._journal.append(event_records.set_up_event(self._game, states, None, command.by))
        return self._record(done.event, done.outcome, _reply_to(done))

    def _check_going(self, folded: Folded[Any]) -> None:
        """Raise CorrectionError if somebody stopped the game."""
        if folded.stopped:
            number = self._journal.latest_game()
            raise CorrectionError(f"game {number} was stopped; `./run games resume {number}` goes on with it")

    def _record(self, event: Event, outcome: Outcome | None, sentence: str) -> str:
        """Record an event and, if it ends the game, its outcome; returns the sentence, with a draw offer's end."""
        offer = draw_offers.open_offer_in(self._events)
        self._journal.append(event)
        if outcome is not None:
            self._journal.append(event_records.end_event(outcome, None))
            return sentence
        return draw_offers.with_lapse(sentence, offer, draw_offers.offer_after(offer, event))

    def settle_draw(self, command: commands.OfferDraw | commands.AnswerDraw) -> str:
        """Record that a draw is offered, accepted or refused."""
        self._check_going(self._folded)
        offer = draw_offers.open_offer_in(self._events)
        settled = draw_offers.resolve_draw(self._game, self._states, offer, command, None)
        if isinstance(settled, commands.Announce):
            return self.enter(settled)
        self._journal.append(settled)
        return str(settled.data["sentence"])

    def preview(self, command: commands.Entry) -> str:
        """Say what a turn, roll or announcement would lead to, without recording it."""
        self._check_going(self._folded)
        return self.tell(_reply_to(apply_entry(self._game, self._states, command)))

    def hint(self, command: commands.AskHint, respond: commands.Respond) -> None:
        """Give a hint in words, and record that it was given."""
        events, states = self._events, self._states
        to_do = "" if self._folded.fault is None else CORRECT_SQUARES
        requests = HintRequests(self._game, self._hints, ImmediateHints(self._clock))
        messages = [requests.ask(states, events, command.by, commands.ignore_reply, None, to_do=to_do)]
        messages += requests.poll(states, lambda: events, None, to_do=to_do)
        last = messages[-1]
        if last.event is not None and not last.repeated:
            self._journal.append(last.event)
        respond(commands.Reply(last.words, last.refused))

    def overrule(self, command: commands.Overrule) -> str:
        """Refuse, since nothing watches the table."""
        raise CorrectionError(f"no referee is running that could leave {', '.join(command.places)} out")

    def pause_clock(self, command: commands.PauseClock) -> str:
        """Refuse, since the clock only runs while a referee is running."""
        del command
        raise CorrectionError("no referee is running, so no clock is running either")

    def restore_sensor(self, command: commands.RestoreSensor) -> str:
        """Switch a sensor on again, and record it if there is a game."""
        sentence = self._restore(command.place)
        if self._journal.latest_game() is not None:
            self._journal.append(event_records.note_event(event_records.restored_sentence(sentence, command.by), None))
        return sentence
