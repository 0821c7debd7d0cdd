"""Refereeing by sensors alone: a reader without a camera, and ticks in place of frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine.api import Appearance, LookName, Place
from referee.sensing.fused import only_felt
from referee.sensing.health import SensorHealth
from referee.sensing.values import SensorSettings, SensorSource
from referee.sensing.watching import SensorWatch
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.reading import Hindrance, Reading

_NO_CAMERA = "no camera"


class SensorReader:
    """Reads sensors and no picture: of every place with a sensor, whether something stands there."""

    def __init__(
        self,
        source: SensorSource,
        places: Sequence[Place],
        looks: Sequence[LookName],
        settings: SensorSettings | None = None,
        health: SensorHealth | None = None,
    ) -> None:
        given = settings or SensorSettings()
        self._watch = SensorWatch(source, given, health or SensorHealth(given))
        self._places = tuple(places)
        self._looks = tuple(looks)

    def read(self, frame: Frame) -> Reading:
        """Read the sensors at the frame's time; its picture says nothing."""
        felt = self._watch.look(frame.time_s)
        hindrances: tuple[Hindrance, ...] = ()
        if felt.busy is not None:
            hindrances = (felt.busy,)
        elif not felt.occupied:
            hindrances = (Hindrance("not located", "The sensors say nothing. Is their board connected?"),)
        places = {
            place: only_felt(felt.occupied[place], self._looks, _NO_CAMERA)
            for place in self._places
            if place in felt.occupied and not hindrances
        }
        return Reading(frame.sequence, frame.time_s, places, hindrances, felt.notices, felt.changes)

    def crop(self, frame: Frame, place: str) -> Image:
        """There is no picture to cut out."""
        raise NotLocatedError(f"there is no camera, so no picture of {place} in frame {frame.sequence}")

    def believed(self, appearance: Appearance) -> None:
        """Hear what was accepted, so that sensors that are wrong are found."""
        self._watch.believed(appearance)


class TickSource:
    """A source of blank frames, ``period_s`` apart, for a service without a camera.

    ``clock`` gives seconds that only rise, ``wait`` waits that many seconds.
    """

    def __init__(self, clock: Callable[[], float], wait: Callable[[float], object], period_s: float = 0.1) -> None:
        if period_s <= 0:
            raise ValueError(f"period_s is {period_s}; expected more than 0, 0.1 is usual")
        self._clock = clock
        self._wait = wait
        self._period_s = period_s
        self._due_s: float | None = None
        self._sequence = 0

    def read(self, timeout_s: float) -> Frame:
        """Give the next blank frame when it is due; ``timeout_s`` is never needed."""
        del timeout_s
        now_s = self._clock()
        if self._due_s is not None and now_s < self._due_s:
            self._wait(self._due_s - now_s)
            now_s = self._clock()
        self._due_s = now_s + self._period_s
        self._sequence += 1
        return Frame(np.zeros((1, 1, 3), dtype=np.uint8), now_s, self._sequence, _NO_CAMERA)
