"""What a session shows and says of it all: a snapshot after every change, and each remark once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

from engine.api import Game, Place, StateT, TurnT
from hardware.lights.signals import Signal, Sound
from referee.hints.requests import HintMessage
from referee.judge import Belief
from referee.judge.sentences import override_holds
from referee.judge.verdict import Verdict, VerdictKind
from referee.session import event_records
from referee.session.feed import Snapshot, Subscriber
from referee.session.log import GameLog
from referee.session.signals import (
    hint_signal,
    lasts,
    looking_signal,
    signal_for,
    waiting_signal,
    with_trouble,
)

_WAITING_FOR_SET_UP = "Waiting for the set-up."


@dataclass(frozen=True)
class _OnShow:
    """The signal that holds, and the verdict behind it: in full, and the event that has its pictures."""

    signal: Signal = field(default_factory=lambda: looking_signal(_WAITING_FOR_SET_UP))
    verdict: Verdict | None = None
    words: str = ""
    evidence: int | None = None


class Announcer(Generic[StateT, TurnT]):
    """Publishes what holds, and says what is no verdict. What it tells of, the log has recorded.

    Its methods take what is believed by then. ``time_s`` is the newest frame's and set by whoever has it.
    """

    def __init__(
        self,
        game: Game[StateT, TurnT],
        log: GameLog[StateT, TurnT],
        publish: Subscriber,
        say: Callable[[str], None],
    ) -> None:
        self._game = game
        self._log = log
        self._publish = publish
        self._on_show = _OnShow()
        self._notices: frozenset[str] = frozenset()
        self._against: tuple[Place, ...] = ()
        self.say = say
        self.time_s = 0.0

    @property
    def shown(self) -> Verdict | None:
        """The verdict on show."""
        return self._on_show.verdict

    def remark(self, sentence: str) -> None:
        """Say something that is no verdict, and keep it in the journal."""
        self.say(sentence)
        if self._log.number:
            self._log.append(event_records.note_event(sentence, self.time_s))

    def remark_once(self, notices: Sequence[str]) -> None:
        """Say each of the remarks that hold now once, and keep it in the journal."""
        for notice in notices:
            if notice not in self._notices:
                self.remark(notice)
        self._notices = frozenset(notices)

    def remark_also(self, notes: Sequence[str]) -> None:
        """Say remarks that come on top of those that hold."""
        self.remark_once([*notes, *self._notices])

    def holds_against(self, places: tuple[Place, ...]) -> None:
        """Say once that a person's word holds against what these places show."""
        if places and places != self._against:
            self.say(override_holds(places))
        self._against = places

    def begin(self, belief: Belief[StateT, TurnT]) -> None:
        """Show that a game begins."""
        self._on_show, self._against = _OnShow(), ()
        self._tell(belief)

    def show(self, belief: Belief[StateT, TurnT], signal: Signal) -> None:
        """Show a signal; a verdict that was on show no longer is."""
        self._on_show = _OnShow(signal)
        self._tell(belief)

    def show_verdict(self, belief: Belief[StateT, TurnT], verdict: Verdict, evidence: int | None) -> None:
        """Show a verdict, whose pictures are kept with the event ``evidence``."""
        state = belief.states[0] if belief.states else None
        signal = signal_for(verdict, self._game, state)
        words = signal.words
        if verdict.kind is VerdictKind.UNCHANGED and state is not None:
            signal = waiting_signal(self._game, state)
        self._on_show = _OnShow(signal, verdict, words, evidence)
        self._tell(belief, time_s=verdict.time_s)

    def show_hint(self, belief: Belief[StateT, TurnT], said: HintMessage) -> None:
        """Say a hint and light it; what is no hint leaves the lights as they are."""
        self.say(said.words)
        is_hint = said.event is not None
        signal = hint_signal(said.places, said.words) if is_hint else replace(self._on_show.signal, words=said.words)
        self._on_show = replace(self._on_show, signal=replace(signal, sound=Sound.SILENCE))
        self._tell(belief, hint=said.words if is_hint else "")

    def refuse(self, belief: Belief[StateT, TurnT], words: str) -> None:
        """Say and sound that what was announced can't be; what holds stays lit."""
        self.say(words)
        signal = replace(self._on_show.signal, sound=Sound.FAULT, words=words)
        self._publish(self._snapshot(belief, signal, self.time_s))

    def show_again(self, belief: Belief[StateT, TurnT]) -> None:
        """Show silently what holds, now that the journal can be written again."""
        self._publish(self._snapshot(belief, replace(self._on_show.signal, sound=Sound.SILENCE), self.time_s))

    def show_trouble(self, belief: Belief[StateT, TurnT], sentence: str) -> None:
        """Show trouble that is not the table's, such as a camera that went away; what is open stays lit."""
        self.say(sentence)
        signal = with_trouble(replace(self._lasting(belief), sound=Sound.SILENCE, words=""), sentence)
        self._publish(replace(self._snapshot(belief, signal, self.time_s), trouble=sentence))

    def end_trouble(self, belief: Belief[StateT, TurnT], sentence: str) -> None:
        """Say that trouble is over, and show again what holds."""
        self.say(sentence)
        lasting = self._lasting(belief)
        before = self._on_show if lasting is self._on_show.signal else _OnShow()
        self._on_show = replace(before, signal=replace(lasting, sound=Sound.SILENCE))
        self._tell(belief)

    def _lasting(self, belief: Belief[StateT, TurnT]) -> Signal:
        """What may be lit though the table was not looked at: an open question, a fault or the end, else who plays."""
        if lasts(self._on_show.signal):
            return self._on_show.signal
        states = belief.states
        return waiting_signal(self._game, states[0]) if states else looking_signal(_WAITING_FOR_SET_UP)

    def _tell(self, belief: Belief[StateT, TurnT], *, time_s: float | None = None, hint: str = "") -> None:
        """Publish what holds now, with the journal's trouble if there is any."""
        trouble = "" if self._log.trouble is None else str(self._log.trouble)
        signal = with_trouble(self._on_show.signal, trouble) if trouble else self._on_show.signal
        snapshot = self._snapshot(belief, signal, self.time_s if time_s is None else time_s)
        self._publish(replace(snapshot, hint=hint, trouble=trouble))

    def _snapshot(self, belief: Belief[StateT, TurnT], signal: Signal, time_s: float) -> Snapshot:
        shown = self._on_show
        snapshot = Snapshot(
            self._game.name,
            self._log.number,
            self._log.last_event,
            signal,
            time_s,
            verdict=shown.verdict,
            words=shown.words,
            evidence=shown.evidence,
            set_aside=frozenset(belief.set_aside),
            names=self._log.names,
            turns=len(self._log.turns),
            last_turn=self._log.turns[-1] if self._log.turns else "",
        )
        if not belief.states:
            return snapshot
        state = belief.states[0]
        return replace(
            snapshot,
            states=belief.states,
            appearance=self._game.table.appearance(state),
            to_move=state.to_move,
            scores={} if self._game.scores is None else self._game.scores(state),
            outcome=self._game.rules.outcome(state),
        )
