"""Takes commands from the page or the broker. Each is carried out once, by the session's thread, and gets a reply."""

from __future__ import annotations

import asyncio
import enum
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol, TypeGuard

from pydantic import ValidationError

from engine.values import Player
from referee.commands.draw_offers import offer_of
from referee.commands.messages import (
    COMMAND_MESSAGES,
    AnnounceMessage,
    AnswerDrawMessage,
    AnyCommandMessage,
    OfferDrawMessage,
    ReplyDocument,
    Role,
    describe_errors,
)
from referee.commands.values import Announce
from referee.errors import CorrectionError, FieldError, JournalError, PlayError
from referee.journal.journal import Journal
from referee.session.table_port import TablePort

ANSWER_TIMEOUT_S = 15.0
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


class CommandError(PlayError):
    """A command was refused, or not answered in time; the message says why."""

    def __init__(self, fault: CommandFault, words: str) -> None:
        super().__init__(words)
        self.fault = fault


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


class CommandDesk:
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
        self._offering: tuple[str, Player | None] = ("", None)
        """The id of the sender who offered the last draw, and for whom if they said it."""
        self._given: OrderedDict[tuple[str, str], asyncio.Task[ReplyDocument]] = OrderedDict()
        self._waiting: set[asyncio.Task[ReplyDocument]] = set()

    async def take(self, sender: Sender, fields: object, admit: Callable[[], object] = lambda: None) -> ReplyDocument:
        """Have a command carried out and return its reply.

        ``admit`` is called unless the command is a repetition, and may raise to refuse it. Raises CommandError if the
        command is invalid, needs another role, comes while too many others wait, gets no reply in time, or is an
        announcement that waits until the table is at rest.
        """
        try:
            message = COMMAND_MESSAGES.validate_python(fields)
        except ValidationError as error:
            raise CommandError(CommandFault.UNREADABLE, f"That is not a command: {describe_errors(error)}.") from error
        if sender.role < message.needs:
            raise CommandError(CommandFault.FORBIDDEN, self._forbidden.format(needs=message.needs.name.lower()))
        key = (sender.id, message.request_id)
        task = self._given.get(key) if message.request_id else None
        if task is None:
            self._check_draw(sender, message)
            admit()
            task = self._begin(sender, message)
            if message.request_id:
                self._given[key] = task
                task.add_done_callback(partial(self._forget_if_failed, key))
                if len(self._given) > _MOST_REMEMBERED:
                    self._given.popitem(last=False)
        try:
            # The command is queued and will be carried out even if the client disconnects or the wait times out.
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                return await asyncio.shield(task)
        except TimeoutError as error:
            words = f"There was no answer within {ANSWER_TIMEOUT_S:g} s. The history shows whether it was done."
            raise CommandError(CommandFault.UNANSWERED, words) from error

    def _forget_if_failed(self, key: tuple[str, str], task: asyncio.Task[ReplyDocument]) -> None:
        """Forget a command that failed, so that a repetition of it is carried out."""
        if task.cancelled() or task.exception() is not None:
            self._given.pop(key, None)

    def _begin(self, sender: Sender, message: AnyCommandMessage) -> asyncio.Task[ReplyDocument]:
        if len(self._waiting) >= MOST_WAITING:
            words = "The referee is busy with other commands. Wait a moment, then try again."
            raise CommandError(CommandFault.BUSY, words)
        task = asyncio.create_task(self._carry_out(sender, message))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)
        return task

    async def _carry_out(self, sender: Sender, message: AnyCommandMessage) -> ReplyDocument:
        kept = message.request_id
        if kept and not self._shares_requests:
            kept = f"{sender.id} {kept}"
        if kept and self._port.journal is not None:
            done = await asyncio.to_thread(_event_of_request, self._port.journal, kept)
            if done is not None:
                return self._reply(f"That was done before; it is event {done}.", refused=False)
        try:
            command = message.value(message.by or sender.name or self._usual_name)
            reply = await self._port.submit(command, kept, message.seen)
        except FieldError as error:
            return self._reply(str(error), refused=True).model_copy(update={"field": error.field})
        except CorrectionError as error:
            return self._reply(str(error), refused=True)
        if reply is None:
            return self._reply("The referee has stopped; nothing was done.", refused=True)
        if _offers_draw(message) and not reply.refused:
            self._offering = sender.id, message.player
        if reply.waits and self._shares_requests:
            raise CommandError(CommandFault.UNANSWERED, reply.words)
        return self._reply(reply.words, refused=reply.refused)

    def _check_draw(self, sender: Sender, message: AnyCommandMessage) -> None:
        """Raise CommandError if a device that offered the open draw would accept it, too."""
        newest = self._port.snapshots.newest
        open_offer = None if newest is None else newest.snapshot.offer
        device, player = self._offering
        if self._shares_requests or sender.id != device or open_offer is None or player not in {None, open_offer}:
            return
        if _offers_draw(message) or (isinstance(message, AnswerDrawMessage) and message.accepts):
            words = (
                "This device offered the draw. The other player accepts it on another one, or the owner enters it "
                "under Resign or draw."
            )
            raise CommandError(CommandFault.FORBIDDEN, words)

    def _reply(self, words: str, *, refused: bool) -> ReplyDocument:
        return ReplyDocument(words=words, refused=refused, event_number=self._event_number)

    @property
    def _event_number(self) -> int:
        newest = self._port.snapshots.newest
        return 0 if newest is None else newest.snapshot.event_number


def _offers_draw(message: AnyCommandMessage) -> TypeGuard[AnnounceMessage | OfferDrawMessage]:
    """Whether a command offers a draw, or accepts one by offering it, too."""
    if isinstance(message, AnnounceMessage):
        return offer_of(Announce(message.text, "", message.player)) is not None
    return isinstance(message, OfferDrawMessage)


def _event_of_request(path: Path, request_id: str) -> int | None:
    """Return the event of a command carried out before; ``None`` too if the journal can't be read."""
    try:
        with Journal.open(path, wall_clock=lambda: datetime.now(UTC), read_only=True) as journal:
            return journal.event_of_request(request_id)
    except JournalError:
        return None
