"""Takes orders from the page or the broker. Each is carried out once, by the session's thread, and gets a reply."""

from __future__ import annotations

import asyncio
import enum
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from pydantic import ValidationError

from referee.commands.orders import ORDERS, AnyOrder, ReplyDocument, Role, describe_errors
from referee.errors import CorrectionError, PlayError
from referee.session.table_port import TablePort

ANSWER_TIMEOUT_S = 15.0
MOST_WAITING = 32
"""The most orders that may wait for a reply at once; people at a table never give as many."""
_MOST_REMEMBERED = 500
"""The most replies kept in case an order is repeated."""


class OrderFault(enum.Enum):
    """Why an order was refused or got no reply."""

    UNREADABLE = "unreadable"
    FORBIDDEN = "forbidden"
    BUSY = "busy"
    UNANSWERED = "unanswered"


class OrderError(PlayError):
    """An order was refused, or not answered in time; the message says why."""

    def __init__(self, fault: OrderFault, words: str) -> None:
        super().__init__(words)
        self.fault = fault


class Sender(Protocol):
    """A device or person that gives orders."""

    @property
    def id(self) -> str:
        """The sender's unique id. Request ids are separate for each sender."""

    @property
    def role(self) -> Role:
        """The sender's role, which decides what it may do."""

    @property
    def name(self) -> str:
        """The name for the journal if the order doesn't give one; may be empty."""


class OrderDesk:
    """Takes orders from any sender. Call its methods only from one event loop.

    ``usual_name`` is the journal's name for givers without one. ``forbidden`` is the message for an order that
    ``{needs}`` another role. With ``keeps_requests``, events record the request id of their order; ``done_before``
    then finds the reply to an order carried out before a restart. It may block, so it is called in a thread.
    """

    def __init__(
        self,
        port: TablePort,
        usual_name: str,
        forbidden: str,
        *,
        keeps_requests: bool = False,
        done_before: Callable[[str], ReplyDocument | None] = lambda _: None,
    ) -> None:
        self._port = port
        self._usual_name = usual_name
        self._forbidden = forbidden
        self._keeps_requests = keeps_requests
        self._done_before = done_before
        self._given: OrderedDict[tuple[str, str], asyncio.Task[ReplyDocument]] = OrderedDict()
        self._waiting: set[asyncio.Task[ReplyDocument]] = set()
        self._one_by_one = asyncio.Lock()

    async def take(self, sender: Sender, fields: object, admit: Callable[[], object] = lambda: None) -> ReplyDocument:
        """Have an order carried out and return its reply.

        ``admit`` is called unless the order is a repetition, and may raise to refuse it. Raises OrderError if the order
        is invalid, needs another role, is one too many, or gets no reply in time.
        """
        try:
            order = ORDERS.validate_python(fields)
        except ValidationError as error:
            raise OrderError(OrderFault.UNREADABLE, f"That is not a command: {describe_errors(error)}.") from error
        if sender.role < order.needs:
            raise OrderError(OrderFault.FORBIDDEN, self._forbidden.format(needs=order.needs.name.lower()))
        key = (sender.id, order.request_id)
        task = self._given.get(key) if order.request_id else None
        if task is None:
            admit()
            task = self._begin(sender, order)
            if order.request_id:
                self._given[key] = task
                if len(self._given) > _MOST_REMEMBERED:
                    self._given.popitem(last=False)
        try:
            # The order is queued and will be carried out even if the client disconnects or the wait times out.
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                return await asyncio.shield(task)
        except TimeoutError as error:
            words = f"There was no answer within {ANSWER_TIMEOUT_S:g} s. The history shows whether it was done."
            raise OrderError(OrderFault.UNANSWERED, words) from error

    def _begin(self, sender: Sender, order: AnyOrder) -> asyncio.Task[ReplyDocument]:
        if len(self._waiting) >= MOST_WAITING:
            words = "The referee is busy with other commands. Wait a moment, then try again."
            raise OrderError(OrderFault.BUSY, words)
        task = asyncio.create_task(self._carry_out(order, order.by or sender.name or self._usual_name))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)
        return task

    async def _carry_out(self, order: AnyOrder, by: str) -> ReplyDocument:
        if self._keeps_requests and order.request_id:
            done = await asyncio.to_thread(self._done_before, order.request_id)
            if done is not None:
                return done
        if order.seen is None:
            return await self._submit(order, by)
        async with self._one_by_one:
            if order.seen != self._event_number:
                return self._reply("The table has changed meanwhile. Look at it, then say it again.", refused=True)
            return await self._submit(order, by)

    async def _submit(self, order: AnyOrder, by: str) -> ReplyDocument:
        try:
            kept = order.request_id if self._keeps_requests else ""
            reply = await self._port.submit(order.value(by), kept)
        except CorrectionError as error:
            return self._reply(str(error), refused=True)
        if reply is None:
            return self._reply("The referee has stopped; nothing was done.", refused=True)
        return self._reply(reply.words, refused=reply.refused)

    def _reply(self, words: str, *, refused: bool) -> ReplyDocument:
        return ReplyDocument(words=words, refused=refused, event_number=self._event_number)

    @property
    def _event_number(self) -> int:
        newest = self._port.snapshots.newest
        return 0 if newest is None else newest.snapshot.event_number
