"""Which explanation holds, and by how much.

Pure, and without a word for people.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic

from engine.api import EMPTY, Appearance, Game, Place, StateT, TurnT
from referee.judge.belief import Explorer
from referee.judge.explanations import (
    Changes,
    Explanation,
    ExplanationKind,
    beyond_one_turn,
    by_stops,
    score_changes,
    shown_changes,
    within_one_turn,
)
from referee.judge.pooled_reading import PooledReading
from referee.judge.settings import JudgeSettings


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
    ``alike`` says that the rivals differ from the leading explanation only in looks that sensors can't tell; ``unfelt``
    are the turns after which a table looks unchanged for the same reason.
    """

    standing: Conclusion
    explanations: tuple[Explanation[StateT, TurnT], ...]
    shown: Changes
    margin: float
    places: tuple[Place, ...] = ()
    rivals: tuple[Explanation[StateT, TurnT], ...] = ()
    set_aside: tuple[Place, ...] = ()
    alike: bool = False
    unfelt: tuple[Explanation[StateT, TurnT], ...] = ()

    @property
    def shows_nothing(self) -> bool:
        """Whether the table surely shows what was believed."""
        return self.standing is Conclusion.ALLOWED and self.best.happening is ExplanationKind.NOTHING

    @property
    def best(self) -> Explanation[StateT, TurnT]:
        """The leading explanation that the engine allows."""
        return self.explanations[0]


def decide(
    game: Game[StateT, TurnT],
    explorer: Explorer[StateT, TurnT],
    states: Sequence[StateT],
    seen: PooledReading,
    settings: JudgeSettings,
) -> Decision[StateT, TurnT]:
    """Choose among what the engine allows, and the free explanation that it was something else.

    An explanation is allowed when it leads every other one that leaves another appearance by ``settings.margin``.
    The free explanation is what the places show by themselves, with the prior of an illegal change; the change is
    forbidden when that leads the best allowed explanation by the margin. A few places that contradict an otherwise
    certain explanation without being certain themselves are set aside and named. Where only sensors know a place, its
    looks are all the same; where they felt a piece stop on its way, that speaks for turns that pass there.
    """
    base = explorer.expand(states[0]).appearance
    shown = shown_changes(base, seen, settings.unsure)
    free_score = score_changes(base, shown, seen) + settings.illegal_prior
    found = within_one_turn(explorer, base, states, seen, settings)
    found = by_stops(found, base, seen, settings)
    if seen.told(base, found[0].changes) != shown and found[0].score < free_score + settings.margin:
        beyond = by_stops(beyond_one_turn(game, explorer, base, states, seen, settings), base, seen, settings)
        found = sorted([*found, *beyond], key=lambda one: -one.score)
    best = found[0]
    leading = tuple(one for one in found if one.changes == best.changes)
    # What would differ only where nothing can be told is no reason to doubt that nothing happened.
    others = [
        one
        for one in found
        if one.changes != best.changes
        and not (
            best.happening is ExplanationKind.NOTHING and seen.told(base, one.changes) == seen.told(base, best.changes)
        )
    ]
    lead = best.score - others[0].score if others else float("inf")
    # What an explanation says of a hidden place is borne out as well as it can be.
    allowed = any(seen.told(base, one.changes) == shown for one in found)
    if not allowed:
        if free_score - best.score >= settings.margin and not _lacks_one_sensor(base, best, shown, seen):
            return Decision(Conclusion.FORBIDDEN, leading, shown, free_score - best.score)
        if best.score - free_score < settings.margin:
            rivals = tuple(
                one for one in others if best.score - one.score < settings.margin and not _goes_on(best, one)
            )
            if rivals and _hangs_on_sensors(base, best, shown, seen):
                # To leave out what one sensor says would be to choose by what another one does.
                differ = {place for one in (*rivals, best) for place, _ in shown ^ seen.coarse(base, one.changes)}
                return Decision(Conclusion.UNDECIDED, leading, shown, lead, _in_order(game, differ), rivals)
            return _with_places_set_aside(game, explorer, states, seen, settings, leading, shown)
        lead = min(lead, best.score - free_score)
    if lead < settings.margin:
        rivals = tuple(one for one in others if best.score - one.score < settings.margin)
        places = _in_order(game, {place for one in rivals for place, _ in one.changes ^ best.changes})
        alike = all(seen.coarse(base, one.changes) == seen.coarse(base, best.changes) for one in rivals)
        return Decision(Conclusion.UNDECIDED, leading, shown, lead, places, rivals, alike=alike)
    unseen = _in_order(game, {place for place, look in best.changes if look != EMPTY and place in seen.hidden})
    if unseen and best.happening is not ExplanationKind.NOTHING:
        return Decision(Conclusion.UNDECIDED, leading, shown, 0.0, unseen, leading)
    # A square that shows nothing surely is no reason to doubt; the margin tells of it all the same.
    surest = min((one.certainty for one in seen.places.values()), default=0.0) - settings.illegal_prior
    unfelt = _unsensed(base, found, seen) if best.happening is ExplanationKind.NOTHING else ()
    return Decision(Conclusion.ALLOWED, leading, shown, min(lead, surest), unfelt=unfelt)


def _lacks_one_sensor(base: Appearance, best: Explanation[StateT, TurnT], shown: Changes, seen: PooledReading) -> bool:
    """Whether whole turns explain everything but what one sensor says elsewhere, which alone names no fault."""
    doubtful = {place for place, _ in shown ^ seen.coarse(base, best.changes)}
    is_whole = best.happening in {ExplanationKind.TURN, ExplanationKind.TWO_TURNS}
    one_elsewhere = len(doubtful) == 1 and doubtful.isdisjoint(place for place, _ in best.changes)
    return is_whole and one_elsewhere and all(place in seen.places and seen.places[place].felt for place in doubtful)


def _hangs_on_sensors(base: Appearance, best: Explanation[StateT, TurnT], shown: Changes, seen: PooledReading) -> bool:
    doubtful = {place for place, _ in shown ^ seen.coarse(base, best.changes)}
    return any(place in seen.places and seen.places[place].felt for place in doubtful)


def _goes_on(best: Explanation[StateT, TurnT], other: Explanation[StateT, TurnT]) -> bool:
    """Whether another explanation says that the same turn was played, and more after it."""
    beyond = other.happening in {ExplanationKind.TURN_AND_PART, ExplanationKind.TWO_TURNS}
    return beyond and best.happening is ExplanationKind.TURN and bool(set(other.first) & set(best.first))


def _unsensed(
    base: Appearance, found: Sequence[Explanation[StateT, TurnT]], seen: PooledReading
) -> tuple[Explanation[StateT, TurnT], ...]:
    return tuple(
        one
        for one in found
        if one.happening is ExplanationKind.TURN and one.changes and not seen.tellable(base, one.changes)
    )


def _with_places_set_aside(
    game: Game[StateT, TurnT],
    explorer: Explorer[StateT, TurnT],
    states: Sequence[StateT],
    seen: PooledReading,
    settings: JudgeSettings,
    leading: tuple[Explanation[StateT, TurnT], ...],
    shown: Changes,
) -> Decision[StateT, TurnT]:
    best, base = leading[0], explorer.expand(states[0]).appearance
    doubtful = {place for place, _ in shown ^ seen.coarse(base, best.changes)}
    changed = {place for place, _ in best.changes}
    undecided = Decision(Conclusion.UNDECIDED, leading, shown, 0.0, _in_order(game, doubtful), leading)
    # A piece in the air and a doubtful one elsewhere may well be the same piece.
    under_way = best.happening in {ExplanationKind.PART, ExplanationKind.TURN_AND_PART}
    if under_way or doubtful & changed or len(doubtful) > settings.most_set_aside:
        return undecided
    if best.happening is not ExplanationKind.NOTHING and _unsensed_pieces(base, doubtful, seen):
        return undecided
    without = decide(game, explorer, states, seen.without(doubtful), settings)
    if without.standing is not Conclusion.ALLOWED or without.best.changes != best.changes:
        return undecided
    return replace(without, set_aside=_in_order(game, doubtful | set(without.set_aside)))


def _unsensed_pieces(base: Appearance, places: set[Place], seen: PooledReading) -> bool:
    """Whether a piece is no longer felt where it stood: with a turn it may have gone where a sensor is dead."""
    felt = [place for place in places if place in seen.places and seen.places[place].felt]
    return any(base[place] != EMPTY and seen.places[place].best == EMPTY for place in felt)


def _in_order(game: Game[StateT, TurnT], places: set[Place]) -> tuple[Place, ...]:
    return tuple(place for place in game.places if place in places)
