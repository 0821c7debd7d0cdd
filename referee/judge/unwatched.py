"""Whether more turns than the judge accepts explain a table, as when nobody watched for a while. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from engine.api import Game, Place, StateT, TurnT
from referee.judge.belief import Expansion, Explorer
from referee.judge.hypotheses import Changes, against_sides, as_one
from referee.judge.pooling import PooledReading
from referee.judge.settings import JudgeSettings

_TURNS = 3
_MOST_STATES = 24


def more_turns_explain(
    game: Game[StateT, TurnT],
    explorer: Explorer[StateT, TurnT],
    states: Sequence[StateT],
    changes: Changes,
    seen: PooledReading,
    settings: JudgeSettings,
) -> bool:
    """Say whether three turns in a row leave what is seen, tops and sides, each of them on a place that changed.

    Only told to people: so many turns fit so much that they are never accepted. Says no where fewer places changed than
    that, since a misdeed explains those as well, and gives up after two dozen positions: the players wait for it.
    """
    if len(changes) < _TURNS:
        return False
    for state in states:
        target = {**explorer.expand(states[0]).appearance, **dict(changes)}
        visible = {place: look for place, look in target.items() if place in seen.places}
        changed = frozenset(place for place, _ in changes)
        if _Search(game, explorer, state, visible, changed, seen, settings.side).finds(state, ()):
            return True
    return False


@dataclass
class _Search(Generic[StateT, TurnT]):
    """Looks for turns from one state to a table, leaving out what can't get there in the turns that are left."""

    game: Game[StateT, TurnT]
    explorer: Explorer[StateT, TurnT]
    origin: StateT
    target: Mapping[Place, str]
    changed: frozenset[Place]
    seen: PooledReading
    side_lead: float
    _expanded: int = field(default=0, init=False)

    def finds(self, state: StateT, played: tuple[TurnT, ...]) -> bool:
        self._expanded += 1
        if self._expanded > _MOST_STATES:
            return False
        expansion = self.explorer.expand(state)
        # A turn can't put right more places than the busiest turn changes.
        most = max((len(changes) for changes in expansion.by_changes), default=0)
        left = _TURNS - len(played) - 1
        for changes, turns in expansion.by_changes.items():
            if not any(place in self.changed for place, _ in changes):
                continue
            missing = self._missing(expansion, changes)
            if missing > most * left or (left and not missing):
                continue
            for turn in as_one(self.explorer, turns):
                sequence = (*played, turn)
                if left and self.finds(self.game.apply(state, turn), sequence):
                    return True
                if not left and against_sides(self.game, self.origin, sequence, self.seen) < self.side_lead:
                    return True
        return False

    def _missing(self, expansion: Expansion[StateT, TurnT], changes: Changes) -> int:
        after = {**expansion.appearance, **dict(changes)}
        seen = self.seen.places
        return sum(seen[place].told(after[place]) != seen[place].told(look) for place, look in self.target.items())
