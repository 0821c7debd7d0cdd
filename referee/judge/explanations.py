"""What could have happened since the last belief: each explanation the engine allows, scored against what was seen.

Explanations that look alike are ordered by where a piece was put down on its way. Those by several turns are in
``referee.judge.sequences``.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from engine.api import PossibleLooks, StateT, TurnT
from engine.values import EMPTY, Appearance, Place
from referee.judge.explorer import Expansion, JudgeContext, changes_between
from referee.judge.pooled_reading import PooledReading
from vision.reading import PlaceChange

Changes = frozenset[tuple[Place, str]]


class ExplanationKind(enum.Enum):
    """What an explanation says has happened."""

    NOTHING = "nothing"
    PART = "part of a turn"
    TURN = "a turn"
    TURN_AND_PART = "a turn, and part of the next"
    TWO_TURNS = "two turns"


@dataclass(frozen=True)
class Explanation(Generic[StateT, TurnT]):
    """One thing that could have happened, from one of the believed states.

    ``changes`` are the (place, look) pairs that differ from what was believed; ``first`` and ``second`` the turns
    that would leave them, look-alikes together; for a started turn, ``instruction`` says what is missing and
    ``touched`` where it was played.
    """

    kind: ExplanationKind
    state: StateT
    changes: Changes
    score: float
    first: tuple[TurnT, ...] = ()
    second: tuple[TurnT, ...] = ()
    instruction: str = ""
    touched: tuple[Place, ...] = ()


def score_changes(base: Appearance, changes: Changes, seen: PooledReading) -> float:
    """Log-likelihood of the changed table minus that of the believed one; hidden places are ignored."""
    # A set has no order, and the sum must not depend on one.
    return math.fsum(
        seen.places[place].lead(look, base.get(place, EMPTY)) for place, look in changes if place in seen.places
    )


def score_allowed(base: Appearance, changes: Changes, seen: PooledReading) -> float:
    """Return ``score_changes`` of changes that the rules allow: the dice alone say how likely a star's digit is."""
    return math.fsum(
        seen.places[place].lead_if_allowed(look, base.get(place, EMPTY))
        for place, look in changes
        if place in seen.places
    )


def score_touches(seen: PooledReading, played_on: Iterable[Collection[Place]]) -> float:
    """Log-likelihood of which stacks look touched, by the best of several turns, each given as the places played on.

    It is 0 where exactly the stacks that look touched were played on; each other stack lowers it.
    """
    touched = seen.touched
    if not touched:
        return 0.0
    unexplained = math.fsum(max(0.0, one) for one in touched.values())
    explained = max((math.fsum(touched.get(place, 0.0) for place in places) for places in played_on), default=0.0)
    return explained - unexplained


def shown_changes(base: Appearance, seen: PooledReading, unsure: float) -> Changes:
    """What the table shows regardless of the rules: places whose best look leads the believed one by ``unsure``.

    Where only a sensor reports a piece, the look is ``PIECE``, which agrees with any piece believed there.
    """
    changes = []
    for place, look in base.items():
        place_seen = seen.places.get(place)
        if place_seen is None:
            continue
        best = place_seen.best
        if not place_seen.agrees(look) and place_seen.lead(best, look) >= unsure:
            changes.append((place, best))
    return frozenset(changes)


def within_one_turn(
    context: JudgeContext[StateT, TurnT], base: Appearance, states: Sequence[StateT], seen: PooledReading
) -> list[Explanation[StateT, TurnT]]:
    """Return the explanations by nothing, part of a turn or a turn, from each believed state, best first."""
    found: list[Explanation[StateT, TurnT]] = []
    could_be = worth_weighing(context, seen)
    for state in states:
        expansion = context.explorer.expand(state, could_be)
        own = changes_between(base, expansion.appearance)
        score = score_changes(base, own, seen) + score_touches(seen, [()])
        found.append(Explanation(ExplanationKind.NOTHING, state, own, score))
        for part in context.explorer.unfinished(state, could_be):
            changes = changes_between(base, {**expansion.appearance, **part.change})
            score = score_allowed(base, changes, seen) + context.settings.unfinished_prior
            score += score_touches(seen, [part.places])
            found.append(
                Explanation(
                    ExplanationKind.PART, state, changes, score, instruction=part.instruction, touched=part.places
                )
            )
        found += _by_turns(base, expansion, seen)
    return sorted(found, key=lambda one: -one.score)


def _by_turns(
    base: Appearance, expansion: Expansion[StateT, TurnT], seen: PooledReading
) -> Iterator[Explanation[StateT, TurnT]]:
    """Yield the explanations by a turn from one state."""
    is_base = expansion.appearance == base
    for own, turns in expansion.by_changes.items():
        changes = own if is_base else changes_between(base, {**expansion.appearance, **dict(own)})
        score = score_allowed(base, changes, seen) + score_touches(seen, (turn.places for turn in turns))
        yield Explanation(ExplanationKind.TURN, expansion.state, changes, score, turns)


def with_a_misread_sign(
    context: JudgeContext[StateT, TurnT],
    base: Appearance,
    states: Sequence[StateT],
    seen: PooledReading,
    shown: Changes,
) -> list[Explanation[StateT, TurnT]]:
    """Return the explanations by a turn in which one of the newly written signs is another one than it seems."""
    could_be = worth_weighing(context, seen)
    signs = tuple(look for look in context.game.looks if look != EMPTY)
    return [
        one
        for place, look in sorted(shown)
        if look != EMPTY and base.get(place, EMPTY) == EMPTY
        for state in states
        for one in _by_turns(base, context.explorer.expand(state, {**could_be, place: signs}), seen)
        if dict(one.changes).get(place) not in {None, *could_be[place]}
    ]


def worth_weighing(context: JudgeContext[StateT, TurnT], seen: PooledReading) -> PossibleLooks:
    """Return the looks that a turn must leave to be worth weighing; any other look would be a fault by itself."""
    return seen.could_be(context.settings.margin - context.settings.illegal_prior, context.handwriting)


def find_stopovers(changes: Sequence[PlaceChange], stopover_s: float) -> frozenset[Place]:
    """Return the places where a piece was put down and lifted again at least ``stopover_s`` later."""
    down_s: dict[Place, float] = {}
    found: set[Place] = set()
    for change in changes:
        if change.put_down:
            down_s[change.place] = change.time_s
        elif change.time_s - down_s.pop(change.place, change.time_s) >= stopover_s:
            found.add(change.place)
    return frozenset(found)


def rank_by_stopovers(
    context: JudgeContext[StateT, TurnT], found: list[Explanation[StateT, TurnT]], base: Appearance, seen: PooledReading
) -> list[Explanation[StateT, TurnT]]:
    """Rank explanations that leave the same appearance by the stopovers they pass through.

    Those that pass fewer stopovers than the best lose ``settings.stopover``. This never decides alone, since a
    flickering sensor makes stopovers too, and a player may have tried another turn first.
    """
    passed = find_stopovers(seen.changes, context.settings.stopover_s)
    if not passed:
        return found
    missed = [_missed_stopovers(one, passed) for one in found]
    least: dict[Changes, int] = {}
    observed: list[Changes] = [seen.observable_changes(base, one.changes) for one in found]
    for changes, count in zip(observed, missed, strict=True):
        least[changes] = min(count, least.get(changes, count))
    weighed = [
        replace(one, score=one.score - context.settings.stopover) if count > least[changes] else one
        for one, changes, count in zip(found, observed, missed, strict=True)
    ]
    return sorted(weighed, key=lambda one: -one.score)


def _missed_stopovers(one: Explanation[StateT, TurnT], passed: frozenset[Place]) -> int:
    """Count the stopovers that an explanation misses, by its best-fitting turns."""
    seconds = [set(turn.places) for turn in one.second] or [set(one.touched)]
    firsts = [set(turn.places) for turn in one.first] or [set()]
    return min(len(passed - first - second) for first in firsts for second in seconds)
