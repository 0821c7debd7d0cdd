"""Decisions where only sensors know a place, and where a sensor contradicts the camera. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from engine.api import EMPTY, Appearance, Place, StateT, TurnT
from referee.judge.belief import changes_between
from referee.judge.decision import Conclusion, Decision
from referee.judge.explanations import Changes, ExplanationKind, stops_among
from referee.judge.pooled_reading import PIECE, PooledReading
from referee.judge.settings import JudgeSettings, Trigger


def whole_turn(decision: Decision[StateT, TurnT]) -> Decision[StateT, TurnT]:
    """Give the decision once a player has said that the turn is over, which rules out that it is half done.

    That settles it where one result of a whole turn is left among what sensors can't tell apart.
    """
    if decision.standing is not Conclusion.UNDECIDED or not decision.alike:
        return decision
    every = (*decision.explanations, *decision.rivals)
    whole = tuple(one for one in every if one.happening is not ExplanationKind.PART)
    if {one.happening for one in whole} != {ExplanationKind.TURN} or len({one.changes for one in whole}) > 1:
        return decision
    return replace(decision, standing=Conclusion.ALLOWED, explanations=whole, places=(), rivals=(), alike=False)


def with_disputes(
    believed: Appearance, decision: Decision[StateT, TurnT], seen: PooledReading
) -> Decision[StateT, TurnT]:
    """Set aside, in a decision that holds, where sensors contradict a camera that doesn't see what it says either."""
    if decision.standing is not Conclusion.ALLOWED or not seen.disputed:
        return decision
    after = {**believed, **dict(decision.best.changes)}
    doubtful: list[Place] = [
        place
        for place, dispute in seen.disputed.items()
        if place in seen.hidden and not dispute.camera.agrees(after.get(place, EMPTY))
    ]
    return replace(decision, set_aside=tuple(dict.fromkeys((*decision.set_aside, *doubtful))))


def lies_there(
    believed: Appearance, undone: Collection[Changes], decision: Decision[StateT, TurnT], seen: PooledReading
) -> bool:
    """Whether one of the changes undone is what a table shows, as far as it can be told."""
    if decision.standing is Conclusion.UNDECIDED and not decision.alike:
        return False
    told = seen.coarse(believed, decision.best.changes)
    return bool(told) and told in {seen.coarse(believed, changes) for changes in undone}


def may_have_left(believed: Appearance, changes: Changes, seen: PooledReading) -> bool:
    """Whether a piece leaves the board where a sensor alone says that a place is empty: it may stand there unfelt."""
    gone = sum(look == EMPTY for _, look in changes)
    new = sum(look != EMPTY and believed.get(place, EMPTY) == EMPTY for place, look in changes)
    return gone > new and any(one.felt and one.best == EMPTY for one in seen.places.values())


def too_many_sensed(believed: Appearance, changes: Changes) -> bool:
    """Whether sensors feel more new pieces than are gone from elsewhere, as ones that err would."""
    gone = sum(look == EMPTY for _, look in changes)
    new = sum(look != EMPTY and believed.get(place, EMPTY) == EMPTY for place, look in changes)
    return new > gone and any(look == PIECE for _, look in changes)


def only_sensed(changes: Changes, seen: PooledReading) -> bool:
    """Whether sensors alone know any of the places that changed."""
    return any(place in seen.places and seen.places[place].felt for place, _ in changes)


def last_sensed(before: Appearance, after: Appearance, seen: PooledReading, otherwise_s: float) -> float:
    """Give when sensors last felt something where accepted turns changed the table; what they felt later came after."""
    places = {place for place, _ in changes_between(before, after)}
    return max((change.time_s for change in seen.changes if change.place in places), default=otherwise_s)


def asks_about_unsensed(
    decision: Decision[StateT, TurnT], seen: PooledReading, settings: JudgeSettings, occasion: Trigger
) -> bool:
    """Whether to ask about turns that leave everything as it was for all that sensors tell.

    Those are asked about when a player says that a turn is over, and when a piece stopped where one of them passes.
    """
    if occasion is Trigger.DECLARED:
        return bool(decision.unfelt)
    stops = stops_among(seen.changes, settings.stop_s)
    turns = [turn for one in decision.unfelt for turn in one.first]
    return bool(stops) and any(stops <= set(turn.places) for turn in turns)
