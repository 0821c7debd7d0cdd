"""What a page or a broker needs of a running referee: its newest snapshot, its queue of commands, journal, pictures."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.findings import Finding
from engine.api import Game
from referee.commands.queue import CommandQueue
from referee.commands.values import Command, Reply
from referee.session.feed import Snapshot
from vision.frame import Frame, Image


@dataclass(frozen=True)
class Versioned:
    """A snapshot, which one it is, and when it came: ``version`` counts up from 1 while the referee runs."""

    version: int
    snapshot: Snapshot
    taken_s: float = 0.0


class SnapshotHub:
    """A subscriber for any number of viewers: each gets the newest snapshot, and never the ones it missed.

    Taking a snapshot costs the session's thread the same however many wait. ``clock`` gives monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        self._newest: Versioned | None = None
        self._is_closed = False
        self._waiting: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}

    def __call__(self, snapshot: Snapshot) -> None:
        """Take a snapshot in place of the one before, and wake whoever waits for it."""
        with self._lock:
            version = 1 if self._newest is None else self._newest.version + 1
            self._newest = Versioned(version, snapshot, self.clock())
        self._wake()

    @property
    def newest(self) -> Versioned | None:
        """The snapshot that holds now, ``None`` before the first."""
        with self._lock:
            return self._newest

    async def after(self, version: int) -> Versioned | None:
        """Wait for a snapshot other than that version and give the newest; ``None`` once no more will come."""
        while True:
            with self._lock:
                if self._is_closed:
                    return None
                if self._newest is not None and self._newest.version != version:
                    return self._newest
                loop = asyncio.get_running_loop()
                changed = loop.create_future()
                self._waiting.setdefault(loop, []).append(changed)
            await changed

    def close(self) -> None:
        """Let everybody who waits know that no more will come."""
        with self._lock:
            self._is_closed = True
        self._wake()

    def _wake(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        for loop, changes in waiting.items():
            # A loop that has ended has nobody left who waits.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_set_all, changes)


def _set_all(changes: list[asyncio.Future[None]]) -> None:
    for changed in changes:
        if not changed.done():
            changed.set_result(None)


def _no_frame() -> Frame | None:
    return None


def no_overlay(frame: Frame) -> Image | None:
    """Stand in where nothing can be located."""
    del frame
    return None


class NewestFrame:
    """Holds the camera's newest frame for whoever looks; only that one is kept."""

    def __init__(self) -> None:
        self.frame: Frame | None = None

    def __call__(self) -> Frame | None:
        """Give it, ``None`` before the first."""
        return self.frame


@dataclass(frozen=True)
class ReportFile:
    """A file of a bug report."""

    name: str
    media_type: str
    content: bytes

    @property
    def text(self) -> str | None:
        """What is written in it, ``None`` for a picture."""
        return self.content.decode("utf-8", "replace") if self.media_type.startswith("text/") else None


@dataclass(frozen=True)
class Housekeeping:
    """What the owner may ask of the installation; each takes its time, and any thread may ask.

    ``examine`` is what ``doctor`` finds, ``gather`` the files of a bug report, and ``zipped`` makes one file of them.
    """

    examine: Callable[[], Sequence[Finding]]
    gather: Callable[[], Sequence[ReportFile]]
    zipped: Callable[[Sequence[ReportFile]], bytes]


KeepHouse = Callable[[Callable[[], Sequence[str]], Path | None], Housekeeping]
"""Makes that of what gives the lines that were said, and of the journal, if there is one."""


@dataclass(frozen=True)
class TablePort:
    """What a page or a broker is given of a running referee.

    ``journal`` is the file that is read for history, opened read-only for each request; ``None`` where none is kept.
    ``frame`` gives the camera's newest frame; ``overlay`` draws what was located in a frame over it, which may take its
    time, and gives ``None`` where nothing was. ``hints_allowed`` is the owner's setting. ``housekeeping`` is ``None``
    where nobody gives any.
    """

    game: Game[Any, Any]
    snapshots: SnapshotHub
    commands: CommandQueue
    journal: Path | None = None
    frame: Callable[[], Frame | None] = _no_frame
    overlay: Callable[[Frame], Image | None] = no_overlay
    hints_allowed: bool = True
    housekeeping: Housekeeping | None = None

    async def submit(self, command: Command, request_id: str = "") -> Reply | None:
        """Put a command in the line and wait for its reply; ``None`` when nobody will carry it out any more.

        The events that it brings keep ``request_id``.
        """
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Reply | None] = loop.create_future()

        def settle(reply: Reply | None) -> None:
            # Whoever asked may have gone away meanwhile.
            if not answered.done():
                answered.set_result(reply)

        def respond(reply: Reply | None) -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, reply)

        self.commands.submit(command, respond, request_id)
        return await answered
