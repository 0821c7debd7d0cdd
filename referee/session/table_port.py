"""What the page and the broker need from a running referee: newest snapshot, command queue, journal, pictures."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from common.findings import Finding
from engine.api import Game
from engine.values import OptionValue
from referee.commands.queue import CommandQueue
from referee.commands.values import Command, Reply
from referee.session.feed import TableSnapshot
from vision.frame import Frame, Image


@dataclass(frozen=True)
class VersionedSnapshot:
    """A snapshot with its version and arrival time. ``version`` counts up from 1 while the referee runs."""

    version: int
    snapshot: TableSnapshot
    taken_s: float = 0.0


class SnapshotHub:
    """A subscriber that serves any number of viewers. Each gets only the newest snapshot, not the ones it missed.

    Receiving a snapshot costs the session's thread the same for any number of viewers. ``clock`` returns monotonic
    seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        self._newest: VersionedSnapshot | None = None
        self._is_closed = False
        self._waiting: dict[asyncio.AbstractEventLoop, set[asyncio.Future[None]]] = {}

    def __call__(self, snapshot: TableSnapshot) -> None:
        """Replace the newest snapshot, and wake all waiting viewers."""
        with self._lock:
            version = 1 if self._newest is None else self._newest.version + 1
            self._newest = VersionedSnapshot(version, snapshot, self.clock())
        self._wake()

    @property
    def newest(self) -> VersionedSnapshot | None:
        """The newest snapshot, ``None`` before the first."""
        with self._lock:
            return self._newest

    async def after(self, version: int) -> VersionedSnapshot | None:
        """Wait for a version other than ``version`` and return the newest; ``None`` once the hub is closed."""
        while True:
            with self._lock:
                if self._is_closed:
                    return None
                if self._newest is not None and self._newest.version != version:
                    return self._newest
                loop = asyncio.get_running_loop()
                changed = loop.create_future()
                self._waiting.setdefault(loop, set()).add(changed)
            try:
                await changed
            finally:
                # A viewer that stops waiting leaves nothing behind.
                with self._lock:
                    self._waiting.get(loop, set()).discard(changed)

    def close(self) -> None:
        """Tell all waiting viewers that no more snapshots will come."""
        with self._lock:
            self._is_closed = True
        self._wake()

    def _wake(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        for loop, changes in waiting.items():
            # A closed event loop has no waiting viewers left.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_set_all, changes)


def _set_all(changes: set[asyncio.Future[None]]) -> None:
    for changed in changes:
        if not changed.done():
            changed.set_result(None)


class NewestFrame:
    """Holds the camera's newest frame for viewers."""

    def __init__(self) -> None:
        self.frame: Frame | None = None

    def __call__(self) -> Frame | None:
        """Return the frame, ``None`` before the first."""
        return self.frame


@dataclass(frozen=True)
class ReportFile:
    """A file of a bug report."""

    name: str
    media_type: str
    content: bytes

    @property
    def text(self) -> str | None:
        """The file's text, ``None`` for a picture."""
        return self.content.decode("utf-8", "replace") if self.media_type.startswith("text/") else None


@dataclass(frozen=True)
class Maintenance:
    """Maintenance functions for the owner. They block, and any thread may call them.

    ``examine`` runs ``doctor``, ``gather`` collects the files of a bug report, and ``zipped`` packs them into one file.
    """

    examine: Callable[[], Sequence[Finding]]
    gather: Callable[[], Sequence[ReportFile]]
    zipped: Callable[[Sequence[ReportFile]], bytes]


MaintenanceBuilder = Callable[[Callable[[], Sequence[str]], Path | None], Maintenance]
"""Builds a Maintenance from a function that returns the recent log lines, and from the journal's path, if any."""


@dataclass(frozen=True)
class TablePort:
    """A running referee, as the page and the broker see it.

    ``journal`` is opened read-only for each request for history; ``None`` if no journal is kept. ``frame`` returns the
    camera's newest frame. ``overlay`` draws what was located over a frame; it may block, and returns ``None`` if
    nothing was located. ``options``, those of the rules, and ``hints_allowed`` are the owner's settings.
    ``maintenance`` is ``None`` if nothing provides it.
    """

    game: Game[Any, Any]
    snapshots: SnapshotHub
    commands: CommandQueue
    journal: Path | None = None
    frame: Callable[[], Frame | None] = lambda: None
    overlay: Callable[[Frame], Image | None] = lambda _: None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    hints_allowed: bool = True
    maintenance: Maintenance | None = None

    async def submit(self, command: Command, request_id: str = "") -> Reply | None:
        """Queue a command and wait for its reply; ``None`` if the queue was closed first.

        The resulting events record ``request_id``.
        """
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Reply | None] = loop.create_future()

        def settle(reply: Reply | None) -> None:
            # The caller may have been cancelled meanwhile.
            if not answered.done():
                answered.set_result(reply)

        def respond(reply: Reply | None) -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, reply)

        self.commands.submit(command, respond, request_id)
        return await answered


_QUALITY = 80
"""JPEG quality, 0 to 100. A 1280 x 720 picture takes about 150 kB."""
_WIDEST_PX = 1280
"""Wider pictures are scaled down, since a phone shows no more detail."""


@dataclass(frozen=True)
class _Encoded:
    frame: Frame
    content: bytes | None


class CameraPictures:
    """Encodes pictures on request. Any thread may call it; the call may block."""

    def __init__(self, port: TablePort) -> None:
        self._port = port
        self._locks = {overlay: threading.Lock() for overlay in (False, True)}
        self._encoded: dict[bool, _Encoded] = {}

    def jpeg(self, *, overlay: bool) -> bytes | None:
        """Return the newest picture, ``None`` if there is none; ``overlay`` draws what was located over it."""
        with self._locks[overlay]:
            frame = self._port.frame()
            if frame is None:
                return None
            known = self._encoded.get(overlay)
            if known is None or known.frame is not frame:
                image = self._port.overlay(frame) if overlay else frame.image
                known = self._encoded[overlay] = _Encoded(frame, None if image is None else as_jpeg(image))
            return known.content


def as_jpeg(image: Image) -> bytes:
    """Encode a picture for a phone; wide ones are scaled down."""
    height, width = image.shape[:2]
    if width > _WIDEST_PX:
        size = (_WIDEST_PX, round(height * _WIDEST_PX / width))
        image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
    done, content = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    if not done:
        raise ValueError(f"a picture of shape {image.shape} can't be written as JPEG")
    return bytes(content.tobytes())
