"""Where pieces stopped on their way, as sensors felt it, and what that says of turns that leave the same. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.api import Appearance, Place, StateT, TurnT
from referee.judge.hypotheses import Changes, Explanation
from referee.judge.pooling import PooledReading
from referee.judge.settings import JudgeSettings
from vision.reading import PlaceChange


def stops_among(changes: Sequence[PlaceChange], stop_s: float) -> frozenset[Place]:
    """Give the places where something was put down and lifted again, at least ``stop_s`` later."""
    down_s: dict[Place, float] = {}
    stops: set[Place] = set()
    for change in changes:
        if change.put_down:
            down_s[change.place] = change.time_s
        elif change.time_s - down_s.pop(change.place, change.time_s) >= stop_s:
            stops.add(change.place)
    return frozenset(stops)


def by_stops(
    found: list[Explanation[StateT, TurnT]],
    base: Appearance,
    seen: PooledReading,
    settings: JudgeSettings,
) -> list[Explanation[StateT, TurnT]]:
    """Weigh explanations that can't be told apart by the stops they pass, best first again.

    Only beside each other: of those that leave the same, each falls behind by ``settings.stop`` that passes fewer stops
    than the one that passes most. That never decides, since a sensor that flickers feels stops, too, and a turn may
    have been tried before another.
    """
    stops = stops_among(seen.changes, settings.stop_s)
    if not stops:
        return found
    missed = [_missed(one, stops) for one in found]
    least: dict[Changes, int] = {}
    told: list[Changes] = [seen.coarse(base, one.changes) for one in found]
    for changes, count in zip(told, missed, strict=True):
        least[changes] = min(count, least.get(changes, count))
    weighed = [
        replace(one, score=one.score - settings.stop) if count > least[changes] else one
        for one, changes, count in zip(found, told, missed, strict=True)
    ]
    return sorted(weighed, key=lambda one: -one.score)


def _missed(one: Explanation[StateT, TurnT], stops: frozenset[Place]) -> int:
    """Count the stops that an explanation does not pass, by the turns that suit it best."""
    seconds = [set(turn.places) for turn in one.second] or [set(one.touched)]
    firsts = [set(turn.places) for turn in one.first] or [set()]
    return min(len(stops - first - second) for first in firsts for second in seconds)
