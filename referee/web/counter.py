"""Orders given on the page, and the HTTP status for each kind of refusal."""

from __future__ import annotations

from functools import partial

from starlette.exceptions import HTTPException

from referee.commands.orders import ReplyDocument
from referee.session.order_desk import OrderDesk, OrderError, OrderFault
from referee.session.table_port import TablePort
from referee.web.access import Access, Session

_FORBIDDEN = "This device may not do that; it needs to be paired to {needs}."
_STATUS = {
    OrderFault.UNREADABLE: 422,
    OrderFault.FORBIDDEN: 403,
    OrderFault.BUSY: 503,
    OrderFault.UNANSWERED: 504,
}


class OrderCounter:
    """Takes orders from any session. Call its methods only from the server's event loop."""

    def __init__(self, port: TablePort, access: Access) -> None:
        self._desk = OrderDesk(port, "page", _FORBIDDEN)
        self._access = access

    async def take(self, session: Session, fields: object) -> ReplyDocument:
        """Have an order carried out and return the reply; raises HTTPException if the order is refused."""
        try:
            return await self._desk.take(session, fields, partial(self._access.count_command, session))
        except OrderError as error:
            raise HTTPException(_STATUS[error.fault], str(error)) from error
