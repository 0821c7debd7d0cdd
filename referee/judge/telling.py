"""The verdicts that are put together in more than one place: quiet ones, questions, turns that wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from engine.api import Game, Place, StateT, TurnT
from referee.judge import words
from referee.judge.accepting import Resolved
from referee.judge.deciding import Decision
from referee.judge.hypotheses import Changes
from referee.judge.pooling import PooledReading
from referee.judge.rulings import Ruling, verdict_about
from referee.verdict import Verdict, VerdictKind


@dataclass(frozen=True)
class Teller(Generic[StateT, TurnT]):
    """Tells what was seen, against what is believed."""

    game: Game[StateT, TurnT]
    belief: tuple[StateT, ...]

    def which_of(self, resolved: Resolved[TurnT], decision: Decision[StateT, TurnT], seen: PooledReading) -> Ruling:
        """Ask which of several turns was played."""
        described = [self.game.describe(turn) for turn in resolved.candidates]
        verdict = verdict_about(
            self.game,
            self.belief,
            VerdictKind.AMBIGUOUS,
            words.which_of(described),
            seen,
            places=self.changed(decision.best.changes),
            shown=dict(decision.best.changes),
            candidates=tuple(self.game.format_turn(turn) for turn in resolved.candidates),
        )
        return Ruling((verdict,))

    def pending(
        self, sentence: str, resolved: Resolved[TurnT], decision: Decision[StateT, TurnT], seen: PooledReading
    ) -> Ruling:
        """Show, quietly, a whole turn that has not ended."""
        turns = resolved.turns or resolved.candidates
        verdict = verdict_about(
            self.game,
            self.belief,
            VerdictKind.NOT_FINISHED,
            sentence,
            seen,
            places=tuple(dict.fromkeys(place for turn in turns[:1] for place in turn.places)),
            shown=dict(decision.best.changes),
            candidates=tuple(self.game.format_turn(turn) for turn in turns),
            margin=decision.margin,
        )
        return Ruling((verdict,))

    def quiet(
        self, sentence: str, places: Sequence[Place], changes: Changes, seen: PooledReading, margin: float
    ) -> Ruling:
        """Show, quietly, something that is no whole turn."""
        return self.ruling(
            VerdictKind.NOT_FINISHED, sentence, seen, places=tuple(places), shown=dict(changes), margin=margin
        )

    def question_about(
        self,
        places: Sequence[Place],
        shown: Changes,
        seen: PooledReading,
        candidates: tuple[str, ...] = (),
    ) -> Verdict:
        """Ask about places that can't be read for certain."""
        looks = {place: look for place, look in shown if place in places}
        return verdict_about(
            self.game,
            self.belief,
            VerdictKind.AMBIGUOUS,
            words.doubtful(places, looks),
            seen,
            places=tuple(places),
            shown=looks,
            candidates=candidates,
        )

    def changed(self, changes: Changes) -> tuple[Place, ...]:
        """The places of some changes, in the order of the game."""
        changed = {place for place, _ in changes}
        return tuple(place for place in self.game.places if place in changed)

    def ruling(
        self,
        kind: VerdictKind,
        sentence: str,
        seen: PooledReading,
        places: tuple[Place, ...] = (),
        shown: Mapping[Place, str] | None = None,
        margin: float = 0.0,
    ) -> Ruling:
        """One verdict and nothing else."""
        return Ruling(
            (verdict_about(self.game, self.belief, kind, sentence, seen, places=places, shown=shown, margin=margin),)
        )
