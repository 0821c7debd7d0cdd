"""Readers that use sensors at every frame: together with a camera, or alone with a clock instead of frames."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.sensing.health import SensorHealth, SensorSnapshot, SensorSource
from common.phrases import Phrase
from engine.values import EMPTY, Appearance, LookName, Place
from referee.judge.stability import blocking_hindrance
from referee.session.ports import Reader, read_or_hindered
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.reading import Hindrance, HindranceKind, PlaceChange, PlaceReading, Reading

_MOST_CHANGES = 512
"""How many of the latest changes are kept: far more than one turn makes."""
_MOVING_S = 10.0
"""Sensors that changed within this many seconds may already show the next turn, so they aren't compared."""


@dataclass(frozen=True)
class SensorEvidence:
    """The sensors' evidence about the places.

    ``occupied`` maps places to the probability that a piece stands there; ``changes`` are the latest changes, oldest
    first. ``busy`` means that something was moved just now. ``notices`` are for the owner, each given once. ``fading``
    means that the values are old, so pieces may have been moved since.
    """

    occupied: Mapping[Place, float] = field(default_factory=dict)
    changes: tuple[PlaceChange, ...] = ()
    busy: Hindrance | None = None
    notices: tuple[str, ...] = ()
    fading: bool = False


class SensorWatch:
    """Polls a source at every frame. Sensors that are switched off, doubtful or stale are ignored."""

    def __init__(self, source: SensorSource, health: SensorHealth) -> None:
        self._source = source
        self._settings = health.settings
        self._health = health
        self._said: dict[Place, bool] = {}
        self._changes: deque[PlaceChange] = deque(maxlen=_MOST_CHANGES)
        self._notices: list[str] = []
        self._now_s = 0.0
        self._heard_s: float | None = None

    def evidence(self, now_s: float) -> SensorEvidence:
        """Return the sensors' evidence at ``now_s``, on the frames' clock."""
        self._now_s = now_s
        sensed = self._source.latest(now_s)
        self._heard_s = None if sensed is None else sensed.time_s
        if sensed is not None:
            self._notices += self._health.listen(self._add_changes(sensed, now_s), sensed.doubtful, now_s)
        notices, self._notices = tuple(self._notices), []
        if sensed is None or now_s - sensed.time_s > self._settings.stale_s:
            return SensorEvidence(notices=notices)
        ignored = sensed.doubtful | self._health.out
        trusted = {place: closed for place, closed in sensed.occupied.items() if place not in ignored}
        probabilities = {place: self._settings.probability_occupied(closed) for place, closed in trusted.items()}
        changes = tuple(change for change in self._changes if change.place in trusted)
        return SensorEvidence(
            probabilities, changes, self._movement(changes, now_s), notices, fading=not self._is_heard
        )

    def on_accepted(self, appearance: Appearance) -> None:
        """Compare the sensors with an accepted table; the resulting notices come with the next evidence."""
        moving = {change.place for change in self._changes if self._now_s - change.time_s < _MOVING_S}
        truth = {place: look != EMPTY for place, look in appearance.items()}
        # Values from before the connection was lost don't make a sensor wrong.
        self._notices += self._health.compare(self._said if self._is_heard else {}, truth, moving)

    @property
    def _is_heard(self) -> bool:
        return self._heard_s is not None and self._now_s - self._heard_s <= self._settings.fading_s

    def _add_changes(self, sensed: SensorSnapshot, now_s: float) -> tuple[PlaceChange, ...]:
        """Add the new changes. A lost change still shows in ``occupied``, and is dated now."""
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

    def _movement(self, changes: tuple[PlaceChange, ...], now_s: float) -> Hindrance | None:
        if not changes:
            return None
        last = changes[-1]
        quiet_s = self._settings.after_put_down_s if last.put_down else self._settings.after_lift_s
        if now_s - last.time_s >= quiet_s:
            return None
        what = (
            Phrase("Something was just put down on {place}.", last.place)
            if last.put_down
            else Phrase("{place} was just lifted.", last.place)
        )
        return Hindrance(HindranceKind.HAND, what, (last.place,))


_ALONE = Phrase("I can't see the table, and use the sensors alone until I can.")


class FusedReader:
    """Reads frames with another reader and adds the sensors.

    While something is being moved, the reading reports a hand. If the camera loses sight of the table, the reader waits
    for a while and then uses the sensors alone, with a notice, until the camera sees again. It always waits for a
    visible hand to go.
    """

    def __init__(
        self,
        reader: Reader,
        source: SensorSource,
        places: Sequence[Place],
        looks: Sequence[LookName],
        health: SensorHealth | None = None,
    ) -> None:
        self._reader = reader
        self._places = tuple(places)
        self._looks = tuple(looks)
        health = health or SensorHealth()
        self._patience_s = health.settings.camera_patience_s
        self._watch = SensorWatch(source, health)
        self._blind_since_s: float | None = None
        self._has_seen = False
        self._is_alone = False

    def __str__(self) -> str:
        return f"{self._reader} → sensors"

    def read(self, frame: Frame) -> Reading:
        """Read a frame; an error of the other reader becomes part of the reading."""
        evidence = self._watch.evidence(frame.time_s)
        reading = read_or_hindered(self._reader, frame)
        reading = replace(reading, notices=(*reading.notices, *evidence.notices), changes=evidence.changes)
        if evidence.busy is not None:
            # A notice that is missing from a reading would be given again after it.
            alone = (_ALONE,) if self._is_alone else ()
            hindrances = (evidence.busy, *reading.hindrances)
            return replace(reading, places={}, hindrances=hindrances, notices=(*reading.notices, *alone))
        blocked, self._is_alone = blocking_hindrance(reading), False
        if blocked is None:
            self._blind_since_s, self._has_seen = None, True
            return replace(reading, places=self._fuse(reading, evidence))
        if blocked.kind == HindranceKind.HAND:
            self._blind_since_s = None
            return reading
        if self._blind_since_s is None:
            self._blind_since_s = frame.time_s
        patient = frame.time_s - self._blind_since_s < self._patience_s
        if patient or not (self._has_seen and evidence.occupied):
            return reading
        self._is_alone = True
        blind = replace(reading, places={}, hindrances=(), notices=(*reading.notices, _ALONE))
        return replace(blind, places=self._fuse(blind, evidence, blocked.kind))

    def crop(self, frame: Frame, place: str) -> Image:
        """Cut out one place; raises what the other reader raises."""
        return self._reader.crop(frame, place)

    def on_accepted(self, appearance: Appearance) -> None:
        """Compare the sensors with an accepted table, to find faulty ones."""
        self._watch.on_accepted(appearance)

    def _fuse(
        self, reading: Reading, evidence: SensorEvidence, why: HindranceKind = HindranceKind.OUTSIDE_PICTURE
    ) -> dict[Place, PlaceReading]:
        fused: dict[Place, PlaceReading] = {}
        for place in dict.fromkeys((*reading.places, *self._places)):
            seen, sensed = reading.places.get(place), evidence.occupied.get(place)
            if seen is not None:
                is_past = sensed is not None and evidence.fading and _is_contradiction(seen, sensed)
                fused[place] = seen if sensed is None or is_past else replace(seen, sensed=sensed)
            elif sensed is not None:
                fused[place] = sensed_only(sensed, self._looks, why)
        return fused


def _is_contradiction(seen: PlaceReading, sensed: float) -> bool:
    """Whether camera and sensor contradict each other about a place, regardless of their certainty."""
    empty = seen.probabilities.get(EMPTY)
    return seen.hidden_by is None and empty is not None and (empty < 0.5) != (sensed > 0.5)


def sensed_only(sensed: float, looks: Sequence[LookName], why: HindranceKind) -> PlaceReading:
    """Return the reading of a place that no camera sees: all pieces are equally probable."""
    pieces = [look for look in looks if look != EMPTY]
    probabilities = {look: sensed / len(pieces) for look in pieces} | {EMPTY: 1 - sensed}
    return PlaceReading(probabilities, hidden_by=why, sensed=sensed)


NO_CAMERA = Phrase("no camera")
"""The source of a frame that no camera took."""


class SensorReader:
    """Reads sensors instead of pictures: whether a piece stands on each place with a sensor."""

    def __init__(
        self,
        source: SensorSource,
        places: Sequence[Place],
        looks: Sequence[LookName],
        health: SensorHealth | None = None,
    ) -> None:
        self._watch = SensorWatch(source, health or SensorHealth())
        self._places = tuple(places)
        self._looks = tuple(looks)

    def read(self, frame: Frame) -> Reading:
        """Read the sensors at the frame's time; the picture is ignored."""
        evidence = self._watch.evidence(frame.time_s)
        hindrances: tuple[Hindrance, ...] = ()
        if evidence.busy is not None:
            hindrances = (evidence.busy,)
        elif not evidence.occupied:
            hindrances = (
                Hindrance(HindranceKind.NOT_LOCATED, Phrase("No sensor can be read. Check the wiring or the board.")),
            )
        places = {
            place: sensed_only(evidence.occupied[place], self._looks, HindranceKind.NO_CAMERA)
            for place in self._places
            if place in evidence.occupied and not hindrances
        }
        return Reading(frame.sequence, frame.time_s, places, hindrances, evidence.notices, evidence.changes)

    def crop(self, frame: Frame, place: str) -> Image:
        """Raise NotLocatedError, since there is no picture."""
        raise NotLocatedError("there is no camera, so no picture of {place} in frame {sequence}", place, frame.sequence)

    def on_accepted(self, appearance: Appearance) -> None:
        """Compare the sensors with an accepted table, to find faulty ones."""
        self._watch.on_accepted(appearance)


class TickSource:
    """A source of blank frames, ``period_s`` seconds apart, for a service without a camera.

    ``clock`` returns monotonic seconds; ``wait`` waits that many seconds.
    """

    def __init__(self, clock: Callable[[], float], wait: Callable[[float], object], period_s: float = 0.1) -> None:
        self._clock = clock
        self._wait = wait
        self._period_s = period_s
        self._due_s: float | None = None
        self._sequence = 0

    def read(self, timeout_s: float) -> Frame:
        """Return the next blank frame when it is due; ``timeout_s`` is ignored."""
        del timeout_s
        now_s = self._clock()
        if self._due_s is not None and now_s < self._due_s:
            self._wait(self._due_s - now_s)
            now_s = self._clock()
        self._due_s = now_s + self._period_s
        self._sequence += 1
        return Frame(np.zeros((1, 1, 3), dtype=np.uint8), now_s, self._sequence, NO_CAMERA)
