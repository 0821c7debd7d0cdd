"""The owner's pages. Each works without JavaScript."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Sequence

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from common.findings import Finding
from common.phrases import Phrase
from referee.session.table_port import Maintenance, ReportFile
from referee.web.access import Role
from referee.web.api import PageServices, body_fields
from referee.web.device_documents import change_device, devices_document
from referee.web.guard import Guarded, form_fields
from referee.web.views import page

_FINDINGS_S = 60.0
"""How long, in seconds, the doctor's findings are shown before it examines again."""


class OwnerPages:
    """The pages that only the owner sees."""

    def __init__(self, services: PageServices) -> None:
        self._services = services
        self._clock = services.port.snapshots.clock
        self._game = services.port.game
        self._one_at_a_time = asyncio.Lock()
        self._findings: Sequence[Finding] = ()
        self._examined_s = -math.inf
        self._bundle: tuple[str, Sequence[ReportFile]] = ("", ())

    def routes(self) -> Sequence[Guarded]:
        """Return the owner's routes."""
        return (
            Guarded("/owner", self._devices, Role.OWN),
            Guarded("/owner/devices", self._change, Role.OWN, methods=["POST"]),
            Guarded("/doctor", self._doctor, Role.OWN),
            Guarded("/doctor", self._examine, Role.OWN, methods=["POST"]),
            Guarded("/bug-report", self._report, Role.OWN),
            Guarded("/bug-report", self._save, Role.OWN, methods=["POST"]),
            Guarded("/bug-report/{bundle}/{number:number}", self._picture, Role.OWN),
        )

    async def _devices(self, request: Request) -> Response:
        access = self._services.access
        words = {
            "devices": devices_document(access.devices).devices,
            "is_open": access.policy.is_open,
            "has_maintenance": self._services.port.maintenance,
        }
        return page(request, "owner", {"game": self._game, **words})

    async def _change(self, request: Request) -> Response:
        await change_device(self._services.access.devices, await body_fields(request))
        return RedirectResponse("/owner", 303)

    async def _doctor(self, request: Request) -> Response:
        if self._clock() - self._examined_s >= _FINDINGS_S:
            await self._look()
        return page(request, "doctor", {"game": self._game, "findings": self._findings})

    async def _examine(self, _: Request) -> Response:
        await self._look()
        return RedirectResponse("/doctor", 303)

    async def _look(self) -> None:
        """Run the doctor in a worker thread, once at a time, so that players' requests don't wait for it."""
        async with self._one_at_a_time:
            self._findings = await run_in_threadpool(self._maintenance.examine)
            self._examined_s = self._clock()

    async def _report(self, request: Request) -> Response:
        """Show the files before they are saved. Exactly the files shown can be saved."""
        async with self._one_at_a_time:
            files = await run_in_threadpool(self._maintenance.gather)
            self._bundle = (secrets.token_urlsafe(9), files)
        return page(request, "bug_report", {"game": self._game, "bundle": self._bundle[0], "files": files})

    async def _save(self, request: Request) -> Response:
        fields = await form_fields(request)
        files = self._files(fields.get("bundle", [""])[-1])
        kept = [file for number, file in enumerate(files) if str(number) in fields.get("keep", ())]
        content = await run_in_threadpool(self._maintenance.zipped, kept)
        saved = {"Content-Disposition": 'attachment; filename="bug-report.zip"'}
        return Response(content, media_type="application/zip", headers=saved)

    async def _picture(self, request: Request) -> Response:
        files, number = self._files(request.path_params["bundle"]), request.path_params["number"]
        if number >= len(files):
            raise HTTPException(404, Phrase("There is no such file in the report."))
        return Response(files[number].content, media_type=files[number].media_type)

    def _files(self, bundle: str) -> Sequence[ReportFile]:
        """Return the files that were shown; raises HTTPException if the report was gathered again since."""
        if not bundle or bundle != self._bundle[0]:
            raise HTTPException(409, Phrase("The report has changed in the meantime. Look through it again."))
        return self._bundle[1]

    @property
    def _maintenance(self) -> Maintenance:
        if self._services.port.maintenance is None:
            raise HTTPException(404, Phrase("This page has no doctor and no bug report."))
        return self._services.port.maintenance
