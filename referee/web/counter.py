"""Where the page's orders are taken: each is carried out once, by the session's own thread, and answered."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from pydantic import ValidationError
from starlette.exceptions import HTTPException

from referee.errors import CorrectionError
from referee.web.access import Access, Session
from referee.web.orders import ORDERS, AnyOrder, ReplyDocument
from referee.web.ports import TablePort

ANSWER_TIMEOUT_S = 15.0
MOST_WAITING = 32
"""How many orders may wait for their answer; a family does not give so many at once."""
_MOST_REMEMBERED = 500
"""How many replies are kept for whoever asks again."""


class OrderCounter:
    """Takes orders of any session. All its methods belong to the server's event loop."""

    def __init__(self, port: TablePort, access: Access) -> None:
        self._port = port
        self._access = access
        self._given: OrderedDict[tuple[str, str], asyncio.Task[ReplyDocument]] = OrderedDict()
        self._waiting: set[asyncio.Task[ReplyDocument]] = set()
        self._one_by_one = asyncio.Lock()

    async def take(self, session: Session, fields: object) -> ReplyDocument:
        """Have an order carried out and give its reply.

        Raises HTTPException for one that is no order, needs another role, comes too often, or gets no reply in time.
        """
        try:
            order = ORDERS.validate_python(fields)
        except ValidationError as error:
            raise HTTPException(422, _told(error)) from error
        if session.role < order.needs:
            raise HTTPException(
                403, f"This device may not do that; it needs to be paired to {order.needs.name.lower()}."
            )
        key = (session.id, order.request_id)
        task = self._given.get(key) if order.request_id else None
        if task is None:
            task = self._begin(session, order)
            if order.request_id:
                self._given[key] = task
                if len(self._given) > _MOST_REMEMBERED:
                    self._given.popitem(last=False)
        try:
            # Who goes away, or waits no longer, leaves the order to be carried out: it is in the line.
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                return await asyncio.shield(task)
        except TimeoutError as error:
            words = f"There was no answer within {ANSWER_TIMEOUT_S:g} s. The history shows whether it was done."
            raise HTTPException(504, words) from error

    def _begin(self, session: Session, order: AnyOrder) -> asyncio.Task[ReplyDocument]:
        self._access.count_command(session)
        if len(self._waiting) >= MOST_WAITING:
            raise HTTPException(503, "The referee is busy with other commands. Wait a moment, then try again.")
        task = asyncio.create_task(self._carried_out(order, order.by or session.name or "page"))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)
        return task

    async def _carried_out(self, order: AnyOrder, by: str) -> ReplyDocument:
        if order.seen is None:
            return await self._submitted(order, by)
        async with self._one_by_one:
            if order.seen != self._event_number:
                return self._replied("The table has changed meanwhile. Look at it, then say it again.", refused=True)
            return await self._submitted(order, by)

    async def _submitted(self, order: AnyOrder, by: str) -> ReplyDocument:
        try:
            reply = await self._port.submit(order.value(by))
        except CorrectionError as error:
            return self._replied(str(error), refused=True)
        if reply is None:
            return self._replied("The referee has stopped; nothing was done.", refused=True)
        return self._replied(reply.words, refused=reply.refused)

    def _replied(self, words: str, *, refused: bool) -> ReplyDocument:
        return ReplyDocument(words=words, refused=refused, event_number=self._event_number)

    @property
    def _event_number(self) -> int:
        newest = self._port.snapshots.newest
        return 0 if newest is None else newest.snapshot.event_number


def _told(error: ValidationError) -> str:
    """Say what is wrong with an order, field by field."""
    faults = []
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        where = ".".join(str(part) for part in fault["loc"][1:]) or "the command"
        faults.append(f"{where}: {fault['msg'][:1].lower()}{fault['msg'][1:]}")
    return f"That is not a command: {'; '.join(faults[:3])}."
