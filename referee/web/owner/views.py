"""The owner's pages: each works by links and forms alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from referee.web.access import Role
from referee.web.api import Desk
from referee.web.guard import CSRF_FIELD, Guarded, form_fields
from referee.web.owner.devices import change_device, devices_document
from referee.web.views import page


class OwnerPages:
    """The pages that only the owner sees."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._game = desk.port.game

    def routes(self) -> Sequence[Guarded]:
        """Give their routes."""
        return (
            Guarded("/owner", self._devices, Role.OWN),
            Guarded("/owner/devices", self._change, Role.OWN, methods=["POST"]),
        )

    async def _devices(self, request: Request) -> Response:
        access = self._desk.access
        listed = [
            (each, datetime.fromisoformat(each.seen).astimezone().strftime("%Y-%m-%d %H:%M"))
            for each in devices_document(access.devices).devices
        ]
        words = {"game": self._game, "devices": listed, "is_open": access.door.is_open}
        return page(request, "owner", words)

    async def _change(self, request: Request) -> Response:
        fields = await form_fields(request)
        fields.pop(CSRF_FIELD, None)
        await change_device(self._desk.access, {name: values[-1] for name, values in fields.items()})
        return RedirectResponse("/owner", 303)
