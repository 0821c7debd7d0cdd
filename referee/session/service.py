"""The service: frames and presses in; readings, verdicts, journal and signals out.

``Service.step`` is synchronous and takes its time from the frames alone, so the same frames and presses give the
same verdicts and the same events. Every event is in the journal before any light shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Generic

from engine.api import Game, OptionValue, StateT, TurnT
from hardware.lights.signals import Signal, Sound
from referee.commands.corrections import Corrected, Correction, corrected
from referee.commands.entries import Entry, entered
from referee.errors import JournalError
from referee.hints.requests import HintMessage, HintRequests, HintSource, Reply
from referee.journal import fold
from referee.journal.events import Event
from referee.judge import (
    AcceptedTurn,
    Belief,
    Bench,
    Ruling,
    StabilityFilter,
    StableView,
    Trigger,
    begin,
    believe_person,
    judge,
)
from referee.judge.sentences import override_holds
from referee.judge.verdict import Verdict, VerdictKind
from referee.session import event_records as events
from referee.session.crops import CropKeeper
from referee.session.news import (
    OpenQuestion,
    StallWatch,
    UnclearWatch,
    is_before_set_up,
    is_news,
    key_of,
    stall_verdict,
)
from referee.session.ports import Display, Reader, Recorder, read_or_hindered, tell_reader
from referee.session.recovery import CatchUp, belief_from
from referee.session.settings import ServiceSettings
from referee.session.signals import (
    corrected_signal,
    entered_signal,
    finished_signal,
    hint_signal,
    lasts,
    looking_signal,
    resumed_signal,
    signal_for,
    waiting_signal,
    with_trouble,
)
from vision.frame import Frame
from vision.reading import Hindrance, HindranceKind, Reading

__all__ = ["Display", "Reader", "Recorder", "Service"]

_WAITING_FOR_SET_UP = "Waiting for the set-up."


class Service(Generic[StateT, TurnT]):
    """Referees one game. Call ``start`` once, then ``step`` for every frame and ``press`` for every press.

    ``say`` hears remarks that are not verdicts (the camera moved, a sighting was dropped), each once. ``hints`` works
    hints out while frames go on; without it there are none.
    """

    def __init__(
        self,
        game: Game[StateT, TurnT],
        reader: Reader,
        journal: Recorder,
        display: Display,
        settings: ServiceSettings,
        say: Callable[[str], None],
        hints: HintSource | None = None,
    ) -> None:
        self._game = game
        self._reader = reader
        self._journal = journal
        self._display = display
        self._settings = settings
        self._say = say
        self._options: dict[str, OptionValue] = dict(self._settings.options)
        self._bench: Bench[StateT, TurnT] = Bench.of(game, settings.judge)
        self._belief: Belief[StateT, TurnT] = Belief()
        self._settler = StabilityFilter(self._settings.settling)
        self._stall = StallWatch(self._settings.stall_s, self._settings.settling.sure_probability)
        self._crops = CropKeeper(game.places)
        self._hints: HintRequests = HintRequests(game, settings.hints, hints)
        self._game_number = 0
        self._time_s = 0.0
        self._frame: Frame | None = None
        self._reading: Reading | None = None
        self._settled: StableView | None = None
        self._judged: tuple[float, Trigger] | None = None
        self._question = OpenQuestion(settings.settling.sure_probability)
        self._pressed = False
        self._shown: Verdict | None = None
        self._recorded: tuple[object, ...] | None = None
        self._unclear = UnclearWatch(0.0 if settings.stills else settings.patience_s)
        self._notices: frozenset[str] = frozenset()
        self._finished = False
        self._against: tuple[str, ...] = ()
        self._catch_up = CatchUp(journal)
        self._signal = looking_signal(_WAITING_FOR_SET_UP)

    @property
    def belief(self) -> tuple[StateT, ...]:
        """Every state that may be the case; empty before the set-up."""
        return self._belief.states

    @property
    def reading(self) -> Reading | None:
        """What the last frame said."""
        return self._reading

    @property
    def shown(self) -> Verdict | None:
        """The verdict on show."""
        return self._shown

    @property
    def finished(self) -> bool:
        """Whether the game has ended."""
        return self._finished

    @property
    def game_number(self) -> int:
        """The game's number in the journal."""
        return self._game_number

    def start(self, *, resume: bool = True, seed: int | None = None) -> None:
        """Go on with the journal's latest game if it isn't over and ``resume``; begin a new one otherwise.

        Raises FoldError when the journal's game does not add up, JournalError when it can't be written.
        """
        number = self._journal.latest_game()
        if resume and number is not None:
            folded = fold(self._game, self._journal.events(number))
            if folded.outcome is None:
                self._game_number = number
                self._options = dict(folded.options)
                self._belief = belief_from(self._bench, self._journal.events(number), folded)
                if folded.states:
                    self._signal = resumed_signal(self._game, folded.states[0], len(folded.turns))
                self._light(self._signal, self._time_s)
                return
            end = events.missing_end(folded, self._journal.events(number))
            if end is not None:
                self._journal.append(end)
                self._say(finished_signal(folded.outcome).words)
        hints = self._settings.hints.strength
        self._journal.append(events.new_game_event(self._game.name, self._options, seed, hints))
        self._game_number = self._journal.latest_game() or 0
        self._light(self._signal, self._time_s)

    def step(self, frame: Frame) -> list[Verdict]:
        """Take one frame; give the verdicts that are new."""
        self._time_s = frame.time_s
        self._frame = frame
        if self._catch_up.caught_up(frame.time_s):
            self._display.show(replace(self._signal, sound=Sound.SILENCE), frame.time_s)
        return self._take(read_or_hindered(self._reader, frame))

    def bad_frame(self, message: str) -> list[Verdict]:
        """Take a frame that the camera could not even hand over; ``message`` says why."""
        self._frame = None
        sequence = self._reading.sequence if self._reading else 0
        return self._take(Reading(sequence, self._time_s, {}, (Hindrance(HindranceKind.BAD_FRAME, message),)))

    def _take(self, reading: Reading) -> list[Verdict]:
        self._reading = reading
        self._pass_on(reading.notices)
        if self._settings.stills:
            self._settler.clear()
        settled = self._settled = self._settler.add(reading)
        if settled is None:
            return self._unsettled(reading)
        self._unclear.clear()
        if self._settings.stills or self._pressed:
            return self._decide(settled, Trigger.DECLARED)
        trigger = self._settings.trigger_after(settled.rested_s, set_up=bool(self._belief.states))
        if self._judged == (settled.since_s, trigger):
            return self._name_stall(reading)
        return self._decide(settled, trigger)

    def press(self) -> list[Verdict]:
        """Take a press of the button that ends a turn: judged now if the table is at rest, else when it is."""
        self._pressed = True
        return [] if self._settled is None else self._decide(self._settled, Trigger.DECLARED)

    def finish(self) -> list[Verdict]:
        """Judge what the last frames showed, since no more will come."""
        pending = self._settler.pending()
        enough = pending is not None and len(pending.readings) >= min(2, self._settings.settling.readings)
        if pending is None or not enough or self._settings.stills:
            return []
        return self._decide(pending, Trigger.RESTED)

    def take_back(self, by: str) -> bool:
        """Undo the last turn, roll or announcement that counts, on a person's word; tells whether there was one."""
        folded = fold(self._game, self._journal.events(self._game_number))
        if folded.last_played is None:
            self._say("There is no turn to take back.")
            return False
        self._journal.append(Event("take back", {"by": by}, self._time_s))
        states = fold(self._game, self._journal.events(self._game_number)).states
        self._belief = believe_person(self._bench, self._belief, states, undone=events.undone(folded))
        self._say(f"{folded.steps[folded.last_played].text} is taken back.")
        self._show_word(waiting_signal(self._game, states[0]))
        return True

    def correct(self, correction: Correction) -> Corrected:
        """Let a person say what holds from here; it outranks the camera. Raises CorrectionError for what can't be."""
        done = corrected(self._game, self._belief.states, correction, self._options)
        event = events.corrected_event(self._game, done, correction, self._time_s)
        self._hold(event, done.states, done.places, done.sentence)
        self._show_word(corrected_signal(self._game, done.states[0], done.places, done.sentence))
        return done

    def enter(self, entry: Entry) -> str:
        """Take a turn, roll or announcement that a person typed, and say what came of it.

        The pieces may follow later: until the table visibly changes, the word holds. Raises CorrectionError before
        the set-up, and EngineError for what can't be read or what the rules forbid.
        """
        done = entered(self._game, self._belief.states, entry, self._time_s)
        self._hold(done.event, done.states, done.places, done.sentence)
        self._show_word(entered_signal(self._game, done.states[0], done.places, done.sentence))
        return done.sentence

    def _hold(self, event: Event, states: Sequence[StateT], places: Sequence[str], sentence: str) -> None:
        """Record a person's word, and believe it."""
        self._journal.append(event)
        outcome = self._game.rules.outcome(states[0])
        if outcome is not None:
            self._journal.append(events.end_event(outcome, self._time_s))
        self._belief = believe_person(self._bench, self._belief, states, places)
        self._say(sentence)

    def overrule(self, places: Sequence[str], by: str) -> None:
        """Let a person say that these places are as believed; they are left out until they look so again."""
        self._belief = self._belief.overruled(places)
        self._journal.append(events.overruled_event(places, by, self._time_s))
        self._judged = None

    def hint(self, by: str = "button", reply: Reply | None = None) -> None:
        """Take a wish for a hint; it is shown when it is found. ``reply`` hears of it, or why there is none."""
        recorded = self._journal.events(self._game_number)
        fault = self._belief.fault is not None
        self._tell_hint(self._hints.ask(self._belief.states, recorded, by, reply, self._time_s, fault=fault))

    def look_for_hint(self) -> None:
        """Show the hint that was asked for, if it was found by now."""
        recorded = partial(self._journal.events, self._game_number)
        fault = self._belief.fault is not None
        for said in self._hints.poll(self._belief.states, recorded, self._time_s, fault=fault):
            self._tell_hint(said)

    def close(self) -> None:
        """Let go of what works hints out; whoever waits for one is told."""
        self._hints.close()

    def _tell_hint(self, said: HintMessage) -> None:
        """Record a hint, then show it; what is no hint leaves the lights as they are."""
        if said.event is not None and not said.repeated:
            self._journal.append(said.event)
        self._say(said.words)
        signal = hint_signal(said.places, said.words) if said.event else replace(self._signal, words=said.words)
        self._light(replace(signal, sound=Sound.SILENCE), self._time_s)
        for reply in said.replies:
            reply({"refused" if said.refused else "done": said.words})

    def remark(self, sentence: str) -> None:
        """Say something that is no verdict, and keep it in the journal."""
        self._say(sentence)
        if self._game_number:
            self._journal.append(events.note_event(sentence, self._time_s))

    def say_trouble(self, sentence: str) -> None:
        """Show trouble that is not the table's, such as a camera that went away; what is open stays lit."""
        self._say(sentence)
        self._display.show(
            with_trouble(replace(self._lasting(), sound=Sound.SILENCE, words=""), sentence), self._time_s
        )

    def end_trouble(self, sentence: str) -> None:
        """Say that trouble is over, and show again what holds."""
        self._say(sentence)
        lasting = self._lasting()
        self._shown, self._judged = self._shown if lasting is self._signal else None, None
        self._light(replace(lasting, sound=Sound.SILENCE), self._time_s)

    def _lasting(self) -> Signal:
        """What may be lit though the table was not looked at: an open question, a fault or the end, else who plays."""
        if lasts(self._signal):
            return self._signal
        states = self._belief.states
        return waiting_signal(self._game, states[0]) if states else looking_signal(_WAITING_FOR_SET_UP)

    def _show_word(self, signal: Signal) -> None:
        """Show what a person's word led to, and look at the table anew."""
        self._finished = self._game.rules.outcome(self._belief.states[0]) is not None
        self._judged = self._shown = None
        self._question.close()
        self._light(signal, self._time_s)

    def _pass_on(self, notices: Sequence[str]) -> None:
        """Say each remark once while it holds, and keep it in the journal."""
        for notice in notices:
            if notice not in self._notices:
                self.remark(notice)
        self._notices = frozenset(notices)

    def _decide(self, settled: StableView, trigger: Trigger) -> list[Verdict]:
        self._pressed = False
        self._judged = (settled.since_s, trigger)
        if not self._belief.states:
            if trigger is not Trigger.DECLARED and is_before_set_up(self._game, self._options, settled):
                return []
            anywhere = self._settings.anywhere
            self._belief, ruling = begin(
                self._bench, self._belief, settled.readings, self._options, anywhere=anywhere, trigger=trigger
            )
        else:
            self._belief, ruling = judge(self._bench, self._belief, settled.readings, trigger)
        return self._carry_out(ruling, asked=trigger is Trigger.DECLARED)

    def _unsettled(self, reading: Reading) -> list[Verdict]:
        """Say what is in the way once it has been there for a while: at once for stills."""
        verdict = self._unclear.add(reading)
        return [] if verdict is None else self._carry_out(Ruling((verdict,)), asked=False)

    def _name_stall(self, reading: Reading) -> list[Verdict]:
        """Ask about squares that could not be read for long, when there is nothing else to say."""
        if not self._belief.states or self._finished or self._belief.fault is not None:
            return []
        places = self._stall.add(reading)
        if not places:
            return []
        verdict = stall_verdict(
            self._game.table.appearance(self._belief.states[0]), places, reading, self._settings.stall_s
        )
        return self._carry_out(Ruling((verdict,)), asked=True)

    def _carry_out(self, ruling: Ruling, *, asked: bool) -> list[Verdict]:
        """Record, then show; give the verdicts that are news."""
        news: list[Verdict] = []
        if ruling.withdrawn:
            why = "a side face had been misread"
            self._journal.append(events.correction_event(ruling.withdrawn, "button", why, self._time_s))
        steps = list(ruling.steps)
        for verdict in ruling.verdicts:
            asking = bool(self._belief.set_aside) or self._question.is_open(self._settled)
            unsettled = self._belief.fault is not None or asking
            if not (self._settings.stills or asked) and not is_news(verdict, self._shown, unsettled=unsettled):
                continue
            self._record(verdict, [steps.pop(0) for _ in verdict.turns])
            self._show(verdict)
            self._question.take(verdict, self._settled)
            news.append(verdict)
        self._pass_on([*ruling.notes, *self._notices])
        tell_reader(self._reader, self._game, self._belief, ruling)
        against = self._bench.in_order(self._belief.override.left_out)
        if against and against != self._against:
            self._say(override_holds(against))
        self._against = against
        return news

    def _record(self, verdict: Verdict, steps: Sequence[AcceptedTurn]) -> None:
        evidence = self._crops.evidence(verdict.places, self._reader, self._frame)
        if verdict.kind is VerdictKind.SET_UP:
            texts = [self._game.notation.format_state(state) for state in self._belief.states]
            self._journal.append(events.set_up_event(texts, verdict))
        for step in steps:
            self._journal.append(events.turn_event(step, verdict), evidence)
        said = events.said_event(verdict)
        if said is not None and self._recorded != key_of(verdict):
            self._journal.append(said, evidence)
        if said is not None or steps:
            self._recorded = key_of(verdict)
        if steps or verdict.kind in {VerdictKind.SET_UP, VerdictKind.PUT_RIGHT}:
            self._crops.keep(self._reader, self._frame)
        outcome = self._game.rules.outcome(self._belief.states[0]) if steps else None
        if outcome is not None:
            self._journal.append(events.end_event(outcome, verdict.time_s))
            self._finished = True

    def _show(self, verdict: Verdict) -> None:
        state = self._belief.states[0] if self._belief.states else None
        if verdict.kind is VerdictKind.UNCHANGED and state is not None:
            signal = waiting_signal(self._game, state)
        else:
            signal = signal_for(verdict, self._game, state)
        self._light(signal, verdict.time_s)
        self._shown = verdict

    def _light(self, signal: Signal, time_s: float) -> None:
        """Show a signal, with the journal's trouble if there is any."""
        self._signal = signal
        trouble = getattr(self._journal, "trouble", None)
        self._display.show(with_trouble(signal, str(trouble)) if isinstance(trouble, JournalError) else signal, time_s)
