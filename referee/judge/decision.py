"""Everything that could explain a table, which explanation is best, and by how much.

Pure; sentences for people are written elsewhere.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from referee.judge.faults import find_breaches, piece_of
from referee.judge.pooled_reading import PooledPlace, PooledReading
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


class Conclusion(enum.Enum):
    """How a decision came out."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Decision(Generic[StateT, TurnT]):
    """What best explains a table.

    ``explanations`` leave the leading appearance, the best one first; ``shown`` is what the table shows regardless of
    the rules; ``places`` are those that an undecided decision depends on; ``set_aside`` those ignored because they
    could not be read; ``margin`` the log-odds by which the decision leads any other meaning. ``alike`` says that the
    rivals differ from the leading explanation only in looks that sensors can't distinguish; ``unsensed`` are the turns
    that leave the table unchanged as far as sensors can tell; ``unseen`` are the hidden places where something may have
    happened although nothing else changed. ``rather_illegal`` says of an undecided change that it is more probably
    illegal than a turn.
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
    rather_illegal: bool = False

    @property
    def shows_nothing(self) -> bool:
        """Whether the table certainly shows what was believed."""
        return self.conclusion is Conclusion.ALLOWED and self.best.kind is ExplanationKind.NOTHING

    @property
    def best(self) -> Explanation[StateT, TurnT]:
        """The leading explanation that the engine allows."""
        return self.explanations[0]

    @property
    def changes(self) -> Changes:
        """What has changed: what the table shows if that is forbidden, else as the leading explanation has it."""
        return self.shown if self.conclusion is Conclusion.FORBIDDEN else self.best.changes


def decide(
    context: JudgeContext[StateT, TurnT], states: Sequence[StateT], seen: PooledReading
) -> Decision[StateT, TurnT]:
    """Choose between the explanations that the engine allows and an illegal change.

    An explanation wins when it leads every other one that leaves a different appearance by ``settings.margin``, and by
    ``settings.handwriting`` more where only handwriting tells them apart. The illegal change is what each place shows
    by itself, scored with ``settings.illegal_prior``; it wins, as forbidden, when it leads the best allowed explanation
    by as much, by ``settings.added`` more on a place with a piece or ball too many, and by ``settings.misread`` more if
    other signs in the same empty cells would be a turn. A few uncertain places that contradict an otherwise certain
    explanation are set aside and named. On a place with only a sensor, all pieces look the same; a piece that was put
    down there for a moment supports turns that pass it.
    """
    candidates = find_candidates(context, states, seen)
    rules: tuple[Callable[[Candidates[StateT, TurnT]], Decision[StateT, TurnT] | None], ...] = (
        _forbidden,
        _depends_on_sensors,
        _places_set_aside,
        _undecided_by_margin,
        _arrived_unseen,
        _left_unseen,
        _touched_and_unclear,
        _allowed,
    )
    return next(made for made in (rule(candidates) for rule in rules) if made is not None)


def _undecided(
    case: Candidates[StateT, TurnT],
    places: set[Place],
    rivals: tuple[Explanation[StateT, TurnT], ...],
    margin: float,
    *,
    alike: bool = False,
) -> Decision[StateT, TurnT]:
    """Leave it undecided because of these places."""
    in_order = case.context.in_order(places)
    rather_illegal = not case.explains_all_shown and case.illegal_lead > 0
    return Decision(
        Conclusion.UNDECIDED,
        case.leading,
        case.shown,
        margin,
        in_order,
        rivals,
        alike=alike,
        rather_illegal=rather_illegal,
    )


def _forbidden(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """Forbid what no legal turn explains."""
    if case.explains_all_shown or case.illegal_lead < case.needed_illegal_lead:
        return None
    if _lacks_one_sensor(case) or _is_illegible(case):
        return None
    if objects := _perhaps_objects(case):
        return _set_objects_aside(case, objects)
    # Explanations that contradict a certain place were not considered, so the lead may be overstated.
    settings = case.context.settings
    least = min((case.seen.places[place].certainty for place, _ in case.shown), default=0.0)
    margin = min(case.illegal_lead, max(settings.margin, least + settings.illegal_prior))
    return Decision(Conclusion.FORBIDDEN, case.leading, case.shown, margin)


def _lacks_one_sensor(case: Candidates[StateT, TurnT]) -> bool:
    """Return whether whole turns explain all but one sensor elsewhere, which is too little to name a fault."""
    best, doubtful = case.best, case.doubtful
    is_whole = best.kind in {ExplanationKind.TURN, ExplanationKind.TWO_TURNS}
    one_elsewhere = len(doubtful) == 1 and doubtful.isdisjoint(place for place, _ in best.changes)
    return is_whole and one_elsewhere and all(case.seen.only_sensed(place) for place in doubtful)


def _perhaps_objects(case: Candidates[StateT, TurnT]) -> set[Place]:
    """Return the places with a piece or ball too many that may well be an object; none if turns add pieces."""
    settings = case.context.settings
    if case.context.game.adds_pieces:
        return set()
    needed = settings.margin + settings.added - settings.illegal_prior
    # Sensors feel no objects.
    if any(case.seen.only_sensed(place) for place, _ in case.shown):
        return set()
    unsure = {place for place, look in case.shown if _lead_over_other_pieces(case.seen.places[place], look) < needed}
    if not unsure:
        return set()
    breaches = find_breaches(case.context, case.states, case.shown, case.seen)
    return unsure & {place for one in breaches if one.adds for place in one.places}


def _lead_over_other_pieces(seen: PooledPlace, look: LookName) -> float:
    """Return the log-odds by which a look leads those of other pieces, whatever mark is up."""
    return min(seen.lead(look, other) for other in seen.log_probabilities if piece_of(other) != piece_of(look))


def _set_objects_aside(case: Candidates[StateT, TurnT], objects: set[Place]) -> Decision[StateT, TurnT]:
    """Decide without the places that may hold an object, and set these aside; ask about everything if that fails."""
    without = decide(case.context, case.states, case.seen.without(objects))
    if arrivals := _arrivals_like(case, objects, without):
        return decide(case.context, case.states, case.seen.without(objects | arrivals))
    if without.conclusion is Conclusion.UNDECIDED or len(objects) > case.context.settings.most_set_aside:
        return _undecided(case, {place for place, _ in case.shown}, case.leading, 0.0)
    return replace(without, set_aside=case.context.in_order(objects | set(without.set_aside)))


def _arrivals_like(
    case: Candidates[StateT, TurnT], objects: set[Place], without: Decision[StateT, TurnT]
) -> set[Place]:
    """Return the visible places whose new piece may be an object, while the piece itself is on one of ``objects``."""
    alike = {piece_of(case.seen.places[place].best) for place in objects}
    found = set()
    for place, look in without.best.changes:
        if place not in case.seen.hidden and piece_of(look) in alike:
            other = decide(case.context, case.states, case.seen.without({place}))
            if other.conclusion is Conclusion.ALLOWED and any(at in objects for at, _ in other.best.changes):
                found.add(place)
    return found


def _is_illegible(case: Candidates[StateT, TurnT]) -> bool:
    """Return whether a cell of a sheet that contradicts the turns holds no clear sign; it may be an object."""
    margin = case.context.settings.margin
    marks = (case.seen.places[place] for place, _ in case.shown if place in case.doubtful)
    return case.context.handwriting > 0 and any(one.certainty < margin for one in marks)


def _depends_on_sensors(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """Ask where ignoring one sensor would mean trusting another one instead."""
    if not case.is_illegal_change_close:
        return None
    rivals = tuple(one for one in case.rivals if not _goes_on(case.best, one))
    if not rivals or not any(case.seen.only_sensed(place) for place in case.doubtful):
        return None
    every = [case.seen.observable_changes(case.base, one.changes) for one in (*rivals, case.best)]
    return _undecided(case, {place for observed in every for place, _ in case.shown ^ observed}, rivals, case.lead)


def _goes_on(best: Explanation[StateT, TurnT], other: Explanation[StateT, TurnT]) -> bool:
    """Return whether ``other`` has the same turn and something after it."""
    beyond = other.kind in {ExplanationKind.TURN_AND_PART, ExplanationKind.TWO_TURNS}
    return beyond and best.kind is ExplanationKind.TURN and bool(set(other.first) & set(best.first))


def _places_set_aside(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """Set aside a few doubtful places where all others are certain."""
    if not case.is_illegal_change_close:
        return None
    best, doubtful = case.best, case.doubtful
    differing = {place for one in case.rivals for place, _ in one.changes ^ best.changes}
    undecided = _undecided(case, doubtful | differing, (*case.leading, *case.rivals), 0.0)
    # A piece in the air and a doubtful one elsewhere may well be the same piece.
    under_way = best.kind in {ExplanationKind.PART, ExplanationKind.TURN_AND_PART}
    changed = {place for place, _ in best.changes}
    if under_way or doubtful & (changed | case.touched_elsewhere):
        return undecided
    if len(doubtful) > case.context.settings.most_set_aside:
        return undecided
    if best.kind is not ExplanationKind.NOTHING and _is_piece_missed(case):
        return undecided
    without = decide(case.context, case.states, case.seen.without(doubtful))
    if without.conclusion is not Conclusion.ALLOWED or without.best.changes != best.changes:
        return undecided
    return replace(without, set_aside=case.context.in_order(doubtful | set(without.set_aside)))


def _is_piece_missed(case: Candidates[StateT, TurnT]) -> bool:
    """Return whether a sensor misses a piece where it stood: a turn may have taken it to a dead sensor."""
    sensed = [place for place in case.doubtful if case.seen.only_sensed(place)]
    return any(case.base[place] != EMPTY and case.seen.places[place].best == EMPTY for place in sensed)


def _undecided_by_margin(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """Ask where something else explains the table nearly as well."""
    if not case.rivals and not case.is_illegal_change_close:
        return None
    best, seen, base = case.best, case.seen, case.base
    places = {place for one in case.rivals for place, _ in one.changes ^ best.changes}
    alike = all(
        seen.observable_changes(base, one.changes) == seen.observable_changes(base, best.changes) for one in case.rivals
    )
    return _undecided(case, places, case.rivals, _margin(case), alike=alike)


def _margin(case: Candidates[StateT, TurnT]) -> float:
    return case.lead if case.explains_all_shown else min(case.lead, -case.illegal_lead)


def _arrived_unseen(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """Ask where a piece arrived on a hidden place."""
    unseen = {place for place, look in case.best.changes if look != EMPTY and place in case.seen.hidden}
    if not unseen or case.best.kind is ExplanationKind.NOTHING:
        return None
    return _undecided(case, unseen, case.leading, 0.0)


def _left_unseen(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """Ask where a piece came from a hidden place and could have come from another one."""
    if case.best.kind is ExplanationKind.NOTHING or not case.seen.hidden:
        return None
    left = {place for place, look in case.best.changes if look == EMPTY and place in case.seen.hidden}
    others = {place for place in case.seen.hidden - left if case.base[place] != EMPTY}
    arrived = {piece_of(look) for _, look in case.best.changes if look != EMPTY}
    alike = {place for place in others if piece_of(case.base[place]) in arrived}
    if not left or not alike:
        return None
    return _undecided(case, left | alike, case.leading, 0.0)


def _touched_and_unclear(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """Ask about stacks that look touched and are unclear although the leading explanation plays nothing there."""
    margin = case.context.settings.margin
    unclear = {place for place in case.touched_elsewhere if case.seen.places[place].certainty < margin}
    return _undecided(case, unclear, case.leading, 0.0) if unclear else None


def _allowed(case: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT]:
    # One uncertain square lowers the margin, but not below the prior against an illegal change.
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
    """Return the hidden places where a turn or an illegal move would change nothing visible."""
    hidden = case.seen.hidden
    if not hidden:
        return ()
    turns = [
        case.seen.observable_changes(case.base, one.changes) for one in case.found if one.kind is ExplanationKind.TURN
    ]
    played_on = {place for observed in turns if all(at in hidden for at, _ in observed) for place, _ in observed}
    # Hidden pieces may have swapped places.
    moved_on = set(hidden) if len({case.base[place] for place in hidden}) > 1 else set()
    return case.context.in_order(played_on or moved_on)


def _unsensed(case: Candidates[StateT, TurnT]) -> tuple[Explanation[StateT, TurnT], ...]:
    """Return the turns after which sensors can't tell that the table has changed."""
    turns = [one for one in case.found if one.kind is ExplanationKind.TURN and one.changes]
    return tuple(one for one in turns if not case.seen.noticeable_changes(case.base, one.changes))
