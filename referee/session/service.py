"""The service: frames and commands in; readings, verdicts, journal and snapshots out.

``Service.step`` is synchronous and takes the time only from the frames, so the same frames and commands always produce
the same verdicts and events. Every event is in the journal before a snapshot shows it.

``run`` is the loop around it: it reads frames, handles camera failures, and has commands carried out.
"""

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import singledispatchmethod
from itertools import islice
from typing import Any, Generic, Protocol

from common.phrases import Phrase, as_sentence, joined
from engine import registry
from engine.api import Clock, Game, StateT, TurnT
from engine.errors import EngineError, IllegalTurnError
from engine.values import OptionValue, Place, Player
from hardware.lights.signals import Signal
from hardware.pin_map import ButtonRole
from referee.clocks import TimeControl
from referee.commands import entries
from referee.commands import values as commands
from referee.errors import CorrectionError, FieldError
from referee.hints.hint_settings import HintSettings
from referee.hints.opponent import HintSource, ImmediateHints, Opponent
from referee.judge.belief import Belief, override_belief
from referee.judge.explorer import JudgeContext
from referee.judge.judge import judge
from referee.judge.sentences import NOTED
from referee.judge.set_up import begin
from referee.judge.settings import Trigger
from referee.judge.stability import StableView
from referee.judge.verdict import AcceptedStep, Ruling, Verdict
from referee.record.fold import Folded
from referee.record.results import last_played_sentence
from referee.session import feed, ports
from referee.session import log as events
from referee.session.advisers import Advisers
from referee.session.announcer import Announcer
from referee.session.log import GameLog, belief_from
from referee.session.ports import GameChangedError
from referee.session.timekeeper import Timekeeper, loss_on_time
from referee.session.view import TableView, is_before_set_up
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError, NothingNewError
from vision.frame import Frame
from vision.reading import Hindrance, HindranceKind, Reading

_BUTTON = "button"
"""Who gives the command of a button, for the journal."""


class Service(Generic[StateT, TurnT]):
    """Referees one game after another. Call ``start`` once, then ``step`` for every frame.

    ``publish`` receives a snapshot after every change. ``say`` receives remarks that aren't verdicts, each once, such
    as that the camera moved. ``hints`` works out hints while frames keep coming; without it there are none. ``restore``
    switches a sensor on again; ``opponent`` plays a side; ``others`` tells how other games would be refereed here.
    Without a ``reader`` there is no camera: ``step`` is never called, pieces that nobody set up are taken to stand at
    the start, and events have no frame's time.
    """

    def __init__(
        self,
        game: Game[StateT, TurnT],
        reader: ports.Reader | None,
        journal: ports.Recorder,
        publish: feed.Subscriber,
        settings: ports.ServiceSettings,
        say: Callable[[str], None],
        hints: HintSource | None = None,
        restore: ports.RestoreSensorAt = ports.no_sensors,
        opponent: Opponent | None = None,
        others: ports.OtherSettings | None = None,
    ) -> None:
        self._game = game
        self._others = others
        self._is_succeeded = False
        self._reader = reader
        self._has_camera = reader is not None
        self._settings = settings
        self._restore = restore
        self._options: dict[str, OptionValue] = dict(settings.options)
        self._context: JudgeContext[StateT, TurnT] = JudgeContext(game, settings.judge)
        self._belief: Belief[StateT, TurnT] = Belief()
        self._log: GameLog[StateT, TurnT] = GameLog(game, journal, reader)
        self._view = TableView(self._context, settings)
        self._announced: dict[commands.Announced, str] = {}
        self._announcer = Announcer(game, self._log, publish, say, lambda: self.belief, lambda: self._view)
        self.tell = self._announcer.tell
        self._advisers = Advisers(game, self._log, self._announcer, settings.hints, hints, opponent)
        self._time = Timekeeper(self._context, self._log, self._announcer, settings)

    @property
    def belief(self) -> tuple[StateT, ...]:
        """Every possible state; empty before the set-up."""
        return self._belief.states

    @property
    def states(self) -> tuple[StateT, ...]:
        """The states that an entry goes on from: without a camera, nobody need say that the pieces were set up."""
        return self.belief or (() if self._has_camera else entries.start_states(self._game, self._options))

    @property
    def folded(self) -> Folded[StateT]:
        """The fold of the game's events."""
        return self._log.folded

    @property
    def playing(self) -> tuple[Player, ...]:
        """Those who play."""
        return self._log.playing

    @property
    def pending(self) -> tuple[str, ...]:
        """The texts of the turns that are complete on the table and wait for the next player's touch."""
        return tuple(self._game.notation.format_turn(turn) for turn in self._belief.pending.turns)

    @property
    def reading(self) -> Reading | None:
        """The last frame's reading."""
        return self._view.reading

    @property
    def shown(self) -> Verdict | None:
        """The verdict currently shown."""
        return self._announcer.shown

    @property
    def finished(self) -> bool:
        """Whether the game has ended."""
        return bool(self.belief) and self._game.rules.outcome(self.belief[0]) is not None

    @property
    def is_succeeded(self) -> bool:
        """Whether a game of another kind was begun, which another service has to referee."""
        return self._is_succeeded

    @property
    def game_number(self) -> int:
        """The game's number in the journal."""
        return self._log.number

    def carry_out(self, submitted: commands.QueuedCommand) -> list[Verdict]:
        """Carry out a command from the queue and return the verdicts it caused; its id is recorded with its events.

        A command from somebody who has not seen the newest change is refused.
        """

        def respond(reply: commands.Reply | None) -> None:
            if reply is not None and submitted.request_id and submitted.request_id in self._announced.values():
                reply = replace(reply, waits=True)
            submitted.respond(reply and self._log.with_write_warning(reply))

        seen = submitted.command.seen
        if seen is not None and not self._log.folded.last_change <= seen <= self._log.folded.last_event:
            respond(commands.Reply(Phrase("The table has changed meanwhile. Check it, then try again."), refused=True))
            return []
        with self._log.recording_request(submitted.request_id):
            return self.execute(submitted.command, respond)

    def execute(self, command: commands.Command, answer: commands.Respond = commands.ignore_reply) -> list[Verdict]:
        """Carry out a command and return the verdicts it caused.

        ``answer`` gets the reply at once; a hint's reply comes when the hint is found, which may be some frames later.
        """

        def respond(reply: commands.Reply | None) -> None:
            answer(reply and replace(reply, words=self.tell(reply.words)))

        verdicts: list[Verdict] = []
        try:
            if isinstance(command, commands.Press):
                command = _meant_by(command)
            self._check_going_on(command)
            match command:
                case commands.AskHint():
                    self.hint(command, respond)
                    return []
                case commands.Press(role=ButtonRole.END_TURN):
                    verdicts = self.end_turn()
                    said = [verdict.sentence for verdict in verdicts]
                    sentence: str = joined(said) or Phrase("The table is judged once it is at rest.")
                case _:
                    sentence = self.apply(command)
        except CorrectionError as error:
            where = error.field if isinstance(error, FieldError) else ""
            respond(commands.Reply(str(error), refused=True, field=where))
        except EngineError as error:
            respond(commands.Reply(entries.refusal(error), refused=True))
        else:
            respond(commands.Reply(sentence))
        return verdicts

    @singledispatchmethod
    def apply(self, command: commands.Command) -> str:
        """Carry out a command of a kind with a handler, ``apply.register``; record it, and return the reply.

        Raises CorrectionError or EngineError if it can't be carried out.
        """
        raise NotImplementedError(type(command))

    def preview(self, command: commands.Entry) -> str:
        """Say what a turn, roll or announcement would lead to, without recording it; raises what ``enter`` raises."""
        self._check_going_on(command)
        done = entries.apply_entry(self._game, self.states, command)
        return self.tell(done.sentence if done.outcome is None else feed.with_outcome(done.sentence, done.outcome))

    def _check_going_on(self, command: commands.Command) -> None:
        """Raise CorrectionError for a command that needs a camera that there isn't, or a game that was stopped."""
        if self._has_camera:
            return
        match command:
            case commands.PauseClock():
                raise CorrectionError("no referee is running, so no clock is running either")
            case commands.Press() | commands.Overrule():
                raise CorrectionError("no referee is running that could look at the table")
            case commands.NewGame() | commands.SameAgain() | commands.RestoreSensor() | commands.AskHint():
                return
        if self._log.folded.stopped:
            number = self._log.number
            raise CorrectionError("game {number} was stopped; `./run games resume {number}` goes on with it", number)

    def refuse(self, submitted: commands.QueuedCommand, words: str) -> None:
        """Refuse a command aloud, since whoever pressed a button sees no reply."""
        self._announcer.alarm(words)
        submitted.respond(commands.Reply(words, refused=True))

    def start(self, *, resume: bool = True, seed: int | None = None) -> None:
        """With ``resume``, continue the journal's latest game if it isn't over; else begin a new one.

        Without a camera, a game that is over goes on too, so that its end can be taken back.
        Raises FoldError if the journal's events contradict the rules, and JournalError if the journal can't be written.
        """
        is_open, folded = resume and self._log.open_latest(), self._log.folded
        if not is_open or (self._has_camera and folded.outcome is not None):
            if is_open and (ended := self._log.record_missing_end()) is not None:
                self._announcer.say(feed.finished_signal(ended).words)
            self.begin(commands.NewGame(self._game.name, self._options), seed=seed)
            return
        self._options = dict(folded.options)
        self._view = TableView(self._context, self._settings, self._options)
        self._belief = belief_from(self._context, self._log.events(), folded, set_up_seen=self._has_camera)
        self._time.restart()
        if folded.states:
            self._announcer.show(feed.resumed_signal(self._game, folded.states[0], len(folded.turns)))
        else:
            self._announcer.begin()

    @apply.register
    def begin(self, command: commands.NewGame, *, seed: int | None = None) -> str:
        """Begin another game of the same rules; ``seed`` is the virtual table's.

        A game of another kind, for which ``others`` know a table, is only recorded: the journal then says which one
        goes on, and this service is over. Raises CorrectionError where there is none, and what ``complete`` and
        ``check_new_game`` of ServiceSettings raise.
        """
        if command.game != self._game.name:
            return self._begin_another(command)
        complete, clock = self._settings.complete(self._game, command)
        if self._has_camera:
            self._settings.check_new_game(self._game, complete)
        complete = replace(complete, players={**complete.players, **self._advisers.names})
        self._log.append(events.new_game_event(complete, clock, seed))
        self._options = complete.options
        self._belief = Belief()
        self._announced = {}
        self._view = TableView(self._context, self._settings, self._options)
        self._announcer.begin()
        return Phrase(
            "Game {number} of {title} begins. {set_up_request}",
            self._log.number,
            self._game.title,
            events.set_up_request(self._game),
        )

    def _begin_another(self, command: commands.NewGame) -> str:
        if self._others is None:
            raise CorrectionError(
                "this referee referees {title}; stop it to play {game}", self._game.title, command.game
            )
        game = registry.load(command.game)
        complete, clock = self._others(game, {}).complete(game, command)
        self._others(game, complete.options)
        number = self._log.append_to_another(events.new_game_event(complete, clock))
        self._is_succeeded = True
        self._announcer.say(Phrase("The table changes to {title}.", game.title))
        return Phrase(
            "Game {number} of {title} begins. {set_up_request}", number, game.title, events.set_up_request(game)
        )

    @apply.register
    def same_again(self, command: commands.SameAgain) -> str:
        """Begin another game like the last one, with the sides changed; raises CorrectionError before its end."""
        if self._log.folded.turns and self._log.folded.outcome is None:
            raise CorrectionError("the game is not over; end it first")
        return self.begin(entries.same_again(self._game, self._log.last_begun(), command.by))

    def step(self, frame: Frame, *, ends_turn: bool = False) -> list[Verdict]:
        """Process one frame and return the new verdicts.

        With ``ends_turn``, a table at rest isn't judged here, because ``end_turn`` is called next and judges it.
        """
        assert self._reader is not None
        # first of all, since commands may be carried out while a picture is searched
        reading = ports.read_or_hindered(self._reader, frame)
        self._announcer.time_s = frame.time_s
        self._view.frame = frame
        self._announcer.end_question()
        self._time.begin_frame(frame.time_s)
        if self._log.retry_writes(frame.time_s):
            self._announcer.republish()
        verdicts = self._take(reading, ends_turn=ends_turn)
        for player in self._time.update(self._belief, self._view):
            self._lose_on_time(player)
        return verdicts

    def bad_frame(self, message: str) -> list[Verdict]:
        """Handle a frame that the camera failed to deliver; ``message`` says why."""
        self._view.frame = None
        sequence = self.reading.sequence if self.reading else 0
        return self._take(Reading(sequence, self._announcer.time_s, {}, (Hindrance(HindranceKind.BAD_FRAME, message),)))

    def finish(self) -> list[Verdict]:
        """Judge what the last frames showed: the end of the frames counts as the end of the turn."""
        last = self._view.at_end()
        return [] if last is None else self._decide(last, Trigger.RESTED)

    def end_turn(self) -> list[Verdict]:
        """Treat the turn as ended: judge the table now if it is at rest, else as soon as it is."""
        self._view.press()
        self._time.press()
        stable = self._view.stable
        return [] if stable is None else self._decide(stable, Trigger.DECLARED)

    @apply.register
    def take_back(self, command: commands.TakeBack) -> str:
        """Undo the last turn, roll, announcement or draw offer at a person's request; raises CorrectionError."""
        if withdrawn := entries.withdrawal(self._log.folded.offer, command.by, self._announcer.time_s):
            return self._announcer.record_offer(withdrawn)
        folded = self._log.folded
        if folded.last_played is None:
            self._announcer.say(Phrase("There is no turn to take back."))
            raise CorrectionError("there is no turn to take back")
        self._log.append(events.take_back_event(command.by, self._announcer.time_s))
        states = self._log.folded.states
        sentence = self._announcer.say_entry(events.take_back_sentence(self._game, folded))
        self._override(states, feed.waiting_signal(self._game, states[0]), undone=events.undone_states(folded))
        return sentence

    @apply.register
    def correct(self, command: commands.Correct) -> str:
        """Apply a person's correction, which outranks the camera; raises CorrectionError if it is impossible.

        To say that the other player is to move ends the turn on the table.
        """
        if after := self._view.states_after_turn_before(self._belief, command.to_move):
            # A correction that is refused must not end the turn.
            entries.apply_correction(self._game, after, command, self._options)
            self._end_turn_before()
        done = entries.apply_correction(self._game, self.belief, command, self._options)
        if not self.belief:
            # Whoever says that the table is set up overrules what looks otherwise.
            done = replace(done, places=self._belief.contradicting(self._context, done.states[0]), unchanged=())
        event = events.corrected_event(self._game, done, command, self._announcer.time_s)
        self._log.record_entry(event, done.states, self._game.rules.outcome(done.states[0]), self._announcer.time_s)
        sentence = self._announcer.say_entry(done.sentence)
        signal = feed.corrected_signal(self._game, done.states[0], done.places, sentence)
        self._override(done.states, signal, done.places, unchanged=done.unchanged)
        return sentence

    @apply.register
    def enter(self, command: commands.Entry) -> str:
        """Apply a turn, roll or announcement that a person entered, and return the reply.

        The pieces may be moved later: the entry counts until the table visibly changes. A typed roll replaces one that
        the camera read. An announcement also ends the turn on the table; it waits until the table is at rest. Raises
        CorrectionError before the set-up, and EngineError for an entry that is unreadable or illegal.
        """
        return self._announce(command) if isinstance(command, commands.Announced) else self._apply_entry(command)

    def _announce(self, command: commands.Announced) -> str:
        try:
            if self.pending and entries.ends_game_by_word(command):
                # Name the speaker now: if the waiting turn is put back, another player is to move.
                said = entries.apply_entry(self._game, self._belief.after_pending_turn(self._context).states, command)
                if isinstance(command, commands.Announce):
                    command = replace(command, text=str(said.event.data["announcement"]))
                if self._view.stable is None:
                    return self._judge_later(command)
                if self._view.is_turn_ended_by_word(self._belief):
                    self._end_turn_before()
            return self._apply_entry(self._view.turn_with_announcement(self._belief, command) or command)
        except (CorrectionError, EngineError) as error:
            is_early = self._view.reading is not None and self._view.stable is None
            if is_early and isinstance(error, IllegalTurnError) and not self.finished:
                return self._judge_later(command)
            self._announcer.alarm(entries.refusal(error) if isinstance(error, EngineError) else str(error))
            raise

    @apply.register
    def announce(self, command: commands.Announce) -> str:
        """Apply an announcement; that of a draw only offers it."""
        offer = entries.offer_of(command)
        return self.enter(command) if offer is None else self.answer_offer(offer)

    @apply.register
    def announce_by_button(self, press: commands.Press) -> str:
        """Announce what a button says; before the end of a game, ask whether that was meant.

        Of a draw, the first press asks the question, so the second one means that the players agree.
        """
        if question := self._announcer.question_before(self._belief.after_pending_turn(self._context).states, press):
            return question
        by = press.by or _BUTTON
        is_draw = press.role is ButtonRole.DRAW
        return self.enter(commands.AgreedDraw(by) if is_draw else commands.Announce(press.role.value, by))

    @apply.register
    def answer_offer(self, command: commands.Asked | commands.Answer) -> str:
        """Offer or ask something, or answer what is open; raises CorrectionError if that isn't possible."""
        time_s, names, folded = self._announcer.time_s, self._advisers.names, self._log.folded
        last = "" if folded.last_played is None else last_played_sentence(self._game, folded)
        said = entries.answer_offer(self._game, self.states, folded.offer, command, time_s, names, last)
        match said:
            case commands.AgreedDraw():
                return self._announce(said)
            case commands.TakeBack():
                return self.take_back(said)
            case _:
                return self._announcer.record_offer(said)

    def _is_only_said(self, before: StateT, done: entries.AppliedEntry) -> bool:
        """Return whether an entry leaves everything on the table as it was: dice and a press that waits still count."""
        movers = (self._game.rules.players_to_move(state) for state in (before, done.states[0]))
        return "announcement" in done.event.data and not done.places and done.outcome is None and len({*movers}) == 1

    def _judge_later(self, command: commands.Announced) -> str:
        self._announced[command] = self._log.request_id
        return Phrase("Noted. It is decided once the table is at rest.")

    def _end_turn_before(self) -> None:
        """Treat the turn on the table as ended by what somebody said, before that is carried out."""
        with self._log.recording_preparation():
            self.end_turn()

    def _apply_entry(self, command: commands.Entry) -> str:
        if self._view.is_turn_ended_by_entry(self._belief, command):
            self._end_turn_before()
        passes = entries.implied_passes(self._game, self.states, command)
        self._advisers.check_passes(passes)
        with self._log.recording_preparation():
            for turn in passes:
                self._apply_entry(turn)
        is_roll = isinstance(command, commands.EnterRoll)
        before = self._log.folded.before_seen_roll(self._game) if is_roll else ()
        states = self.states
        done = entries.apply_entry(self._game, before or states, command, self._announcer.time_s)
        if before:
            with self._log.recording_preparation():
                self._log.append(events.take_back_event(command.by, self._announcer.time_s))
        if states and not self.belief:
            self._log.append(events.set_up_event(self._game, states, None, command.by), states=states)
        self._log.record_entry(done.event, done.states, done.outcome, self._announcer.time_s)
        sentence = self._announcer.say_entry(done.sentence)
        signal = feed.entered_signal(self._game, done.states[0], done.places, done.sentence)
        if states and self._is_only_said(states[0], done):
            self._belief = replace(self._belief, states=tuple(done.states), states_ignoring_sides=tuple(done.states))
            self._show_override(signal)
        else:
            self._override(done.states, signal, done.places)
        return sentence if self._has_camera or done.outcome is None else feed.with_outcome(sentence, done.outcome)

    @apply.register
    def overrule(self, command: commands.Overrule) -> str:
        """Accept a person's word that places are as believed, and ignore them until they look that way again.

        Places that show another look are judged with it, as the table was judged before.
        """
        if not self.belief:
            raise CorrectionError("the board is not set up yet; say what stands where instead")
        places = tuple(dict.fromkeys(command.places))
        entries.check_places(self._game, self.belief[0], places)
        looks = entries.looks_told(self._game, self.belief[0], command)
        self._belief = self._belief.with_places_confirmed(places, looks)
        event = events.overrule_event(places, looks, command.by, self._announcer.time_s)
        self._log.append(event)
        if looks and self._view.was_declared:
            self._view.press()
        self._show_override(self._announcer.waiting(self.belief[0]))
        return str(event.data["sentence"])

    @apply.register
    def pause_clock(self, command: commands.PauseClock) -> str:
        """Stop the clock, or let it run again; raises CorrectionError if that isn't possible."""
        return self._time.pause(command)

    def _lose_on_time(self, player: Player) -> None:
        """Record a loss on time as a resignation, if the game allows resigning."""
        with suppress(EngineError):
            done = entries.apply_entry(self._game, self.belief, loss_on_time(player), self._announcer.time_s)
            outcome = done.outcome and replace(done.outcome, reason=events.time_is_up(player))
            self._log.record_entry(done.event, done.states, outcome, self._announcer.time_s)
            self._override(done.states, self._announcer.waiting(done.states[0]), done.places)

    @apply.register
    def restore_sensor(self, command: commands.RestoreSensor) -> str:
        """Switch a sensor on again; raises CorrectionError if it wasn't off."""
        sentence = self._restore(command.place)
        self._announcer.remark(events.restored_sentence(sentence, command.by))
        return sentence

    def hint(self, command: commands.AskHint, respond: commands.Respond = commands.ignore_reply) -> None:
        """Start working out a hint and show it when it is found. ``respond`` gets the hint, or why there is none."""
        belief = replace(self._belief, states=self.states)
        self._advisers.ask(command, belief, respond, asking=self._view.question.is_open(self._view.stable))
        if not self._has_camera:
            self._advisers.poll(belief, asking=False)

    def poll_hints(self) -> None:
        """Show a finished hint."""
        self._advisers.poll(self._belief, asking=self._view.question.is_open(self._view.stable))

    def close(self) -> None:
        """Close the source of hints and tell everybody who still waits for one."""
        self._advisers.close()

    def lose_sight(self) -> None:
        """Pause a clock that waits, because the camera delivers no pictures."""
        self._time.lose_sight()

    def say_trouble(self, sentence: str) -> None:
        """Show a technical problem, such as a lost camera; open questions stay lit."""
        self._announcer.show_trouble(sentence)

    def end_trouble(self, sentence: str) -> None:
        """Say that the problem is solved, and show the current state again."""
        self._view.judge_again()
        self._announcer.end_trouble(sentence)

    def _take(self, reading: Reading, *, ends_turn: bool = False) -> list[Verdict]:
        self._announcer.set_notices(reading.notices)
        stable = self._view.add(reading)
        if stable is None:
            if verdicts := self._judge_sheets():
                return verdicts
            unclear = self._view.unclear.add(reading)
            if unclear is None:
                return []
            is_new = self._view.press_waits and not self._view.press_is_noted
            self._view.press_is_noted = self._view.press_waits
            return self._publish_ruling(Ruling((noted(unclear) if is_new and self.belief else unclear,)), asked=is_new)
        before, waiting, self._announced = self._log.folded.last_event, self._announced, {}
        for announced, request_id in waiting.items():
            with suppress(CorrectionError, EngineError), self._log.recording_request(request_id):
                self.enter(announced)
        if self._log.folded.last_event != before or ends_turn:
            return []
        if self._view.was_press_followed():
            self._drop_press()
        trigger = self._view.trigger(set_up=bool(self.belief))
        if trigger is not None:
            verdicts = self._decide(stable, trigger)
            self._announcer.show_set_up()
            return verdicts
        self._announcer.show_set_up()
        if not self.belief or self.finished or self._belief.fault is not None:
            return []
        question = self._view.stall_question(self._belief)
        return [] if question is None else self._publish_ruling(Ruling((question,)), asked=True)

    def _judge_sheets(self) -> list[Verdict]:
        """Accept what is written on sheets at rest while hands are over others; faults wait until these have gone."""
        verdicts: list[Verdict] = []
        for sheet in self._view.sheets_at_rest(self.belief):
            belief, ruling = judge(self._context, self._belief, sheet.readings, Trigger.RESTED)
            if ruling.steps:
                self._belief, ruling = self._advisers.reject_other_turn(self._belief, belief, ruling)
                complete_s = self._time.complete_s(ruling.steps, sheet, Trigger.RESTED)
                verdicts += self._publish_ruling(ruling, asked=False, complete_s=complete_s)
        if verdicts:
            self._view.unclear.clear()
        return verdicts

    def _decide(self, stable: StableView, trigger: Trigger) -> list[Verdict]:
        is_new, is_pressed = not self._view.press_is_noted, self._view.press_waits
        self._view.judged(stable, trigger)
        if self.belief:
            belief, ruling = judge(self._context, self._belief, stable.readings, trigger)
            if trigger.accepts and (meant := self._advisers.resolve_ambiguity(ruling)) is not None:
                self._apply_entry(meant)
                return []
            self._belief, ruling = self._advisers.reject_other_turn(self._belief, belief, ruling)
        elif trigger is not Trigger.DECLARED and is_before_set_up(self._game, self._options, stable):
            return []
        else:
            anywhere = self._settings.anywhere
            self._belief, ruling = begin(
                self._context, self._belief, stable.readings, self._options, anywhere=anywhere, trigger=trigger
            )
        complete_s = self._time.complete_s(ruling.steps, stable, trigger)
        self._time.note_pending(self._belief.pending.turns, stable.since_s)
        if is_pressed and self._view.keeps_press(self._belief, stable, ruling):
            ruling = replace(ruling, verdicts=tuple(map(noted, ruling.verdicts)))
        return self._publish_ruling(ruling, asked=trigger is Trigger.DECLARED and is_new, complete_s=complete_s)

    def _publish_ruling(
        self, ruling: Ruling, *, asked: bool, complete_s: Mapping[AcceptedStep, float] | None = None
    ) -> list[Verdict]:
        """Record a ruling, then show it; returns the new verdicts. ``complete_s`` is as in ``GameLog.record``."""
        news: list[tuple[Verdict, int | None, Sequence[StateT]]] = []
        if ruling.withdrawn:
            event = events.misread_event(self._game, ruling.withdrawn, self._announcer.time_s)
            self._log.append(event, states=ruling.withdrawn)
        steps, rolls = iter(ruling.steps), iter(ruling.rolls)
        for verdict in ruling.verdicts:
            shown = news[-1][0] if news else self.shown
            if not asked and not self._view.is_news(verdict, shown, self._belief):
                continue
            taken: list[AcceptedStep] = [*islice(steps, len(verdict.turns)), *islice(rolls, bool(verdict.roll))]
            states = taken[-1].states if taken else self.belief
            evidence = self._log.record(verdict, taken, states, self._view.frame, complete_s or {})
            self._view.question.take(verdict, self._view.stable)
            news.append((verdict, evidence, states))
        verdicts = [verdict for verdict, _, _ in news]
        if self._announcer.note_overruled(self._belief.overruled(self._context), verdicts) and not news:
            self._announcer.show_as_it_is()
        for each in news:
            self._announcer.show_verdict(*each)
        self._announcer.add_notices(ruling.notes)
        ports.notify_reader(self._reader, self._game, self._belief, ruling)
        return verdicts

    def _override(
        self,
        states: Sequence[StateT],
        signal: Signal,
        places: Sequence[Place] = (),
        *,
        unchanged: Sequence[Place] = (),
        undone: Sequence[StateT] = (),
    ) -> None:
        """Believe a person rather than the camera, and show that.

        A press or announcement that waits was about what was believed before, so it is dropped.
        """
        self._belief = override_belief(self._context, self._belief, states, places, unchanged=unchanged, undone=undone)
        self._drop_press()
        if self._announced:
            self._announcer.say(Phrase("What was announced before no longer counts, since the game went on meanwhile."))
        self._announced = {}
        self._show_override(signal)

    def _drop_press(self) -> None:
        """Forget a press that waits, and say so to those who were told that it is noted."""
        if self._view.press_is_noted:
            self._announcer.say(Phrase("The end of the turn that was noted no longer counts. Please press again."))
        self._view.forget_press()

    def _show_override(self, signal: Signal) -> None:
        """Show the result of a person's entry, and judge the table again."""
        self._view.judge_again()
        self._view.question.close()
        self._announcer.note_overruled(self._belief.overruled(self._context))
        self._announcer.show(signal)


def noted(verdict: Verdict) -> Verdict:
    """Return the verdict with the remark that the end of a turn is noted until the table can be judged."""
    return replace(verdict, sentence=joined((NOTED, as_sentence(verdict.sentence))))


def _meant_by(press: commands.Press) -> commands.Command:
    """Return the command that a button stands for; the press itself if it judges the table or asks back."""
    by = press.by or _BUTTON
    match press.role:
        case ButtonRole.TAKE_BACK:
            return commands.TakeBack(by)
        case ButtonRole.HINT:
            return commands.AskHint(by)
        case ButtonRole.ANTI_PLAY | ButtonRole.REPETITION:
            return commands.Announce(press.role.value, by)
        case ButtonRole.END_TURN | ButtonRole.DRAW | ButtonRole.RESIGN:
            return press


def without_camera(
    game: Game[Any, Any],
    journal: ports.Recorder,
    clock: Clock,
    hints: HintSettings | None = None,
    restore: ports.RestoreSensorAt = ports.no_sensors,
    control: TimeControl | None = None,
) -> Service[Any, Any]:
    """Return a service for commands alone; ``start`` goes on with the journal's latest game.

    ``hints`` and ``clock`` are used to work out hints; ``restore`` switches a sensor on again; ``control`` is a new
    game's time control.
    """
    settings = ports.ServiceSettings(hints=hints or HintSettings(), clock=control)
    source = ImmediateHints(clock)
    return Service(game, None, journal, lambda _: None, settings, lambda _: None, source, restore)


RETRY_S = 1.0
"""How long, in seconds, to wait before a camera that failed is read again."""
TICK_S = 0.2
"""Seconds between looks at a camera that is away, so between black frames, and the longest that a press waits then."""
_READ_TIMEOUT_S = 2.0
"""How long to wait for a frame, in seconds, before commands are looked at again."""

_WITHOUT_PICTURE = frozenset({ButtonRole.TAKE_BACK, ButtonRole.HINT})
"""The buttons that work while the camera is away; the others judge the table, or ask by the time of the pictures."""
_CAMERA_AWAY = Phrase("The camera is away; press again when it is back.")


class FrameSource(Protocol):
    """What the loop needs from a camera."""

    def read(self, timeout_s: float) -> Frame:
        """Return the newest frame; raises the errors of ``vision.cameras``."""


@dataclass(frozen=True)
class BlackFrames:
    """Makes frames while the camera is away, if the sensors go on without it.

    ``make`` returns a black frame of the camera's size, taken now. ``say`` reports the loss and the return.
    """

    make: Callable[[], Frame]
    say: Callable[[str], object]


@dataclass(frozen=True)
class LoopPorts:
    """What the loop uses besides the camera.

    ``commands`` is the queue for all commands. ``buttons`` returns the roles of the polled buttons pressed since the
    last call. ``on_verdicts`` gets the new verdicts after every frame; its frame is ``None`` if the frame was unusable,
    and for the final judgement. The loop ends when ``stop`` returns true. ``wait`` waits at most that many seconds.
    ``alive`` is called before every frame, and at least every two seconds while no frame comes. ``black`` makes frames
    while the camera is away; the frames are then numbered anew.
    """

    wait: Callable[[float], object]
    commands: commands.CommandQueue
    buttons: Callable[[], Iterable[str]] = lambda: ()
    on_verdicts: Callable[[Frame | None, list[Verdict]], None] = lambda _frame, _verdicts: None
    stop: Callable[[], bool] = lambda: False
    alive: Callable[[], object] = lambda: None
    black: BlackFrames | None = None


def run(service: Service[Any, Any], camera: FrameSource, ports: LoopPorts) -> str:
    """Referee until the frames end or ``ports.stop`` returns true.

    Returns the reason the frames ended, or an empty text if the loop was stopped. Commands are carried out before each
    frame, presses after it, because the frame shows the table they refer to. A lost camera is reported once, then the
    loop waits for it, or goes on with black frames; without those, presses that need it are refused meanwhile. Unusable
    frames are skipped. At the end, the last frames are judged. Raises GameChangedError as ``carry_out_commands`` does,
    also while it waits for the camera.
    """
    # What was loaded and built until now stays, and searching it for garbage takes longer than a frame.
    gc.freeze()
    try:
        return _referee(service, camera, ports)
    finally:
        gc.unfreeze()


def _referee(service: Service[Any, Any], camera: FrameSource, ports: LoopPorts) -> str:
    is_away, sequence, black = False, 0, ports.black
    while not ports.stop():
        ports.alive()
        carry_out_commands(service, ports.commands)
        try:
            frame = camera.read(TICK_S if is_away else _READ_TIMEOUT_S)
        except EndOfFramesError as error:
            ports.on_verdicts(None, service.finish())
            carry_out_commands(service, ports.commands)
            return str(error)
        except FrameError as error:
            verdicts = service.bad_frame(str(error))
            service.lose_sight()
            for pressed in _take_presses(ports):
                # As under a hand, a turn that was ended is judged once the table can be seen.
                verdicts += service.carry_out(pressed)
            ports.on_verdicts(None, verdicts)
            continue
        except NothingNewError:
            continue
        except CameraError as error:
            if black is None:
                _wait_blind(service, ports, None if is_away else str(error))
            elif not is_away:
                black.say(Phrase("{error}. Until the camera is back, I use only the sensors.", error))
            is_away = True
            if not isinstance(error, FrameTimeoutError):
                # A device that fails immediately would keep a core busy.
                ports.wait(RETRY_S if black is None else TICK_S)
            if black is None:
                continue
            frame = black.make()
        else:
            if is_away:
                is_away = False
                (service.end_trouble if black is None else black.say)(Phrase("The camera is back."))
        if black is not None:
            sequence = max(sequence + 1, frame.sequence)
            frame = replace(frame, sequence=sequence)
        presses = _take_presses(ports)
        roles = {pressed.command.role for pressed in presses if isinstance(pressed.command, commands.Press)}
        verdicts = service.step(frame, ends_turn=ButtonRole.END_TURN in roles)
        for pressed in presses:
            verdicts += service.carry_out(pressed)
        ports.on_verdicts(frame, verdicts)
    return ""


def _wait_blind(service: Service[Any, Any], ports: LoopPorts, error: str | None) -> None:
    """Keep the game as it is while the camera is away; ``error`` is new."""
    # Each time, since a command may have let the clock run meanwhile, such as a take-back of the end.
    service.lose_sight()
    if error is not None:
        service.say_trouble(Phrase("{error}. The game is kept as it is and goes on when the camera is back.", error))
    for pressed in _take_presses(ports):
        if isinstance(pressed.command, commands.Press) and pressed.command.role in _WITHOUT_PICTURE:
            service.carry_out(pressed)
        else:
            service.refuse(pressed, _CAMERA_AWAY)


def _take_presses(ports: LoopPorts) -> list[commands.QueuedCommand]:
    """Return the presses that have been held back long enough, with those of the polled buttons."""
    for role in ports.buttons():
        ports.commands.submit(commands.Press(ButtonRole(role)))
    return ports.commands.take_presses()


def carry_out_commands(service: Service[Any, Any], commands: commands.CommandQueue) -> None:
    """Carry out the commands that need no frame, and show a finished hint.

    Raises GameChangedError once a game of another kind was begun: this service has nothing more to do.
    """
    for submitted in commands.take():
        if service.is_succeeded:
            submitted.respond(None)
        else:
            service.carry_out(submitted)
    if service.is_succeeded:
        raise GameChangedError
    service.poll_hints()
