"""Whoever sits at the demo's table when it has no camera: says how it stands, and which turn was played."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from referee.correcting import Correction
from referee.entering import Entry
from referee.service import Service
from referee.service_requests import asked_to_correct, asked_to_enter, attend
from referee.verdict import Verdict, VerdictKind
from simulator.truth import TruthLog

_NAME = "onlooker"


@dataclass
class Onlooker:
    """Answers what sensors can't tell, as a person does with ``referee correct`` and ``referee turn``.

    ``truth`` is what a person at the table sees; ``say`` gets what became of an answer that was refused.
    """

    service: Service[Any, Any]
    truth: TruthLog
    say: Callable[[str], object]
    _told: int = 0

    def hear(self, verdicts: Sequence[Verdict]) -> None:
        """Answer what was asked in these verdicts."""
        for verdict in verdicts:
            if verdict.kind is VerdictKind.SET_UP:
                self._ask(asked_to_correct(Correction(by=_NAME, position=self.truth.start, why="this is how they lie")))
            elif verdict.kind is VerdictKind.ACCEPTED:
                self._told += len(verdict.turns)
            elif verdict.kind is VerdictKind.AMBIGUOUS and len(self.truth.turns) > self._told:
                self._ask(asked_to_enter(Entry("turn", self.truth.turns[self._told], _NAME, None)))

    def _ask(self, asked: Mapping[str, Any]) -> None:
        def answer(said: Mapping[str, Any]) -> None:
            if "done" in said:
                # What a person says is remarked by the service itself.
                self._told += asked.get("kind") == "turn"
            else:
                self.say(f"The onlooker's word is refused: {said.get('refused')}")

        attend(self.service, asked, answer)
