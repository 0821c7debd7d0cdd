"""A person at the demo's table who answers what the referee can't determine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from referee.commands.values import Command, Correct, EnterTurn, Reply, Respond
from referee.judge.verdict import Verdict, VerdictKind
from simulator.play.ground_truth import TruthLog

_NAME = "onlooker"


@dataclass
class Onlooker:
    """Answers questions that the sensors leave open, as a person does with ``table correct`` and ``turn``.

    ``truth`` is what really happened. ``say`` is called when an answer is refused. ``tells_set_up``: the referee only
    senses occupied squares, so it has to be told how the pieces lie.
    """

    submit: Callable[[Command, Respond], object]
    truth: TruthLog
    say: Callable[[str], object]
    tells_set_up: bool = True
    _told: int = 0

    def hear(self, verdicts: Sequence[Verdict]) -> None:
        """Answer the questions in these verdicts."""
        for verdict in verdicts:
            if verdict.kind is VerdictKind.SET_UP and self.tells_set_up:
                self._ask(Correct(by=_NAME, position=self.truth.start, why="this is how they lie"))
            elif verdict.kind is VerdictKind.ACCEPTED:
                # a player who passes changes no place
                self._told += len(verdict.turns) if verdict.places else 0
            elif verdict.kind is VerdictKind.AMBIGUOUS and len(self.truth.played) > self._told:
                played = self.truth.played[self._told]
                self._ask(EnterTurn(played.turn, _NAME, played.player))

    def _ask(self, command: Command) -> None:
        def hear(reply: Reply | None) -> None:
            if reply is None:
                return
            if reply.refused:
                self.say(f"The onlooker's word is refused: {reply.words}")
            else:
                # the service itself reports what a person entered
                self._told += isinstance(command, EnterTurn)

        self.submit(command, hear)
