"""Publishes what a session shows and says: a snapshot after every change, and each remark once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

from common.phrases import Phrase, capitalized, joined, without_stop
from engine.api import Game, StateT, TurnT
from engine.errors import EngineError
from engine.values import Place
from hardware.lights.signals import Mood, Signal, Sound
from hardware.pin_map import ButtonRole
from referee.commands import entries
from referee.commands.entries import apply_entry
from referee.commands.values import Announce, Press
from referee.errors import CorrectionError
from referee.judge.sentences import override_holds
from referee.judge.verdict import Verdict, VerdictKind
from referee.naming import Names
from referee.record.events import PRIVATE, Event
from referee.record.fold import FoldedStep, Intention, Offer
from referee.session import feed
from referee.session.log import GameLog
from referee.session.recording import last_turn_sentence, note_event
from referee.session.view import TableView

_AS_BEFORE = frozenset({VerdictKind.UNCHANGED, VerdictKind.PUT_RIGHT})
"""Verdicts that leave the table as it was when the program announced its turn."""
_LASTING = frozenset({Mood.QUESTION, Mood.FAULT, Mood.FINISHED})
"""The moods that stay lit while the table can't be judged."""
_WAITING_FOR_SET_UP = Phrase("Waiting for the set-up.")

CONFIRM_S = 5.0
"""How long, in seconds, a second press can confirm a button's question."""


@dataclass(frozen=True)
class _Displayed:
    """The current signal, its verdict or hint, and the number of the event that holds its pictures."""

    signal: Signal = field(default_factory=lambda: feed.looking_signal(_WAITING_FOR_SET_UP))
    verdict: Verdict | None = None
    words: str = ""
    evidence: int | None = None
    hint: str = ""
    hinted: Intention | None = None


class Announcer(Generic[StateT, TurnT]):
    """Publishes snapshots and remarks about events that the log has already recorded.

    ``states`` returns the possible states, ``view`` what the table shows. ``time_s`` is the newest frame's and is set
    by the session.
    """

    def __init__(
        self,
        game: Game[StateT, TurnT],
        log: GameLog[StateT, TurnT],
        publish: feed.Subscriber,
        say: Callable[[str], None],
        states: Callable[[], tuple[StateT, ...]],
        view: Callable[[], TableView[StateT, TurnT]],
    ) -> None:
        self._game = game
        self._log = log
        self._publish = publish
        self._states = states
        self._view = view
        self._wrong: tuple[Place, ...] = ()
        self._displayed = _Displayed()
        self._trouble = ""
        self._notices: frozenset[str] = frozenset()
        self._overruled: tuple[Place, ...] = ()
        self._asked: tuple[ButtonRole, tuple[StateT, ...], float] | None = None
        self._offer: Offer | None = None
        self._last: FoldedStep[StateT] | None = None
        self._last_told = ""
        self._say = say
        self.time_s = 0.0

    @property
    def shown(self) -> Verdict | None:
        """The verdict currently shown."""
        return self._displayed.verdict

    def say(self, sentence: str) -> None:
        """Say something, with the players' names."""
        self._say(self.tell(sentence))

    def tell(self, text: str) -> str:
        """Put the players' names into a text."""
        return Names.of(self._game, self._log.folded.names)(text)

    def remark(self, sentence: str) -> None:
        """Say something that isn't a verdict, and record it in the journal."""
        self.say(sentence)
        if self._log.number:
            self._log.append(note_event(sentence, self.time_s))

    def set_notices(self, notices: Sequence[str]) -> None:
        """Say each current remark once, and record it in the journal."""
        for notice in notices:
            if notice not in self._notices:
                self.remark(notice)
        self._notices = frozenset(notices)

    def add_notices(self, notes: Sequence[str]) -> None:
        """Say remarks in addition to the current ones."""
        self.set_notices([*notes, *self._notices])

    def note_overruled(self, places: tuple[Place, ...], verdicts: Sequence[Verdict] = ()) -> bool:
        """Show that a person's word outranks what these places show, and say so once unless these verdicts do.

        Returns whether they are others than before.
        """
        before, self._overruled = self._overruled, places
        holds = override_holds(places)
        if places and places != before and not any(holds in verdict.sentence for verdict in verdicts):
            self.say(holds)
        return places != before

    def show_as_it_is(self) -> None:
        """Show the current state again, without a verdict about how the table looked before."""
        states, shown = self._states(), self.shown
        if states and shown is not None and shown.kind in _AS_BEFORE:
            self._displayed = _Displayed(self.waiting(states[0]))
        self.republish()

    def begin(self) -> None:
        """Show that a game begins."""
        self._displayed, self._overruled, self._asked = _Displayed(), (), None
        self._publish_state()

    def show(self, signal: Signal) -> None:
        """Show a signal instead of the current verdict."""
        self._displayed = _Displayed(signal)
        self._publish_state()

    def show_verdict(self, verdict: Verdict, evidence: int | None, states: Sequence[StateT]) -> None:
        """Show a verdict, after whose own turns ``states`` are possible.

        ``evidence`` is the number of the event that holds its pictures.
        """
        self.say_entry("")
        state = states[0] if states else None
        signal = feed.signal_for(verdict, self._game, state)
        words = signal.words
        if verdict.kind in _AS_BEFORE and state is not None and self._log.folded.intention is not None:
            signal = replace(self.waiting(state), sound=signal.sound)
        elif verdict.kind is VerdictKind.UNCHANGED and state is not None:
            signal = feed.waiting_signal(self._game, state)
        self._displayed = _Displayed(signal, verdict, words, evidence)
        self._publish_state(time_s=verdict.time_s)

    def show_hint(self, words: str, places: Sequence[Place], turn: Intention | None) -> None:
        """Say a hint and light its squares; ``turn`` is the hinted turn if the hint tells it."""
        self.say(words)
        signal = feed.hint_signal(places, words)
        self._displayed = replace(self._displayed, signal=signal, hint=words, hinted=turn)
        self._publish_state()

    def show_request(self, words: str, places: Sequence[Place] = ()) -> None:
        """Ask the players to play the program's turn, or to roll for it."""
        self.say(words)
        self._displayed = replace(self._displayed, signal=feed.opponent_signal(places, words), hint="", hinted=None)
        self._publish_state()

    def record_offer(self, event: Event) -> str:
        """Record that something is offered, asked, refused or withdrawn; say so, and return the sentence."""
        self._log.append(event)
        sentence = str(event.data["sentence"])
        self.alarm(sentence, Sound.QUESTION if self._log.folded.offer else Sound.SILENCE)
        return sentence

    def say_entry(self, sentence: str) -> str:
        """Say what was entered and, if the draw offer that was shown has ended by that, so; returns the text."""
        said = sentence if self._log.ended else entries.with_lapse(sentence, self._offer, self._log.folded.offer)
        self._offer = self._log.folded.offer
        if said:
            self.say(said)
        return said

    def alarm(self, words: str, sound: Sound = Sound.FAULT) -> None:
        """Say something with a sound, such as a refusal, a question or a fallen flag. The lights stay as they are."""
        self.say(words)
        self._publish_state(replace(self._displayed.signal, sound=sound, words=words))

    def question_before(self, touched: tuple[StateT, ...], press: Press) -> str:
        """Ask, with light and sound, whether the press of a button that announces was intended; return the question.

        ``touched`` are the states after a turn that waits for the next player's touch. Returns an empty text if the
        press confirms the question: it comes in a later frame, within ``CONFIRM_S``, and nothing was played and no
        other announcing button was pressed meanwhile. The text is also empty if the rules forbid the announcement.
        """
        asked, self._asked = self._asked, None
        if asked is not None and asked[:2] == (press.role, touched) and 0 < self.time_s - asked[2] <= CONFIRM_S:
            return ""
        try:
            done = apply_entry(self._game, touched, Announce(press.role.value, press.by), self.time_s)
        except (CorrectionError, EngineError):
            return ""
        self._asked = (press.role, touched, self.time_s)
        question = Phrase(
            "{sentence}? Press again within {confirm_s} seconds.", without_stop(done.sentence), f"{CONFIRM_S:g}"
        )
        self.say(question)
        signal = replace(self._displayed.signal, mood=Mood.QUESTION, sound=Sound.QUESTION, words=question)
        self._publish_state(signal)
        return question

    def end_question(self) -> None:
        """Show the current state again if nobody answered a button's question in time."""
        if self._asked is not None and self.time_s - self._asked[2] > CONFIRM_S:
            self._asked = None
            self.republish()

    def republish(self) -> None:
        """Show the current state again, silently, such as when the journal can be written again."""
        snapshot = self._snapshot(self._displayed.signal, self.time_s)
        self._publish(replace(snapshot, signal=replace(snapshot.signal, sound=Sound.SILENCE)))

    def show_set_up(self) -> None:
        """Show which places are still wrong, whenever they change before the set-up is accepted."""
        if not self._states() and self._view().set_up[0] != self._wrong:
            self.republish()

    def show_trouble(self, sentence: str) -> None:
        """Show a technical problem, such as a lost camera, until ``end_trouble``; open questions stay lit."""
        self.say(sentence)
        self._trouble = sentence
        lasting = replace(self._lasting(), sound=Sound.SILENCE)
        self._displayed = replace(self._displayed, signal=lasting, hint="", hinted=None)
        self._publish_state(replace(lasting, words=""))

    def end_trouble(self, sentence: str) -> None:
        """Say that the problem is solved, and show the current state again."""
        self.say(sentence)
        self._trouble = ""
        lasting = self._lasting()
        before = self._displayed if lasting is self._displayed.signal else _Displayed()
        self._displayed = replace(before, signal=replace(lasting, sound=Sound.SILENCE))
        self._publish_state()

    def _lasting(self) -> Signal:
        """Return what stays lit while the table can't be judged: an open question, a fault, the end, or who plays."""
        if self._displayed.signal.mood in _LASTING:
            return self._displayed.signal
        states = self._states()
        return self.waiting(states[0]) if states else feed.looking_signal(_WAITING_FOR_SET_UP)

    def waiting(self, state: StateT) -> Signal:
        """Return the signal that says whose turn it is, how the game ended, or which turn to play for the program."""
        if self._log.ended is not None:
            return feed.finished_signal(self._log.ended)
        intention = self._log.folded.intention
        if intention is None:
            return feed.waiting_signal(self._game, state)
        return replace(feed.opponent_signal(intention.places, intention.words), sound=Sound.SILENCE)

    def _last_words(self, turn: FoldedStep[StateT] | None) -> str:
        """Tell the last turn, which is read again only when it has changed."""
        if self._last != turn:
            self._last, self._last_told = turn, last_turn_sentence(self._game, self._log.folded)
        return self._last_told

    def _publish_state(self, signal: Signal | None = None, *, time_s: float | None = None) -> None:
        """Publish the current state, by default with its signal and at the newest frame's time."""
        self._publish(self._snapshot(signal or self._displayed.signal, self.time_s if time_s is None else time_s))

    def _snapshot(self, signal: Signal, time_s: float) -> feed.TableSnapshot:
        """Return the current state with a signal, to which any problem with the camera or the journal is added."""
        shown, states, folded = self._displayed, self._states(), self._log.folded
        self._offer = folded.offer
        journal = "" if self._log.trouble is None else str(self._log.trouble)
        trouble = joined(capitalized(each) for each in (self._trouble, journal) if each)
        signal = replace(signal, words=self.tell(signal.words))
        snapshot = feed.TableSnapshot(
            self._log.number,
            folded.last_change,
            feed.add_trouble(signal, trouble) if trouble else signal,
            time_s,
            verdict=shown.verdict,
            # Before the set-up, a remark about something else must not replace what the players have to do.
            words=self.tell(shown.words if states else shown.signal.words),
            evidence=shown.evidence,
            names=folded.names,
            playing=self._log.playing,
            turns=len(folded.turns),
            last_turn=folded.last_turn,
            last_words=self._last_words(folded.last_turn),
            hint=self.tell(shown.hint),
            hinted=shown.hinted,
            private_hints={player: hint for player, hint in folded.hints.items() if hint.data.get(PRIVATE)},
            trouble=trouble,
            clock=folded.clock.face(time_s),
            intention=folded.intention,
            without_hints=folded.without_hints,
            may_take_back=folded.offer is not None or folded.last_played is not None,
            offer=folded.offer,
            overruled=self._overruled,
        )
        if not states:
            view = self._view()
            self._wrong, start = view.set_up
            text = self._game.notation.format_state(start)
            return replace(snapshot, seen=view.seen, wanted=view.wanted, wrong=self._wrong, start=text)
        state = states[0]
        return replace(
            snapshot,
            states=states,
            appearance=self._game.table.appearance(state),
            to_move=state.to_move,
            scores={} if self._game.scores is None else self._game.scores(state),
            outcome=self._log.ended or self._game.rules.outcome(state),
        )
