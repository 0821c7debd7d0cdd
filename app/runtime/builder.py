"""Builds a session for the real table, the virtual one, benchmarks and tests.

In this example, the reader returns the true looks. One frame is judged, and the set-up is in the journal:

>>> from datetime import UTC, datetime
>>> import numpy as np
>>> from engine.registry import load
>>> from journal.journal import Journal
>>> from vision.frame import Frame
>>> from vision.reading import PlaceReading, Reading
>>> game = load("diaballik")
>>> class PerfectReader:
...     state = game.rules.new()
...     def read(self, frame):
...         looks = game.table.appearance(self.state)
...         return Reading(frame.sequence, frame.time_s, {place: PlaceReading({looks[place]: 1.0}) for place in looks})
...     def crop(self, frame, place):
...         return frame.image
>>> picture, settings = np.zeros((8, 8, 3), np.uint8), ServiceSettings(stills=True)
>>> with Journal.in_memory(wall_clock=lambda: datetime(2026, 11, 21, tzinfo=UTC)) as journal:
...     with open_session(game, PerfectReader(), journal, settings) as service:
...         verdicts = service.step(Frame(picture, time_s=0.0, sequence=0))
...     [event.kind.value for _, event in journal.events()]
['new game', 'set up']
>>> [verdict.sentence for verdict in verdicts]
['The board is set up. Black to play.']
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from app.sensing.health import SensorHealth, SensorSource
from app.sensing.readers import FusedReader, SensorReader
from engine.api import Game
from referee.hints.opponent import HintSource, Opponent
from referee.session.feed import Subscriber, TableSnapshot
from referee.session.ports import Reader, Recorder, RestoreSensorAt, ServiceSettings, SettingsForGame, no_sensors
from referee.session.service import Service
from vision.motion.changes import Attention


def compose_reader(
    game: Game[Any, Any],
    seen: Reader | None,
    sensors: SensorSource | None,
    health: SensorHealth | None = None,
) -> Reader:
    """Combine camera and sensors into one reader; one of them may be missing. Raises ValueError if both are."""
    if seen is None:
        if sensors is None:
            raise ValueError("a table needs a reader of pictures, sensors, or both; got neither")
        return SensorReader(sensors, game.places, game.looks, health)
    return seen if sensors is None else FusedReader(seen, sensors, game.places, game.looks, health)


def attention(game: Game[Any, Any], *, stills: bool = False) -> Attention:
    """Return which frames of a game to read; ``stills`` are single pictures, not a film."""
    if stills:
        return Attention.ALL
    return Attention.STILL if game.looks_before is None else Attention.MOVING


@contextmanager
def open_session(
    game: Game[Any, Any],
    reader: Reader,
    journal: Recorder,
    settings: ServiceSettings,
    *,
    subscribers: Sequence[Subscriber] = (),
    say: Callable[[str], None] = lambda _: None,
    hints: HintSource | None = None,
    restore: RestoreSensorAt = no_sensors,
    opponent: Opponent | None = None,
    settings_for: SettingsForGame | None = None,
    resume: bool = True,
    seed: int | None = None,
) -> Iterator[Service[Any, Any]]:
    """Open a session on a journal and start it; at the end, open requests for hints are refused.

    ``subscribers`` receive each snapshot in order, ``say`` is called with remarks that are not verdicts. ``hints``
    computes hints, ``restore`` switches a sensor on again, ``opponent`` plays a side; ``settings_for`` is as for
    Service. With ``resume`` the journal's latest game is continued if it isn't over; ``seed`` is recorded with a new
    one. Raises FoldError and JournalError as ``Service.start`` does.
    """

    def publish(snapshot: TableSnapshot) -> None:
        for subscriber in subscribers:
            subscriber(snapshot)

    service: Service[Any, Any] = Service(
        game, reader, journal, publish, settings, say, hints, restore, opponent, settings_for
    )
    try:
        service.start(resume=resume, seed=seed)
        yield service
    finally:
        service.close()
