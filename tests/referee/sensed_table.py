"""A service on scripted sensors, with or without a scripted camera, and pieces that are moved."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.sensing.health import SensorHealth, SensorSnapshot
from app.sensing.readers import FusedReader, SensorReader
from referee.judge.verdict import Verdict
from referee.session.feed import signal_subscriber
from referee.session.ports import ServiceSettings
from referee.session.service import Service
from tests.referee.judge.drawn import places_drawn
from tests.referee.service_table import Lamp
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.reading import Hindrance, HindranceKind, PlaceChange, Reading

FPS = 10.0


@dataclass
class ScriptedSensors:
    """Reports the occupied places, apart from stuck sensors, and each change once."""

    stands: dict[str, bool]
    stuck: dict[str, bool] = field(default_factory=dict)
    doubtful: frozenset[str] = frozenset()
    heard_s: float | None = None
    silent: bool = False
    changes: list[PlaceChange] = field(default_factory=list)

    def put(self, place: str, stands: bool, time_s: float, *, told: bool = True) -> None:
        self.stands[place] = stands
        if told and place not in self.stuck:
            self.changes.append(PlaceChange(place, stands, time_s))

    def latest(self, now_s: float) -> SensorSnapshot | None:
        if self.silent:
            return None
        changes, self.changes = tuple(self.changes), []
        occupied = {place: self.stuck.get(place, stands) for place, stands in self.stands.items()}
        return SensorSnapshot(now_s if self.heard_s is None else self.heard_s, occupied, self.doubtful, changes)


@dataclass
class ScriptedCamera:
    """Sees the given looks apart from hidden places, or reports a hindrance or an error."""

    game: Any
    looks: Mapping[str, str]
    hidden: frozenset[str] = frozenset()
    trouble: Hindrance | Exception | None = None

    def read(self, frame: Frame) -> Reading:
        if isinstance(self.trouble, Exception):
            raise self.trouble
        if self.trouble is not None:
            return Reading(frame.sequence, frame.time_s, {}, (self.trouble,))
        places = places_drawn(self.game, self.looks)
        places |= {
            place: replace(places[place], hidden_by=HindranceKind.OBJECT) for place in self.hidden & places.keys()
        }
        return Reading(frame.sequence, frame.time_s, places)

    def crop(self, frame: Frame, place: str) -> Image:
        raise NotLocatedError(f"no picture of {place}")


@dataclass
class SensedTable:
    """A table with sensors, and an optional camera."""

    game: Any
    journal: Any
    settings: ServiceSettings
    looks: dict[str, str]
    with_camera: bool = False
    said: list[str] = field(default_factory=list)
    time_s: float = 0.0
    sequence: int = 0

    def __post_init__(self) -> None:
        self.sensors = ScriptedSensors({place: look != "empty" for place, look in self.looks.items()})
        self.camera = ScriptedCamera(self.game, self.looks)
        self.health = SensorHealth()
        alone = SensorReader(self.sensors, self.game.places, self.game.looks, health=self.health)
        both = FusedReader(self.camera, self.sensors, self.game.places, self.game.looks, health=self.health)
        self.lamp = Lamp()
        self.service: Service[Any, Any] = Service(
            self.game,
            both if self.with_camera else alone,
            self.journal,
            signal_subscriber(self.lamp),
            self.settings,
            self.said.append,
        )

    def wait(self, seconds: float) -> list[Verdict]:
        verdicts: list[Verdict] = []
        for _ in range(round(seconds * FPS)):
            self.sequence += 1
            self.time_s += 1 / FPS
            verdicts += self.service.step(Frame(np.zeros((1, 1, 3), np.uint8), self.time_s, self.sequence, "script"))
        return verdicts

    def carry(self, looks: Mapping[str, str], stops: tuple[str, ...] = ()) -> list[Verdict]:
        """Lift the pieces that are gone, stop at ``stops``, and put down the new ones."""
        verdicts: list[Verdict] = []
        for place in [place for place in looks if self.looks[place] != "empty" and looks[place] == "empty"]:
            self.sensors.put(place, False, self.time_s)
            verdicts += self.wait(0.3)
        for place in stops:
            self.sensors.put(place, True, self.time_s)
            verdicts += self.wait(0.4)
            self.sensors.put(place, False, self.time_s)
            verdicts += self.wait(0.3)
        for place in [place for place in looks if self.looks[place] == "empty" and looks[place] != "empty"]:
            self.sensors.put(place, True, self.time_s)
            verdicts += self.wait(0.3)
        self.looks = dict(looks)
        self.camera.looks = self.looks
        return verdicts

    def press(self) -> list[Verdict]:
        return self.service.end_turn() + self.wait(2.5)

    def kinds(self) -> list[str]:
        return [event.kind for _, event in self.journal.events()]
