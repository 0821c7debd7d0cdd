"""What the service needs of its reader, journal and display."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from engine.api import Appearance
from hardware.signals import Signal
from referee.events import Event, Evidence
from referee.service_evidence import Cropper
from vision.frame import Frame
from vision.reading import Reading


class Reader(Cropper, Protocol):
    """What turns a frame into a Reading, and cuts out the picture of one place."""

    def read(self, frame: Frame) -> Reading:
        """Read a frame; raises FrameError or NotLocatedError for one that says nothing."""


@runtime_checkable
class Believer(Protocol):
    """A reader that learns from what was accepted, such as one with sensors."""

    def believed(self, appearance: Appearance) -> None:
        """Hear what stands where, now that the table showed it and it was accepted."""


class Recorder(Protocol):
    """What the service needs of a journal: ``referee.journal.Journal`` and ``BufferedJournal`` both are one."""

    def append(self, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        """Record one event and give its number; durable on return."""

    def events(self, game: int | None = None) -> list[tuple[int, Event]]:
        """List (number, event) in order."""

    def latest_game(self) -> int | None:
        """Give the number of the game begun last."""


class Display(Protocol):
    """What shows signals: ``hardware.panel.Panel`` is one."""

    def show(self, signal: Signal, time_s: float | None = None) -> None:
        """Show a signal in place of the one before."""
