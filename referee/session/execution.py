"""Carries out commands, in the same way on a running referee and on a journal alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol, assert_never

from engine import registry
from engine.api import Clock, Game
from engine.errors import EngineError
from hardware.pin_map import ButtonRole
from referee.commands import draw_offers
from referee.commands.entries import Corrected, corrected, done_without, entered, refusal, usual_states
from referee.commands.values import (
    Announce,
    AnswerDraw,
    AskHint,
    Command,
    Correct,
    EnterRoll,
    EnterTurn,
    Entry,
    NewGame,
    OfferDraw,
    Overrule,
    PauseClock,
    Press,
    Reply,
    Respond,
    RestoreSensor,
    Resume,
    TakeBack,
    unheard,
)
from referee.errors import CorrectionError, JournalMissingError
from referee.hints.advice import Answer, HintSettings, Question, answer_question
from referee.hints.requests import HintRequests
from referee.journal import Folded, Journal, fold
from referee.journal.events import Event
from referee.judge.verdict import Verdict
from referee.session import event_records
from referee.session.ports import RestoreSensorAt, no_sensors
from referee.session.signals import ending


class Session(Protocol):
    """Carries out commands: the running service, or an idle session over the journal.

    Each method records first, then gives the sentence of the reply. Raises CorrectionError, or EngineError, for what
    can't be done.
    """

    def end_turn(self) -> list[Verdict]:
        """Treat the turn as ended, and give the new verdicts."""

    def correct(self, command: Correct) -> Corrected:
        """Let a person say what holds; it outranks the camera."""

    def question_before(self, press: Press) -> str:
        """Ask whether a button that ends the game was meant, and give the question; empty where its press counts."""

    def take_back(self, command: TakeBack) -> str:
        """Undo the last turn, roll or announcement that counts."""

    def enter(self, command: Entry) -> str:
        """Take a turn, roll or announcement that a person typed."""

    def settle_draw(self, command: OfferDraw | AnswerDraw) -> str:
        """Offer a draw, or accept or refuse the one on offer."""

    def hint(self, command: AskHint, respond: Respond) -> None:
        """Take a request for a hint; ``respond`` gets it when it is found, or why there is none."""

    def overrule(self, command: Overrule) -> str:
        """Let a person say that places are as believed."""

    def restore_sensor(self, command: RestoreSensor) -> str:
        """Switch a sensor on again."""

    def pause_clock(self, command: PauseClock) -> str:
        """Stop the clock, or let it run again."""

    def begin(self, command: NewGame | Resume) -> str:
        """Begin a game, or go on with one."""


def execute(session: Session, command: Command, respond: Respond = unheard) -> list[Verdict]:
    """Carry out a command and answer it: at once, or for a hint when it is found, which may be some frames later.

    Gives the new verdicts that it caused.
    """
    try:
        match command:
            case Press():
                return _press(session, command, respond)
            case AskHint():
                session.hint(command, respond)
                return []
            case Correct():
                said = session.correct(command).sentence
            case TakeBack():
                said = session.take_back(command)
            case Announce() if offer := draw_offers.offer_of(command):
                said = session.settle_draw(offer)
            case EnterTurn() | EnterRoll() | Announce():
                said = session.enter(command)
            case OfferDraw() | AnswerDraw():
                said = session.settle_draw(command)
            case Overrule():
                said = session.overrule(command)
            case RestoreSensor():
                said = session.restore_sensor(command)
            case PauseClock():
                said = session.pause_clock(command)
            case NewGame() | Resume():
                said = session.begin(command)
            case _:
                assert_never(command)
    except CorrectionError as error:
        respond(Reply(str(error), refused=True))
    except EngineError as error:
        respond(Reply(refusal(error), refused=True))
    else:
        respond(Reply(said))
    return []


def _press(session: Session, press: Press, respond: Respond) -> list[Verdict]:
    match press.role:
        case ButtonRole.TAKE_BACK:
            return execute(session, TakeBack(press.by), respond)
        case ButtonRole.HINT:
            return execute(session, AskHint(press.by), respond)
        case ButtonRole.END_TURN:
            verdicts = session.end_turn()
            sentences = [verdict.sentence for verdict in verdicts]
            respond(Reply(" ".join(sentences) or "The table is judged once it is at rest."))
            return verdicts
        case ButtonRole.DRAW | ButtonRole.RESIGN if question := session.question_before(press):
            respond(Reply(question))
            return []
        case ButtonRole.ANTI_PLAY | ButtonRole.REPETITION | ButtonRole.DRAW | ButtonRole.RESIGN:
            # A draw was asked about, and the second press was the answer.
            return execute(session, Announce(press.role.value, press.by, is_agreed=True), respond)


class ImmediateHints:
    """Works out a hint while the caller waits."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers: list[Answer] = []

    def ask(self, question: Question) -> None:
        """Work it out now."""
        self._answers.append(answer_question(question, self._clock))

    def poll(self) -> list[Answer]:
        """Give the answers that came since the last time."""
        answers, self._answers = self._answers, []
        return answers

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def events_of_game(journal: Journal, number: int | None) -> tuple[Game[Any, Any], list[tuple[int, Event]]]:
    """Give the rules and the (number, event) pairs of one game, the last one when ``number`` is ``None``.

    Raises JournalMissingError when there is no such game and UnknownGameError for rules we do not have.
    """
    chosen = journal.latest_game() if number is None else number
    events = [] if chosen is None else journal.events(chosen)
    if not events:
        numbers = [game.number for game in journal.games()]
        if not numbers:
            raise JournalMissingError(f"{journal.path} has no game yet; `./run games new` begins one")
        raise JournalMissingError(
            f"there is no game {number} in {journal.path}; it has games {numbers[0]} to {numbers[-1]}"
        )
    return registry.load(str(events[0][1].data["game"])), events


class IdleSession:
    """Carries commands out on the latest game of a journal that is open for writing; see ``execution.Session``.

    A game that was never set up begins as the rules say. ``hints`` and ``clock`` are for a hint, which is worked out
    at once; ``restore`` switches a sensor on again. Raises JournalError when the journal can't be written,
    JournalMissingError when it has no game.
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

    def _states(self, folded: Folded[Any]) -> Sequence[Any]:
        return folded.states or usual_states(self._game, folded.options)

    def begin(self, command: NewGame | Resume) -> str:
        """Begin a game; one in the journal goes on by itself."""
        if isinstance(command, Resume):
            raise CorrectionError("no referee is running; `./run watch` goes on with the game")
        self._journal.append(event_records.new_game_event(command))
        game, number = registry.load(command.game), self._journal.latest_game()
        to_do = event_records.first_to_do(game)
        return f"Game {number} of {game.title} begins in {self._journal.path}. {to_do}"

    def end_turn(self) -> list[Verdict]:
        """Refuse: nobody looks at the table."""
        raise CorrectionError("no referee is running that could look at the table")

    def question_before(self, press: Press) -> str:
        """Ask nothing: no time passes in which a button could be pressed again."""
        del press
        return ""

    def correct(self, command: Correct) -> Corrected:
        """Record what a person says holds."""
        folded = fold(self._game, self._events)
        done = corrected(self._game, folded.states, command, folded.options)
        self._journal.append(event_records.corrected_event(self._game, done, command, None))
        outcome = self._game.rules.outcome(done.states[0])
        if outcome is not None:
            self._journal.append(event_records.end_event(outcome, None))
        return done

    def take_back(self, command: TakeBack) -> str:
        """Record that the last turn, roll or announcement no longer counts."""
        folded = fold(self._game, self._events)
        if folded.last_played is None:
            raise CorrectionError("there is no turn to take back")
        self._journal.append(event_records.take_back_event(command.by, None))
        return event_records.taken_back_words(folded)

    def enter(self, command: Entry) -> str:
        """Record a turn, roll or announcement."""
        for turn in done_without(self._game, self._states(fold(self._game, self._events)), command):
            self.enter(turn)
        folded = fold(self._game, self._events)
        states = self._states(folded)
        before = event_records.before_seen_roll(self._game, self._events) if isinstance(command, EnterRoll) else ()
        done = entered(self._game, before or states, command)
        if before:
            self._journal.append(event_records.take_back_event(command.by, None))
        if not folded.states:
            self._journal.append(event_records.agreed_start_event(self._game, states, command.by))
        self._journal.append(done.event)
        if done.outcome is None:
            return done.sentence
        self._journal.append(event_records.end_event(done.outcome, None))
        return f"{done.sentence} {ending(done.outcome)}"

    def settle_draw(self, command: OfferDraw | AnswerDraw) -> str:
        """Record that a draw is offered, accepted or refused."""
        recorded = self._events
        states, offer = self._states(fold(self._game, recorded)), draw_offers.offer_in(recorded)
        settled = draw_offers.settled(self._game, states, offer, command, None)
        if isinstance(settled, Announce):
            return self.enter(settled)
        self._journal.append(settled)
        return str(settled.data["sentence"])

    def foretold(self, command: Entry) -> str:
        """Say what a turn, roll or announcement would bring, and record nothing."""
        done = entered(self._game, self._states(fold(self._game, self._events)), command)
        return done.sentence if done.outcome is None else f"{done.sentence} {ending(done.outcome)}"

    def hint(self, command: AskHint, respond: Respond) -> None:
        """Give a hint in words, and record that it was given."""
        events = self._events
        folded = fold(self._game, events)
        states, fault = self._states(folded), folded.fault is not None
        requests = HintRequests(self._game, self._hints, ImmediateHints(self._clock))
        said = [requests.ask(states, events, command.by, unheard, None, fault=fault)]
        said += requests.poll(states, lambda: events, None, fault=fault)
        last = said[-1]
        if last.event is not None and not last.repeated:
            self._journal.append(last.event)
        respond(Reply(last.words, last.refused))

    def overrule(self, command: Overrule) -> str:
        """Refuse: nobody looks at the table."""
        raise CorrectionError(f"no referee is running that could leave {', '.join(command.places)} out")

    def pause_clock(self, command: PauseClock) -> str:
        """Refuse: no time passes while no referee is running."""
        del command
        raise CorrectionError("no referee is running, so the clock stands still anyway")

    def restore_sensor(self, command: RestoreSensor) -> str:
        """Switch a sensor on again, and record it where there is a game."""
        said = self._restore(command.place)
        if self._journal.latest_game() is not None:
            self._journal.append(event_records.note_event(event_records.restored_sentence(said, command.by), None))
        return said
