"""Hints on request, and turns of the side that the program plays. Both are recorded before they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Generic

from engine.api import Game, StateT, TurnT
from engine.values import Player
from referee.commands.values import AskHint, EnterTurn, Reply, Respond
from referee.errors import CorrectionError
from referee.hints.advice import HintSettings
from referee.hints.opponent import Intention, Opponent, is_meant, other_turn_verdict
from referee.hints.requests import ANSWER_QUESTION, CORRECT_SQUARES, END_TURN, HintRequests, HintResponse, HintSource
from referee.judge.belief import Belief
from referee.judge.verdict import Ruling
from referee.session.announcer import Announcer
from referee.session.log import GameLog

_PROGRAM = "the program"
"""The name recorded when the program decides between two readings of its own turn."""


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
        self._hints = HintRequests(game, hints, source)
        self._opponent = opponent
        self._shown: Intention | None = None

    @property
    def names(self) -> dict[Player, str]:
        """The name of the side that the program plays."""
        return {} if self._opponent is None else {self._opponent.player: self._opponent.name}

    def ask(self, command: AskHint, belief: Belief[StateT, TurnT], respond: Respond, *, asking: bool) -> None:
        """Start working out a hint, unless the referee is ``asking`` the players something."""
        events, time_s, to_do = self._log.events(), self._announcer.time_s, _to_do_first(belief, asking=asking)
        self._send(self._hints.ask(belief.states, events, command.by, respond, time_s, to_do=to_do))

    def poll(self, belief: Belief[StateT, TurnT], *, asking: bool) -> None:
        """Show a finished hint and the opponent's request, unless the referee is ``asking`` the players something."""
        to_do = _to_do_first(belief, asking=asking)
        for message in self._hints.poll(belief.states, self._log.events, self._announcer.time_s, to_do=to_do):
            self._send(message)
        if self._opponent is None or belief.fault is not None or asking:
            return
        if self._log.intention is None:
            self._shown = None
            wish = self._opponent.poll(belief.states, self._log.events)
            if wish is not None and wish.event is not None:
                self._log.append(replace(wish.event, frame_time_s=self._announcer.time_s))
            elif wish is not None:
                self._announcer.show_request(wish.words)
        intention = self._log.intention
        if intention is not None and intention != self._shown:
            self._announcer.show_request(intention.words, intention.places)
        self._shown = intention

    def reject_other_turn(
        self, before: Belief[StateT, TurnT], after: Belief[StateT, TurnT], ruling: Ruling
    ) -> tuple[Belief[StateT, TurnT], Ruling]:
        """Return the belief and ruling to act on. A turn other than the program's leaves the belief as before."""
        intention = self._log.intention
        if self._opponent is not None and intention is not None:
            state = before.states[0]
            # Only the player's first turn was announced.
            step = next((one for one in ruling.steps if one.player == intention.player), None)
            if step is not None and not is_meant(self._game, intention, state, step):
                return before, Ruling((other_turn_verdict(self._game, intention, state, step, ruling.verdict),))
        return after, ruling

    def resolve_ambiguity(self, ruling: Ruling) -> EnterTurn | None:
        """Choose the program's turn if the ruling is ambiguous and the table may show that turn."""
        intention = self._log.intention
        if self._opponent is None or intention is None:
            return None
        verdict = ruling.verdict
        if (intention.turn, intention.player) not in zip(verdict.candidates, verdict.candidate_players, strict=False):
            return None
        return EnterTurn(intention.turn, _PROGRAM, intention.player)

    def check_passes(self, passes: Sequence[EnterTurn]) -> None:
        """Raise CorrectionError if the program, which wants to play another turn first, would pass."""
        intention = self._log.intention
        if self._opponent is not None and intention is not None:
            for turn in passes:
                if turn.player == intention.player and turn.text != intention.turn:
                    raise CorrectionError(f"something else comes first: {intention.words}")

    def close(self) -> None:
        """Close the source of hints and tell everybody who still waits for one."""
        self._hints.close()
        if self._opponent is not None:
            self._opponent.close()

    def _send(self, message: HintResponse) -> None:
        if message.event is not None and not message.repeated:
            self._log.append(message.event)
        self._announcer.show_hint(message)
        for respond in message.waiting:
            respond(Reply(message.words, message.refused))


def _to_do_first(belief: Belief[StateT, TurnT], *, asking: bool) -> str:
    """Return what the players have to do before there can be a hint; empty for nothing."""
    if belief.fault is not None:
        return CORRECT_SQUARES
    if asking:
        return ANSWER_QUESTION
    # A hint now would be for the player who has just finished a turn.
    return END_TURN if belief.pending.turns else ""
