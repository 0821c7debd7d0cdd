"""Everything that could explain a table, and how far apart the explanations are.

Pure; ``referee.judge.decision`` chooses among them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Generic

from engine.api import StateT, TurnT
from engine.values import EMPTY, Appearance, LookName, Place
from referee.judge.evidence.stacks import count_contradiction
from referee.judge.explanations import (
    Changes,
    Explanation,
    ExplanationKind,
    rank_by_stopovers,
    score_changes,
    score_touches,
    shown_changes,
    with_a_misread_sign,
    within_one_turn,
)
from referee.judge.explorer import JudgeContext
from referee.judge.pooled_reading import PooledReading
from referee.judge.sequences import beyond_one_turn


@dataclass(frozen=True)
class Candidates(Generic[StateT, TurnT]):
    """Everything that could explain a table.

    ``base`` is the believed appearance; ``found`` every explanation that the engine allows, best first; ``shown`` what
    the table shows regardless of the rules, and ``illegal_score`` its score as an illegal change.
    """

    context: JudgeContext[StateT, TurnT]
    states: Sequence[StateT]
    seen: PooledReading
    base: Appearance
    found: Sequence[Explanation[StateT, TurnT]]
    shown: Changes
    illegal_score: float

    @property
    def best(self) -> Explanation[StateT, TurnT]:
        """The leading explanation that the engine allows."""
        return self.found[0]

    @property
    def leading(self) -> tuple[Explanation[StateT, TurnT], ...]:
        """The explanations that leave the leading appearance."""
        return tuple(one for one in self.found if one.changes == self.best.changes)

    @cached_property
    def others(self) -> tuple[Explanation[StateT, TurnT], ...]:
        """The explanations that leave another appearance.

        When nothing seems to have happened, a difference that nobody could observe is ignored.
        """
        best, seen, base = self.best, self.seen, self.base
        others = [one for one in self.found if one.changes != best.changes]
        if best.kind is ExplanationKind.NOTHING:
            observed = seen.visible_changes(base, best.changes)
            others = [one for one in others if seen.visible_changes(base, one.changes) != observed]
        return tuple(others)

    def needed_lead(self, changes: Changes) -> float:
        """Return the log-odds that must lie between these changes and the leading explanation's.

        It is more where both fill the same cells of a sheet, and only the handwriting tells them apart.
        """
        is_filled = all(EMPTY not in looks for looks in self._looks_after(changes).values())
        return self.context.settings.margin + (self.context.handwriting if is_filled else 0.0)

    @property
    def needed_illegal_lead(self) -> float:
        """The log-odds by which an illegal change must lead the best explanation.

        It is most where a legal turn fills the same empty cells of a sheet with other signs.
        """
        differing = self._looks_after(self.shown)
        is_new = bool(differing) and all(self.base.get(place, EMPTY) == EMPTY for place in differing)
        if self.context.has_sheets and is_new and all(EMPTY not in looks for looks in differing.values()):
            return self.context.settings.margin + self.context.settings.misread
        return self.needed_lead(self.shown)

    def _looks_after(self, changes: Changes) -> dict[Place, tuple[LookName, LookName]]:
        """Return for each place where these changes differ from the leading explanation's the looks after both."""
        best = self.best.changes
        after = ({**self.base, **dict(best)}, {**self.base, **dict(changes)})
        return {place: (after[0][place], after[1][place]) for place, _ in changes ^ best}

    @property
    def rivals(self) -> tuple[Explanation[StateT, TurnT], ...]:
        """The others that come too close to the leading explanation."""
        return tuple(one for one, lead, needed in self._leads if lead < needed)

    @property
    def lead(self) -> float:
        """The log-odds by which the leading explanation leads the others."""
        return min((lead for _, lead, _ in self._leads), default=math.inf)

    @cached_property
    def _leads(self) -> tuple[tuple[Explanation[StateT, TurnT], float, float], ...]:
        """Each other explanation with the leading one's lead over it, and the lead needed."""
        found = []
        for one in self.others:
            lead, needed = self.best.score - one.score, self.needed_lead(one.changes)
            found.append((one, lead if lead >= needed else max(lead, self._lead_with_heights(one)), needed))
        return tuple(found)

    def _lead_with_heights(self, other: Explanation[StateT, TurnT]) -> float:
        """Return the lead over another explanation, with the heights of the stacks that look the same in both."""
        turns = [one for one in self.leading if one.kind is ExplanationKind.TURN]
        if not turns or other.kind is not ExplanationKind.TURN:
            return self.best.score - other.score
        alike = self.seen.without(place for place, _ in other.changes ^ self.best.changes)
        return max(self._score_with_heights(one, alike) for one in turns) - self._score_with_heights(other, alike)

    def _score_with_heights(self, one: Explanation[StateT, TurnT], alike: PooledReading) -> float:
        """Return the score of the turn that fits the numbers of pieces best."""
        without = one.score - score_touches(self.seen, (turn.places for turn in one.first))
        scored = [(score_touches(self.seen, [turn.places]), turn) for turn in one.first]
        best = -math.inf
        for score, turn in sorted(scored, key=itemgetter(0), reverse=True):
            # The numbers of pieces can only lower it.
            if score <= best:
                break
            best = max(best, score - count_contradiction(self.context.game, one.state, [turn], alike))
        return without + best

    @property
    def illegal_lead(self) -> float:
        """The log-odds by which an illegal change leads the best explanation that the engine allows."""
        return self.illegal_score - self.best.score

    @cached_property
    def explains_all_shown(self) -> bool:
        """Whether an explanation leaves exactly what is shown.

        Hidden places contradict no explanation, and places where the shown look hardly leads don't contradict the best
        one.
        """
        if any(self.seen.visible_changes(self.base, one.changes) == self.shown for one in self.found):
            return True
        after = {**self.base, **dict(self.best.changes)}
        seen = {place: self.seen.places.get(place) for place in self.doubtful}
        return self.best.kind is ExplanationKind.TURN and all(
            one is not None and one.lead(one.best, after[place]) < self.context.settings.unsure
            for place, one in seen.items()
        )

    @property
    def doubtful(self) -> set[Place]:
        """The places that contradict the leading explanation."""
        return {place for place, _ in self.shown ^ self.seen.observable_changes(self.base, self.best.changes)}

    @property
    def touched_elsewhere(self) -> set[Place]:
        """The places whose stack looks touched although the leading explanation plays nothing there."""
        turns = (*self.best.first, *self.best.second)
        played_on = {*self.best.touched, *(place for turn in turns for place in turn.places)}
        side = self.context.settings.side
        return {place for place, touched in self.seen.touched.items() if touched > side} - played_on

    @property
    def is_illegal_change_close(self) -> bool:
        """Whether an illegal change is too likely to rule out."""
        return not self.explains_all_shown and -self.illegal_lead < self.context.settings.margin


def find_candidates(
    context: JudgeContext[StateT, TurnT], states: Sequence[StateT], seen: PooledReading
) -> Candidates[StateT, TurnT]:
    """Find everything that could explain a table; more than one turn only where one does not suffice."""
    settings = context.settings
    base = context.game.table.appearance(states[0])
    shown = shown_changes(base, seen, settings.unsure)
    illegal_score = score_changes(base, shown, seen) + settings.illegal_prior
    illegal_score += score_touches(seen, [[place for place, _ in shown]])
    found = rank_by_stopovers(context, within_one_turn(context, base, states, seen), base, seen)
    if seen.visible_changes(base, found[0].changes) != shown and found[0].score < illegal_score + settings.margin:
        if context.has_sheets:
            found += with_a_misread_sign(context, base, states, seen, shown)
        beyond = rank_by_stopovers(context, beyond_one_turn(context, base, states, seen), base, seen)
        found = sorted([*found, *beyond], key=lambda one: -one.score)
    return Candidates(context, states, seen, base, found, shown, illegal_score)
