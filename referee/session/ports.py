"""The interfaces that the session needs from its reader, journal and display."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from engine.api import Game
from engine.values import Appearance, Place
from hardware.lights.signals import Signal
from referee.errors import CorrectionError
from referee.journal.events import Event, Evidence
from referee.judge.belief import Belief
from referee.judge.verdict import Ruling, VerdictKind
from vision.errors import FrameError, NotLocatedError
from vision.frame import Frame, Image
from vision.reading import Hindrance, HindranceKind, Reading


class Reader(Protocol):
    """Turns frames into Readings, and cuts out pictures of places."""

    def read(self, frame: Frame) -> Reading:
        """Read a frame; raises FrameError or NotLocatedError for an unusable one."""

    def crop(self, frame: Frame, place: str) -> Image:
        """Return a small rectified picture of a place; raises a VisionError if the table isn't located."""


@runtime_checkable
class BeliefListener(Protocol):
    """A reader that learns from what was accepted, such as one with sensors."""

    def on_accepted(self, appearance: Appearance) -> None:
        """Learn from an appearance that the table showed and the judge accepted."""


class Recorder(Protocol):
    """What the service needs from a journal, provided by ``Journal`` and ``BufferedJournal``."""

    def append(self, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        """Record one event and return its number; durable on return."""

    def events(self, game: int | None = None) -> list[tuple[int, Event]]:
        """List (number, event) pairs in order."""

    def latest_game(self) -> int | None:
        """Return the number of the latest game."""


RestoreSensorAt = Callable[[Place], str]
"""Switches a sensor on again and returns the reply; raises CorrectionError if the sensor wasn't off."""


def no_sensors(place: Place) -> str:
    """Raise CorrectionError, since there are no sensors."""
    raise CorrectionError("this referee has no sensors, so none under {place}", place)


class Display(Protocol):
    """Shows signals; ``hardware.lights.panel.Panel`` is one."""

    def show(self, signal: Signal, time_s: float | None = None) -> None:
        """Show a signal in place of the previous one."""


_AS_BELIEVED = frozenset({VerdictKind.SET_UP, VerdictKind.ACCEPTED, VerdictKind.UNCHANGED, VerdictKind.PUT_RIGHT})
"""The verdicts on a table that looks as believed."""


def notify_reader(reader: object, game: Game[Any, Any], belief: Belief[Any, Any], ruling: Ruling) -> None:
    """Tell a BeliefListener about a table that looks as believed; other readers and rulings are ignored."""
    if not (isinstance(reader, BeliefListener) and belief.states and ruling.verdicts):
        return
    if ruling.verdicts[-1].kind in _AS_BELIEVED:
        # On overridden places, the pieces may not have been moved yet.
        against = belief.override.ignored
        appearance = game.table.appearance(belief.states[0])
        reader.on_accepted({place: look for place, look in appearance.items() if place not in against})


def read_or_hindered(reader: Reader, frame: Frame) -> Reading:
    """Read a frame. An unusable frame results in a Reading without places that says why."""
    try:
        return reader.read(frame)
    except NotLocatedError as error:
        hindrance = Hindrance(HindranceKind.NOT_LOCATED, str(error))
    except FrameError as error:
        hindrance = Hindrance(HindranceKind.BAD_FRAME, str(error))
    return Reading(frame.sequence, frame.time_s, {}, (hindrance,))
