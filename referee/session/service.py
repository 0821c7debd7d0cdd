"""The service: frames and commands in; readings, verdicts, journal and snapshots out.

``Service.step`` is synchronous and takes the time only from the frames, so the same frames and commands always produce
the same verdicts and events. Every event is in the journal before a snapshot shows it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Generic

from common.phrases import Phrase, as_sentence, joined
from engine.api import Clock, Game, StateT, TurnT
from engine.errors import EngineError
from engine.values import Player
from hardware.pin_map import ButtonRole
from referee.clocks import TimeControl
from referee.commands import entries
from referee.commands import values as commands
from referee.errors import CorrectionError, FieldError
from referee.hints.hint_settings import HintSettings
from referee.hints.opponent import HintSource, ImmediateHints, Opponent
from referee.judge.judge import judge
from referee.judge.sentences import NOTED
from referee.judge.set_up import begin
from referee.judge.settings import Trigger
from referee.judge.stability import StableView
from referee.judge.verdict import AcceptedStep, Ruling, Verdict
from referee.record.fold import Folded
from referee.session import feed, ports, recording
from referee.session.advisers import Advisers
from referee.session.corrections import Corrections
from referee.session.entering import BUTTON, Entering
from referee.session.log import GameLog, belief_from
from referee.session.new_games import NewGames
from referee.session.offers import Offers
from referee.session.standing import Standing
from referee.session.timekeeper import Timekeeper
from referee.session.view import is_before_set_up
from vision.frame import Frame
from vision.reading import Hindrance, HindranceKind, Reading


class Service(Generic[StateT, TurnT]):
    """Referees one game after another. Call ``start`` once, then ``step`` for every frame.

    ``publish`` receives a snapshot after every change. ``say`` receives remarks that aren't verdicts, each once, such
    as that the camera moved. ``hints`` works out hints while frames keep coming; without it there are none. ``restore``
    switches a sensor on again; ``opponent`` plays a side; ``settings_for`` tells how other games would be refereed
    here. Without a ``reader`` there is no camera: ``step`` is never called, pieces that nobody set up are taken to
    stand at the start, and events have no frame's time.
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
        settings_for: ports.SettingsForGame | None = None,
    ) -> None:
        self._reader = reader
        self._restore = restore
        self._log: GameLog[StateT, TurnT] = GameLog(game, journal, reader)
        self._standing = Standing(game, self._log, settings, publish, say, has_camera=reader is not None)
        self._announcer = self._standing.announcer
        self.tell = self._announcer.tell
        self._advisers = Advisers(game, self._log, self._announcer, settings.hints, hints, opponent)
        self._time = Timekeeper(self._standing.context, self._log, self._announcer, settings)
        self._entering = Entering(self._standing, self._advisers, self.end_turn)
        self._corrections = Corrections(self._standing, self._entering)
        self._offers = Offers(self._standing, self._entering, self._corrections, self._advisers.names)
        self._new_games = NewGames(self._standing, self._advisers.names, settings_for)

    @property
    def belief(self) -> tuple[StateT, ...]:
        """Every possible state; empty before the set-up."""
        return self._standing.belief.states

    @property
    def states(self) -> tuple[StateT, ...]:
        """The states that an entry goes on from: without a camera, nobody need say that the pieces were set up."""
        return self._standing.states

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
        turns = self._standing.belief.pending.turns
        return tuple(self._standing.game.notation.format_turn(turn) for turn in turns)

    @property
    def reading(self) -> Reading | None:
        """The last frame's reading."""
        return self._standing.view.reading

    @property
    def shown(self) -> Verdict | None:
        """The verdict currently shown."""
        return self._announcer.shown

    @property
    def finished(self) -> bool:
        """Whether the game has ended."""
        return self._standing.is_finished

    @property
    def is_other_begun(self) -> bool:
        """Whether a game of another kind was begun, which another service has to referee."""
        return self._new_games.is_other_begun

    @property
    def game_number(self) -> int:
        """The game's number in the journal."""
        return self._log.number

    def start(self, *, resume: bool = True, seed: int | None = None) -> None:
        """With ``resume``, continue the journal's latest game if it isn't over; else begin a new one.

        Without a camera, a game that is over goes on too, so that its end can be taken back.
        Raises FoldError if the journal's events contradict the rules, and JournalError if the journal can't be written.
        """
        standing = self._standing
        game, has_camera = standing.game, standing.has_camera
        is_open, folded = resume and self._log.open_latest(), self._log.folded
        if not is_open or (has_camera and folded.outcome is not None):
            if is_open and (ended := self._log.record_missing_end()) is not None:
                self._announcer.say(feed.finished_signal(ended).words)
            self.begin(commands.NewGame(game.name, dict(standing.options)), seed=seed)
            return
        standing.begin(
            folded.options, belief_from(standing.context, self._log.events(), folded, set_up_seen=has_camera)
        )
        self._time.restart()
        if folded.states:
            self._announcer.show(feed.resumed_signal(game, folded.states[0], len(folded.turns)))
        else:
            self._announcer.begin()

    def begin(self, command: commands.NewGame, *, seed: int | None = None) -> str:
        """Begin another game of the same rules; ``seed`` is the virtual table's.

        A game of another kind, for which ``settings_for`` knows a table, is only recorded: the journal then says which
        one goes on, and this service is over. Raises CorrectionError where there is none, and what ``complete`` and
        ``check_new_game`` of ServiceSettings raise.
        """
        return self._new_games.begin(command, seed=seed)

    def carry_out(
        self, command: commands.Command, respond: commands.Respond = commands.ignore_reply, request_id: str = ""
    ) -> list[Verdict]:
        """Carry out a command and return the verdicts it caused; ``request_id`` is recorded with its events.

        ``respond`` gets the reply at once; a hint's reply comes when the hint is found, which may be some frames later.
        A command from somebody who has not seen the newest change is refused.
        """

        def reply(words: str, *, refused: bool = False, field: str = "") -> None:
            answer(commands.Reply(words, refused, field=field))

        def answer(said: commands.Reply | None) -> None:
            if said is not None:
                waits = bool(request_id) and request_id in self._standing.waiting_words.values()
                said = self._log.with_write_warning(replace(said, words=self.tell(said.words), waits=waits))
            respond(said)

        seen, folded = command.seen, self._log.folded
        if seen is not None and not folded.last_change <= seen <= folded.last_event:
            reply(Phrase("The table has changed meanwhile. Check it, then try again."), refused=True)
            return []
        verdicts: list[Verdict] = []
        with self._log.recording_request(request_id):
            try:
                command = self._meant(command)
                match command:
                    case commands.AskHint():
                        self._ask_hint(command, answer)
                        return []
                    case commands.Press(role=ButtonRole.END_TURN):
                        verdicts = self.end_turn()
                        said = [verdict.sentence for verdict in verdicts]
                        sentence: str = joined(said) or Phrase("The table is judged once it is at rest.")
                    case _:
                        sentence = self.carry_out_or_raise(command)
            except CorrectionError as error:
                reply(str(error), refused=True, field=error.field if isinstance(error, FieldError) else "")
            except EngineError as error:
                reply(entries.refusal(error), refused=True)
            else:
                reply(sentence)
        return verdicts

    def carry_out_or_raise(self, command: commands.Command) -> str:
        """Carry out a command, record it, and return the reply.

        Raises CorrectionError or EngineError if it can't be carried out, and TypeError for the wish for a hint and the
        end of a turn, which only ``carry_out`` answers.
        """
        command = self._meant(command)
        match command:
            case commands.EnterTurn() | commands.EnterRoll() | commands.AgreedDraw():
                return self._entering.enter(command)
            case commands.Announce():
                return self._offers.announce(command)
            case commands.OfferDraw() | commands.AskTakeBack() | commands.Answer():
                return self._offers.answer(command)
            case commands.AskHint() | commands.Press(role=ButtonRole.END_TURN):
                raise TypeError("only carry_out answers this")
            case commands.Press():
                return self._entering.announce_by_button(command)
            case commands.TakeBack():
                return self._corrections.take_back(command)
            case commands.Correct():
                return self._corrections.correct(command)
            case commands.Overrule():
                return self._corrections.overrule(command)
            case commands.PauseClock():
                return self._time.pause(command)
            case commands.RestoreSensor():
                sentence = self._restore(command.place)
                self._announcer.remark(recording.restored_sentence(sentence, command.by))
                return sentence
            case commands.NewGame():
                return self.begin(command)
            case commands.SameAgain():
                return self._new_games.same_again(command)

    def preview(self, command: commands.Entry) -> str:
        """Say what a turn, roll or announcement would lead to, without recording it.

        Raises CorrectionError before the set-up, and EngineError for an entry that is unreadable or illegal.
        """
        self._meant(command)
        done = entries.apply_entry(self._standing.game, self._standing.states, command)
        return self.tell(done.sentence if done.outcome is None else feed.with_outcome(done.sentence, done.outcome))

    def _meant(self, command: commands.Command) -> commands.Command:
        """Return the command, or the one that a button stands for.

        Raises CorrectionError for one that needs a camera that there isn't, or a game that was stopped.
        """
        if isinstance(command, commands.Press):
            command = _meant_by(command)
        if self._standing.has_camera:
            return command
        match command:
            case commands.PauseClock():
                raise CorrectionError("no referee is running, so no clock is running either")
            case commands.Press() | commands.Overrule():
                raise CorrectionError("no referee is running that could look at the table")
            case commands.NewGame() | commands.SameAgain() | commands.RestoreSensor() | commands.AskHint():
                return command
        if self._log.folded.stopped:
            number = self._log.number
            raise CorrectionError("game {number} was stopped; `./run games resume {number}` goes on with it", number)
        return command

    def refuse(self, queued: commands.QueuedCommand, words: str) -> None:
        """Refuse a command aloud, since whoever pressed a button sees no reply."""
        self._announcer.alarm(words)
        queued.respond(commands.Reply(words, refused=True))

    def step(self, frame: Frame, *, ends_turn: bool = False) -> list[Verdict]:
        """Process one frame and return the new verdicts.

        With ``ends_turn``, a table at rest isn't judged here, because ``end_turn`` is called next and judges it.
        """
        assert self._reader is not None
        # first of all, since commands may be carried out while a picture is searched
        reading = ports.read_or_hindered(self._reader, frame)
        self._announcer.time_s = frame.time_s
        self._standing.view.frame = frame
        self._announcer.end_question()
        self._time.begin_frame(frame.time_s)
        if self._log.retry_writes(frame.time_s):
            self._announcer.republish()
        verdicts = self._process(reading, ends_turn=ends_turn)
        for player in self._time.update(self._standing.belief, self._standing.view):
            self._entering.lose_on_time(player)
        return verdicts

    def bad_frame(self, message: str) -> list[Verdict]:
        """Handle a frame that the camera failed to deliver; ``message`` says why."""
        self._standing.view.frame = None
        sequence, time_s = self.reading.sequence if self.reading else 0, self._announcer.time_s
        return self._process(Reading(sequence, time_s, {}, (Hindrance(HindranceKind.BAD_FRAME, message),)))

    def finish(self) -> list[Verdict]:
        """Judge what the last frames showed: the end of the frames counts as the end of the turn."""
        last = self._standing.view.at_end()
        return [] if last is None else self._judge_table(last, Trigger.RESTED)

    def end_turn(self) -> list[Verdict]:
        """Treat the turn as ended: judge the table now if it is at rest, else as soon as it is."""
        self._standing.view.press()
        self._time.press()
        stable = self._standing.view.stable
        return [] if stable is None else self._judge_table(stable, Trigger.DECLARED)

    def _ask_hint(self, command: commands.AskHint, respond: commands.Respond) -> None:
        """Start working out a hint and show it when it is found. ``respond`` gets the hint, or why there is none."""
        belief = replace(self._standing.belief, states=self._standing.states)
        self._advisers.ask(command, belief, respond, asking=self._standing.is_asking)
        if not self._standing.has_camera:
            self._advisers.poll(belief, asking=False)

    def poll_hints(self) -> None:
        """Show a finished hint."""
        self._advisers.poll(self._standing.belief, asking=self._standing.is_asking)

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
        self._standing.view.judge_again()
        self._announcer.end_trouble(sentence)

    def _process(self, reading: Reading, *, ends_turn: bool = False) -> list[Verdict]:
        """Follow the table in a reading, and judge it if there is a reason to."""
        self._announcer.set_notices(reading.notices)
        stable = self._standing.view.add(reading)
        if stable is None:
            if verdicts := self._judge_sheets():
                return verdicts
            unclear = self._standing.view.unclear.add(reading)
            if unclear is None:
                return []
            is_new = self._standing.view.press_waits and not self._standing.view.press_is_noted
            self._standing.view.press_is_noted = self._standing.view.press_waits
            return self._publish_ruling(Ruling((_noted(unclear) if is_new and self.belief else unclear,)), asked=is_new)
        if self._entering.enter_waiting_words() or ends_turn:
            return []
        if self._standing.view.was_press_followed():
            self._standing.drop_press()
        trigger = self._standing.view.trigger(set_up=bool(self.belief))
        if trigger is not None:
            verdicts = self._judge_table(stable, trigger)
            self._announcer.show_set_up()
            return verdicts
        self._announcer.show_set_up()
        if not self.belief or self.finished or self._standing.belief.fault is not None:
            return []
        question = self._standing.view.stall_question(self._standing.belief)
        return [] if question is None else self._publish_ruling(Ruling((question,)), asked=True)

    def _judge_sheets(self) -> list[Verdict]:
        """Accept what is written on sheets at rest while hands are over others; faults wait until these have gone."""
        verdicts: list[Verdict] = []
        for sheet in self._standing.view.sheets_at_rest(self.belief):
            belief, ruling = judge(self._standing.context, self._standing.belief, sheet.readings, Trigger.RESTED)
            if ruling.steps:
                self._standing.belief, ruling = self._advisers.reject_other_turn(self._standing.belief, belief, ruling)
                complete_s = self._time.complete_s(ruling.steps, sheet, Trigger.RESTED)
                verdicts += self._publish_ruling(ruling, asked=False, complete_s=complete_s)
        if verdicts:
            self._standing.view.unclear.clear()
        return verdicts

    def _judge_table(self, stable: StableView, trigger: Trigger) -> list[Verdict]:
        is_new, is_pressed = not self._standing.view.press_is_noted, self._standing.view.press_waits
        self._standing.view.judged(stable, trigger)
        if self.belief:
            belief, ruling = judge(self._standing.context, self._standing.belief, stable.readings, trigger)
            if trigger.accepts and (meant := self._advisers.resolve_ambiguity(ruling)) is not None:
                self._entering.enter(meant)
                return []
            self._standing.belief, ruling = self._advisers.reject_other_turn(self._standing.belief, belief, ruling)
        elif trigger is not Trigger.DECLARED and is_before_set_up(self._standing.game, self._standing.options, stable):
            return []
        else:
            anywhere = self._standing.settings.anywhere
            self._standing.belief, ruling = begin(
                self._standing.context,
                self._standing.belief,
                stable.readings,
                self._standing.options,
                anywhere=anywhere,
                trigger=trigger,
            )
        complete_s = self._time.complete_s(ruling.steps, stable, trigger)
        self._time.note_pending(self._standing.belief.pending.turns, stable.since_s)
        if is_pressed and self._standing.view.keeps_press(self._standing.belief, stable, ruling):
            ruling = replace(ruling, verdicts=tuple(map(_noted, ruling.verdicts)))
        return self._publish_ruling(ruling, asked=trigger is Trigger.DECLARED and is_new, complete_s=complete_s)

    def _publish_ruling(
        self, ruling: Ruling, *, asked: bool, complete_s: Mapping[AcceptedStep, float] | None = None
    ) -> list[Verdict]:
        """Record a ruling, then show it; returns the new verdicts. ``complete_s`` is as in ``GameLog.record``."""
        news: list[tuple[Verdict, int | None, Sequence[StateT]]] = []
        if ruling.withdrawn:
            event = recording.misread_event(self._standing.game, ruling.withdrawn, self._announcer.time_s)
            self._log.append(event, states=ruling.withdrawn)
        steps, rolls = iter(ruling.steps), iter(ruling.rolls)
        for verdict in ruling.verdicts:
            shown = news[-1][0] if news else self.shown
            if not asked and not self._standing.view.is_news(verdict, shown, self._standing.belief):
                continue
            taken: list[AcceptedStep] = [*islice(steps, len(verdict.turns)), *islice(rolls, bool(verdict.roll))]
            states = taken[-1].states if taken else self.belief
            evidence = self._log.record(verdict, taken, states, self._standing.view.frame, complete_s or {})
            self._standing.view.question.note_shown(verdict, self._standing.view.stable)
            news.append((verdict, evidence, states))
        verdicts = [verdict for verdict, _, _ in news]
        if (
            self._announcer.note_overruled(self._standing.belief.overruled(self._standing.context), verdicts)
            and not news
        ):
            self._announcer.show_as_it_is()
        for each in news:
            self._announcer.show_verdict(*each)
        self._announcer.add_notices(ruling.notes)
        ports.notify_reader(self._reader, self._standing.game, self._standing.belief, ruling)
        return verdicts


def _noted(verdict: Verdict) -> Verdict:
    """Return the verdict with the remark that the end of a turn is noted until the table can be judged."""
    return replace(verdict, sentence=joined((NOTED, as_sentence(verdict.sentence))))


def _meant_by(press: commands.Press) -> commands.Command:
    """Return the command that a button stands for; the press itself if it judges the table or asks back."""
    by = press.by or BUTTON
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
