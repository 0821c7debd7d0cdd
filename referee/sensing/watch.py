"""Follows a source of sensors: what they say now, what they noticed lately, and whether the table is at rest."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.api import EMPTY, Appearance, Place
from referee.sensing.health import SensorHealth
from referee.sensing.values import PlaceChange, SensorSettings, SensorSnapshot, SensorSource
from vision.reading import Hindrance, HindranceKind

_MOST_CHANGES = 512
_MOVING_S = 10.0


@dataclass(frozen=True)
class SensorEvidence:
    """What is known of the places by their sensors.

    ``occupied`` maps places to how probable it is that something stands there; ``changes`` are the latest, oldest
    first; ``busy`` says that something was moved just now; ``notices`` are for the owner, each given once; with
    ``fading`` it was said a while ago, and things may have been moved since.
    """

    occupied: Mapping[Place, float] = field(default_factory=dict)
    changes: tuple[PlaceChange, ...] = ()
    busy: Hindrance | None = None
    notices: tuple[str, ...] = ()
    fading: bool = False


class SensorWatch:
    """Asks a source at every frame. Sensors that are out, doubtful or stale say nothing."""

    def __init__(self, source: SensorSource, settings: SensorSettings, health: SensorHealth) -> None:
        self._source = source
        self._settings = settings
        self._health = health
        self._said: dict[Place, bool] = {}
        self._changes: deque[PlaceChange] = deque(maxlen=_MOST_CHANGES)
        self._notices: list[str] = []
        self._now_s = 0.0
        self._heard_s: float | None = None

    def look(self, now_s: float) -> SensorEvidence:
        """Give what the sensors say at ``now_s``, in the time of the frames."""
        self._now_s = now_s
        sensed = self._source.latest(now_s)
        self._heard_s = None if sensed is None else sensed.time_s
        if sensed is not None:
            self._notices += self._health.listen(self._noticed(sensed, now_s), sensed.doubtful, now_s)
        notices, self._notices = tuple(self._notices), []
        if sensed is None or now_s - sensed.time_s > self._settings.stale_s:
            return SensorEvidence(notices=notices)
        mute = self._mute(sensed)
        trusted = {place: closed for place, closed in sensed.occupied.items() if place not in mute}
        probabilities = {place: self._settings.probability_occupied(closed) for place, closed in trusted.items()}
        changes = tuple(change for change in self._changes if change.place in trusted)
        return SensorEvidence(probabilities, changes, self._busy(changes, now_s), notices, fading=not self._is_heard)

    def believed(self, appearance: Appearance) -> None:
        """Take a table that was accepted as the truth about the sensors; what comes of it is told at the next look."""
        moving = {change.place for change in self._changes if self._now_s - change.time_s < _MOVING_S}
        truth = {place: look != EMPTY for place, look in appearance.items()}
        # What was said before the wire fell silent makes no sensor wrong.
        self._notices += self._health.compare(self._said if self._is_heard else {}, truth, moving)

    @property
    def _is_heard(self) -> bool:
        return self._heard_s is not None and self._now_s - self._heard_s <= self._settings.fading_s

    def _mute(self, sensed: SensorSnapshot) -> frozenset[Place]:
        return sensed.doubtful | self._health.out

    def _noticed(self, sensed: SensorSnapshot, now_s: float) -> tuple[PlaceChange, ...]:
        """Take in what changed; a change that got lost on the way shows in what is occupied, and counts from now."""
        noticed = [change for change in sensed.changes if change.place in sensed.occupied]
        named = {change.place for change in noticed}
        for place, closed in sensed.occupied.items():
            if place in sensed.doubtful:
                continue
            before = self._said.get(place, closed)
            self._said[place] = closed
            if before != closed and place not in named:
                noticed.append(PlaceChange(place, closed, now_s))
        for place in sensed.doubtful:
            self._said.pop(place, None)
        self._changes.extend(noticed)
        return tuple(noticed)

    def _busy(self, changes: tuple[PlaceChange, ...], now_s: float) -> Hindrance | None:
        if not changes:
            return None
        last = changes[-1]
        quiet_s = self._settings.after_put_down_s if last.put_down else self._settings.after_lift_s
        if now_s - last.time_s >= quiet_s:
            return None
        what = f"Something was just put down on {last.place}." if last.put_down else f"{last.place} was just lifted."
        return Hindrance(HindranceKind.HAND, what, (last.place,))
