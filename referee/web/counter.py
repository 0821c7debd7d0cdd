"""The page's orders, and the HTTP status of those that are not taken."""

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
    """Takes orders of any session. All its methods belong to the server's event loop."""

    def __init__(self, port: TablePort, access: Access) -> None:
        self._desk = OrderDesk(port, "page", _FORBIDDEN)
        self._access = access

    async def take(self, session: Session, fields: object) -> ReplyDocument:
        """Have an order carried out and give its reply; raises HTTPException for one that is not taken."""
        try:
            return await self._desk.take(session, fields, partial(self._access.count_command, session))
        except OrderError as error:
            raise HTTPException(_STATUS[error.fault], str(error)) from error
