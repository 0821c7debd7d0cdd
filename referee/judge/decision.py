"""Which explanation holds, and by how much.

Pure, and without a word for people.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic

from engine.api import EMPTY, Appearance, Place, StateT, TurnT
from referee.judge.explanations import (
    Changes,
    Explanation,
    ExplanationKind,
    beyond_one_turn,
    ranked_by_stopovers,
    score_changes,
    shown_changes,
    within_one_turn,
)
from referee.judge.explorer import JudgeContext
from referee.judge.faults import piece_of
from referee.judge.pooled_reading import PooledReading


class Conclusion(enum.Enum):
    """How a decision came out."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Decision(Generic[StateT, TurnT]):
    """What best explains a table.

    ``explanations`` are those that leave the leading appearance, the leading one first; ``shown`` is what the table
    shows when no rule is asked; ``places`` are those an undecided decision hangs on; ``set_aside`` those left out
    because they could not be read; ``margin`` the log-odds by which the decision leads what would mean otherwise.
    ``alike`` says that the rivals differ from the leading explanation only in looks that sensors can't tell;
    ``unsensed`` are the turns after which a table looks unchanged for the same reason; ``unseen`` are the hidden places
    on which something may have happened all the same, where nothing else seems to have.
    """

    conclusion: Conclusion
    explanations: tuple[Explanation[StateT, TurnT], ...]
    shown: Changes
    margin: float
    places: tuple[Place, ...] = ()
    rivals: tuple[Explanation[StateT, TurnT], ...] = ()
    set_aside: tuple[Place, ...] = ()
    alike: bool = False
    unsensed: tuple[Explanation[StateT, TurnT], ...] = ()
    unseen: tuple[Place, ...] = ()

    @property
    def shows_nothing(self) -> bool:
        """Whether the table surely shows what was believed."""
        return self.conclusion is Conclusion.ALLOWED and self.best.kind is ExplanationKind.NOTHING

    @property
    def best(self) -> Explanation[StateT, TurnT]:
        """The leading explanation that the engine allows."""
        return self.explanations[0]


@dataclass(frozen=True)
class Candidates(Generic[StateT, TurnT]):
    """Everything that could explain a table, for the rules that choose.

    ``base`` is what was believed to be shown; ``found`` every explanation that the engine allows, best first;
    ``shown`` what the table shows when no rule is asked, with ``free_score`` as the explanation that it was something
    else.
    """

    context: JudgeContext[StateT, TurnT]
    states: Sequence[StateT]
    seen: PooledReading
    base: Appearance
    found: Sequence[Explanation[StateT, TurnT]]
    shown: Changes
    free_score: float

    @property
    def best(self) -> Explanation[StateT, TurnT]:
        """The leading explanation that the engine allows."""
        return self.found[0]

    @property
    def leading(self) -> tuple[Explanation[StateT, TurnT], ...]:
        """Those that leave the leading appearance."""
        return tuple(one for one in self.found if one.changes == self.best.changes)

    @cached_property
    def others(self) -> tuple[Explanation[StateT, TurnT], ...]:
        """Those that leave another appearance.

        What would differ only where nothing can be told is no reason to doubt that nothing happened.
        """
        best, seen, base = self.best, self.seen, self.base
        others = [one for one in self.found if one.changes != best.changes]
        if best.kind is ExplanationKind.NOTHING:
            told = seen.told(base, best.changes)
            others = [one for one in others if seen.told(base, one.changes) != told]
        return tuple(others)

    @property
    def rivals(self) -> tuple[Explanation[StateT, TurnT], ...]:
        """The others that the leading explanation does not lead by the margin."""
        return tuple(one for one in self.others if self.best.score - one.score < self.context.settings.margin)

    @property
    def lead(self) -> float:
        """By how many log-odds the leading explanation leads the others."""
        return self.best.score - self.others[0].score if self.others else float("inf")

    @property
    def free_lead(self) -> float:
        """By how many log-odds the free explanation leads the best one that the engine allows."""
        return self.free_score - self.best.score

    @cached_property
    def is_borne_out(self) -> bool:
        """Whether an explanation leaves just what is shown.

        What an explanation says of a hidden place is borne out as well as it can be. So is what the best one says where
        the look that is shown hardly leads.
        """
        if any(self.seen.told(self.base, one.changes) == self.shown for one in self.found):
            return True
        after = {**self.base, **dict(self.best.changes)}
        seen = {place: self.seen.places.get(place) for place in self.doubtful}
        return self.best.kind is ExplanationKind.TURN and all(
            one is not None and one.lead(one.best, after[place]) < self.context.settings.unsure
            for place, one in seen.items()
        )

    @property
    def doubtful(self) -> set[Place]:
        """The places that look otherwise than the leading explanation has them."""
        return {place for place, _ in self.shown ^ self.seen.coarse(self.base, self.best.changes)}

    @property
    def is_free_one_close(self) -> bool:
        """Whether the free explanation is too near to be ruled out."""
        return not self.is_borne_out and -self.free_lead < self.context.settings.margin

    def undecided(
        self, places: set[Place], rivals: tuple[Explanation[StateT, TurnT], ...], margin: float, *, alike: bool = False
    ) -> Decision[StateT, TurnT]:
        """Decide nothing, for want of these places."""
        in_order = self.context.in_order(places)
        return Decision(Conclusion.UNDECIDED, self.leading, self.shown, margin, in_order, rivals, alike=alike)


def _candidates(
    context: JudgeContext[StateT, TurnT], states: Sequence[StateT], seen: PooledReading
) -> Candidates[StateT, TurnT]:
    """Find everything that could explain a table; more than a turn only where nothing shorter does."""
    settings = context.settings
    base = context.game.table.appearance(states[0])
    shown = shown_changes(base, seen, settings.unsure)
    free_score = score_changes(base, shown, seen) + settings.illegal_prior
    found = ranked_by_stopovers(context, within_one_turn(context, base, states, seen), base, seen)
    if seen.told(base, found[0].changes) != shown and found[0].score < free_score + settings.margin:
        beyond = ranked_by_stopovers(context, beyond_one_turn(context, base, states, seen), base, seen)
        found = sorted([*found, *beyond], key=lambda one: -one.score)
    return Candidates(context, states, seen, base, found, shown, free_score)


def decide(
    context: JudgeContext[StateT, TurnT], states: Sequence[StateT], seen: PooledReading
) -> Decision[StateT, TurnT]:
    """Choose among what the engine allows, and the free explanation that it was something else.

    An explanation is allowed when it leads every other one that leaves another appearance by ``settings.margin``.
    The free explanation is what the places show by themselves, with the prior of an illegal change; the change is
    forbidden when that leads the best allowed explanation by the margin. A few places that contradict an otherwise
    certain explanation without being certain themselves are set aside and named. Where only sensors know a place, its
    looks are all the same; where they noticed a piece set down on its way, that speaks for turns that pass there.
    """
    candidates = _candidates(context, states, seen)
    rules: tuple[Callable[[Candidates[StateT, TurnT]], Decision[StateT, TurnT] | None], ...] = (
        _forbidden,
        _hangs_on_sensors,
        _places_set_aside,
        _undecided_by_margin,
        _arrived_unseen,
        _left_unseen,
        _allowed,
    )
    return next(made for made in (rule(candidates) for rule in rules) if made is not None)


def _forbidden(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """The table shows something that no rule allows."""
    if case.is_borne_out or case.free_lead < case.context.settings.margin or _lacks_one_sensor(case):
        return None
    # An explanation that contradicts a single place was not weighed, where that place is certain.
    settings = case.context.settings
    least = min((case.seen.places[place].certainty for place, _ in case.shown), default=0.0)
    margin = min(case.free_lead, max(settings.margin, least + settings.illegal_prior))
    return Decision(Conclusion.FORBIDDEN, case.leading, case.shown, margin)


def _lacks_one_sensor(case: Candidates[StateT, TurnT]) -> bool:
    """Whether whole turns explain everything but what one sensor says elsewhere, which alone names no fault."""
    best, doubtful = case.best, case.doubtful
    is_whole = best.kind in {ExplanationKind.TURN, ExplanationKind.TWO_TURNS}
    one_elsewhere = len(doubtful) == 1 and doubtful.isdisjoint(place for place, _ in best.changes)
    return is_whole and one_elsewhere and all(case.seen.only_sensed(place) for place in doubtful)


def _hangs_on_sensors(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """To leave out what one sensor says would be to choose by what another one does."""
    if not case.is_free_one_close:
        return None
    rivals = tuple(one for one in case.rivals if not _goes_on(case.best, one))
    if not rivals or not any(case.seen.only_sensed(place) for place in case.doubtful):
        return None
    every = [case.seen.coarse(case.base, one.changes) for one in (*rivals, case.best)]
    return case.undecided({place for told in every for place, _ in case.shown ^ told}, rivals, case.lead)


def _goes_on(best: Explanation[StateT, TurnT], other: Explanation[StateT, TurnT]) -> bool:
    """Whether another explanation says that the same turn was played, and more after it."""
    beyond = other.kind in {ExplanationKind.TURN_AND_PART, ExplanationKind.TWO_TURNS}
    return beyond and best.kind is ExplanationKind.TURN and bool(set(other.first) & set(best.first))


def _places_set_aside(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """A few doubtful places are left out where all the rest is certain."""
    if not case.is_free_one_close:
        return None
    best, doubtful = case.best, case.doubtful
    undecided = case.undecided(doubtful, case.leading, 0.0)
    # A piece in the air and a doubtful one elsewhere may well be the same piece.
    under_way = best.kind in {ExplanationKind.PART, ExplanationKind.TURN_AND_PART}
    changed = {place for place, _ in best.changes}
    if under_way or doubtful & changed or len(doubtful) > case.context.settings.most_set_aside:
        return undecided
    if best.kind is not ExplanationKind.NOTHING and _is_piece_missed(case):
        return undecided
    without = decide(case.context, case.states, case.seen.without(doubtful))
    if without.conclusion is not Conclusion.ALLOWED or without.best.changes != best.changes:
        return undecided
    return replace(without, set_aside=case.context.in_order(doubtful | set(without.set_aside)))


def _is_piece_missed(case: Candidates[StateT, TurnT]) -> bool:
    """Whether a sensor misses a piece where it stood: with a turn it may have gone where a sensor is dead."""
    sensed = [place for place in case.doubtful if case.seen.only_sensed(place)]
    return any(case.base[place] != EMPTY and case.seen.places[place].best == EMPTY for place in sensed)


def _undecided_by_margin(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """Something else explains the table nearly as well."""
    if _margin(case) >= case.context.settings.margin:
        return None
    best, seen, base = case.best, case.seen, case.base
    places = {place for one in case.rivals for place, _ in one.changes ^ best.changes}
    alike = all(seen.coarse(base, one.changes) == seen.coarse(base, best.changes) for one in case.rivals)
    return case.undecided(places, case.rivals, _margin(case), alike=alike)


def _margin(case: Candidates[StateT, TurnT]) -> float:
    return case.lead if case.is_borne_out else min(case.lead, -case.free_lead)


def _arrived_unseen(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """A piece came to a place that nobody can see."""
    unseen = {place for place, look in case.best.changes if look != EMPTY and place in case.seen.hidden}
    if not unseen or case.best.kind is ExplanationKind.NOTHING:
        return None
    return case.undecided(unseen, case.leading, 0.0)


def _left_unseen(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """A piece came from a place that nobody can see, and may as well have come from another such place."""
    if case.best.kind is ExplanationKind.NOTHING or not case.seen.hidden:
        return None
    left = {place for place, look in case.best.changes if look == EMPTY and place in case.seen.hidden}
    others = {place for place in case.seen.hidden - left if case.base[place] != EMPTY}
    arrived = {piece_of(look) for _, look in case.best.changes if look != EMPTY}
    alike = {place for place in others if piece_of(case.base[place]) in arrived}
    if not left or not alike:
        return None
    return case.undecided(left | alike, case.leading, 0.0)


def _allowed(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT]:
    # A square that shows nothing surely is no reason to doubt; the margin tells of it all the same.
    surest = max(
        min((one.certainty for one in case.seen.places.values()), default=0.0), -case.context.settings.illegal_prior
    )
    nothing = case.best.kind is ExplanationKind.NOTHING
    return Decision(
        Conclusion.ALLOWED,
        case.leading,
        case.shown,
        min(_margin(case), surest),
        unsensed=_unsensed(case) if nothing else (),
        unseen=_unseen(case) if nothing else (),
    )


def _unseen(case: Candidates[StateT, TurnT]) -> tuple[Place, ...]:
    """The hidden places on which a turn, or a piece moved against the rules, would change nothing that can be seen."""
    hidden = case.seen.hidden
    if not hidden:
        return ()
    turns = [case.seen.coarse(case.base, one.changes) for one in case.found if one.kind is ExplanationKind.TURN]
    played_on = {place for told in turns if all(at in hidden for at, _ in told) for place, _ in told}
    # pieces that are hidden may have been moved to where it is hidden, too, and have changed places
    moved_on = set(hidden) if len({case.base[place] for place in hidden}) > 1 else set()
    return case.context.in_order(played_on or moved_on)


def _unsensed(case: Candidates[StateT, TurnT]) -> tuple[Explanation[StateT, TurnT], ...]:
    """The turns after which the table looks as before for all that sensors tell."""
    turns = [one for one in case.found if one.kind is ExplanationKind.TURN and one.changes]
    return tuple(one for one in turns if not case.seen.tellable(case.base, one.changes))
