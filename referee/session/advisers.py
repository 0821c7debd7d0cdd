"""Hints on request, and turns of the side that the program plays. Both are recorded before they are shown."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Generic

from common.phrases import Phrase, without_stop
from engine.api import Game, StateT, TurnT
from engine.errors import EngineError
from engine.values import Player
from hardware.lights.signals import Sound
from referee.commands.values import AskHint, EnterTurn, Reply, Respond
from referee.errors import CorrectionError
from referee.hints.advice import RULED_OUT, Answer, HintSettings, Question, Stage
from referee.hints.opponent import (
    HintSource,
    Opponent,
    hint_event,
    is_meant,
    other_turn_verdict,
    position_key,
    recorded_advice,
    refusal_reason,
    states_before,
)
from referee.journal.events import Event
from referee.journal.fold import Intention
from referee.judge.belief import Belief
from referee.judge.verdict import Ruling
from referee.session.announcer import Announcer
from referee.session.log import GameLog

_PROGRAM = Phrase("the program")
"""The name recorded when the program decides between two readings of its own turn."""


CORRECT_SQUARES = Phrase("correct the lit squares first")
ANSWER_QUESTION = Phrase("answer the question first")
END_TURN = Phrase("end the turn first")
"""What the players have to do before there can be a hint."""
_MEANWHILE = Phrase("No hint: the position has changed meanwhile; ask again.")


@dataclass
class _Pending:
    """A question being worked out, the callers waiting for it, and the key of its position."""

    number: int
    position: object
    by: str
    waiting: list[Respond] = field(default_factory=list)


class Advisers(Generic[StateT, TurnT]):
    """Handles one session's hints, and the opponent's requests if the program plays a side.

    ``source`` works out hints while frames keep coming; without it there are none.
    """

    def __init__(
        self,
        game: Game[StateT, TurnT],
        log: GameLog[StateT, TurnT],
        announcer: Announcer[StateT, TurnT],
        hints: HintSettings,
        source: HintSource | None,
        opponent: Opponent | None,
    ) -> None:
        self._game = game
        self._log = log
        self._announcer = announcer
        self._hints = hints
        self._source = source
        self._pending: _Pending | None = None
        self._number = 0
        self._opponent = opponent
        self._shown: Intention | None = None

    @property
    def names(self) -> dict[Player, str]:
        """The name of the side that the program plays."""
        return {} if self._opponent is None else {self._opponent.player: self._opponent.name}

    def ask(self, command: AskHint, belief: Belief[StateT, TurnT], respond: Respond, *, asking: bool) -> None:
        """Start working out a hint, unless the referee is ``asking`` the players something."""
        if why := self._refusal(belief, asking=asking):
            self._refuse(why, (respond,))
            return
        before, state = self._log.folded.hint, belief.states[0]
        if before is not None and (event := self._next_stage(before, state, command.by)) is not None:
            self._give(event, (respond,), is_repeated=before.data["stage"] == "whole")
            return
        position = position_key(self._game, state)
        if self._pending is None or self._pending.position != position:
            if self._pending is not None:
                _tell(self._pending.waiting, _MEANWHILE, refused=True)
            self._number += 1
            self._pending = _Pending(self._number, position, command.by)
            if self._source is not None:
                text, settings = self._game.notation.format_state(state), self._hints
                earlier = states_before(self._game, self._log.folded)
                question = Question(self._number, self._game.name, text, settings.strength, settings.seconds, earlier)
                self._source.ask(question)
        self._pending.waiting.append(respond)
        self._announcer.alarm(Phrase("Thinking about a hint for {to_move}.", state.to_move), Sound.SILENCE)

    def poll(self, belief: Belief[StateT, TurnT], *, asking: bool) -> None:
        """Show a finished hint and the opponent's request, unless the referee is ``asking`` the players something."""
        answers, pending = () if self._source is None else self._source.poll(), self._pending
        why = _to_do_first(belief, asking=asking)
        if pending is not None:
            if why or not belief.states or position_key(self._game, belief.states[0]) != pending.position:
                self._pending = None
                self._refuse(Phrase("No hint: {why}.", why) if why else _MEANWHILE, pending.waiting)
            elif answer := next((each for each in answers if each.number == pending.number), None):
                self._pending = None
                self._answer(pending, answer, belief.states[0])
        if self._opponent is None or belief.fault is not None or asking:
            return
        if self._log.folded.intention is None:
            self._shown = None
            wish = self._opponent.poll(belief.states, self._log.folded)
            if wish is not None and wish.event is not None:
                self._log.append(replace(wish.event, frame_time_s=self._announcer.time_s))
            elif wish is not None:
                self._announcer.show_request(wish.words)
        intention = self._log.folded.intention
        if intention is not None and intention != self._shown:
            self._announcer.show_request(intention.words, intention.places)
        self._shown = intention

    def reject_other_turn(
        self, before: Belief[StateT, TurnT], after: Belief[StateT, TurnT], ruling: Ruling
    ) -> tuple[Belief[StateT, TurnT], Ruling]:
        """Return the belief and ruling to act on. A turn other than the program's leaves the belief as before."""
        intention = self._log.folded.intention
        if self._opponent is not None and intention is not None:
            state = before.states[0]
            # Only the player's first turn was announced.
            step = next((one for one in ruling.steps if one.turn.player == intention.player), None)
            if step is not None and not is_meant(self._game, intention, state, step):
                return before, Ruling((other_turn_verdict(self._game, intention, state, step, ruling.verdict),))
        return after, ruling

    def resolve_ambiguity(self, ruling: Ruling) -> EnterTurn | None:
        """Choose the program's turn if the ruling is ambiguous and the table may show that turn."""
        intention = self._log.folded.intention
        if self._opponent is None or intention is None:
            return None
        verdict = ruling.verdict
        if (intention.turn, intention.player) not in zip(verdict.candidates, verdict.candidate_players, strict=False):
            return None
        return EnterTurn(intention.turn, _PROGRAM, intention.player)

    def check_passes(self, passes: Sequence[EnterTurn]) -> None:
        """Raise CorrectionError if the program, which wants to play another turn first, would pass."""
        intention = self._log.folded.intention
        if self._opponent is not None and intention is not None:
            for turn in passes:
                if turn.player == intention.player and turn.text != intention.turn:
                    raise CorrectionError("something else comes first: {words}", intention.words)

    def close(self) -> None:
        """Close the source of hints and tell everybody who still waits for one."""
        pending, self._pending = self._pending, None
        if pending is not None:
            _tell(pending.waiting, Phrase("No hint: the referee stopped before it was found."), refused=True)
        for source in (self._source, self._opponent):
            if source is not None:
                source.close()

    def _refusal(self, belief: Belief[StateT, TurnT], *, asking: bool) -> str:
        """Return the reason there is no hint now; empty if there is one."""
        if self._hints.strength == "none" or self._log.folded.without_hints:
            return RULED_OUT
        if self._source is None:
            return Phrase("There are no hints here.")
        why = refusal_reason(self._game, belief.states) or _to_do_first(belief, asking=asking)
        return Phrase("No hint: {why}.", why) if why else ""

    def _next_stage(self, before: Event, state: StateT, by: str) -> Event | None:
        """Return the whole of a hint given before; ``None`` if its turn is illegal, since the table is better known."""
        advice, strength = recorded_advice(before), str(before.data["strength"])
        with suppress(EngineError):
            return hint_event(self._game, state, advice, by, strength, "whole", self._announcer.time_s)
        return None

    def _answer(self, pending: _Pending, answer: Answer, state: StateT) -> None:
        """Give the hint that was found, or say why there is none."""
        strength, given, time_s = self._hints.strength, self._log.folded.hint, self._announcer.time_s
        # A gentle hint first names only the piece.
        stage: Stage = "piece" if strength == "gentle" and given is None else "whole"
        why = answer.refused
        if answer.advice is not None:
            try:
                event = hint_event(self._game, state, answer.advice, pending.by, strength, stage, time_s)
            except EngineError as error:
                why = str(error)
            else:
                self._give(event, pending.waiting)
                return
        self._refuse(Phrase("No hint: {why}.", without_stop(why)), pending.waiting)

    def _give(self, event: Event, waiting: Iterable[Respond], *, is_repeated: bool = False) -> None:
        """Record a hint unless ``is_repeated``, then show it."""
        if not is_repeated:
            self._log.append(event)
        words = str(event.data["sentence"])
        is_whole = event.data["stage"] == "whole"
        turn = Intention(str(event.data["player"]), str(event.data["turn"]), words) if is_whole else None
        self._announcer.show_hint(words, event.texts("places"), turn)
        _tell(waiting, words)

    def _refuse(self, words: str, waiting: Iterable[Respond]) -> None:
        self._announcer.alarm(words, Sound.SILENCE)
        _tell(waiting, words, refused=True)


def _tell(waiting: Iterable[Respond], words: str, *, refused: bool = False) -> None:
    for respond in waiting:
        respond(Reply(words, refused))


def _to_do_first(belief: Belief[StateT, TurnT], *, asking: bool) -> str:
    """Return what the players have to do before there can be a hint; empty for nothing."""
    if belief.fault is not None:
        return CORRECT_SQUARES
    if asking:
        return ANSWER_QUESTION
    # A hint now would be for the player who has just finished a turn.
    return END_TURN if belief.pending.turns else ""
