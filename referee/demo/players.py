"""The people at the demo's table: players who choose turns by short hints, and a person who answers questions.

The players' work is counted instead of timed, so that a seed gives the same game on every machine. One of them searches
deeper than the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from engine.api import Game
from engine.search.budget import CountingClock
from engine.values import Strength
from referee.commands.values import Command, Correct, EnterTurn, Reply, Respond
from referee.hints.opponent import Opponent, OpponentSettings
from referee.hints.requests import ImmediateHints
from referee.journal.fold import Intention
from referee.judge.verdict import Verdict, VerdictKind
from simulator.play.game import TruthLog
from simulator.play.players import Choose

_WORK_S = 0.05
_STEP_S = 0.0001
"""A hint reads its clock at most ``_WORK_S / _STEP_S`` times: tenths of a second on a small computer."""


def thinking_players(game: Game[Any, Any], seed: int) -> Choose:
    """Return the function that chooses turns; the seed decides which player is stronger, so that games end."""
    rng = Random(seed)
    better = game.players[seed % 2]

    earlier: list[Any] = []

    def choose(state: Any) -> Any:
        strength = Strength.STRONG if state.to_move == better else Strength.GENTLE
        hint = game.advice.hint(state, _WORK_S, rng, clock=CountingClock(_STEP_S), strength=strength, earlier=earlier)
        earlier.append(state)
        return hint.turn

    return choose


def deterministic_opponent(game: Game[Any, Any], settings: OpponentSettings) -> Opponent:
    """Return the program as an opponent that searches as deep as the demo's players; raises ConfigError."""
    return Opponent(
        game, OpponentSettings(settings.player, settings.strength, _WORK_S), ImmediateHints(CountingClock(_STEP_S))
    )


def follow_intentions(game: Game[Any, Any], choose: Choose | None, meant: Callable[[], Intention | None]) -> Choose:
    """Make the players play the turn that the program announces, else ``choose``; ``None`` for random turns."""

    def choose_or_obey(state: Any) -> Any:
        intention = meant()
        if intention is not None and intention.player == state.to_move:
            return game.notation.parse_turn(state, intention.turn, intention.player)
        return None if choose is None else choose(state)

    return choose_or_obey


_NAME = "onlooker"


@dataclass
class AnsweringPerson:
    """Answers questions that the sensors leave open, as a person does with ``table correct`` and ``turn``.

    ``truth`` is what really happened. ``say`` is called when an answer is refused. ``tells_set_up``: the referee only
    senses occupied squares, so it has to be told how the pieces lie.
    """

    submit: Callable[[Command, Respond], object]
    truth: TruthLog
    say: Callable[[str], object]
    tells_set_up: bool = True
    _turns_reported: int = 0

    def answer(self, verdicts: Sequence[Verdict]) -> None:
        """Answer the questions in these verdicts."""
        for verdict in verdicts:
            if verdict.kind is VerdictKind.SET_UP and self.tells_set_up:
                self._ask(Correct(by=_NAME, position=self.truth.start, why="this is how they lie"))
            elif verdict.kind is VerdictKind.ACCEPTED:
                # a player who passes changes no place
                self._turns_reported += len(verdict.turns) if verdict.places else 0
            elif verdict.kind is VerdictKind.AMBIGUOUS and len(self.truth.played) > self._turns_reported:
                played = self.truth.played[self._turns_reported]
                self._ask(EnterTurn(played.turn, _NAME, played.player))

    def _ask(self, command: Command) -> None:
        def on_reply(reply: Reply | None) -> None:
            if reply is None:
                return
            if reply.refused:
                self.say(f"The onlooker's answer was refused: {reply.words}")
            else:
                # the service itself reports what a person entered
                self._turns_reported += isinstance(command, EnterTurn)

        self.submit(command, on_reply)
