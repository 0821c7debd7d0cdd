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
from referee.hints.advice import RULED_OUT, Answer, Question, Stage
from referee.hints.hint_settings import HintSettings
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
from referee.judge.belief import Belief
from referee.judge.verdict import Ruling
from referee.record.events import PRIVATE, Event
from referee.record.fold import Intention, hinted_turn
from referee.session.announcer import Announcer
from referee.session.log import GameLog

_PROGRAM = Phrase("the program")
"""The name recorded when the program decides between two readings of its own turn."""


CORRECT_SQUARES = Phrase("correct the lit squares first")
ANSWER_QUESTION = Phrase("answer the question first")
END_TURN = Phrase("end the turn first")
"""What the players have to do before there can be a hint."""
_BUSY = Phrase("No hint: I am working out another player's; ask again in a moment.")
_MEANWHILE = Phrase("No hint: the position has changed meanwhile; ask again.")


@dataclass
class _Pending:
    """A question being worked out, the callers waiting for it, and the key of its position and player."""

    number: int
    position: object
    player: Player
    by: str
    is_private: bool
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
        is_private = command.player is not None
        if why := self._refusal(belief, command.player, asking=asking):
            self._refuse(why, (respond,), is_private=is_private)
            return
        state = belief.states[0]
        player = command.player or str(state.to_move)
        before = self._log.folded.hints.get(player)
        if before is not None and (event := self._next_stage(before, state, command)) is not None:
            is_known = before.data["stage"] == "whole" and (is_private or not before.data.get(PRIVATE))
            self._give(event, (respond,), is_repeated=is_known)
            return
        position, pending = position_key(self._game, state), self._pending
        if pending is None or pending.position != position:
            if pending is not None:
                _tell(pending.waiting, _MEANWHILE, refused=True)
            self._number += 1
            pending = self._pending = _Pending(self._number, position, player, command.by, is_private)
            if self._source is not None:
                alone = self._game.alone
                asked = state if alone is None or player == state.to_move else alone(state, player)
                text, settings = self._game.notation.format_state(asked), self._hints
                earlier = states_before(self._game, self._log.folded)
                question = Question(self._number, self._game.name, text, settings.strength, settings.seconds, earlier)
                self._source.ask(question)
        elif pending.player != player:
            self._refuse(_BUSY, (respond,), is_private=is_private)
            return
        pending.waiting.append(respond)
        pending.is_private &= is_private
        if not is_private:
            self._announcer.alarm(Phrase("Thinking about a hint for {player}.", player), Sound.SILENCE)

    def poll(self, belief: Belief[StateT, TurnT], *, asking: bool) -> None:
        """Show a finished hint and the opponent's request, unless the referee is ``asking`` the players something."""
        answers, pending = () if self._source is None else self._source.poll(), self._pending
        why = _to_do_first(belief, asking=asking)
        if pending is not None:
            if why or not belief.states or position_key(self._game, belief.states[0]) != pending.position:
                self._pending = None
                words = Phrase("No hint: {why}.", why) if why else _MEANWHILE
                self._refuse(words, pending.waiting, is_private=pending.is_private)
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

    def _refusal(self, belief: Belief[StateT, TurnT], player: Player | None, *, asking: bool) -> str:
        """Return the reason there is no hint now, for a player if one is named; empty if there is one."""
        if self._hints.strength == "none" or self._log.folded.without_hints:
            return RULED_OUT
        if self._source is None:
            return Phrase("There are no hints here.")
        why = refusal_reason(self._game, belief.states) or _to_do_first(belief, asking=asking)
        if not why and player is not None and player not in self._game.rules.players_to_move(belief.states[0]):
            why = Phrase("it is not {player}'s turn", player)
        return Phrase("No hint: {why}.", why) if why else ""

    def _next_stage(self, before: Event, state: StateT, command: AskHint) -> Event | None:
        """Return the whole of a hint given before; ``None`` if its turn is illegal, since the table is better known."""
        advice, strength, time_s = recorded_advice(before), str(before.data["strength"]), self._announcer.time_s
        is_private = command.player is not None
        with suppress(EngineError):
            return hint_event(self._game, state, advice, command.by, strength, "whole", time_s, is_private=is_private)
        return None

    def _answer(self, pending: _Pending, answer: Answer, state: StateT) -> None:
        """Give the hint that was found, or say why there is none."""
        strength, given, time_s = self._hints.strength, self._log.folded.hints, self._announcer.time_s
        # A gentle hint first names only the piece.
        stage: Stage = "piece" if strength == "gentle" and pending.player not in given else "whole"
        why = answer.refused
        if answer.advice is not None:
            try:
                event = hint_event(
                    *(self._game, state, answer.advice, pending.by, strength, stage, time_s),
                    is_private=pending.is_private,
                )
            except EngineError as error:
                why = str(error)
            else:
                self._give(event, pending.waiting)
                return
        words = Phrase("No hint: {why}.", without_stop(why))
        self._refuse(words, pending.waiting, is_private=pending.is_private)

    def _give(self, event: Event, waiting: Iterable[Respond], *, is_repeated: bool = False) -> None:
        """Record a hint unless ``is_repeated``, then show it."""
        if not is_repeated:
            self._log.append(event)
        words = str(event.data["sentence"])
        if event.data.get(PRIVATE):
            # The screens of its player show it from the journal.
            self._announcer.republish()
        else:
            self._announcer.show_hint(words, event.texts("places"), hinted_turn(event))
        _tell(waiting, words)

    def _refuse(self, words: str, waiting: Iterable[Respond], *, is_private: bool) -> None:
        if not is_private:
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
