"""The API for the page and for programs: the table, a stream of its changes, its history, and commands."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from common.json_files import parse_json
from common.phrases import Phrase, capitalized
from engine.errors import IllegalTurnError
from frontends import table_port
from frontends.documents import Document
from frontends.languages import Say, sentences
from frontends.page.access import EVENT_STREAM, Access, PageSession, Viewers
from frontends.page.devices import PAIRED_S, PairedDevices
from frontends.page.documents import (
    ClaimRequest,
    GamesDocument,
    HistoryDocument,
    PairingDocument,
    PairingRequest,
    PlacesDocument,
    PositionDocument,
    SessionDocument,
    places_document,
)
from frontends.page.entering import (
    DiceDocument,
    TappedDocument,
    TurnsDocument,
    dice_document,
    tapped_document,
    turns_document,
)
from frontends.page.fragments import PartsSent, TableParts
from frontends.page.guard import CSRF_FIELD, form_fields, save_seen_times_if_due
from frontends.page.history import History, ResultsDocument
from frontends.page.languages import language_of
from frontends.page.openapi import Endpoint, openapi
from frontends.page.shown_table import Rendered, ShownTable, TableDocuments
from referee.commands.entries import may_play
from referee.commands.values import COMMANDS, Role
from referee.errors import PageError
from referee.session.feed import TableSnapshot


class DeviceDocument(Document):
    """A paired device, and the player or side whose it is, if not everybody's; the times are ISO 8601 UTC.

    One that ``films`` may be the camera; the role of one that may only be that is ``nobody``.
    """

    id: str
    name: str
    role: str
    player: str
    paired: str
    seen: str
    films: bool


class DevicesDocument(Document):
    """The paired devices, oldest pairing first."""

    devices: tuple[DeviceDocument, ...]


class DeviceChange(BaseModel):
    """A device's new role; ``none`` unpairs it. With an empty ``player`` it becomes everybody's instead."""

    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(max_length=64)]
    role: Literal["look", "play", "own", "none"] | None = None
    player: Literal[""] | None = None


DEVICE_CHANGE: TypeAdapter[DeviceChange] = TypeAdapter(DeviceChange)


def devices_document(devices: PairedDevices) -> DevicesDocument:
    """List the devices; raises HTTPException if the list can't be read."""
    try:
        listed = devices.all()
    except PageError as error:
        raise HTTPException(503, f"{error}.") from error
    return DevicesDocument(
        devices=tuple(
            DeviceDocument(
                id=each.id,
                name=each.name,
                role=each.role.name.lower(),
                player="" if each.claim is None else each.claim.name or each.claim.side,
                paired=_iso(each.paired_s),
                seen=_iso(each.seen_s),
                films=each.films,
            )
            for each in listed
        )
    )


async def change_device(devices: PairedDevices, fields: object) -> DevicesDocument:
    """Carry out a DeviceChange; raises HTTPException for invalid fields and for a device that isn't paired."""
    try:
        change = DEVICE_CHANGE.validate_python(fields)
    except ValidationError as error:
        raise HTTPException(422, Phrase("Give a device's id, and its role: look, play, own or none.")) from error
    try:
        if change.role is None:
            changed = await run_in_threadpool(devices.claim, change.id, None)
        else:
            role = Role.NOBODY if change.role == "none" else Role[change.role.upper()]
            changed = await run_in_threadpool(devices.change, change.id, role)
    except PageError as error:
        raise HTTPException(503, f"{error}.") from error
    if changed is None:
        raise HTTPException(404, Phrase("That device is not paired, or not any more."))
    return devices_document(devices)


def _iso(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).isoformat(timespec="seconds")


LOOK_AGAIN_S = 2.5
"""How often, in seconds, an idle stream checks whether its device is still paired."""
LOOKS_KEPT_OPEN = 6
"""After this many checks, an idle stream sends a keep-alive event."""
_STILL_HERE = b"event: here\ndata: {}\n\n"
_MOST_TAPPED = 400
"""The most characters of taps accepted; no turn needs as many."""
_FORBIDDEN = Phrase("This device may not do that; it needs to be paired to {needs}.")
_STATUS = {
    table_port.CommandFault.UNREADABLE: 422,
    table_port.CommandFault.FORBIDDEN: 403,
    table_port.CommandFault.BUSY: 503,
    table_port.CommandFault.UNANSWERED: 504,
}
_PAIRING: TypeAdapter[PairingRequest] = TypeAdapter(PairingRequest)
_CLAIM: TypeAdapter[ClaimRequest] = TypeAdapter(ClaimRequest)
_LARGEST = 2**63 - 1
"""The largest integer SQLite can store."""


@dataclass(frozen=True)
class PageServices:
    """What the API and the pages share: documents of the table and its history, and the commands to the referee."""

    port: table_port.TablePort
    access: Access
    documents: TableDocuments
    history: History
    parts: TableParts
    commands: table_port.CommandHandler

    @classmethod
    def of(cls, port: table_port.TablePort, access: Access) -> Self:
        """Create the services for a table."""
        history, commands = History(port), table_port.CommandHandler(port, "page", _FORBIDDEN)
        documents = TableDocuments(port)
        parts = TableParts(port, history, documents.telling)
        return cls(port, access, documents, history, parts, commands)

    async def carry_out(self, session: PageSession, fields: object) -> table_port.ReplyDocument:
        """Have a command carried out and return the reply; raises HTTPException if it is refused.

        Call it only from the server's event loop.
        """
        try:
            return await self.commands.take(session, fields, partial(self.access.count_command, session))
        except table_port.CommandError as error:
            raise HTTPException(_STATUS[error.fault], str(error)) from error


class Api:
    """The endpoints below ``/api``."""

    def __init__(self, services: PageServices) -> None:
        self._services = services
        self._port = services.port
        self._access = services.access
        self._documents = services.documents
        self._history = services.history
        self._pictures = table_port.CameraPictures(services.port)
        self._viewers = Viewers()
        game = {"game": "The game's number in the journal; the latest without it."}
        self.endpoints = (
            Endpoint("/api/table", self._table, Role.LOOK, "The table as it is believed to be", ShownTable),
            Endpoint(
                "/api/events",
                self._events,
                Role.LOOK,
                "The same after every change",
                EVENT_STREAM,
                {"version": "With parts: the version of the table that the screen shows already."},
                texts={
                    "parts": "The page's parts to be sent as they change, separated by commas, instead of the table."
                },
            ),
            Endpoint("/api/history", self._events_of, Role.LOOK, "A game's events", HistoryDocument, game),
            Endpoint(
                "/api/history/{number:number}", self._position, Role.LOOK, "The table after an event", PositionDocument
            ),
            Endpoint(
                "/api/evidence/{number:number}/{name}", self._evidence, Role.LOOK, "A picture of an event", "image/png"
            ),
            Endpoint("/api/games", self._games, Role.LOOK, "The journal's games", GamesDocument),
            Endpoint(
                "/api/results",
                self._results,
                Role.LOOK,
                "Results by the players' names",
                ResultsDocument,
                {"first": "The number of the first game that counts; all without it."},
            ),
            Endpoint("/api/record", self._record, Role.LOOK, "A game as a record", "text/plain", game),
            Endpoint(
                "/api/tapped",
                self._tapped,
                Role.LOOK,
                "What may be tapped next, and the turn once it is complete",
                TappedDocument,
                texts={"taps": "What was tapped so far, separated by commas: squares and choices."},
            ),
            Endpoint(
                "/api/turns",
                self._turns,
                Role.LOOK,
                "The turns that may be typed",
                TurnsDocument,
                texts={"begins": "How their text begins; all without it."},
            ),
            Endpoint("/api/dice", self._dice, Role.LOOK, "The dice whose roll may be told now", DiceDocument),
            Endpoint("/api/places", self._places, Role.LOOK, "Places, looks, rules and options", PlacesDocument),
            Endpoint(
                "/api/camera.jpg",
                self._camera,
                Role.LOOK,
                "The camera's newest picture",
                "image/jpeg",
                {"overlay": "1: with what was located drawn over it."},
            ),
            Endpoint("/api/session", self._session, Role.LOOK, "What this device may do", SessionDocument),
            Endpoint("/api/session", self._claim, Role.PLAY, "Say whose device this is", SessionDocument, takes=_CLAIM),
            Endpoint("/api/devices", self._devices, Role.OWN, "The paired devices", DevicesDocument),
            Endpoint(
                "/api/devices",
                self._change_device,
                Role.OWN,
                "Give a paired device another role, or unpair it",
                DevicesDocument,
                takes=DEVICE_CHANGE,
            ),
            Endpoint(
                "/api/commands",
                self._command,
                Role.LOOK,
                "Tell the referee something",
                table_port.ReplyDocument,
                takes=COMMANDS,
                whom="For devices paired to play; agreed draw, new game and restore sensor need own.",
            ),
            Endpoint(
                "/api/pair",
                pairing(services.access),
                Role.NOBODY,
                "Pair a device",
                PairingDocument,
                takes=_PAIRING,
                by_code=True,
            ),
            Endpoint("/api/openapi.json", self._openapi, Role.LOOK, "This description", "application/json"),
        )

    async def _table(self, request: Request) -> Response:
        session: PageSession = request.state.session
        rendered = self._documents.newest(language_of(request), session.player)
        return Response(rendered.json, media_type="application/json")

    async def _events(self, request: Request) -> Response:
        session: PageSession = request.state.session
        language, names = language_of(request), request.query_params.get("parts")
        say = _whole_table
        if names is not None:
            version = _number(request, "version") or 0
            say = PartsSent(self._services.parts, language, names.split(","), version).event
        return self._viewers.stream(session, self._changes(session, language, say))

    async def _changes(
        self, session: PageSession, language: str, say: Callable[[Rendered, PageSession], Awaitable[bytes]]
    ) -> AsyncIterator[bytes]:
        rendered, looks = self._documents.newest(language, session.player), 0
        yield await say(rendered, session)
        while True:
            newer: table_port.VersionedSnapshot | None = None
            try:
                async with asyncio.timeout(LOOK_AGAIN_S):
                    newer = await self._port.snapshots.after(rendered.document.version)
                is_over = newer is None
            except TimeoutError:
                is_over, looks = False, looks + 1
            before, renewed = session.player, self._access.renewed(session)
            if is_over or renewed is None:
                return
            session = renewed
            await save_seen_times_if_due(self._access)
            if newer is not None or session.player != before:
                current = self._documents.of(newer, language, session.player) if newer is not None else None
                rendered = current or self._documents.newest(language, session.player)
                yield await say(rendered, session)
            elif looks % LOOKS_KEPT_OPEN == 0:
                yield _STILL_HERE

    async def _events_of(self, request: Request) -> Response:
        number = _number(request, "game")
        return _json(await run_in_threadpool(self._history.of_game, number, language_of(request)))

    async def _position(self, request: Request) -> Response:
        number = request.path_params["number"]
        return _json(await run_in_threadpool(self._history.position, number, language_of(request)))

    async def _evidence(self, request: Request) -> Response:
        number, name = request.path_params["number"], request.path_params["name"]
        content, media_type = await run_in_threadpool(self._history.picture, number, name)
        return Response(content, media_type=media_type)

    async def _games(self, _: Request) -> Response:
        return _json(await run_in_threadpool(self._history.games))

    async def _results(self, request: Request) -> Response:
        return _json(await run_in_threadpool(self._history.results, _number(request, "first") or 1))

    async def _record(self, request: Request) -> Response:
        number = _number(request, "game")
        game, text = await run_in_threadpool(self._history.record, number)
        name = f"{game}{'' if number is None else f'-{number}'}.txt"
        return Response(
            text, media_type="text/plain", headers={"Content-Disposition": f'attachment; filename="{name}"'}
        )

    async def _places(self, request: Request) -> Response:
        return _json(places_document(self._port.game, sentences(language_of(request))))

    async def _tapped(self, request: Request) -> Response:
        snapshot = self._newest()
        taps = [tap for tap in request.query_params.get("taps", "")[:_MOST_TAPPED].split(",") if tap]
        say = self._telling(request)
        try:
            document = await run_in_threadpool(tapped_document, self._port.game, snapshot, taps, say)
        except IllegalTurnError as error:
            raise HTTPException(422, say(str(error))) from error
        own, game = request.state.session.speaks_for, self._port.game
        if own is not None and not any(may_play(game, state, own) for state in snapshot.states):
            document = TappedDocument(event_number=document.event_number, taps=document.taps)
        elif own is not None and game.has_sheets:
            squares = tuple(place for place in document.squares if place.startswith(f"{own}."))
            document = document.model_copy(update={"squares": squares})
        return _json(document)

    async def _turns(self, request: Request) -> Response:
        snapshot, say = self._newest(), self._telling(request)
        begins = request.query_params.get("begins", "")[:_MOST_TAPPED]
        return _json(await run_in_threadpool(turns_document, self._port.game, snapshot, begins, say))

    async def _dice(self, request: Request) -> Response:
        snapshot, say = self._newest(), sentences(language_of(request))
        before = (
            await run_in_threadpool(self._history.states_before_seen_roll) if self._port.journal is not None else ()
        )
        return _json(await run_in_threadpool(dice_document, self._port.game, snapshot, before, say))

    def _telling(self, request: Request) -> Say:
        return self._documents.telling(language_of(request))

    def _newest(self) -> TableSnapshot:
        newest = self._port.snapshots.newest
        if newest is None:
            raise HTTPException(404, Phrase("No game has begun yet."))
        return newest.snapshot

    async def _camera(self, request: Request) -> Response:
        overlay = bool(_number(request, "overlay"))
        content = await run_in_threadpool(self._pictures.jpeg, overlay=overlay)
        if content is None:
            raise HTTPException(
                404, Phrase("There is no picture: no camera is on, or the table was not found in its picture.")
            )
        return Response(content, media_type="image/jpeg")

    async def _session(self, request: Request) -> Response:
        return _json(_session_document(request.state.session))

    async def _claim(self, request: Request) -> Response:
        """Give the device to a player of the current game, or to everybody; a form leads to the table."""
        try:
            player = _CLAIM.validate_python(await body_fields(request)).player
        except ValidationError as error:
            raise HTTPException(422, Phrase("Say whose device this is: a side of the game, or nobody's.")) from error
        self._access.count_command(request.state.session)
        claim = self._documents.claim_of(player) if player else None
        if player and claim is None:
            raise HTTPException(422, Phrase("{player} does not play in this game.", capitalized(player)))
        session, token = await run_in_threadpool(self._access.claim, request.state.session, claim)
        document = _session_document(session)
        response: Response = RedirectResponse("/", 303) if await form_fields(request) else _json(document)
        if not session.is_bearer and not session.is_everybody:
            _keep_token(request, response, self._access, token)
        return response

    async def _devices(self, _: Request) -> Response:
        return _json(devices_document(self._access.devices))

    async def _change_device(self, request: Request) -> Response:
        return _json(await change_device(self._access.devices, await body_fields(request)))

    async def _command(self, request: Request) -> Response:
        reply = await self._services.carry_out(request.state.session, await body_fields(request))
        return _json(reply.model_copy(update={"words": self._telling(request)(reply.words)}))

    async def _openapi(self, _: Request) -> Response:
        return JSONResponse(openapi(self.endpoints))


async def _whole_table(rendered: Rendered, session: PageSession) -> bytes:
    del session
    return rendered.event


def pairing(access: Access) -> Callable[[Request], Awaitable[Response]]:
    """Return a request handler that pairs a device by its code, sent as JSON or as a form."""

    async def pair(request: Request) -> Response:
        try:
            wanted = _PAIRING.validate_python(await body_fields(request))
        except ValidationError as error:
            raise HTTPException(
                422, Phrase("Give the code that the referee's terminal shows, and a short name.")
            ) from error
        request.state.pairing = wanted
        client = request.client.host if request.client is not None else ""
        role, before = Role[wanted.role.upper()], request.state.session
        session, token = await run_in_threadpool(access.pair, wanted.code, wanted.name, role, client, before)
        is_form = await form_fields(request)
        document = PairingDocument(role=session.role.name.lower(), token=token, csrf=session.csrf, films=session.films)
        is_to_film = session.films and (session.role is Role.NOBODY or session.id == before.id)
        response: Response = RedirectResponse("/camera" if is_to_film else "/", 303) if is_form else _json(document)
        _keep_token(request, response, access, token)
        return response

    return pair


def _keep_token(request: Request, response: Response, access: Access, token: str) -> None:
    """Have the browser keep the token of its session; if that came encrypted, it is never sent otherwise."""
    is_encrypted = request.url.scheme == "https"
    name = access.encrypted_cookie if is_encrypted else access.cookie
    age_s = int(PAIRED_S)
    response.set_cookie(name, token, max_age=age_s, httponly=True, samesite="lax", path="/", secure=is_encrypted)


def _session_document(session: PageSession) -> SessionDocument:
    return SessionDocument(role=session.role.name.lower(), name=session.name, csrf=session.csrf, player=session.player)


async def body_fields(request: Request) -> Any:
    """Read a body as JSON or as a form without files; the session's token isn't part of it."""
    form = await form_fields(request)
    try:
        fields = {name: values[-1] for name, values in form.items()} if form else parse_json(await request.body())
    except ValueError as error:
        raise HTTPException(400, Phrase("That is not valid JSON.")) from error
    if isinstance(fields, dict):
        fields.pop(CSRF_FIELD, None)
    return fields


def _number(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        raise HTTPException(422, Phrase("{name} is {text!r}; expected a number.", name, text[:40]))
    return min(int(text[:20]), _LARGEST)


def _json(document: Document | table_port.ReplyDocument) -> Response:
    return Response(document.model_dump_json(), media_type="application/json")
