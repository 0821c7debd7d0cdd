"""Decides which explanation of a table is best and by how much.

Pure; sentences for people are written elsewhere.
"""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Generic

from engine.api import StateT, TurnT
from engine.values import EMPTY, LookName, Place
from referee.judge.evidence.turns import (
    count_contradiction,
)
from referee.judge.explanations import (
    Explanation,
    ExplanationKind,
    best_first,
    beyond_one_turn,
    rank_by_stopovers,
    score,
    score_touches,
    shown_changes,
    with_a_misread_sign,
    within_one_turn,
)
from referee.judge.explorer import Case, Changes
from referee.judge.faults import find_breaches, piece_of
from referee.judge.pooled_reading import PIECE, PooledPlace, PooledReading
from referee.judge.verdict import places_named


@dataclass(frozen=True)
class Candidates(Case[StateT, TurnT]):
    """A case with everything that could explain it.

    ``explanations`` are all that the engine allows, best first; ``shown`` what the table shows regardless of the
    rules, and ``illegal_score`` its score as an illegal change.
    """

    explanations: Sequence[Explanation[StateT, TurnT]]
    shown: Changes
    illegal_score: float

    @property
    def best(self) -> Explanation[StateT, TurnT]:
        """The leading explanation that the engine allows."""
        return self.explanations[0]

    @property
    def leading(self) -> tuple[Explanation[StateT, TurnT], ...]:
        """The explanations that leave the leading appearance."""
        return tuple(one for one in self.explanations if one.changes == self.best.changes)

    @cached_property
    def others(self) -> tuple[Explanation[StateT, TurnT], ...]:
        """The explanations that leave another appearance.

        When nothing seems to have happened, a difference that nobody could observe is ignored.
        """
        best, seen, base = self.best, self.seen, self.base
        others = [one for one in self.explanations if one.changes != best.changes]
        if best.kind is ExplanationKind.NOTHING:
            observed = seen.visible_changes(base, best.changes)
            others = [one for one in others if seen.visible_changes(base, one.changes) != observed]
        return tuple(others)

    def needed_lead(self, changes: Changes) -> float:
        """Return the log-odds that must lie between these changes and the leading explanation's.

        It is more where both fill the same cells of a sheet, and only the handwriting tells them apart.
        """
        is_filled = all(EMPTY not in looks for looks in self._looks_after(changes).values())
        return self.settings.margin + (self.context.handwriting if is_filled else 0.0)

    @property
    def needed_illegal_lead(self) -> float:
        """The log-odds by which an illegal change must lead the best explanation.

        It is most where a legal turn fills the same empty cells of a sheet with other signs.
        """
        differing = self._looks_after(self.shown)
        is_new = bool(differing) and all(self.base.get(place, EMPTY) == EMPTY for place in differing)
        if self.game.has_sheets and is_new and all(EMPTY not in looks for looks in differing.values()):
            return self.settings.margin + self.settings.misread_log_odds
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
        in_common = self.seen.without(place for place, _ in other.changes ^ self.best.changes)
        best = max(self._score_with_heights(one, in_common) for one in turns)
        return best - self._score_with_heights(other, in_common)

    def _score_with_heights(self, one: Explanation[StateT, TurnT], in_common: PooledReading) -> float:
        """Return the score of the turn that fits the numbers of pieces best."""
        untouched = one.score - score_touches(self.seen, (turn.places for turn in one.first))
        by_touches = sorted(((score_touches(self.seen, [turn.places]), turn) for turn in one.first), key=itemgetter(0))
        best = -math.inf
        for weight, turn in reversed(by_touches):
            # The numbers of pieces can only lower it.
            if weight <= best:
                break
            best = max(best, weight - count_contradiction(self.game, one.state, [turn], in_common))
        return untouched + best

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
        if any(self.seen.visible_changes(self.base, one.changes) == self.shown for one in self.explanations):
            return True
        if self.best.kind is not ExplanationKind.TURN or not self.doubtful <= self.seen.places.keys():
            return False
        after = {**self.base, **dict(self.best.changes)}
        seen = [(self.seen.places[place], after[place]) for place in self.doubtful]
        return all(one.lead(one.best, look) < self.settings.unsure_log_odds for one, look in seen)

    @property
    def doubtful(self) -> set[Place]:
        """The places that contradict the leading explanation."""
        return {place for place, _ in self.shown ^ self.seen.observable_changes(self.base, self.best.changes)}

    @property
    def is_contradiction_certain(self) -> bool:
        """Whether a single place would be enough to contradict the leading explanation, or sensors contradict it."""
        after, needed = {**self.base, **dict(self.best.changes)}, self.settings.margin - self.settings.illegal_prior
        seen = [(self.seen.places[place], after[place]) for place in self.doubtful & self.seen.places.keys()]
        return any(one.sensed_only or one.lead(one.best, look) >= needed for one, look in seen)

    @property
    def touched_elsewhere(self) -> set[Place]:
        """The places whose stack looks touched although the leading explanation plays nothing there."""
        touched = {place for place, touched in self.seen.touched.items() if touched > self.settings.side}
        return touched - {*self.best.touched, *places_named((*self.best.first, *self.best.second))}

    @property
    def margin(self) -> float:
        """The lead over everything else, legal or not."""
        return self.lead if self.explains_all_shown else min(self.lead, -self.illegal_lead)

    @property
    def is_illegal_change_close(self) -> bool:
        """Whether an illegal change is too likely to rule out."""
        return not self.explains_all_shown and -self.illegal_lead < self.settings.margin


def find_candidates(case: Case[StateT, TurnT]) -> Candidates[StateT, TurnT]:
    """Find everything that could explain a table; more than one turn only where one does not suffice."""
    settings = case.settings
    shown = shown_changes(case.base, case.seen, settings.unsure_log_odds)
    illegal_score = score(case, shown, [[place for place, _ in shown]], settings.illegal_prior, allowed=False)
    found = rank_by_stopovers(case, within_one_turn(case))
    if case.seen.visible_changes(case.base, found[0].changes) != shown and (
        found[0].score < illegal_score + settings.margin
    ):
        signs = with_a_misread_sign(case, shown) if case.game.has_sheets else []
        found = best_first([*found, *signs, *rank_by_stopovers(case, beyond_one_turn(case))])
    return Candidates(case.context, case.states, case.seen, found, shown, illegal_score)


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
    could not be read; ``margin`` the log-odds by which the decision leads any other meaning. ``is_alike_to_sensors``
    says that the rivals differ from the leading explanation only in looks that sensors can't distinguish; ``unsensed``
    are the turns that leave the table unchanged as far as sensors can tell; ``unseen`` are the hidden places where
    something may have happened although nothing else changed. ``rather_illegal`` says of an undecided change that it
    is more probably illegal than a turn. ``misses_piece`` says that a piece has left its place and may be on any of
    ``places``.
    """

    conclusion: Conclusion
    explanations: tuple[Explanation[StateT, TurnT], ...]
    shown: Changes
    margin: float
    places: tuple[Place, ...] = ()
    rivals: tuple[Explanation[StateT, TurnT], ...] = ()
    set_aside: tuple[Place, ...] = ()
    is_alike_to_sensors: bool = False
    unsensed: tuple[Explanation[StateT, TurnT], ...] = ()
    unseen: tuple[Place, ...] = ()
    rather_illegal: bool = False
    misses_piece: bool = False

    @property
    def shows_nothing(self) -> bool:
        """Whether the table certainly shows what was believed."""
        return self.conclusion is Conclusion.ALLOWED and self.best.kind is ExplanationKind.NOTHING

    @property
    def best(self) -> Explanation[StateT, TurnT]:
        """The leading explanation that the engine allows."""
        return self.explanations[0]

    def setting_aside(self, case: Case[StateT, TurnT], places: set[Place]) -> Decision[StateT, TurnT]:
        """Return the decision with these places set aside as well."""
        return replace(self, set_aside=case.context.in_order(places | set(self.set_aside)))

    @property
    def changes(self) -> Changes:
        """What has changed: what the table shows if that is forbidden, else as the leading explanation has it."""
        return self.shown if self.conclusion is Conclusion.FORBIDDEN else self.best.changes


def decide(case: Case[StateT, TurnT]) -> Decision[StateT, TurnT]:
    """Choose between the explanations that the engine allows and an illegal change.

    An explanation wins when it leads every other one that leaves a different appearance by ``settings.margin``, and by
    ``settings.handwriting`` more where only handwriting tells them apart. The illegal change is what each place shows
    by itself, scored with ``settings.illegal_prior``; it wins, as forbidden, when it leads the best allowed explanation
    by as much, by ``settings.added_log_odds`` more on a place with a piece or ball too many, and by
    ``settings.misread_log_odds`` more if other signs in the same empty cells would be a turn. It rests on what is read
    well: at least one place must be enough by itself, none may show another look nearly as well, and no other place may
    hold a piece that is missing. A few uncertain places that contradict an otherwise certain explanation are set aside
    and named. On a place with only a sensor, all pieces look the same; a piece that was put down there for a moment
    supports turns that pass it.
    """
    return next(_decisions(find_candidates(case)))


def _decisions(found: Candidates[StateT, TurnT]) -> Iterator[Decision[StateT, TurnT]]:
    """Yield the decisions that the evidence asks for; the first one counts."""
    seen, base, best, margin = found.seen, found.base, found.best, found.settings.margin
    if covered := mostly_covered(found, found.shown | best.changes):
        yield _undecided(found, covered, found.leading)
    is_forbidden = not found.explains_all_shown and found.illegal_lead >= found.needed_illegal_lead
    if is_forbidden and found.is_contradiction_certain and not _lacks_one_sensor(found) and not _is_illegible(found):
        if objects := _perhaps_objects(found):
            yield _set_objects_aside(found, objects)
        if unclear := {place for place, _ in found.shown if seen.places[place].certainty < margin}:
            rest = decide(found.without(unclear))
            is_clear = rest.conclusion is Conclusion.FORBIDDEN
            yield rest if is_clear else _undecided(found, unclear, found.leading)
        if perhaps := _perhaps_holding_missing(found, found.shown):
            yield _undecided(found, perhaps, found.leading, misses_piece=True)
        # Explanations that contradict a certain place were not considered, so the lead may be overstated.
        least = min((seen.places[place].certainty for place, _ in found.shown), default=0.0)
        lead = min(found.illegal_lead, max(margin, least + found.settings.illegal_prior))
        yield Decision(Conclusion.FORBIDDEN, found.leading, found.shown, lead)
    differing = {place for one in found.rivals for place, _ in one.changes ^ best.changes}
    if found.is_illegal_change_close:
        # Ignoring one sensor would mean trusting another one instead.
        rivals = tuple(one for one in found.rivals if not _plays_on_after(best, one))
        if rivals and any(seen.only_sensed(place) for place in found.doubtful):
            every = [seen.observable_changes(base, one.changes) for one in (*rivals, best)]
            yield _undecided(found, {place for each in every for place, _ in found.shown ^ each}, rivals, found.lead)
        yield _decide_without_doubtful(found) or _undecided(
            found, found.doubtful | differing, (*found.leading, *found.rivals)
        )
    if found.rivals:
        observed = seen.observable_changes(base, best.changes)
        is_alike = all(seen.observable_changes(base, one.changes) == observed for one in found.rivals)
        yield _undecided(found, differing, found.rivals, found.margin, is_alike_to_sensors=is_alike)
    for places in (_arrived_unseen(found), _left_unseen(found), _touched_and_unclear(found)):
        if places:
            yield _undecided(found, places, found.leading)
    is_under_way = best.kind in {ExplanationKind.PART, ExplanationKind.TURN_AND_PART}
    if is_under_way and (perhaps := _perhaps_holding_missing(found, best.changes)):
        yield _undecided(found, perhaps, found.leading, misses_piece=True)
    # One uncertain square lowers the margin, but not below the prior against an illegal change.
    certainty = min((one.certainty for one in seen.places.values()), default=0.0)
    lead = min(found.margin, max(certainty, -found.settings.illegal_prior))
    unsensed, unseen = (_unsensed(found), _unseen(found)) if best.kind is ExplanationKind.NOTHING else ((), ())
    yield Decision(Conclusion.ALLOWED, found.leading, found.shown, lead, unsensed=unsensed, unseen=unseen)


def _undecided(
    found: Candidates[StateT, TurnT],
    places: set[Place],
    rivals: tuple[Explanation[StateT, TurnT], ...],
    margin: float = 0.0,
    *,
    is_alike_to_sensors: bool = False,
    misses_piece: bool = False,
) -> Decision[StateT, TurnT]:
    """Leave it undecided because of these places."""
    return Decision(
        Conclusion.UNDECIDED,
        found.leading,
        found.shown,
        margin,
        found.context.in_order(places),
        rivals,
        is_alike_to_sensors=is_alike_to_sensors,
        rather_illegal=not found.explains_all_shown and found.illegal_lead > 0,
        misses_piece=misses_piece,
    )


def _perhaps_holding_missing(found: Candidates[StateT, TurnT], changes: Changes) -> set[Place]:
    """Return the places that may hold a piece which these changes take away and put nowhere.

    They are hidden, or don't clearly show what was believed rather than that piece, or are a stack with such a piece on
    top that looks touched. Ink stays where it is.
    """
    seen, base, margin = found.seen, found.base, found.settings.margin
    missing = _missing_pieces(found, changes)
    if not missing:
        return set()
    looks = {look for look in found.game.looks if piece_of(look) in missing}

    def may_hold(place: Place, believed: LookName) -> bool:
        shown, is_alike = seen.places.get(place), piece_of(believed) in missing
        if is_alike and found.game.heights is None:
            return False
        if shown is None or is_alike:
            return shown is None or seen.touched.get(place, 0.0) > 0
        return not shown.sensed_only and min(shown.lead(believed, look) for look in looks) < margin

    elsewhere = base.keys() - seen.settled - {place for place, _ in changes}
    return {place for place in elsewhere if may_hold(place, base[place])}


def _missing_pieces(case: Case[StateT, TurnT], changes: Changes) -> set[str]:
    """Return the pieces that these changes take away and put nowhere; a stack may also cover one."""
    if case.game.has_sheets or any(look == PIECE for _, look in changes):
        return set()
    moves = [(piece_of(case.base[place]), piece_of(look)) for place, look in changes]
    taken = {before for before, after in moves if before != after}
    is_stacked = case.game.heights is not None
    left = Counter(before for before, after in moves if before != after and not (is_stacked and after in taken))
    return (left - Counter(after for before, after in moves if before != after)).keys() - {EMPTY}


def mostly_covered(case: Case[StateT, TurnT], changes: Changes) -> set[Place]:
    """Return the covered places of each board or sheet on which something has changed, if there are too many."""
    sheet_of, covered = case.context.sheet_of, set[Place]()
    for sheet in {sheet_of(place) for place, _ in changes} if case.seen.covered else ():
        own = {place for place in case.base if sheet_of(place) == sheet}
        if len(own & case.seen.covered.keys()) > case.settings.most_covered * len(own):
            covered |= own & case.seen.covered.keys()
    return covered


def _lacks_one_sensor(found: Candidates[StateT, TurnT]) -> bool:
    """Return whether whole turns explain all but one sensor elsewhere, which is too little to name a fault."""
    best, doubtful = found.best, found.doubtful
    is_whole = best.kind in {ExplanationKind.TURN, ExplanationKind.TWO_TURNS}
    one_elsewhere = len(doubtful) == 1 and doubtful.isdisjoint(place for place, _ in best.changes)
    return is_whole and one_elsewhere and all(found.seen.only_sensed(place) for place in doubtful)


def _perhaps_objects(found: Candidates[StateT, TurnT]) -> set[Place]:
    """Return the places with a piece or ball too many that may well be an object; none if turns add pieces."""
    settings = found.settings
    needed = settings.margin + settings.added_log_odds - settings.illegal_prior
    # Sensors feel no objects.
    if found.game.adds_pieces or any(found.seen.only_sensed(place) for place, _ in found.shown):
        return set()
    unsure = {place for place, look in found.shown if _lead_over_other_pieces(found.seen.places[place], look) < needed}
    breaches = find_breaches(found, found.shown) if unsure else ()
    return unsure & {place for one in breaches if one.adds for place in one.places}


def _lead_over_other_pieces(seen: PooledPlace, look: LookName) -> float:
    """Return the log-odds by which a look leads those of other pieces, whatever mark is up."""
    return min(seen.lead(look, other) for other in seen.log_probabilities if piece_of(other) != piece_of(look))


def _set_objects_aside(found: Candidates[StateT, TurnT], objects: set[Place]) -> Decision[StateT, TurnT]:
    """Decide without the places that may hold an object, and set these aside; ask about everything if that fails."""
    rest = decide(found.without(objects))
    if arrivals := _arrivals_like(found, objects, rest):
        return decide(found.without(objects | arrivals))
    if rest.conclusion is Conclusion.UNDECIDED or len(objects) > found.settings.most_set_aside:
        return _undecided(found, {place for place, _ in found.shown}, found.leading)
    return rest.setting_aside(found, objects)


def _arrivals_like(found: Candidates[StateT, TurnT], objects: set[Place], rest: Decision[StateT, TurnT]) -> set[Place]:
    """Return the visible places whose new piece may be an object, while the piece itself is on one of ``objects``."""
    pieces = {piece_of(found.seen.places[place].best) for place in objects}
    arrivals = set()
    for place, look in rest.best.changes:
        if place not in found.seen.hidden and piece_of(look) in pieces:
            other = decide(found.without({place}))
            if other.conclusion is Conclusion.ALLOWED and any(at in objects for at, _ in other.best.changes):
                arrivals.add(place)
    return arrivals


def _is_illegible(found: Candidates[StateT, TurnT]) -> bool:
    """Return whether a cell of a sheet that contradicts the turns holds no clear sign; it may be an object."""
    marks = (found.seen.places[place] for place, _ in found.shown if place in found.doubtful)
    return found.context.handwriting > 0 and any(one.certainty < found.settings.margin for one in marks)


def _plays_on_after(best: Explanation[StateT, TurnT], other: Explanation[StateT, TurnT]) -> bool:
    """Return whether ``other`` has the same turn and something after it."""
    is_same_turn = best.kind is ExplanationKind.TURN and bool(set(other.first) & set(best.first))
    return other.kind.is_beyond_one and is_same_turn


def _decide_without_doubtful(found: Candidates[StateT, TurnT]) -> Decision[StateT, TurnT] | None:
    """Set aside a few doubtful places where all others are certain."""
    best, doubtful = found.best, found.doubtful
    # A piece in the air and a doubtful one elsewhere may well be the same piece.
    under_way = best.kind in {ExplanationKind.PART, ExplanationKind.TURN_AND_PART}
    if under_way or doubtful & ({place for place, _ in best.changes} | found.touched_elsewhere):
        return None
    is_missed = best.kind is not ExplanationKind.NOTHING and _is_piece_missed(found)
    if is_missed or len(doubtful) > found.settings.most_set_aside:
        return None
    rest = decide(found.without(doubtful))
    is_same = rest.conclusion is Conclusion.ALLOWED and rest.best.changes == best.changes
    return rest.setting_aside(found, doubtful) if is_same else None


def _is_piece_missed(found: Candidates[StateT, TurnT]) -> bool:
    """Return whether a sensor misses a piece where it stood: a turn may have taken it to a dead sensor."""
    sensed = [place for place in found.doubtful if found.seen.only_sensed(place)]
    return any(found.base[place] != EMPTY and found.seen.places[place].best == EMPTY for place in sensed)


def _arrived_unseen(found: Candidates[StateT, TurnT]) -> set[Place]:
    """Return the hidden places where a piece arrived."""
    if found.best.kind is ExplanationKind.NOTHING:
        return set()
    return {place for place, look in found.best.changes if look != EMPTY and place in found.seen.hidden}


def _left_unseen(found: Candidates[StateT, TurnT]) -> set[Place]:
    """Return the hidden places that a piece may have come from, if there are several."""
    hidden = found.seen.hidden
    if found.best.kind is ExplanationKind.NOTHING or not hidden:
        return set()
    left = {place for place, look in found.best.changes if look == EMPTY and place in hidden}
    arrived = {piece_of(look) for _, look in found.best.changes if look != EMPTY}
    held = {place: piece_of(found.base[place]) for place in hidden - left if found.base[place] != EMPTY}
    perhaps = {place for place, piece in held.items() if piece in arrived}
    return left | perhaps if left and perhaps else set()


def _touched_and_unclear(found: Candidates[StateT, TurnT]) -> set[Place]:
    """Return the stacks that look touched and are unclear although the leading explanation plays nothing there."""
    margin = found.settings.margin
    return {place for place in found.touched_elsewhere if found.seen.places[place].certainty < margin}


def _unseen(found: Candidates[StateT, TurnT]) -> tuple[Place, ...]:
    """Return the hidden places where a turn or an illegal move would change nothing visible."""
    hidden = found.seen.hidden
    if not hidden:
        return ()
    turns = [
        found.seen.observable_changes(found.base, one.changes)
        for one in found.explanations
        if one.kind is ExplanationKind.TURN
    ]
    played = {place for observed in turns if all(at in hidden for at, _ in observed) for place, _ in observed}
    # Hidden pieces may have swapped places.
    moved_on = set(hidden) if len({found.base[place] for place in hidden}) > 1 else set()
    return found.context.in_order(played or moved_on)


def _unsensed(found: Candidates[StateT, TurnT]) -> tuple[Explanation[StateT, TurnT], ...]:
    """Return the turns after which sensors can't tell that the table has changed."""
    turns = [one for one in found.explanations if one.kind is ExplanationKind.TURN and one.changes]
    return tuple(one for one in turns if not found.seen.noticeable_changes(found.base, one.changes))
