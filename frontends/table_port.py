"""What the page and the broker need from a running referee: newest snapshot, journal, pictures, and its commands.

Each command is carried out once, by the session's thread, and gets a reply.
"""

import asyncio
import enum
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np
from pydantic import BaseModel, ValidationError

from common.findings import Finding
from common.phrases import Phrase, as_sentence, joined
from engine.api import Game
from engine.values import OptionValue, Player
from journal.reader import read_journal
from referee.clocks import TimeControl
from referee.commands.entries import offer_of
from referee.commands.rights import on_behalf
from referee.commands.values import (
    COMMANDS,
    Announce,
    Answer,
    Asked,
    Command,
    CommandQueue,
    OfferDraw,
    Reply,
    Role,
    SameAgain,
    Sentence,
    TakeBack,
    describe_errors,
)
from referee.errors import CorrectionError, JournalError
from referee.judge.verdict import Verdict
from referee.record.events import ASKS_TAKE_BACK
from referee.session.feed import TableSnapshot
from referee.session.ports import SettingsForGame
from vision.cameras.phone import PhoneCamera
from vision.frame import Frame, Image
from vision.reading import Reading, Sight


@dataclass(frozen=True)
class VersionedSnapshot:
    """A snapshot with its version and arrival time. ``version`` counts up while the referee runs, from a random number.

    So no screen takes it for a version of an earlier run.
    """

    version: int
    snapshot: TableSnapshot
    taken_s: float = 0.0


class SnapshotHub:
    """A subscriber that serves any number of viewers. Each gets only the newest snapshot, not the ones it missed.

    Receiving a snapshot costs the session's thread the same for any number of viewers. ``clock`` returns monotonic
    seconds, ``randbits`` a number of so many random bits.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, randbits: Callable[[int], int] = secrets.randbits
    ) -> None:
        self.clock = clock
        # JavaScript counts exactly to 2^53.
        self._last_version = randbits(32) << 20
        self._lock = threading.Lock()
        self._newest: VersionedSnapshot | None = None
        self._is_closed = False
        self._waiting: dict[asyncio.AbstractEventLoop, set[asyncio.Future[None]]] = {}

    def __call__(self, snapshot: TableSnapshot) -> None:
        """Replace the newest snapshot, and wake all waiting viewers."""
        with self._lock:
            self._last_version += 1
            self._newest = VersionedSnapshot(self._last_version, snapshot, self.clock())
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


class Sighted(Protocol):
    """A reader that can tell where it saw the table."""

    def where_seen(self, image: Image, reading: Reading) -> Sight:
        """Return where the last frame showed the table."""


class PhonePort:
    """A phone as the camera: where its pictures go, and what the newest one showed."""

    def __init__(self, camera: PhoneCamera) -> None:
        self.camera = camera
        self.sight: Sight | None = None
        """Where the newest picture showed the table."""
        self.hindered = ""
        """What hinders there."""

    def look(self, frame: Frame, reader: Sighted | None, reading: Reading | None, verdicts: Sequence[Verdict]) -> None:
        """Look where a frame that was just read showed the table, and tell what it showed if it is a photo."""
        if reader is None or reading is None:
            return
        self.sight = reader.where_seen(frame.image, reading)
        self.hindered = as_sentence(reading.hindrances[0].message) if reading.hindrances else ""
        said = joined(as_sentence(verdict.sentence) for verdict in verdicts)
        self.camera.tell(frame, said or self.hindered or Phrase("Nothing new is to be seen."))


@dataclass(frozen=True)
class TablePort:
    """A running referee, as the page and the broker see it.

    ``journal`` is opened read-only for each request for history; ``None`` if no journal is kept. ``frame`` returns the
    camera's newest frame. ``overlay`` draws what was located over a frame; it may block, and returns ``None`` if
    nothing was located. ``options``, those of the rules, ``hints_allowed`` and the usual ``control`` are the owner's.
    ``maintenance`` is ``None`` if nothing provides it, ``settings_for`` if there is no other game at this table,
    ``phone`` if the camera is none.
    """

    game: Game[Any, Any]
    snapshots: SnapshotHub
    commands: CommandQueue
    journal: Path | None = None
    frame: Callable[[], Frame | None] = lambda: None
    overlay: Callable[[Frame], Image | None] = lambda _: None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    hints_allowed: bool = True
    control: TimeControl | None = None
    maintenance: Maintenance | None = None
    settings_for: SettingsForGame | None = None
    phone: PhonePort | None = None

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        newest = self.snapshots.newest
        return newest is not None and newest.snapshot.outcome is not None

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


ANSWER_TIMEOUT_S = 15.0
"""How long, in seconds, a sender waits for a reply; a verdict takes well under one."""
MOST_WAITING = 32
"""The most commands that may wait for a reply at once; people at a table never give as many."""
_MOST_REMEMBERED = 500
"""The most replies kept in case a command is repeated."""


class CommandFault(enum.Enum):
    """Why a command was refused or got no reply."""

    UNREADABLE = "unreadable"
    FORBIDDEN = "forbidden"
    BUSY = "busy"
    UNANSWERED = "unanswered"


class CommandError(CorrectionError):
    """A command was refused, or not answered in time; the message says why."""

    def __init__(self, fault: CommandFault, words: str) -> None:
        super().__init__(words)
        self.fault = fault


class ReplyDocument(BaseModel):
    """The reply to a command, and the number of the newest event at that time other than the clock's and remarks.

    ``field`` is the command's field that can't be read, if it is one alone.
    """

    words: Sentence
    refused: bool
    event_number: int
    field: str = ""


class Sender(Protocol):
    """A device or person that gives commands."""

    @property
    def id(self) -> str:
        """The sender's unique id. Request ids are separate for each sender."""

    @property
    def role(self) -> Role:
        """The sender's role, which decides what it may do."""

    @property
    def name(self) -> str:
        """The name for the journal if the command doesn't give one; may be empty."""

    @property
    def player(self) -> Player | None:
        """The player whose device the sender is; ``None`` if it is everybody's."""


class CommandHandler:
    """Takes commands from any sender. Call its methods only from one event loop.

    ``usual_name`` stands in the journal for a sender without a name. ``forbidden`` refuses a command that the sender's
    role does not allow; ``{needs}`` in it becomes the role needed. Events record the request id of their command, so
    that a command carried out before a restart is recognised. With ``shares_requests``, all senders share one space of
    request ids, and a command that waits for the table gets no reply until it is repeated.
    """

    def __init__(
        self,
        port: TablePort,
        usual_name: str,
        forbidden: str,
        *,
        shares_requests: bool = False,
    ) -> None:
        self._port = port
        self._usual_name = usual_name
        self._forbidden = forbidden
        self._shares_requests = shares_requests
        self._given: OrderedDict[tuple[str, str], asyncio.Task[ReplyDocument]] = OrderedDict()
        self._waiting: set[asyncio.Task[ReplyDocument]] = set()

    async def take(self, sender: Sender, fields: object, admit: Callable[[], object] = lambda: None) -> ReplyDocument:
        """Have a command carried out and return its reply.

        ``admit`` is called unless the command is a repetition, and may raise to refuse it. Raises CommandError if the
        command is invalid, needs another role, is another player's to give, comes while too many others wait, gets no
        reply in time, or is an announcement that waits until the table is at rest.
        """
        try:
            command = COMMANDS.validate_python(fields)
        except ValidationError as error:
            raise CommandError(
                CommandFault.UNREADABLE, Phrase("That is not a command: {describe_errors}.", describe_errors(error))
            ) from error
        if sender.role < command.needs:
            raise CommandError(CommandFault.FORBIDDEN, Phrase(self._forbidden, needs=command.needs.name.lower()))
        key = (sender.id, command.request_id)
        task = self._given.get(key) if command.request_id else None
        if task is None:
            command = self._rightful(sender, command)
            admit()
            task = self._begin(sender, command)
            if command.request_id:
                self._given[key] = task
                task.add_done_callback(partial(self._forget_if_failed, key))
                if len(self._given) > _MOST_REMEMBERED:
                    self._given.popitem(last=False)
        try:
            # The command is queued and will be carried out even if the client disconnects or the wait times out.
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                return await asyncio.shield(task)
        except TimeoutError as error:
            words = Phrase(
                "There was no answer within {answer_timeout_s} s. The history shows whether it was done.",
                f"{ANSWER_TIMEOUT_S:g}",
            )
            raise CommandError(CommandFault.UNANSWERED, words) from error

    def _forget_if_failed(self, key: tuple[str, str], task: asyncio.Task[ReplyDocument]) -> None:
        """Forget a command that failed, so that a repetition of it is carried out."""
        if task.cancelled() or task.exception() is not None:
            self._given.pop(key, None)

    def _begin(self, sender: Sender, command: Command) -> asyncio.Task[ReplyDocument]:
        if len(self._waiting) >= MOST_WAITING:
            words = Phrase("The referee is busy with other commands. Wait a moment, then try again.")
            raise CommandError(CommandFault.BUSY, words)
        task = asyncio.create_task(self._carry_out(sender, command))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)
        return task

    async def _carry_out(self, sender: Sender, command: Command) -> ReplyDocument:
        kept = command.request_id
        if not self._shares_requests and (kept or isinstance(command, Asked)):
            kept = f"{sender.id} {kept}"
        if command.request_id and self._port.journal is not None:
            done = await asyncio.to_thread(_event_of_request, self._port.journal, kept)
            if done is not None:
                return self._reply(Reply(Phrase("That was done before; it is event {done}.", done)))
        by = command.by or sender.name or self._usual_name
        reply = await self._port.submit(replace(command, by=by), kept)
        if reply is None:
            return self._reply(Reply(Phrase("The referee has stopped; nothing was done."), refused=True))
        if reply.waits and self._shares_requests:
            raise CommandError(CommandFault.UNANSWERED, reply.words)
        return self._reply(reply)

    def _rightful(self, sender: Sender, command: Command) -> Command:
        """Return the command as the sender may give it; raises CommandError if it is another's to give.

        No device answers what it offered or asked itself.
        """
        newest = self._port.snapshots.newest
        states, offer = ((), None) if newest is None else (newest.snapshot.states, newest.snapshot.offer)
        owns = sender.role >= Role.OWN
        if isinstance(command, Announce):
            command = offer_of(command) or command
        if isinstance(command, SameAgain) and not owns and (newest is None or newest.snapshot.outcome is None):
            # Only an owner's device begins a game in place of one that nobody has played yet.
            raise CommandError(CommandFault.FORBIDDEN, as_sentence(Phrase("the game is not over; end it first")))
        try:
            if sender.player is not None:
                command = on_behalf(self._port.game, states, command, sender.player, owns=owns)
        except CorrectionError as error:
            raise CommandError(CommandFault.FORBIDDEN, as_sentence(str(error))) from error
        if self._shares_requests or offer is None or offer.device != sender.id:
            return command
        if offer.about == ASKS_TAKE_BACK:
            answers = isinstance(command, Answer | TakeBack) and not owns
            words: str = Phrase("This device asked that. Another one answers, or somebody at the table.")
        else:
            answers = isinstance(command, Answer) or (isinstance(command, OfferDraw) and command.player != offer.player)
            words = Phrase(
                "This device offered the draw. The other player accepts it on another one, or the owner "
                "enters it under Resign or draw."
            )
        if answers and getattr(command, "accepts", True):
            raise CommandError(CommandFault.FORBIDDEN, words)
        return command

    def _reply(self, reply: Reply) -> ReplyDocument:
        words = as_sentence(reply.words) if reply.refused else reply.words
        return ReplyDocument(words=words, refused=reply.refused, event_number=self._event_number, field=reply.field)

    @property
    def _event_number(self) -> int:
        newest = self._port.snapshots.newest
        return 0 if newest is None else newest.snapshot.event_number


def _event_of_request(path: Path, request_id: str) -> int | None:
    """Return the event of a command carried out before; ``None`` too if the journal can't be read."""
    try:
        with read_journal(path) as journal:
            return journal.event_of_request(request_id)
    except JournalError:
        return None
