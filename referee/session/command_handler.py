"""Takes commands from the page or the broker. Each is carried out once, by the session's thread, and gets a reply."""

from __future__ import annotations

import asyncio
import enum
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Protocol

from pydantic import BaseModel, ValidationError, WrapValidator

from common.phrases import Phrase
from engine.values import Player
from referee.commands.draw_offers import offer_of
from referee.commands.values import COMMANDS, Announce, AnswerDraw, Command, OfferDraw, Reply, Role, describe_errors
from referee.errors import JournalError, PlayError
from referee.journal.reader import read_journal
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


def _kept(words: object, validated: Callable[[object], str]) -> str:
    return words if isinstance(words, Phrase) else validated(words)


class ReplyDocument(BaseModel):
    """The reply to a command, and the number of the newest event at that time other than the clock's and remarks.

    ``field`` is the command's field that can't be read, if it is one alone.
    """

    words: Annotated[str, WrapValidator(_kept)]
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
            self._check_draw(sender, command)
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
        if kept and not self._shares_requests:
            kept = f"{sender.id} {kept}"
        if kept and self._port.journal is not None:
            done = await asyncio.to_thread(_event_of_request, self._port.journal, kept)
            if done is not None:
                return self._reply(Reply(Phrase("That was done before; it is event {done}.", done)))
        by = command.by or sender.name or self._usual_name
        reply = await self._port.submit(replace(command, by=by), kept)
        if reply is None:
            return self._reply(Reply(Phrase("The referee has stopped; nothing was done."), refused=True))
        if not reply.refused and (offered := _offered(command)) is not None:
            self._offering = sender.id, offered.player
        if reply.waits and self._shares_requests:
            raise CommandError(CommandFault.UNANSWERED, reply.words)
        return self._reply(reply)

    def _check_draw(self, sender: Sender, command: Command) -> None:
        """Raise CommandError if a device that offered the open draw would accept it, too."""
        newest = self._port.snapshots.newest
        open_offer = None if newest is None else newest.snapshot.offer
        device, player = self._offering
        if self._shares_requests or sender.id != device or open_offer is None or player not in {None, open_offer}:
            return
        if _offered(command) is not None or (isinstance(command, AnswerDraw) and command.accepts):
            words = Phrase(
                "This device offered the draw. The other player accepts it on another one, or the owner "
                "enters it under Resign or draw."
            )
            raise CommandError(CommandFault.FORBIDDEN, words)

    def _reply(self, reply: Reply) -> ReplyDocument:
        return ReplyDocument(
            words=reply.words, refused=reply.refused, event_number=self._event_number, field=reply.field
        )

    @property
    def _event_number(self) -> int:
        newest = self._port.snapshots.newest
        return 0 if newest is None else newest.snapshot.event_number


def _offered(command: Command) -> OfferDraw | None:
    """Return the draw offer in a command, which may also accept one; ``None`` if it offers none."""
    return offer_of(command) if isinstance(command, Announce) else command if isinstance(command, OfferDraw) else None


def _event_of_request(path: Path, request_id: str) -> int | None:
    """Return the event of a command carried out before; ``None`` too if the journal can't be read."""
    try:
        with read_journal(path) as journal:
            return journal.event_of_request(request_id)
    except JournalError:
        return None
